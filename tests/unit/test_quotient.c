/* Tests: compiler/solver */
/* compiler/solver/quotient: chains of equal blocks against a partition that is
 * refined by comparing every two variables. */
#include "config.h"

#include <check.h>

#include "compiler/solver/quotient.h"
#include "compiler/solver/solve.h"
#include "tests/unit/problems.h"
#include "tests/unit/suite.h"

enum {
	ROUNDS = 4, /* as the header says of "some tables away" */
	MOST_TABLES = 4,
};

static int below(uint64_t *seed, int n)
{
	return (int)((next(seed) >> 33) % (uint64_t)n);
}

static int64_t *random_costs(arena *a, uint64_t *seed, int n)
{
	int64_t *cost = ARENA_ARRAY(a, int64_t, n);
	for (int i = 0; i < n; i++)
		cost[i] = below(seed, 1000);
	return cost;
}

/* A block: its variables' costs, and tables within it and to the next one. */
typedef struct block {
	int n, nvalues[5], ntables;
	int64_t *own[5];
	struct {
		int x, y;
		bool next; /* y is in the block behind */
		const int64_t *cost;
	} tables[9];
} block;

static block random_block(arena *a, uint64_t *seed)
{
	block b = { .n = 1 + below(seed, 5), .ntables = 1 + below(seed, 9) };
	for (int v = 0; v < b.n; v++) {
		b.nvalues[v] = 2 + below(seed, 2);
		b.own[v] = random_costs(a, seed, b.nvalues[v]);
		if (v > 0 && !below(seed, 3)) {
			b.nvalues[v] = b.nvalues[v - 1];
			b.own[v] = b.own[v - 1];
		}
	}
	for (int i = 0; i < b.ntables; i++) {
		int x = below(seed, b.n), y = below(seed, b.n);
		b.tables[i].x = x;
		b.tables[i].y = y;
		b.tables[i].next = x == y || below(seed, 2);
		b.tables[i].cost = random_costs(
			a, seed, b.nvalues[x] * b.nvalues[y]);
	}
	return b;
}

/* A table with its sides exchanged. */
static const int64_t *turned(arena *a, const int64_t *cost, int nx, int ny)
{
	int64_t *to = ARENA_ARRAY(a, int64_t, nx * ny);
	for (int x = 0; x < nx; x++)
		for (int y = 0; y < ny; y++)
			to[y * nx + x] = cost[x * ny + y];
	return to;
}

static void add_block(problem *p, const block *b, int i, int nblocks)
{
	for (int k = 0; k < b->ntables; k++) {
		int x = i * b->n + b->tables[k].x;
		int y = i * b->n + b->tables[k].y;
		if (!b->tables[k].next)
			problem_add_table(p, x, y, b->tables[k].cost);
		else if (i + 1 < nblocks)
			problem_add_table(p, x, y + b->n, b->tables[k].cost);
	}
}

/* So many equal blocks, and a few tables between any two variables. */
static problem *chain(arena *a, uint64_t *seed, const block *b, int nblocks)
{
	problem *p = problem_new(a);
	p->along_flow = true;
	p->constant = below(seed, 100);
	for (int i = 0; i < nblocks; i++)
		for (int v = 0; v < b->n; v++) {
			int k = problem_add_var(p, b->nvalues[v]);
			for (int x = 0; x < b->nvalues[v]; x++)
				problem_add_cost(p, k, x, b->own[v][x]);
		}
	for (int i = 0; i < nblocks; i++)
		add_block(p, b, i, nblocks);
	for (int i = below(seed, 3); i > 0 && p->vars.n > 1; i--) {
		int x = below(seed, p->vars.n - 1), y = p->vars.n - 1;
		int nx = p->vars.at[x].nvalues, ny = p->vars.at[y].nvalues;
		const int64_t *cost = random_costs(a, seed, nx * ny);
		if (below(seed, 2))
			problem_add_table(p, x, y, cost);
		else
			problem_add_table(p, y, x, turned(a, cost, nx, ny));
	}
	return p;
}

/* ---- the judge ---------------------------------------------------------- */

/* The tables of this kind that variable v has, on this side, with variables of
 * that class. */
static int count(const problem *p, const int *class, int v, int side,
		 const int64_t *cost, int with)
{
	int n = 0;
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		int own = side ? t->y : t->x, other = side ? t->x : t->y;
		n += own == v && t->cost == cost && class[other] == with;
	}
	return n;
}

