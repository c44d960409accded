#include "config.h"

#include "compiler/driver/progress.h"

#include <stdio.h>
#include <string.h>

#include "base/cli.h"

static void erase(void)
{
	fputs("\r\033[K", stderr);
}

static void show(void *user, const char *phase, const char *algorithm,
		 int done, int all)
{
	(void)user;
	erase();
	if (!strcmp(phase, "search")) {
		fprintf(stderr, "searching with '%s'", algorithm);
		if (done > 0)
			fprintf(stderr, "; %d plan%s so far", done,
				done == 1 ? "" : "s");
	} else if (!strcmp(phase, "compare")) {
		fprintf(stderr, "comparing plan %d of %d, found by '%s'",
			done + 1, all, algorithm);
	} else {
		fputs("searching all plans of this small graph", stderr);
	}
	fflush(stderr);
}

void progress_begin(tdl_context *c)
{
	if (cli_terminal())
		tdl_context_set_progress(c, show, NULL);
}

void progress_end(tdl_context *c)
{
	if (cli_terminal())
		erase();
	tdl_context_set_progress(c, NULL, NULL);
}
