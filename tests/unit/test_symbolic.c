/* Tests: compiler/analysis */
/* The analysis of an operator for all shapes against the results of
 * compiler/expand and plan/region for given shapes: the stages, their
 * variables, the extents, and for each strategy the regions of the parts. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/bounds.h"
#include "tests/unit/suite.h"
#include "tests/unit/symbolic_trial.h"

/* ---- the operators of the library --------------------------------------- */

static int is_tdl(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return n > 4 && !strcmp(e->d_name + n - 4, ".tdl");
}

START_TEST(library)
{
	const char *dir = getenv("TDL_OPDEFS");
	struct dirent **all;
	trial t = begin();
	int n = dir ? scandir(dir, &all, is_tdl, alphasort) : 0, tried = 0;
	seed_trials(1);
	for (int i = 0; i < n; i++) {
		dsl_load(t.m, arena_printf(t.a, "%s/%s", dir, all[i]->d_name));
		free(all[i]);
	}
	if (n > 0)
		free(all);
	bool fine = analysis_check(t.m, t.sink) && !diag_errors(t.sink);
	if (!fine)
		diag_print(t.sink, stderr, false);
	ck_assert(fine);
	for (int i = 0; i < strmap_count(t.m->ops); i++) {
		t.op = strmap_value(t.m->ops, i);
		tried += try_op(&t, 6) > 0;
	}
	/* Most operators can be tried with such shapes and attributes. */
	ck_assert_msg(!dir || tried * 4 >= strmap_count(t.m->ops) * 3,
		      "%d of %d", tried, strmap_count(t.m->ops));
	arena_free(t.a);
}
END_TEST

/* ---- written for the purpose -------------------------------------------- */

