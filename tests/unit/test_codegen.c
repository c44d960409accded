/* Tests: compiler/codegen */
/* Generated kernels against the interpreter: on kernels of known kinds and on
 * random ones. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/schedule.h"
#include "tests/unit/check_kernel.h"
#include "tests/unit/codegen_kinds.h"
#include "tests/unit/suite.h"

/* ---- reductions under a condition --------------------------------------- */

static kexpr *equal(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_EQ, x, y);
}

static kexpr *both(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_AND, x, y);
}

static kexpr *nothing(reducer r, dtype t)
{
	if (r == RED_MAX)
		return dtype_is_float(t) ? kx_float(mem, -INFINITY, t)
		       : t == DT_I64	 ? kx_int(mem, INT64_MIN, t)
					 : kx_int(mem, -128, t);
	return constant(t, r == RED_PROD);
}

/* out[m, j] = reduction of u[k, j] over the k whose at[k] leads to m, in one of
 * several ways. */
static kernel *scatter(reducer r, dtype t, int variant, int rows, int terms)
{
	kernel *k = begin("scatter", r, t);
	kexpr *m = add_var(k, "m", KVAR_OUTPUT, rows);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, 70);
	kexpr *c = add_var(k, "k", KVAR_REDUCE, terms);
	int at = add_input(k, "at", variant == 1 ? DT_I32 : DT_I64, 1, terms);
	int u = add_input(k, "u", t, 2, terms, 70);
	kexpr *to = READ(k, at, NULL, c), *when = NULL;
	switch (variant) {
	case 0:
		when = equal(to, m);
		break;
	case 1: /* an index that is converted */
		when = equal(kx_cast(mem, m, DT_I32), to);
		break;
	case 2: /* from the end, and a condition more */
		when = both(kx_fn2(mem, FN_LT, c, num(terms / 2 + 1)),
			    equal(sub(num(rows - 1), m), to));
		break;
	case 3: /* both loops of the result are given */
		when = both(equal(add(m, num(2)), to), equal(mul(to, c), j));
		break;
	default: /* the condition depends on all loops */
		when = equal(add(to, j), add(m, mul(num(2), c)));
		break;
	}
	k->body = kx_select(mem, when, READ(k, u, NULL, c, j), nothing(r, t));
	return k;
}

/* out[m] = the last k for which at[k] leads to m, or -1; the first one, or
 * K - 1, with Min. */
static kernel *last_writer(reducer r, int terms)
{
	kernel *k = begin("last_writer", r, DT_I64);
	kexpr *m = add_var(k, "m", KVAR_OUTPUT, 10);
	kexpr *c = add_var(k, "k", KVAR_REDUCE, terms);
	int at = add_input(k, "at", DT_I64, 1, terms);
	k->body = kx_select(mem, equal(READ(k, at, NULL, c), m), c,
			    num(r == RED_MAX ? -1 : terms - 1));
	return k;
}

/* out[i] = Sum(b, v) if ids[b] == v then table[v, i] * w[b] else 0, and with v
 * before b, which is no scatter: the order of the terms would change. */
static kernel *one_hot(bool in_order)
{
	kernel *k = begin("one_hot", RED_SUM, DT_F32);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, 33);
	kexpr *b = in_order ? add_var(k, "b", KVAR_REDUCE, 12) : NULL;
	kexpr *v = add_var(k, "v", KVAR_REDUCE, 7);
	b = b ? b : add_var(k, "b", KVAR_REDUCE, 12);
	int ids = add_input(k, "ids", DT_I64, 1, 12);
	int table = add_input(k, "table", DT_F32, 2, 7, 33);
	int w = add_input(k, "w", DT_F32, 1, 12);
	k->body = kx_select(
		mem, equal(READ(k, ids, NULL, b), v),
		mul(READ(k, table, NULL, v, i), READ(k, w, NULL, b)),
		constant(DT_F32, 0));
	return k;
}

