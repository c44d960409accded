/* Generated kernels against the interpreter: on kernels of known kinds and on
 * random ones, for parts of the iteration space, with inputs that hold just
 * what the part reads and poison all around. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/codegen/codegen.h"
#include "include/tdl/generated.h"
#include "plan/eval.h"
#include "runtime/cpu/build.h"

/* ---- random numbers ---------------------------------------------------- */

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* lo <= result < hi */
static int64_t pick(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(draw() % (uint64_t)(hi - lo));
}

/* ---- making kernels ---------------------------------------------------- */

static arena *mem;

static kernel *begin(const char *name, reducer r, dtype t)
{
	kernel *k = ARENA_NEW(mem, kernel);
	k->name = name;
	k->reducer = r;
	k->type = t;
	k->vars = ARENA_ARRAY(mem, kvar, MAX_NVARS);
	k->inputs = ARENA_ARRAY(mem, kinput, MAX_NINPUTS);
	k->derived = ARENA_ARRAY(mem, kderived, MAX_NVARS);
	return k;
}

static kexpr *add_var(kernel *k, const char *name, kvar_kind kind, int64_t n)
{
	k->vars[k->nvars] = (kvar){name, kind, n, NULL};
	k->nout += kind == KVAR_OUTPUT;
	return kx_var(mem, k->nvars++);
}

static int add_input(kernel *k, const char *name, dtype t, int ndim, ...)
{
	kinput *in = &k->inputs[k->ninputs];
	va_list ap;
	va_start(ap, ndim);
	*in = (kinput){.name = name, .type = t, .ndim = ndim};
	for (int d = 0; d < ndim; d++)
		in->dims[d] = va_arg(ap, int);
	va_end(ap);
	return k->ninputs++;
}

#define READ(k, i, other, ...)                                             \
	kx_read(mem, i, (k)->inputs[i].type,                               \
		(int)(sizeof((kexpr *[]){__VA_ARGS__}) / sizeof(kexpr *)), \
		(kexpr *[]){__VA_ARGS__}, other)

static kexpr *num(int64_t i)
{
	return kx_int(mem, i, DT_I64);
}

static kexpr *add(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_ADD, x, y);
}

static kexpr *sub(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_SUB, x, y);
}

static kexpr *mul(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_MUL, x, y);
}

static kexpr *constant(dtype t, double f)
{
	return dtype_is_float(t) ? kx_float(mem, f, t)
				 : kx_int(mem, (int64_t)f, t);
}

/* ---- running ----------------------------------------------------------- */

typedef VEC(kernel *) kernels;

/* Memory for a block of a tensor, with a margin of poison on both sides. */
enum { MARGIN = 64 };

typedef struct guarded {
	unsigned char *base;
	void *data;
	int64_t nbytes;
} guarded;

static guarded block_new(int64_t nbytes)
{
	guarded b = {.nbytes = nbytes};
	int64_t all = (nbytes + 2 * MARGIN + 63) / 64 * 64;
	b.base = aligned_alloc(64, (size_t)all);
	memset(b.base, 0xff, (size_t)all);
	b.data = b.base + MARGIN;
	return b;
}

static void block_check(const guarded *b)
{
	for (int i = 0; i < MARGIN; i++) {
		ck_assert_int_eq(b->base[i], 0xff);
		ck_assert_int_eq(b->base[MARGIN + b->nbytes + i], 0xff);
	}
}

/* The value of an element of an input, a function of its place. */
static void set_element(dtype t, void *p, int64_t at, int64_t place, int salt,
			int64_t index_limit)
{
	uint64_t h = ((uint64_t)place + 1) * 0x9e3779b97f4a7c15u +
		     (uint64_t)salt * 0xc2b2ae3d27d4eb4fu;
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 32;
	if (dtype_is_float(t))
		elem_set_f64(t, p, at, (double)(h % 2001) / 1000 - 1);
	else if (index_limit > 0)
		elem_set_i64(t, p, at, (int64_t)(h % (uint64_t)index_limit));
	else
		elem_set_i64(t, p, at,
			     (int64_t)(h % 19) - (dtype_is_signed(t) ? 9 : 0));
}

static void fill(dtype t, void *p, const box *at, const kinput *in, int salt,
		 int64_t index_limit)
{
	int64_t n = box_volume(at), i[MAX_NDIM];
	for (int d = 0; d < at->n; d++)
		i[d] = at->lo[d];
	for (int64_t e = 0; e < n; e++) {
		int64_t place = 0;
		for (int d = 0; d < at->n; d++)
			place = place * in->dims[d] + i[d];
		set_element(t, p, e, place, salt, index_limit);
		for (int d = at->n; d-- > 0;) {
			if (++i[d] < at->hi[d])
				break;
			i[d] = at->lo[d];
		}
	}
}

