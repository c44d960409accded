/* The PaSE planner (Elango, IPDPS'21).  Each operator has a configuration: the
 * number of parts of each of its variables.  The sum of all layer costs and
 * transfers is minimised exactly.
 *
 * A plan uses the best configurations whose counts are products of mesh axes.
 * Axes are then assigned to variables so that the fewest bytes are moved.  A
 * tensor is stored as it is computed; an input or weight is stored as its first
 * reader needs it.  The least cost over all configurations is reported as
 * well. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/cost/aligned_dims.h"
#include "compiler/cost/joint_problem.h"
#include "compiler/planners/partial_assignment.h"
#include "compiler/planners/pase_layers.h"

enum {
	MOST_CONFIGURATIONS = 500, /* configurations of a kernel */
	/* candidates of a node with a given configuration */
	MAX_CANDIDATES = 256,
};

typedef struct pase {
	const search *search;
	arena *arena;
	const graph *g;
	const mesh *mesh;
	const bool *forward;
	counts *best; /* by node */
	candidate_pool *pool;
	candidate_set candidates;
} pase;

/* ---- axes for counts --------------------------------------------------- */

/* Enumerates the candidates for one configuration.  Each axis of the mesh is
 * given to one variable or to none.  The sizes of a variable's axes multiply to
 * its number of parts. */
typedef struct enumeration {
	const kernel *kernel;
	const mesh *mesh;
	/* by variable: factor of its parts not yet covered by axes */
	counts left;
	/* factor of the workers computing the same, not yet covered */
	int undivided;
	cuts now;
	int n;
	cuts *found;
} enumeration;

/* Adds the candidates that agree with `now' on the axes before `axis'. */
static void enumerate(enumeration *d, int axis)
{
	if (d->n == MAX_CANDIDATES)
		return;
	if (axis == d->mesh->naxes) {
		d->found[d->n++] = d->now;
		return;
	}
	int size = d->mesh->size[axis];
	if (d->undivided % size == 0) {
		d->undivided /= size;
		d->now.dim[axis] = CUT_NONE;
		enumerate(d, axis + 1);
		d->undivided *= size;
	}
	for (int v = 0; v < d->kernel->nvars; v++) {
		if (d->left.of[v] % size)
			continue;
		d->left.of[v] = (short)(d->left.of[v] / size);
		d->now.dim[axis] = (signed char)v;
		enumerate(d, axis + 1);
		d->left.of[v] = (short)(d->left.of[v] * size);
	}
	d->now.dim[axis] = CUT_NONE;
}

static const candidates *node_candidates(pase *p, node_id n)
{
	const kernel *k = p->g->nodes[n].kernel;
	int devices = mesh_workers(p->mesh);
	enumeration d = { .kernel = k, .mesh = p->mesh, .left = p->best[n],
		     .undivided = devices /
				  (int)counts_product(k, &p->best[n]),
		     .now = cuts_none() };
	d.found = ARENA_ARRAY(p->arena, cuts, MAX_CANDIDATES);
	enumerate(&d, 0);
	return candidates_shared(p->pool, d.found, d.n);
}

static bool same(const cuts *x, const cuts *y)
{
	return !memcmp(x, y, sizeof(*x));
}

/* The candidates of a tensor, derived from those of a node.  Dimension dim[v]
 * is cut where variable v is divided.  Each candidate occurs once; the order is
 * that of the node's candidates. */
static const candidates *tensor_candidates(pase *p, const candidates *of,
				     const int *dim)
{
	cuts *at = ARENA_ARRAY(p->arena, cuts, of->n);
	int n = 0;
	for (int i = 0; i < of->n; i++) {
		cuts c = of->at[i];
		for (int a = 0; a < p->mesh->naxes; a++)
			if (c.dim[a] != CUT_NONE)
				c.dim[a] = (signed char)dim[(int)c.dim[a]];
		int j = 0;
		while (j < n && !same(&at[j], &c))
			j++;
		if (j == n)
			at[n++] = c;
	}
	return candidates_shared(p->pool, at, n);
}

/* ---- the plan ---------------------------------------------------------- */

/* Sets the cuts of the tensors that a forward node computes, or is the first to
 * read. */
static void lay_out(pase *p, node_id id)
{
	const node *n = &p->g->nodes[id];
	const kernel *k = n->kernel;
	int dim[MAX_NVARS];
	for (int v = 0; v < k->nvars; v++)
		dim[v] = v < k->nout ? v : CUT_NONE;
	p->candidates.tensors[n->output] =
		tensor_candidates(p, p->candidates.nodes[id], dim);
	for (int i = 0; i < k->ninputs; i++) {
		tensor_id t = n->inputs[i];
		if (p->g->tensors[t].producer != NONE ||
		    p->candidates.tensors[t])
			continue;
		for (int v = 0; v < k->nvars; v++) {
			int parts = p->best[id].of[v];
			dim[v] = parts > 1 ? aligned_dim(k, v, i, parts)
					   : CUT_NONE;
		}
		p->candidates.tensors[t] =
			tensor_candidates(p, p->candidates.nodes[id], dim);
	}
}