START_TEST(scatters)
{
	static const dtype types[] = {DT_F32, DT_F64, DT_BF16, DT_I64, DT_I8};
	static const reducer reducers[] = {RED_SUM, RED_PROD, RED_MAX};
	kernels all = {0};
	for (int variant = 0; variant < 5; variant++)
		for (int r = 0; r < 3; r++)
			for (int t = 0; t < 5; t++)
				vec_push(mem, &all,
					 scatter(reducers[r], types[t], variant,
						 13, 9));
	for (int n = 0; n < 3; n++) {
		vec_push(mem, &all, scatter(RED_SUM, DT_F32, 0, n, 5));
		vec_push(mem, &all, scatter(RED_SUM, DT_F32, 2, 5, n));
	}
	for (int n = 0; n < 10; n += 3) {
		vec_push(mem, &all, last_writer(RED_MAX, n));
		vec_push(mem, &all, last_writer(RED_MIN, n));
	}
	vec_push(mem, &all, one_hot(true));
	vec_push(mem, &all, one_hot(false));
	check_all(&all);
}
END_TEST

/* out[i, j] = reduction of x[c, d, j] over the c on one side of i + shift; with
 * the running dimension last where `last`. */
static kernel *scan(reducer r, dtype t, fn compare, bool swap, bool last,
		    int n, int shift)
{
	kernel *k = begin("scan", r, t);
	kexpr *j = last ? add_var(k, "j", KVAR_OUTPUT, 5) : NULL;
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, n);
	j = j ? j : add_var(k, "j", KVAR_OUTPUT, 70);
	kexpr *c = add_var(k, "c", KVAR_REDUCE, n);
	kexpr *d = add_var(k, "d", KVAR_REDUCE, 2);
	int x = add_input(k, "x", t, 3, n, 2, last ? 5 : 70);
	kexpr *to = add(i, num(shift));
	kexpr *when = swap ? kx_fn2(mem, compare, to, c)
			   : kx_fn2(mem, compare, c, to);
	k->body = kx_select(mem, when, READ(k, x, NULL, c, d, j),
			    nothing(r, t));
	return k;
}

START_TEST(scans)
{
	static const dtype types[] = {DT_F32, DT_BF16, DT_I8};
	static const fn compare[] = {FN_LE, FN_LT, FN_GE, FN_GT};
	kernels all = {0};
	for (int t = 0; t < 3; t++)
		for (int f = 0; f < 4; f++)
			for (int way = 0; way < 4; way++)
				vec_push(mem, &all,
					 scan(way ? RED_SUM : RED_MAX, types[t],
					      compare[f], way & 1, way & 2, 19,
					      (int)pick(-3, 4)));
	for (int n = 0; n < 3; n++)
		vec_push(mem, &all,
			 scan(RED_SUM, DT_F32, FN_LE, false, true, n, 0));
	check_all(&all);
}
END_TEST

/* ---- large extents ------------------------------------------------------ */

/* out[j] = reduction of x[i, j, k] over i and k. */
static kernel *reduce_around(reducer r, dtype t, int i, int j, int k)
{
	kernel *x = begin("reduce", r, t);
	kexpr *b = add_var(x, "j", KVAR_OUTPUT, j);
	kexpr *a = add_var(x, "i", KVAR_REDUCE, i);
	kexpr *c = add_var(x, "k", KVAR_REDUCE, k);
	int in = add_input(x, "x", t, 3, i, j, k);
	x->body = READ(x, in, NULL, a, b, c);
	return x;
}

/* out[b, j, i] = 2 x[b, i, j] + y[j, i] */
static kernel *turned(dtype t, int b, int i, int j)
{
	kernel *k = begin("turned", RED_NONE, t);
	kexpr *u = add_var(k, "b", KVAR_OUTPUT, b);
	kexpr *v = add_var(k, "j", KVAR_OUTPUT, j);
	kexpr *w = add_var(k, "i", KVAR_OUTPUT, i);
	int x = add_input(k, "x", t, 3, b, i, j);
	int y = add_input(k, "y", t, 2, j, i);
	k->body = add(mul(constant(t, 2), READ(k, x, NULL, u, w, v)),
		      READ(k, y, NULL, v, w));
	return k;
}

