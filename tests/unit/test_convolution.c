/* Tests: kernel */
/* Convolutions and their gradients in kernels: found where they are, and the
 * calls that they become compute the kernel. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "kernel/convolution.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

static arena *mem;

static void setup(void)
{
	mem = arena_new();
}

static void teardown(void)
{
	arena_free(mem);
}

/* ---- random convolutions ----------------------------------------------- */

/* Variables: of the result, then those that are reduced. */
typedef struct maker {
	kernel *k;
	rng *r;
	conv_kind kind;
	int nspatial;
	int64_t n, k_, c, in[CONV_MAX_SPATIAL], out[CONV_MAX_SPATIAL];
	int64_t taps[CONV_MAX_SPATIAL], stride[CONV_MAX_SPATIAL];
	int64_t dilation[CONV_MAX_SPATIAL], pad[CONV_MAX_SPATIAL];
} maker;

static int add_var(maker *m, int64_t extent, bool output)
{
	kernel *k = m->k;
	k->vars[k->nvars].name = arena_printf(mem, "v%d", k->nvars);
	k->vars[k->nvars].kind = output ? KVAR_OUTPUT : KVAR_REDUCE;
	k->vars[k->nvars].extent = extent;
	k->nout += output;
	return k->nvars++;
}

static kexpr *apply(fn f, kexpr *x, kexpr *y)
{
	return kx_fn2(mem, f, x, y);
}

static kexpr *num(int64_t i)
{
	return kx_int(mem, i, DT_I64);
}

/* stride * i + dilation * r - pad */
static kexpr *position(const maker *m, int a, int i, int r)
{
	return apply(FN_SUB,
		  apply(FN_ADD,
			apply(FN_MUL, num(m->stride[a]), kx_var(mem, i)),
			apply(FN_MUL, kx_var(mem, r), num(m->dilation[a]))),
		  num(m->pad[a]));
}

/* A read with its dimensions in some order, 0 outside. */
static kexpr *add_read(maker *m, int n, kexpr *const *at, const int64_t *dims)
{
	kinput *in = &m->k->inputs[m->k->ninputs];
	kexpr *index[MAX_NDIM];
	int shift = pick(m->r, 0, n - 1);
	in->name = m->k->ninputs ? "b" : "a";
	in->type = DT_F64;
	in->ndim = n;
	for (int d = 0; d < n; d++) {
		in->dims[d] = dims[(d + shift) % n];
		index[d] = at[(d + shift) % n];
	}
	return kx_read(mem, m->k->ninputs++, DT_F64, n, index,
		       kx_float(mem, 0, DT_F64));
}

static kexpr *forward_body(maker *m)
{
	int ns = m->nspatial, i[3], r[3];
	int n = add_var(m, m->n, true), k = add_var(m, m->k_, true);
	for (int a = 0; a < ns; a++)
		i[a] = add_var(m, m->out[a], true);
	int c = add_var(m, m->c, false);
	kexpr *x[5] = { kx_var(mem, n), kx_var(mem, c) };
	kexpr *w[5] = { kx_var(mem, k), kx_var(mem, c) };
	int64_t xd[5] = { m->n, m->c }, wd[5] = { m->k_, m->c };
	for (int a = 0; a < ns; a++) {
		r[a] = add_var(m, m->taps[a], false);
		x[2 + a] = position(m, a, i[a], r[a]);
		w[2 + a] = kx_var(mem, r[a]);
		xd[2 + a] = m->in[a];
		wd[2 + a] = m->taps[a];
	}
	return apply(FN_MUL, add_read(m, ns + 2, x, xd),
		  add_read(m, ns + 2, w, wd));
}

static kexpr *filter_body(maker *m)
{
	int ns = m->nspatial, i[3], r[3];
	int c = add_var(m, m->c, true), k = add_var(m, m->k_, true);
	for (int a = 0; a < ns; a++)
		r[a] = add_var(m, m->taps[a], true);
	int n = add_var(m, m->n, false);
	kexpr *x[5] = { kx_var(mem, n), kx_var(mem, c) };
	kexpr *y[5] = { kx_var(mem, n), kx_var(mem, k) };
	int64_t xd[5] = { m->n, m->c }, yd[5] = { m->n, m->k_ };
	for (int a = 0; a < ns; a++) {
		i[a] = add_var(m, m->out[a], false);
		x[2 + a] = position(m, a, i[a], r[a]);
		y[2 + a] = kx_var(mem, i[a]);
		xd[2 + a] = m->in[a];
		yd[2 + a] = m->out[a];
	}
	return apply(FN_MUL, add_read(m, ns + 2, y, yd),
		  add_read(m, ns + 2, x, xd));
}

