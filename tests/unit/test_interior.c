/* Tests: compiler/placement */
/* Sparse factors, against the matrix; linear programs, against all corners; and
 * the favourites that m-SCT takes from one. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "compiler/placement/interior.h"
#include "compiler/placement/ldl.h"
#include "compiler/placement/task.h"
#include "tests/unit/suite.h"

static uint64_t state = 88172645463325252u;

static int draw(int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)((state >> 11) % (uint64_t)n);
}

/* Places off the diagonal between the first half of the rows, whose diagonal is
 * negative, and the second. */
static int draw_places(ldl_place *places, int n, int odds)
{
	int k = 0;
	for (int i = 0; i < n / 2; i++)
		for (int j = n / 2; j < n; j++)
			if (draw(odds) == 0)
				places[k++] = (ldl_place){ i, j };
	return k;
}

static void check_system(arena *a, int n, int odds)
{
	ldl_place *places = ARENA_ARRAY(a, ldl_place, n * n);
	int k = draw_places(places, n, odds);
	ldl *f = ldl_new(a, n, places, k, INT64_MAX);
	double *diagonal = ARENA_ARRAY(a, double, n);
	double *value = ARENA_ARRAY(a, double, k);
	double *want = ARENA_ARRAY(a, double, n);
	double *x = ARENA_ARRAY(a, double, n);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < n; i++) {
			diagonal[i] = (i < n / 2 ? -1 : 1) * (1 + draw(9));
			want[i] = draw(100);
			x[i] = diagonal[i] * want[i];
		}
		for (int e = 0; e < k; e++) {
			value[e] = draw(11) - 5;
			x[places[e].i] += value[e] * want[places[e].j];
			x[places[e].j] += value[e] * want[places[e].i];
		}
		ldl_factor(f, diagonal, value);
		ldl_solve(f, x);
		for (int i = 0; i < n; i++)
			ck_assert_double_eq_tol(x[i], want[i], 1e-7);
	}
}

START_TEST(systems)
{
	for (int i = 0; i < 200; i++) {
		arena *a = arena_new();
		int n = 1 + draw(60), odds = 1 + draw(12);
		check_system(a, n, odds);
		arena_free(a);
	}
	arena *a = arena_new();
	check_system(a, 1000, 200);
	ldl_place *all = ARENA_ARRAY(a, ldl_place, 400 * 400);
	int k = draw_places(all, 400, 1);
	ck_assert_ptr_null(ldl_new(a, 400, all, k, 1000000));
	arena_free(a);
}
END_TEST

/* ---- linear programs ----------------------------------------------------- */

enum { N = 3, M = 4 };

/* A dense program of N columns and M rows. */
typedef struct dense {
	double a[M][N], bound[M], cost[N];
} dense;

/* Gives each row a bound that x = (1, .., 1) keeps, and costs that are not
 * below 0, so that there is a least one. */
static dense draw_program(void)
{
	dense p;
	for (int r = 0; r < M; r++) {
		p.bound[r] = -draw(4);
		for (int i = 0; i < N; i++) {
			p.a[r][i] = draw(7) - 3;
			p.bound[r] += p.a[r][i];
		}
	}
	for (int i = 0; i < N; i++)
		p.cost[i] = draw(5);
	return p;
}

/* Row r of the rows and of x >= 0. */
static double entry(const dense *p, int r, int i)
{
	return r < M ? p->a[r][i] : r - M == i;
}

static double bound(const dense *p, int r)
{
	return r < M ? p->bound[r] : 0;
}

