/* Tests: compiler/codegen */
/* Reductions of few terms that are read in windows, and products with a factor
 * that is, and what gradients of these are, against the interpreter. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/schedule.h"
#include "tests/unit/check_kernel.h"
#include "tests/unit/suite.h"

/* An index that a loop of the result moves in steps, and one that reduces: back
 * or forth, from before the input or from within it. */
static kexpr *random_place(kexpr *out, kexpr *reduced)
{
	kexpr *x = mul(num(pick(1, 4)), out);
	kexpr *y = mul(num(pick(0, 4) ? pick(1, 4) : -1), reduced);
	return add(add(x, y), num(pick(-4, 3)));
}

/* out[n, i, j] = Sum(r, s) (x[n, i + r, j + s] else c) * w[n, r, s], or without
 * w, with steps of all kinds; or the largest of them. */
static kernel *random_window(void)
{
	static const int64_t extents[5][4] = {
		{1, 2, 3, 5}, {1, 3, 17, 40}, {7, 31, 130, 700},
		{1, 2, 3, 5}, {1, 2, 3, 7},
	};
	static const char *const names[] = {"n", "i", "j", "r", "s"};
	dtype t = pick(0, 3) ? DT_F32 : DT_F64;
	bool weighted = pick(0, 3);
	kernel *k = begin("window", weighted || pick(0, 2) ? RED_SUM : RED_MAX,
			  t);
	kexpr *v[5];
	for (int i = 0; i < 5; i++)
		v[i] = add_var(k, names[i], i < 3 ? KVAR_OUTPUT : KVAR_REDUCE,
			       pick(0, 40) ? extents[i][pick(0, 4)] : 0);
	add_input(k, "x", t, 3, (int)k->vars[0].extent,
		  (int)k->vars[1].extent + (int)pick(0, 4),
		  (int)k->vars[2].extent + (int)pick(0, 9));
	k->body = READ(k, 0, constant(t, pick(0, 3) ? 0 : -1), v[0],
		       random_place(v[1], v[3]), random_place(v[2], v[4]));
	if (!weighted)
		return k;
	add_input(k, "w", t, 3, (int)k->vars[0].extent,
		  (int)k->vars[3].extent, (int)k->vars[4].extent);
	k->body = mul(k->body, READ(k, 1, NULL, v[0], v[3], v[4]));
	return k;
}

/* out[n, i, j] = Sum(r, s) (if r < c then x[n, i + r, j + s] * w[r, s] else 0),
 * with steps, of an input that has what is read, and no more. */
static kernel *random_condition(void)
{
	bool far = !pick(0, 3); /* what is not there is in other memory, too */
	int64_t rows = far ? 1 : pick(1, 20), cols = far ? 30000 : pick(1, 60);
	int64_t reach = far ? 60 : pick(2, 8), some = pick(1, far ? 3 : reach);
	int64_t width = far ? 1 : pick(1, 5), depth = far ? 1 : 3;
	int64_t a = pick(1, 3), b = far ? 3 : pick(1, 3);
	dtype t = pick(0, 2) ? DT_F32 : DT_F64;
	kernel *k = begin("condition", RED_SUM, t);
	kexpr *n = add_var(k, "n", KVAR_OUTPUT, depth);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, rows);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, cols);
	kexpr *r = add_var(k, "r", KVAR_REDUCE, reach);
	kexpr *s = add_var(k, "s", KVAR_REDUCE, width);
	add_input(k, "x", t, 3, (int)depth, (int)(a * (rows - 1) + some),
		  (int)(b * (cols - 1) + width));
	add_input(k, "w", t, 2, (int)reach, (int)width);
	kexpr *x = READ(k, 0, NULL, n, add(mul(num(a), i), r),
			add(mul(num(b), j), s));
	k->body = kx_select(mem, kx_fn2(mem, FN_LT, r, num(some)),
			    mul(x, READ(k, 1, NULL, r, s)), constant(t, 0));
	return k;
}

/* An index of a window whose loop of the result goes on in steps. */
static kexpr *even_place(kexpr *out, kexpr *reduced)
{
	int64_t step = pick(0, 2) ? 1 : pick(1, 4);
	int64_t term = pick(0, 4) ? pick(1, 4) : -1;
	return add(add(mul(num(step), out), mul(num(term), reduced)),
		   num(pick(-4, 3)));
}

