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
#include "tests/unit/suite.h"

/* ---- kernels of known kinds -------------------------------------------- */

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
	{1, 40, 1, 1, 600, 3, 3, 1, 1, 1, 1},
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

/* out[b, i, j] = Sum(k) of two matrices, each maybe transposed. */
static kernel *matmul(int b, int m, int n, int kk, bool ta, bool tb, dtype t)
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

static kernel *reduce_last(reducer r, dtype t, int rows, int cols)
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

static kernel *reduce_first(reducer r, dtype t, int rows, int cols)
{
	kernel *k = begin("reduce", r, r >= RED_ARGMAX ? DT_I64 : t);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, cols);
	kexpr *i = add_var(k, "i", KVAR_REDUCE, rows);
	int x = add_input(k, "x", t, 2, rows, cols);
	k->body = READ(k, x, NULL, i, j);
	return k;
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
	vec_push(mem, &all, matmul(256, 97, 98, 5, false, true, DT_F32));
	vec_push(mem, &all, matmul(256, 96, 100, 9, true, false, DT_BF16));
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

static kernel *random_kernel(void)
{
	static const dtype types[] = {DT_F64, DT_F64, DT_I32, DT_I64, DT_U8};
	static const char *const names[] = {"i", "j", "n", "to", "x", "d.1"};
	dtype t = types[pick(0, 5)];
	reducer r = (reducer)pick(RED_NONE, RED_MIN + 1);
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

START_TEST(random_kernels)
{
	kernels all = {0};
	for (int i = 0; i < 250; i++)
		vec_push(mem, &all, random_kernel());
	check_all(&all);
}
END_TEST

/* ---- the whole --------------------------------------------------------- */

static void begin_test(void)
{
	mem = arena_new();
}

static void end_test(void)
{
	arena_free(mem);
}

Suite *suite(void)
{
	Suite *s = suite_create("codegen");
	TCase *c = tcase_create("codegen");
	const char *seed = getenv("TDL_SEED");
	if (seed && atoll(seed))
		random_state = (uint64_t)atoll(seed);
	tcase_set_timeout(c, 300);
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, convolutions);
	tcase_add_test(c, products);
	tcase_add_test(c, reductions);
	tcase_add_test(c, long_reductions);
	tcase_add_test(c, functions);
	tcase_add_test(c, casts);
	tcase_add_test(c, bitcasts);
	tcase_add_test(c, data_dependent);
	tcase_add_test(c, shapes);
	tcase_add_test(c, schedules);
	tcase_add_test(c, scatters);
	tcase_add_test(c, scans);
	tcase_add_test(c, large);
	tcase_add_test(c, in_place);
	tcase_add_test(c, random_kernels);
	suite_add_tcase(s, c);
	return s;
}