static const char *const operators[] = {
	"op conv(data[B, C, X], w[C, O, D]) -> y[B, O, X - D + 1] =\n"
	"  lambda b, o, x: Sum(lambda c, d: data[b, c, x + d] * w[c, o, d])",
	"op strided(x[N]; s: int = 2, p: int = 1) ->\n"
	"  y[(N + 2*p - 3) / s + 1] =\n"
	"  lambda i: Max(lambda r < 3: (x[s*i + r - p] else -inf))",
	"op reverse(x[N, M]) -> y[N, M] = lambda i, j: x[N - 1 - i, j]",
	"op upsample(x[N]) -> y[3*N] = lambda i: x[i / 3]",
	"op tile(x[N]) -> y[2*N] = lambda i: x[i % N]",
	"op shuffle(x[N, C, H, W]) -> y[N, C/4, 2*H, 2*W] =\n"
	"  lambda n, c, h, w: x[n, c*4 + (h % 2)*2 + w % 2, h/2, w/2]",
	"op concat(a[A], b[B]) -> y[A + B] =\n"
	"  lambda i: if i < A then a[i] else b[i - A]",
	"op diagonal(x[N, N]) -> y[N] = lambda i: x[i, i]",
	"op outer(a[N], b[M]) -> y[N, M] = lambda i, j: a[i] * b[j]",
	"op variance(x[N, M]) -> y[N] = lambda i:\n"
	"  Sum(lambda j: x[i, j] * x[i, j]) - Sum(lambda j: x[i, j])",
	"op below(x[N, N]) -> y[N, N] = lambda i, j:\n"
	"  Sum(lambda k: if k <= i and j < N - 1 then x[k, j + 1] else 0)",
	"op upper(x[N, M]) -> y[N, M] = lambda i, j:\n"
	"  if j - i >= 1 and j < M - 1 then x[i, j + 1] else 0",
	"op causal(s[N, M], v[M, D]) -> y[N, D] = lambda i, d:\n"
	"  Sum(lambda j: if j <= i then s[i, j] * v[j, d] else 0)",
	"op either(x[N, M]) -> y[N, M] = lambda i, j:\n"
	"  if i < j or j + i > 5 then x[i, M - 1 - j] else 0",
	"op lookup(t[V, D], ids[N]: i64) -> y[N, D] =\n"
	"  lambda n, d: t[ids[n], d]",
	"opaque inverse(m[N, N]) -> l[N, N] = \"inverse\"\n"
	"op inverses(a[B, N, N]) -> y[B, N, N] =\n"
	"  lambda b, i, j: inverse(a[b, :, :])[i, j]",
	"op norm(x[N, M]) -> y[N, M] =\n"
	"  let s = lambda i: Sum(lambda j: x[i, j])\n"
	"  lambda i, j: x[i, j] / s[i]\n"
	"op twice(x[N, M]) -> y[N, M] =\n"
	"  let a = norm(x)\n"
	"  let b = norm(a)\n"
	"  lambda i, j: a[i, j] + b[i, j]",
	"op sum(x[..d]; axis: axis[]) -> y[..(d \\ axis)] =\n"
	"  lambda ..(d \\ axis): Sum(lambda ..(d & axis): x[..d])\n"
	"op centred(x[N, M]) -> y[N, M] =\n"
	"  let s = sum(x, axis = [-1])\n"
	"  lambda i, j: x[i, j] - s[i]",
	"op plus(broadcast a[..d], broadcast b[..d]) -> y[..d] =\n"
	"  lambda ..d: a[..d] + b[..d]\n"
	"op times(broadcast a[..s, I, K], broadcast b[..s, K, J]) ->\n"
	"  c[..s, I, J] =\n"
	"  lambda ..s, i, j: Sum(lambda k: a[..s, i, k] * b[..s, k, j])\n"
	"op layer(x[B, M, K], w[K, N], bias[N], gate[1, N]) -> y[B, M, N] =\n"
	"  let h = times(x, w)\n"
	"  let g = plus(plus(h, bias), gate)\n"
	"  lambda b, m, n: g[b, m, n]",
	"op clamp(x[N]) -> y[N + 4] = lambda i: x[min(max(i - 2, 0), N - 1)]",
	"op banded(x[N]) -> y[N] = lambda i:\n"
	"  (x[i - 1] else 0) + x[i] + (x[i + 2] else 0)",
	"op two(x[N, M]) -> (a[N], b[M]) =\n"
	"  lambda i: Sum(lambda j: x[i, j])\n"
	"  lambda j: Max(lambda i: x[i, j])",
	/* Look-ups: in bodies that are linear in them, and that are not. */
#define LOOKUP(name, body) \
	"op " name "(t[V, D], ids[N]: i64, s[D], c[N]) -> y[N, D] =\n" \
	"  lambda n, d: " body
	LOOKUP("l1", "2*t[ids[n], d]*s[d]"),
	LOOKUP("l2", "2*t[ids[n], d]*s[d] + 1"),
	LOOKUP("l3", "max(t[ids[n], d], 0)"),
	LOOKUP("l4", "t[ids[n], d] / s[d] - t[ids[n], d] * c[n]"),
	LOOKUP("l5", "t[ids[n], d] * t[ids[n], d]"),
	LOOKUP("l6", "t[ids[n], d] * t[0, d] + 0"),
	LOOKUP("l7", "exp(t[ids[n], d] + Sum(lambda m: t[ids[m], d]))"),
	LOOKUP("l8",
	       "Max(lambda m: c[m]) + tanh(t[ids[n], 0]) "
	       "+ Min(lambda m: c[m])"),
	"op extreme(x[A, M], z[N]: f32) -> y[N]: f32 = lambda i:\n"
	"  if i < A and z[i] > 0 then cast(ArgMax(lambda j: x[i, j]), f32)\n"
	"  else z[i]",
	"op known(t[V]: f32, ids[N]: i64) -> y[N]: bool =\n"
	"  lambda n: ids[n] >= 0 and t[ids[n]] > 0",
	LOOKUP("l9", "if c[n] > 0 then t[ids[n], d] else 1"),
	LOOKUP("l10", "if c[n] > 0 then t[ids[n], d] else 0"),
	LOOKUP("l11", "if t[ids[n], d] > 0 then t[ids[n], d] else 1"),
	LOOKUP("l12",
	       "select(c[n] > 0 and t[ids[n], d] < 1, s[d], t[ids[n], 0] + 1)"),
	LOOKUP("l13", "Max(lambda m: t[ids[m], d] + c[n])"),
	LOOKUP("l14", "Sum(lambda m: t[ids[m], d] * c[n])"),
	LOOKUP("l15", "Sum(lambda m: t[ids[m], d] + c[n])"),
	LOOKUP("l16", "Mean(lambda m: t[ids[m], d]) + c[n]"),
	LOOKUP("l17", "t[ids[n] + 0*d, d] + c[n]"),
	LOOKUP("l18", "(t[ids[n], d] else 0) + abs(t[ids[n], d])"),
	LOOKUP("l19", "(t[ids[ids[n]], d] else 0) + 1"),
	LOOKUP("l20", "t[ids[ids[n]], ids[n]] + 1"),
	LOOKUP("l21", "t[ArgMax(lambda v: t[v, 0]), d] * 2 + c[n]"),
	"op casts(t[V]: f32, c[N]: f32, ids[N]: i64) ->\n"
	"  (x[N]: f32, y[N]: f64, z[N]: f32) =\n"
	"  lambda n: cast(cast(t[ids[n]], i64), f32) + c[n]\n"
	"  lambda n: cast(t[ids[n]], f64)\n"
	"  lambda n: cast(cast(t[ids[n]], bf16), f32) * c[n]",
	"op ints(t[V]: i64, ids[N]: i64) -> (y[N]: i64, z[N]: i64) =\n"
	"  lambda n: t[ids[n]] / 2\n"
	"  lambda n: 2*t[ids[n]]",
	"op bits(x[N]: f32, z[N]: f32) ->\n"
	"  (a[N]: i32, b[N]: f32, c[N]: bool) =\n"
	"  lambda n: bitcast(x[n], i32)\n"
	"  lambda n: max(tanh(x[n]) - z[n], x[n]) * -2.0\n"
	"  lambda n: not (x[n] < z[n] and z[n] > 0)",
	"op flags(t[V]: bool, ids[N]: i64) -> (y[N]: bool, z[N]: bool) =\n"
	"  lambda n: t[ids[n]]\n"
	"  lambda n: t[ids[n]] and t[ids[n] / 2]",
	"op kept(t[V, W], ids[N]: i64) -> (x[N, W], y[N, W], z[N, W]) =\n"
	"  lambda n, w: (t[ids[n], w] else 0)\n"
	"  lambda n, w: 2*(t[ids[n] + 1, w - 1] else 0) - t[ids[n], w]\n"
	"  lambda n, w: (t[ids[n], w] else 1) * t[ids[n], w]",
	"op chain(t[V]: i64) -> y[V]: i64 = lambda n: t[t[t[n]]]",
	"opaque invert(m[N, N]) -> l[N, N] = \"inverse\"\n"
	"op rows(a[B, N, N], ids[N]: i64) -> y[B, N, N] =\n"
	"  lambda b, i, j: invert(a[b, :, :])[ids[i], j] + 1",
	"op positions(x[..d], ids[N]: i64) -> y[N] =\n"
	"  lambda n: x[..unravel(ids[n])] * 2 + 1",
	"op order(x[N, M]) -> y[N] =\n"
	"  lambda i: Sum(lambda j: x[i, j]) / Max(lambda j: x[i, j])",
};