/* Schedules that only large extents have. */
START_TEST(large)
{
	const int n = built_products();
	static const dtype types[] = {DT_F32, DT_BF16, DT_U8, DT_F64};
	static const fn compare[] = {FN_LE, FN_LT, FN_GE, FN_GT};
	kernels all = {0};
	for (int t = 0; t < 4; t++) {
		vec_push(mem, &all, reduce_around(RED_SUM, types[t], 9, 5, 64));
		vec_push(mem, &all, reduce_around(RED_MAX, types[t], 3, 4,
						  1024));
		vec_push(mem, &all, reduce_first(RED_SUM, types[t], 90, 600));
		vec_push(mem, &all, reduce_first(RED_MIN, types[t], 40, 3000));
		vec_push(mem, &all, reduce_first(RED_ARGMAX, types[t], 90, 70));
		vec_push(mem, &all, reduce_last(RED_ARGMIN, types[t], 3, 3000));
		vec_push(mem, &all, reduce_last(RED_ARGMAX, types[t], 90, 40));
		vec_push(mem, &all, turned(types[t], 2, 45, 70));
		for (int way = 0; way < 4; way++)
			vec_push(mem, &all,
				 scan(way & 1 ? RED_SUM : RED_MAX,
				      t == 2 ? DT_I8 : types[t],
				      compare[(t + way) % 4], way & 1, way & 2,
				      600, (int)pick(-300, 300)));
	}
	vec_push(mem, &all, scatter(RED_SUM, DT_F32, 0, 3000, 9));
	vec_push(mem, &all, scatter(RED_MAX, DT_I64, 2, 2000, 9));
	vec_push(mem, &all, matmul(n, 97, 98, 5, false, true, DT_F32));
	vec_push(mem, &all, matmul(1, 32, 17, 260, false, false, DT_F32));
	vec_push(mem, &all, matmul(1, 32, 49, 260, true, true, DT_F32));
	vec_push(mem, &all, matmul(n, 96, 100, 9, true, false, DT_BF16));
	check_all(&all);
}
END_TEST

/* Factors that tensor cores take from where they are copied to, in pieces of 16
 * bytes along the depth or across it; tiles of 64 and of 128. */
START_TEST(copied_factors)
{
	const int n = built_products();
	kernels all = {0};
	for (int way = 0; way < 4; way++)
		vec_push(mem, &all,
			 matmul(2, 40, 72, 72, way & 1, way & 2, DT_F16));
	vec_push(mem, &all, matmul(n, 96, 104, 8, false, false, DT_BF16));
	vec_push(mem, &all, matmul(n, 96, 104, 8, true, true, DT_BF16));
	check_all(&all);
}
END_TEST

/* Exponents that have a text of their own, and others. */
START_TEST(powers)
{
	static const double of[] = { 2, 3, -1, 0.5 };
	static const dtype types[] = { DT_F32, DT_BF16, DT_F64 };
	kernels all = {0};
	for (int t = 0; t < 3; t++)
		for (int n = 0; n < 4; n++) {
			kernel *k = begin("power", RED_NONE, types[t]);
			kexpr *i = add_var(k, "i", KVAR_OUTPUT, 150);
			int x = add_input(k, "x", types[t], 1, 150);
			k->body = kx_fn2(mem, FN_POW, READ(k, x, NULL, i),
					 constant(types[t], of[n]));
			vec_push(mem, &all, k);
		}
	check_all(&all);
}
END_TEST

