/* The failure of a run.  The first one is kept, with its exit status, and
 * passed up to main(). */
#ifndef TDL_RUNTIME_EXEC_FAIL_H
#define TDL_RUNTIME_EXEC_FAIL_H

#include <stdbool.h>

#include "base/cli.h"
#include "base/diag.h"

typedef struct failure {
	cli_status status; /* CLI_OK: no failure yet */
	char text[2000];   /* one sentence, lower case, no full stop */
} failure;

/* Notes a failure unless there is one already; always returns false.  Not
 * thread-safe. */
bool fail_with(failure *f, cli_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Turns the errors in a sink into a failure, CLI_INPUT; true if there are
 * none. */
bool fail_of(failure *f, const diag_sink *s);

#endif
