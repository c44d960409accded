#include "config.h"

#include "kernel/convolution.h"

#include <string.h>

#include "kernel/conv_group.h"
#include "kernel/index_interval.h"

/* ---- roles ------------------------------------------------------------- */

static bool is_output(const kernel *k, int v)
{
	return v < k->nout;
}

/* The two variables of a window: one of the result, and one that is reduced. */
static bool window_of(const kernel *k, const conv_place *p, int *out,
		      int *reduced)
{
	*out = *reduced = -1;
	if (p->over_by || p->modulus)
		return false;
	for (int v = 0; v < k->nvars; v++)
		if (p->vars >> v & 1) {
			int *to = is_output(k, v) ? out : reduced;
			if (*to >= 0)
				return false;
			*to = v;
		}
	return *out >= 0 && *reduced >= 0;
}

/* The variables of the two factors by their role in a convolution, which
 * determine its kind and the variables of one spatial axis. */
typedef struct roles {
	const kernel *k;
	const conv_reading *plain, *window;
	/* the window's plain variables: of the result, and reduced */
	int kept, summed;
	int other;	  /* the result's variable that the window lacks */
	int naxes;
	int out[CONV_MAX_SPATIAL], reduced[CONV_MAX_SPATIAL];
	const conv_place *place[CONV_MAX_SPATIAL];
} roles;

static bool read_window(roles *x)
{
	x->kept = x->summed = -1;
	for (int d = 0; d < kx_ndim(x->window->read); d++) {
		const conv_place *p = &x->window->at[d];
		int v = conv_read_var(p);
		int *to = v >= 0 && is_output(x->k, v) ? &x->kept : &x->summed;
		if (v >= 0) {
			if (*to >= 0)
				return false;
			*to = v;
			continue;
		}
		int i = x->naxes++;
		if (i >= CONV_MAX_SPATIAL ||
		    !window_of(x->k, p, &x->out[i], &x->reduced[i]))
			return false;
		x->place[i] = p;
	}
	return x->kept >= 0 && x->summed >= 0 && x->naxes > 0;
}

/* Checks that the other factor has all reduced variables, and one of the
 * result. */
static bool read_plain(roles *x)
{
	uint32_t have = 0, want = 1u << x->summed, all;
	int ndim = kx_ndim(x->plain->read);
	for (int i = 0; i < x->naxes; i++)
		want |= 1u << x->reduced[i];
	x->other = -1;
	for (int d = 0; d < ndim; d++) {
		int v = conv_read_var(&x->plain->at[d]);
		if (v < 0 || have >> v & 1)
			return false;
		have |= 1u << v;
		if (is_output(x->k, v))
			x->other = v;
	}
	if (x->other < 0 || x->other == x->kept)
		return false;
	all = want | 1u << x->other | 1u << x->kept;
	for (int i = 0; i < x->naxes; i++)
		all |= 1u << x->out[i];
	return have == (want | 1u << x->other) &&
	       all == (1u << x->k->nvars) - 1 && ndim == x->naxes + 2 &&
	       x->k->nout == x->naxes + 2;
}

/* ---- the kinds --------------------------------------------------------- */

static int64_t extent_of(const roles *x, const int *vars)
{
	int64_t n = 1;
	for (int i = 0; i < x->naxes; i++)
		n += x->k->vars[vars[i]].extent;
	return n;
}

/* The kind: the gradient of the data divides positions, or reads backwards; the
 * gradient of the filter sums over more variables than it keeps. */
static conv_kind kind_of(const roles *x)
{
	for (int i = 0; i < x->naxes; i++)
		if (x->place[i]->divisor > 1 ||
		    x->place[i]->coef[x->reduced[i]] < 0)
			return CONV_DATA;
	return extent_of(x, x->reduced) > extent_of(x, x->out) ? CONV_FILTER :
								 CONV_FORWARD;
}

static bool axis_of(const roles *x, int i, conv_kind kind, conv_axis *to)
{
	const conv_place *p = x->place[i];
	int64_t out = p->coef[x->out[i]], reduced = p->coef[x->reduced[i]];
	switch (kind) {
	case CONV_FORWARD:
		*to = (conv_axis){ x->out[i], x->reduced[i], out, reduced,
				   -p->c };
		return out > 0 && reduced > 0;
	case CONV_FILTER:
		*to = (conv_axis){ x->reduced[i], x->out[i], reduced, out,
				   -p->c };
		return out > 0 && reduced > 0;
	case CONV_DATA:
		*to = (conv_axis){ x->out[i], x->reduced[i], p->divisor,
				   -reduced, p->c };
		return out == 1 && reduced < 0;
	}
	return false;
}

static int dim_of(const conv_reading *r, int var)
{
	for (int d = 0; d < kx_ndim(r->read); d++)
		if (conv_read_var(&r->at[d]) == var)
			return d;
	return -1;
}

