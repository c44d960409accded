/* Chains of runs on processors: each thread computes some parts one after the
 * other, with inner results in memory of its own. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "runtime/cpu/cpu_parts.h"

typedef struct chain_job {
	cpu *c;
	const kernel_chain *of;
	bench *benches;
	int nthreads;
	int64_t parts[MAX_CHAIN_AXES], nparts; /* by axis; product of these */
	int64_t offset[MAX_CHAIN]; /* of inner results in a thread's memory */
} chain_job;

/* The space of a run in a part, given by number. */
static box part_of_chain(const chain_job *j, int run, int64_t number)
{
	const plan_chain *c = j->of->chain;
	box b = *j->of->runs[run].space;
	for (int a = c->naxes - 1; a >= 0; a--) {
		int v = c->axes[a].vars[run];
		int64_t lo = b.lo[v], p = number % j->parts[a];
		__int128 n = b.hi[v] - lo; /* there can be very many parts */
		b.lo[v] = lo + (int64_t)(p * n / j->parts[a]);
		b.hi[v] = lo + (int64_t)((p + 1) * n / j->parts[a]);
		number /= j->parts[a];
	}
	return b;
}

static void compute_link(const chain_job *j, bench *at, int run,
			 int64_t number, view *made)
{
	const plan_chain *c = j->of->chain;
	const kernel_run *whole = &j->of->runs[run];
	const kernel *k = j->c->p->kernels[whole->kernel].kernel;
	view inputs[MAX_NINPUTS];
	box space = part_of_chain(j, run, number);
	box produced = kernel_produces(k, &space);
	made[run] = *whole->out;
	if (c->inner[run])
		made[run] = view_dense((char *)at->inner + j->offset[run],
				       k->type, &produced);
	for (int i = 0; i < k->ninputs; i++) {
		int q = c->from[run][i];
		inputs[i] = q >= 0 && c->inner[q] ? made[q] : whole->inputs[i];
	}
	kernel_run own = { .kernel = whole->kernel, .space = &space,
			   .inputs = inputs, .out = &made[run] };
	cpu_compute(j->c, &own, at);
}

static void compute_chain(void *arg, int i)
{
	const chain_job *j = arg;
	const plan_chain *c = j->of->chain;
	bench *at = &j->benches[i];
	int64_t first, end;
	view made[MAX_CHAIN];
	at->status = EVAL_OK;
	memset(at->seconds, 0, sizeof(at->seconds));
	block(0, j->nparts, i, j->nthreads, &first, &end);
	for (int64_t n = first; n < end; n++)
		for (at->run = 0; at->run < c->n; at->run++) {
			bool timed = j->of->runs[at->run].busy != NULL;
			double start = timed ? clock_thread_seconds() : 0;
			compute_link(j, at, at->run, n, made);
			if (at->status != EVAL_OK)
				return;
			if (timed)
				at->seconds[at->run] +=
					clock_thread_seconds() - start;
		}
}

/* Allocates memory for inner results in a part, for each thread.  Returns false
 * if that fails. */
static bool give_room(chain_job *j, const box *spaces, const int64_t *length)
{
	const plan_chain *c = j->of->chain;
	int64_t bytes = 0;
	for (int r = 0; r < c->n; r++) {
		j->offset[r] = bytes;
		bytes += round_up(plan_chain_link_bytes(j->of->p, c, r,
							&spaces[r], length),
				  PLAN_ALIGN);
	}
	for (int i = 0; i < j->nthreads; i++) {
		bench *b = &j->benches[i];
		if (b->inner_bytes >= bytes)
			continue;
		free(b->inner);
		b->inner = aligned_alloc(PLAN_ALIGN, (size_t)bytes);
		b->inner_bytes = b->inner ? bytes : 0;
		if (!b->inner)
			return false;
	}
	return true;
}

static chain_job divide_chain(cpu *c, int worker, const kernel_chain *of,
			      int64_t *length, const box *spaces)
{
	const plan_chain *x = of->chain;
	thread_pool *team = c->teams[worker];
	chain_job j = { .c = c, .of = of, .nparts = 1,
			.benches = c->benches + worker * c->thread_pool_size,
			.nthreads = thread_pool_size(team) };
	plan_chain_parts(of->p, x, spaces, j.nthreads, length);
	for (int a = 0; a < x->naxes; a++) {
		int v = x->axes[a].vars[0];
		int64_t all = spaces[0].hi[v] - spaces[0].lo[v];
		j.parts[a] = (all + length[a] - 1) / length[a];
		j.nparts *= j.parts[a];
	}
	if (j.nthreads > j.nparts)
		j.nthreads = j.nparts > 0 ? (int)j.nparts : 1;
	return j;
}

bool cpu_run_chain(void *state, int worker, const kernel_chain *of, int *failed,
		   failure *f)
{
	cpu *c = state;
	box spaces[MAX_CHAIN];
	int64_t length[MAX_CHAIN_AXES];
	for (int r = 0; r < of->chain->n; r++)
		spaces[r] = *of->runs[r].space;
	chain_job j = divide_chain(c, worker, of, length, spaces);
	if (!give_room(&j, spaces, length))
		return fail_with(f, CLI_MACHINE, "out of memory");
	thread_pool_run(c->teams[worker], j.nthreads, compute_chain, &j);
	for (int i = 0; i < j.nthreads; i++) {
		const bench *b = &j.benches[i];
		for (int r = 0; r < of->chain->n; r++)
			if (of->runs[r].busy)
				*of->runs[r].busy = fmax(*of->runs[r].busy,
							 b->seconds[r]);
		*failed = b->run;
		if (b->status != EVAL_OK)
			return backend_explain(
				c->p->kernels[of->runs[b->run].kernel].kernel,
				b->status, &b->fault, f);
	}
	return true;
}
