/* The contents of tensors: random, poisoned, compared. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <math.h>
#include <string.h>

/* ---- making ------------------------------------------------------------- */

int64_t view_count(const view *v)
{
	return box_volume(&v->at);
}

view new_view(arena *a, dtype t, int ndim, const int64_t *dims)
{
	box all = box_whole(dims, ndim);
	size_t n = (size_t)box_volume(&all);
	return view_dense(arena_calloc(a, n + 1, dtype_size(t)), t, &all);
}

view copy_view(arena *a, const view *v)
{
	view c = *v;
	size_t n = (size_t)view_count(v) + 1;
	c.data = arena_calloc(a, n, dtype_size(v->type));
	memcpy(c.data, v->data, (n - 1) * dtype_size(v->type));
	return c;
}

enum { STYLE_WHOLE, STYLE_POSITIVE, STYLE_ANY, STYLES };

/* Integers are summed without rounding.  Positive numbers keep roots and
 * logarithms from being NaN. */
static double random_float(rng *r, int style)
{
	double x = (double)rng_in(r, 1, 4096) / 1024;
	switch (style) {
	case STYLE_WHOLE:
		return (double)rng_in(r, -4, 4);
	case STYLE_POSITIVE:
		return x / 2 + 0.125;
	default:
		return rng_percent(r, 50) ? x : -x;
	}
}

void fill_random(rng *r, const contents *c, view *v)
{
	int64_t n = view_count(v);
	for (int64_t i = 0; i < n; i++)
		if (dtype_is_float(v->type))
			elem_set_f64(v->type, v->data, i,
				     random_float(r, c->style % STYLES));
		else if (v->type == DT_BOOL)
			elem_set_i64(v->type, v->data, i, rng_percent(r, 50));
		else
			elem_set_i64(v->type, v->data, i,
				     rng_in(r, c->lo, c->hi));
}

/* ---- poison ------------------------------------------------------------- */

static void poison(view *v, int64_t i)
{
	static const int64_t trap = 0x5a5a5a5a5a5a5a5a;
	int64_t now;
	if (dtype_is_float(v->type)) {
		elem_set_f64(v->type, v->data, i, NAN);
		return;
	}
	now = elem_get_i64(v->type, v->data, i);
	if (v->type == DT_BOOL) {
		elem_set_i64(v->type, v->data, i, !now);
		return;
	}
	elem_set_i64(v->type, v->data, i, trap);
	if (elem_get_i64(v->type, v->data, i) == now)
		elem_set_i64(v->type, v->data, i, now ^ 1);
}

view poisoned(arena *a, const view *v, const box *keep)
{
	view c = copy_view(a, v);
	int64_t n = view_count(v), at[MAX_NDIM];
	for (int d = 0; d < v->at.n; d++)
		at[d] = v->at.lo[d];
	for (int64_t i = 0; i < n; i++) {
		bool kept = true;
		for (int d = 0; d < v->at.n; d++)
			kept &= at[d] >= keep->lo[d] && at[d] < keep->hi[d];
		if (!kept)
			poison(&c, i);
		for (int d = v->at.n; d-- > 0;) {
			if (++at[d] < v->at.hi[d])
				break;
			at[d] = v->at.lo[d];
		}
	}
	return c;
}

view new_result(arena *a, const kernel *k)
{
	int64_t dims[MAX_NDIM];
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	view v = new_view(a, k->type, k->nout, dims);
	int64_t n = view_count(&v);
	for (int64_t i = 0; i < n; i++)
		poison(&v, i);
	return v;
}

/* ---- comparing ---------------------------------------------------------- */

static bool same_float(double x, double y, double slack, bool loose)
{
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	if (x == y)
		return loose || !signbit(x) == !signbit(y);
	return fabs(x - y) <= slack;
}

bool same_values(const view *got, const view *want, const double *slack,
		 bool loose, int64_t *at)
{
	int64_t n = view_count(want);
	for (*at = 0; *at < n; ++*at) {
		bool same = dtype_is_float(want->type)
			? same_float(elem_get_f64(got->type, got->data, *at),
				     elem_get_f64(want->type, want->data, *at),
				     slack ? slack[*at] : 0, loose)
			: elem_get_i64(got->type, got->data, *at) ==
			  elem_get_i64(want->type, want->data, *at);
		if (!same)
			return false;
	}
	return true;
}

