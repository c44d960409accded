#include "config.h"

#include "compiler/cost/step_time.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/cost/assignment.h"
#include "compiler/graph/turns.h"

step_time *step_time_new(arena *a, const graph *g, const mesh *m,
			 const topology *t)
{
	step_time *o = ARENA_NEW(a, step_time);
	*o = (step_time){ .graph = g, .topology = t, .mesh = *m };
	topology_levels(t, m, o->levels);
	return o;
}

/* COST_MAX is more than ten days, so it fits. */
static int64_t picoseconds(double seconds)
{
	double c = seconds * 1e12;
	return c < (double)COST_MAX ? (int64_t)c : COST_MAX;
}

/* A table of bytes, and the same in picoseconds. */
typedef struct priced {
	const int64_t *from;
	int64_t *to;
} priced;

typedef struct pricer {
	arena *arena;
	const step_time *o;
	const formulation *f;
	int axis;
	double later;	  /* workers along the remaining axes */
	double latency;	  /* of a transfer on this axis */
	double bandwidth; /* of all workers together */
	/* Tables priced already, by the tables they come from. */
	VEC(priced) priced;
	hash_table by_table;
} pricer;

/* The price of the bytes of all runs of a node. */
static int64_t price_bytes(const pricer *p, int64_t bytes, int runs)
{
	if (bytes == 0 || bytes == COST_MAX)
		return bytes;
	return picoseconds(p->latency * runs + (double)bytes / p->bandwidth);
}

/* Nodes that share a table run equally often. */
static const int64_t *price_table(pricer *p, const int64_t *cost, int n,
				  int runs)
{
	uint64_t h = hash_bytes(HASH_SEED, &cost, sizeof(cost));
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&p->by_table, h, &at)) >= 0;)
		if (p->priced.at[i].from == cost)
			return p->priced.at[i].to;
	int64_t *to = ARENA_ARRAY(p->arena, int64_t, n);
	for (int j = 0; j < n; j++)
		to[j] = price_bytes(p, cost[j], runs);
	hash_table_add(p->arena, &p->by_table, h, p->priced.n);
	vec_push(p->arena, &p->priced, ((priced){ cost, to }));
	return to;
}

/* Seconds of a worker's part of a node, in all its runs, if this axis divides
 * variable v: those of the last worker, whose blocks are the largest. */
static double node_seconds(const pricer *p, node_id n, int v)
{
	const step *s = p->f->step;
	const node *x = &s->g->nodes[n];
	const kernel *k = x->kernel;
	int last[MAX_AXES];
	cuts c = s->as->node_cuts[n];
	c.dim[p->axis] = (signed char)v;
	box all = kernel_space(k);
	for (int a = 0; a <= p->axis; a++)
		last[a] = s->as->mesh.size[a] - 1;
	box part = cuts_block(&all, &s->as->mesh, &c, p->axis + 1, last);
	kernel_work w = kernel_work_of(k, &part);
	return graph_runs(s->g, n) *
	       topology_kernel_seconds(p->o->topology, k, &part, &w,
				       1 / p->later);
}

/* Bytes of a tensor on a worker if this axis cuts dimension d. */
static double held_bytes(const pricer *p, tensor_id t, int d)
{
	const step *s = p->f->step;
	const mesh *m = &s->as->mesh;
	double n = (double)assignment_tensor_bytes(&s->g->tensors[t].type) /
		   p->later;
	for (int a = 0; a < p->axis; a++)
		if (s->as->tensor_cuts[t].dim[a] >= 0)
			n /= m->size[a];
	return d < 0 ? n : n / m->size[p->axis];
}

static void price_tensor(pricer *p, problem *to, tensor_id t)
{
	const choices *c = &p->f->tensors[p->f->tied[t]];
	if (!p->o->price || p->o->price[t] == 0)
		return;
	for (int i = 0; i < c->n; i++)
		problem_add_cost(to, p->f->tensor_var[t], i,
				 picoseconds(p->o->price[t] *
					     held_bytes(p, t, c->at[i])));
}

static void price_tables(pricer *p, problem *to, node_id n)
{
	const problem *from = p->f->problem;
	int runs = graph_runs(p->f->step->g, n);
	for (int i = p->f->first[n]; i < p->f->first[n + 1]; i++) {
		const problem_table *x = &from->tables.at[i];
		int ncosts = from->vars.at[x->x].nvalues *
			     from->vars.at[x->y].nvalues;
		problem_add_table(to, x->x, x->y,
				  price_table(p, x->cost, ncosts, runs));
	}
}

problem *step_time_problem(arena *a, const step_time *o, const formulation *f)
{
	const problem *from = f->problem;
	const graph *g = f->step->g;
	problem *to = problem_new(a);
	int axis = step_axis(f->step), nworkers = mesh_workers(&o->mesh);
	const topology_level *l = &o->topology->levels[o->levels[axis]];
	pricer p = { .arena = a, .o = o, .f = f, .axis = axis, .later = 1,
		     .latency = l->latency * (o->mesh.size[axis] - 1),
		     .bandwidth = topology_level_bandwidth(l) * nworkers };
	for (int i = axis + 1; i < o->mesh.naxes; i++)
		p.later *= o->mesh.size[i];
	to->along_flow = from->along_flow;
	for (int i = 0; i < from->vars.n; i++)
		problem_add_var(to, from->vars.at[i].nvalues);
	for (node_id n = 0; n < g->nnodes; n++)
		price_tables(&p, to, n);
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < f->nodes[n].n; i++)
			problem_add_cost(to, f->node_var[n], i, picoseconds(
				node_seconds(&p, n, f->nodes[n].at[i])));
	for (tensor_id t = 0; t < g->ntensors; t++)
		price_tensor(&p, to, t);
	return to;
}
