#include "config.h"

#include "libtdl/layer_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "compiler/codegen/codegen.h"
#include "compiler/lower/stage_graph.h"
#include "compiler/portfolio/one_planner.h"
#include "plan/pipeline.h"
#include "runtime/exec/invent.h"
#include "runtime/exec/profiling.h"

typedef struct maker {
	api_call *c;
	layer_profile *p;
	const plan_request *how;
	const layer_options *o;
	int64_t limit; /* bytes of a device */
	arena *tmp; /* for one run */
} maker;

/* ---- one micro-batch ----------------------------------------------------- */

/* The graph of one turn as a graph without turns; it has the samples of the
 * smallest turn. */
static const graph *one_turn(arena *a, const graph *g)
{
	graph_turns *t = ARENA_COPY(a, g->turns, 1);
	graph *whole = ARENA_COPY(a, g, 1), *one = ARENA_COPY(a, g, 1);
	t->batch = g->turns->batch / g->turns->turns;
	t->turns = 1;
	whole->turns = one->turns = t;
	whole->whole = NULL;
	one->whole = whole;
	return one;
}

/* The graph of a micro-batch if the batch has `turns' of them; NULL when errors
 * were added. */
static const graph *micro_batch(maker *m, const turns_options *o, int turns)
{
	turns_options own = *o;
	own.turns = turns;
	const graph *g = graph_in_turns(m->c->job.arena, m->how->graph, &own,
					m->c->job.sink);
	return g ? one_turn(m->c->job.arena, g) : NULL;
}

/* The graph of half a micro-batch; NULL if it cannot be divided. */
static const graph *half_of(maker *m, const turns_options *o, int64_t batch)
{
	int before = diag_errors(m->c->job.sink);
	int turns = 2 * o->turns;
	const graph *g = batch % turns || turns > PLAN_MAX_TURNS ?
		NULL : micro_batch(m, o, turns);
	diag_forgive(m->c->job.sink, before);
	return g;
}

/* ---- layers as a program ------------------------------------------------- */

/* Layers [i, j) of a micro-batch as a graph; NULL, with *refused set, if
 * impossible. */
static const graph *part_of(arena *a, const pipeline_layers *l, int i, int j,
			    const char **refused)
{
	int first[4], nth = i > 0, n = 0;
	if (i > 0)
		first[n++] = 0;
	first[n++] = i;
	if (j < l->n)
		first[n++] = j;
	first[n] = l->n;
	const stage_division d = pipeline_layers_divide(a, l, n, 1, first);
	const char *why = stage_division_refused(a, l->g, &d);
	*refused = why;
	if (why)
		return NULL;
	const stage_homes h = stage_homes_of(a, l->g, &d);
	return stage_graph(a, &h, nth, ARENA_ARRAY(a, int, l->g->ntensors));
}

static int64_t bytes_of(const plan *p)
{
	return p->arena_bytes + p->kept_bytes;
}

/* Whether a plan fits in the memory.  Sets *refused if not. */
static bool fits(maker *m, const plan *p, const char **refused)
{
	if (bytes_of(p) <= m->limit)
		return true;
	*refused = arena_printf(m->tmp, "needs %s of a device",
				units_bytes((double)bytes_of(p)).text);
	return false;
}

/* The plan of a graph as read from its text.  NULL with errors added, or with
 * *refused set. */
static const plan_pipeline *plan_part(maker *m, const graph *g,
				      const char **refused)
{
	arena *a = m->tmp;
	diag_sink *sink = m->c->job.sink;
	plan_request how = *m->how;
	const lower_options lower = { .algorithm = how.algorithm };
	plan_result r;
	size_t n;
	how.arena = a;
	how.graph = g;
	how.observer = NULL;
	if (!plan_by_planner(&how, &lower, &r))
		return NULL;
	*refused = r.search->error;
	if (*refused)
		return NULL;
	plan own = *r.plan;
	codegen_keep(&own, m->limit > own.arena_bytes ?
				   m->limit - own.arena_bytes : 0);
	if (!fits(m, &own, refused))
		return NULL;
	const plan *whole = lower_completed(a, &own, codegen_sources, sink);
	const char *text = whole ? plan_text(a, whole, api_nowhere, &n) : NULL;
	if (whole && !text)
		api_fail(m->c, TDL_MACHINE, "%s", strerror(errno));
	return text ? pipeline_parse(a, sink, "./plan", text, n) : NULL;
}

/* ---- running ------------------------------------------------------------- */

static void close_machine(void *m)
{
	executor_close(m);
}

