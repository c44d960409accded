/* The backend `cpu`: kernels on the processor's cores, from C that was
 * generated, from the interpreter, or from opaque functions. */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "include/tdl/generated.h"
#include "runtime/cpu/build.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/thread_pool.h"

_Static_assert((int)TDL_MAX_NDIM == (int)MAX_NDIM &&
	       (int)TDL_MAX_NVARS == (int)MAX_NVARS, "one size of boxes");

/* The work space of a thread of a worker's pool. */
typedef struct bench {
	void *scratch; /* TDL_SCRATCH bytes */
	double busy;   /* seconds of the last part, where they are asked for */
	eval_status status;
	eval_fault fault;
} bench;

typedef struct cpu {
	arena *a;
	const plan *p;
	kernels_from kernels;
	int nworkers, thread_pool_size;
	cpu_kernel **generated; /* by kernel; NULL where it is evaluated */
	opaque_fn *opaque;
	void *built, *library; /* handles of dlopen() */
	thread_pool **teams;   /* by worker */
	bench *benches;	       /* [worker * thread_pool_size + thread] */
} cpu;

/* ---- opening ----------------------------------------------------------- */

static bool find_kernels(cpu *c, const build_progress *progress, failure *f)
{
	const plan *p = c->p;
	const char **text = ARENA_ARRAY(c->a, const char *, p->nkernels);
	bool some = false;
	for (int i = 0; i < p->nkernels; i++) {
		const plan_kernel *k = &p->kernels[i];
		if (!k->kernel->opaque && c->kernels != KERNELS_INTERPRETER) {
			text[i] = k->c;
			some |= k->c != NULL;
		}
	}
	if (some)
		c->built = cpu_build(p->nkernels, text, c->generated,
				     progress, f);
	return c->built || !some;
}

static void open_teams(cpu *c)
{
	int n = c->nworkers * c->thread_pool_size;
	c->teams = ARENA_ARRAY(c->a, thread_pool *, c->nworkers);
	c->benches = ARENA_ARRAY(c->a, bench, n);
	for (int w = 0; w < c->nworkers; w++)
		c->teams[w] = thread_pool_open(c->thread_pool_size);
	for (int i = 0; i < n; i++)
		c->benches[i].scratch = aligned_alloc(64, TDL_SCRATCH);
}

static bool is_complete(const cpu *c)
{
	for (int w = 0; w < c->nworkers; w++)
		if (!c->teams[w])
			return false;
	for (int i = 0; i < c->nworkers * c->thread_pool_size; i++)
		if (!c->benches[i].scratch)
			return false;
	return true;
}

static void close_cpu(void *state)
{
	cpu *c = state;
	for (int w = 0; c->teams && w < c->nworkers; w++)
		thread_pool_close(c->teams[w]);
	for (int i = 0; c->benches && i < c->nworkers * c->thread_pool_size;
	     i++)
		free(c->benches[i].scratch);
	cpu_close(c->built);
	if (c->library)
		dlclose(c->library);
	arena_free(c->a);
}

/* The processors that are there for each worker.  A process that may use some
 * of them alone has these for its own workers. */
static int share_of_processors(const backend_options *o)
{
	int all, own = processors(&all);
	int n = own < all ? o->nworkers : o->neighbours;
	int share = n > 0 ? (own < all ? own : all) / n : 1;
	return share > 1 ? share : 1;
}

/* Stages have one table of kernels. */
static void *open_cpu(const plan_pipeline *all, const backend_options *o,
		      failure *f)
{
	const plan *p = &all->stages[0];
	arena *a = arena_new();
	cpu *c = ARENA_NEW(a, cpu);
	*c = (cpu){ .a = a, .p = p, .kernels = o->kernels,
		    .nworkers = o->nworkers,
		    .thread_pool_size = share_of_processors(o) };
	memory_guard g;
	memory_guard_on(&g, close_cpu, c);
	c->generated = ARENA_ARRAY(a, cpu_kernel *, p->nkernels);
	bool good = o->kernels != KERNELS_LIBRARY ||
		    fail_with(f, CLI_MACHINE, "kernels of a vendor's library "
			      "are not built in; use --kernels generated");
	if (good)
		c->opaque = backend_opaque(a, p, o->library, &c->library, f);
	good = good && c->opaque && find_kernels(c, o->progress, f);
	if (good) {
		open_teams(c);
		good = is_complete(c) ||
		       fail_with(f, CLI_MACHINE, "out of memory");
	}
	memory_guard_off(&g);
	if (good)
		return c;
	close_cpu(c);
	return NULL;
}

