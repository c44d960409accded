/* Tests: kernel */
/* The interpreter: random kernels on random parts, with just the inputs that
 * the part needs, against the oracle; types, ties, NaN, empty reductions,
 * opaque functions by hand. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "include/tdl/kernel.h"
#include "kernel/linearity.h"
#include "tests/unit/hand_kernels.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

enum { KERNELS = 400 };

/* ---- random kernels ---------------------------------------------------- */

/* A dense copy of the part `at` of a whole tensor, in memory of its own. */
static view cut_out(const int64_t *whole, const int64_t *dims, const box *at)
{
	int64_t n = box_volume(at), p[MAX_NDIM], e = 0;
	int64_t *data = malloc((size_t)(n ? n : 1) * sizeof(*data));
	for (int d = 0; d < at->n; d++)
		p[d] = at->lo[d];
	for (bool more = n > 0; more;) {
		int64_t offset = 0;
		for (int d = 0; d < at->n; d++)
			offset = offset * dims[d] + p[d];
		data[e++] = whole[offset];
		more = false;
		for (int d = at->n; d-- > 0 && !more;) {
			more = ++p[d] < at->hi[d];
			if (!more)
				p[d] = at->lo[d];
		}
	}
	return view_dense(data, DT_I64, at);
}

static int64_t reduced(oracle *o, int64_t y, int64_t v, int64_t *best)
{
	bool better;
	switch (o->k->reducer) {
	case RED_SUM:
		return y + v;
	case RED_PROD:
		return (int64_t)((uint64_t)y * (uint64_t)v);
	case RED_MAX:
		return y > v ? y : v;
	case RED_MIN:
		return y < v ? y : v;
	default:
		better = o->k->reducer == RED_ARGMAX ? v > *best : v < *best;
		if (y >= 0 && !better)
			return y;
		*best = v;
		return o->point[o->k->nout];
	}
}

static int64_t oracle_result(oracle *o)
{
	const kernel *k = o->k;
	int end = oracle_loops(k);
	int64_t best = 0, y = 0;
	if (k->reducer == RED_NONE)
		return oracle_value(o, k->body);
	if (k->reducer == RED_PROD)
		y = 1;
	if (k->reducer == RED_MAX)
		y = INT64_MIN;
	if (k->reducer == RED_MIN)
		y = INT64_MAX;
	bool arg = k->reducer == RED_ARGMAX || k->reducer == RED_ARGMIN;
	bool more = oracle_start(o, k->nout, end);
	if (arg)
		y = more ? -1 : 0;
	for (; more; more = oracle_next(o, k->nout, end))
		y = reduced(o, y, oracle_value(o, k->body), &best);
	return y;
}

/* Compares all elements; where an index leaves its input, the fault. */
static void compare(oracle *o, const int64_t *got, eval_status st, int seed)
{
	int64_t e = 0;
	bool equal = true;
	for (bool more = oracle_start(o, 0, o->k->nout); more;
	     more = oracle_next(o, 0, o->k->nout))
		equal &= oracle_result(o) == got[e++];
	ck_assert_msg(st == (o->fault ? EVAL_INDEX_OUTSIDE : EVAL_OK),
		      "status %d, seed %d", (int)st, seed);
	ck_assert_msg(equal || o->fault, "values differ, seed %d", seed);
}

static void check_part(arena *a, rng *r, const kernel *k, int64_t **data,
		       int seed)
{
	box space = random_part(r, k), needs[MAX_NINPUTS];
	box made = kernel_produces(k, &space);
	view in[MAX_NINPUTS];
	int64_t *got = ARENA_ARRAY(a, int64_t, box_volume(&made));
	view out = view_dense(got, DT_I64, &made);
	oracle o = { .k = k, .space = &space, .data = data };
	kernel_needs(k, &space, needs);
	for (int i = 0; i < k->ninputs; i++)
		in[i] = cut_out(data[i], k->inputs[i].dims, &needs[i]);
	compare(&o, got, kernel_eval(k, &space, in, &out, NULL, NULL), seed);
	for (int i = 0; i < k->ninputs; i++)
		free(in[i].data);
}