/* Integer inputs that serve as indices of an input say how large it is. */
static int64_t limit_of(const kernel *k, int input, const kexpr *e)
{
	int64_t limit = 0;
	if (!e)
		return 0;
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++)
		if (e->args[d]->kind == KX_READ && e->args[d]->input == input)
			limit = k->inputs[e->input].dims[d];
	for (int i = 0; i < e->nargs && !limit; i++)
		limit = limit_of(k, input, e->args[i]);
	return limit;
}

static void dense(tdl_block *to, void *data, const box *at)
{
	view v = view_dense(data, DT_F32, at);
	to->data = data;
	memcpy(to->origin, at->lo, sizeof(to->origin));
	memcpy(to->stride, v.stride, sizeof(to->stride));
}

typedef struct outcome {
	guarded out, in[MAX_NINPUTS];
	box at, needs[MAX_NINPUTS];
	int status;
} outcome;

static void *scratch(void)
{
	static void *s;
	if (!s)
		s = aligned_alloc(64, TDL_SCRATCH);
	return s;
}

static outcome run(const kernel *k, cpu_kernel *f, const box *space)
{
	outcome o = {.at = kernel_produces(k, space)};
	tdl_block in[MAX_NINPUTS];
	tdl_args a = {.in = in, .scratch = scratch()};
	memcpy(a.lo, space->lo, sizeof(a.lo));
	memcpy(a.hi, space->hi, sizeof(a.hi));
	kernel_needs(k, space, o.needs);
	for (int i = 0; i < k->ninputs; i++) {
		dtype t = k->inputs[i].type;
		o.in[i] = block_new(box_volume(&o.needs[i]) *
				    (int64_t)dtype_size(t));
		fill(t, o.in[i].data, &o.needs[i], &k->inputs[i], i,
		     limit_of(k, i, k->body));
		dense(&in[i], o.in[i].data, &o.needs[i]);
	}
	o.out = block_new(box_volume(&o.at) * (int64_t)dtype_size(k->type));
	dense(&a.out, o.out.data, &o.at);
	memset(a.scratch, 0xff, TDL_SCRATCH);
	o.status = f(&a);
	return o;
}

static void outcome_free(const kernel *k, outcome *o)
{
	for (int i = 0; i < k->ninputs; i++)
		free(o->in[i].base);
	free(o->out.base);
}

static double unit(dtype t)
{
	return t == DT_F32    ? 0x1p-23
	       : t == DT_F16  ? 0x1p-10
	       : t == DT_BF16 ? 0x1p-7
			      : 0x1p-52;
}

/* How much a result may differ: the rounding of `terms` additions of products
 * that are at most about 1. */
static double tolerance(const kernel *k, double value)
{
	double n = 1, u = unit(k->type);
	for (int i = 0; i < k->ninputs; i++)
		u = fmax(u, unit(k->inputs[i].type));
	for (int v = k->nout; v < k->nvars; v++)
		if (k->vars[v].kind == KVAR_REDUCE)
			n *= (double)k->vars[v].extent;
	return u * (fabs(value) * 4 + 8 + n);
}

static bool close_enough(const kernel *k, const void *got, const void *want,
			 int64_t i)
{
	if (!dtype_is_float(k->type))
		return elem_get_i64(k->type, got, i) ==
		       elem_get_i64(k->type, want, i);
	double x = elem_get_f64(k->type, got, i);
	double y = elem_get_f64(k->type, want, i);
	if (isnan(y) || isinf(y))
		return isnan(y) ? isnan(x) : x == y;
	return fabs(x - y) <= tolerance(k, y);
}

static const char *describe(const kernel *k, const box *space)
{
	char *s =
		arena_printf(mem, "%s: %s over", k->name, kernel_text(mem, k));
	for (int v = 0; v < k->nvars; v++)
		s = arena_printf(mem, "%s [%" PRId64 ", %" PRId64 ")", s,
				 space->lo[v], space->hi[v]);
	return s;
}

/* Prints the source of a kernel that is wrong. */
static const char *show(const kernel *k)
{
	fputs(codegen_c(mem, k), stderr);
	return "";
}

static void compare_with_eval(const kernel *k, const box *space, outcome *o)
{
	view in[MAX_NINPUTS];
	int64_t n = box_volume(&o->at);
	guarded want = block_new(o->out.nbytes);
	view out = view_dense(want.data, k->type, &o->at);
	eval_fault fault;
	for (int i = 0; i < k->ninputs; i++)
		in[i] = view_dense(o->in[i].data, k->inputs[i].type,
				   &o->needs[i]);
	eval_status st = kernel_eval(k, space, in, &out, NULL, &fault);
	ck_assert_msg((st == EVAL_OK) == (o->status == 0),
		      "%s: status %d, not %d%s", describe(k, space), o->status,
		      st, show(k));
	for (int64_t i = 0; i < n && st == EVAL_OK; i++)
		ck_assert_msg(close_enough(k, o->out.data, want.data, i),
			      "%s: element %" PRId64 " is %.9g, not %.9g%s",
			      describe(k, space), i,
			      elem_get_f64(k->type, o->out.data, i),
			      elem_get_f64(k->type, want.data, i), show(k));
	block_check(&o->out);
	free(want.base);
}

