/* Processes for a backend that connects their devices itself.  They are brought
 * together by --rendezvous, or by MPI if that has started them. */
#include "config.h"

#include <stdlib.h>

#include "runtime/comm/rendezvous.h"
#include "runtime/exec/communicator.h"

/* The communicator that joins the processes, and its state. */
typedef struct processes {
	arena *a;
	const communicator *by;
	void *run;
} processes;

typedef struct members {
	arena *a;
	const communicator *by;
	void *link;
} members;

/* Whether MPI has started the process.  Slurm's own variables do not show
 * whether MPI can use them. */
static bool is_started_by_mpi(void)
{
	return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK");
}

static bool choose(const comm_options *o, const communicator **by, failure *f)
{
	int64_t rank, ranks;
	if (o->rendezvous)
		*by = &comm_rendezvous;
	else if (!comm_mpi.missing && is_started_by_mpi())
		*by = &comm_mpi;
	else if (rendezvous_rank(&rank, &ranks) && ranks > 1)
		return fail_with(f, CLI_USAGE, "--comm nccl needs --rendezvous "
				 "FOLDER, one that all processes reach: %s",
				 comm_mpi.missing ? "MPI is not built in" :
				 "MPI has not started them");
	else
		*by = &comm_single_process;
	return true;
}

static bool start_processes(const comm_options *o, void **run, int *rank,
			    failure *f)
{
	arena *a = arena_new();
	processes *x = ARENA_NEW(a, processes);
	x->a = a;
	*run = x;
	return choose(o, &x->by, f) && x->by->start(o, &x->run, rank, f);
}

static void end_processes(void *run, cli_status status)
{
	processes *x = run;
	x->by->end(x->run, status);
	arena_free(x->a);
}

static uint64_t *gather_processes(void *run, arena *a, uint64_t x, int *n)
{
	const processes *p = run;
	return p->by->gather ? p->by->gather(p->run, a, x, n) : NULL;
}

/* Without other processes there is one worker. */
static void *open_processes(void *run, const plan_pipeline *p, failure *f)
{
	const processes *x = run;
	int n = pipeline_first(p, p->nstages);
	if (x->by == &comm_single_process && n > 1) {
		fail_with(f, CLI_MACHINE, "the plan has %d workers, and this "
			  "is the only process: start it with 'mpirun -n %d "
			  "tdlrun PLAN ..', or %d times with --rendezvous",
			  n, n, n);
		return NULL;
	}
	arena *a = arena_new();
	members *m = ARENA_NEW(a, members);
	*m = (members){ a, x->by, x->by->open(x->run, p, f) };
	if (m->link)
		return m;
	arena_free(a);
	return NULL;
}

static void here_processes(void *state, int *first, int *n, int *neighbours)
{
	const members *m = state;
	m->by->here(m->link, first, n, neighbours);
}

static int neighbour_processes(void *state)
{
	const members *m = state;
	return m->by->neighbour ? m->by->neighbour(m->link) : 0;
}

static bool wait_processes(void *state, int worker)
{
	const members *m = state;
	return m->by->barrier(m->link, worker);
}

static void share_processes(void *state, int worker, void *data, int64_t n)
{
	const members *m = state;
	m->by->share(m->link, worker, data, n);
}

static int64_t sum_processes(void *state, int64_t x)
{
	const members *m = state;
	return m->by->sum(m->link, x);
}

static int64_t greatest_processes(void *state, int64_t x)
{
	const members *m = state;
	return m->by->greatest(m->link, x);
}

static double watch_processes(void *state, const comm_progress *x)
{
	const members *m = state;
	return m->by->watch ? m->by->watch(m->link, x) : 0;
}

static void close_processes(void *state)
{
	members *m = state;
	m->by->close(m->link);
	arena_free(m->a);
}

const communicator comm_nccl = {
	.name = "nccl",
	.start = start_processes,
	.end = end_processes,
	.gather = gather_processes,
	.open = open_processes,
	.here = here_processes,
	.neighbour = neighbour_processes,
	.barrier = wait_processes,
	.share = share_processes,
	.sum = sum_processes,
	.greatest = greatest_processes,
	.watch = watch_processes,
	.close = close_processes,
};
