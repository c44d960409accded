/* The main() of all unit tests: exit status 1 where one failed.  CK_VERBOSITY,
 * CK_RUN_CASE and the other variables of Check apply. */
#include "config.h"

#include <stdlib.h>

#include "tests/unit/suite.h"

int main(void)
{
	SRunner *r = srunner_create(suite());
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
