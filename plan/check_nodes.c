/* The checks of a plan's nodes. */
#include "config.h"

#include "base/intern.h"
#include "plan/check.h"

/* Whether a variable may be divided: partial results must be combinable. */
static bool check_divided(plan_checker *c, const kernel *k, int v)
{
	if (k->vars[v].kind == KVAR_OUTPUT)
		return !(k->opaque && v >= k->nout - k->nhidden) ||
		       flaw(c, "variable %d is hidden in an opaque function",
			    v);
	if (k->vars[v].kind == KVAR_DERIVED)
		return k->reducer == RED_NONE || k->reducer == RED_SUM ||
		       flaw(c, "variable %d is a Sum inside another reduction",
			    v);
	return !reducer_is_where(k->reducer) ||
	       flaw(c, "partial results of %s cannot be combined",
		    reducer_name(k->reducer));
}

static bool check_division(plan_checker *c, const plan_node *n, const kernel *k)
{
	const plan *p = c->p;
	int64_t extents[MAX_NVARS];
	for (int v = 0; v < k->nvars; v++)
		extents[v] = k->vars[v].extent;
	if (!loop_check_time(c, n->time, k->nvars, extents) ||
	    !plan_check_cuts(c, &n->cuts, n->time, k->nvars, extents))
		return false;
	reducer by = RED_NONE;
	for (int a = 0; a < p->mesh.naxes; a++) {
		int v = n->cuts.dim[a];
		if (v >= 0 && !check_divided(c, k, v))
			return false;
		if (cut_passing(k->npassings) >= v)
			return flaw(c, "along axis %d it hands on what the "
				    "kernel does not", a);
		reducer own = layout_axis_reducer(k, v);
		by = by == RED_NONE ? own : by;
		if (own != RED_NONE && own != by)
			return flaw(c, "its partial results are to be combined "
				    "by %s and by %s", reducer_name(by),
				    reducer_name(own));
	}
	return p->loop.turns == 0 || n->time == CUT_NONE ||
	       check_divided(c, k, n->time);
}

/* Whether tensors are partial exactly where a node gives or takes them so. */
static bool check_partial(plan_checker *c, const plan_node *n, const kernel *k)
{
	const plan *p = c->p;
	if (!layout_fits(&p->mesh, k, &n->cuts, 0, &p->tensors[n->output].cuts))
		return flaw(c, "its result is not partial as the output is");
	for (int i = 0; i < k->ninputs; i++) {
		uint32_t same = 0;
		for (int j = 0; j < k->ninputs; j++)
			same |= (uint32_t)(n->inputs[j] == n->inputs[i]) << j;
		if (!layout_fits(&p->mesh, k, &n->cuts, same,
				 &p->tensors[n->inputs[i]].cuts))
			return flaw(c, "it does not take input %d as it is, "
				    "partial or not", i);
	}
	return true;
}

static bool check_node(plan_checker *c, const plan_node *n, int *producer)
{
	const plan *p = c->p;
	int64_t dims[MAX_NDIM];
	if (!is_index(n->kernel, p->nkernels))
		return flaw(c, "its kernel is %d of %d", n->kernel,
			    p->nkernels);
	const kernel *k = p->kernels[n->kernel].kernel;
	for (int i = 0; i < k->ninputs; i++) {
		const kinput *in = &k->inputs[i];
		if (!is_index(n->inputs[i], p->ntensors))
			return flaw(c, "input %d is tensor %d of %d", i,
				    n->inputs[i], p->ntensors);
		if (!plan_tensor_is(&p->tensors[n->inputs[i]], in->type,
				    in->ndim, in->dims))
			return flaw(c, "input %d is not what the kernel reads",
				    i);
	}
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	if (!is_index(n->output, p->ntensors) ||
	    p->tensors[n->output].role != PLAN_RESULT ||
	    !plan_tensor_is(&p->tensors[n->output], k->type, k->nout, dims))
		return flaw(c, "the output is not what the kernel computes");
	if (producer[n->output] >= 0)
		return flaw(c, "node %d has the same output",
			    producer[n->output]);
	producer[n->output] = c->row;
	return check_division(c, n, k) && check_partial(c, n, k);
}

bool plan_check_nodes(plan_checker *c, arena *tmp)
{
	const plan *p = c->p;
	int *producer = ARENA_ARRAY(tmp, int, p->ntensors);
	strmap *names = strmap_new(tmp);
	for (int t = 0; t < p->ntensors; t++)
		producer[t] = -1;
	c->table = "nodes";
	for (c->row = 0; c->row < p->nnodes; c->row++) {
		const plan_node *n = &p->nodes[c->row];
		if (strmap_get(names, n->name))
			return flaw(c, "there are two nodes '%.100s'", n->name);
		strmap_put(names, n->name, (void *)n->name);
		if (!check_node(c, n, producer))
			return false;
	}
	return true;
}
