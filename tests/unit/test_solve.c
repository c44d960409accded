/* Tests: compiler/solver */
/* compiler/solver: the exact solver against all assignments. */
#include "config.h"

#include <check.h>
#include <time.h>

#include "compiler/solver/message_passing.h"
#include "compiler/solver/minplus.h"
#include "compiler/solver/solve.h"
#include "tests/unit/problems.h"
#include "tests/unit/suite.h"

static int below(uint64_t *seed, int n)
{
	return (int)((next(seed) >> 33) % (uint64_t)n);
}

/* The kind of a random problem. */
typedef struct recipe {
	int max_vars, max_values;
	int density; /* percent of the pairs that have a table */
	int64_t max_cost;
	int huge; /* percent of the costs that are COST_MAX */
} recipe;

static int64_t random_cost(uint64_t *seed, const recipe *r)
{
	if (below(seed, 100) < r->huge)
		return COST_MAX;
	return (int64_t)(next(seed) >> 2) % (r->max_cost + 1);
}

/* Adds tables of few kinds between x and y, either way round. */
static void add_of_kinds(problem *p, uint64_t *seed, int x, int y,
			 int64_t *const *kinds)
{
	for (int i = below(seed, 4) ? 0 : below(seed, 3); i >= 0; i--)
		if (below(seed, 4))
			problem_add_table(p, x, y, kinds[!below(seed, 4)]);
		else
			problem_add_table(p, y, x, kinds[!below(seed, 4)]);
}

/* Variables and tables as in layers, alike: from every third variable to the
 * next one there are two ways. */
static problem *layered_problem(arena *a, uint64_t *seed, const recipe *r)
{
	problem *p = problem_new(a);
	int n = 1 + below(seed, r->max_vars);
	int m = 1 + below(seed, r->max_values);
	int64_t *own = ARENA_ARRAY(a, int64_t, m), *kinds[2];
	p->along_flow = below(seed, 2);
	for (int x = 0; x < m; x++)
		own[x] = random_cost(seed, r);
	for (int k = 0; k < 2; k++) {
		kinds[k] = ARENA_ARRAY(a, int64_t, m * m);
		for (int i = 0; i < m * m; i++)
			kinds[k][i] = random_cost(seed, r);
	}
	for (int v = 0; v < n; v++) {
		bool costs = below(seed, 3);
		problem_add_var(p, m);
		for (int x = 0; x < m && costs; x++)
			problem_add_cost(p, v, x, own[x]);
		if (v > 0)
			add_of_kinds(p, seed, v % 3 ? v - v % 3 : v - 1, v,
				     kinds);
		if (v > 0 && v % 3 == 0)
			add_of_kinds(p, seed, v - 2, v, kinds);
		if (v > 1 && below(seed, 400) < r->density)
			add_of_kinds(p, seed, below(seed, v - 1), v, kinds);
	}
	return p;
}

/* Layers of which each goes from one variable to the next by two others: by the
 * same two tables, either of them turned or not. */
static problem *turned_problem(arena *a, uint64_t *seed, const recipe *r)
{
	enum { LAYERS = 3, VALUES = 3 };
	problem *p = problem_new(a);
	int64_t *kinds[2];
	for (int k = 0; k < 2; k++) {
		kinds[k] = ARENA_ARRAY(a, int64_t, VALUES * VALUES);
		for (int i = 0; i < VALUES * VALUES; i++)
			kinds[k][i] = random_cost(seed, r);
	}
	for (int v = 0; v < 3 * LAYERS + 1; v++)
		problem_add_var(p, VALUES);
	for (int v = 1; v < 3 * LAYERS; v++) {
		int from = v - v % 3, ends[] = { from, from + 3 };
		for (int k = 0; k < 2 && v % 3; k++)
			if (below(seed, 2))
				problem_add_table(p, ends[k], v, kinds[k]);
			else
				problem_add_table(p, v, ends[k], kinds[k]);
	}
	return p;
}

