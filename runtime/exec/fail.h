/* The failure of a run: the first one is kept, with its exit status, and handed
 * up to main(). */
#ifndef TDL_RUNTIME_EXEC_FAIL_H
#define TDL_RUNTIME_EXEC_FAIL_H

#include <stdbool.h>

#include "base/cli.h"
#include "base/diag.h"

typedef struct failure {
	cli_status status; /* CLI_OK: nothing yet */
	char text[2000];   /* one sentence, lower case, no full stop */
} failure;

/* Notes a failure unless there is one; returns false, always.  Not for two
 * threads at a time. */
bool fail_with(failure *f, cli_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Makes a failure, CLI_INPUT, of the errors in a sink; true where there are
 * none. */
bool fail_of(failure *f, const diag_sink *s);

#endif