static bool are_alike(const problem *p, const int *class, int v, int u)
{
	if (class[v] != class[u])
		return false;
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		for (int side = 0; side < 2; side++) {
			int own = side ? t->y : t->x;
			int with = class[side ? t->x : t->y];
			if ((own == v || own == u) &&
			    count(p, class, v, side, t->cost, with) !=
				    count(p, class, u, side, t->cost, with))
				return false;
		}
	}
	return true;
}

static bool same_costs(const problem_var *x, const problem_var *y)
{
	bool same = x->nvalues == y->nvalues;
	for (int i = 0; same && i < x->nvalues; i++)
		same = x->cost[i] == y->cost[i];
	return same;
}

/* Classes by their first variables; `had': those of the round before. */
static void refine(const problem *p, const int *had, int *class)
{
	for (int v = 0; v < p->vars.n; v++) {
		class[v] = v;
		for (int u = 0; u < v && class[v] == v; u++)
			if (had ? are_alike(p, had, v, u)
				: same_costs(&p->vars.at[v], &p->vars.at[u]))
				class[v] = u;
	}
}

static const int *judged(arena *a, const problem *p)
{
	int *class = ARENA_ARRAY(a, int, p->vars.n);
	refine(p, NULL, class);
	for (int i = 0; i < ROUNDS; i++) {
		const int *had = ARENA_COPY(a, class, p->vars.n);
		refine(p, had, class);
	}
	return class;
}

/* ---- tests -------------------------------------------------------------- */

static void check_partition(const quotient *q, const int *class, int n)
{
	int nclasses = 0;
	for (int v = 0; v < n; v++) {
		ck_assert_int_eq(q->class_of[v] == q->class_of[class[v]], 1);
		if (class[v] == v)
			ck_assert_int_eq(q->class_of[v], nclasses++);
	}
	ck_assert_int_eq(q->p->vars.n, nclasses);
}

static void check_costs(arena *a, uint64_t *seed, const problem *p,
			const quotient *q)
{
	int *value = ARENA_ARRAY(a, int, q->p->vars.n);
	int *to = ARENA_ARRAY(a, int, p->vars.n);
	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < q->p->vars.n; k++)
			value[k] = below(seed, q->p->vars.at[k].nvalues);
		quotient_lift(q, p->vars.n, value, to);
		ck_assert_int_eq(problem_cost(q->p, value),
				 problem_cost(p, to));
	}
}

START_TEST(test_chains)
{
	int nsmaller = 0, ntried = 0;
	for (int i = 1; i <= 600; i++) {
		if (!sampled(i))
			continue;
		uint64_t seed = (uint64_t)i;
		arena *a = arena_new();
		block b = random_block(a, &seed);
		int nblocks = 1 + below(&seed, 16);
		const problem *p = chain(a, &seed, &b, nblocks);
		quotient q = quotient_of(a, p);
		check_partition(&q, judged(a, p), p->vars.n);
		check_costs(a, &seed, p, &q);
		ntried += nblocks == 16;
		nsmaller += nblocks == 16 && q.p->vars.n < p->vars.n;
		arena_free(a);
	}
	ck_assert_int_ge(2 * nsmaller, ntried);
}
END_TEST

/* The best of the quotient is the best of all in which variables that are alike
 * have one value; and of a long chain there are no more than of a shorter
 * one. */
START_TEST(test_long_chain)
{
	const solve_limits limits = solve_defaults();
	uint64_t seed = 7;
	arena *a = arena_new();
	block b = { .n = 1, .nvalues = { 3 }, .ntables = 1 };
	b.own[0] = random_costs(a, &seed, 3);
	b.tables[0].next = true;
	b.tables[0].cost = random_costs(a, &seed, 9);
	int nclasses = 0;
	for (int nblocks = 12; nblocks <= 96; nblocks *= 2) {
		uint64_t none = 0;
		problem *p = chain(a, &none, &b, nblocks);
		p->tables.n = nblocks - 1;
		quotient q = quotient_of(a, p);
		nclasses = nclasses ? nclasses : q.p->vars.n;
		ck_assert_int_eq(q.p->vars.n, nclasses);
		solution s = solve(a, q.p, &limits);
		int *to = ARENA_ARRAY(a, int, nblocks);
		quotient_lift(&q, nblocks, s.value, to);
		ck_assert(s.optimal);
		ck_assert_int_eq(s.cost, problem_cost(p, to));
		ck_assert_int_ge(s.cost, solve(a, p, &limits).cost);
	}
	ck_assert_int_eq(nclasses, 2 * ROUNDS + 1);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("quotient");
	TCase *t = tcase_create("quotient");
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_chains);
	tcase_add_test(t, test_long_chain);
	suite_add_tcase(s, t);
	return s;
}