START_TEST(schedules)
{
	for (int variant = 0; variant < 5; variant++)
		ck_assert_int_eq(
			schedule_of(scatter(RED_SUM, DT_F32, variant, 13, 9))
				.kind,
			SCHEDULE_SCATTER);
	ck_assert_int_eq(schedule_of(last_writer(RED_MAX, 9)).kind,
			 SCHEDULE_SCATTER);
	/* Sums in bf16 would be rounded after each term. */
	ck_assert_int_ne(schedule_of(scatter(RED_SUM, DT_BF16, 0, 13, 9)).kind,
			 SCHEDULE_SCATTER);
	ck_assert_int_eq(schedule_of(one_hot(true)).kind, SCHEDULE_SCATTER);
	ck_assert_int_ne(schedule_of(one_hot(false)).kind, SCHEDULE_SCATTER);
	for (int way = 0; way < 4; way++)
		ck_assert_int_eq(schedule_of(scan(RED_MAX, DT_BF16, FN_GT,
						  way & 1, way & 2, 19, 1))
					 .kind,
				 SCHEDULE_SCAN);
}
END_TEST

/* Whether the columns of a product of m x n elements are its rows in C. */
static bool swaps(int m, int n, int terms)
{
	kernel *k = matmul(1, m, n, terms, false, true, DT_F32);
	kernel_finish(mem, k);
	schedule s = schedule_of(k), filled = s;
	schedule_fill(&filled);
	ck_assert_int_eq(s.kind, SCHEDULE_PRODUCT);
	ck_assert(filled.cols == (filled.rows == s.rows ? s.cols : s.rows));
	return filled.rows != s.rows;
}

/* 49 columns leave 15 of 64 idle. */
START_TEST(filled_tiles)
{
	ck_assert(swaps(64, 49, 256));
	ck_assert(swaps(32, 17, 256));
	ck_assert(!swaps(64, 49, 200));
	ck_assert(!swaps(64, 48, 256));
	ck_assert(!swaps(64, 196, 256));
	ck_assert(!swaps(49, 49, 256));
}
END_TEST

/* ---- random kernels ---------------------------------------------------- */

/* A random affine index; *lo and *hi become its range. */
static kexpr *random_index(const kernel *k, int64_t *lo, int64_t *hi)
{
	int64_t c = pick(0, 4);
	kexpr *e = num(c);
	*lo = *hi = c;
	for (int terms = (int)pick(0, 3); terms > 0; terms--) {
		int v = (int)pick(0, k->nvars);
		int64_t by = pick(-2, 4), last = k->vars[v].extent - 1;
		if (k->vars[v].extent == 0)
			last = 0;
		e = add(e, mul(num(by), kx_var(mem, v)));
		*lo += by < 0 ? by * last : 0;
		*hi += by < 0 ? 0 : by * last;
	}
	return e;
}

static kexpr *random_read(kernel *k, dtype t)
{
	kexpr *at[MAX_NDIM], *other = NULL;
	kinput *in = &k->inputs[k->ninputs];
	bool with_guard = pick(0, 2);
	/* The last begin like names that the text around has. */
	static const char *const names[] = {"x", "y", "index", "interval"};
	*in = (kinput){.name = names[pick(0, 4)],
		       .type = t,
		       .ndim = (int)pick(1, 4)};
	for (int d = 0; d < in->ndim; d++) {
		int64_t lo, hi;
		at[d] = random_index(k, &lo, &hi);
		if (lo < 0) {
			at[d] = add(at[d], num(-lo));
			hi -= lo;
		}
		in->dims[d] = hi + 1;
		if (with_guard && pick(0, 2)) {
			in->dims[d] = pick(0, hi + 2);
			at[d] = sub(at[d], num(pick(0, 3)));
		}
		at[d] = kx_simplify(mem, at[d], k->vars);
	}
	if (with_guard)
		other = constant(t, (double)pick(0, 3));
	return kx_read(mem, k->ninputs++, t, in->ndim, at, other);
}

static kexpr *random_expr(kernel *k, dtype t, int depth)
{
	static const fn fns[] = {FN_ADD, FN_SUB, FN_MUL, FN_MIN, FN_MAX};
	if (depth == 0 || pick(0, 4) == 0)
		return k->ninputs < 6 ? random_read(k, t) : constant(t, 2);
	if (pick(0, 6) == 0)
		return kx_select(mem,
				 kx_fn2(mem, FN_LT,
					kx_var(mem, (int)pick(0, k->nvars)),
					num(pick(0, 9))),
				 random_expr(k, t, depth - 1),
				 random_expr(k, t, depth - 1));
	return kx_fn2(mem, fns[pick(0, 5)], random_expr(k, t, depth - 1),
		      random_expr(k, t, depth - 1));
}

