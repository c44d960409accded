/* Tests: compiler/solver */
/* The solver on problems of many kinds, large ones among them. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "compiler/solver/branch.h"
#include "tests/unit/problems.h"
#include "tests/unit/suite.h"

static int below(uint64_t *seed, int n)
{
	return (int)((next(seed) >> 33) % (uint64_t)n);
}

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* Costs of all sizes, and rules of which there are few kinds. */
typedef enum costs {
	ANY,
	FEW, /* ties */
	ZERO,
	SPARSE, /* most are 0 */
	FORBIDDEN, /* some are not wanted at all */
	UNARY, /* values cost more than pairs */
	EQUAL, /* pairs cost the less the nearer values are */
	NCOSTS,
} costs;

static int64_t cost_of(uint64_t *seed, costs kind, int x, int y)
{
	switch (kind) {
	case FEW:
		return below(seed, 3);
	case ZERO:
		return 0;
	case SPARSE:
		return below(seed, 10) ? 0 : below(seed, 100);
	case FORBIDDEN:
		return below(seed, 4) ? below(seed, 50) : COST_MAX;
	case UNARY:
		return below(seed, y < 0 ? 1000000 : 10000);
	case EQUAL:
		return y < 0 ? below(seed, 100) : 10 * abs(x - y);
	default:
		return (int64_t)(next(seed) >> 20);
	}
}

static void add_pair(problem *p, uint64_t *seed, costs kind, int x, int y)
{
	int nx = p->vars.at[x].nvalues, ny = p->vars.at[y].nvalues;
	int64_t *c = ARENA_ARRAY(p->arena, int64_t, nx * ny);
	for (int i = 0; i < nx * ny; i++)
		c[i] = cost_of(seed, kind, i / ny, i % ny);
	if (below(seed, 2)) {
		problem_add_table(p, x, y, c);
		return;
	}
	int64_t *t = ARENA_ARRAY(p->arena, int64_t, nx * ny);
	for (int i = 0; i < nx * ny; i++)
		t[i % ny * nx + i / ny] = c[i];
	problem_add_table(p, y, x, t);
}

/* The graph of the variables that meet. */
typedef enum shape {
	TREE,
	GRID,	/* 3 wide */
	BLOCKS, /* rings in a row, which may be equal */
	RING,
	ALL,	/* with all */
	PAIRS,	/* more than one table for a pair */
	NONE,	/* unary costs alone */
	NSHAPES,
} shape;

static void add_pairs(problem *p, uint64_t *seed, shape what, costs kind)
{
	const int n = p->vars.n;
	uint64_t block = next(seed);
	for (int v = 1; v < n && what != NONE; v++) {
		uint64_t same = block + (uint64_t)(v % 4) * 77;
		int u = what == TREE ? below(seed, v) : v - 1;
		if (what != GRID || v % 3)
			add_pair(p, what == BLOCKS ? &same : seed, kind, u, v);
		if (what == GRID && v >= 3)
			add_pair(p, seed, kind, v - 3, v);
		if (what == BLOCKS && v % 4 == 3)
			add_pair(p, &same, kind, v - 3, v);
		for (int w = 0; what == ALL && w < v - 1; w++)
			add_pair(p, seed, kind, w, v);
		if (what == PAIRS && below(seed, 2))
			add_pair(p, seed, kind, u, v);
	}
	if (what == RING && n > 2)
		add_pair(p, seed, kind, n - 1, 0);
}

/* All ways to solve a problem agree with all assignments. */
START_TEST(kinds_are_solved)
{
	const shape what = (shape)_i;
	uint64_t seed = 800 + (uint64_t)_i;
	for (int round = 0; round < 12 * NCOSTS; round++) {
		costs kind = (costs)(round % NCOSTS);
		int n = 1 + below(&seed, 8), most = n > 5 ? 3 : n > 3 ? 5 : 30;
		arena *a = arena_new();
		problem *p = problem_new(a);
		p->along_flow = below(&seed, 2);
		for (int v = 0; v < n; v++) {
			int nvalues = 1 + (what == BLOCKS ? most - 1 :
						   below(&seed, most));
			problem_add_var(p, nvalues);
			for (int x = 0; x < nvalues && v % 3; x++)
				problem_add_cost(p, v, x,
						 cost_of(&seed, kind, x, -1));
		}
		add_pairs(p, &seed, what, kind);
		int64_t best = brute_force(a, p), steps = 1 << 30;
		const solve_limits limits[] = {
			solve_defaults(),
			{ .steps = 1 << 30 },
			{ .cells = 1 << 20, .work = 1 << 20 },
		};
		for (int i = 0; i < 3; i++) {
			solution s = solve(a, p, &limits[i]);
			check_solution(p, &s, best, "kinds", _i, round);
			ck_assert(s.optimal || i == 2);
		}
		p->top = cost_clamp(best + 1 - below(&seed, 2));
		if (branch_fits(p)) {
			solution s = branch(a, p, &steps, (deadline){ 0 });
			ck_assert_int_eq(s.lower_bound, least(best, p->top));
			ck_assert(best == p->top || s.cost == best);
		}
		arena_free(a);
	}
}
END_TEST