/* out[n, k, i, j] = Sum(c, r, s) (x[n, c, i + r, j + s] else e) *
 * w[k, c, r, s], with steps of all kinds, without i and r, and with k behind;
 * images smaller and larger than tiles, and more terms than a block has. */
static kernel *random_convolution(void)
{
	static const int64_t extents[7][4] = {
		{1, 2, 3, 1}, {4, 13, 96, 32}, {3, 7, 9, 20},
		{5, 18, 41, 130}, {4, 9, 40, 80}, {1, 2, 3, 5}, {3, 2, 3, 5},
	};
	static const char *const names[] = {"n", "k", "i", "j", "c", "r", "s"};
	dtype t = pick(0, 4) ? DT_F32 : DT_F64;
	bool last = !pick(0, 4), flat = !pick(0, 4);
	kernel *k = begin("conv", RED_SUM, t);
	kexpr *v[7];
	for (int i = 0; i < 7; i++) {
		int at = !last || i < 1 || i > 3 ? i : i < 3 ? i + 1 : 1;
		int64_t n = pick(0, 80) ? extents[at][pick(0, 4)] : 0;
		v[at] = add_var(k, names[at],
				i < 4 ? KVAR_OUTPUT : KVAR_REDUCE,
				flat && (at == 2 || at == 5) ? 1 : n);
	}
	add_input(k, "x", t, 4, (int)k->vars[0].extent,
		  (int)k->vars[4].extent,
		  (int)k->vars[last ? 1 : 2].extent + (int)pick(0, 4),
		  (int)k->vars[last ? 2 : 3].extent + (int)pick(0, 9));
	add_input(k, "w", t, 4, (int)k->vars[last ? 3 : 1].extent,
		  (int)k->vars[4].extent, (int)k->vars[5].extent,
		  (int)k->vars[6].extent);
	k->body = mul(READ(k, 0, constant(t, pick(0, 3) ? 0 : 2), v[0], v[4],
			   even_place(v[2], v[5]), even_place(v[3], v[6])),
		      READ(k, 1, NULL, v[1], v[4], v[5], v[6]));
	return k;
}

/* The same of small images, whose elements are rows, and without r and s. */
static kernel *random_small(void)
{
	static const char *const names[] = {"n", "k", "i", "j", "c", "r", "s"};
	const dtype t = pick(0, 4) ? DT_F32 : DT_F64;
	const int64_t terms = pick(0, 3) ? pick(2, 4) : 1;
	const int64_t extents[] = { pick(1, 3), 16 * pick(1, 4),
				    3 + 2 * pick(1, 3), 3 + 2 * pick(1, 3),
				    pick(65, 300), terms, terms };
	kernel *k = begin("small", RED_SUM, t);
	kexpr *v[7];
	for (int i = 0; i < 7; i++)
		v[i] = add_var(k, names[i], i < 4 ? KVAR_OUTPUT : KVAR_REDUCE,
			       extents[i]);
	int64_t by = terms == 1 ? pick(1, 4) : pick(1, 3);
	add_input(k, "x", t, 4, (int)extents[0], (int)extents[4],
		  (int)(by * extents[2]), (int)(by * extents[3]));
	add_input(k, "w", t, 4, (int)extents[1], (int)extents[4], (int)terms,
		  (int)terms);
	kexpr *at[2];
	for (int i = 0; i < 2; i++)
		at[i] = sub(add(mul(num(by), v[2 + i]), v[5 + i]),
			    num(terms / 2));
	k->body = mul(READ(k, 0, constant(t, 0), v[0], v[4], at[0], at[1]),
		      READ(k, 1, NULL, v[1], v[4], v[5], v[6]));
	return k;
}

/* (a * out + b * reduced + c) / by, and that it is even: *when, and what was
 * there. */
static kexpr *turned_place(kexpr *out, kexpr *reduced, kexpr **when)
{
	kexpr *by = num(pick(2, 5));
	int64_t a = pick(0, 6) ? 1 : pick(2, 4);
	int64_t b = pick(0, 2) ? -1 : pick(0, 2) ? pick(-4, -1) : pick(1, 3);
	kexpr *x = add(add(mul(num(a), out), mul(num(b), reduced)),
		       num(pick(-3, 4)));
	kexpr *even = kx_fn2(mem, FN_EQ, kx_fn2(mem, FN_MOD, x, by), num(0));
	*when = *when ? kx_fn2(mem, FN_AND, *when, even) : even;
	return kx_fn2(mem, FN_DIV, x, by);
}

