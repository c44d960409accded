/* Kernels of known kinds, as those of test_codegen.c. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "tests/unit/check_kernel.h"
#include "tests/unit/codegen_kinds.h"

typedef struct conv_shape {
	int n, c, h, w, k, r, s, stride, pad, dilation, groups;
} conv_shape;

static const conv_shape conv_shapes[] = {
	{1, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1},
	{2, 16, 7, 7, 13, 3, 3, 1, 1, 1, 1},
	{1, 8, 12, 15, 24, 1, 1, 1, 0, 1, 1},
	{1, 5, 23, 23, 9, 7, 7, 2, 3, 1, 1},
	{2, 12, 10, 9, 18, 3, 3, 2, 1, 1, 3},
	{1, 6, 11, 11, 12, 3, 3, 1, 2, 2, 2},
	{1, 24, 8, 8, 24, 3, 3, 1, 1, 1, 24}, /* depthwise */
	{3, 300, 5, 5, 40, 1, 1, 1, 0, 1, 1},
	{3, 20, 7, 9, 50, 1, 1, 1, 0, 1, 1},
	{1, 30, 9, 60, 8, 3, 3, 1, 1, 1, 1}, /* wide: rows at a time, .. */
	{2, 30, 4, 130, 8, 3, 3, 1, 1, 1, 1}, /* .. parts of rows */
	{1, 5, 5, 261, 6, 7, 7, 2, 3, 1, 1},
	{1, 40, 1, 1, 600, 3, 3, 1, 1, 1, 1},
	{2, 300, 28, 28, 20, 1, 1, 2, 0, 1, 1}, /* windows of an element */
	{3, 40, 9, 140, 24, 1, 1, 3, 0, 1, 1},
};

static kernel *conv(const conv_shape *s, dtype t)
{
	kernel *k = begin("conv", RED_SUM, t);
	int oh =
		(s->h + 2 * s->pad - s->dilation * (s->r - 1) - 1) / s->stride +
		1;
	int ow =
		(s->w + 2 * s->pad - s->dilation * (s->s - 1) - 1) / s->stride +
		1;
	int cg = s->c / s->groups, kg = s->k / s->groups;
	kexpr *n = add_var(k, "n", KVAR_OUTPUT, s->n);
	kexpr *f = add_var(k, "k", KVAR_OUTPUT, s->k);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, oh);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, ow);
	kexpr *c = add_var(k, "c", KVAR_REDUCE, cg);
	kexpr *r = add_var(k, "r", KVAR_REDUCE, s->r);
	kexpr *q = add_var(k, "s", KVAR_REDUCE, s->s);
	int x = add_input(k, "x", t, 4, s->n, s->c, s->h, s->w);
	int w = add_input(k, "w", t, 4, s->k, cg, s->r, s->s);
	kexpr *at =
		s->groups == 1
			? c
			: add(mul(kx_fn2(mem, FN_DIV, f, num(kg)), num(cg)), c);
	kexpr *y = sub(add(mul(num(s->stride), i), mul(num(s->dilation), r)),
		       num(s->pad));
	kexpr *z = sub(add(mul(num(s->stride), j), mul(num(s->dilation), q)),
		       num(s->pad));
	k->body = mul(READ(k, x, s->pad ? constant(t, 0) : NULL, n, at, y, z),
		      READ(k, w, NULL, f, c, r, q));
	return k;
}

START_TEST(convolutions)
{
	static const dtype types[] = {DT_F32, DT_F64, DT_BF16, DT_I32};
	kernels all = {0};
	for (size_t i = 0; i < sizeof(conv_shapes) / sizeof(*conv_shapes); i++)
		for (int t = 0; t < (i < 4 ? 4 : 1); t++)
			vec_push(mem, &all, conv(&conv_shapes[i], types[t]));
	check_all(&all);
}
END_TEST

kernel *matmul(int b, int m, int n, int kk, bool ta, bool tb, dtype t)
{
	kernel *k = begin("matmul", RED_SUM, t);
	kexpr *v = add_var(k, "b", KVAR_OUTPUT, b);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, m);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, n);
	kexpr *d = add_var(k, "k", KVAR_REDUCE, kk);
	int x = add_input(k, "a", t, 3, b, ta ? kk : m, ta ? m : kk);
	int y = add_input(k, "b", t, 3, b, tb ? n : kk, tb ? kk : n);
	k->body =
		mul(ta ? READ(k, x, NULL, v, d, i) : READ(k, x, NULL, v, i, d),
		    tb ? READ(k, y, NULL, v, j, d) : READ(k, y, NULL, v, d, j));
	return k;
}

