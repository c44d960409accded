/* Compares derived gradients in the float types in which they run with f64.
 *
 * The reference is the same gradient in f64, with the same inputs, which the
 * shorter type can represent.  If the operator makes choices, rounding may
 * change them.  So there are two kinds of inputs.  The first kind has few
 * different numbers, many of them equal; it is used if the operator computes
 * exactly the same from them in both types, and so makes the same choices.  The
 * second kind has any numbers; an element counts if inputs a few round-offs
 * away do not change it much.
 *
 * The effect of rounding intermediate values on an element is measured by
 * gradients in f64 with each stage rounded at random (Vignes, "A stochastic
 * arithmetic for reliable scientific computation", 1993).  These are compared
 * with each other.  If a gradient is wrong whenever something is rounded, all
 * of them are wrong. */
#include "config.h"

#include <math.h>

#include "compiler/verify/gradients.h"

enum {
	/* nearby gradients that are looked at: at first, and before a fault is
	 * reported */
	FEW = 2, MANY = 40,
	NEAR = 4,	/* round-offs between nearby inputs, at most */
	SLACK = 32,	/* round-offs by which a gradient may be off */
	/* factor by which it may be off more than nearby ones */
	SPREAD = 8,
	MOST_OFF = 4,	/* factor of the slack by which these may be off */
};

/* The same operator in both types, on the same inputs. */
typedef struct pair {
	trial *t;
	dtype type;
	run wide, narrow;
	const attr_value **wide_attrs, **narrow_attrs;
	view *wide_weights, *narrow_weights;
	bool tied; /* few different numbers */
} pair;

/* ---- inputs ------------------------------------------------------------- */

static double drawn(pair *p)
{
	rng *r = &p->t->v->random;
	if (p->tied)
		return (double)rng_in(r, -3, 3) / 2;
	double x = (double)rng_in(r, 1, 4096) / 1024;
	return rng_percent(r, 50) ? x : -x;
}

/* Fills two views with the same numbers, which the shorter type has. */
static void fill_both(pair *p, view *wide, view *narrow)
{
	int64_t n = view_count(wide);
	for (int64_t e = 0; e < n; e++) {
		elem_set_f64(narrow->type, narrow->data, e, drawn(p));
		elem_set_f64(wide->type, wide->data, e,
			     elem_get_f64(narrow->type, narrow->data, e));
	}
}

static view like(const trial *t, const tensor_type *type)
{
	return new_view(t->arena, type->type, type->ndim, type->dims);
}

/* Whether the shorter type cannot represent what the operator computes. */
static bool overflows(const pair *p)
{
	int n = p->wide.x->nparams + p->wide.x->nstages;
	for (int i = p->wide.x->nparams; i < n; i++) {
		const view *x = &p->wide.values[i], *y = &p->narrow.values[i];
		for (int64_t e = 0; e < view_count(x); e++)
			if (dtype_is_float(x->type) &&
			    isfinite(elem_get_f64(x->type, x->data, e)) &&
			    !isfinite(elem_get_f64(y->type, y->data, e)))
				return true;
	}
	return false;
}

static bool fill_inputs(pair *p)
{
	for (int i = 0; i < p->wide.x->nparams; i++) {
		view *wide = &p->wide.values[i], *narrow = &p->narrow.values[i];
		if (!dtype_is_float(p->wide.types[i].type)) {
			*wide = copy_view(p->t->arena, &p->t->values[i]);
			*narrow = *wide;
			continue;
		}
		*wide = like(p->t, &p->wide.types[i]);
		*narrow = like(p->t, &p->narrow.types[i]);
		fill_both(p, wide, narrow);
	}
	return execute_run(&p->wide) && execute_run(&p->narrow) &&
	       !overflows(p);
}

/* Draws the weights of the results; 0 for an element that is not finite in both
 * types.  Returns false if a result has another type than the two. */
static bool draw_weights(pair *p)
{
	int n = p->wide.x->nresults;
	p->wide_weights = ARENA_ARRAY(p->t->arena, view, n);
	p->narrow_weights = ARENA_ARRAY(p->t->arena, view, n);
	for (int i = 0; i < n; i++) {
		const tensor_type *wide = &p->wide.x->result_types[i];
		const tensor_type *narrow = &p->narrow.x->result_types[i];
		if (dtype_is_float(wide->type) != dtype_is_float(narrow->type))
			return false;
		if (!dtype_is_float(wide->type))
			continue;
		view *w = &p->wide_weights[i], *v = &p->narrow_weights[i];
		*w = like(p->t, wide);
		*v = like(p->t, narrow);
		fill_both(p, w, v);
		for (int j = 0; j < 2; j++) {
			run *r = j ? &p->wide : &p->narrow;
			const view *y = &r->values[r->x->results[i]];
			leave_infinite(y, w);
			leave_infinite(y, v);
		}
	}
	return true;
}