static problem *random_problem(arena *a, uint64_t *seed, const recipe *r)
{
	problem *p = problem_new(a);
	int n = 1 + below(seed, r->max_vars);
	p->along_flow = below(seed, 2);
	for (int v = 0; v < n; v++) {
		int nvalues = 1 + below(seed, r->max_values);
		problem_add_var(p, nvalues);
		for (int x = 0; x < nvalues; x++)
			problem_add_cost(p, v, x, random_cost(seed, r));
	}
	for (int x = 0; x < n; x++)
		for (int y = 0; y < n; y++) {
			if (x == y || below(seed, 200) >= r->density)
				continue;
			int cells = p->vars.at[x].nvalues *
				    p->vars.at[y].nvalues;
			int64_t *cost = ARENA_ARRAY(a, int64_t, cells);
			for (int i = 0; i < cells; i++)
				cost[i] = random_cost(seed, r);
			problem_add_table(p, x, y, cost);
		}
	return p;
}

static const recipe recipes[] = {
	{ 9, 4, 30, 20, 0 },
	{ 7, 5, 100, 1000, 0 },  /* dense */
	{ 10, 3, 12, 5, 0 },     /* components, many ties */
	{ 8, 4, 60, 1, 0 },      /* nothing but ties */
	{ 7, 4, 60, 100, 30 },   /* many huge costs */
	{ 6, 4, 80, 10, 80 },    /* often no assignment below COST_MAX */
	{ 7, 4, 70, COST_MAX, 0 },
	{ 9, 2, 90, 50, 0 },
	{ 1, 5, 0, 50, 0 },
	{ 12, 2, 40, 0, 5 },
	{ 4, 20, 60, 1000000, 0 }, /* tables large enough to be reduced */
	{ 4, 18, 100, 3, 20 },
	{ 3, 50, 130, COST_MAX, 10 },
};

enum { NRECIPES = sizeof(recipes) / sizeof(recipes[0]) };

START_TEST(elimination_is_exact)
{
	uint64_t seed = 1 + (uint64_t)_i;
	solve_limits limits = solve_defaults();
	for (int round = 0; round < 150; round++) {
		arena *a = arena_new();
		problem *p = random_problem(a, &seed, &recipes[_i]);
		int64_t best = brute_force(a, p);
		solution s = solve(a, p, &limits);
		check_solution(p, &s, best, "solve", _i, round);
		ck_assert(s.optimal);
		solution again = solve(a, p, &limits);
		for (int v = 0; v < p->vars.n; v++)
			ck_assert_int_eq(s.value[v], again.value[v]);
		arena_free(a);
	}
}
END_TEST

/* Tables that are made of equal ones are made once. */
START_TEST(layers_are_exact)
{
	uint64_t seed = 400 + (uint64_t)_i;
	solve_limits limits = solve_defaults();
	for (int round = 0; round < 50; round++) {
		arena *a = arena_new();
		problem *p = layered_problem(a, &seed, &recipes[_i]);
		int64_t best = brute_force(a, p);
		solution s = solve(a, p, &limits);
		check_solution(p, &s, best, "layers", _i, round);
		ck_assert(s.optimal);
		p->top = cost_clamp(best + below(&seed, 2));
		s = solve(a, p, &limits);
		ck_assert(s.lower_bound == p->top || s.cost == best);
		ck_assert_int_eq(s.cost < p->top, best < p->top);
		arena_free(a);
	}
}
END_TEST

/* Tables that are made of turned ones are not those of others. */
START_TEST(turned_layers_are_exact)
{
	uint64_t seed = 500 + (uint64_t)_i;
	solve_limits limits = solve_defaults();
	for (int round = 0; round < 5; round++) {
		arena *a = arena_new();
		problem *p = turned_problem(a, &seed, &recipes[_i]);
		solution s = solve(a, p, &limits);
		check_solution(p, &s, brute_force(a, p), "turned", _i, round);
		ck_assert(s.optimal);
		arena_free(a);
	}
}
END_TEST

START_TEST(branch_and_bound_is_exact)
{
	uint64_t seed = 100 + (uint64_t)_i;
	for (int round = 0; round < 150; round++) {
		arena *a = arena_new();
		problem *p = random_problem(a, &seed, &recipes[_i]);
		int64_t best = brute_force(a, p);
		solve_limits limits = { .steps = 1 << 30 };
		solution s = solve(a, p, &limits);
		check_solution(p, &s, best, "branch", _i, round);
		ck_assert(s.optimal);
		arena_free(a);
	}
}
END_TEST

