#include "config.h"

#include "tests/unit/random_convolution.h"

/* Variables: of the result, then those that are reduced. */
typedef struct maker {
	arena *a;
	kernel *k;
	rng *r;
	dtype type;
	int nspatial;
	/* Of each group: filters, channels. */
	int64_t n, k_, c, groups, in[CONV_MAX_SPATIAL], out[CONV_MAX_SPATIAL];
	int64_t taps[CONV_MAX_SPATIAL], stride[CONV_MAX_SPATIAL];
	int64_t dilation[CONV_MAX_SPATIAL], pad[CONV_MAX_SPATIAL];
} maker;

static int add_var(maker *m, int64_t extent, bool output)
{
	kernel *k = m->k;
	k->vars[k->nvars].name = arena_printf(m->a, "v%d", k->nvars);
	k->vars[k->nvars].kind = output ? KVAR_OUTPUT : KVAR_REDUCE;
	k->vars[k->nvars].extent = extent;
	k->nout += output;
	return k->nvars++;
}

static kexpr *apply(const maker *m, fn f, kexpr *x, kexpr *y)
{
	return kx_fn2(m->a, f, x, y);
}

static kexpr *num(const maker *m, int64_t i)
{
	return kx_int(m->a, i, DT_I64);
}

/* Of variable `inside', with `size' values, in the group of var, of which
 * `each' are one. */
static kexpr *in_group(const maker *m, int inside, int64_t size, int var,
		       int64_t each)
{
	if (m->groups == 1)
		return kx_var(m->a, inside);
	kexpr *group = apply(m, FN_DIV, kx_var(m->a, var), num(m, each));
	return apply(m, FN_ADD, kx_var(m->a, inside),
		     apply(m, FN_MUL, num(m, size), group));
}

/* stride * i + dilation * r - pad */
static kexpr *position(const maker *m, int a, int i, int r)
{
	return apply(m, FN_SUB,
		     apply(m, FN_ADD,
			   apply(m, FN_MUL, num(m, m->stride[a]),
				 kx_var(m->a, i)),
			   apply(m, FN_MUL, num(m, m->dilation[a]),
				 kx_var(m->a, r))),
		     num(m, m->pad[a]));
}

/* A read with its dimensions in some order, 0 outside. */
static kexpr *add_read(maker *m, int n, kexpr *const *at, const int64_t *dims)
{
	kinput *in = &m->k->inputs[m->k->ninputs];
	kexpr *index[MAX_NDIM];
	int shift = pick(m->r, 0, n - 1);
	in->name = m->k->ninputs ? "b" : "a";
	in->type = m->type;
	in->ndim = n;
	for (int d = 0; d < n; d++) {
		in->dims[d] = dims[(d + shift) % n];
		index[d] = at[(d + shift) % n];
	}
	return kx_read(m->a, m->k->ninputs++, m->type, n, index,
		       kx_float(m->a, 0, m->type));
}

static kexpr *forward_body(maker *m)
{
	int ns = m->nspatial, i[3], r[3];
	int64_t filters = m->k_ * m->groups, channels = m->c * m->groups;
	int n = add_var(m, m->n, true), k = add_var(m, filters, true);
	for (int a = 0; a < ns; a++)
		i[a] = add_var(m, m->out[a], true);
	int c = add_var(m, m->c, false);
	kexpr *x[5] = { kx_var(m->a, n), in_group(m, c, m->c, k, m->k_) };
	kexpr *w[5] = { kx_var(m->a, k), kx_var(m->a, c) };
	int64_t xd[5] = { m->n, channels }, wd[5] = { filters, m->c };
	for (int a = 0; a < ns; a++) {
		r[a] = add_var(m, m->taps[a], false);
		x[2 + a] = position(m, a, i[a], r[a]);
		w[2 + a] = kx_var(m->a, r[a]);
		xd[2 + a] = m->in[a];
		wd[2 + a] = m->taps[a];
	}
	return apply(m, FN_MUL, add_read(m, ns + 2, x, xd),
		     add_read(m, ns + 2, w, wd));
}