static double determinant(double m[N][N])
{
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
	       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* The corner at which these rows are equations, by Cramer's rule. */
static bool corner(const dense *p, const int *rows, double *x)
{
	double m[N][N], all;
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			m[i][k] = entry(p, rows[i], k);
	all = determinant(m);
	for (int k = 0; k < N && all != 0; k++) {
		double with[N][N];
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				with[i][j] = j == k ? bound(p, rows[i]) :
						      m[i][j];
		x[k] = determinant(with) / all;
	}
	return all != 0;
}

/* The cost of x; infinite where it does not keep a row. */
static double cost_of(const dense *p, const double *x, double tolerance)
{
	double sum = 0;
	for (int r = 0; r < M + N; r++) {
		double row = 0;
		for (int i = 0; i < N; i++)
			row += entry(p, r, i) * x[i];
		if (row < bound(p, r) - tolerance)
			return INFINITY;
	}
	for (int i = 0; i < N; i++)
		sum += p->cost[i] * x[i];
	return sum;
}

static double least_corner(const dense *p)
{
	double best = INFINITY, x[N];
	for (int i = 0; i < M + N; i++)
		for (int j = i + 1; j < M + N; j++)
			for (int k = j + 1; k < M + N; k++) {
				const int rows[N] = { i, j, k };
				if (corner(p, rows, x))
					best = fmin(best, cost_of(p, x, 1e-9));
			}
	return best;
}

START_TEST(programs)
{
	static const int column[M * N] = { 0, 1, 2, 0, 1, 2,
					   0, 1, 2, 0, 1, 2 };
	static const int first[M + 1] = { 0, 3, 6, 9, 12 };
	int solved = 0;
	for (int i = 0; i < 1000; i++) {
		arena *a = arena_new();
		dense d = draw_program();
		linear_program p = { M, N, first, column, d.a[0], d.bound,
				     d.cost };
		const double *x = interior_solve(a, &p, INT64_MAX);
		solved += x != NULL;
		if (x)
			ck_assert_double_eq_tol(cost_of(&d, x, 1e-7),
						least_corner(&d), 1e-6);
		arena_free(a);
	}
	/* Solutions without bound may have no middle. */
	ck_assert_int_ge(solved, 990);
}
END_TEST

/* ---- favourites ---------------------------------------------------------- */

static int add(cost_builder *b, const char *id, double ms, double move)
{
	cost_op op = { .id = id, .name = id, .ms = ms, .core_ms = -1,
		       .colour = -1, .mirror = -1 };
	int v = cost_builder_op(b, &op);
	cost_builder_result(b, v, 1000, move);
	return v;
}

/* first 1 ms; left 4 and right 5 ms read it; last reads both. */
START_TEST(favourites)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	cost_builder *b = cost_builder_new(a, s, "diamond");
	int top = add(b, "first", 1, 2), left = add(b, "left", 4, 2);
	int right = add(b, "right", 5, 2), last = add(b, "last", 2, 2);
	cost_builder_edge(b, top, left);
	cost_builder_edge(b, top, right);
	cost_builder_edge(b, left, last);
	cost_builder_edge(b, right, last);
	const cost_graph *g = cost_builder_finish(b, COST_FORMAT_DNN);
	machine_request r = { .ndevices = 2, .factor = 1 };
	const machine *m = machine_new(a, s, g, &r);
	const int *f = place_program_favourites(a, m);
	ck_assert_ptr_nonnull(f);
	/* Both paths are the shorter the more of the parts they have: each gets
	 * about one half at either end, so that nobody is a favourite. */
	for (int v = 0; v < 4; v++)
		ck_assert_int_eq(f[v], -1);
	ck_assert_int_eq(place_path_favourites(a, m)[last], -1);
	arena_free(a);
}
END_TEST

/* first 1 ms; long 9 and short 1 ms read it. */
START_TEST(one_favourite)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	cost_builder *b = cost_builder_new(a, s, "fork");
	int top = add(b, "first", 1, 2), small = add(b, "short", 1, 2);
	int big = add(b, "long", 9, 2);
	cost_builder_edge(b, top, small);
	cost_builder_edge(b, top, big);
	const cost_graph *g = cost_builder_finish(b, COST_FORMAT_DNN);
	machine_request r = { .ndevices = 2, .factor = 1 };
	const machine *m = machine_new(a, s, g, &r);
	const int *f = place_program_favourites(a, m);
	ck_assert_int_ge(f[top], 0);
	ck_assert_int_eq(g->succ[f[top]].op, big);
	ck_assert_int_eq(f[small], -1);
	f = place_path_favourites(a, m);
	ck_assert_int_eq(g->succ[f[top]].op, big);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *suite = suite_create("interior");
	TCase *c = tcase_create("interior");
	tcase_add_test(c, systems);
	tcase_add_test(c, programs);
	tcase_add_test(c, favourites);
	tcase_add_test(c, one_favourite);
	suite_add_tcase(suite, c);
	return suite;
}