static kexpr *data_body(maker *m)
{
	int ns = m->nspatial, h[3], r[3];
	int c = add_var(m, m->c, true), n = add_var(m, m->n, true);
	for (int a = 0; a < ns; a++)
		h[a] = add_var(m, m->in[a], true);
	int k = add_var(m, m->k_, false);
	kexpr *y[5] = { kx_var(mem, n), kx_var(mem, k) };
	kexpr *w[5] = { kx_var(mem, k), kx_var(mem, c) }, *when = NULL;
	int64_t yd[5] = { m->n, m->k_ }, wd[5] = { m->k_, m->c };
	for (int a = 0; a < ns; a++) {
		r[a] = add_var(m, m->taps[a], false);
		kexpr *at = apply(FN_ADD, num(m->pad[a]),
			       apply(FN_SUB, kx_var(mem, h[a]),
				  apply(FN_MUL, num(m->dilation[a]),
				     kx_var(mem, r[a]))));
		kexpr *rest = apply(FN_MOD, at, num(m->stride[a]));
		kexpr *whole = apply(FN_EQ, rest, num(0));
		if (m->stride[a] > 1)
			when = when ? apply(FN_AND, when, whole) : whole;
		y[2 + a] = m->stride[a] > 1 ?
				   apply(FN_DIV, at, num(m->stride[a])) : at;
		w[2 + a] = kx_var(mem, r[a]);
		yd[2 + a] = m->out[a];
		wd[2 + a] = m->taps[a];
	}
	kexpr *e = add_read(m, ns + 2, y, yd);
	if (when)
		e = kx_select(mem, when, e, kx_float(mem, 0, DT_F64));
	return apply(FN_MUL, e, add_read(m, ns + 2, w, wd));
}

static kernel *random_convolution(rng *r)
{
	maker m = { .k = ARENA_NEW(mem, kernel), .r = r,
		    .kind = (conv_kind)pick(r, 0, 2) };
	m.k->name = "convolution";
	m.k->type = DT_F64;
	m.k->reducer = RED_SUM;
	m.k->inputs = ARENA_ARRAY(mem, kinput, 2);
	m.k->vars = ARENA_ARRAY(mem, kvar, MAX_NVARS);
	m.nspatial = pick(r, 1, 2);
	m.n = pick(r, 1, 3);
	m.k_ = pick(r, 1, 3);
	m.c = pick(r, 1, 3);
	for (int a = 0; a < m.nspatial; a++) {
		m.taps[a] = pick(r, 1, 3);
		m.stride[a] = pick(r, 1, 3);
		m.dilation[a] = pick(r, 1, 2);
		m.pad[a] = pick(r, 0, 2);
		m.out[a] = pick(r, 1, 6);
		m.in[a] = m.stride[a] * (m.out[a] - 1) +
			  m.dilation[a] * (m.taps[a] - 1) + 1 - m.pad[a] -
			  pick(r, -1, 2);
		m.in[a] = m.in[a] < 1 ? 1 : m.in[a];
	}
	m.k->body = m.kind == CONV_FORWARD ? forward_body(&m) :
		    m.kind == CONV_DATA	   ? data_body(&m) : filter_body(&m);
	kernel_finish(mem, m.k);
	return m.k;
}

/* ---- running them ------------------------------------------------------ */

static double *element(double *const *data, const conv_call *x, conv_side s,
		       int64_t i, int64_t j, const int64_t *at)
{
	const conv_operand *o = &x->on[s];
	double *p = data[s] + o->at + i * o->strides[0] + j * o->strides[1];
	for (int a = 0; a < x->nspatial; a++)
		p += at[a] * o->strides[2 + a];
	return p;
}

/* One term of the sum, which goes to where the kind says. */
static void add_term(const conv_call *x, double *const *data, int64_t n,
		     int64_t k, int64_t c, const int64_t *i, const int64_t *r)
{
	int64_t h[CONV_MAX_SPATIAL];
	for (int a = 0; a < x->nspatial; a++) {
		h[a] = x->stride[a] * i[a] + x->dilation[a] * r[a] - x->pad[a];
		if (h[a] < 0 || h[a] >= x->on[CONV_X].dims[2 + a])
			return;
	}
	double *px = element(data, x, CONV_X, n, c, h);
	double *pw = element(data, x, CONV_W, k, c, r);
	double *py = element(data, x, CONV_Y, n, k, i);
	if (x->kind == CONV_FORWARD)
		*py += *px * *pw;
	else if (x->kind == CONV_DATA)
		*px += *py * *pw;
	else
		*pw += *py * *px;
}