/* The cuts of all tensors and nodes of the forward pass. */
static partial_assignment lay_out_all(pase *p)
{
	const graph *g = p->g;
	const cuts none = cuts_none();
	const candidates *whole = candidates_shared(p->pool, &none, 1);
	partial_assignment o = partial_assignment_new(p->arena, g);
	assignment as = { *p->mesh, o.tensors, o.nodes };
	solve_limits limits = search_limits(p->search, 2);
	p->candidates.tied = tied_tensors(p->arena, g);
	p->candidates.nodes =
		ARENA_ARRAY(p->arena, const candidates *, g->nnodes);
	p->candidates.tensors =
		ARENA_ARRAY(p->arena, const candidates *, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++) {
		o.node_set[n] = p->forward[n];
		p->candidates.nodes[n] =
			p->forward[n] ? node_candidates(p, n) : whole;
		if (p->forward[n])
			lay_out(p, n);
	}
	for (tensor_id t = 0; t < g->ntensors; t++) {
		o.tensor_set[t] = p->candidates.tensors[t] != NULL;
		if (!p->candidates.tensors[t])
			p->candidates.tensors[t] = whole;
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		p->candidates.tensors[t] =
			p->candidates.tensors[p->candidates.tied[t]];
	problem *q = joint_problem(p->arena, g, p->mesh, &p->candidates);
	candidates_take(&p->candidates, g, solve(p->arena, q, &limits).value,
			&as);
	return o;
}

/* Finds the best configurations and their cost.  Returns false if there are too
 * many. */
static bool find_best(pase *p, const layers *l, int64_t *cost)
{
	solve_limits limits = search_limits(p->search, 3);
	if (!l)
		return false;
	solution s = solve(p->arena, l->problem, &limits);
	p->best = ARENA_ARRAY(p->arena, counts, p->g->nnodes);
	for (node_id n = 0; n < p->g->nnodes; n++)
		p->best[n] = l->of[n] ? l->of[n]->at[s.value[n]]
				      : counts_ones();
	*cost = s.cost;
	return true;
}

/* The cost of data parallelism over all k devices in the same cost model. */
static int64_t data_parallel_cost(const pase *p, int k)
{
	const int *along = planner_batch(p->arena, p->g, k);
	counts *of = ARENA_ARRAY(p->arena, counts, p->g->nnodes);
	for (node_id n = 0; n < p->g->nnodes; n++) {
		of[n] = counts_ones();
		if (along[n] != CUT_NONE &&
		    p->g->nodes[n].kernel->vars[along[n]].extent >= k)
			of[n].of[along[n]] = (short)k;
	}
	return layers_cost(p->g, p->forward, of);
}

static int64_t one_device_cost(const pase *p)
{
	counts *of = ARENA_ARRAY(p->arena, counts, p->g->nnodes);
	for (node_id n = 0; n < p->g->nnodes; n++)
		of[n] = counts_ones();
	return layers_cost(p->g, p->forward, of);
}

/* The least cost with any numbers of parts; -1 if it is not known. */
static int64_t any_cost(const pase *p, int k)
{
	const layer_limits any = { k, false, MOST_CONFIGURATIONS };
	const layers *l = layers_formulate(p->arena, p->g, p->forward, &any);
	solve_limits limits = search_limits(p->search, 1);
	if (!l || !l->all)
		return -1;
	solution s = solve(p->arena, l->problem, &limits);
	return s.optimal ? s.cost : -1;
}

static void plan(search *s)
{
	search_result *r = s->result;
	arena *tmp = arena_new();
	const layer_limits on_mesh = { s->k, true, MOST_CONFIGURATIONS };
	pase p = { .search = s, .arena = tmp, .g = s->graph, .mesh = &s->mesh,
		   .forward = partial_assignment_forward(tmp, s->graph),
		   .pool = candidate_pool_new(tmp) };
	layers *l = layers_formulate(tmp, s->graph, p.forward, &on_mesh);
	if (!find_best(&p, l, &r->own.total)) {
		r->error = "the operators have too many configurations";
	} else {
		partial_assignment o = s->k > 1 ? lay_out_all(&p)
				     : partial_assignment_new(tmp, s->graph);
		partial_assignment_complete(s, &o);
		r->own.unit = "FLOP";
		r->own.relaxed_bound = any_cost(&p, s->k);
		r->own.data_parallel = data_parallel_cost(&p, s->k);
		r->own.one_device = one_device_cost(&p);
	}
	arena_free(tmp);
}

const planner planner_pase = {
	.name = "pase",
	.about = "a number of parts for every variable; least time in FLOPs",
	.plan = plan,
	.effort = 12,
};