/* Along the flow of data a problem is reduced, what is left of it again, and
 * then split: costs are in parts of parts, and the gap closes all the same. */
START_TEST(parts_of_parts_are_proven)
{
	uint64_t seed = 600 + (uint64_t)_i;
	for (int round = 0; round < 10; round++) {
		arena *a = arena_new();
		enum { N = 24, VALUES = 4 };
		problem *p = problem_new(a);
		p->along_flow = true;
		for (int v = 0; v < N; v++)
			problem_add_var(p, VALUES);
		for (int i = 0; i < 2 * N; i++) {
			int x = below(&seed, N - 1);
			int y = x + 1 + below(&seed, N - 1 - x);
			int64_t *c = ARENA_ARRAY(a, int64_t, VALUES * VALUES);
			for (int k = 0; k < VALUES * VALUES; k++)
				c[k] = below(&seed, 1000000);
			problem_add_table(p, x, y, c);
		}
		solve_limits condition = { .steps = (int64_t)1 << 40 };
		solve_limits limits = solve_defaults();
		solution s = solve(a, p, &condition), t = solve(a, p, &limits);
		ck_assert(s.optimal && t.optimal);
		ck_assert_int_eq(s.cost, t.cost);
		arena_free(a);
	}
}
END_TEST

/* Every assignment better than the best found has only values that are left,
 * and the bound is a lower bound. */
START_TEST(reducing_keeps_an_optimum)
{
	uint64_t seed = 400 + (uint64_t)_i;
	for (int round = 0; round < 150; round++) {
		arena *a = arena_new();
		problem *p = random_problem(a, &seed, &recipes[_i]);
		int64_t best = brute_force(a, p);
		p->constant = round % 3;
		best = cost_add(best, p->constant);
		p->top = round % 4 ? COST_MAX : best + below(&seed, 3) - 1;
		p->top = p->top < 0 ? 0 : cost_clamp(p->top);
		reduction r = message_passing(a, p, (deadline){ 0 }, round % 2);
		ck_assert(r.best_cost <= p->top && r.bound <= r.best_cost);
		ck_assert(r.bound <= best || r.bound == p->top);
		if (r.best_cost < p->top)
			ck_assert_int_eq(problem_cost(p, r.best), r.best_cost);
		if (best < r.best_cost) {
			ck_assert(r.bound < r.best_cost);
			ck_assert(!r.rest || brute_force(a, r.rest) ==
						     best << r.shift);
		}
		arena_free(a);
	}
}
END_TEST

/* Nothing is found that costs as much as the top, and that is proven. */
START_TEST(top_is_a_limit)
{
	uint64_t seed = 500 + (uint64_t)_i;
	solve_limits limits = solve_defaults();
	for (int round = 0; round < 60; round++) {
		arena *a = arena_new();
		problem *p = random_problem(a, &seed, &recipes[_i]);
		int64_t best = brute_force(a, p);
		solve_limits none = { .steps = 1 << 30 };
		p->top = cost_clamp(best + round % 2);
		solution s = solve(a, p, &limits);
		solution t = solve(a, p, &none);
		ck_assert(s.lower_bound >= p->top || s.cost == best);
		ck_assert(t.lower_bound >= p->top || t.cost == best);
		ck_assert_int_eq(s.cost < p->top, best < p->top);
		ck_assert_int_eq(t.cost < p->top, best < p->top);
		arena_free(a);
	}
}
END_TEST

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