START_TEST(random_parts)
{
	recipe how = { .max_extent = 4, .reduce = true, .quasi = _i & 1,
		       .joint = true, .conditions = _i & 2, .data = _i & 4 };
	rng r = { (uint64_t)_i * 104729 };
	for (int i = 0; i < KERNELS; i++) {
		arena *a = arena_new();
		kernel *k = random_kernel(a, &r, &how);
		if (how.data)
			kernel_derive(a, k);
		kernel_finish(a, k);
		int64_t **data = random_data(a, &r, k);
		for (int part = 0; part < 3; part++)
			check_part(a, &r, k, data, _i);
		arena_free(a);
	}
}
END_TEST

/* ---- by hand ----------------------------------------------------------- */

#define V(v) kx_var(a, v)
#define N(n) kx_int(a, n, DT_I64)
#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })
#define INDEX(...) ((kexpr *[]){ __VA_ARGS__ })

/* red over the n elements of x, of type t; the result is of type u. */
static void fold(reducer red, dtype t, dtype u, const void *x, int n,
		 void *out)
{
	arena *a = arena_new();
	kernel *k = make_kernel(a, u, 0, 1, DIMS(n));
	add_kernel_input(k, t, 1, DIMS(n));
	k->reducer = red;
	k->body = kx_read(a, 0, t, 1, INDEX(V(0)), NULL);
	ck_assert_int_eq(evaluate(a, k, (void *[]){ (void *)x }, out, NULL),
			 EVAL_OK);
	arena_free(a);
}

START_TEST(reducers)
{
	double x[] = { 3, -1, 7, 7, -1 }, y, n[] = { 1, NAN, 9, NAN };
	int64_t at, i[] = { 4, -2, 4, -2 };
	uint8_t b[] = { 1, 0, 1 }, bit, small[] = { 200, 100 };
	uint64_t u[] = { 5, UINT64_MAX, 0 }, big;
	fold(RED_SUM, DT_F64, DT_F64, x, 5, &y);
	ck_assert_double_eq(y, 15);
	fold(RED_PROD, DT_F64, DT_F64, x, 5, &y);
	ck_assert_double_eq(y, 147);
	fold(RED_MAX, DT_F64, DT_F64, x, 5, &y);
	ck_assert_double_eq(y, 7);
	fold(RED_MIN, DT_F64, DT_F64, x, 5, &y);
	ck_assert_double_eq(y, -1);
	fold(RED_ARGMAX, DT_F64, DT_I64, x, 5, &at);
	ck_assert_int_eq(at, 2);
	fold(RED_ARGMIN, DT_F64, DT_I64, x, 5, &at);
	ck_assert_int_eq(at, 1);
	fold(RED_ARGMAX, DT_I64, DT_I64, i, 4, &at);
	ck_assert_int_eq(at, 0);
	fold(RED_ARGMIN, DT_I64, DT_I64, i, 4, &at);
	ck_assert_int_eq(at, 1);
	fold(RED_ARGMAX, DT_F64, DT_I64, n, 4, &at);
	ck_assert_int_eq(at, 1);
	fold(RED_ARGMIN, DT_F64, DT_I64, n, 4, &at);
	ck_assert_int_eq(at, 1);
	fold(RED_MAX, DT_F64, DT_F64, n, 4, &y);
	ck_assert(isnan(y));
	fold(RED_MIN, DT_F64, DT_F64, n, 3, &y);
	ck_assert(isnan(y));
	fold(RED_AND, DT_BOOL, DT_BOOL, b, 3, &bit);
	ck_assert_int_eq(bit, 0);
	fold(RED_OR, DT_BOOL, DT_BOOL, b, 3, &bit);
	ck_assert_int_eq(bit, 1);
	fold(RED_MAX, DT_U64, DT_U64, u, 3, &big);
	ck_assert(big == UINT64_MAX);
	fold(RED_ARGMAX, DT_U64, DT_I64, u, 3, &at);
	ck_assert_int_eq(at, 1);
	fold(RED_SUM, DT_U8, DT_U8, small, 2, &bit);
	ck_assert_int_eq(bit, 44);
	fold(RED_SUM, DT_U8, DT_U64, small, 2, &big);
	ck_assert_int_eq((int)big, 300);
}
END_TEST

