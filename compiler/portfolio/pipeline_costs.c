#include "config.h"

#include "compiler/portfolio/pipeline_costs.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/stage_graph.h"
#include "plan/lifetimes.h"

/* ---- classes ----------------------------------------------------------- */

/* An input of a node: a result of its layer, or what the layer is given. */
static uint64_t hash_input(const graph *g, tensor_id t, const int *layer,
			   const uint64_t *known, node_id n)
{
	const tensor *x = &g->tensors[t];
	node_id from = x->producer;
	if (from != NONE && layer[from] == layer[n])
		return hash_i64(HASH_SEED, (int64_t)known[from]);
	uint64_t hash = hash_i64(HASH_SEED, -(int64_t)x->kind - 1);
	hash = hash_i64(hash, x->parameter);
	return hash_i64(hash, tensor_nbytes(&x->type));
}

/* Whether a node makes a number of numbers: norms' squares are added up in any
 * order, over all layers. */
static bool is_of_numbers(const graph *g, const node *x)
{
	bool all = tensor_nelem(&g->tensors[x->output].type) == 1;
	for (int i = 0; i < x->kernel->ninputs && all; i++)
		all = tensor_nelem(&g->tensors[x->inputs[i]].type) == 1;
	return all;
}

/* Of the inputs in any order: the terms of a gradient have none. */
static uint64_t hash_node(const graph *g, const int *layer, plan_pass pass,
			  const uint64_t *known, node_id n)
{
	const node *x = &g->nodes[n];
	uint64_t inputs = 0;
	for (int i = 0; i < x->kernel->ninputs; i++)
		inputs += hash_input(g, x->inputs[i], layer, known, n);
	uint64_t h = hash_i64(HASH_SEED, (int64_t)kernel_form_hash(x->kernel));
	return hash_i64(hash_i64(h, pass), (int64_t)inputs);
}

/* By layer: equal for layers that do the same, whatever the order of their
 * nodes, in all likelihood; the winner is planned as it is. */
static uint64_t *hash_layers(arena *a, const pipeline_layers *l,
			     const int *layer, const plan_pass *pass)
{
	const graph *g = l->g;
	uint64_t *hash = ARENA_ARRAY(a, uint64_t, l->n);
	uint64_t *known = ARENA_ARRAY(a, uint64_t, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++) {
		if (is_of_numbers(g, &g->nodes[n]))
			continue;
		known[n] = hash_node(g, layer, pass[n], known, n);
		hash[layer[n]] += known[n];
	}
	return hash;
}

static void find_classes(arena *a, arena *tmp, pipeline_costs *c,
			 const uint64_t *hash)
{
	hash_table known = { 0 };
	int *class = ARENA_ARRAY(a, int, c->layers->n);
	int *first = ARENA_ARRAY(tmp, int, c->layers->n);
	for (int i = 0; i < c->layers->n; i++) {
		uint32_t at = 0;
		int found = -1;
		for (int k; found < 0 &&
			    (k = hash_table_next(&known, hash[i], &at)) >= 0;)
			if (hash[first[k]] == hash[i])
				found = k;
		if (found < 0) {
			found = c->nclasses++;
			first[found] = i;
			hash_table_add(tmp, &known, hash[i], found);
		}
		class[i] = found;
	}
	c->class = class;
}