START_TEST(written)
{
	seed_trials(7);
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		trial t = begin();
		load(&t, operators[i]);
		bool fine = analysis_check(t.m, t.sink);
		if (!fine)
			diag_print(t.sink, stderr, false);
		ck_assert_msg(fine, "%s", operators[i]);
		for (int j = 0; j < strmap_count(t.m->ops); j++) {
			t.op = strmap_value(t.m->ops, j);
			ck_assert_msg(try_op(&t, 20) > 5, "%s", t.op->name);
			const char *open = t.d->stages[0].open_because;
			bool unravels = strstr(operators[i], "unravel");
			ck_assert_msg(!open == !unravels, "%s", operators[i]);
		}
		arena_free(t.a);
	}
}
END_TEST

/* ---- random ones -------------------------------------------------------- */

static const char *random_index(arena *a, int depth)
{
	static const char *const leaf[] = { "i", "j", "k", "N", "M" };
	if (depth == 0)
		return below(4) ? leaf[below(5)]
				: arena_printf(a, "%d", below(4));
	const char *x = random_index(a, depth - 1);
	switch (below(7)) {
	case 0:
		return arena_printf(a, "(%s / %d)", x, 1 + below(3));
	case 1:
		return arena_printf(a, "(%s %% %d)", x, 1 + below(4));
	case 2:
		return arena_printf(a, "%d*%s", 1 + below(3), x);
	case 3:
		return arena_printf(a, "(%s - %s)", x,
				    random_index(a, depth - 1));
	case 4:
		return arena_printf(a, "min(%s, %s)", x,
				    random_index(a, depth - 1));
	default:
		return arena_printf(a, "(%s + %s)", x,
				    random_index(a, depth - 1));
	}
}

