#include "config.h"

#include "tests/unit/stay_partial.h"

#include "layout/layout.h"

/* An attempt along an axis. */
typedef struct attempt {
	draw *d;
	const graph *g;
	assignment *as;
	int axis;
	const bool *never;   /* by tensor */
	reducer *by;	     /* by tensor: RED_NONE where it is not partial */
	signed char *passed; /* by node: its cut; CUT_NONE: as it was */
} attempt;

/* The reducer of a node's partial results along the other axes. */
static reducer elsewhere(const attempt *x, node_id n)
{
	cuts c = x->as->node_cuts[n];
	c.dim[x->axis] = CUT_NONE;
	return layout_reducer(&x->as->mesh, x->g->nodes[n].kernel, &c);
}

/* Replicates a tensor that is no state, now and then. */
static void replicate(const attempt *x, tensor_id t)
{
	cuts *c = &x->as->tensor_cuts[t];
	bool free = x->g->tensors[t].kind != TENSOR_STATE;
	for (tensor_id s = 0; s < x->g->ntensors; s++)
		free = free && x->g->tensors[s].next != t;
	if (free && c->dim[x->axis] >= 0 && draw_int(x->d, 0, 1))
		c->dim[x->axis] = CUT_NONE;
}

/* Whether what else a passing takes is replicated, and read by no other
 * input. */
static bool takes_rest(const attempt *x, node_id n, const kpassing *p,
		       uint32_t partial)
{
	const node *at = &x->g->nodes[n];
	for (int i = 0; i < at->kernel->ninputs; i++) {
		const cuts *c = &x->as->tensor_cuts[at->inputs[i]];
		if (!(p->inputs >> i & 1) || (partial >> i & 1))
			continue;
		replicate(x, at->inputs[i]);
		if (c->dim[x->axis] != CUT_NONE || p->by == RED_PROD)
			return false;
		for (int o = 0; o < at->kernel->ninputs; o++)
			if (at->inputs[o] == at->inputs[i] &&
			    !(p->inputs >> o & 1))
				return false;
	}
	return true;
}

/* A passing of the inputs that are partial, by the reducer that they have, and
 * of others that are replicated, perhaps; -1 for none. */
static int passing_of(const attempt *x, node_id n, uint32_t inputs, reducer by)
{
	const kernel *k = x->g->nodes[n].kernel;
	reducer other = elsewhere(x, n);
	for (int i = 0; i < k->npassings; i++) {
		const kpassing *p = &k->passings[i];
		if (!(inputs & ~p->inputs) && p->by == by &&
		    takes_rest(x, n, p, inputs) &&
		    (other == RED_NONE || other == p->to))
			return i;
	}
	return -1;
}

/* Decides a node and its result; false where it cannot take its inputs. */
static bool decide(attempt *x, node_id n)
{
	const node *at = &x->g->nodes[n];
	uint32_t partial = 0;
	reducer by = RED_NONE, gives;
	for (int i = 0; i < at->kernel->ninputs; i++)
		if (x->by[at->inputs[i]] != RED_NONE) {
			if (partial && by != x->by[at->inputs[i]])
				return false;
			partial |= UINT32_C(1) << i;
			by = x->by[at->inputs[i]];
		}
	x->passed[n] = CUT_NONE;
	gives = layout_axis_reducer(at->kernel,
				    x->as->node_cuts[n].dim[x->axis]);
	if (partial) {
		int i = passing_of(x, n, partial, by);
		if (i < 0)
			return false;
		x->passed[n] = cut_passing(i);
		gives = at->kernel->passings[i].to;
	}
	if (!x->never[at->output] && draw_int(x->d, 0, 3) > 0)
		x->by[at->output] = gives;
	return true;
}

/* Tries to decide all; bans what the first node that fails reads. */
static bool decide_all(attempt *x, bool *never)
{
	for (tensor_id t = 0; t < x->g->ntensors; t++)
		x->by[t] = RED_NONE;
	for (node_id n = 0; n < x->g->nnodes; n++) {
		const node *at = &x->g->nodes[n];
		if (decide(x, n))
			continue;
		for (int i = 0; i < at->kernel->ninputs; i++)
			if (x->by[at->inputs[i]] != RED_NONE)
				never[at->inputs[i]] = true;
		return false;
	}
	return true;
}

static int take(const attempt *x)
{
	int n = 0;
	for (tensor_id t = 0; t < x->g->ntensors; t++) {
		if (x->by[t] == RED_NONE)
			continue;
		x->as->tensor_cuts[t].dim[x->axis] = cut_partial(x->by[t]);
		n++;
	}
	for (node_id i = 0; i < x->g->nnodes; i++)
		if (x->passed[i] != CUT_NONE)
			x->as->node_cuts[i].dim[x->axis] = x->passed[i];
	return n;
}

/* Results that are no output, no next value of a state and not the loss. */
static bool *fixed_tensors(arena *a, const graph *g)
{
	bool *never = ARENA_ARRAY(a, bool, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		never[t] |= x->kind != TENSOR_RESULT || x->output ||
			    (g->training && t == g->loss);
		if (x->kind == TENSOR_STATE && x->next != NONE)
			never[x->next] = true;
	}
	return never;
}

int stay_partial(arena *a, uint64_t seed, const graph *g, assignment *as)
{
	draw d = { seed };
	int n = 0;
	for (int axis = 0; axis < as->mesh.naxes; axis++) {
		bool *never = fixed_tensors(a, g);
		attempt x = { &d, g, as, axis, never,
			      ARENA_ARRAY(a, reducer, g->ntensors),
			      ARENA_ARRAY(a, signed char, g->nnodes) };
		while (!decide_all(&x, never))
			;
		n += take(&x);
	}
	return n;
}