START_TEST(products)
{
	static const int sizes[][4] = {
		{1, 1, 1, 1},	   {1, 5, 7, 3},     {2, 13, 33, 17},
		{1, 1, 100, 40},   {1, 100, 1, 300}, {3, 6, 8, 0},
		{1, 50, 300, 520}, {1, 520, 40, 30},
	};
	static const dtype types[] = {DT_F32, DT_F64, DT_F16, DT_I64,
				      DT_U64, DT_U8,  DT_I16};
	kernels all = {0};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int t = 0; t < 4; t++)
			vec_push(mem, &all,
				 matmul(sizes[i][0], sizes[i][1], sizes[i][2],
					sizes[i][3], t & 1, t & 2, DT_F32));
	for (size_t i = 1; i < sizeof(types) / sizeof(*types); i++)
		vec_push(mem, &all,
			 matmul(2, 9, 20, 31, false, true, types[i]));
	check_all(&all);
}
END_TEST

/* Pooling: a window is reduced, reads outside give the identity. */
static kernel *pool(reducer r, dtype t, int h, int w, int size, int stride,
		    int pad)
{
	kernel *k = begin("pool", r, t);
	kexpr *c = add_var(k, "c", KVAR_OUTPUT, 5);
	kexpr *i =
		add_var(k, "i", KVAR_OUTPUT, (h + 2 * pad - size) / stride + 1);
	kexpr *j =
		add_var(k, "j", KVAR_OUTPUT, (w + 2 * pad - size) / stride + 1);
	kexpr *y = add_var(k, "y", KVAR_REDUCE, size);
	kexpr *z = add_var(k, "z", KVAR_REDUCE, size);
	int x = add_input(k, "x", t, 3, 5, h, w);
	double other = r == RED_MAX ? -INFINITY : r == RED_MIN ? INFINITY : 0;
	kexpr *o =
		dtype_is_float(t) ? kx_float(mem, other, t) : kx_int(mem, 3, t);
	k->body = READ(k, x, o, c, sub(add(mul(num(stride), i), y), num(pad)),
		       sub(add(mul(num(stride), j), z), num(pad)));
	return k;
}

kernel *reduce_last(reducer r, dtype t, int rows, int cols)
{
	kernel *k = begin("reduce", r, r >= RED_ARGMAX ? DT_I64 : t);
	kexpr *i = rows ? add_var(k, "i", KVAR_OUTPUT, rows) : NULL;
	kexpr *j = add_var(k, "j", KVAR_REDUCE, cols);
	int x = rows ? add_input(k, "x", t, 2, rows, cols)
		     : add_input(k, "x", t, 1, cols);
	k->body = rows ? READ(k, x, NULL, i, j) : READ(k, x, NULL, j);
	return k;
}

/* The position of an extreme of what does not depend on it. */
static kernel *position_of_same(reducer r, int rows, int cols)
{
	kernel *k = reduce_last(r, DT_F32, rows, cols);
	k->inputs[0].ndim = 1;
	k->body = READ(k, 0, NULL, kx_var(mem, 0));
	return k;
}

START_TEST(reductions)
{
	kernels all = {0};
	vec_push(mem, &all, pool(RED_MAX, DT_F32, 13, 13, 3, 2, 1));
	vec_push(mem, &all, pool(RED_SUM, DT_F32, 8, 150, 3, 1, 1));
	vec_push(mem, &all, pool(RED_MIN, DT_F16, 9, 8, 2, 2, 0));
	vec_push(mem, &all, pool(RED_MAX, DT_I8, 7, 7, 3, 1, 1));
	for (int r = RED_SUM; r <= RED_ARGMIN; r++)
		for (int t = 0; t < DT_COUNT; t++) {
			if ((r == RED_AND || r == RED_OR) != (t == DT_BOOL) &&
			    r <= RED_OR)
				continue;
			vec_push(mem, &all,
				 reduce_last((reducer)r, (dtype)t, 7, 5));
			if (t == DT_F32 || t == DT_U8 || t >= DT_BOOL) {
				vec_push(mem, &all,
					 reduce_last((reducer)r, (dtype)t, 0,
						     1));
				vec_push(mem, &all,
					 reduce_last((reducer)r, (dtype)t, 90,
						     33));
				vec_push(mem, &all,
					 reduce_last((reducer)r, (dtype)t, 3,
						     0));
			}
		}
	for (int n = 0; n < 4; n++) {
		vec_push(mem, &all, position_of_same(RED_ARGMAX, 7, n));
		vec_push(mem, &all, position_of_same(RED_ARGMIN, 1, n));
	}
	check_all(&all);
}
END_TEST