/* Regions hold what is read, whatever the index is. */
START_TEST(random_operators)
{
	int checked = 0, exact = 0;
	for (unsigned start = 1; start < 12000; start += 31) {
		if (!sampled((int)start))
			continue;
		trial t = begin();
		seed_trials(start);
		const char *index[3];
		for (int i = 0; i < 3; i++)
			index[i] = random_index(t.a, below(3));
		load(&t, arena_printf(
			t.a, "op r(x[N, M]) -> y[N, M] = lambda i, j: Sum("
			"lambda k < 3: (x[%s, %s] else 0) + (x[%s, j] else 0))",
			index[0], index[1], index[2]));
		t.op = strmap_value(t.m->ops, 0);
		ck_assert(analysis_check(t.m, t.sink));
		ck_assert_int_gt(try_op(&t, 3), 0);
		checked += t.checked;
		exact += t.exact;
		arena_free(t.a);
	}
	ck_assert_int_gt(checked, at_least(5000));
	/* Of few, chance decides. */
	ck_assert_int_gt(exact * (sample_every() == 1 ? 2 : 3), checked);
}
END_TEST

static const char *random_body(arena *a, int depth)
{
	static const char *const leaf[] = {
		"t[ids[n], d]", "t[ids[n], d]", "t[0, d]", "s[d]", "c[n]",
		"t[ids[ids[n]], 0]", "(t[ids[n], d] else 0)", "0", "2",
		"(t[ids[n], d] else 1)", "(t[n, ids[n]] else 0)",
	};
	if (depth == 0)
		return leaf[below((int)(sizeof(leaf) / sizeof(*leaf)))];
	const char *x = random_body(a, depth - 1);
	const char *y = random_body(a, below(depth));
	switch (below(9)) {
	case 0:
		return arena_printf(a, "(%s - %s)", x, y);
	case 1:
		return arena_printf(a, "(%s * %s)", x, y);
	case 2:
		return arena_printf(a, "(%s / (1 + c[n]))", x);
	case 3:
		return arena_printf(a, "max(%s, %s)", x, y);
	case 4:
		return arena_printf(a, "-%s", x);
	case 5:
		return arena_printf(a, "(if %s > c[n] then %s else %s)", y, x,
				    below(2) ? "c[n] * s[d]" : "0");
	case 6:
		return arena_printf(a, "%s(lambda m: c[m] * %s)",
				    below(2) ? "Sum" : "Mean", x);
	default:
		return arena_printf(a, "(%s + %s)", x, y);
	}
}

/* Look-ups that are stages, and the variables that they divide. */
START_TEST(random_lookups)
{
	int derived = 0, gathers = 0;
	for (unsigned start = 1; start < 30000; start += 31) {
		if (!sampled((int)start))
			continue;
		trial t = begin();
		seed_trials(start);
		load(&t, arena_printf(
			t.a, "op r(t[V, D]: f32, ids[N]: i64, s[D]: f32, "
			"c[N]: f32) -> y[N, D]: f32 = lambda n, d: %s",
			random_body(t.a, 1 + below(4))));
		t.op = strmap_value(t.m->ops, 0);
		ck_assert_msg(try_op(&t, 1) > 0, "%s", t.text);
		for (int i = 0; i < t.d->nstages; i++) {
			derived += t.x->stages[i]->nlookups;
			gathers += !strncmp(t.d->stages[i].label, "gather", 6);
		}
		arena_free(t.a);
	}
	ck_assert_int_gt(derived, at_least(300));
	ck_assert_int_gt(gathers, at_least(300));
}
END_TEST

static const char *random_condition(arena *a)
{
	static const char *const op[] = { "<", ">=", "==", "!=" };
	const char *x = random_index(a, 1), *y = random_index(a, 1);
	const char *c = arena_printf(a, "%s %s %s", x, op[below(4)], y);
	return below(3) ? c
			: arena_printf(a, "%s %s i < N - 1", c,
				       below(2) ? "and" : "or");
}