/* The nodes of the first layers of all classes, as a graph. */
static const graph *sample_of(arena *a, const pipeline_costs *c)
{
	const graph *g = c->layers->g;
	stage_division *d = ARENA_COPY(a, &c->division, 1);
	int *stages = ARENA_ARRAY(a, int, g->nnodes);
	bool *seen = ARENA_ARRAY(a, bool, c->nclasses);
	bool *first = ARENA_ARRAY(a, bool, c->layers->n);
	for (int i = 0; i < c->layers->n; i++) {
		first[i] = !seen[c->class[i]];
		seen[c->class[i]] = true;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		stages[n] = !first[c->division.stage[n]];
	d->nstages = 2;
	d->stage = stages;
	stage_homes *h = ARENA_NEW(a, stage_homes);
	*h = stage_homes_of(a, g, d);
	return stage_graph(a, h, 0, ARENA_ARRAY(a, int, g->ntensors));
}

const pipeline_costs *pipeline_costs_new(arena *a, const pipeline_layers *l)
{
	arena *tmp = arena_new();
	pipeline_costs *c = ARENA_NEW(a, pipeline_costs);
	int *all = ARENA_ARRAY(tmp, int, l->n + 1);
	for (int i = 0; i <= l->n; i++)
		all[i] = i;
	c->layers = l;
	c->division = pipeline_layers_divide(a, l, l->n, 1, all);
	find_classes(a, tmp, c, hash_layers(tmp, l, c->division.stage,
					    c->division.pass));
	c->sample = sample_of(a, c);
	c->nodes = strmap_new(a);
	for (node_id n = 0; n < l->g->nnodes; n++)
		strmap_put(c->nodes, l->g->nodes[n].name, &l->g->nodes[n]);
	arena_free(tmp);
	return c;
}

/* ---- a program --------------------------------------------------------- */

typedef struct measurer {
	arena *tmp;
	const pipeline_costs *c;
	const plan *p;
	node_id *of; /* by node of the plan: the graph's; of one that lowering
			added, that of the last that it reads; NONE */
	node_id *instr; /* by instruction: the graph's node; NONE */
	layer_cost *costs; /* by class */
} measurer;

static void find_nodes(measurer *m)
{
	const plan *p = m->p;
	const graph *g = m->c->layers->g;
	node_id *made = ARENA_ARRAY(m->tmp, node_id, p->ntensors);
	for (int t = 0; t < p->ntensors; t++)
		made[t] = NONE;
	for (int n = 0; n < p->nnodes; n++)
		m->of[n] = NONE;
	for (int i = 0; i < p->ninstrs; i++) {
		if (p->program[i].op != PLAN_RUN)
			continue;
		int n = p->program[i].node;
		const plan_node *x = &p->nodes[n];
		const node *known = strmap_get(m->c->nodes, x->name);
		int nin = p->kernels[x->kernel].kernel->ninputs;
		for (int j = 0; j < nin; j++)
			if (made[x->inputs[j]] > m->of[n])
				m->of[n] = made[x->inputs[j]];
		if (known)
			m->of[n] = (node_id)(known - g->nodes);
		made[x->output] = m->of[n];
	}
}

/* A transfer is for the node that reads it, or whose result it is. */
static node_id node_of(const measurer *m, const plan_instr *in)
{
	const plan_buffer *b = m->p->buffers;
	if (in->op == PLAN_RUN || in->op == PLAN_COMBINE)
		return m->of[in->node];
	if (b[in->to].node >= 0)
		return m->of[b[in->to].node];
	if (in->op == PLAN_MOVE && b[in->from].node >= 0)
		return m->of[b[in->from].node];
	return NONE;
}

static layer_cost *cost_of(const measurer *m, int instr)
{
	node_id n = m->instr[instr];
	int layer = n == NONE ? 0 : m->c->division.stage[n];
	return &m->costs[m->c->class[layer]];
}

static bool in_body(const plan *p, int instr)
{
	return instr >= p->loop.begin && instr < p->loop.end;
}

static bool is_forward(const measurer *m, int instr)
{
	node_id n = m->instr[instr];
	return n == NONE || m->c->division.pass[n] == PASS_FORWARD;
}

static void count_seconds(measurer *m, instr_times *x)
{
	const plan *p = m->p;
	double *computing = ARENA_ARRAY(m->tmp, double, p->ninstrs);
	double *moving = ARENA_ARRAY(m->tmp, double, p->ninstrs);
	lower_efforts(x, p, computing, moving);
	for (int i = 0; i < p->ninstrs; i++) {
		layer_cost *to = cost_of(m, i);
		if (!in_body(p, i)) {
			to->once += computing[i] + moving[i];
			continue;
		}
		to->computing += computing[i];
		to->moving += moving[i];
		if (!is_forward(m, i))
			continue;
		to->forward_computing += computing[i];
		to->forward_moving += moving[i];
	}
}

/* ---- memory ------------------------------------------------------------ */

/* Bytes that begin or end to be in use at an instruction. */
typedef struct passing_use {
	int at;
	double nbytes;
	layer_cost *of;
	double *now; /* of its class */
} passing_use;

typedef enum use_kind { USE_FIXED, USE_KEPT, USE_PASSING, USE_ONCE } use_kind;

/* A place that is in use as a turn begins or ends counts as one all the
 * time; one that a forward pass writes and a backward pass reads is kept. */
static use_kind kind_of(const measurer *m, const arena_item *x)
{
	const plan *p = m->p;
	const plan_loop *l = &p->loop;
	if ((x->first < l->begin && x->last >= l->begin) ||
	    (x->first < l->end && x->last >= l->end))
		return USE_FIXED;
	if (x->last < l->begin || x->first >= l->end)
		return USE_ONCE;
	return is_forward(m, x->first) && !is_forward(m, x->last)
		       ? USE_KEPT : USE_PASSING;
}

/* The layer that has a place: whose node writes it first, or reads what no
 * instruction writes. */
static layer_cost *owner_of(const measurer *m, const arena_item *x,
			    const int *reader, int group)
{
	int at = x->first >= 0 && x->first < m->p->ninstrs &&
				 m->instr[x->first] != NONE
			 ? x->first : reader[group];
	return at < 0 ? &m->costs[m->c->class[0]] : cost_of(m, at);
}

typedef struct reader_note {
	int *reader, instr;
	const int *group;
} reader_note;

static void note_reader(void *to, int buffer)
{
	reader_note *n = to;
	int *first = &n->reader[n->group[buffer]];
	if (*first < 0)
		*first = n->instr;
}

static int *first_readers(const measurer *m, const int *group)
{
	int *reader = ARENA_ARRAY(m->tmp, int, m->p->nbuffers);
	for (int b = 0; b < m->p->nbuffers; b++)
		reader[b] = -1;
	for (int i = 0; i < m->p->ninstrs; i++) {
		reader_note n = { reader, i, group };
		if (m->instr[i] != NONE)
			plan_reads(m->p, &m->p->program[i], note_reader, &n);
	}
	return reader;
}

static int by_first(const void *x, const void *y)
{
	const passing_use *a = x, *b = y;
	return a->at != b->at ? (a->at < b->at ? -1 : 1)
			      : (a->nbytes > b->nbytes) -
					(a->nbytes < b->nbytes);
}

/* Of what is there for a while, a layer has the most of its own. */
static void count_passing(passing_use *all, int n)
{
	if (n > 0)
		qsort(all, (size_t)n, sizeof(*all), by_first);
	for (int i = 0; i < n; i++) {
		layer_cost *to = all[i].of;
		*all[i].now += all[i].nbytes;
		to->passing = fmax(to->passing, *all[i].now);
	}
}

static void count_bytes(measurer *m, layout_classes *f)
{
	const plan *p = m->p;
	plan_places at = plan_find_places(m->tmp, p, f);
	const int *reader = first_readers(m, at.group);
	passing_use *all = ARENA_ARRAY(m->tmp, passing_use, 2 * p->nbuffers);
	double *now = ARENA_ARRAY(m->tmp, double, m->c->nclasses);
	int n = 0;
	for (int b = 0; b < p->nbuffers; b++) {
		const arena_item *x = &at.items[b];
		double nbytes = (double)x->nbytes;
		if (at.group[b] != b || x->first > x->last || x->nbytes <= 0)
			continue;
		layer_cost *to = owner_of(m, x, reader, b);
		double *of = &now[to - m->costs];
		switch (kind_of(m, x)) {
		case USE_FIXED:
			to->fixed += nbytes;
			break;
		case USE_KEPT:
			to->kept += nbytes;
			break;
		case USE_PASSING:
			all[n++] = (passing_use){ x->first, nbytes, to, of };
			all[n++] = (passing_use){ x->last + 1, -nbytes, to,
						  of };
			break;
		case USE_ONCE:
			break;
		}
	}
	count_passing(all, n);
}

/* ---- what comes from outside ------------------------------------------- */

/* Adds the bytes of what node n of the graph reads that is given to its
 * layer. */
static void add_given(const measurer *m, const strmap *tensors, node_id n,
		      double *here, double *all)
{
	const graph *g = m->c->layers->g;
	const node *x = &g->nodes[n];
	for (int i = 0; i < x->kernel->ninputs; i++) {
		tensor_id t = x->inputs[i];
		const plan_tensor *of = strmap_get(tensors,
						   g->tensors[t].name);
		if (!of || of->buffer < 0 ||
		    !pipeline_is_given(m->c->layers, t, n))
			continue;
		*here += (double)m->p->buffers[of->buffer].nbytes;
		*all += (double)tensor_nbytes(&g->tensors[t].type);
	}
}

static void count_given(measurer *m)
{
	const pipeline_costs *c = m->c;
	double *here = ARENA_ARRAY(m->tmp, double, c->nclasses);
	double *all = ARENA_ARRAY(m->tmp, double, c->nclasses);
	strmap *tensors = strmap_new(m->tmp);
	for (int t = 0; t < m->p->ntensors; t++)
		strmap_put(tensors, m->p->tensors[t].name, &m->p->tensors[t]);
	for (node_id n = 0; n < c->sample->nnodes; n++) {
		const node *of = strmap_get(c->nodes,
					    c->sample->nodes[n].name);
		node_id own = (node_id)(of - c->layers->g->nodes);
		int layer = c->layers->layer[own];
		if (layer != NONE)
			add_given(m, tensors, own, &here[c->class[layer]],
				  &all[c->class[layer]]);
	}
	for (int i = 0; i < c->nclasses; i++)
		m->costs[i].given = all[i] > 0 ? fmin(here[i] / all[i], 1) : 1;
}

/* ---- all --------------------------------------------------------------- */

/* The part of the shorter stream's time that a turn of the sample hides. */
static double hidden_part(const measurer *m, instr_times *x, const topology *t)
{
	double computing = 0, moving = 0;
	if (!t->overlap)
		return 0;
	for (int i = 0; i < m->c->nclasses; i++) {
		computing += m->costs[i].computing;
		moving += m->costs[i].moving;
	}
	double least = fmin(computing, moving);
	double saved = computing + moving - lower_turn(x, m->p);
	return least > 0 ? fmin(fmax(saved / least, 0), 1) : 0;
}

static bool measure(const plan_request *how, const pipeline_costs *c,
		    const search_result *s, way_costs *to)
{
	const lower_options o = { .algorithm = to->way.algorithm,
				  .separate = how->separate };
	const lower_choice plain = { 0 };
	lower_rooms rooms;
	measurer m = { .tmp = arena_new(), .c = c };
	lowering *l = lowering_new(m.tmp, c->sample, &s->assignment, &o,
				   how->sink);
	if (l) {
		m.p = lowering_draft(m.tmp, l, plain, &rooms);
		layout_classes *f = lowering_classes(l);
		instr_times *x = instr_times_new(m.tmp, f, how->topology);
		m.of = ARENA_ARRAY(m.tmp, node_id, m.p->nnodes);
		m.instr = ARENA_ARRAY(m.tmp, node_id, m.p->ninstrs);
		m.costs = ARENA_ARRAY(how->arena, layer_cost, c->nclasses);
		find_nodes(&m);
		for (int i = 0; i < m.p->ninstrs; i++)
			m.instr[i] = node_of(&m, &m.p->program[i]);
		count_seconds(&m, x);
		count_bytes(&m, f);
		count_given(&m);
		to->of = m.costs;
		to->hidden = hidden_part(&m, x, how->topology);
	}
	arena_free(m.tmp);
	return l != NULL;
}

bool pipeline_costs_with(const plan_request *how, const pipeline_costs *c,
			 const pipeline_way *way, const search_result *inside,
			 way_costs *to, const char **refused)
{
	to->way = *way;
	*refused = "the machine has no such mesh";
	if (pipeline_way_axes(how->topology, way) < 0)
		return true;
	const search_result *s = pipeline_way_with(how, c->sample, way,
						   inside);
	*refused = s ? s->error : NULL;
	return s && (s->error || measure(how, c, s, to));
}

bool pipeline_costs_measure(const plan_request *how, const pipeline_costs *c,
			    const pipeline_way *way, way_costs *to,
			    const char **refused)
{
	return pipeline_costs_with(how, c, way,
				   pipeline_way_inside(how, c->sample, way),
				   to, refused);
}
