#include "config.h"

#include "tests/unit/problems.h"

#include <check.h>

uint64_t next(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1du;
}

int64_t brute_force(arena *a, const problem *p)
{
	int *value = ARENA_ARRAY(a, int, p->vars.n);
	int64_t best = COST_MAX;
	for (;;) {
		int64_t cost = problem_cost(p, value);
		int v = 0;
		best = cost < best ? cost : best;
		while (v < p->vars.n && ++value[v] == p->vars.at[v].nvalues)
			value[v++] = 0;
		if (v == p->vars.n)
			return best;
	}
}

void check_solution(const problem *p, const solution *s, int64_t best,
		    const char *what, int recipe_no, int round)
{
	for (int v = 0; v < p->vars.n; v++)
		ck_assert(s->value[v] >= 0 &&
			  s->value[v] < p->vars.at[v].nvalues);
	ck_assert_msg(problem_cost(p, s->value) == s->cost &&
			      s->cost >= best && s->lower_bound <= best &&
			      s->optimal == (s->cost == s->lower_bound),
		      "%s, recipe %d, round %d: cost %lld, bound %lld, "
		      "optimum %lld", what, recipe_no, round,
		      (long long)s->cost, (long long)s->lower_bound,
		      (long long)best);
}
