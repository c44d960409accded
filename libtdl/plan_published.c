#include "config.h"

#include "libtdl/plan_published.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "compiler/graph/passes.h"
#include "compiler/placement/capture_find.h"
#include "compiler/placement/machine.h"
#include "compiler/placement/mcap.h"
#include "compiler/placement/model_costs.h"
#include "compiler/placement/pipedream.h"
#include "compiler/portfolio/pipeline_buckets.h"
#include "compiler/portfolio/pipeline_costs.h"

typedef struct chooser {
	const plan_request *how;
	const pipeline_aims *aims;
	arena *a, *tmp;
	double cap; /* bytes of a device, or INFINITY */
	published_cut *to;
} chooser;

static machine_request machine_of(const chooser *x)
{
	return (machine_request){ .ndevices = x->how->k,
				  .topology = x->how->topology,
				  .memory = x->how->memory, .factor = 1 };
}

/* ---- the operators as layers --------------------------------------------- */

/* A micro-batch as a graph of operators with costs, without turns.  NULL when
 * errors were added. */
static const cost_graph *costs_of(const chooser *x)
{
	graph *one = ARENA_COPY(x->tmp, x->how->graph, 1);
	one->turns = NULL;
	one->whole = NULL;
	return cost_graph_of_model(x->tmp, x->how->sink, one,
				   x->how->topology, x->how->graph->name);
}

/* By node: its number in the chain; NONE. */
static int *layers_of_nodes(const chooser *x, const cost_graph *g,
			    const layer_chain *l)
{
	const graph *of = x->how->graph;
	strmap *names = strmap_new(x->tmp);
	int *number = ARENA_ARRAY(x->tmp, int, l->n);
	int *position = ARENA_ARRAY(x->tmp, int, of->nnodes);
	for (int v = 0; v < l->n; v++) {
		number[v] = v;
		if (g->ops[l->op[v]].step > 0)
			strmap_put(names, g->ops[l->op[v]].name, &number[v]);
	}
	for (node_id n = 0; n < of->nnodes; n++) {
		const int *v = strmap_get(names, of->nodes[n].name);
		position[n] = v ? *v : NONE;
	}
	return position;
}

/* By layer of the chain: whether it computes with weights, so that a stage may
 * have it alone. *n: how many do. */
static const bool *weighted_layers(const chooser *x, const cost_graph *g,
				   const layer_chain *l, int *n)
{
	const graph *of = x->how->graph;
	const int *position = layers_of_nodes(x, g, l);
	const bool *is_layer = stage_layers(x->tmp, of);
	bool *is = ARENA_ARRAY(x->tmp, bool, l->n);
	*n = 0;
	for (node_id v = 0; v < of->nnodes; v++)
		if (is_layer[v] && position[v] != NONE) {
			*n += !is[position[v]];
			is[position[v]] = true;
		}
	return is;
}

/* Copies the part of each layer of the chain. */
static void set_parts(chooser *x, const cost_graph *g, const layer_chain *l,
		      const int *part)
{
	const graph *of = x->how->graph;
	const int *position = layers_of_nodes(x, g, l);
	for (node_id n = 0; n < of->nnodes; n++)
		x->to->part[n] = position[n] == NONE ? NONE : part[position[n]];
}

/* ---- mcap ---------------------------------------------------------------- */

static void set_splits(chooser *x, const mcap_request *q, const split *s)
{
	int n = x->to->nstages * q->model.chunks;
	int *part = ARENA_ARRAY(x->tmp, int, q->l->n);
	for (int i = 0; i < n; i++)
		for (int v = s->first[i]; v < s->first[i + 1]; v++) {
			part[v] = i;
			x->to->nlayers[i % x->to->nstages]++;
		}
	set_parts(x, q->g, q->l, part);
}

static const char *no_room(const chooser *x, const split_problem *p)
{
	split least;
	int at = split_exceeding_stage(x->tmp, p, &least);
	return arena_printf(x->a, "no %d stages fit: at best, stage %d needs "
			    "%.0f bytes", p->nstages, at, ceil(least.peak));
}

static void search_chunks(chooser *x, const mcap_request *q)
{
	mcap_chunks found;
	x->to->refused = chunks_refused(x->a, q->l->n, q->ndevices,
					q->model.chunks);
	if (x->to->refused)
		return;
	if (mcap_search_chunks(x->tmp, q, &found))
		set_splits(x, q, &found.best.s);
	else
		x->to->refused = "no chunks that fit were found";
}

