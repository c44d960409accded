#include "config.h"

#include "compiler/portfolio/pipeline_costs.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "plan/lifetimes.h"

/* ---- a program --------------------------------------------------------- */

/* The layers that make and read a tensor in a turn; low > high: none. */
typedef struct layer_span {
	int low, high;
} layer_span;

typedef struct measurer {
	arena *tmp;
	const pipeline_costs *c;
	const plan *p;
	/* by node of the plan: the graph's node.  A node that lowering added
	 * has that of the last one it reads; NONE */
	node_id *of;
	node_id *instr; /* by instruction: the graph's node; NONE */
	layer_cost *costs; /* by class */
	strmap *tensors; /* of the graph, by name */
	/* by tensor: the first layer with a later pass that reads it, which
	 * counts it; NONE */
	int *keeper;
	layer_span *spans; /* by tensor */
	/* bytes of what several layers share, on a device and in all */
	double shared_here, shared_in_all;
} measurer;

static void find_nodes(measurer *m)
{
	const plan *p = m->p;
	const graph *g = m->c->tied->g;
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

/* The node of a transfer: the one that reads it, or whose result it moves. */
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

/* The passes of the body that use a buffer. */
typedef struct pass_span {
	plan_pass first, last;
	int layer; /* first layer with a later pass that reads it; nlayers */
	bool written; /* in the body */
} pass_span;

typedef struct pass_note {
	measurer *m;
	pass_span *of; /* by buffer */
	int instr;
} pass_note;

static plan_pass pass_of(const measurer *m, node_id n)
{
	return n == NONE ? PASS_FORWARD : m->c->division.pass[n];
}

/* The graph's tensor in a buffer; NULL if there is none. */
static const tensor *tensor_of(const measurer *m, int buffer)
{
	int t = m->p->buffers[buffer].tensor;
	return strmap_get(m->tensors, m->p->tensors[t].name);
}

static void note_pass(void *to, int buffer)
{
	pass_note *x = to;
	pass_span *s = &x->of[buffer];
	plan_pass pass = pass_of(x->m, x->m->instr[x->instr]);
	if (pass > s->last)
		s->last = pass;
	if (pass < s->first)
		s->first = pass;
	node_id n = x->m->instr[x->instr];
	if (pass > s->first && x->m->c->division.stage[n] < s->layer)
		s->layer = x->m->c->division.stage[n];
}

/* Notes the pass that makes what a buffer is fed with, if that is in another
 * layer. */
static void note_maker(pass_note *x, int buffer)
{
	const tensor *t = tensor_of(x->m, buffer);
	pass_span *s = &x->of[buffer];
	if (!t || t->producer == NONE)
		return;
	plan_pass pass = pass_of(x->m, t->producer);
	if (pass < s->first)
		s->first = pass;
}

/* By buffer: the first and the last pass that writes or reads it. */
static pass_span *find_passes(measurer *m)
{
	pass_span *of = ARENA_ARRAY(m->tmp, pass_span, m->p->nbuffers);
	for (int b = 0; b < m->p->nbuffers; b++)
		of[b] = (pass_span){ PASS_WEIGHT, PASS_FORWARD,
				     m->c->tied->n, false };
	for (int i = m->p->loop.begin; i < m->p->loop.end; i++) {
		pass_note n = { m, of, i };
		of[m->p->program[i].to].written = true;
		plan_reads(m->p, &m->p->program[i], note_pass, &n);
		if (m->p->program[i].op == PLAN_FEED)
			note_maker(&n, m->p->program[i].to);
		else
			note_pass(&n, m->p->program[i].to);
	}
	return of;
}

/* Finds places.  A buffer written in one pass and read in a later one has
 * slots, as in a stage, and so shares its place with nothing else. */
static plan_places find_places(measurer *m, layout_classes *f,
			       const pass_span *passes)
{
	plan own = *m->p;
	own.buffers = ARENA_COPY(m->tmp, own.buffers, own.nbuffers);
	for (int b = 0; b < own.nbuffers; b++)
		own.buffers[b].slots = passes[b].written &&
				       passes[b].first < passes[b].last;
	return plan_find_places(m->tmp, &own, f);
}

typedef enum use_kind { USE_FIXED, USE_KEPT, USE_PASSING, USE_ONCE } use_kind;

/* The kind of use of a place.  One in use at the beginning or end of a turn
 * counts as in use all the time.  One that a pass writes and a later pass reads
 * is kept. */
static use_kind kind_of(const measurer *m, const arena_item *x,
			const pass_span *s)
{
	const plan *p = m->p;
	const plan_loop *l = &p->loop;
	if ((x->first < l->begin && x->last >= l->begin) ||
	    (x->first < l->end && x->last >= l->end))
		return USE_FIXED;
	if (x->last < l->begin || x->first >= l->end)
		return USE_ONCE;
	return s->first < s->last ? USE_KEPT : USE_PASSING;
}

static cost_pair pair_of(const pass_span *s)
{
	return s->first != PASS_FORWARD ? COST_BACKWARD_WEIGHT :
	       s->last == PASS_WEIGHT	? COST_FORWARD_WEIGHT :
					  COST_FORWARD_BACKWARD;
}

/* The instruction whose layer owns a place: the one that writes it first, or
 * reads it if no instruction writes it; -1. */
static int owner_of(const measurer *m, const arena_item *x, const int *reader,
		    int group)
{
	return x->first >= 0 && x->first < m->p->ninstrs &&
			       m->instr[x->first] != NONE
		       ? x->first : reader[group];
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

static double aligned(int64_t nbytes)
{
	return (double)((nbytes + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN);
}

/* Counts bytes that a layer keeps, if it is the first one to keep them.  For
 * stages that begin after that layer, they are added to the sums of layers. */
static void count_kept(measurer *m, layer_cost *to, cost_pair pair,
		       double nbytes, const tensor *t, int layer)
{
	const pipeline_costs *c = m->c;
	int first = t ? m->keeper[t - c->tied->g->tensors] : NONE;
	if (first == NONE) {
		to->kept[pair] += nbytes;
		return;
	}
	if (layer < first)
		first = layer;
	if (c->is_first[first])
		m->costs[c->class[first]].kept[pair] += nbytes;
}

/* Whether a place is in use for a while only.  If the backward pass has one
 * part, so are values that a second part would need. */
static bool is_passing(use_kind kind, cost_pair pair, int parts)
{
	return kind == USE_PASSING || (kind == USE_KEPT && !parts &&
				       pair == COST_BACKWARD_WEIGHT);
}

/* The uses of places, by buffer. */
typedef struct placed_uses {
	plan_places at;
	const pass_span *passes;
	const lifetime *lives;
	const int *reader;
} placed_uses;

/* The layers that write and read a buffer: those of its tensor, if that is the
 * graph's and this its own buffer; else the layer of instruction `at'. */
static layer_span span_of(const measurer *m, int buffer, int at)
{
	const tensor *t = tensor_of(m, buffer);
	if (t && t->producer != NONE &&
	    m->p->tensors[m->p->buffers[buffer].tensor].buffer == buffer)
		return m->spans[t - m->c->tied->g->tensors];
	node_id n = at < 0 ? NONE : m->instr[at];
	int layer = n == NONE ? 0 : m->c->division.stage[n];
	return (layer_span){ layer, layer };
}

/* Finds what is in use for a while, if backward passes are in one part or in
 * two.  The next buffer in a place is written when the one before is read
 * last. */
static passing_uses find_passing(measurer *m, const placed_uses *u, int parts)
{
	const plan *p = m->p;
	passing_uses to = { 0 };
	for (int b = 0; b < p->nbuffers; b++) {
		int group = u->at.group[b];
		const arena_item *x = &u->at.items[group];
		const pass_span *s = &u->passes[group];
		lifetime l = u->lives[b];
		if (l.first > l.last || x->nbytes <= 0 ||
		    !is_passing(kind_of(m, x, s), pair_of(s), parts))
			continue;
		const layer_span of = span_of(m, b, owner_of(m, x, u->reader,
							     group));
		vec_push(m->tmp, &to,
			 ((passing_use){ l.first, l.last - (l.last < x->last),
					 of.low, of.high,
					 aligned(x->nbytes) }));
	}
	return to;
}

/* Counts the bytes in use for a while by the first layers of their classes. */
static void count_passing(measurer *m, arena *a, const placed_uses *u,
			  int parts)
{
	const pipeline_costs *c = m->c;
	const passing_uses uses = find_passing(m, u, parts);
	int *at = ARENA_ARRAY(m->tmp, int, m->p->ninstrs);
	for (int l = 0; l < c->tied->n; l++) {
		int n = 0;
		if (!c->is_first[l])
			continue;
		for (int i = m->p->loop.begin; i < m->p->loop.end; i++)
			if (m->instr[i] != NONE &&
			    c->division.stage[m->instr[i]] == l)
				at[n++] = i;
		m->costs[c->class[l]].passing[parts] =
			passing_of_layer(a, &uses, l, at, n);
	}
}

/* Counts bytes that a layer has all the time, or shares with others. */
static void count_fixed(measurer *m, layer_cost *to, double nbytes,
			const tensor *t)
{
	const pipeline_costs *c = m->c;
	if (!t || !c->crossings->is_shared[t - c->tied->g->tensors]) {
		to->fixed += nbytes;
		return;
	}
	m->shared_here += nbytes;
	m->shared_in_all += (double)tensor_nbytes(&t->type);
}

static void count_bytes(measurer *m, arena *a, layout_classes *f)
{
	const plan *p = m->p;
	const pass_span *passes = find_passes(m);
	placed_uses u = { find_places(m, f, passes), passes,
			  plan_lifetimes(m->tmp, p), NULL };
	u.reader = first_readers(m, u.at.group);
	for (int b = 0; b < p->nbuffers; b++) {
		const arena_item *x = &u.at.items[b];
		double nbytes = aligned(x->nbytes);
		if (u.at.group[b] != b || x->first > x->last || x->nbytes <= 0)
			continue;
		int owner = owner_of(m, x, u.reader, b);
		layer_cost *to = owner < 0 ? &m->costs[m->c->class[0]]
					   : cost_of(m, owner);
		use_kind kind = kind_of(m, x, &passes[b]);
		if (kind == USE_FIXED)
			count_fixed(m, to, nbytes, tensor_of(m, b));
		else if (kind == USE_KEPT)
			count_kept(m, to, pair_of(&passes[b]), nbytes,
				   tensor_of(m, b), passes[b].layer);
	}
	for (int parts = 0; parts < 2; parts++)
		count_passing(m, a, &u, parts);
}

/* ---- what comes from outside ------------------------------------------- */

/* Adds the bytes that node n of the graph reads and that are given to its
 * layer. */
static void add_given(const measurer *m, const strmap *tensors, node_id n,
		      double *here, double *all)
{
	const graph *g = m->c->tied->g;
	const node *x = &g->nodes[n];
	for (int i = 0; i < x->kernel->ninputs; i++) {
		tensor_id t = x->inputs[i];
		const plan_tensor *of = strmap_get(tensors,
						   g->tensors[t].name);
		if (!of || of->buffer < 0 ||
		    !pipeline_is_given(m->c->tied, t, n))
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
		node_id own = (node_id)(of - c->tied->g->nodes);
		int layer = c->tied->layer[own];
		if (layer != NONE)
			add_given(m, tensors, own, &here[c->class[layer]],
				  &all[c->class[layer]]);
	}
	for (int i = 0; i < c->nclasses; i++)
		m->costs[i].given = all[i] > 0 ? fmin(here[i] / all[i], 1) : 1;
}

/* ---- all --------------------------------------------------------------- */

/* The fraction of the shorter stream's time that is hidden in a turn of the
 * sample. */
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

static strmap *tensors_of(const measurer *m)
{
	const graph *g = m->c->tied->g;
	strmap *all = strmap_new(m->tmp);
	for (tensor_id t = 0; t < g->ntensors; t++)
		strmap_put(all, g->tensors[t].name, &g->tensors[t]);
	return all;
}

/* The plan with results that other layers read not counted as outputs: they are
 * freed after their last reader here. */
static const plan *without_ends(const measurer *m, const plan *p)
{
	plan *own = ARENA_COPY(m->tmp, p, 1);
	own->tensors = ARENA_COPY(m->tmp, p->tensors, p->ntensors);
	for (int t = 0; t < p->ntensors; t++) {
		const tensor *of = strmap_get(m->tensors, p->tensors[t].name);
		if (of)
			own->tensors[t].output &= of->output;
	}
	return own;
}

static void find_keepers(measurer *m)
{
	const graph *g = m->c->tied->g;
	const stage_division *d = &m->c->division;
	m->keeper = ARENA_ARRAY(m->tmp, int, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		m->keeper[t] = NONE;
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			int *first = &m->keeper[t];
			if (g->turns->sections[n] == SECTION_BODY &&
			    d->pass[n] > pass_of(m, g->tensors[t].producer) &&
			    (*first == NONE || d->stage[n] < *first))
				*first = d->stage[n];
		}
}

static void widen_span(layer_span *s, int layer)
{
	if (layer < s->low)
		s->low = layer;
	if (layer > s->high)
		s->high = layer;
}

static void find_spans(measurer *m)
{
	const graph *g = m->c->tied->g;
	const int *layer = m->c->division.stage;
	m->spans = ARENA_ARRAY(m->tmp, layer_span, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		m->spans[t] = (layer_span){ m->c->tied->n, -1 };
	for (node_id n = 0; n < g->nnodes; n++) {
		if (g->turns->sections[n] != SECTION_BODY)
			continue;
		widen_span(&m->spans[g->nodes[n].output], layer[n]);
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			widen_span(&m->spans[g->nodes[n].inputs[i]], layer[n]);
	}
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
		m.tensors = tensors_of(&m);
		find_keepers(&m);
		find_spans(&m);
		m.p = without_ends(&m, lowering_draft(m.tmp, l, plain,
						      &rooms));
		layout_classes *f = lowering_classes(l);
		instr_times *x = instr_times_new(m.tmp, f, how->topology);
		m.of = ARENA_ARRAY(m.tmp, node_id, m.p->nnodes);
		m.instr = ARENA_ARRAY(m.tmp, node_id, m.p->ninstrs);
		m.costs = ARENA_ARRAY(how->arena, layer_cost, c->nclasses);
		find_nodes(&m);
		for (int i = 0; i < m.p->ninstrs; i++)
			m.instr[i] = node_of(&m, &m.p->program[i]);
		count_seconds(&m, x);
		count_bytes(&m, how->arena, f);
		count_given(&m);
		to->of = m.costs;
		to->shared = m.shared_in_all > 0
				     ? m.shared_here / m.shared_in_all : 1;
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