static void run(const conv_call *x, double *const *data)
{
	const int64_t *y = x->on[CONV_Y].dims, *w = x->on[CONV_W].dims;
	int64_t rows = y[2], cols = x->nspatial > 1 ? y[3] : 1;
	int64_t rtaps = w[2], ctaps = x->nspatial > 1 ? w[3] : 1;
	for (int64_t at = 0; at < y[0] * y[1] * w[1] * rows * cols * rtaps *
				     ctaps; at++) {
		int64_t t = at, n = t % y[0], k = (t /= y[0]) % y[1];
		int64_t c = (t /= y[1]) % w[1], i[2], r[2];
		t /= w[1];
		i[0] = t % rows;
		i[1] = (t /= rows) % cols;
		r[0] = (t /= cols) % rtaps;
		r[1] = t / rtaps;
		add_term(x, data, n, k, c, i, r);
	}
}

/* Returns whether there is a call for the part. */
static bool expect_equal(rng *r, const kernel *k, const convolution *c,
			 const box *space)
{
	view in[2], want, got;
	conv_call call;
	eval_fault fault;
	for (int i = 0; i < 2; i++) {
		box need = kernel_need(k, space, i);
		box whole = box_whole(k->inputs[i].dims, k->inputs[i].ndim);
		in[i] = random_view(mem, r, chance(r, 50) ? &need : &whole);
	}
	box made = kernel_produces(k, space);
	int64_t n = box_volume(&made);
	double *zero = ARENA_ARRAY(mem, double, n + 1);
	double *other = ARENA_ARRAY(mem, double, n + 1);
	memset(zero, 0, (size_t)n * sizeof(*zero));
	want = view_dense(other, DT_F64, &made);
	got = view_dense(zero, DT_F64, &made);
	ck_assert_int_eq(kernel_eval(k, space, in, &want, NULL, &fault),
			 EVAL_OK);
	if (!convolution_call(k, c, space, in, &got, &call))
		return false;
	double *data[CONV_SIDES];
	for (int s = 0; s < CONV_SIDES; s++)
		data[s] = c->operand[s] < 2 ? in[c->operand[s]].data : zero;
	run(&call, data);
	for (int64_t i = 0; i < n; i++)
		ck_assert_msg(zero[i] == other[i],
			      "%s, kind %d: element %d: %g, not %g",
			      kernel_text(mem, k), (int)c->kind, (int)i,
			      zero[i], other[i]);
	return true;
}

START_TEST(calls_compute_the_kernel)
{
	int done[3] = { 0 }, tried = 0, missed = 0;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		rng r = { seed * 131 };
		kernel *k = random_convolution(&r);
		convolution c;
		ck_assert_msg(convolution_of(k, &c), "%s",
			      kernel_text(mem, k));
		for (int i = 0; i < 3; i++) {
			box part = i ? random_part(&r, k) : kernel_space(k);
			bool had = expect_equal(&r, k, &c, &part);
			done[c.kind] += had;
			missed += !had && i == 0;
			tried += i == 0;
		}
	}
	for (int kind = 0; kind < 3; kind++)
		ck_assert_int_gt(done[kind], 500);
	ck_assert_int_lt(missed, tried / 5);
}
END_TEST

/* ---- what is none ------------------------------------------------------ */

START_TEST(others_are_not_found)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		rng r = { seed * 131 };
		kernel *k = random_convolution(&r);
		convolution c;
		kexpr *body = k->body, *x = body->args[0], *y = body->args[1];

		k->reducer = RED_MAX;
		ck_assert(!convolution_of(k, &c));
		k->reducer = RED_SUM;

		k->body = apply(FN_ADD, x, y);
		ck_assert(!convolution_of(k, &c));
		k->body = apply(FN_MUL, x, x);
		ck_assert(!convolution_of(k, &c));

		/* Something else than 0 outside. */
		kexpr *read = x->kind == KX_SELECT ? x->args[1] : x;
		kexpr **other = &read->args[read->nargs - 1];
		*other = kx_float(mem, 1, DT_F64);
		k->body = body;
		ck_assert(!convolution_of(k, &c));
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("convolution");
	TCase *tc = tcase_create("convolution");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, calls_compute_the_kernel);
	tcase_add_test(tc, others_are_not_found);
	suite_add_tcase(s, tc);
	return s;
}