static void search_stages(chooser *x, const mcap_request *q)
{
	mcap_stages found;
	if (mcap_search(x->tmp, q, &found))
		set_splits(x, q, &found.best);
	else
		x->to->refused = no_room(x, &found.p);
}

/* Chooses a stage on each device, for least memory, or for least time if there
 * is a memory limit. */
static bool choose_mcap(chooser *x)
{
	const machine_request m = machine_of(x);
	const cost_graph *g = costs_of(x);
	int k = x->how->k, n = k * x->aims->chunks, most;
	if (!g)
		return false;
	const layer_chain *l = layer_chain_new(x->tmp, g);
	const mcap_request q = {
		.g = g,
		.l = l,
		.alone = weighted_layers(x, g, l, &most),
		.model = { .schedule = x->aims->kind,
			   .micro_batches = x->how->graph->turns->turns,
			   .recompute = x->aims->recompute,
			   .factor = 1,
			   .bandwidth = machine_link_bandwidth(&m),
			   .chunks = x->aims->chunks },
		.ndevices = k,
		.cap = x->cap,
		.objective = x->how->memory > 0 ? MCAP_STEP : MCAP_PEAK,
	};
	x->to->nstages = k;
	for (int s = 0; s < k; s++)
		x->to->replicas[s] = x->to->tensors[s] = 1;
	if (n > most || l->n > SPLIT_MAX_LAYERS)
		x->to->refused = arena_printf(
			x->a, "%d operators%s cannot make %d %s%s",
			n > most ? most : l->n,
			n > most ? " that compute with weights" : "", n,
			x->aims->chunks > 1 ? "chunks" : "stages",
			n > most ? "" : ": they are too many");
	else if (x->aims->chunks > 1)
		search_chunks(x, &q);
	else
		search_stages(x, &q);
	return true;
}

/* ---- pipedream ----------------------------------------------------------- */

/* The chain with the weights of layers in place of all that they keep. */
static layer_chain *with_weights(chooser *x, const cost_graph *g)
{
	layer_chain *l = layer_chain_new(x->tmp, g);
	double *bytes = ARENA_ARRAY(x->tmp, double, g->ncolours);
	for (int v = 0; v < g->nops; v++)
		bytes[g->ops[v].colour] += (double)g->ops[v].gradient_nbytes;
	for (int v = 0; v < l->n; v++) {
		double *own = &bytes[g->ops[l->op[v]].colour];
		l->parameters[v] = *own;
		*own = 0;
	}
	return l;
}

static void take_pipedream(chooser *x, const cost_graph *g,
			   const layer_chain *l, const pipedream_plan *best)
{
	int *part = ARENA_ARRAY(x->tmp, int, l->n);
	x->to->nstages = best->nstages;
	for (int s = 0; s < best->nstages; s++) {
		const pipedream_stage *of = &best->stages[s];
		x->to->replicas[s] = of->replicas;
		x->to->tensors[s] = 1;
		x->to->nlayers[s] = of->n;
		for (int i = 0; i < of->n; i++)
			part[of->layers[i]] = s;
	}
	set_parts(x, g, l, part);
}

static bool choose_pipedream(chooser *x)
{
	const machine_request m = machine_of(x);
	const stage_model model = {
		.schedule = SCHEDULE_1F1B,
		.micro_batches = x->how->graph->turns->turns,
		.factor = 1, .chunks = 1,
		.bandwidth = machine_link_bandwidth(&m),
	};
	const cost_graph *g = costs_of(x);
	if (!g)
		return false;
	const layer_chain *l = with_weights(x, g);
	pipedream_plan best;
	if ((int64_t)l->n * x->how->k > PIPEDREAM_MAX_STATES) {
		x->to->refused = arena_printf(
			x->a, "pipedream plans operators times devices up to "
			"%d, not %d times %d", PIPEDREAM_MAX_STATES, l->n,
			x->how->k);
		return true;
	}
	pipedream_best(x->tmp, l, &model, x->how->k, &best);
	take_pipedream(x, g, l, &best);
	return true;
}

/* ---- capture ------------------------------------------------------------ */

