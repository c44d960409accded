#include "config.h"

#include "libtdl/plan_reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/spelling.h"
#include "compiler/analysis/strategy.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/partial_values.h"
#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "compiler/planners/partial_assignment.h"
#include "compiler/portfolio/one_planner.h"
#include "layout/layout_text.h"
#include "libtdl/plan_graph.h"
#include "plan/chain.h"

/* ---- the best plan with a choice --------------------------------------- */

/* The graph with constants and states that have no values, to save memory. */
static const graph *without_values(arena *a, const graph *g)
{
	graph *to = ARENA_COPY(a, g, 1);
	to->tensors = ARENA_COPY(a, g->tensors, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		to->tensors[t].constant.fill = true;
	return to;
}

/* The seconds of an assignment's program; NAN if it has none. */
static double seconds_of(const plan_reasons *r, const assignment *as)
{
	arena *tmp = arena_new();
	const graph *g = without_values(tmp, r->graph);
	diag_sink *sink = diag_sink_new(tmp);
	const lower_options o = { .algorithm = r->planner };
	lowering *l = lowering_new(tmp, g, as, &o, sink);
	lower_rooms rooms;
	double s = NAN;
	if (l)
		s = lower_seconds(lowering_draft(tmp, l, (lower_choice){ 0 },
						 &rooms), r->machine);
	arena_free(tmp);
	return s;
}

/* The bytes of the best plan that keeps the pins, and, unless it is NULL,
 * *seconds.  -1 with *why set if there is none. */
static int64_t bytes_with(arena *a, const plan_reasons *r,
			  const partial_assignment *pins, const char *algorithm,
			  const char **why, double *seconds)
{
	const search_request q = { .mesh = r->as.mesh, .algorithm = algorithm,
				   .pins = pins };
	arena *tmp = arena_new();
	const search_result *s = search_plan_for(tmp, r->graph, &q);
	int64_t bytes = s->error ? -1 : s->total;
	if (s->error)
		*why = arena_printf(a, "%s", s->error);
	else if (seconds && bytes < COST_MAX)
		*seconds = seconds_of(r, &s->assignment);
	arena_free(tmp);
	return bytes;
}

/* The bytes of the plan itself, with all of it pinned. */
static int64_t plan_bytes(arena *a, const plan_reasons *r)
{
	const graph *g = r->graph;
	partial_assignment all = { g, r->as.tensor_cuts, r->as.node_cuts,
				   ARENA_ARRAY(a, bool, g->ntensors),
				   ARENA_ARRAY(a, bool, g->nnodes) };
	const char *why;
	memset(all.tensor_set, true, (size_t)g->ntensors);
	memset(all.node_set, true, (size_t)g->nnodes);
	return bytes_with(a, r, &all, "tofu", &why, NULL);
}

/* The reason why the tensor cannot be stored with these cuts; NULL if it
 * can. */
static const char *refusal(arena *a, const plan_reasons *r, const cuts *c)
{
	assignment as = r->as;
	const step s = { r->graph, &as };
	cuts *at = &as.tensor_cuts[r->tensor], was = *at;
	const char *why = NULL;
	*at = *c;
	for (int i = 0; !why && i < r->as.mesh.naxes; i++) {
		as.mesh.naxes = i + 1;
		why = partial_assignment_refuses_dim(a, &s, r->tensor,
						     c->dim[i]);
	}
	*at = was;
	return why;
}

/* The bytes of the best plan by a planner in which the tensor has these
 * cuts. */
static int64_t bytes_of(arena *a, const plan_reasons *r, const cuts *c,
			const char *by, const char **why, double *seconds)
{
	arena *tmp = arena_new();
	partial_assignment pins = partial_assignment_new(tmp, r->graph);
	pins.tensors[r->tensor] = *c;
	pins.tensor_set[r->tensor] = true;
	partial_assignment_tie(&pins);
	int64_t bytes = bytes_with(a, r, &pins, by, why, seconds);
	arena_free(tmp);
	if (bytes < COST_MAX)
		return bytes;
	*why = "what it is read for cannot be partial";
	return -1;
}

/* Whether the tensor is partial under some cuts. */
static bool has_partial(const plan_reasons *r, const cuts *c)
{
	bool any = false;
	for (int i = 0; i < r->as.mesh.naxes; i++)
		any |= c->dim[i] < CUT_NONE;
	return any;
}

static void try_choice(arena *a, const plan_reasons *r, int axis,
		       plan_choice *x)
{
	cuts c = r->as.tensor_cuts[r->tensor];
	c.dim[axis] = (signed char)x->dim;
	x->refused = refusal(a, r, &c);
	/* Other planners combine partial results at once. */
	x->by = has_partial(r, &c) ? "extended" : r->planner;
	x->seconds = NAN;
	x->bytes = x->refused ? -1 : bytes_of(a, r, &c, x->by, &x->refused,
					      &x->seconds);
}

/* ---- the operators around it ------------------------------------------- */

/* Whether t is the tensor or has to be stored like it: a state and its next
 * value. */
static bool is_tied(const plan_reasons *r, tensor_id t)
{
	const tensor *all = r->graph->tensors;
	return t == r->tensor || all[t].next == r->tensor ||
	       all[r->tensor].next == t;
}

static bool is_neighbour(const plan_reasons *r, node_id id)
{
	const node *n = &r->graph->nodes[id];
	bool yes = is_tied(r, n->output);
	for (int i = 0; !yes && i < n->kernel->ninputs; i++)
		yes = is_tied(r, n->inputs[i]);
	return yes;
}

/* The least bytes that a node moves on the axes up to the last one of `as'; -1
 * if its division is impossible with these tensors. */
static int64_t node_least(const plan_reasons *r, assignment *as, node_id n)
{
	const graph *g = r->graph;
	const step s = { g, as };
	const choices all = partial_or_vars(r->partial, step_vars(&s, n), &s,
					    n);
	int axis = step_axis(&s);
	cuts *c = &as->node_cuts[n], was = *c;
	int64_t least = byte_model_node(g, as, n, axis + 1);
	for (int i = 0; i < all.n; i++) {
		c->dim[axis] = all.at[i];
		int64_t bytes = byte_model_node(g, as, n, axis + 1);
		if (bytes < least)
			least = bytes;
	}
	*c = was;
	return least < COST_MAX ? least : -1;
}

static void ask_neighbour(arena *a, const plan_reasons *r, int axis,
			  plan_neighbour *x)
{
	const graph *g = r->graph;
	const plan_step *s = &r->steps[axis];
	int64_t most = 0, least = INT64_MAX;
	assignment as = r->as;
	as.mesh.naxes = axis + 1;
	as.tensor_cuts = ARENA_COPY(a, as.tensor_cuts, g->ntensors);
	for (int i = 0; i < s->nchoices; i++) {
		x->bytes[i] = -1;
		if (s->choices[i].refused)
			continue;
		for (tensor_id t = 0; t < g->ntensors; t++)
			if (is_tied(r, t))
				as.tensor_cuts[t].dim[axis] =
					(signed char)s->choices[i].dim;
		x->bytes[i] = node_least(r, &as, x->node);
		if (x->bytes[i] < 0)
			continue;
		most = x->bytes[i] > most ? x->bytes[i] : most;
		least = x->bytes[i] < least ? x->bytes[i] : least;
	}
	x->spread = least < most ? most - least : 0;
}

static int by_spread(const void *x, const void *y)
{
	const plan_neighbour *a = x, *b = y;
	if (a->spread != b->spread)
		return a->spread > b->spread ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void note_undivided(arena *a, plan_reasons *r, node_id n)
{
	const kernel *k = r->graph->nodes[n].kernel;
	for (int v = 0; v < k->nvars; v++) {
		plan_undivided x = { n, k->vars[v].name, NULL };
		if (!strategy_offered(k, v, &x.why))
			vec_push(a, &r->undivided, x);
	}
}

/* ---- the steps --------------------------------------------------------- */

static void explain_step(arena *a, plan_reasons *r, int axis)
{
	const graph *g = r->graph;
	const tensor_type *type = &g->tensors[r->tensor].type;
	plan_step *s = &r->steps[axis];
	arena *tmp = arena_new();
	s->neighbours = ARENA_ARRAY(a, plan_neighbour, r->nneighbours);
	for (int i = 0; i <= type->ndim; i++)
		s->choices[s->nchoices++].dim = i < type->ndim ? i : CUT_NONE;
	for (int by = RED_NONE + 1; by < RED_COUNT; by++)
		if (r->partial->tensors[r->tensor] >> by & 1)
			s->choices[s->nchoices++].dim =
				cut_partial((reducer)by);
	for (int i = 0; i < s->nchoices; i++)
		try_choice(a, r, axis, &s->choices[i]);
	int n = 0;
	for (node_id id = 0; id < g->nnodes; id++) {
		if (!is_neighbour(r, id))
			continue;
		s->neighbours[n].node = id;
		ask_neighbour(tmp, r, axis, &s->neighbours[n++]);
	}
	arena_free(tmp);
	qsort(s->neighbours, (size_t)n, sizeof(*s->neighbours), by_spread);
}

static void explain_all(arena *a, plan_reasons *r)
{
	r->bytes = plan_bytes(a, r);
	r->seconds = seconds_of(r, &r->as);
	r->partial = partial_values_of(a, r->graph, PARTIAL_USEFUL);
	r->steps = ARENA_ARRAY(a, plan_step, r->as.mesh.naxes);
	for (node_id id = 0; id < r->graph->nnodes; id++) {
		if (!is_neighbour(r, id))
			continue;
		r->nneighbours++;
		note_undivided(a, r, id);
	}
	for (int i = 0; i < r->as.mesh.naxes; i++)
		explain_step(a, r, i);
}

/* The tensor with that name; NONE if there is none. */
static tensor_id find_tensor(const graph *g, const char *name)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (!strcmp(g->tensors[t].name, name))
			return t;
	return NONE;
}

const char *plan_reasons_folded(arena *a, const plan *p, int of)
{
	int to = plan_folded_to(a, p, of);
	return to < 0 ? "" : arena_printf(a, ": '%s' is computed of it once, "
					  "and lies there in its place",
					  p->tensors[to].name);
}

bool plan_reasons_held(job *d, const plan *stages, int n, const char *where,
		       const char *name)
{
	const char *folded = NULL;
	for (int s = 0; s < n; s++) {
		const plan *p = &stages[s];
		for (int t = 0; t < p->ntensors; t++) {
			if (strcmp(p->tensors[t].name, name))
				continue;
			if (p->tensors[t].buffer >= 0)
				return true;
			if (!folded || !*folded)
				folded = plan_reasons_folded(d->arena, p, t);
		}
	}
	if (folded)
		cli_usage(&d->program, "no device has '%s' in %s%s", name,
			  where, folded);
	return !folded;
}

/* A hint at the tensor that was probably meant. */
static const char *tensor_hint(arena *a, const graph *g, const char *name)
{
	spelling s = { .given = name };
	for (tensor_id t = 0; t < g->ntensors; t++)
		spelling_try(&s, g->tensors[t].name);
	return spelling_hint(&s, a);
}

const char *const plan_reasons_planners[] = { "tofu", "joint", NULL };

/* Finds the bucket and the chain that compute a tensor. */
static void find_steps(arena *a, const plan *p, const char *name,
		       plan_reasons *r)
{
	const bool *unseen = plan_chain_buffers(a, p);
	int t = 0;
	while (t < p->ntensors && strcmp(p->tensors[t].name, name))
		t++;
	if (t == p->ntensors)
		return;
	r->bucket = plan_bucket_of(p, t);
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		const plan_buffer *to = &p->buffers[in->to];
		if (to->tensor != t || in->chain == 0)
			continue;
		r->chain = in->chain;
		r->inner = unseen[in->to] && to->nbytes == 0;
	}
}