static kexpr *filter_body(maker *m)
{
	int ns = m->nspatial, i[3], r[3];
	int64_t filters = m->k_ * m->groups, channels = m->c * m->groups;
	int c = add_var(m, m->c, true), k = add_var(m, filters, true);
	for (int a = 0; a < ns; a++)
		r[a] = add_var(m, m->taps[a], true);
	int n = add_var(m, m->n, false);
	kexpr *x[5] = { kx_var(m->a, n), in_group(m, c, m->c, k, m->k_) };
	kexpr *y[5] = { kx_var(m->a, n), kx_var(m->a, k) };
	int64_t xd[5] = { m->n, channels }, yd[5] = { m->n, filters };
	for (int a = 0; a < ns; a++) {
		i[a] = add_var(m, m->out[a], false);
		x[2 + a] = position(m, a, i[a], r[a]);
		y[2 + a] = kx_var(m->a, i[a]);
		xd[2 + a] = m->in[a];
		yd[2 + a] = m->out[a];
	}
	return apply(m, FN_MUL, add_read(m, ns + 2, y, yd),
		     add_read(m, ns + 2, x, xd));
}

/* The place in y, and, where that is in steps, whether there is one. */
static kexpr *position_back(const maker *m, int a, int h, int r, kexpr **when)
{
	kexpr *at = apply(m, FN_ADD, num(m, m->pad[a]),
			  apply(m, FN_SUB, kx_var(m->a, h),
				apply(m, FN_MUL, num(m, m->dilation[a]),
				      kx_var(m->a, r))));
	if (m->stride[a] == 1)
		return at;
	kexpr *rest = apply(m, FN_MOD, at, num(m, m->stride[a]));
	kexpr *whole = apply(m, FN_EQ, rest, num(m, 0));
	*when = *when ? apply(m, FN_AND, *when, whole) : whole;
	return apply(m, FN_DIV, at, num(m, m->stride[a]));
}

static kexpr *data_body(maker *m)
{
	int ns = m->nspatial, h[3], r[3];
	int64_t filters = m->k_ * m->groups, channels = m->c * m->groups;
	int c = add_var(m, channels, true), n = add_var(m, m->n, true);
	for (int a = 0; a < ns; a++)
		h[a] = add_var(m, m->in[a], true);
	int k = add_var(m, m->k_, false);
	kexpr *own = in_group(m, k, m->k_, c, m->c), *when = NULL;
	kexpr *rest = m->groups == 1 ? kx_var(m->a, c)
				     : apply(m, FN_MOD, kx_var(m->a, c),
					     num(m, m->c));
	kexpr *y[5] = { kx_var(m->a, n), own };
	kexpr *w[5] = { own, rest };
	int64_t yd[5] = { m->n, filters }, wd[5] = { filters, m->c };
	for (int a = 0; a < ns; a++) {
		r[a] = add_var(m, m->taps[a], false);
		y[2 + a] = position_back(m, a, h[a], r[a], &when);
		w[2 + a] = kx_var(m->a, r[a]);
		yd[2 + a] = m->out[a];
		wd[2 + a] = m->taps[a];
	}
	kexpr *e = add_read(m, ns + 2, y, yd);
	if (when)
		e = kx_select(m->a, when, e, kx_float(m->a, 0, m->type));
	return apply(m, FN_MUL, e, add_read(m, ns + 2, w, wd));
}

static void pick_sizes(maker *m, int most)
{
	rng *r = m->r;
	m->nspatial = pick(r, 1, 2);
	m->n = pick(r, 1, 3);
	m->k_ = pick(r, 1, most);
	m->c = pick(r, 1, most);
	for (int a = 0; a < m->nspatial; a++) {
		m->taps[a] = pick(r, 1, 3);
		m->stride[a] = pick(r, 1, 3);
		m->dilation[a] = pick(r, 1, 2);
		m->pad[a] = pick(r, 0, 2);
		m->out[a] = pick(r, 1, 6);
		m->in[a] = m->stride[a] * (m->out[a] - 1) +
			   m->dilation[a] * (m->taps[a] - 1) + 1 - m->pad[a] -
			   pick(r, -1, 2);
		m->in[a] = m->in[a] < 1 ? 1 : m->in[a];
	}
}

kernel *random_convolution(arena *a, rng *r, const convolution_recipe *how)
{
	maker m = { .a = a, .k = ARENA_NEW(a, kernel), .r = r,
		    .type = how->type };
	conv_kind kind = (conv_kind)pick(r, 0, 2);
	*m.k = (kernel){ .name = "convolution", .type = how->type,
			 .reducer = RED_SUM,
			 .inputs = ARENA_ARRAY(a, kinput, 2),
			 .vars = ARENA_ARRAY(a, kvar, MAX_NVARS) };
	pick_sizes(&m, how->most);
	m.groups = pick(r, 1, how->groups);
	m.k->body = kind == CONV_FORWARD ? forward_body(&m) :
		    kind == CONV_DATA	 ? data_body(&m) : filter_body(&m);
	if (m.groups > 1)
		m.k->body = kx_simplify(a, m.k->body, m.k->vars);
	kernel_finish(a, m.k);
	return m.k;
}