static kernel *random_kernel(int unused)
{
	static const dtype types[] = {DT_F64, DT_F64, DT_I32, DT_I64, DT_U8};
	static const char *const names[] = {"i", "j", "n", "to", "x", "d.1"};
	dtype t = types[pick(0, 5)];
	reducer r = (reducer)pick(RED_NONE, RED_MIN + 1);
	(void)unused;
	if (r == RED_PROD)
		r = RED_SUM;
	kernel *k = begin("random", r, t);
	int nout = (int)pick(0, 4), nreduce = r ? (int)pick(1, 4) : 0;
	for (int v = 0; v < nout + nreduce || v == 0; v++)
		add_var(k, names[v % 6],
			v < nout || !nreduce ? KVAR_OUTPUT : KVAR_REDUCE,
			pick(0, 12) ? pick(1, 9) : 0);
	k->body = r == RED_SUM && pick(0, 2)
			  ? mul(random_read(k, t), random_read(k, t))
			  : random_expr(k, t, 3);
	return k;
}

/* Neither the result nor an input in whose place it may lie is `restrict`: the
 * two would be one object. */
START_TEST(in_place)
{
	kernel *k = begin("add", RED_NONE, DT_F32);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, 40);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, 50);
	int x = add_input(k, "x", DT_F32, 2, 40, 50);
	int bias = add_input(k, "bias", DT_F32, 1, 50);
	k->body = add(READ(k, x, NULL, i, j), READ(k, bias, NULL, j));
	kernel_finish(mem, k);
	const char *c = codegen_c(mem, k);
	ck_assert_ptr_nonnull(strstr(c, "const float *x ="));
	ck_assert_ptr_nonnull(strstr(c, "const float *restrict bias ="));
	ck_assert_ptr_nonnull(strstr(c, "\tfloat *out ="));
	k->body = add(READ(k, x, NULL, i, sub(num(49), j)),
		      READ(k, bias, NULL, j));
	kernel_finish(mem, k);
	c = codegen_c(mem, k);
	ck_assert_ptr_nonnull(strstr(c, "const float *restrict x ="));
	ck_assert_ptr_nonnull(strstr(c, "\tfloat *restrict out ="));
}
END_TEST

/* ---- nested calls -------------------------------------------------------- */

/* Whether calls of f with arguments of type t nest. */
static bool nests(fn f, dtype t)
{
	dtype r = fn_gives_bool(f) ? DT_BOOL : t;
	return r == t && fn_takes(f, t) &&
	       (fn_table[f].rule != FN_INTEGER || dtype_is_int(t));
}

/* out[i] = f(f(.., x[i]), x[i]), or f(x[i], f(x[i], ..)). */
static kernel *nested(fn f, dtype t, int depth, bool left)
{
	kernel *k = begin("nested", RED_NONE, t);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, 5);
	int x = add_input(k, "x", t, 1, 5);
	k->body = READ(k, x, NULL, i);
	for (int d = 0; d < depth; d++) {
		kexpr *more = READ(k, x, NULL, i);
		k->body = fn_nargs(f) == 1 ? kx_fn1(mem, f, k->body)
			  : left ? kx_fn2(mem, f, k->body, more)
				 : kx_fn2(mem, f, more, k->body);
	}
	return k;
}

static size_t text_length(const kernel *k)
{
	kernel_finish(mem, (kernel *)k);
	plan_launch launch;
	return strlen(codegen_c(mem, k)) +
	       strlen(codegen_cuda(mem, k, &launch));
}

/* The text of a call has that of each argument once: the text grows with the
 * depth, and not as a power of it. */
static void check_nested_text(fn f, dtype t)
{
	for (int left = 0; nests(f, t) && left < 2; left++) {
		size_t one = text_length(nested(f, t, 1, left));
		size_t ten = text_length(nested(f, t, 10, left));
		ck_assert_msg(ten < one + 10 * 400, "%s of %s: %zu, then %zu",
			      fn_name(f), dtype_name(t), one, ten);
		text_length(nested(f, t, 40, left));
	}
}