const char *value_text(arena *a, const view *v, int64_t at)
{
	if (dtype_is_float(v->type))
		return arena_printf(a, "%.9g",
				    elem_get_f64(v->type, v->data, at));
	return arena_printf(a, "%lld",
			    (long long)elem_get_i64(v->type, v->data, at));
}

/* ---- rounding ----------------------------------------------------------- */

/* The least positive number with full precision. */
static double least_normal(dtype t)
{
	return t == DT_F64 ? 0x1p-1022 : t == DT_F16 ? 0x1p-14 : 0x1p-126;
}

/* The error of a product from underflow of its parts.  Each part below the
 * least normal number may be off by that number, times the other parts. */
static double lost(dtype t, const view *parts, int nparts, int64_t at)
{
	double all = 0;
	for (int p = 0; p < nparts; p++) {
		double x = least_normal(t);
		if (fabs(elem_get_f64(t, parts[p].data, at)) >= x)
			continue;
		for (int q = 0; q < nparts; q++)
			x *= q == p ? 1 : fabs(elem_get_f64(t, parts[q].data,
							    at));
		all += x;
	}
	return all;
}

double unit_roundoff(dtype t)
{
	switch (t) {
	case DT_F64:
		return ldexp(1, -53);
	case DT_F32:
		return ldexp(1, -24);
	case DT_F16:
		return ldexp(1, -11);
	case DT_BF16:
		return ldexp(1, -8);
	case DT_F8E4M3FN:
	case DT_F8E4M3FNUZ:
	case DT_F6E2M3:
		return ldexp(1, -4);
	case DT_F8E5M2:
	case DT_F8E5M2FNUZ:
	case DT_F6E3M2:
		return ldexp(1, -3);
	case DT_F4E2M1:
		return ldexp(1, -2);
	default: /* a power of 2 */
		return ldexp(1, -1);
	}
}

void add_terms(trial *t, const kernel *k, const view *inputs,
		      double *sum, int64_t n)
{
	kernel terms = *k;
	terms.type = DT_F64;
	terms.body = kx_fn1(t->arena, FN_ABS,
			    kx_cast(t->arena, k->body, DT_F64));
	view v = new_result(t->arena, &terms);
	box all = kernel_space(k);
	kernel_eval(&terms, &all, inputs, &v, NULL, NULL);
	for (int64_t i = 0; i < n; i++)
		sum[i] += ((double *)v.data)[i];
}

double *rounding_slack(trial *t, const kernel *k, const view *inputs,
		       reducer r, const view *parts, int nparts)
{
	if (!dtype_is_float(k->type) || (r != RED_SUM && r != RED_PROD))
		return NULL;
	int64_t n = view_count(&parts[0]), terms = nparts;
	double *sum = ARENA_ARRAY(t->arena, double, n + 1);
	for (int p = 0; p < nparts && r == RED_SUM; p++)
		for (int64_t i = 0; i < n; i++)
			sum[i] += fabs(elem_get_f64(k->type, parts[p].data,
						    i));
	for (int64_t i = 0; i < n && r == RED_PROD; i++) {
		sum[i] = 1;
		for (int p = 0; p < nparts; p++)
			sum[i] *= fabs(elem_get_f64(k->type, parts[p].data,
						    i));
	}
	if (k->reducer == RED_SUM && r == RED_SUM && k->body)
		add_terms(t, k, inputs, sum, n);
	for (int v = k->nout; v < k->nvars; v++)
		terms *= k->vars[v].extent > 0 ? k->vars[v].extent : 1;
	double u = unit_roundoff(k->type) * (8 + 2 * log2((double)terms));
	for (int64_t i = 0; i < n; i++)
		sum[i] *= isfinite(sum[i]) ? u : 0;
	for (int64_t i = 0; i < n && r == RED_PROD; i++)
		sum[i] += lost(k->type, parts, nparts, i);
	return sum;
}