kernel *reduce_first(reducer r, dtype t, int rows, int cols)
{
	kernel *k = begin("reduce", r, r >= RED_ARGMAX ? DT_I64 : t);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, cols);
	kexpr *i = add_var(k, "i", KVAR_REDUCE, rows);
	int x = add_input(k, "x", t, 2, rows, cols);
	k->body = READ(k, x, NULL, i, j);
	return k;
}

/* out[j] = sum over h and i of x[h, i, j] (y[h, i] - x[h, i, j]) */
static kernel *weighed_rows(dtype t, int h, int i, int j)
{
	kernel *k = begin("weighed", RED_SUM, t);
	kexpr *c = add_var(k, "j", KVAR_OUTPUT, j);
	kexpr *a = add_var(k, "h", KVAR_REDUCE, h);
	kexpr *b = add_var(k, "i", KVAR_REDUCE, i);
	int x = add_input(k, "next0", t, 3, h, i, j);
	int y = add_input(k, "next1", t, 2, h, i);
	k->body = mul(READ(k, x, NULL, a, b, c),
		      sub(READ(k, y, NULL, a, b), READ(k, x, NULL, a, b, c)));
	return k;
}

/* out[c] of images: the terms of each element lie in rows of memory, which make
 * one loop, unless a border ends them. */
static kernel *of_images(reducer r, dtype t, const int *size, bool border)
{
	kernel *k = begin("images", r, t);
	int n = size[0], c = size[1], h = size[2], w = size[3];
	kexpr *j = add_var(k, "c", KVAR_OUTPUT, c);
	kexpr *b = add_var(k, "n", KVAR_REDUCE, n);
	kexpr *y = add_var(k, "h", KVAR_REDUCE, h);
	kexpr *z = add_var(k, "w", KVAR_REDUCE, w);
	int x = add_input(k, "x", t, 4, n, c, h, w);
	int m = add_input(k, "m", t, 1, c);
	kexpr *at = border ? add(z, num(2)) : z;
	k->body = mul(READ(k, x, NULL, b, j, y, z),
		      sub(READ(k, x, border ? constant(t, 0) : NULL, b, j, y,
			       at),
			  READ(k, m, NULL, j)));
	return k;
}

static void add_of_images(kernels *all)
{
	static const int sizes[][4] = {
		{4, 5, 7, 7}, {3, 3, 14, 14}, {2, 9, 5, 70}, {4, 2, 56, 56},
		{3, 2, 0, 64}, {1, 1, 16, 33},
	};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		vec_push(mem, all, of_images(RED_SUM, DT_F32, sizes[i], false));
		vec_push(mem, all, of_images(RED_SUM, DT_F32, sizes[i], true));
	}
	vec_push(mem, all, of_images(RED_MAX, DT_F32, sizes[1], false));
	vec_push(mem, all, of_images(RED_SUM, DT_BF16, sizes[2], false));
	vec_push(mem, all, of_images(RED_SUM, DT_I32, sizes[0], true));
}

/* Long ones, of which sums are taken in blocks, and lanes; lengths around
 * whole ones. */
START_TEST(long_reductions)
{
	static const dtype types[] = {DT_F32, DT_F64, DT_BF16, DT_I32, DT_U8};
	static const int lengths[] = {128, 255, 20001};
	kernels all = {0};
	for (int r = RED_SUM; r <= RED_MIN; r++)
		for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
			for (int n = 0; n < 3; n++) {
				vec_push(mem, &all,
					 reduce_last((reducer)r, types[t], 3,
						     lengths[n]));
				vec_push(mem, &all,
					 reduce_last((reducer)r, types[t], 0,
						     lengths[n]));
			}
	for (int n = 0; n < 3; n++) {
		vec_push(mem, &all, reduce_first(RED_SUM, DT_F32, lengths[n],
						 70));
		vec_push(mem, &all, reduce_first(RED_SUM, DT_F16, lengths[n],
						 3));
	}
	vec_push(mem, &all, weighed_rows(DT_F32, 3, 170, 14));
	vec_push(mem, &all, weighed_rows(DT_BF16, 3, 410, 9));
	vec_push(mem, &all, weighed_rows(DT_F64, 1, 401, 33));
	add_of_images(&all);
	kernel *named = reduce_last(RED_SUM, DT_F32, 3, 20001);
	named->inputs[0].name = "total";
	named->vars[0].name = "lane";
	named->vars[1].name = "terms";
	vec_push(mem, &all, named);
	vec_push(mem, &all, pool(RED_SUM, DT_F32, 20, 20, 17, 1, 8));
	vec_push(mem, &all, matmul(1, 9, 40, 5000, false, false, DT_F32));
	check_all(&all);
}
END_TEST