START_TEST(nested_text)
{
	for (int t = 0; t < DT_COUNT; t++)
		check_nested_text((fn)_i, (dtype)t);
}
END_TEST

/* The functions that need an argument twice are those of include/tdl. */
START_TEST(nested_values)
{
	static const fn fns[] = { FN_MIN, FN_MAX, FN_ABS, FN_SIGN, FN_SINPI };
	static const dtype types[] = { DT_F64, DT_F32, DT_I64, DT_I32, DT_I8,
				       DT_U64, DT_U32, DT_U8, DT_I4 };
	kernels all = {0};
	for (size_t f = 0; f < sizeof(fns) / sizeof(*fns); f++)
		for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
			for (int depth = 1; depth <= 40; depth += 39)
				if (fns[f] != FN_SINPI ||
				    (dtype_is_float(types[t]) && depth == 1))
					vec_push(mem, &all,
						 nested(fns[f], types[t],
							depth, depth > 1));
	check_all(&all);
}
END_TEST

START_TEST(random_kernels)
{
	check_drawn(80, random_kernel);
}
END_TEST

/* A factor of a random product: a tensor over n of its variables, in a random
 * order, read once. */
static kexpr *random_factor(kernel *k, dtype t, const int *vars, int n)
{
	kexpr *at[4];
	int order[4];
	kinput *in = &k->inputs[k->ninputs];
	*in = (kinput){.name = k->ninputs ? "y" : "x", .type = t, .ndim = n};
	for (int d = 0; d < n; d++) {
		int to = (int)pick(0, d + 1);
		order[d] = order[to];
		order[to] = vars[d];
	}
	for (int d = 0; d < n; d++) {
		in->dims[d] = k->vars[order[d]].extent;
		at[d] = kx_var(mem, order[d]);
	}
	return kx_read(mem, k->ninputs++, t, n, at, NULL);
}

/* out[i, j, l] = Sum(d, e) x[i, d, e] * y[j, l, d, e], with dimensions in
 * random orders: as tiles read them where they can become one, or not.  Some
 * extents are none or one, some more than a tile has; the depth may be more
 * than a block has. */
static kernel *random_product(int unused)
{
	static const dtype types[] = {DT_F32, DT_F32, DT_F64, DT_I64};
	static const int64_t extents[5][3] = {
		{1, 13, 26}, {1, 2, 3}, {1, 33, 70}, {1, 5, 20}, {0, 7, 13},
	};
	static const char *const names[] = {"i", "j", "l", "d", "e"};
	dtype t = types[pick(0, 4)];
	kernel *k = begin("product", RED_SUM, t);
	(void)unused;
	for (int v = 0; v < 5; v++)
		add_var(k, names[v], v < 3 ? KVAR_OUTPUT : KVAR_REDUCE,
			extents[v][pick(0, 12) ? pick(1, 3) : 0]);
	kexpr *x = random_factor(k, t, (const int[]){0, 3, 4}, 3);
	k->body = mul(x, random_factor(k, t, (const int[]){1, 2, 3, 4}, 4));
	return k;
}

START_TEST(random_products)
{
	check_drawn(24, random_product);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("codegen");
	TCase *c = kernel_case(s, "codegen");
	add_kinds_of_kernels(c);
	tcase_add_test(c, schedules);
	tcase_add_test(c, filled_tiles);
	tcase_add_test(c, scatters);
	tcase_add_test(c, scans);
	tcase_add_test(c, large);
	tcase_add_test(c, powers);
	tcase_add_test(c, in_place);
	tcase_add_loop_test(c, nested_text, 0, FN_COUNT);
	tcase_add_test(c, nested_values);
	tcase_add_test(c, random_kernels);
	c = kernel_case(s, "products");
	tcase_add_test(c, random_products);
	c = kernel_case(s, "copies");
	tcase_add_test(c, copied_factors);
	return s;
}
