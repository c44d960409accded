#include "config.h"

#include "compiler/solver/conditioning.h"

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* Adds to the costs of x and of y the least entries of their rows and columns
 * in t. */
static void add_least(arena *tmp, const problem *p, const problem_table *t,
		      int64_t **cost)
{
	int nx = p->vars.at[t->x].nvalues, ny = p->vars.at[t->y].nvalues;
	int64_t *column = ARENA_ARRAY(tmp, int64_t, ny);
	const int64_t *c = t->cost;
	for (int y = 0; y < ny; y++)
		column[y] = COST_MAX;
	for (int x = 0; x < nx; x++) {
		int64_t row = COST_MAX;
		for (int y = 0; y < ny; y++, c++) {
			row = least(row, *c);
			column[y] = least(column[y], *c);
		}
		cost[t->x][x] = cost_add(cost[t->x][x], row);
	}
	for (int y = 0; y < ny; y++)
		cost[t->y][y] = cost_add(cost[t->y][y], column[y]);
}

/* The difference between the two least costs; *at is the place of the least. */
static int64_t regret(const int64_t *cost, int n, int *at)
{
	int64_t first = INT64_MAX, second = INT64_MAX;
	for (int x = 0; x < n; x++) {
		second = cost[x] < first ? first : least(second, cost[x]);
		if (cost[x] < first) {
			first = cost[x];
			*at = x;
		}
	}
	return second - first;
}

condition condition_choose(const problem *p)
{
	arena *tmp = arena_new();
	int64_t **cost = ARENA_ARRAY(tmp, int64_t *, p->vars.n), most = -1;
	int *degree = ARENA_ARRAY(tmp, int, p->vars.n);
	condition s = { -1, 0 };
	for (int v = 0; v < p->vars.n; v++)
		cost[v] = ARENA_COPY(tmp, p->vars.at[v].cost,
				     p->vars.at[v].nvalues);
	for (int i = 0; i < p->tables.n; i++) {
		degree[p->tables.at[i].x]++;
		degree[p->tables.at[i].y]++;
		add_least(tmp, p, &p->tables.at[i], cost);
	}
	for (int v = 0; v < p->vars.n; v++) {
		int at = 0, n = p->vars.at[v].nvalues;
		int64_t r = n > 1 ? regret(cost[v], n, &at) : -1;
		if (r > most || (r == most && n > 1 &&
				 degree[v] > degree[s.var])) {
			most = r;
			s = (condition){ v, at };
		}
	}
	arena_free(tmp);
	return s;
}

/* The part of a table in which the variable has the value, or has not. */
static const int64_t *narrow(arena *a, const problem *p, const problem_table *t,
			     const condition *s, bool with)
{
	int64_t nx = p->vars.at[t->x].nvalues, ny = p->vars.at[t->y].nvalues;
	int64_t *to = ARENA_ARRAY(a, int64_t, nx * ny), *at = to;
	for (int64_t x = 0; x < nx; x++)
		for (int64_t y = 0; y < ny; y++)
			if (((t->x == s->var ? x : y) == s->value) == with)
				*at++ = t->cost[x * ny + y];
	return to;
}

static problem *divide(arena *a, const problem *p, const condition *s,
		       bool with)
{
	problem *q = problem_new(a);
	q->constant = p->constant;
	q->top = p->top;
	q->unit = p->unit;
	q->along_flow = p->along_flow;
	for (int v = 0; v < p->vars.n; v++) {
		int n = p->vars.at[v].nvalues, i = 0;
		problem_add_var(q, v != s->var ? n : with ? 1 : n - 1);
		for (int x = 0; x < n; x++)
			if (v != s->var || (x == s->value) == with)
				problem_add_cost(q, v, i++,
						 p->vars.at[v].cost[x]);
	}
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		bool changes = t->x == s->var || t->y == s->var;
		problem_add_table(q, t->x, t->y,
				  changes ? narrow(a, p, t, s, with) : t->cost);
	}
	return q;
}

problem *condition_with(arena *a, const problem *p, const condition *s)
{
	return divide(a, p, s, true);
}

problem *condition_without(arena *a, const problem *p, const condition *s)
{
	return divide(a, p, s, false);
}