/* The values of inputs: those in the plan, or generated ones. */
static array *inputs_of(maker *m, const plan *p)
{
	arena *a = m->tmp;
	array *all = ARENA_ARRAY(a, array, p->ninputs + 1);
	for (int i = 0; i < p->ninputs; i++) {
		all[i] = executor_array(p, p->inputs[i]);
		all[i].data = ARENA_ARRAY(a, unsigned char,
					  array_nbytes(&all[i]) + 1);
	}
	invent_inputs(p, all);
	for (int i = 0; i < p->ninputs; i++)
		if (p->tensors[p->inputs[i]].constant.kind != PLAN_CONST_NONE &&
		    !plan_constant_read(p, p->inputs[i], all[i].data,
					m->c->job.sink))
			return NULL;
	return all;
}

/* The times of a program; for each instruction those of the slowest worker. */
static layer_figures figures_of(const profile_run *r)
{
	layer_figures f = { 0 };
	for (int i = 0; i < r->ninstrs; i++) {
		const profile_instr *in = &r->instrs[i];
		double slowest = 0;
		for (int w = 0; w < in->nworkers; w++)
			slowest = fmax(slowest, in->workers[w].seconds);
		if (in->turn >= 0)
			f.turn += slowest;
		else
			f.once += slowest;
	}
	for (int w = 0; w < r->devices; w++)
		f.bytes = fmax(f.bytes, (double)r->workers[w].arena);
	return f;
}

static bool run_steps(maker *m, const plan_pipeline *p, executor *x,
		      failure *f, layer_figures *to)
{
	arena *a = m->tmp;
	const plan *one = pipeline_merge(a, p)->plan;
	const array *in = inputs_of(m, one);
	array *out = ARENA_ARRAY(a, array, one->noutputs + 1);
	profiling *made = profiling_new(a, p, x, m->o->steps);
	bool good = in != NULL;
	for (int64_t i = 0; good && i < m->o->steps; i++) {
		good = executor_step(x, in, out, f);
		if (good)
			profiling_note(made);
	}
	if (!good)
		return false;
	const profile_run r = profiling_end(made, m->p->all);
	*to = figures_of(&r);
	return true;
}

/* Runs a plan on threads.  Returns false after a message or with errors
 * added. */
static bool run_plan(maker *m, const plan_pipeline *p, layer_figures *to)
{
	failure f = { 0 };
	const backend_options how = { .kernels = m->o->kernels };
	executor *x = executor_open(p, "the plan", &backend_cpu, &comm_threads,
				    NULL, &how, &f);
	bool good = false;
	if (x) {
		memory_guard g;
		memory_guard_on(&g, close_machine, x);
		good = run_steps(m, p, x, &f, to);
		memory_guard_off(&g);
		if (!good)
			executor_abandon(x);
		executor_close(x);
	}
	if (f.status)
		api_fail(m->c, (tdl_status)f.status, "%s", f.text);
	return good;
}

/* ---- which layers -------------------------------------------------------- */

/* Whether layers [i, j) compute the same as [k, k + j - i). */
static bool are_alike(const layer_profile *p, int i, int j, int k)
{
	const int *class = p->costs->class;
	for (int n = i; n < j; n++)
		if (class[n] != class[k + n - i])
			return false;
	return true;
}

const layer_run *layer_profile_find(const layer_profile *p, int i, int j)
{
	for (int r = 0; r < p->runs.n; r++) {
		const layer_run *x = &p->runs.at[r];
		if (x->j - x->i == j - i && are_alike(p, i, j, x->i))
			return x;
	}
	return NULL;
}

/* Lists the runs: each layer alone, and each with the layer before it. */
static void find_runs(layer_profile *p)
{
	int n = p->costs->layers->n;
	for (int both = 0; both < 2; both++)
		for (int i = 0; i + both < n; i++)
			if (!layer_profile_find(p, i, i + 1 + both))
				vec_push(p->arena, &p->runs,
					 ((layer_run){ .i = i,
						       .j = i + 1 + both }));
}

/* Makes a run of a given size.  Returns false after a message or with errors
 * added. */
static bool make_run(maker *m, const pipeline_layers *l, int size,
		     layer_run *to)
{
	const char *refused = NULL;
	m->tmp = arena_new();
	const graph *g = part_of(m->tmp, l, to->i, to->j, &refused);
	const plan_pipeline *p = g ? plan_part(m, g, &refused) : NULL;
	if (refused && !size)
		to->refused = arena_strdup(m->p->arena, refused);
	if (p)
		to->known[size] = run_plan(m, p, &to->of[size]);
	arena_free(m->tmp);
	return to->known[size] || refused;
}

