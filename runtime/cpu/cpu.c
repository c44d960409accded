/* The backend `cpu': kernels run on the processor's cores, as generated C, in
 * the interpreter, or as opaque functions. */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "include/tdl/generated.h"
#include "runtime/cpu/cpu_parts.h"
#include "runtime/cpu/shares.h"

_Static_assert((int)TDL_MAX_NDIM == (int)MAX_NDIM &&
	       (int)TDL_MAX_NVARS == (int)MAX_NVARS, "one size of boxes");

/* ---- opening ----------------------------------------------------------- */

/* Marks the kernels and epilogues that a stage's program runs, numbered as in
 * `generated'. */
static void find_runs(const cpu *c, const plan *p, bool *runs)
{
	arena *work = arena_new();
	const int *epilogues = plan_epilogues(work, p);
	int before = -1;
	for (int i = 0; i < p->ninstrs; i++) {
		if (p->program[i].op != PLAN_RUN)
			continue;
		int k = p->nodes[p->program[i].node].kernel;
		int number = before < 0 ? k : c->epilogues[k] + before;
		before = c->joins ? epilogues[i] : -1;
		if (before < 0)
			runs[number] = true;
	}
	arena_free(work);
}

/* Numbers kernels and their epilogues.  Returns how many there are. */
static int number_kernels(cpu *c)
{
	int n = c->p->nkernels;
	c->epilogues = ARENA_ARRAY(c->a, int, n);
	for (int i = 0; i < c->p->nkernels; i++) {
		c->epilogues[i] = n;
		n += c->p->kernels[i].nepilogues;
	}
	return n;
}

/* The sources of kernels that are run, by number. */
static const char **find_sources(const cpu *c, const bool *runs, int n)
{
	const char **text = ARENA_ARRAY(c->a, const char *, n);
	for (int i = 0; i < c->p->nkernels; i++) {
		const plan_kernel *k = &c->p->kernels[i];
		if (k->kernel->opaque || c->kernels == KERNELS_INTERPRETER)
			continue;
		if (runs[i])
			text[i] = k->c;
		for (int e = 0; e < k->nepilogues; e++)
			if (runs[c->epilogues[i] + e])
				text[c->epilogues[i] + e] = k->epilogues[e].c;
	}
	return text;
}

static bool find_kernels(cpu *c, const plan_pipeline *all,
			 const build_progress *progress, failure *f)
{
	int n = number_kernels(c);
	bool *runs = ARENA_ARRAY(c->a, bool, n), some = false;
	for (int s = 0; s < all->nstages; s++)
		find_runs(c, &all->stages[s], runs);
	const char **text = find_sources(c, runs, n);
	c->generated = ARENA_ARRAY(c->a, cpu_kernel *, n);
	for (int i = 0; i < n; i++)
		some |= text[i] != NULL;
	if (some)
		c->built = cpu_build(n, text, c->generated, progress, f);
	return c->built || !some;
}

/* The first kernel of an epilogue. */
static int first_of(const cpu *c, const plan_epilogue *e)
{
	while (e->after >= 0)
		e = &c->p->kernels[e->of].epilogues[e->after];
	return e->of;
}

/* By kernel, perhaps with an epilogue: the function that computes it; NULL. */
static cpu_kernel **find_functions(const cpu *c)
{
	cpu_kernel **to = ARENA_ARRAY(c->a, cpu_kernel *, c->p->nkernels);
	for (int i = 0; i < c->p->nkernels; i++) {
		const plan_kernel *k = &c->p->kernels[i];
		if (c->generated[i])
			to[i] = c->generated[i];
		for (int e = 0; e < k->nepilogues; e++)
			if (c->generated[c->epilogues[i] + e])
				to[first_of(c, &k->epilogues[e])] =
					c->generated[c->epilogues[i] + e];
	}
	return to;
}

/* Asks the kernels which factors they can keep.  A kernel called without
 * elements to compute only answers. */
static void ask_kernels(cpu *c)
{
	cpu_kernel **functions = find_functions(c);
	c->keeps = ARENA_ARRAY(c->a, tdl_keeps, c->p->nkernels * KEPT_SIDES);
	for (int i = 0; i < c->p->nkernels; i++) {
		tdl_args args = { .keeps = c->keeps + i * KEPT_SIDES };
		if (functions[i] && c->p->kernels[i].kernel->nout > 0)
			functions[i](&args);
	}
}