/* The layers of a model with their costs on one device, and what two devices
 * save and send if they divide tensors as megatron does. */
typedef struct measured {
	const pipeline_layers *layers;
	const pipeline_costs *costs;
	way_costs one, two;
	bool divides; /* `two' is set */
} measured;

static bool measure(const chooser *x, measured *m)
{
	const pipeline_way one = { 1, 1, "tofu", { 0 } };
	const pipeline_way two = { 2, 1, "megatron", { 0 } };
	const plan_request *how = x->how;
	const char *refused;
	m->layers = pipeline_layers_new(x->tmp, how->graph, how->topology);
	if (m->layers->n == 0)
		return true;
	m->costs = pipeline_costs_new(how->arena, m->layers);
	m->divides = false;
	if (!pipeline_costs_measure(how, m->costs, &one, &m->one, &refused))
		return false;
	if (how->k < 2)
		return true;
	if (!pipeline_costs_measure(how, m->costs, &two, &m->two, &refused))
		return false;
	m->divides = !refused;
	return true;
}

/* The bytes of trained weights that each layer reads.  Other states are added
 * to *others. */
static double *weights_of(const chooser *x, const pipeline_layers *l,
			  double *others)
{
	const graph *g = l->g;
	double *to = ARENA_ARRAY(x->tmp, double, l->n);
	int *last = ARENA_ARRAY(x->tmp, int, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		last[t] = NONE;
		if (g->tensors[t].kind == TENSOR_STATE &&
		    !g->tensors[t].parameter)
			*others += (double)tensor_nbytes(&g->tensors[t].type);
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			if (!g->tensors[t].parameter ||
			    l->layer[n] == NONE || last[t] == l->layer[n])
				continue;
			last[t] = l->layer[n];
			to[last[t]] += (double)tensor_nbytes(
				&g->tensors[t].type);
		}
	return to;
}

/* Makes a layer.  A device computes one unit of "FLOP" per second, so costs are
 * times. */
static layer layer_of(const measured *m, const layer_table *t, int i,
		      double weights, double samples)
{
	const layer_cost *one = &m->one.of[m->costs->class[i]];
	layer to = { .params = weights,
		     .flops = one->computing / 3 / samples,
		     .rep = layer_kept(one) / samples,
		     .edge = m->layers->crossing[i + 1] / samples };
	if (!m->divides)
		return to;
	const layer_cost *two = &m->two.of[m->costs->class[i]];
	to.act = 2 * fmax(layer_kept(one) - layer_kept(two), 0) / samples;
	to.rep = fmax(layer_kept(one) / samples - to.act, 0);
	to.ar = two->moving * t->intra / 4 / samples;
	return to;
}

/* *optimizer: bytes of other states per byte of weights. */
static layer_table *table_of(const chooser *x, const measured *m,
			     double *optimizer)
{
	const topology *t = x->how->topology;
	const graph_turns *turns = x->how->graph->turns;
	const topology_level *in = &t->levels[t->nlevels - 1];
	const topology_level *out = in - (t->nlevels > 1);
	layer_table *to = ARENA_NEW(x->tmp, layer_table);
	double others = 0, all = 0;
	const double *weights = weights_of(x, m->layers, &others);
	*to = (layer_table){ .name = x->how->graph->name,
			     .n = m->layers->n,
			     .at = ARENA_ARRAY(x->tmp, layer, m->layers->n),
			     .devices = x->how->k,
			     .node = !m->divides ? 1 :
				     in->size    ? in->size : x->how->k,
			     .flops = 1,
			     .intra = in->bandwidth,
			     .inter = out->bandwidth,
			     .memory = x->cap,
			     .batch = (int)turns->batch };
	for (int i = 0; i < to->n; i++) {
		to->at[i] = layer_of(m, to, i, weights[i],
				     (double)turns->batch / turns->turns);
		all += weights[i];
	}
	*optimizer = all > 0 ? others / all : 0;
	return to;
}

/* The reason why a table is too large or divides no samples; NULL if it is
 * fine. */