static int window_dim(const roles *x, int i)
{
	return (int)(x->place[i] - x->window->at);
}

/* Finds the dimensions of operands.  The operand that is not read is the
 * result, whose dimensions are the variables. */
static void find_dims(const roles *x, convolution *c)
{
	static const conv_side windows[] = { CONV_X, CONV_Y, CONV_X };
	static const conv_side plains[] = { CONV_W, CONV_W, CONV_Y };
	static const conv_side results[] = { CONV_Y, CONV_X, CONV_W };
	conv_side window = windows[c->kind], plain = plains[c->kind];
	conv_side result = results[c->kind];
	const int first[CONV_SIDES][2] = { { c->n, c->c },
					   { c->k, c->c },
					   { c->n, c->k } };
	c->operand[window] = x->window->read->input;
	c->operand[plain] = x->plain->read->input;
	c->operand[result] = x->k->ninputs;
	for (int i = 0; i < 2; i++) {
		c->dim[window][i] = dim_of(x->window, first[window][i]);
		c->dim[plain][i] = dim_of(x->plain, first[plain][i]);
		c->dim[result][i] = first[result][i];
	}
	for (int i = 0; i < c->nspatial; i++) {
		c->dim[window][2 + i] = window_dim(x, i);
		c->dim[plain][2 + i] = dim_of(x->plain, x->reduced[i]);
		c->dim[result][2 + i] = x->out[i];
	}
}

/* Sets the groups of filters; false unless each has the same number of
 * channels. */
static bool set_groups(const roles *x, const conv_grouping *g, convolution *c)
{
	c->groups = x->k->vars[g->var].extent / g->each;
	c->each = g->each;
	c->size = g->size;
	if (c->kind == CONV_FORWARD && g->inside == x->kept)
		c->kind = CONV_FILTER;
	return g->var == x->other &&
	       g->inside == (c->kind == CONV_FILTER ? x->kept : x->summed);
}

bool convolution_of(const kernel *k, convolution *c)
{
	return convolution_in_groups(k, c) && c->groups == 1;
}

bool convolution_in_groups(const kernel *k, convolution *c)
{
	const kexpr *e = k->body;
	conv_reading one, two;
	conv_grouping g;
	*c = (convolution){ .groups = 1 };
	if (k->reducer != RED_SUM || k->nderived || !e || e->kind != KX_FN ||
	    e->fn != FN_MUL || !dtype_is_float(k->type) ||
	    !conv_read_of(e->args[0], &one) || !conv_read_of(e->args[1], &two))
		return false;
	bool grouped = conv_group_join(k, &one, &two, &g) ||
		       conv_group_join(k, &two, &one, &g);
	if (!one.nwindows == !two.nwindows)
		return false;
	roles x = { .k = k, .window = one.nwindows ? &one : &two,
		    .plain = one.nwindows ? &two : &one };
	if (!read_window(&x) || !read_plain(&x))
		return false;
	c->kind = kind_of(&x);
	c->nspatial = x.naxes;
	if (grouped && !set_groups(&x, &g, c))
		return false;
	for (int i = 0; i < x.naxes; i++)
		if (!axis_of(&x, i, c->kind, &c->axes[i]))
			return false;
	c->n = c->kind == CONV_FILTER ? x.summed : x.kept;
	c->c = c->kind == CONV_FORWARD ? x.summed :
	       c->kind == CONV_DATA	 ? x.other : x.kept;
	c->k = c->kind == CONV_DATA ? x.summed : x.other;
	find_dims(&x, c);
	return true;
}

/* ---- calls ------------------------------------------------------------- */

typedef struct part {
	const kernel *k;
	const convolution *c;
	const box *space;
	const view *views[CONV_SIDES];
	conv_call *to;
	bool *inside; /* everything taken so far is in the views */
} part;

/* Takes elements lo .. hi of an operand's dimension, the i-th in a call's
 * order.  No call can have elements that are not held, for which a guarded read
 * gives zeros; only positions are clipped before. */
static void take(const part *x, conv_side side, int i, int64_t lo, int64_t hi)
{
	const view *v = x->views[side];
	int d = x->c->dim[side][i];
	conv_operand *to = &x->to->on[side];
	*x->inside &= v->at.lo[d] <= lo && hi <= v->at.hi[d];
	to->at += (lo - v->at.lo[d]) * v->stride[d];
	to->dims[i] = hi - lo;
	to->strides[i] = v->stride[d];
}

static void take_var(const part *x, conv_side side, int i, int var)
{
	take(x, side, i, x->space->lo[var], x->space->hi[var]);
}

/* Takes the channels of x and y: those of the plain side along `var', which is
 * in one or several groups.  Several groups are taken whole. */