START_TEST(rows_and_columns)
{
	uint64_t seed = 9;
	for (int round = 0; round < 300; round++) {
		enum { MOST = 40, CAP = 700 };
		int64_t t[MOST * MOST], own[MOST], columns[MOST], rows[MOST];
		int nx = 1 + below(&seed, MOST), ny = 1 + below(&seed, MOST);
		for (int i = 0; i < MOST * MOST; i++)
			t[i] = below(&seed, 1000);
		for (int i = 0; i < MOST; i++)
			own[i] = below(&seed, 1000) - 500;
		const minplus_scale scale = { CAP, round % 3 };
		minplus_columns(columns, t, nx, ny, own, scale);
		minplus_rows(rows, t, nx, ny, own, scale);
		for (int y = 0; y < ny; y++) {
			int64_t m = INT64_MAX;
			for (int x = 0; x < nx; x++) {
				int64_t k = t[x * ny + y];
				m = least(m, own[x] +
					     minplus_scaled(k, scale));
			}
			ck_assert_int_eq(columns[y], m);
		}
		for (int x = 0; x < nx; x++) {
			int64_t m = INT64_MAX;
			for (int y = 0; y < ny; y++) {
				int64_t k = t[x * ny + y];
				m = least(m, own[y] +
					     minplus_scaled(k, scale));
			}
			ck_assert_int_eq(rows[x], m);
		}
	}
}
END_TEST

/* Costs in rows of padded length, as sums of random tables that are read
 * along their rows or columns. */
static int64_t *padded_sums(arena *a, uint64_t *seed, int nx, int n,
			    int64_t most)
{
	size_t ncells = (size_t)(nx * minplus_padded(n));
	char *at = (char *)ARENA_ARRAY(a, int64_t, ncells + MINPLUS_LANES);
	int64_t *sum = (int64_t *)(at + (-(uintptr_t)at & 63));
	for (int k = 0; k < 3; k++) {
		int64_t *t = ARENA_ARRAY(a, int64_t, nx * n);
		for (int i = 0; i < nx * n; i++)
			t[i] = below(seed, 1000);
		int64_t stride = k == 1 ? 1 : n, step = k == 1 ? nx : 1;
		int64_t *is = ARENA_COPY(a, sum, ncells);
		minplus_add(sum, t, nx, stride, n, step, most);
		for (int x = 0; x < nx; x++)
			for (int i = 0; i < n; i++) {
				int64_t j = x * minplus_padded(n) + i;
				int64_t c = t[x * stride + i * step];
				ck_assert_int_eq(sum[j],
						 least(is[j] + c, most));
			}
	}
	return sum;
}

START_TEST(products)
{
	uint64_t seed = 10;
	for (int round = 0; round < 300; round++) {
		arena *a = arena_new();
		int nx = 1 + below(&seed, 30), ny = 1 + below(&seed, 30);
		int nr = 1 + below(&seed, 30);
		int64_t most = 1000 + below(&seed, 3000);
		int64_t *rows = padded_sums(a, &seed, nx, nr, most);
		int64_t *columns = padded_sums(a, &seed, nx, ny, most);
		int64_t *to = ARENA_ARRAY(a, int64_t, nr * ny + MINPLUS_LANES);
		int64_t *sum = ARENA_ARRAY(a, int64_t, ny);
		int64_t *none = ARENA_ARRAY(a, int64_t, ny);
		minplus_product(to, rows, nr, columns, ny, nx, most);
		for (int r = 0; r < nr; r++) {
			minplus_rows_sum(sum, rows + r, minplus_padded(nr),
					 none, 0, columns, ny, nx);
			for (int y = 0; y < ny; y++) {
				int64_t m = INT64_MAX;
				for (int x = 0; x < nx; x++)
					m = least(m, rows[x * minplus_padded(nr)
							  + r] +
						     columns[x *
							     minplus_padded(ny)
							     + y]);
				ck_assert_int_eq(sum[y], m);
				ck_assert_int_eq(to[r * ny + y],
						 least(m, most));
			}
		}
		arena_free(a);
	}
}
END_TEST

/* A wall budget holds, and what is said then is true. */
START_TEST(time_is_a_limit)
{
	arena *a = arena_new();
	uint64_t seed = 5;
	problem *p = problem_new(a);
	enum { N = 60, VALUES = 8 };
	for (int v = 0; v < N; v++)
		problem_add_var(p, VALUES);
	for (int x = 0; x < N; x++)
		for (int y = x + 1; y < N; y++) {
			int64_t *c = ARENA_ARRAY(a, int64_t, VALUES * VALUES);
			for (int i = 0; i < VALUES * VALUES; i++)
				c[i] = below(&seed, 1000);
			problem_add_table(p, x, y, c);
		}
	solve_limits limits = { .cells = (int64_t)1 << 26,
				.work = (int64_t)1 << 40,
				.steps = INT64_MAX,
				.seconds = 0.2 };
	time_t begin = time(NULL);
	solution s = solve(a, p, &limits);
	ck_assert_int_lt(time(NULL) - begin, 5);
	ck_assert(!s.optimal && s.lower_bound < s.cost);
	ck_assert_int_eq(problem_cost(p, s.value), s.cost);
	arena_free(a);
}
END_TEST