/* Too many variables for one place: split, and into components, and the same
 * problem by elimination. */
START_TEST(large_ones_are_split)
{
	uint64_t seed = 900;
	arena *a = arena_new();
	enum { N = 1200 };
	problem *p = problem_new(a);
	for (int v = 0; v < N; v++) {
		problem_add_var(p, 3);
		for (int x = 0; x < 3; x++)
			problem_add_cost(p, v, x, below(&seed, 20000));
	}
	add_pairs(p, &seed, GRID, UNARY);
	p->top = 1 << 30;
	ck_assert(!branch_fits(p));
	solve_limits all = solve_defaults(), condition = { .steps = 1 << 30 };
	solution s = solve(a, p, &condition), t = solve(a, p, &all);
	ck_assert(t.optimal && s.optimal);
	ck_assert_int_eq(s.cost, t.cost);
	arena_free(a);
}
END_TEST

/* A problem too dense for the tables allowed: the fallback proves a bound and
 * says that there is a gap, or closes it. */
START_TEST(fallback_reports_its_gap)
{
	arena *a = arena_new();
	uint64_t seed = 7;
	problem *p = problem_new(a);
	for (int v = 0; v < 40; v++)
		problem_add_var(p, 6);
	for (int x = 0; x < 40; x++)
		for (int y = x + 1; y < 40; y++) {
			int64_t *cost = ARENA_ARRAY(a, int64_t, 36);
			for (int i = 0; i < 36; i++)
				cost[i] = below(&seed, 1000);
			problem_add_table(p, x, y, cost);
		}
	solve_limits limits = solve_defaults();
	limits.steps = 100000;
	solution s = solve(a, p, &limits);
	ck_assert(!s.optimal);
	ck_assert(s.lower_bound > 0 && s.lower_bound < s.cost);
	ck_assert_int_eq(problem_cost(p, s.value), s.cost);
	arena_free(a);
}
END_TEST

/* A grid, a wheel and a long chain with long domains: many ways to go wrong in
 * the order and in the loops, checked against another order of variables. */
START_TEST(order_does_not_matter)
{
	uint64_t seed = 3;
	for (int round = 0; round < 5; round++) {
		arena *a = arena_new();
		enum { W = 7, N = W * W };
		problem *p = problem_new(a), *q = problem_new(a);
		for (int v = 0; v < N; v++) {
			problem_add_var(p, 3 + v % 4);
			problem_add_var(q, 3 + (N - 1 - v) % 4);
		}
		for (int x = 0; x < N; x++)
			for (int k = 0; k < 2; k++) {
				int y = k ? x + W : x + 1;
				if (y >= N || (!k && y % W == 0))
					continue;
				int nx = 3 + x % 4, ny = 3 + y % 4;
				int64_t *c = ARENA_ARRAY(a, int64_t, nx * ny);
				for (int i = 0; i < nx * ny; i++)
					c[i] = below(&seed, 100);
				problem_add_table(p, x, y, c);
				problem_add_table(q, N - 1 - x, N - 1 - y, c);
			}
		solve_limits limits = solve_defaults();
		solution s = solve(a, p, &limits), t = solve(a, q, &limits);
		ck_assert(s.optimal && t.optimal);
		ck_assert_int_eq(s.cost, t.cost);
		ck_assert_int_eq(problem_cost(p, s.value), s.cost);
		arena_free(a);
	}
}
END_TEST

START_TEST(nothing_to_solve)
{
	arena *a = arena_new();
	solve_limits limits = solve_defaults();
	problem *p = problem_new(a);
	solution s = solve(a, p, &limits);
	ck_assert(s.optimal && s.cost == 0 && s.lower_bound == 0);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("solve_kinds");
	TCase *c = tcase_create("all");
	tcase_add_loop_test(c, kinds_are_solved, 0, NSHAPES);
	tcase_add_test(c, large_ones_are_split);
	tcase_add_test(c, fallback_reports_its_gap);
	tcase_add_test(c, order_does_not_matter);
	tcase_add_test(c, nothing_to_solve);
	suite_add_tcase(s, c);
	return s;
}