/* out[n, i, k, j] = Sum(c, r, s) (if (i - r) % 2 == 0 and (j - s) % 2 == 0
 *	then (x[n, c, (i - r) / 2, (j - s) / 2] else 0) else 0) * w[c, k, r, s],
 * with other numbers, of both indices or one, and with infinite weights. */
static kernel *random_turns(void)
{
	static const int64_t extents[7][4] = {
		{1, 2, 2, 1}, {5, 9, 16, 1}, {4, 13, 20, 32}, {5, 7, 30, 90},
		{4, 9, 30, 64}, {1, 2, 3, 4}, {1, 2, 3, 5},
	};
	static const char *const names[] = {"n", "i", "k", "j", "c", "r", "s"};
	dtype t = pick(0, 4) ? DT_F32 : DT_F64;
	bool behind = pick(0, 2);
	kernel *k = begin("turns", RED_SUM, t);
	kexpr *v[7], *when = NULL, *at[2];
	for (int i = 0; i < 7; i++) {
		int l = behind || i < 2 || i > 3 ? i : 5 - i;
		v[l] = add_var(k, names[l], i < 4 ? KVAR_OUTPUT : KVAR_REDUCE,
			       pick(0, 60) ? extents[l][pick(0, 4)] : 0);
	}
	add_input(k, "x", t, 4, (int)k->vars[0].extent,
		  (int)k->vars[4].extent, (int)k->vars[1].extent / 2 + 1,
		  (int)k->vars[behind ? 3 : 2].extent / 2 + (int)pick(0, 3));
	add_input(k, pick(0, 4) ? "w" : "infinite", t, 4,
		  (int)k->vars[4].extent, (int)k->vars[behind ? 2 : 3].extent,
		  (int)k->vars[5].extent, (int)k->vars[6].extent);
	at[0] = pick(0, 4) ? turned_place(v[1], v[5], &when)
			   : even_place(v[1], v[5]);
	at[1] = turned_place(v[3], v[6], &when);
	k->body = mul(kx_select(mem, when,
				READ(k, 0, constant(t, 0), v[0], v[4], at[0],
				     at[1]),
				constant(t, 0)),
		      READ(k, 1, NULL, v[4], v[2], v[5], v[6]));
	return k;
}

/* Variables of small extents, or of these; the first `nout' are the
 * result's. */
static void add_vars(kernel *k, kexpr **v, int n, int nout,
		     const int64_t (*extents)[4])
{
	static const char *const names[] = {"n", "i", "j", "r", "s", "t"};
	for (int i = 0; i < n; i++)
		v[i] = add_var(k, names[i],
			       i < nout ? KVAR_OUTPUT : KVAR_REDUCE,
			       pick(0, 40) ? extents[i][pick(0, 4)] : 0);
}

/* out[n, i, j] = Sum(r, s) if (i - r) % 2 == 0 and (j - s) % 2 == 0 and
 *	at[n, (i - r) / 2, (j - s) / 2] == 3 * r + s then x[the same] else 0,
 * with other numbers; or, without at, times w[n, r, s], which may be
 * infinite. */
static kernel *random_parted(bool weighted)
{
	static const int64_t extents[5][4] = {
		{1, 2, 3, 40}, {1, 4, 17, 40}, {7, 31, 130, 300},
		{1, 2, 3, 5}, {1, 2, 3, 4},
	};
	dtype t = pick(0, 4) ? DT_F32 : DT_F64;
	bool greatest = !weighted && !pick(0, 3);
	kexpr *v[5], *when = NULL, *at[2], *nothing;
	kernel *k = begin("parted", greatest ? RED_MAX : RED_SUM, t);
	add_vars(k, v, 5, 3, extents);
	int64_t n = k->vars[0].extent, h = k->vars[1].extent / 2 + 1;
	int64_t w = k->vars[2].extent / 2 + pick(0, 3);
	add_input(k, "x", t, 3, (int)n, (int)h, (int)w);
	nothing = constant(t, greatest ? -INFINITY : 0);
	at[0] = pick(0, 4) ? turned_place(v[1], v[3], &when)
			   : even_place(v[1], v[3]);
	at[1] = turned_place(v[2], v[4], &when);
	if (weighted) {
		add_input(k, pick(0, 4) ? "w" : "infinite", t, 3, (int)n,
			  (int)k->vars[3].extent, (int)k->vars[4].extent);
	} else {
		int a = add_input(k, "at", DT_I64, 3, (int)n, (int)h, (int)w);
		kexpr *which = add(mul(num(3), v[3]), v[4]);
		when = kx_fn2(mem, FN_AND, when,
			      kx_fn2(mem, FN_EQ, which,
				     READ(k, a, num(0), v[0], at[0], at[1])));
	}
	k->body = kx_select(mem, when,
			    READ(k, 0, nothing, v[0], at[0], at[1]), nothing);
	if (weighted)
		k->body = mul(k->body, READ(k, 1, NULL, v[0], v[3], v[4]));
	return k;
}