START_TEST(empty_reductions)
{
	double y;
	int32_t i;
	int64_t at;
	uint64_t u;
	uint8_t b;
	fold(RED_SUM, DT_F64, DT_F64, NULL, 0, &y);
	ck_assert_double_eq(y, 0);
	fold(RED_PROD, DT_F64, DT_F64, NULL, 0, &y);
	ck_assert_double_eq(y, 1);
	fold(RED_MAX, DT_F64, DT_F64, NULL, 0, &y);
	ck_assert_double_eq(y, -INFINITY);
	fold(RED_MIN, DT_I32, DT_I32, NULL, 0, &i);
	ck_assert_int_eq(i, INT32_MAX);
	fold(RED_MAX, DT_I32, DT_I32, NULL, 0, &i);
	ck_assert_int_eq(i, INT32_MIN);
	fold(RED_MIN, DT_U64, DT_U64, NULL, 0, &u);
	ck_assert(u == UINT64_MAX);
	fold(RED_AND, DT_BOOL, DT_BOOL, NULL, 0, &b);
	ck_assert_int_eq(b, 1);
	fold(RED_OR, DT_BOOL, DT_BOOL, NULL, 0, &b);
	ck_assert_int_eq(b, 0);
	fold(RED_MAX, DT_BOOL, DT_BOOL, NULL, 0, &b);
	ck_assert_int_eq(b, 0);
	fold(RED_MIN, DT_BOOL, DT_BOOL, NULL, 0, &b);
	ck_assert_int_eq(b, 1);
	fold(RED_ARGMAX, DT_F64, DT_I64, NULL, 0, &at);
	ck_assert_int_eq(at, 0);
}
END_TEST

/* out[b, j] = table[ids[b], j]: 3 ids, 5 rows of 2. */
static kernel *embedding(arena *a)
{
	kernel *k = make_kernel(a, DT_F32, 2, 2, DIMS(3, 2));
	add_kernel_input(k, DT_I64, 1, DIMS(3));
	add_kernel_input(k, DT_F32, 2, DIMS(5, 2));
	kexpr *id = kx_read(a, 0, DT_I64, 1, INDEX(V(0)), NULL);
	k->body = kx_read(a, 1, DT_F32, 2, INDEX(id, V(1)), NULL);
	return k;
}

START_TEST(embeddings)
{
	arena *a = arena_new();
	int64_t ids[] = { 4, 0, 3 }, bad[] = { 4, 1, 5 };
	float table[10], out[6], sum[6] = { 0 };
	eval_fault f = { 0 };
	for (int i = 0; i < 10; i++)
		table[i] = (float)i + 0.5f;
	kernel *k = embedding(a);
	ck_assert_int_eq(evaluate(a, k, (void *[]){ ids, table }, out, &f),
			 EVAL_OK);
	ck_assert(out[0] == 8.5f && out[1] == 9.5f && out[5] == 7.5f);
	ck_assert_int_eq(evaluate(a, k, (void *[]){ bad, table }, out, &f),
			 EVAL_INDEX_OUTSIDE);
	ck_assert(f.input == 1 && f.dim == 0 && f.value == 5);
	ck_assert(f.position[0] == 2 && f.position[1] == 0);
	/* The same read as a sum over the vocabulary, in two parts. */
	kernel_derive(a, k);
	ck_assert(k->nvars == 3 && k->nderived == 1);
	kernel_finish(a, k);
	for (int part = 0; part < 2; part++) {
		box space = kernel_space(k);
		block(0, 5, part, 2, &space.lo[2], &space.hi[2]);
		box need = kernel_need(k, &space, 1);
		ck_assert(need.lo[0] == space.lo[2] &&
			  need.hi[0] == space.hi[2] && need.hi[1] == 2);
		box all = box_whole(DIMS(3), 1);
		view in[] = { view_dense(ids, DT_I64, &all),
			      view_dense(table + 2 * need.lo[0], DT_F32,
					 &need) };
		float some[6];
		box made = kernel_produces(k, &space);
		view to = view_dense(some, DT_F32, &made);
		ck_assert_int_eq(kernel_eval(k, &space, in, &to, NULL, NULL),
				 EVAL_OK);
		reducer_combine(RED_SUM, DT_F32, sum, some, 6);
	}
	evaluate(a, embedding(a), (void *[]){ ids, table }, out, NULL);
	ck_assert(!memcmp(sum, out, sizeof(out)));
	arena_free(a);
}
END_TEST