bool plan_reasons_of(job *d, const plan *p, const char *where,
		     const char *name, const char *by, const topology *t,
		     plan_reasons *r, cli_status *status)
{
	if (p->loop.turns > 0) {
		*status = cli_usage(&d->program, "%s has micro-batches: the "
				    "reasons of such a plan are not known",
				    where);
		return false;
	}
	*r = (plan_reasons){ .algorithm = p->algorithm, .machine = t };
	r->planner = by ? by : plan_reasons_planners[0];
	r->graph = plan_graph(d->arena, p, &r->as);
	r->tensor = find_tensor(r->graph, name);
	*status = CLI_USAGE;
	if (r->tensor != NONE && !plan_reasons_held(d, p, 1, where, name))
		return false;
	*status = CLI_INPUT;
	if (r->tensor == NONE)
		*status = cli_usage(&d->program, "there is no tensor '%s' in "
				    "%s%s", name, where,
				    tensor_hint(d->arena, r->graph, name));
	if (r->tensor == NONE ||
	    !plan_is_countable(d->sink, r->graph, mesh_workers(&p->mesh)))
		return false;
	explain_all(d->arena, r);
	int reductions;
	r->buckets = plan_buckets(p, &reductions) > 0;
	find_steps(d->arena, p, name, r);
	*status = CLI_OK;
	return true;
}