/* Whether everything that the operator computes is the same in both types. */
static bool is_exact(const pair *p)
{
	int n = p->wide.x->nparams + p->wide.x->nstages;
	for (int i = p->wide.x->nparams; i < n; i++) {
		const view *x = &p->wide.values[i], *y = &p->narrow.values[i];
		for (int64_t e = 0; e < view_count(x); e++)
			if (dtype_is_float(x->type) &&
			    elem_get_f64(x->type, x->data, e) !=
				    elem_get_f64(y->type, y->data, e))
				return false;
	}
	return true;
}

/* ---- neighbours --------------------------------------------------------- */

/* The range of an element over nearby gradients. */
typedef struct spread {
	double *inputs; /* by element: distance of those at nearby inputs */
	/* by element: least and greatest of those with rounding */
	double *low, *high;
} spread;

/* A number that differs from x by at most `most' times x. */
static double moved(pair *p, double x, double most)
{
	double r = (double)rng_in(&p->t->v->random, -1024, 1024) / 1024;
	return x * (1 + most * r);
}

/* A copy of floats with each of them moved. */
static view disturbed(pair *p, const view *v, double most)
{
	view c = copy_view(p->t->arena, v);
	for (int64_t e = 0; e < view_count(v); e++)
		elem_set_f64(c.type, c.data, e,
			     moved(p, elem_get_f64(v->type, v->data, e), most));
	return c;
}

/* A copy of floats, each rounded up or down to the shorter type at random.  A
 * number that the shorter type has is unchanged.  So a number chosen from
 * rounded ones remains equal to the one it was chosen from. */
static view rounded_somehow(pair *p, const view *v)
{
	view c = copy_view(p->t->arena, v);
	view one = new_view(p->t->arena, p->type, 0, NULL);
	double most = unit_roundoff(p->type);
	for (int64_t e = 0; e < view_count(v); e++) {
		double x = elem_get_f64(v->type, v->data, e);
		elem_set_f64(one.type, one.data, 0, x);
		if (elem_get_f64(one.type, one.data, 0) == x)
			continue;
		elem_set_f64(one.type, one.data, 0, moved(p, x, most));
		elem_set_f64(c.type, c.data, e,
			     elem_get_f64(one.type, one.data, 0));
	}
	return c;
}

/* The gradient at inputs a few round-offs away; NULL if there is none. */
static const view *at_neighbour(pair *p, const view *weights, const run *g,
				const gradient *d)
{
	run f = p->wide, *h = ARENA_NEW(p->t->arena, run);
	int n = f.x->nparams;
	*h = (run){.t = p->t, .op = g->op};
	f.values = ARENA_COPY(p->t->arena, f.values, n + f.x->nstages);
	for (int i = 0; i < n; i++)
		if (dtype_is_float(f.values[i].type))
			f.values[i] = disturbed(p, &f.values[i],
						NEAR * unit_roundoff(p->type));
	if (!run_gradient(h, &f, weights, p->wide_attrs, d))
		return NULL;
	return &h->values[h->x->results[0]];
}

/* The gradient in f64 with each stage rounded at random, if the shorter type
 * has to round it. */
static const view *rounding(pair *p, const run *g)
{
	run *h = ARENA_COPY(p->t->arena, g, 1);
	int n = g->x->nparams;
	h->values = ARENA_COPY(p->t->arena, g->values, n + g->x->nstages);
	for (int i = 0; i < g->x->nstages; i++) {
		view *y = &h->values[n + i];
		*y = (view){0};
		if (!execute_stage(h, i))
			return NULL;
		if (dtype_is_float(y->type))
			*y = rounded_somehow(p, y);
	}
	return &h->values[g->x->results[0]];
}

/* Finds the range of each element.  Returns false if the gradient cannot be
 * computed at nearby inputs. */
static bool find_spread(pair *p, const view *weights, const run *g,
			const gradient *d, int neighbours, spread *s)
{
	const view *at = &g->values[g->x->results[0]];
	int64_t n = view_count(at);
	s->inputs = ARENA_ARRAY(p->t->arena, double, n + 1);
	s->low = ARENA_ARRAY(p->t->arena, double, n + 1);
	s->high = ARENA_ARRAY(p->t->arena, double, n + 1);
	for (int k = 0; k < neighbours; k++) {
		const view *near =
			p->tied ? at : at_neighbour(p, weights, g, d);
		const view *rounded = rounding(p, g);
		if (!near || !rounded)
			return false;
		for (int64_t e = 0; e < n; e++) {
			double x = elem_get_f64(at->type, at->data, e);
			double y = elem_get_f64(near->type, near->data, e);
			double z = elem_get_f64(rounded->type, rounded->data,
						e);
			s->inputs[e] = fmax(s->inputs[e], fabs(x - y));
			s->low[e] = k ? fmin(s->low[e], z) : z;
			s->high[e] = k ? fmax(s->high[e], z) : z;
		}
	}
	return true;
}

/* ---- comparing ---------------------------------------------------------- */

static double greatest(const view *v)
{
	double most = 0;
	for (int64_t e = 0; e < view_count(v); e++)
		most = fmax(most, fabs(elem_get_f64(v->type, v->data, e)));
	return most;
}

/* Whether a number of f64 overflows in the shorter type. */
static bool overflows_as(pair *p, double x)
{
	view one = new_view(p->t->arena, p->type, 0, NULL);
	elem_set_f64(one.type, one.data, 0, x);
	return isfinite(x) && !isfinite(elem_get_f64(one.type, one.data, 0));
}

