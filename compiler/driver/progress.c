#include "config.h"

#include "compiler/driver/progress.h"

#include <stdio.h>

#include "base/cli.h"

static void erase(void)
{
	fputs("\r\033[K", stderr);
}

static void show(plan_observer *o, plan_phase phase, const char *algorithm,
		 int done, int nplans)
{
	(void)o;
	erase();
	switch (phase) {
	case PHASE_SEARCH:
		fprintf(stderr, "searching with '%s'", algorithm);
		if (done > 0)
			fprintf(stderr, "; %d plan%s so far", done,
				done == 1 ? "" : "s");
		break;
	case PHASE_COMPARE:
		fprintf(stderr, "comparing plan %d of %d, found by '%s'",
			done + 1, nplans, algorithm);
		break;
	case PHASE_PROVE:
		fputs("searching all plans of this small graph", stderr);
		break;
	}
	fflush(stderr);
}

plan_observer *progress_begin(arena *a)
{
	if (!cli_terminal())
		return NULL;
	plan_observer *o = ARENA_NEW(a, plan_observer);
	o->step = show;
	return o;
}

void progress_end(plan_observer **o)
{
	if (*o)
		erase();
	*o = NULL;
}