static void keeps_cpu(void *state, int number, kept_factor to[KEPT_SIDES])
{
	const cpu *c = state;
	for (int i = 0; i < KEPT_SIDES; i++) {
		const tdl_keeps *k = &c->keeps[number * KEPT_SIDES + i];
		to[i] = (kept_factor){ k->inputs, k->outer, k->own, k->depth,
				       k->size };
	}
}

static void find_reads(cpu *c)
{
	c->reads = ARENA_ARRAY(c->a, uint32_t *, c->p->nkernels);
	for (int i = 0; i < c->p->nkernels; i++)
		c->reads[i] = shares_reads(c->a, c->p->kernels[i].kernel);
}

/* Whether each thread has a processor of its own. */
static bool have_processors(const cpu *c, const backend_options *o)
{
	int all, own = processors(&all);
	int n = own < all ? o->nworkers : o->neighbours;
	return (int64_t)n * c->thread_pool_size <= own;
}

static void open_teams(cpu *c, bool spins)
{
	int n = c->nworkers * c->thread_pool_size;
	c->teams = ARENA_ARRAY(c->a, thread_pool *, c->nworkers);
	c->benches = ARENA_ARRAY(c->a, bench, n);
	c->parts = ARENA_ARRAY(c->a, box, n);
	for (int w = 0; w < c->nworkers; w++)
		c->teams[w] = thread_pool_open(c->thread_pool_size, spins);
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
	     i++) {
		free(c->benches[i].scratch);
		free(c->benches[i].inner);
	}
	cpu_close(c->built);
	onednn_close(c->onednn);
	if (c->library)
		dlclose(c->library);
	arena_free(c->a);
}

/* The processors for each worker, unless a number of threads is given.  If a
 * process may use only some processors, it has these for its own workers. */
static int share_of_processors(const backend_options *o)
{
	int all, own = processors(&all);
	int n = own < all ? o->nworkers : o->neighbours;
	int share = n > 0 ? (own < all ? own : all) / n : 1;
	if (o->threads > 0)
		return o->threads;
	return share > 1 ? share : 1;
}