START_TEST(guards)
{
	arena *a = arena_new();
	kernel *k = make_kernel(a, DT_F64, 1, 1, DIMS(4));
	int64_t ids[] = { 1, -1, 2, 0 };
	double x[] = { 5, 6 }, out[4];
	add_kernel_input(k, DT_I64, 1, DIMS(4));
	add_kernel_input(k, DT_F64, 1, DIMS(2));
	kexpr *id = kx_read(a, 0, DT_I64, 1, INDEX(V(0)), NULL);
	k->body = kx_read(a, 1, DT_F64, 1, INDEX(id),
			  kx_float(a, -INFINITY, DT_F64));
	ck_assert_int_eq(evaluate(a, k, (void *[]){ ids, x }, out, NULL),
			 EVAL_OK);
	ck_assert(out[0] == 6 && isinf(out[1]) && isinf(out[2]) &&
		  out[3] == 5);
	/* Only the branch that is chosen is evaluated. */
	kexpr *fine = kx_fn2(a, FN_EQ, id, N(1));
	k->body = kx_select(a, fine, kx_read(a, 1, DT_F64, 1, INDEX(id), NULL),
			    kx_float(a, 0, DT_F64));
	ck_assert_int_eq(evaluate(a, k, (void *[]){ ids, x }, out, NULL),
			 EVAL_OK);
	ck_assert(out[0] == 6 && out[1] == 0 && out[2] == 0);
	arena_free(a);
}
END_TEST

/* ---- partial results --------------------------------------------------- */

START_TEST(combining)
{
	float f[] = { 1, 2 };
	uint16_t h[] = { 0x3c00 }, bf[] = { 0x3f80 };
	uint8_t b[] = { 1, 0, 1 }, u8[] = { 200 };
	int64_t i[] = { 5, -5 };
	uint64_t u[] = { UINT64_MAX };
	double d[] = { 1, NAN };
	reducer_combine(RED_SUM, DT_F32, f, (float[]){ 0.5f, -4 }, 2);
	ck_assert(f[0] == 1.5f && f[1] == -2);
	float many[11], more[11];
	for (int n = 0; n <= 11; n++) {
		for (int k = 0; k < 11; k++)
			more[k] = 1 + (many[k] = 0.1f * (float)k);
		reducer_combine(RED_SUM, DT_F32, many, more, n);
		for (int k = 0; k < 11; k++)
			ck_assert(many[k] == 0.1f * (float)k +
						     (k < n ? more[k] : 0));
	}
	reducer_combine(RED_PROD, DT_F32, f, (float[]){ 2, 2 }, 2);
	ck_assert(f[0] == 3 && f[1] == -4);
	reducer_combine(RED_SUM, DT_F16, h, (uint16_t[]){ 0x4000 }, 1);
	ck_assert_int_eq(h[0], 0x4200);
	reducer_combine(RED_SUM, DT_BF16, bf, (uint16_t[]){ 0x4000 }, 1);
	ck_assert_int_eq(bf[0], 0x4040);
	reducer_combine(RED_AND, DT_BOOL, b, (uint8_t[]){ 1, 1, 0 }, 3);
	ck_assert(b[0] == 1 && b[1] == 0 && b[2] == 0);
	reducer_combine(RED_OR, DT_BOOL, b, (uint8_t[]){ 0, 1, 0 }, 3);
	ck_assert(b[0] == 1 && b[1] == 1 && b[2] == 0);
	reducer_combine(RED_SUM, DT_U8, u8, (uint8_t[]){ 100 }, 1);
	ck_assert_int_eq(u8[0], 44);
	reducer_combine(RED_MIN, DT_I64, i, (int64_t[]){ 4, 4 }, 2);
	ck_assert(i[0] == 4 && i[1] == -5);
	reducer_combine(RED_MIN, DT_U64, u, (uint64_t[]){ 4 }, 1);
	ck_assert_int_eq((int)u[0], 4);
	reducer_combine(RED_MAX, DT_F64, d, (double[]){ NAN, 3 }, 2);
	ck_assert(isnan(d[0]) && isnan(d[1]));
}
END_TEST