static bool take_groups(const part *x, int var, int inside)
{
	const convolution *c = x->c;
	int64_t lo = x->space->lo[var], hi = x->space->hi[var];
	int64_t first = x->space->lo[inside], end = x->space->hi[inside];
	int64_t group = lo / c->each, n = (hi - 1) / c->each - group + 1;
	bool data = c->kind == CONV_DATA;
	if (n > 1 && (lo % c->each || hi % c->each || first != 0 ||
		      end != c->size))
		return false;
	x->to->groups = n;
	first += group * c->size;
	end += (group + n - 1) * c->size;
	take(x, data ? CONV_Y : CONV_X, 1, first, end);
	take_var(x, data ? CONV_X : CONV_Y, 1, var);
	if (!data) {
		take_var(x, CONV_W, 0, var);
		take_var(x, CONV_W, 1, inside);
		return true;
	}
	take(x, CONV_W, 0, first, end);
	take(x, CONV_W, 1, lo - group * c->each,
	     n > 1 ? c->each : hi - group * c->each);
	return true;
}

/* The same without groups. */
static void take_channels(const part *x)
{
	const convolution *c = x->c;
	take_var(x, CONV_X, 1, c->c);
	take_var(x, CONV_W, 0, c->k);
	take_var(x, CONV_W, 1, c->c);
	take_var(x, CONV_Y, 1, c->k);
}

/* The positions of an operand that may be read: inside of its input, and
 * held. */
static void clip(const part *x, conv_side side, int i, int64_t *lo,
		 int64_t *hi)
{
	const view *v = x->views[side];
	int d = x->c->dim[side][i];
	*lo = max_i64(*lo, v->at.lo[d]);
	*hi = min_i64(*hi, v->at.hi[d]);
}

/* Derives the positions of x from those of y. */
static bool take_axis(const part *x, int i)
{
	const conv_axis *a = &x->c->axes[i];
	int64_t i0 = x->space->lo[a->out], i1 = x->space->hi[a->out];
	int64_t r0 = x->space->lo[a->tap], r1 = x->space->hi[a->tap];
	int64_t first = a->stride * i0 + a->dilation * r0 - a->pad;
	int64_t lo = first, hi = a->stride * (i1 - 1) +
				 a->dilation * (r1 - 1) - a->pad + 1;
	clip(x, CONV_X, 2 + i, &lo, &hi);
	if (lo >= hi)
		return false;
	x->to->pad[i] = lo - first;
	take(x, CONV_X, 2 + i, lo, hi);
	take_var(x, CONV_Y, 2 + i, a->out);
	return true;
}

/* Derives the positions of y from those of x. */
static bool take_data_axis(const part *x, int i)
{
	const conv_axis *a = &x->c->axes[i];
	int64_t h0 = x->space->lo[a->out], h1 = x->space->hi[a->out];
	int64_t r0 = x->space->lo[a->tap], r1 = x->space->hi[a->tap];
	int64_t lo = h0 + a->pad - a->dilation * (r1 - 1) + a->stride - 1;
	int64_t hi = h1 - 1 + a->pad - a->dilation * r0;
	lo = span_div((span){ lo, lo }, a->stride).lo;
	hi = span_div((span){ hi, hi }, a->stride).lo + 1;
	clip(x, CONV_Y, 2 + i, &lo, &hi);
	x->to->pad[i] = h0 + a->pad - a->stride * lo - a->dilation * r0;
	if (lo >= hi || x->to->pad[i] < 0)
		return false;
	take(x, CONV_Y, 2 + i, lo, hi);
	take_var(x, CONV_X, 2 + i, a->out);
	return true;
}

bool convolution_call(const kernel *k, const convolution *c, const box *space,
		      const view *inputs, const view *out, conv_call *to)
{
	bool inside = true;
	part x = { .k = k, .c = c, .space = space, .to = to,
		   .inside = &inside };
	*to = (conv_call){ .kind = c->kind, .nspatial = c->nspatial,
			   .groups = 1 };
	for (int v = 0; v < k->nvars; v++)
		if (space->lo[v] >= space->hi[v])
			return false;
	for (int s = 0; s < CONV_SIDES; s++)
		x.views[s] = c->operand[s] < k->ninputs ?
				     &inputs[c->operand[s]] : out;
	take_var(&x, CONV_X, 0, c->n);
	take_var(&x, CONV_Y, 0, c->n);
	if (c->groups == 1)
		take_channels(&x);
	else if (!take_groups(&x, c->kind == CONV_DATA ? c->c : c->k,
			      c->kind == CONV_DATA ? c->k : c->c))
		return false;
	for (int i = 0; i < c->nspatial; i++) {
		to->stride[i] = c->axes[i].stride;
		to->dilation[i] = c->axes[i].dilation;
		take_var(&x, CONV_W, 2 + i, c->axes[i].tap);
		if (!(c->kind == CONV_DATA ? take_data_axis(&x, i) :
					     take_axis(&x, i)))
			return false;
	}
	return inside;
}