/* ---- words ------------------------------------------------------------- */

const char *plan_reasons_dim(arena *a, int dim)
{
	return layout_axis_text(a, dim);
}

const char *plan_reasons_variable(arena *a, const plan_reasons *r, node_id n,
				  int axis)
{
	return layout_division_text(a, r->graph->nodes[n].kernel,
				    r->as.node_cuts[n].dim[axis]);
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *bytes_json(int64_t bytes)
{
	return bytes < 0 ? json_null() : json_integer(bytes);
}

static json_t *seconds_json(double seconds)
{
	return isfinite(seconds) ? json_real(seconds) : json_null();
}

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *neighbour_json(arena *a, const plan_reasons *r, int axis,
			      const plan_neighbour *x)
{
	const node *n = &r->graph->nodes[x->node];
	json_t *bytes = json_array();
	for (int i = 0; i < r->steps[axis].nchoices; i++)
		json_array_append_new(bytes, bytes_json(x->bytes[i]));
	return json_pack("{s:s,s:s,s:o,s:o}", "name", n->name, "op", n->op,
			 "strategy",
			 text_json(plan_reasons_variable(a, r, x->node, axis)),
			 "bytes", bytes);
}

static json_t *step_json(arena *a, const plan_reasons *r, int axis)
{
	const plan_step *s = &r->steps[axis];
	json_t *all = json_array(), *operators = json_array();
	for (int i = 0; i < s->nchoices; i++) {
		const plan_choice *x = &s->choices[i];
		json_array_append_new(
			all, json_pack("{s:s,s:o,s:o,s:o,s:s}", "layout",
				       plan_reasons_dim(a, x->dim), "bytes",
				       bytes_json(x->bytes),
				       "predicted_seconds",
				       seconds_json(x->seconds), "reason",
				       text_json(x->refused), "by", x->by));
	}
	for (int i = 0; i < r->nneighbours; i++)
		json_array_append_new(operators,
				      neighbour_json(a, r, axis,
						     &s->neighbours[i]));
	int is = r->as.tensor_cuts[r->tensor].dim[axis];
	return json_pack("{s:i,s:s,s:o,s:o}", "groups", r->as.mesh.size[axis],
			 "layout", plan_reasons_dim(a, is), "choices", all,
			 "operators", operators);
}

static json_t *undivided_json(const plan_reasons *r)
{
	json_t *all = json_array();
	for (int i = 0; i < r->undivided.n; i++) {
		const plan_undivided *x = &r->undivided.at[i];
		json_array_append_new(
			all, json_pack("{s:s,s:s,s:s}", "name",
				       r->graph->nodes[x->node].name,
				       "variable", x->variable, "reason",
				       x->why));
	}
	return all;
}

json_t *plan_reasons_json(arena *a, const plan_reasons *r)
{
	const tensor *t = &r->graph->tensors[r->tensor];
	json_t *shape = json_array(), *steps = json_array();
	for (int i = 0; i < t->type.ndim; i++)
		json_array_append_new(shape, json_integer(t->type.dims[i]));
	for (int i = 0; i < r->as.mesh.naxes; i++)
		json_array_append_new(steps, step_json(a, r, i));
	return json_pack(
		"{s:s,s:s,s:i,s:s,s:o,s:I,s:I,s:o,s:s,s:o,s:o,s:s,s:o,s:o}",
		"model",
		r->graph->name, "algorithm", r->algorithm, "devices",
		mesh_workers(&r->as.mesh), "tensor", t->name, "shape", shape,
		"bytes", (json_int_t)tensor_nbytes(&t->type), "byte_model",
		(json_int_t)r->bytes, "predicted_seconds",
		seconds_json(r->seconds), "predicted_for", r->machine->name,
		"bucket",
		r->bucket > 0 ? json_integer(r->bucket) : json_null(),
		"chain", r->chain > 0 ? json_integer(r->chain) : json_null(),
		"planner", r->planner, "steps", steps,
		"undivided", undivided_json(r));
}
