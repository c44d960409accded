#include "config.h"

#include "compiler/solver/problem.h"

#include <assert.h>

problem *problem_new(arena *a)
{
	problem *p = ARENA_NEW(a, problem);
	p->arena = a;
	p->top = COST_MAX;
	p->unit = 1;
	return p;
}

int problem_add_var(problem *p, int nvalues)
{
	assert(nvalues >= 1);
	problem_var v = { nvalues, ARENA_ARRAY(p->arena, int64_t, nvalues) };
	vec_push(p->arena, &p->vars, v);
	return p->vars.n - 1;
}

void problem_add_cost(problem *p, int var, int value, int64_t cost)
{
	int64_t *c = &p->vars.at[var].cost[value];
	assert(cost >= 0 && cost <= COST_MAX);
	*c = cost_add(*c, cost);
}

void problem_add_table(problem *p, int x, int y, const int64_t *cost)
{
	assert(x != y && x >= 0 && x < p->vars.n && y >= 0 && y < p->vars.n);
	problem_table t = { x, y, cost };
	vec_push(p->arena, &p->tables, t);
}

int64_t problem_cost(const problem *p, const int *value)
{
	int64_t sum = p->constant;
	for (int v = 0; v < p->vars.n; v++)
		sum = cost_add(sum, p->vars.at[v].cost[value[v]]);
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		size_t row = (size_t)value[t->x];
		size_t width = (size_t)p->vars.at[t->y].nvalues;
		size_t at = row * width + (size_t)value[t->y];
		sum = cost_add(sum, t->cost[at]);
	}
	return sum;
}