/* Whether anything that the gradient computes overflows. */
static bool any_overflows(pair *p, const run *g)
{
	for (int i = 0; i < g->x->nstages; i++) {
		const view *y = &g->values[g->x->nparams + i];
		if (dtype_is_float(y->type) && overflows_as(p, greatest(y)))
			return true;
	}
	return false;
}

/* The first element that is off, -1 if none is.  Adds to *compared the number
 * of elements compared. */
static int64_t compare(pair *p, const view *want, const view *got,
		       const spread *s, int64_t *compared)
{
	double scale = fmax(greatest(want), 1);
	double slack = SLACK * unit_roundoff(p->type) * scale;
	*compared = 0;
	for (int64_t e = 0; e < view_count(want); e++) {
		double x = elem_get_f64(want->type, want->data, e);
		double y = elem_get_f64(got->type, got->data, e);
		double off = s->inputs[e] + SPREAD * (s->high[e] - s->low[e]);
		if (!isfinite(x) || !(off <= MOST_OFF * slack))
			continue;
		++*compared;
		if (!(fabs(x - y) <= slack + SPREAD * off))
			return e;
	}
	return -1;
}

/* Whether the results are about the same in both types.  If they are not,
 * rounding has decided a condition, such as a number being NaN. */
static bool results_agree(const pair *p)
{
	for (int i = 0; i < p->wide.x->nresults; i++) {
		const view *x = &p->wide.values[p->wide.x->results[i]];
		const view *y = &p->narrow.values[p->narrow.x->results[i]];
		double slack = SLACK * unit_roundoff(p->type) *
			       fmax(greatest(x), 1);
		for (int64_t e = 0; e < view_count(x); e++) {
			double a = elem_get_f64(x->type, x->data, e);
			double b = elem_get_f64(y->type, y->data, e);
			if (a != b && !(fabs(a - b) <= slack))
				return false;
		}
	}
	return true;
}

/* Compares the gradient in f64 with that in the shorter type, including
 * weights. */
static void compare_all(pair *p, const gradient *d, const view *weights,
			const run *g, const run *short_g)
{
	const view *want = &g->values[g->x->results[0]];
	const view *got = &short_g->values[short_g->x->results[0]];
	int64_t compared = 0, e = -1;
	spread s;
	for (int n = FEW; n <= MANY && (n == FEW || e >= 0); n += MANY - FEW) {
		if (!find_spread(p, weights, g, d, n, &s))
			return;
		e = compare(p, want, got, &s, &compared);
	}
	p->t->v->result->rounded += compared;
	if (e >= 0 && results_agree(p) && !has_overflow(short_g) &&
	    are_same_steps(&p->wide, steps_of(&p->wide), steps_of(&p->narrow)))
		note(p->t, VERIFY_WRONG, "", d->input, 0,
		     "its gradient in %s is not that in f64 (element %lld is "
		     "%.9g, in f64 %.9g%s)", dtype_name(p->type), (long long)e,
		     elem_get_f64(got->type, got->data, e),
		     elem_get_f64(want->type, want->data, e),
		     p->tied ? ", of few numbers" : "");
}

static void check_gradient(pair *p, int input, const ast_op *op)
{
	const gradient *d = &p->t->v->derived[input];
	run wide = {.t = p->t, .op = op}, narrow = wide;
	const view *weights = weights_asked(&p->wide, p->wide_weights, d);
	const view *rounded = weights_asked(&p->narrow, p->narrow_weights, d);
	if (!asks_for_none(weights, d, op) &&
	    run_gradient(&wide, &p->wide, weights, p->wide_attrs, d) &&
	    run_gradient(&narrow, &p->narrow, rounded, p->narrow_attrs, d) &&
	    !any_overflows(p, &wide))
		compare_all(p, d, weights, &wide, &narrow);
}

static void check_pair(pair *p)
{
	verifier *v = p->t->v;
	if (p->narrow.x->nstages != p->wide.x->nstages || !fill_inputs(p) ||
	    !draw_weights(p) || (p->tied && !is_exact(p)))
		return;
	for (int i = 0; i < v->op->nparams; i++)
		if (v->gradients[i] &&
		    dtype_is_float(p->wide.types[i].type))
			check_gradient(p, i, v->gradients[i]);
}

void check_rounded_gradients(trial *t)
{
	static const dtype types[] = {DT_F32, DT_BF16, DT_F16};
	for (int i = 0; i < 6; i++) {
		pair p = {.t = t, .type = types[i / 2], .tied = i % 2};
		p.wide = p.narrow = (run){.t = t, .op = t->v->op};
		p.wide.types = types_in(t, DT_F64);
		p.narrow.types = types_in(t, p.type);
		p.wide_attrs = attrs_in(t, DT_F64);
		p.narrow_attrs = attrs_in(t, p.type);
		if (expand_run(&p.wide, p.wide_attrs) &&
		    expand_run(&p.narrow, p.narrow_attrs))
			check_pair(&p);
	}
}