static bool reduces_all(const kernel *k, const box *space)
{
	for (int v = k->nout; v < k->nvars; v++)
		if (space->lo[v] != 0 || space->hi[v] != k->vars[v].extent)
			return false;
	return true;
}

/* The elements of a part are those of the whole, bit for bit. */
static void compare_with_whole(const kernel *k, const box *space,
			       const outcome *o, const outcome *whole)
{
	int64_t size = (int64_t)dtype_size(k->type);
	view part = view_dense(o->out.data, k->type, &o->at);
	view all = view_dense(whole->out.data, k->type, &whole->at);
	int64_t n = box_volume(&o->at), i[MAX_NVARS];
	memcpy(i, o->at.lo, sizeof(i));
	for (int64_t e = 0; e < n; e++) {
		int64_t x = 0, y = 0;
		for (int d = 0; d < k->nout; d++) {
			x += (i[d] - part.at.lo[d]) * part.stride[d];
			y += (i[d] - all.at.lo[d]) * all.stride[d];
		}
		ck_assert_msg(!memcmp((char *)part.data + x * size,
				      (char *)all.data + y * size,
				      (size_t)size),
			      "%s: an element differs from the whole's%s",
			      describe(k, space), show(k));
		for (int d = k->nout; d-- > 0;) {
			if (++i[d] < o->at.hi[d])
				break;
			i[d] = o->at.lo[d];
		}
	}
}

static box random_part(const kernel *k)
{
	box b = kernel_space(k);
	for (int v = 0; v < k->nvars; v++) {
		int64_t n = k->vars[v].extent;
		if (v >= k->nout && pick(0, 3))
			continue;
		b.lo[v] = pick(0, n + 1);
		b.hi[v] = pick(b.lo[v], n + 1);
		if (pick(0, 4) && b.lo[v] == b.hi[v] && b.hi[v] < n)
			b.hi[v]++;
	}
	return b;
}

enum { NPARTS = 12 };

static void check_kernel(const kernel *k, cpu_kernel *f)
{
	box space = kernel_space(k);
	outcome whole = run(k, f, &space);
	compare_with_eval(k, &space, &whole);
	for (int i = 0; i < NPARTS; i++) {
		box part = random_part(k);
		outcome o = run(k, f, &part);
		compare_with_eval(k, &part, &o);
		if (reduces_all(k, &part) && whole.status == 0)
			compare_with_whole(k, &part, &o, &whole);
		outcome_free(k, &o);
	}
	outcome_free(k, &whole);
}

static void check_all(const kernels *all)
{
	const char **c = ARENA_ARRAY(mem, const char *, all->n);
	cpu_kernel **f = ARENA_ARRAY(mem, cpu_kernel *, all->n);
	failure why = {0};
	for (int i = 0; i < all->n; i++) {
		kernel_finish(mem, all->at[i]);
		c[i] = codegen_c(mem, all->at[i]);
	}
	void *lib = cpu_build(all->n, c, f, &why);
	ck_assert_msg(lib != NULL, "%s", why.text);
	for (int i = 0; i < all->n; i++)
		check_kernel(all->at[i], f[i]);
	cpu_close(lib);
}

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
			if (t == DT_F32 || t == DT_U8 || t == DT_BOOL) {
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

static bool has_function(fn f, dtype t)
{
	bool bits = f >= FN_BIT_AND && f <= FN_SHIFT_RIGHT;
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
			if (has_function((fn)f, (dtype)t))
				vec_push(mem, &all,
					 elementwise((fn)f, (dtype)t));
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
	*in = (kinput){.name = pick(0, 2) ? "x" : "y",
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

int main(void)
{
	Suite *s = suite_create("codegen");
	TCase *c = tcase_create("codegen");
	const char *seed = getenv("TDL_SEED");
	if (seed && atoll(seed))
		state = (uint64_t)atoll(seed);
	tcase_set_timeout(c, 300);
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, convolutions);
	tcase_add_test(c, products);
	tcase_add_test(c, reductions);
	tcase_add_test(c, functions);
	tcase_add_test(c, casts);
	tcase_add_test(c, data_dependent);
	tcase_add_test(c, shapes);
	tcase_add_test(c, random_kernels);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