/* ---- opaque functions -------------------------------------------------- */

/* Result 1: the transpose of m, times s. */
static int transpose(const tdl_kernel_call *c)
{
	const tdl_view *m = &c->inputs[0], *s = &c->inputs[1];
	const tdl_view *out = &c->outputs[1];
	if (c->ninputs != 2 || c->noutputs != 2 || c->outputs[0].data ||
	    c->nattrs != 2 || c->attrs[0].n != 2 || c->attrs[0].ints[1] != 5 ||
	    c->attrs[0].floats || strcmp(c->attrs[1].strings[0], "two") ||
	    m->ndim != 2 || s->ndim != 0 || m->dtype != TDL_F32 ||
	    out->dtype != TDL_F32 || out->ndim != 2)
		return 1;
	for (int64_t i = 0; i < out->dims[0]; i++)
		for (int64_t j = 0; j < out->dims[1]; j++)
			((float *)out->data)[i * out->strides[0] +
					     j * out->strides[1]] =
				((float *)m->data)[j * m->strides[0] +
						   i * m->strides[1]] *
				*(float *)s->data;
	return 0;
}

static int failing(const tdl_kernel_call *c)
{
	(void)c;
	return 7;
}

/* out[b, i, j] = transpose(x[:, b, :], y[b])[i, j] */
START_TEST(opaques)
{
	arena *a = arena_new();
	kernel *k = make_kernel(a, DT_F32, 3, 3, DIMS(4, 3, 2));
	float x[2 * 4 * 3], y[] = { 1, 10, 100, 1000 }, out[2 * 3 * 2];
	add_kernel_input(k, DT_F32, 3, DIMS(2, 4, 3));
	add_kernel_input(k, DT_F32, 1, DIMS(4));
	k->opaque = "transpose";
	k->opaque_symbol = "tdl_transpose";
	k->opaque_result = 1;
	k->nhidden = 2;
	k->nattrs = 2;
	k->attrs = (kattr[]){ { "a", 2, (int64_t[]){ 4, 5 }, NULL, NULL },
			      { "b", 1, NULL, NULL,
				(const char *[]){ "two" } } };
	k->nslices = 2;
	k->slices = (kslice[]){ { 0, 3, { NULL, V(0), NULL } },
				{ 1, 1, { V(0) } } };
	kernel_finish(a, k);
	for (int i = 0; i < 24; i++)
		x[i] = (float)i;
	box space = kernel_space(k);
	space.lo[0] = 1;
	space.hi[0] = 3;
	box needs[2], made = kernel_produces(k, &space);
	kernel_needs(k, &space, needs);
	ck_assert(needs[0].lo[1] == 1 && needs[0].hi[1] == 3);
	ck_assert(needs[0].lo[2] == 0 && needs[0].hi[2] == 3);
	ck_assert(needs[1].lo[0] == 1 && needs[1].hi[0] == 3);
	box whole = box_whole(k->inputs[0].dims, 3);
	view in[] = { view_dense(x, DT_F32, &whole),
		      view_dense(y + 1, DT_F32, &needs[1]) };
	view to = view_dense(out, DT_F32, &made);
	ck_assert_int_eq(kernel_eval(k, &space, in, &to, NULL, NULL),
			 EVAL_NO_KERNEL);
	eval_fault f = { 0 };
	ck_assert_int_eq(kernel_eval(k, &space, in, &to, failing, &f),
			 EVAL_KERNEL_FAILED);
	ck_assert_int_eq(f.value, 7);
	ck_assert_int_eq(kernel_eval(k, &space, in, &to, transpose, NULL),
			 EVAL_OK);
	for (int b = 1; b < 3; b++)
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 2; j++)
				ck_assert(out[((b - 1) * 3 + i) * 2 + j] ==
					  x[(j * 4 + b) * 3 + i] * y[b]);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("eval");
	TCase *t = tcase_create("eval");
	tcase_add_loop_test(t, random_parts, 0, 16);
	tcase_add_test(t, reducers);
	tcase_add_test(t, empty_reductions);
	tcase_add_test(t, embeddings);
	tcase_add_test(t, guards);
	tcase_add_test(t, combining);
	tcase_add_test(t, opaques);
	suite_add_tcase(s, t);
	return s;
}
