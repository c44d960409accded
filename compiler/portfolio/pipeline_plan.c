#include "config.h"

#include "compiler/portfolio/pipeline_plan.h"

#include <math.h>
#include <string.h>

#include "compiler/lower/stage_recompute.h"
#include "compiler/lower/stage_ties.h"
#include "compiler/portfolio/pipeline_sums.h"
#include "compiler/simulate/simulate.h"

int *pipeline_even(arena *a, int devices, int nstages)
{
	int *n = ARENA_ARRAY(a, int, nstages);
	for (int s = 0; s < nstages; s++)
		n[s] = devices / nstages + (s < devices % nstages);
	return n;
}

double pipeline_bandwidth(const topology *t, int k)
{
	int64_t span = 1;
	for (int i = t->nlevels; i-- > 0;) {
		span *= t->levels[i].size ? t->levels[i].size : k;
		if (span >= k)
			return t->levels[i].bandwidth;
	}
	return t->levels[0].bandwidth;
}

const topology_level *pipeline_level_before(const topology *t, int device)
{
	int64_t span = 1;
	int i = t->nlevels - 1;
	for (; i > 0 && t->levels[i].size; i--) {
		span *= t->levels[i].size;
		if (device % span != 0)
			break;
	}
	return &t->levels[i];
}

bool pipeline_cut_equal(const pipeline_cut *x, const pipeline_cut *y)
{
	bool same = x->nstages == y->nstages && x->kind == y->kind &&
		    !memcmp(x->first, y->first,
			    (size_t)(x->nstages + 1) * sizeof(*x->first));
	for (int s = 0; same && s < x->nstages; s++)
		same = pipeline_way_equal(&x->ways[s], &y->ways[s]);
	return same;
}

/* ---- the layouts of a stage -------------------------------------------- */

static bool plan_one_stage(const plan_request *how, const stage_homes *h, int s,
			   const pipeline_cut *cut, known_stages *known,
			   pipeline_result *r)
{
	int *tensors = ARENA_ARRAY(how->arena, int, h->g->ntensors);
	const graph *g = stage_graph(how->arena, h, s, tensors);
	pipeline_stage *x = &r->stages[s];
	known_stage *of = pipeline_known(how->arena, known, g, &cut->ways[s]);
	if (!of->search)
		of->search = pipeline_way_search(how, of->graph, &of->way);
	x->known = of;
	x->way = of->way;
	x->graph = of->graph;
	x->search = of->search;
	if (x->search && x->search->error) {
		r->refused = arena_printf(how->arena, "stage %d: %s", s,
					  x->search->error);
		r->absent = x->search->absent;
	}
	return x->search != NULL;
}

/* ---- figures ----------------------------------------------------------- */

/* The step by a formula, for one that is too long to be simulated. */
static double step_seconds(const pipeline_result *r, int nstages, int turns)
{
	double sum = 0, longest = 0, once = 0;
	for (int s = 0; s < nstages; s++) {
		const lower_passes *x = &r->stages[s].seconds;
		double own = 0;
		for (int i = 0; i <= PASS_WEIGHT; i++)
			own += x->pass[i];
		sum += own;
		longest = fmax(longest, own);
		once = fmax(once, x->once);
	}
	return sum + (turns - 1) * longest + once;
}

/* The name of the last forward node of the layers before `end'. */
static const char *last_node(const pipeline_layers *l, int end)
{
	node_id n = l->g->nnodes;
	while (l->layer[--n] != end - 1)
		;
	return l->g->nodes[n].name;
}

static void set_layers(const pipeline_layers *l, const pipeline_cut *cut,
		       pipeline_result *r)
{
	for (int s = 0; s < cut->nstages; s++) {
		pipeline_stage *x = &r->stages[s];
		int last = (cut->chunks - 1) * cut->nstages + s;
		for (int q = s; q <= last; q += cut->nstages)
			x->nlayers += cut->first[q + 1] - cut->first[q];
		x->first_node = l->g->nodes[l->first[cut->first[s]]].name;
		x->last_node = last_node(l, cut->first[last + 1]);
	}
}

void pipeline_count(const plan_request *how, pipeline_result *r)
{
	int n = r->plan->nstages;
	arena *tmp = arena_new();
	r->stages = ARENA_COPY(how->arena, r->stages, n);
	r->peak_bytes = 0;
	for (int s = 0; s < n; s++) {
		const plan *p = &r->plan->stages[s];
		r->stages[s].seconds = lower_pass_times(p, how->topology);
		if (p->arena_bytes > r->peak_bytes)
			r->peak_bytes = p->arena_bytes;
	}
	r->seconds = simulate_refused(tmp, r->plan)
			     ? step_seconds(r, n, how->graph->turns->turns)
			     : simulate_pipeline(tmp, r->plan, how->topology)
				       ->seconds;
	arena_free(tmp);
}

/* ---- all --------------------------------------------------------------- */

/* The schedule, from the nanoseconds of the parts' passes by the layers' times
 * on one device.  They are needed for the lists of zero bubble. */
static pipeline schedule_of(const plan_request *how, const pipeline_layers *l,
			    const pipeline_cut *cut)
{
	int n = cut->nstages * cut->chunks;
	int64_t *ns[2] = { ARENA_ARRAY(how->arena, int64_t, n),
			   ARENA_ARRAY(how->arena, int64_t, n) };
	for (int q = 0; q < n; q++) {
		double seconds[2] = { 0 };
		for (int i = cut->first[q]; i < cut->first[q + 1]; i++) {
			seconds[0] += l->forward[i];
			seconds[1] += l->backward[i] / 2;
		}
		for (int i = 0; i < 2; i++)
			ns[i][q] = (int64_t)fmin(
				1e9 * seconds[i] /
					cut->ways[q % cut->nstages].devices,
				0x1p40);
	}
	return (pipeline){ cut->kind, cut->nstages, cut->chunks,
			   how->graph->turns->turns, ns[0], ns[1], ns[1],
			   NULL };
}