/* out[i, j] of reads that are made under conditions: on indices, on data, on
 * both; some outside of which there is no element. */
static kernel *chosen(dtype t, int way)
{
	kernel *k = begin("chosen", RED_NONE, t);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, 37);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, 48);
	int x = add_input(k, "whole0", t, 2, 37, way == 4 ? 32 : 48);
	int y = add_input(k, "y", t, 2, 37, way == 4 ? 16 : 48);
	kexpr *at_x = READ(k, x, NULL, i, j), *at_y = READ(k, y, NULL, i, j);
	kexpr *none = constant(t, 3), *up = kx_fn2(mem, FN_LE, j, i);
	kexpr *right = kx_fn2(mem, FN_LT, num(5), j);
	kexpr *data = kx_fn2(mem, FN_LT, constant(t, 1), at_y);
	kexpr *both = kx_fn2(mem, FN_AND, up, data);
	kexpr *front = kx_fn2(mem, FN_LT, j, num(32));
	kexpr *of[] = {
		kx_select(mem, up, at_x, none),
		kx_select(mem, kx_fn1(mem, FN_NOT, up), none,
			  kx_select(mem, right, at_x, at_y)),
		kx_select(mem, data, at_x, none),
		kx_select(mem, both, at_x, at_y),
		kx_select(mem, front, at_x,
			  READ(k, y, NULL, i, sub(j, num(32)))),
		kx_select(mem, up, at_x,
			  kx_select(mem, right, add(at_x, at_y), none)),
		kx_select(mem, up, none, kx_select(mem, data, at_x, at_y)),
	};
	k->body = of[way];
	return k;
}

START_TEST(conditions)
{
	static const dtype types[] = {DT_F32, DT_BF16, DT_U8};
	kernels all = {0};
	for (int t = 0; t < 3; t++)
		for (int way = 0; way < 7; way++)
			vec_push(mem, &all, chosen(types[t], way));
	check_all(&all);
}
END_TEST

/* Every function of every type that has it, on two inputs. */
static kernel *elementwise(fn f, dtype t)
{
	kernel *k = begin(fn_name(f), RED_NONE, fn_gives_bool(f) ? DT_BOOL : t);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, 2);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, 130);
	int x = add_input(k, "x", t, 2, 2, 130);
	int y = add_input(k, "y", t, 2, 1, 130);
	kexpr *args[2] = {READ(k, x, NULL, i, j), READ(k, y, NULL, num(0), j)};
	if (f == FN_SHIFT_LEFT || f == FN_SHIFT_RIGHT)
		args[1] = kx_fn1(mem, FN_ABS, args[1]);
	k->body = kx_fn(mem, f, fn_nargs(f), args);
	return k;
}

/* r - r * r - 1 of the result r of a function of integers, as a float, which
 * differs where C has r in a type that wraps around elsewhere than t. */
static kernel *wrapped(fn f, dtype t)
{
	kernel *k = elementwise(f, t);
	kexpr *one = kx_int(mem, 1, t);
	kexpr *less = kx_fn2(mem, FN_SUB, k->body,
			     kx_fn2(mem, FN_MUL, k->body, k->body));
	k->type = DT_F64;
	k->body = kx_cast(mem, kx_fn2(mem, FN_SUB, less, one), DT_F64);
	return k;
}

static bool has_function(fn f, dtype t)
{
	bool bits = f >= FN_BIT_AND && f <= FN_SHIFT_RIGHT;
	if (f == FN_RANDOM)
		return t == DT_I64;
	if (f == FN_AND || f == FN_OR || f == FN_NOT)
		return t == DT_BOOL;
	if (t == DT_BOOL)
		return f == FN_EQ || f == FN_NE ||
		       (f >= FN_BIT_AND && f <= FN_BIT_NOT);
	if (dtype_is_float(t))
		return !bits;
	return bits || f <= FN_ROUND || f == FN_POW || f == FN_FMOD;
}

