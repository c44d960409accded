/* The Spartan planner (Huang et al., USENIX ATC'15, as compared with by Tofu,
 * EuroSys'19, section 7.3).  It is greedy: it takes the largest tensor first
 * and cuts it along the dimension that is best for the operators around it.
 * Then these operators are divided by the best strategies for the tensors cut
 * so far. */
#include "config.h"

#include <stdlib.h>

#include "compiler/planners/planner.h"

typedef struct greedy {
	arena *arena;
	const formulation *f;
	int *value; /* by variable; -1: not decided */
	VEC(int) *around; /* by variable of a tensor: the adjacent nodes */
} greedy;

/* The least cost in a table of node x under the decisions so far.  `at' is the
 * value of the node. */
static int64_t table_cost(const greedy *g, const problem_table *t, int at)
{
	int n = g->f->problem->vars.at[t->y].nvalues;
	const int64_t *row = t->cost + (size_t)at * (size_t)n;
	if (g->value[t->y] >= 0)
		return row[g->value[t->y]];
	int64_t least = row[0];
	for (int i = 1; i < n; i++)
		least = row[i] < least ? row[i] : least;
	return least;
}

/* The cost of a node with strategy i. */
static int64_t strategy_cost(const greedy *g, node_id n, int i)
{
	int64_t sum = 0;
	for (int t = g->f->first[n]; t < g->f->first[n + 1]; t++)
		sum = cost_add(sum, table_cost(g, &g->f->problem->tables.at[t],
					       i));
	return sum;
}

static int node_var(const greedy *g, node_id n)
{
	return g->f->node_var[n];
}

/* The least cost of a node.  Sets *best to the best strategy, or to the one
 * already decided. */
static int64_t node_cost(const greedy *g, node_id n, int *best)
{
	int v = node_var(g, n);
	int64_t least = COST_MAX;
	*best = g->value[v] >= 0 ? g->value[v] : 0;
	if (g->value[v] >= 0)
		return strategy_cost(g, n, g->value[v]);
	for (int i = 0; i < g->f->problem->vars.at[v].nvalues; i++) {
		int64_t c = strategy_cost(g, n, i);
		if (c < least) {
			least = c;
			*best = i;
		}
	}
	return least;
}

/* Decides variable t of a tensor, and then the adjacent nodes. */
static void decide(greedy *g, int t)
{
	int64_t least = COST_MAX;
	int best = 0, strategy;
	for (int d = 0; d < g->f->problem->vars.at[t].nvalues; d++) {
		int64_t sum = 0;
		g->value[t] = d;
		for (int i = 0; i < g->around[t].n; i++)
			sum = cost_add(sum, node_cost(g,
						      g->around[t].at[i],
						      &strategy));
		if (sum < least) {
			least = sum;
			best = d;
		}
	}
	g->value[t] = best;
	for (int i = 0; i < g->around[t].n; i++) {
		node_id n = g->around[t].at[i];
		node_cost(g, n, &strategy);
		g->value[node_var(g, n)] = strategy;
	}
}

typedef struct sized {
	int64_t bytes;
	int tensor;
} sized;

static int by_size(const void *x, const void *y)
{
	const sized *a = x, *b = y;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
}

static sized *largest_first(const greedy *g)
{
	const graph *of = g->f->step->g;
	sized *all = ARENA_ARRAY(g->arena, sized, of->ntensors);
	for (tensor_id t = 0; t < of->ntensors; t++)
		all[t] = (sized){assignment_tensor_bytes(&of->tensors[t].type),
				 t};
	qsort(all, (size_t)of->ntensors, sizeof(*all), by_size);
	return all;
}

static void find_neighbours(greedy *g)
{
	const graph *of = g->f->step->g;
	for (node_id n = 0; n < of->nnodes; n++)
		for (int t = g->f->first[n]; t < g->f->first[n + 1]; t++) {
			int x = g->f->problem->tables.at[t].y;
			vec_push(g->arena, &g->around[x], n);
		}
}

static solution solve_greedily(const void *solver, arena *a,
			       const formulation *f, const solve_limits *limits)
{
	(void)solver;
	(void)limits;
	const graph *of = f->step->g;
	const problem *p = f->problem;
	greedy g = { a, f, ARENA_ARRAY(a, int, p->vars.n), NULL };
	g.around = arena_calloc(a, (size_t)p->vars.n, sizeof(*g.around));
	for (int v = 0; v < p->vars.n; v++)
		g.value[v] = -1;
	find_neighbours(&g);
	sized *order = largest_first(&g);
	for (int i = 0; i < of->ntensors; i++) {
		int v = f->tensor_var[order[i].tensor];
		if (g.value[v] < 0)
			decide(&g, v);
	}
	solution s = { .value = g.value };
	s.cost = problem_cost(p, g.value);
	s.optimal = s.cost == 0;
	return s;
}

static void plan(search *s)
{
	const rules any = { .dims = rules_all_dims, .vars = rules_all_vars,
			    .solve = solve_greedily };
	search_by_step(s, &any);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result, 0);
}

const planner planner_spartan = {
	.name = "spartan",
	.about = "the largest tensor first, greedily",
	.plan = plan,
};
