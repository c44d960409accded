/* All workers in this process, for a backend that runs and connects them. */
#include "config.h"

#include "runtime/exec/communicator.h"

typedef struct alone {
	arena *a;
	int nworkers;
} alone;

static bool start_alone(const comm_options *o, void **run, int *rank,
			failure *f)
{
	(void)o;
	(void)f;
	*run = NULL;
	*rank = 0;
	return true;
}

static void end_alone(void *run, cli_status status)
{
	(void)run;
	(void)status;
}

static void *open_alone(void *run, const plan_pipeline *p, failure *f)
{
	arena *a = arena_new();
	alone *c = ARENA_NEW(a, alone);
	(void)run;
	(void)f;
	*c = (alone){ a, pipeline_first(p, p->nstages) };
	return c;
}

static void here_alone(void *state, int *first, int *n, int *neighbours)
{
	*first = 0;
	*n = *neighbours = ((alone *)state)->nworkers;
}

static bool wait_alone(void *state, int worker)
{
	(void)state;
	(void)worker;
	return true;
}

static void share_alone(void *state, int worker, void *data, int64_t n)
{
	(void)state;
	(void)worker;
	(void)data;
	(void)n;
}

static int64_t same_alone(void *state, int64_t x)
{
	(void)state;
	return x;
}

static void close_alone(void *state)
{
	arena_free(((alone *)state)->a);
}

const communicator comm_single_process = {
	.name = "threads",
	.start = start_alone,
	.end = end_alone,
	.open = open_alone,
	.here = here_alone,
	.barrier = wait_alone,
	.share = share_alone,
	.sum = same_alone,
	.greatest = same_alone,
	.close = close_alone,
};