/* The programs that take the least memory, in place of those of stages that
 * exceed their devices' limits: copies were kept as far as a stage alone, with
 * one micro-batch in flight, allows it.  Returns whether any differs. */
static bool drop_copies(const plan_request *how, const pipeline_result *r,
			lower_stage *all)
{
	const lower_choice least = { .memory = 1 };
	lower_rooms rooms;
	bool any = false;
	for (int s = 0, begin = 0; s < r->plan->nstages; s++) {
		known_stage *x = r->stages[s].known;
		int end = begin + x->way.devices;
		double limit = pipeline_limit(how, begin, end);
		begin = end;
		if ((double)r->plan->stages[s].arena_bytes <= limit ||
		    lower_is_same(&x->rooms, 0, least.memory))
			continue;
		if (!x->least)
			x->least = lowering_draft(how->arena, x->lowering,
						  least, &rooms);
		all[s].draft = x->least;
		any = true;
	}
	return any;
}

static bool lower_one(const plan_request *how, const lower_options *o,
		      known_stage *x)
{
	const lower_choice which = { o->memory, o->schedule };
	x->lowering = lowering_new(how->arena, x->graph, &x->search->assignment,
				   o, how->sink);
	if (x->lowering)
		x->draft = lowering_draft(how->arena, x->lowering, which,
					  &x->rooms);
	return x->lowering != NULL;
}

/* Lowers the stages, each once.  NULL when errors were added. */
static lower_stage *lower_stages(const plan_request *how,
				 const pipeline_result *r, int n,
				 const lower_options *o)
{
	lower_stage *all = ARENA_ARRAY(how->arena, lower_stage, n);
	for (int s = 0; s < n; s++) {
		known_stage *x = r->stages[s].known;
		if (!x->draft && !lower_one(how, o, x))
			return NULL;
		all[s] = (lower_stage){ x->graph, x->search->assignment,
					x->draft };
	}
	return all;
}

/* Makes r->plan of its stages.  Returns false after adding errors. */
static bool lower_all(const plan_request *how, const stage_homes *h,
		      const pipeline *order, const lower_options *o,
		      pipeline_result *r)
{
	arena *a = how->arena;
	lower_stage *all = lower_stages(how, r, h->d->nstages, o);
	if (!all)
		return false;
	r->plan = lower_pipeline(a, h, all, order, o, how->sink);
	if (r->plan && drop_copies(how, r, all))
		r->plan = lower_pipeline(a, h, all, order, o, how->sink);
	return r->plan != NULL;
}

/* The stages of the graph divided by d, after ties and, if wanted,
 * recomputation. */
static stage_homes homes_of(arena *a, const graph *g, const stage_division *d,
			    bool recompute)
{
	stage_division *tied = ARENA_NEW(a, stage_division), *again = tied;
	g = stage_ties(a, g, d, tied);
	if (recompute) {
		again = ARENA_NEW(a, stage_division);
		g = stage_recompute(a, g, tied, again);
	}
	return stage_homes_of(a, g, again);
}

bool pipeline_plan(const plan_request *how, const pipeline_layers *l,
		   const pipeline_cut *cut, known_stages *known,
		   pipeline_result *r)
{
	arena *a = how->arena;
	known_stages none = { 0 };
	const lower_options o = { .algorithm = how->algorithm,
				  .separate = how->separate,
				  .memory = how->memory };
	stage_division *d = ARENA_NEW(a, stage_division);
	stage_homes *h = ARENA_NEW(a, stage_homes);
	const pipeline order = schedule_of(how, l, cut);
	*d = pipeline_layers_divide(a, l, cut->nstages, cut->chunks,
				    cut->first);
	*r = (pipeline_result){ .refused = stage_division_refused(a, l->g, d) };
	if (!r->refused)
		r->refused = pipeline_refused(a, &order);
	if (r->refused)
		return true;
	*h = homes_of(a, l->g, d, cut->recompute);
	r->stages = ARENA_ARRAY(a, pipeline_stage, cut->nstages);
	for (int s = 0; s < cut->nstages && !r->refused; s++)
		if (!plan_one_stage(how, h, s, cut, known ? known : &none, r))
			return false;
	if (r->refused)
		return true;
	if (!lower_all(how, h, &order, &o, r))
		return false;
	set_layers(l, cut, r);
	pipeline_count(how, r);
	r->cut = ARENA_COPY(a, cut, 1);
	r->layers = l;
	return true;
}

/* ---- balance ----------------------------------------------------------- */

void pipeline_balance(arena *a, const plan_request *how,
		      const pipeline_layers *l, pipeline_cut *cut)
{
	int n = cut->nstages * cut->chunks;
	int *first = ARENA_ARRAY(a, int, n + 1);
	double *speed = ARENA_ARRAY(a, double, n);
	for (int q = 0; q < n; q++)
		speed[q] = cut->ways[q % cut->nstages].devices;
	pipeline_layers_balance(l, n, speed,
				pipeline_bandwidth(how->topology, how->k),
				first);
	cut->first = first;
}