/* out[n, i, j] = Sum(r, s, t) y[r, n, s, t] * x[r, n, s + i, t + j], with
 * steps: few elements, of many terms. */
static kernel *random_few(void)
{
	static const int64_t extents[6][4] = {
		{1, 2, 3, 5}, {1, 2, 3, 5}, {1, 2, 3, 9},
		{1, 2, 3, 4}, {1, 9, 20, 33}, {7, 16, 56, 130},
	};
	dtype t = pick(0, 4) ? DT_F32 : DT_F64;
	kexpr *v[6];
	kernel *k = begin("few", RED_SUM, t);
	add_vars(k, v, 6, 3, extents);
	add_input(k, "y", t, 4, (int)k->vars[3].extent,
		  (int)k->vars[0].extent, (int)k->vars[4].extent,
		  (int)k->vars[5].extent);
	add_input(k, "x", t, 4, (int)k->vars[3].extent,
		  (int)k->vars[0].extent, (int)k->vars[4].extent + 1,
		  (int)k->vars[5].extent + 2);
	k->body = mul(READ(k, 0, NULL, v[3], v[0], v[4], v[5]),
		      READ(k, 1, constant(t, 0), v[3], v[0],
			   even_place(v[4], v[1]), even_place(v[5], v[2])));
	return k;
}

/* out[n, i, j] = Min(r, s) if (x[n, i + r, j + s] else -inf) == y[n, i, j]
 * then 3 * r + s else a great number; or the sum of their differences. */
static kernel *random_compared(void)
{
	static const int64_t extents[5][4] = {
		{1, 2, 3, 5}, {1, 3, 17, 40}, {7, 31, 130, 600},
		{1, 2, 3, 5}, {1, 2, 3, 7},
	};
	dtype t = pick(0, 4) ? DT_F32 : DT_F64;
	bool chosen = pick(0, 3);
	kexpr *v[5];
	kernel *k = begin("compared", chosen ? RED_MIN : RED_SUM,
			  chosen ? DT_I64 : t);
	add_vars(k, v, 5, 3, extents);
	add_input(k, "x", t, 3, (int)k->vars[0].extent,
		  (int)k->vars[1].extent + (int)pick(0, 4),
		  (int)k->vars[2].extent + (int)pick(0, 9));
	add_input(k, "y", t, 3, (int)k->vars[0].extent,
		  (int)k->vars[1].extent, (int)k->vars[2].extent);
	kexpr *x = READ(k, 0, constant(t, chosen ? -INFINITY : 0), v[0],
			random_place(v[1], v[3]), random_place(v[2], v[4]));
	kexpr *y = READ(k, 1, NULL, v[0], v[1], v[2]);
	k->body = !chosen ? sub(x, y)
			  : kx_select(mem,
				      kx_fn2(mem, pick(0, 2) ? FN_EQ : FN_LT, x,
					     y),
				      add(mul(num(3), v[3]), v[4]),
				      kx_int(mem, INT64_MAX, DT_I64));
	return k;
}

START_TEST(random_parts)
{
	kernels all = {0};
	int apart = 0;
	for (int i = 0; i < 24; i++) {
		kernel *k = i % 4 < 2	? random_parted(i % 4 == 1)
			    : i % 4 < 3 ? random_few()
					: random_compared();
		apart += strstr(codegen_c(mem, k), "(every)") != NULL;
		vec_push(mem, &all, k);
	}
	ck_assert_int_ge(apart, 5);
	check_all(&all);
}
END_TEST

