/* tdlc score: a plan of one's own beside the planners'. */
#include "config.h"

#include "compiler/driver/compare.h"

cli_status command_score(driver *d, int argc, char **argv)
{
	return compare_planners(d, argc, argv, true);
}
