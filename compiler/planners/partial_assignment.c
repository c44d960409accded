#include "config.h"

#include "compiler/planners/partial_assignment.h"

#include <string.h>

#include "compiler/analysis/strategy.h"

partial_assignment partial_assignment_new(arena *a, const graph *g)
{
	partial_assignment o = { g, ARENA_ARRAY(a, cuts, g->ntensors),
				 ARENA_ARRAY(a, cuts, g->nnodes),
				 ARENA_ARRAY(a, bool, g->ntensors),
				 ARENA_ARRAY(a, bool, g->nnodes),
				 ARENA_ARRAY(a, bool, g->ntensors) };
	for (tensor_id t = 0; t < g->ntensors; t++)
		o.tensors[t] = cuts_none();
	for (node_id n = 0; n < g->nnodes; n++)
		o.nodes[n] = cuts_none();
	return o;
}

bool *partial_assignment_forward(arena *a, const graph *g)
{
	bool *forward = ARENA_ARRAY(a, bool, g->nnodes);
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		const tensor *out = &g->tensors[n->output];
		forward[id] = n->forward == NONE && out->gradient_of == NONE;
		for (int i = 0; i < n->kernel->ninputs; i++) {
			node_id by = g->tensors[n->inputs[i]].producer;
			if (by != NONE && !forward[by])
				forward[id] = false;
		}
	}
	return forward;
}

/* ---- what follows from what is decided --------------------------------- */

static bool same_shape(const tensor *x, const tensor *y)
{
	bool same = x->type.ndim == y->type.ndim;
	for (int d = 0; same && d < x->type.ndim; d++)
		same = x->type.dims[d] == y->type.dims[d];
	return same;
}

/* Gives tensor t the cuts of tensor `like', if those of `like' are decided and
 * those of t are not. */
static void lie_like(partial_assignment *o, tensor_id t, tensor_id like)
{
	if (o->tensor_set[t] || !o->tensor_set[like])
		return;
	o->tensors[t] = o->tensors[like];
	o->tensor_set[t] = true;
}

tensor_id partial_assignment_tie(partial_assignment *o)
{
	const graph *g = o->graph;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		if (x->kind != TENSOR_STATE || x->next == NONE)
			continue;
		lie_like(o, x->next, t);
		lie_like(o, t, x->next);
		if (o->tensor_set[t] &&
		    memcmp(&o->tensors[t], &o->tensors[x->next],
			   sizeof(cuts)))
			return t;
	}
	return NONE;
}

/* For each tensor: whether it is a term of a gradient that is a sum.  Allocated
 * in a. */
static const bool *find_terms(arena *a, const graph *g)
{
	bool *term = ARENA_ARRAY(a, bool, g->ntensors);
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		tensor_id of = g->tensors[n->output].gradient_of;
		for (int i = 0; of != NONE && i < n->kernel->ninputs; i++)
			term[n->inputs[i]] |=
				g->tensors[n->inputs[i]].gradient_of == of;
	}
	return term;
}

static void follow(arena *tmp, partial_assignment *o)
{
	const graph *g = o->graph;
	const bool *term = find_terms(tmp, g);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		if (x->gradient_of != NONE && !term[t] &&
		    same_shape(x, &g->tensors[x->gradient_of]))
			lie_like(o, t, x->gradient_of);
	}
	partial_assignment_tie(o);
}

/* ---- what can be decided ----------------------------------------------- */

/* The reason why an extent is too short for an axis, or NULL.  Allocated in
 * a. */
static const char *too_short(arena *a, int64_t parts, int groups)
{
	if (parts >= groups)
		return NULL;
	return arena_printf(a, "%d groups cannot share %lld", groups,
			    (long long)parts);
}

const char *partial_assignment_refuses_dim(arena *a, const step *s, tensor_id t,
					   int d)
{
	const tensor_type *type = &s->g->tensors[t].type;
	const mesh *m = &s->as->mesh;
	if (d <= CUT_NONE)
		return NULL;
	if (d >= type->ndim)
		return arena_printf(a, "it has %d dimensions", type->ndim);
	return too_short(a, cuts_smallest(type->dims[d], m,
					  &s->as->tensor_cuts[t],
					  step_axis(s), d),
			 m->size[step_axis(s)]);
}

const char *partial_assignment_refuses_var(arena *a, const step *s, node_id n,
					   int v)
{
	const kernel *k = s->g->nodes[n].kernel;
	const mesh *m = &s->as->mesh;
	const char *why;
	if (v == CUT_NONE)
		return NULL;
	if (!strategy_offered(k, v, &why))
		return why;
	why = too_short(a, cuts_smallest(k->vars[v].extent, m,
					 &s->as->node_cuts[n], step_axis(s), v),
			m->size[step_axis(s)]);
	choices all = step_vars(s, n);
	if (!why && !choices_have(&all, v))
		return "its partial results are combined in another way";
	return why;
}

/* ---- the rest ---------------------------------------------------------- */

static choices or_whole(choices c)
{
	if (!choices_have(&c, CUT_NONE) && c.n < MAX_NVARS)
		c.at[c.n++] = CUT_NONE;
	return c;
}

/* The choices of c at an axis.  If all axes are to be alike, only the choice of
 * the first axis is left, if c has it.  A partial tensor has no choice on an
 * axis along which it is partial. */
static choices alike(const partial_assignment *o, int axis, const cuts *before,
		     choices c)
{
	int first = before->dim[0] < CUT_NONE ? CUT_NONE : before->dim[0];
	return o->as_one && axis > 0 && choices_have(&c, first)
		       ? choices_one(first) : c;
}

static choices free_dims(const partial_assignment *o, const step *s,
			 tensor_id t)
{
	if (o->tensor_set[t]) {
		choices c = choices_one(o->tensors[t].dim[step_axis(s)]);
		return o->or_replicated[t] ? or_whole(c) : c;
	}
	return or_whole(step_dims(s, t));
}

static choices dims(const void *state, const step *s, tensor_id t)
{
	return alike(state, step_axis(s), &s->as->tensor_cuts[t],
		     free_dims(state, s, t));
}

/* Whether a node has to be divided because it helps to compute the gradients of
 * a divided node.  Otherwise several devices would do the same work. */
static bool is_divided(const partial_assignment *o, node_id n, int axis)
{
	node_id of = o->graph->nodes[n].forward;
	return of != NONE && o->node_set[of] &&
	       o->nodes[of].dim[axis] != CUT_NONE;
}

static choices free_vars(const partial_assignment *o, const step *s, node_id n)
{
	int axis = step_axis(s);
	if (o->node_set[n])
		return choices_one(o->nodes[n].dim[axis]);
	choices all = step_vars(s, n);
	return is_divided(o, n, axis) ? all : or_whole(all);
}

static choices vars(const void *state, const step *s, node_id n)
{
	return alike(state, step_axis(s), &s->as->node_cuts[n],
		     free_vars(state, s, n));
}

void partial_assignment_complete(search *s, partial_assignment *o)
{
	arena *tmp = arena_new();
	rules rest = { .dims = dims, .vars = vars, .state = o };
	if (o->as_one && !s->variant.at_once)
		rest.partial = partial_values_of(tmp, s->graph, PARTIAL_CHEAP);
	follow(tmp, o);
	search_by_step(s, &rest);
	arena_free(tmp);
}