/* The layers of half a micro-batch, if they correspond. */
static const pipeline_layers *layers_of_half(maker *m, const graph *g)
{
	const pipeline_layers *l = m->p->costs->layers;
	const pipeline_layers *half =
		pipeline_layers_new(m->c->job.arena, g, m->how->topology);
	bool same = half->n == l->n;
	for (int i = 0; same && i < l->n; i++)
		same = half->first[i] == l->first[i];
	return same ? half : NULL;
}

static bool make_runs(maker *m, const pipeline_layers *const *l)
{
	layer_profile *p = m->p;
	for (int r = 0; r < p->runs.n; r++) {
		layer_run *x = &p->runs.at[r];
		node_id first = l[0]->first[x->i];
		plan_observe(m->how, PHASE_MEASURE, l[0]->g->nodes[first].name,
			     r, p->runs.n);
		for (int size = 0; size < LAYER_SIZES && l[size]; size++)
			if (!make_run(m, l[size], size, x))
				return false;
	}
	return true;
}

/* The bytes of memory of this machine. */
static int64_t memory_here(void)
{
	return (int64_t)sysconf(_SC_PHYS_PAGES) *
	       (int64_t)sysconf(_SC_PAGESIZE);
}

static bool is_any_known(const layer_profile *p)
{
	for (int r = 0; r < p->runs.n; r++)
		if (p->runs.at[r].known[0])
			return true;
	return false;
}

const layer_profile *layer_profile_make(api_call *c, const plan_request *how,
					const turns_options *turns,
					const layer_options *o, profile *all)
{
	arena *a = c->job.arena;
	layer_profile *p = ARENA_NEW(a, layer_profile);
	maker m = { .c = c, .p = p, .how = how, .o = o };
	*p = (layer_profile){ .arena = a, .devices = how->k, .all = all,
			      .turns = turns->turns,
			      .algorithm = how->algorithm };
	const graph *half = NULL, *g = micro_batch(&m, turns, turns->turns);
	if (!g)
		return NULL;
	m.limit = o->limit ? o->limit : memory_here() / how->k;
	p->g = g;
	p->samples[0] = g->turns->batch;
	const pipeline_layers *l[LAYER_SIZES] = {
		pipeline_layers_new(a, g, how->topology)
	};
	if (l[0]->n == 0) {
		api_fail(c, TDL_NO_PLAN, "no layer is measured: the model has "
			 "none, as nothing reads a weight");
		return NULL;
	}
	p->costs = pipeline_costs_new(a, l[0]);
	half = half_of(&m, turns, p->samples[0] * turns->turns);
	l[1] = half ? layers_of_half(&m, half) : NULL;
	p->samples[1] = l[1] ? half->turns->batch : 0;
	find_runs(p);
	if (!make_runs(&m, l))
		return NULL;
	if (is_any_known(p))
		return p;
	api_fail(c, TDL_NO_PLAN, "no layer is measured: %s",
		 p->runs.at[0].refused);
	return NULL;
}

/* ---- figures ------------------------------------------------------------- */

double layer_profile_step(const layer_profile *p)
{
	int n = p->costs->layers->n;
	double turn = 0, once = 0;
	for (int i = 0; i < n; i++) {
		const layer_run *alone = i > 0 ?
			layer_profile_find(p, i - 1, i) : NULL;
		const layer_run *x = layer_profile_find(p, i > 0 ? i - 1 : 0,
							i + 1);
		if (!x->known[0] || (alone && !alone->known[0]))
			return NAN;
		turn += x->of[0].turn - (alone ? alone->of[0].turn : 0);
		once += x->of[0].once - (alone ? alone->of[0].once : 0);
	}
	double all = p->turns * turn + once;
	return all > 0 ? all : NAN; /* otherwise noise exceeded the time */
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

static double seconds_of(const layer_run *x)
{
	return x->of[0].turn + x->of[0].once;
}

layer_apart layer_profile_apart(arena *a, const layer_profile *p)
{
	double *all = ARENA_ARRAY(a, double, p->runs.n + 1);
	int n = 0;
	for (int r = 0; r < p->runs.n; r++) {
		const layer_run *x = &p->runs.at[r];
		if (x->j - x->i < 2 || !x->known[0])
			continue;
		const layer_run *y = layer_profile_find(p, x->i, x->i + 1);
		const layer_run *z = layer_profile_find(p, x->i + 1, x->j);
		double both = seconds_of(x);
		if (y->known[0] && z->known[0] && both > 0)
			all[n++] = fabs(both - seconds_of(y) - seconds_of(z)) /
				   both;
	}
	if (n == 0)
		return (layer_apart){ NAN, NAN };
	qsort(all, (size_t)n, sizeof(*all), by_value);
	return (layer_apart){ (all[(n - 1) / 2] + all[n / 2]) / 2,
			      all[n - 1] };
}