START_TEST(functions)
{
	kernels all = {0};
	for (int f = 0; f < FN_COUNT; f++)
		for (int t = 0; t < DT_COUNT; t++)
			if (has_function((fn)f, (dtype)t)) {
				vec_push(mem, &all,
					 elementwise((fn)f, (dtype)t));
				if (dtype_is_int((dtype)t) &&
				    !fn_gives_bool((fn)f))
					vec_push(mem, &all,
						 wrapped((fn)f, (dtype)t));
			}
	check_all(&all);
}
END_TEST

START_TEST(casts)
{
	kernels all = {0};
	for (int from = 0; from < DT_COUNT; from++)
		for (int to = 0; to < DT_COUNT; to++) {
			kernel *k = begin("cast", RED_NONE, (dtype)to);
			kexpr *i = add_var(k, "i", KVAR_OUTPUT, 40);
			int x = add_input(k, "x", (dtype)from, 1, 40);
			kexpr *e = READ(k, x, NULL, i);
			if (dtype_is_float((dtype)from))
				e = mul(e, constant((dtype)from, 300));
			k->body = kx_cast(mem, e, (dtype)to);
			vec_push(mem, &all, k);
		}
	check_all(&all);
}
END_TEST

/* The bits of x, of y where x is above a half: read, chosen and guarded. */
static kexpr *moved(kernel *k, dtype t, kexpr *i)
{
	int x = add_input(k, "x", t, 1, 40), y = add_input(k, "y", t, 1, 40);
	kexpr *z = t == DT_BOOL || dtype_is_int(t) ? kx_int(mem, 1, t)
						   : constant(t, 0.5);
	kexpr *other = READ(k, y, z, sub(i, num(7)));
	return kx_select(mem, kx_fn2(mem, FN_NE, READ(k, x, NULL, i), z), other,
			 READ(k, x, NULL, i));
}

START_TEST(bitcasts)
{
	kernels all = {0};
	for (int from = 0; from < DT_COUNT; from++)
		for (int to = 0; to < DT_COUNT; to++) {
			if (dtype_bits((dtype)from) != dtype_bits((dtype)to))
				continue;
			kernel *k = begin("bitcast", RED_NONE, (dtype)to);
			kexpr *i = add_var(k, "i", KVAR_OUTPUT, 40);
			k->body = moved(k, (dtype)from, i);
			if (from != to)
				k->body = kx_bitcast(mem, k->body, (dtype)to);
			vec_push(mem, &all, k);
		}
	check_all(&all);
}
END_TEST

/* table[ids[b], j]; ids may point outside. */
static kernel *embedding(int vocabulary, int limit, bool checked, bool derived)
{
	kernel *k = begin("embedding", RED_NONE, DT_F32);
	kexpr *b = add_var(k, "b", KVAR_OUTPUT, 9);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, 20);
	int ids = add_input(k, "ids", DT_I32, 1, 9);
	int table = add_input(k, "table", DT_F32, 2, vocabulary, 20);
	kexpr *at = kx_cast(mem, READ(k, ids, NULL, b), DT_I64);
	if (limit)
		at = kx_fn2(mem, FN_MOD, at, num(limit));
	k->body = READ(k, table, checked ? constant(DT_F32, 0.5) : NULL, at, j);
	if (derived) {
		add_var(k, "V", KVAR_DERIVED, vocabulary);
		k->derived[k->nderived++] = (kderived){2, table, 0};
	}
	return k;
}

START_TEST(data_dependent)
{
	kernels all = {0};
	vec_push(mem, &all, embedding(13, 13, false, false));
	vec_push(mem, &all, embedding(13, 13, false, true));
	vec_push(mem, &all, embedding(13, 0, false, false)); /* faults */
	vec_push(mem, &all, embedding(13, 19, true, false));
	vec_push(mem, &all, embedding(13, 0, true, false));
	/* An index that depends on the innermost loop. */
	kernel *k = begin("gather", RED_NONE, DT_F32);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, 6);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, 70);
	int ids = add_input(k, "ids", DT_I64, 2, 6, 70);
	int x = add_input(k, "x", DT_F32, 2, 11, 6);
	k->body =
		READ(k, x, NULL,
		     kx_fn2(mem, FN_MOD, READ(k, ids, NULL, i, j), num(11)), i);
	vec_push(mem, &all, k);
	check_all(&all);
}
END_TEST