static const char *table_refused(const chooser *x, const layer_table *t)
{
	const graph_turns *turns = x->how->graph->turns;
	if (t->n > LAYERS_MAX || x->how->k > LAYERS_MAX_DEVICES ||
	    turns->batch > LAYERS_MAX_BATCH)
		return arena_printf(x->a, "capture takes up to %d layers, %d "
				    "devices and %d samples", LAYERS_MAX,
				    LAYERS_MAX_DEVICES, LAYERS_MAX_BATCH);
	if (turns->batch % turns->turns)
		return arena_printf(x->a, "capture has micro-batches of "
				    "equally many samples, which %d of %d are "
				    "not", turns->turns, (int)turns->batch);
	return NULL;
}

static void take_capture(chooser *x, const pipeline_layers *l,
			 const capture_plan *best)
{
	int i = 0;
	int *stages = ARENA_ARRAY(x->tmp, int, l->n);
	x->to->nstages = best->nstages;
	x->to->recompute = best->at[0].way.recompute;
	for (int s = 0; s < best->nstages; s++) {
		x->to->replicas[s] = best->at[s].way.replicas;
		x->to->tensors[s] = best->at[s].way.tensor;
		x->to->nlayers[s] = best->at[s].nlayers;
		for (int end = i + best->at[s].nlayers; i < end; i++)
			stages[i] = s;
	}
	for (node_id n = 0; n < l->g->nnodes; n++)
		x->to->part[n] = l->layer[n] == NONE ? NONE
						     : stages[l->layer[n]];
}

/* If the flag is given, all plans recompute; otherwise plans with and without
 * recomputation are compared. */
static bool choose_capture(chooser *x)
{
	measured m;
	capture_plan best;
	if (!measure(x, &m))
		return false;
	if (m.layers->n == 0) {
		x->to->refused = "the model has no layers: nothing reads a "
				 "weight";
		return true;
	}
	capture_request q = { .objective = CAPTURE_TIME,
			      .schedule = x->aims->kind,
			      .devices = x->how->k,
			      .cap = x->cap,
			      .plain = !x->aims->recompute,
			      .recompute = x->how->graph->training,
			      .micro_batches = x->how->graph->turns->turns };
	const layer_table *t = table_of(x, &m, &q.optimizer);
	x->to->refused = table_refused(x, t);
	if (x->to->refused)
		return true;
	if (capture_best(x->tmp, t, &q, &best))
		take_capture(x, m.layers, &best);
	else
		x->to->refused = arena_printf(
			x->a, "capture finds no plan of %d layers and %d "
			"samples in a micro-batch for %d devices%s", t->n,
			t->batch / q.micro_batches, x->how->k,
			isinf(x->cap) ? "" : " within the memory");
	return true;
}

/* ---- all ----------------------------------------------------------------- */

static const struct {
	const char *name;
	bool (*choose)(chooser *x);
	bool one_each; /* each stage has one device */
	bool chunks;   /* supports interleaved schedules, .. */
	bool orders;   /* .. or any schedule other than 1F1B */
} table[] = {
	{ "mcap", choose_mcap, true, true, true },
	{ "pipedream", choose_pipedream, false, false, false },
	{ "capture", choose_capture, false, false, true },
};

enum { COUNT = sizeof(table) / sizeof(*table) };

static int number_of(const char *algorithm)
{
	int i = COUNT - 1;
	while (i >= 0 && strcmp(table[i].name, algorithm) != 0)
		i--;
	return i;
}

const char *plan_published_name(int i)
{
	return i < COUNT ? table[i].name : NULL;
}

const char *plan_published_names(arena *a)
{
	const char *all = table[0].name;
	for (int i = 1; i < COUNT; i++)
		all = arena_printf(a, "%s, %s", all, table[i].name);
	return all;
}

bool plan_is_published(const char *algorithm)
{
	return number_of(algorithm) >= 0;
}

const char *plan_published_misfit(job *d, const char *algorithm, int k,
				  const pipeline_aims *aims)
{
	int i = number_of(algorithm);
	if (aims->nstages && !table[i].one_each)
		return arena_printf(d->arena, "%s chooses the number of "
				    "stages: %s " PLAN_AUTO, algorithm,
				    job_option(d, "stages"));
	if (aims->nstages && aims->nstages != k)
		return arena_printf(d->arena, "%s has a stage on each of %d "
				    "devices, not %d", algorithm, k,
				    aims->nstages);
	if (aims->replicas || aims->inside)
		return arena_printf(d->arena, "%s chooses the devices of its "
				    "stages: %s does not go with it",
				    algorithm, job_option(d, aims->replicas ?
							  "replicas" :
							  "inside"));
	if (aims->any_schedule || (aims->chunks > 1 && !table[i].chunks) ||
	    (aims->kind != SCHEDULE_1F1B && !table[i].orders))
		return arena_printf(d->arena, "%s does not go with that %s",
				    algorithm, job_option(d, "schedule"));
	return NULL;
}