START_TEST(random_classes)
{
	kernels all = {0};
	int turned = 0;
	for (int i = 0; i < 16; i++) {
		kernel *k = random_turns();
		schedule s = schedule_of(k);
		schedule_turn(&s);
		turned += s.kind == SCHEDULE_PRODUCT && s.nturns > 0;
		vec_push(mem, &all, k);
	}
	ck_assert_int_ge(turned, 4);
	check_all(&all);
}
END_TEST

START_TEST(random_convolutions)
{
	kernels all = {0};
	int planes = 0;
	for (int i = 0; i < 16; i++) {
		kernel *k = random_convolution();
		kernel_finish(mem, k);
		planes += strstr(codegen_c(mem, k), "tdl_planes_") != NULL;
		vec_push(mem, &all, k);
	}
	ck_assert_int_ge(planes, 6);
	check_all(&all);
}
END_TEST

/* out[n, k, i, j] = Sum(c) (if i % 2 == 0 and j % 2 == 0 then x[n, c, i / 2,
 * j / 2] else 0) * w[c, k]. */
static kernel *lone_turns(int n, int i, int k, int j, int c)
{
	kexpr *when = NULL, *two = num(2), *at[2];
	kernel *to = begin("lone", RED_SUM, DT_F32);
	kexpr *v[] = { add_var(to, "n", KVAR_OUTPUT, n),
		       add_var(to, "k", KVAR_OUTPUT, k),
		       add_var(to, "i", KVAR_OUTPUT, i),
		       add_var(to, "j", KVAR_OUTPUT, j),
		       add_var(to, "c", KVAR_REDUCE, c) };
	for (int d = 0; d < 2; d++) {
		kexpr *even = kx_fn2(mem, FN_EQ,
				     kx_fn2(mem, FN_MOD, v[2 + d], two),
				     num(0));
		when = when ? kx_fn2(mem, FN_AND, when, even) : even;
		at[d] = kx_fn2(mem, FN_DIV, v[2 + d], two);
	}
	int x = add_input(to, "x", DT_F32, 4, n, c, (i + 1) / 2, (j + 1) / 2);
	int w = add_input(to, "w", DT_F32, 2, c, k);
	to->body = mul(kx_select(mem, when,
				 READ(to, x, NULL, v[0], v[4], at[0], at[1]),
				 constant(DT_F32, 0)),
		       READ(to, w, NULL, v[4], v[1]));
	return to;
}

/* The factor that goes in turns is read in a window; the other one, whose
 * elements lie beside each other, is not. */
START_TEST(lone_classes)
{
	kernels all = {0};
	vec_push(mem, &all, lone_turns(2, 13, 20, 30, 70));
	vec_push(mem, &all, lone_turns(3, 7, 64, 7, 260));
	for (int i = 0; i < all.n; i++) {
		kernel_finish(mem, all.at[i]);
		const char *c = codegen_c(mem, all.at[i]);
		const char *one = strstr(c, "planes = tdl_planes_");
		ck_assert_ptr_nonnull(one);
		ck_assert_ptr_null(strstr(one + 1, "planes = tdl_planes_"));
	}
	check_all(&all);
}
END_TEST

START_TEST(random_images)
{
	kernels all = {0};
	int rows = 0, steps = 0;
	for (int i = 0; i < 12; i++) {
		kernel *k = random_small();
		kernel_finish(mem, k);
		const char *c = codegen_c(mem, k);
		rows += strstr(c, "left.planes = tdl_planes_") != NULL;
		steps += k->vars[5].extent == 1 && strstr(c, "tdl_planes_");
		vec_push(mem, &all, k);
	}
	ck_assert_int_ge(rows, 2);
	ck_assert_int_ge(steps, 1);
	check_all(&all);
}
END_TEST

static kernel *window_or_condition(int i)
{
	return i % 4 ? random_window() : random_condition();
}

START_TEST(random_windows)
{
	check_drawn(24, window_or_condition);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("windows");
	TCase *c = kernel_case(s, "windows");
	tcase_add_test(c, random_windows);
	tcase_add_test(c, random_convolutions);
	tcase_add_test(c, random_images);
	tcase_add_test(c, lone_classes);
	tcase_add_test(c, random_classes);
	tcase_add_test(c, random_parts);
	return s;
}