static const char *random_choice(arena *a, int depth)
{
	const char *x = random_index(a, depth);
	if (below(3))
		return x;
	const char *c = random_condition(a), *y = random_index(a, depth);
	return arena_printf(a, "(if %s then %s else %s)", c, x, y);
}

/* A read that the check lets pass without a guard is inside for all shapes;
 * one that is outside for some is found. */
START_TEST(bounds_are_sound)
{
	int passed = 0, refused = 0;
	for (unsigned start = 1; start < 20000; start += 31) {
		if (!sampled((int)start))
			continue;
		trial t = begin();
		seed_trials(start);
		bool conditional = below(2);
		const char *cond = arena_printf(t.a, "if %s then ",
						random_condition(t.a));
		const char *outer = below(4) ? "Max" : "Mean";
		const char *x = random_choice(t.a, below(3));
		const char *y = below(2) ? "l" : "0";
		load(&t, arena_printf(
			t.a, "op r(x[N, M]) -> y[N, M] = lambda i, j: Sum("
			"lambda k < 3: %s(lambda l < M: %sx[%s, %s]%s))",
			outer, conditional ? cond : "", x, y,
			conditional ? " else 0" : ""));
		t.op = strmap_value(t.m->ops, 0);
		bool fine = analysis_check(t.m, t.sink);
		int suited = 0, n = 40;
		t.d = descriptor_of(t.a, t.m, t.op);
		for (int i = 0; i < n; i++) {
			invent(&t);
			for (int j = 0; j < t.d->space->natoms; j++)
				if (t.d->space->atoms[j].kind == ATOM_SIZE)
					t.values[j] = 1 + below(6);
			ck_assert(invent_shapes(&t));
			diag_sink *quiet = diag_sink_new(t.a);
			suited += expand_op(t.a, t.m, quiet, t.op, t.types,
					    t.attrs,
					    (call_site){ .place = "a test" }) !=
				  NULL;
		}
		ck_assert_msg(!fine || suited == n, "%s", t.text);
		passed += fine;
		refused += !fine;
		arena_free(t.a);
	}
	ck_assert_int_gt(passed, at_least(50));
	ck_assert_int_gt(refused, at_least(100));
}
END_TEST

/* ---- files -------------------------------------------------------------- */

START_TEST(round_trip)
{
	trial t = begin();
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		load(&t, arena_printf(t.a, "%s\n", operators[i]));
	descriptor d = { 0 };
	d.ops = ARENA_ARRAY(t.a, desc_op *, strmap_count(t.m->ops));
	for (int i = 0; i < strmap_count(t.m->ops); i++)
		d.ops[d.nops++] =
			descriptor_of(t.a, t.m, strmap_value(t.m->ops, i));
	size_t len, again;
	unsigned char *bytes = descriptor_write(t.a, &d, &len);
	descriptor *r = descriptor_read(t.a, t.sink, "d", bytes, len);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(r->nops, d.nops);
	unsigned char *copy = descriptor_write(t.a, r, &again);
	ck_assert_uint_eq(again, len);
	ck_assert_mem_eq(copy, bytes, len);
	/* Every shorter one is refused. */
	for (size_t n = 0; n < len; n += 1 + n / 50)
		ck_assert_ptr_null(descriptor_read(t.a, diag_sink_new(t.a),
						   "d", bytes, n));
	/* One that is changed is refused, or is written as it was read. */
	seed_trials(3);
	for (int i = 0; i < 4000; i++) {
		arena *a = arena_new();
		unsigned char *bad = ARENA_COPY(a, bytes, len);
		int at = below((int)len);
		bad[at] = (unsigned char)below(256);
		r = descriptor_read(a, diag_sink_new(a), "d", bad, len);
		if (r) {
			copy = descriptor_write(a, r, &again);
			ck_assert_uint_eq(again, len);
			ck_assert_mem_eq(copy, bad, len);
		}
		arena_free(a);
	}
	arena_free(t.a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("symbolic");
	TCase *t = tcase_create("symbolic");
	tcase_add_test(t, library);
	tcase_add_test(t, written);
	tcase_add_test(t, random_operators);
	tcase_add_test(t, random_lookups);
	tcase_add_test(t, bounds_are_sound);
	tcase_add_test(t, round_trip);
	suite_add_tcase(s, t);
	return s;
}