/* Stages share one table of kernels. */
static void *open_cpu(const plan_pipeline *all, const backend_options *o,
		      failure *f)
{
	const plan *p = &all->stages[0];
	arena *a = arena_new();
	cpu *c = ARENA_NEW(a, cpu);
	*c = (cpu){ .a = a, .p = p, .kernels = o->kernels,
		    .nworkers = o->nworkers,
		    .thread_pool_size = share_of_processors(o),
		    .joins = o->kernels != KERNELS_LIBRARY &&
			     o->kernels != KERNELS_INTERPRETER &&
			     !o->apart };
	memory_guard g;
	memory_guard_on(&g, close_cpu, c);
	if (o->kernels == KERNELS_LIBRARY)
		c->onednn = onednn_open(c->nworkers, c->thread_pool_size, f);
	bool good = c->onednn || o->kernels != KERNELS_LIBRARY;
	if (good)
		c->opaque = backend_opaque(a, p, o->library, &c->library, f);
	good = good && c->opaque && find_kernels(c, all, o->progress, f);
	if (good) {
		ask_kernels(c);
		find_reads(c);
		open_teams(c, have_processors(c, o));
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
	cpu_kernel *function; /* NULL: interpreted */
	bench *benches;
	shares shares;
	int nparts;
	bool fills; /* packs factors that are kept */
	onednn_job calls; /* the same for oneDNN, .. */
	onednn_run *called; /* .. which computes it; NULL */
} job;

static box part_of(const job *j, int i)
{
	return j->fills ? *j->r->space :
			  shares_part(&j->shares, j->r->space, i);
}

static void dense(tdl_block *to, const view *v)
{
	to->data = v->data;
	memcpy(to->origin, v->at.lo, sizeof(to->origin));
	memcpy(to->stride, v->stride, sizeof(to->stride));
}

static bool keeps_some(const kernel_run *r)
{
	bool some = false;
	for (int i = 0; i < KEPT_SIDES; i++)
		some |= r->kept[i] != NULL;
	return some;
}

/* The factors kept by a run, for part i of it. */
static tdl_kept kept_of_part(const job *j, int i)
{
	tdl_kept k = { .i = i, .n = j->nparts,
		       .fill = j->fills ? j->r->fill : 0 };
	memcpy(k.at, j->r->kept, sizeof(k.at));
	memcpy(k.lo, j->r->space->lo, sizeof(k.lo));
	memcpy(k.hi, j->r->space->hi, sizeof(k.hi));
	return k;
}

/* Adds the inputs of a run, except the one that is the run before it.  Returns
 * the end of the list. */
static tdl_block *add_inputs(const cpu *c, const kernel_run *r, int without,
			     tdl_block *to)
{
	for (int i = 0; i < c->p->kernels[r->kernel].kernel->ninputs; i++)
		if (i != without)
			dense(to++, &r->inputs[i]);
	return to;
}

static const plan_epilogue *epilogue_after(const cpu *c, const kernel_run *r)
{
	return &c->p->kernels[r->next->kernel].epilogues[r->epilogue];
}

static void run_generated(const job *j, int part, const box *b, bench *at)
{
	tdl_block in[PLAN_MOST_JOINED * MAX_NINPUTS];
	const kernel_run *r = j->r;
	const tdl_kept kept = kept_of_part(j, part);
	tdl_args args = { .in = in, .scratch = at->scratch,
			  .kept = keeps_some(j->r) ? &kept : NULL };
	memcpy(args.lo, b->lo, sizeof(args.lo));
	memcpy(args.hi, b->hi, sizeof(args.hi));
	tdl_block *to = add_inputs(j->c, r, -1, in);
	for (; r->next; r = r->next)
		to = add_inputs(j->c, r->next, epilogue_after(j->c, r)->input,
				to);
	dense(&args.out, r->out);
	at->status = j->function(&args) ?
			     EVAL_INDEX_OUTSIDE :
			     EVAL_OK;
	at->fault = (eval_fault){ .input = args.fault.input,
				  .dim = args.fault.dim,
				  .value = args.fault.value };
}

static void compute(const job *j, int part, const box *b, bench *at)
{
	if (j->function)
		run_generated(j, part, b, at);
	else
		at->status = kernel_eval(j->k, b, j->r->inputs, j->r->out,
					 j->c->opaque[j->r->kernel],
					 &at->fault);
}

static void run_part(void *arg, int i)
{
	const job *j = arg;
	bench *at = &j->benches[i];
	box b = part_of(j, i);
	double start = j->r->busy ? clock_thread_seconds() : 0;
	compute(j, i, &b, at);
	if (j->r->busy)
		at->busy += clock_thread_seconds() - start;
}

/* Kernels with fewer points, or of opaque functions, are not divided. */
enum { LEAST_POINTS = 1 << 14 };

static void divide(job *j, double points, int nthreads)
{
	bool some = !j->k->opaque && points >= LEAST_POINTS;
	const cpu *c = j->c;
	j->shares = shares_of(j->k, j->r, c->reads[j->r->kernel],
				  &c->keeps[j->r->kernel * KEPT_SIDES],
				  some ? nthreads : 1);
	j->nparts = j->shares.nparts;
}

/* Packs the factors that a run keeps; each thread packs a part. */
static void fill(const job *of, thread_pool *team)
{
	job j = *of;
	j.fills = true;
	j.nparts = thread_pool_size(team);
	thread_pool_run(team, j.nparts, run_part, &j);
}

/* Factors packed by oneDNN are not for generated kernels. */
static unsigned fill_of(const kernel_run *r)
{
	unsigned fill = r->fill;
	for (int i = 0; i < KEPT_SIDES; i++) {
		if (!r->kept[i] || !*r->kept_as[i])
			continue;
		fill |= 1u << i;
		*r->kept_as[i] = NULL;
	}
	return fill;
}

static void run_generated_parts(job *j, thread_pool *team)
{
	kernel_run own = *j->r;
	own.fill = fill_of(j->r);
	j->r = &own;
	if (own.fill)
		fill(j, team);
	thread_pool_run(team, j->nparts, run_part, j);
}

/* ---- oneDNN ------------------------------------------------------------ */

static void pack_called(void *arg, int i)
{
	const job *j = arg;
	bench *at = &j->benches[i];
	double start = j->r->busy ? clock_thread_seconds() : 0;
	at->failed = !onednn_pack(j->called, &j->calls, i);
	if (j->r->busy)
		at->busy += clock_thread_seconds() - start;
}

static void run_called(void *arg, int i)
{
	const job *j = arg;
	bench *at = &j->benches[i];
	double start = j->r->busy ? clock_thread_seconds() : 0;
	at->status = EVAL_OK;
	at->failed = !onednn_compute(j->called, &j->calls, i);
	if (j->r->busy)
		at->busy += clock_thread_seconds() - start;
}

/* A generated kernel is faster if it uses each element of a kept factor less
 * often: with one of 512 x 2048, oneDNN takes 5.5, 3.0, 1.3, 1.5 and 1.5 times
 * as long for 4, 8, 16, 24 and 32 uses, with AVX2. */
enum { LEAST_USES = 48 };

static bool uses_little(const job *j, double points)
{
	const tdl_keeps *keeps = &j->c->keeps[j->r->kernel * KEPT_SIDES];
	const box *b = j->r->space;
	bool little = false;
	for (int i = 0; i < KEPT_SIDES; i++) {
		uint32_t vars = keeps[i].outer | keeps[i].own | keeps[i].depth;
		double elements = 1;
		for (int v = 0; v < b->n; v++)
			if (vars >> v & 1)
				elements *= (double)(b->hi[v] - b->lo[v]);
		little |= j->r->kept[i] && points < LEAST_USES * elements;
	}
	return little;
}

/* Finds the calls for a run.  Calls for smaller runs would take as long as they
 * save. */
static void find_calls(job *j, int number, double points)
{
	cpu *c = j->c;
	box *parts = c->parts + number * c->thread_pool_size;
	if (!c->onednn || j->k->opaque || points < LEAST_POINTS ||
	    uses_little(j, points))
		return;
	for (int i = 0; i < j->nparts; i++)
		parts[i] = part_of(j, i);
	j->calls = (onednn_job){ j->k, j->r,
				 &c->keeps[j->r->kernel * KEPT_SIDES],
				 j->nparts, parts };
	j->called = onednn_find(c->onednn, number, &j->calls);
}

static bool run_called_parts(job *j, thread_pool *team, failure *f)
{
	bool good = true;
	if (onednn_fills(j->called, &j->calls)) {
		thread_pool_run(team, j->nparts, pack_called, j);
		for (int i = 0; i < j->nparts; i++)
			good = good && !j->benches[i].failed;
	}
	if (good)
		thread_pool_run(team, j->nparts, run_called, j);
	for (int i = 0; i < j->nparts; i++)
		good = good && !j->benches[i].failed;
	return good || fail_with(f, CLI_MACHINE, "oneDNN has failed to compute "
				 "it; use --kernels generated");
}

static cpu_kernel *function_of(const cpu *c, const kernel_run *r)
{
	int number = r->kernel;
	for (; r->next; r = r->next)
		number = c->epilogues[r->next->kernel] + r->epilogue;
	return c->generated[number];
}

void cpu_compute(cpu *c, const kernel_run *r, bench *at)
{
	const job one = { .c = c, .k = c->p->kernels[r->kernel].kernel, .r = r,
			  .function = function_of(c, r) };
	compute(&one, 0, r->space, at);
}

static bool joins_cpu(void *state)
{
	return ((const cpu *)state)->joins;
}

static bool run_cpu(void *state, int number, const kernel_run *r, failure *f)
{
	cpu *c = state;
	thread_pool *team = c->teams[number];
	job j = { .c = c, .k = c->p->kernels[r->kernel].kernel, .r = r,
		  .function = function_of(c, r),
		  .benches = c->benches + number * c->thread_pool_size };
	double points = shares_points(j.k, r->space);
	for (int i = 0; r->busy && i < c->thread_pool_size; i++)
		j.benches[i].busy = 0;
	divide(&j, points, thread_pool_size(team));
	find_calls(&j, number, points);
	if (!j.called)
		run_generated_parts(&j, team);
	else if (!run_called_parts(&j, team, f))
		return false;
	for (int i = 0; r->busy && i < c->thread_pool_size; i++)
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
	.keeps = keeps_cpu,
	.joins = joins_cpu,
	.run = run_cpu,
	.run_chain = cpu_run_chain,
	.close = close_cpu,
};