bool plan_published_cut(const plan_request *how, const pipeline_aims *aims,
			published_cut *to)
{
	const topology *t = how->topology;
	int64_t memory = how->memory > 0 ? how->memory : t->memory;
	chooser x = { .how = how, .aims = aims, .a = how->arena,
		      .tmp = arena_new(),
		      .cap = memory > 0 ? (double)memory : INFINITY,
		      .to = to };
	*to = (published_cut){ .recompute = aims->recompute };
	to->part = ARENA_ARRAY(how->arena, int, how->graph->nnodes);
	to->replicas = ARENA_ARRAY(how->arena, int, how->k);
	to->tensors = ARENA_ARRAY(how->arena, int, how->k);
	to->nlayers = ARENA_ARRAY(how->arena, int, how->k);
	bool ok = table[number_of(how->algorithm)].choose(&x);
	arena_free(x.tmp);
	return ok;
}

/* Each replica needs at least one sample. */
static const char *samples_refused(const plan_request *how,
				   const published_cut *c)
{
	const graph_turns *t = how->graph->turns;
	int64_t samples = t->batch / t->turns;
	for (int s = 0; s < c->nstages; s++)
		if (c->replicas[s] > samples)
			return arena_printf(
				how->arena, "stage %d has %d replicas, and a "
				"micro-batch %lld sample%s", s, c->replicas[s],
				(long long)samples, samples == 1 ? "" : "s");
	return NULL;
}

static pipeline_way *ways_of(const plan_request *how, const published_cut *c,
			     const char *inside)
{
	pipeline_way *ways = ARENA_ARRAY(how->arena, pipeline_way,
					 c->nstages);
	for (int s = 0; s < c->nstages; s++)
		ways[s] = (pipeline_way){ c->replicas[s] * c->tensors[s],
					  c->replicas[s],
					  c->tensors[s] > 1 ? inside : "tofu",
					  { 0 } };
	return ways;
}

/* A part without an operator that computes with weights is not a stage. */
static const char *parts_refused(const plan_request *how,
				 const int *first, int n)
{
	for (int q = 0; q < n; q++)
		if (first[q] == first[q + 1])
			return arena_printf(
				how->arena, "%s leaves part %d without an "
				"operator that computes with weights",
				how->algorithm, q);
	return NULL;
}

/* Plans the cut.  If the planner divides no stage, another planner is used. */
static bool plan_parts(const plan_request *how, const pipeline_layers *l,
		       const published_cut *c, pipeline_cut *cut,
		       pipeline_result *r)
{
	static const char *const insides[] = { "megatron", "tofu" };
	for (int i = 0; i < 2; i++) {
		cut->ways = ways_of(how, c, insides[i]);
		if (!pipeline_plan(how, l, cut, NULL, r))
			return false;
		if (!r->refused)
			break;
	}
	for (int s = 0; r->plan && s < c->nstages; s++)
		r->stages[s].nlayers = c->nlayers[s];
	return true;
}

bool plan_published_find(const plan_request *how, const pipeline_aims *aims,
			 pipeline_result *r)
{
	published_cut c;
	*r = (pipeline_result){ 0 };
	if (!plan_published_cut(how, aims, &c))
		return false;
	r->refused = c.refused ? c.refused : samples_refused(how, &c);
	if (r->refused)
		return true;
	int n = c.nstages * aims->chunks;
	int *first = ARENA_ARRAY(how->arena, int, n + 1);
	const pipeline_layers *l = pipeline_layers_of_parts(
		how->arena, how->graph, how->topology, n, c.part, first);
	r->refused = parts_refused(how, first, n);
	if (r->refused)
		return true;
	pipeline_cut cut = { c.nstages, aims->chunks, aims->kind, c.recompute,
			     first, NULL };
	if (!plan_parts(how, l, &c, &cut, r))
		return false;
	pipeline_in_buckets(how, r);
	return true;
}