/* With next to no memory or steps the claims still hold. */
START_TEST(bounds_are_true)
{
	uint64_t seed = 200 + (uint64_t)_i;
	for (int round = 0; round < 150; round++) {
		arena *a = arena_new();
		problem *p = random_problem(a, &seed, &recipes[_i]);
		solve_limits limits = {
			.cells = below(&seed, 60),
			.work = below(&seed, 200),
			.steps = below(&seed, 300),
		};
		int64_t best = brute_force(a, p);
		solution s = solve(a, p, &limits);
		check_solution(p, &s, best, "limited", _i, round);
		arena_free(a);
	}
}
END_TEST

/* A problem that is given up has bounds that are true, and one that is not is
 * solved. */
START_TEST(little_hope)
{
	const recipe dense = { 10, 4, 160, 1000, 0 };
	uint64_t seed = 900;
	int gave_up = 0, proven = 0;
	for (int round = 0; round < 400; round++) {
		arena *a = arena_new();
		problem *p = random_problem(a, &seed, &dense);
		solve_limits limits = solve_defaults();
		int64_t best = brute_force(a, p);
		limits.hopeful = true;
		p->along_flow = true;
		p->top = best + below(&seed, 1000);
		solution s = solve(a, p, &limits);
		ck_assert_int_eq(s.cost, problem_cost(p, s.value));
		ck_assert(s.lower_bound <= best || best >= p->top);
		bool solved = s.cost == best || s.lower_bound >= p->top;
		ck_assert(solved || s.lower_bound < best);
		gave_up += !solved;
		proven += solved;
		arena_free(a);
	}
	ck_assert_int_gt(gave_up, 0);
	ck_assert_int_gt(proven, 0);
}
END_TEST

/* Branch and bound that is stopped anywhere. */
START_TEST(stopped_bounds_are_true)
{
	const recipe dense = { 12, 5, 160, 1000, 0 };
	const solve_limits all = solve_defaults();
	uint64_t seed = 300 + (uint64_t)_i;
	int gaps = 0;
	for (int round = 0; round < 40; round++) {
		arena *a = arena_new();
		problem *p = random_problem(a, &seed, &dense);
		int64_t best = solve(a, p, &all).cost;
		solve_limits limits = { .steps = below(&seed, 15000) };
		solution s = solve(a, p, &limits);
		check_solution(p, &s, best, "stopped", 0, round);
		gaps += !s.optimal;
		arena_free(a);
	}
	ck_assert_int_gt(gaps, 0);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("solve");
	TCase *c = tcase_create("all");
	tcase_add_loop_test(c, elimination_is_exact, 0, NRECIPES);
	tcase_add_loop_test(c, layers_are_exact, 0, NRECIPES);
	tcase_add_loop_test(c, turned_layers_are_exact, 0, NRECIPES);
	tcase_add_loop_test(c, branch_and_bound_is_exact, 0, NRECIPES);
	tcase_add_loop_test(c, parts_of_parts_are_proven, 0, 4);
	tcase_add_loop_test(c, reducing_keeps_an_optimum, 0, NRECIPES);
	tcase_add_loop_test(c, top_is_a_limit, 0, NRECIPES);
	tcase_add_test(c, rows_and_columns);
	tcase_add_test(c, products);
	tcase_add_test(c, time_is_a_limit);
	tcase_add_loop_test(c, bounds_are_true, 0, NRECIPES);
	tcase_add_test(c, little_hope);
	tcase_add_loop_test(c, stopped_bounds_are_true, 0, 4);
	suite_add_tcase(s, c);
	return s;
}