START_TEST(shapes)
{
	kernels all = {0};
	kernel *k;
	kexpr *i, *j, *c;
	int x, y;
	/* Concatenation along the last dimension. */
	k = begin("concat", RED_NONE, DT_F32);
	i = add_var(k, "i", KVAR_OUTPUT, 5);
	j = add_var(k, "j", KVAR_OUTPUT, 30);
	x = add_input(k, "x", DT_F32, 2, 5, 13);
	y = add_input(k, "y", DT_F32, 2, 5, 17);
	k->body = kx_select(mem, kx_fn2(mem, FN_LT, j, num(13)),
			    READ(k, x, NULL, i, j),
			    READ(k, y, NULL, i, sub(j, num(13))));
	vec_push(mem, &all, k);
	/* Channels shuffled: c is divided. */
	k = begin("shuffle", RED_NONE, DT_I16);
	c = add_var(k, "c", KVAR_OUTPUT, 12);
	i = add_var(k, "i", KVAR_OUTPUT, 6);
	j = add_var(k, "j", KVAR_OUTPUT, 4);
	x = add_input(k, "x", DT_I16, 3, 12, 6, 4);
	k->body = READ(k, x, NULL,
		       add(mul(num(3), kx_fn2(mem, FN_MOD, c, num(4))),
			   kx_fn2(mem, FN_DIV, c, num(4))),
		       i, j);
	vec_push(mem, &all, k);
	/* Reshape: indices that are not affine. */
	k = begin("reshape", RED_NONE, DT_F64);
	i = add_var(k, "i", KVAR_OUTPUT, 6);
	j = add_var(k, "j", KVAR_OUTPUT, 35);
	x = add_input(k, "x", DT_F64, 3, 10, 7, 3);
	c = add(mul(num(35), i), j);
	k->body = READ(
		k, x, NULL, kx_fn2(mem, FN_DIV, c, num(21)),
		kx_fn2(mem, FN_MOD, kx_fn2(mem, FN_DIV, c, num(3)), num(7)),
		kx_fn2(mem, FN_MOD, c, num(3)));
	vec_push(mem, &all, k);
	check_all(&all);
}
END_TEST

START_TEST(reads_outside)
{
	kernels all = {0};
	kernel *k;
	kexpr *i, *j, *c;
	int x;
	/* Reversed and padded, with names that C knows. */
	k = begin("*/ reverse", RED_NONE, DT_F32);
	i = add_var(k, "for", KVAR_OUTPUT, 4);
	j = add_var(k, "d.0", KVAR_OUTPUT, 25);
	x = add_input(k, "d_0", DT_F32, 2, 4, 9);
	k->body = READ(k, x, constant(DT_F32, 7), i, sub(num(15), j));
	vec_push(mem, &all, k);
	/* A gradient's read: every third element, else nothing. */
	k = begin("spread", RED_SUM, DT_F32);
	i = add_var(k, "i", KVAR_OUTPUT, 31);
	c = add_var(k, "c", KVAR_REDUCE, 3);
	x = add_input(k, "x", DT_F32, 1, 10);
	kexpr *at = sub(add(i, c), num(2));
	k->body = kx_select(
		mem,
		kx_fn2(mem, FN_AND,
		       kx_fn2(mem, FN_EQ, kx_fn2(mem, FN_MOD, at, num(3)),
			      num(0)),
		       kx_fn2(mem, FN_GE, at, num(0))),
		READ(k, x, constant(DT_F32, 0),
		     kx_fn2(mem, FN_DIV, at, num(3))),
		constant(DT_F32, 0));
	vec_push(mem, &all, k);
	/* No dimensions at all. */
	k = begin("scalar", RED_NONE, DT_F32);
	x = add_input(k, "x", DT_F32, 0);
	k->body = kx_fn1(mem, FN_NEG, kx_read(mem, x, DT_F32, 0, NULL, NULL));
	vec_push(mem, &all, k);
	check_all(&all);
}
END_TEST

void add_kinds_of_kernels(TCase *c)
{
	tcase_add_test(c, convolutions);
	tcase_add_test(c, products);
	tcase_add_test(c, reductions);
	tcase_add_test(c, long_reductions);
	tcase_add_test(c, conditions);
	tcase_add_test(c, functions);
	tcase_add_test(c, casts);
	tcase_add_test(c, bitcasts);
	tcase_add_test(c, data_dependent);
	tcase_add_test(c, shapes);
	tcase_add_test(c, reads_outside);
}