/* ---- memory ------------------------------------------------------------ */

static void *alloc_cpu(void *state, int worker, int64_t nbytes)
{
	size_t n = nbytes > 0 ? (size_t)nbytes : 1;
	void *m = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)state;
	(void)worker;
	if (m == MAP_FAILED)
		return NULL;
#ifdef MADV_HUGEPAGE
	madvise(m, n, MADV_HUGEPAGE);
#endif
	return m;
}

static void free_cpu(void *state, int worker, void *at, int64_t nbytes)
{
	(void)state;
	(void)worker;
	if (at)
		munmap(at, nbytes > 0 ? (size_t)nbytes : 1);
}

/* ---- running ----------------------------------------------------------- */

typedef struct job {
	cpu *c;
	const kernel *k;
	const kernel_run *r;
	bench *benches;
	int var, nparts; /* the variable that is divided among the pool */
} job;

static box part_of(const job *j, int i)
{
	box b = *j->r->space;
	if (j->nparts > 1)
		block(j->r->space->lo[j->var], j->r->space->hi[j->var], i,
		      j->nparts, &b.lo[j->var], &b.hi[j->var]);
	return b;
}

static void dense(tdl_block *to, const view *v)
{
	to->data = v->data;
	memcpy(to->origin, v->at.lo, sizeof(to->origin));
	memcpy(to->stride, v->stride, sizeof(to->stride));
}

static void run_generated(const job *j, const box *b, bench *at)
{
	tdl_block in[MAX_NINPUTS];
	tdl_args args = { .in = in, .scratch = at->scratch };
	memcpy(args.lo, b->lo, sizeof(args.lo));
	memcpy(args.hi, b->hi, sizeof(args.hi));
	for (int i = 0; i < j->k->ninputs; i++)
		dense(&in[i], &j->r->inputs[i]);
	dense(&args.out, j->r->out);
	at->status = j->c->generated[j->r->kernel](&args) ?
			     EVAL_INDEX_OUTSIDE :
			     EVAL_OK;
	at->fault = (eval_fault){ .input = args.fault.input,
				  .dim = args.fault.dim,
				  .value = args.fault.value };
}

static void run_part(void *arg, int i)
{
	const job *j = arg;
	bench *at = &j->benches[i];
	box b = part_of(j, i);
	double start = j->r->busy ? clock_thread_seconds() : 0;
	if (j->c->generated[j->r->kernel])
		run_generated(j, &b, at);
	else
		at->status = kernel_eval(j->k, &b, j->r->inputs, j->r->out,
					 j->c->opaque[j->r->kernel],
					 &at->fault);
	if (j->r->busy)
		at->busy = clock_thread_seconds() - start;
}

/* Divides the kernel's work: along the first variable of the result that has
 * enough elements for all.  Small kernels are not divided. */
static void divide(job *j, int nthreads)
{
	enum { LEAST_POINTS = 1 << 14 };
	int64_t points = 1;
	j->nparts = 1;
	if (nthreads < 2 || j->k->opaque)
		return;
	for (int v = 0; v < j->k->nvars; v++)
		if (j->k->vars[v].kind != KVAR_DERIVED &&
		    points < LEAST_POINTS)
			points *= j->r->space->hi[v] - j->r->space->lo[v];
	for (int v = 0; v < j->k->nout && points >= LEAST_POINTS; v++)
		if (j->r->space->hi[v] - j->r->space->lo[v] >= nthreads) {
			j->var = v;
			j->nparts = nthreads;
			return;
		}
}

static bool run_cpu(void *state, int number, const kernel_run *r, failure *f)
{
	cpu *c = state;
	job j = { .c = c, .k = c->p->kernels[r->kernel].kernel, .r = r,
		  .benches = c->benches + number * c->thread_pool_size };
	divide(&j, thread_pool_size(c->teams[number]));
	thread_pool_run(c->teams[number], j.nparts, run_part, &j);
	for (int i = 0; r->busy && i < j.nparts; i++)
		*r->busy = fmax(*r->busy, j.benches[i].busy);
	for (int i = 0; i < j.nparts; i++)
		if (!backend_explain(j.k, j.benches[i].status,
				     &j.benches[i].fault, f))
			return false;
	return true;
}

const backend backend_cpu = {
	.name = "cpu",
	.open = open_cpu,
	.alloc = alloc_cpu,
	.free = free_cpu,
	.run = run_cpu,
	.close = close_cpu,
};
