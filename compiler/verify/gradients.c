/* Compares derived gradients with central differences.
 *
 * Each element of the results gets a weight.  L is the sum of the results times
 * their weights.  The derived operator, given these weights, computes dL/dx.
 * It has to be close to (L(x + h) - L(x - h)) / 2h, unless the slopes on both
 * sides of x differ: then L has no derivative at x, or one that changes too
 * fast for h.  If the slope bends once between x - h and x + h, the central
 * difference is off by at most half the difference of the slopes.  If L jumps,
 * both slopes may agree by chance.  So a fault counts only if it also shows
 * with smaller h, and if no step lies in between (steps.c). */
#include "config.h"

#include <math.h>
#include <string.h>

#include "compiler/verify/gradients.h"

enum {
	MAX_ELEMENTS = 6, /* of an input, changed in a trial */
};

bool expand_run(run *r, const attr_value *const *attrs)
{
	trial *t = r->t;
	call_site site = { .place = "verify" };
	diag_sink *sink = diag_sink_new(t->arena);
	r->x = expand_op(t->arena, t->v->modules, sink, r->op, r->types,
			 attrs, site);
	r->because = r->x ? NULL : diag_message(sink, 0);
	if (r->x)
		r->values = ARENA_ARRAY(t->arena, view, r->x->nparams +
						r->x->nstages + 1);
	return r->x != NULL;
}

bool execute_stage(run *r, int i)
{
	const stage *st = &r->x->stages[i];
	view in[MAX_NINPUTS], *out = &r->values[r->x->nparams + i];
	box all = kernel_space(st->kernel);
	for (int j = 0; j < st->kernel->ninputs; j++)
		in[j] = r->values[st->inputs[j]];
	if (!out->data)
		*out = new_result(r->t->arena, st->kernel);
	return kernel_eval(st->kernel, &all, in, out, stand_in, NULL) ==
	       EVAL_OK;
}

bool execute_run(run *r)
{
	for (int i = 0; i < r->x->nstages; i++)
		if (!execute_stage(r, i))
			return false;
	return true;
}

/* ---- the operator itself ------------------------------------------------ */

tensor_type *types_in(const trial *t, dtype type)
{
	int n = t->v->op->nparams;
	tensor_type *types = ARENA_COPY(t->arena, t->drawn->types, n);
	for (int i = 0; i < n; i++)
		if (dtype_is_float(types[i].type))
			types[i].type = type;
	return types;
}

const attr_value **attrs_in(const trial *t, dtype type)
{
	const ast_op *op = t->v->op;
	int64_t *named = ARENA_NEW(t->arena, int64_t);
	const attr_value **attrs = ARENA_COPY(t->arena, t->drawn->attrs,
					      op->nattrs);
	*named = type;
	for (int i = 0; i < op->nattrs; i++) {
		const attr_value *v = attrs[i];
		if (op->attrs[i].type != ATTR_TYPE || op->attrs[i].is_list ||
		    (v && !dtype_is_float((dtype)v->ints[0])))
			continue;
		attr_value *other = ARENA_NEW(t->arena, attr_value);
		*other = (attr_value){ .type = ATTR_TYPE, .n = 1,
				       .ints = named };
		attrs[i] = other;
	}
	return attrs;
}

static bool chooses(const kexpr *e)
{
	if (e->kind == KX_FN && fn_table[e->fn].choice != FN_NO_CHOICE)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (chooses(e->args[i]))
			return true;
	return false;
}

/* Whether products are reduced and nothing is chosen.  If equal elements share
 * a derivative, differences may give another one. */
static bool takes_zeros(const expansion *x)
{
	bool product = false;
	for (int i = 0; i < x->nstages; i++) {
		const kernel *k = x->stages[i].kernel;
		const reducer_facts *by = &reducer_table[k->reducer];
		bool reduces = k->reducer != RED_NONE;
		if (!k->body || chooses(k->body) ||
		    (reduces && by->choice != FN_NO_CHOICE))
			return false;
		product |= k->reducer == RED_PROD;
	}
	return product;
}

/* Sets some elements to 0 in every second input: products with several zeros
 * have slopes of their own. */
static void put_zeros(rng *r, view *v)
{
	int64_t n = view_count(v);
	bool any = rng_percent(r, 50);
	for (int64_t e = 0; any && e < n; e++)
		if (rng_percent(r, 40))
			elem_set_f64(v->type, v->data, e, 0);
}

static bool fill(run *r)
{
	const tensor_type *types = r->types;
	contents c = { .style = 2 };
	/* draws as many numbers as without zeros */
	rng zeros = r->t->v->random;
	bool some = takes_zeros(r->x);
	rng_next(&zeros);
	for (int i = 0; i < r->x->nparams; i++) {
		const view *like = &r->t->values[i];
		view *v = &r->values[i];
		*v = new_view(r->t->arena, types[i].type, types[i].ndim,
			      types[i].dims);
		if (dtype_is_float(v->type)) {
			fill_random(&r->t->v->random, &c, v);
			if (some)
				put_zeros(&zeros, v);
		} else {
			*v = copy_view(r->t->arena, like);
		}
	}
	return execute_run(r);
}

void leave_infinite(const view *y, view *weights)
{
	for (int64_t e = 0; e < view_count(y); e++)
		if (!isfinite(elem_get_f64(y->type, y->data, e)))
			elem_set_f64(weights->type, weights->data, e, 0);
}

/* Draws the weights of the results.  A result that is not finite gets 0, one
 * that is no float NULL data. */
static view *draw_weights(run *r)
{
	contents c = { .style = 2 };
	view *w = ARENA_ARRAY(r->t->arena, view, r->x->nresults);
	for (int i = 0; i < r->x->nresults; i++) {
		const tensor_type *type = &r->x->result_types[i];
		if (!dtype_is_float(type->type))
			continue;
		w[i] = new_view(r->t->arena, type->type, type->ndim,
				type->dims);
		fill_random(&r->t->v->random, &c, &w[i]);
		leave_infinite(&r->values[r->x->results[i]], &w[i]);
	}
	return w;
}

/* L.  Sets *scale to the sum of the absolute values of its terms. */
static double loss(const run *r, const view *weights, double *scale)
{
	double sum = 0;
	*scale = 0;
	for (int i = 0; i < r->x->nresults; i++) {
		const view *y = &r->values[r->x->results[i]];
		for (int64_t e = 0; weights[i].data && e < view_count(y); e++) {
			double w = elem_get_f64(y->type, weights[i].data, e);
			double one = w ? w * elem_get_f64(y->type, y->data, e)
				       : 0;
			sum += one;
			*scale += fabs(one);
		}
	}
	return sum;
}

/* ---- differences -------------------------------------------------------- */

/* The width of a difference and the amplification of rounding errors, both
 * relative.  In f64 the width is small compared with changes of the slope; in
 * f32 it cannot be. */
typedef struct step {
	double h, error, noise;
} step;

static step step_of(dtype t)
{
	return t == DT_F64 ? (step){ ldexp(1, -17), 1e-6, 1e-9 }
			   : (step){ ldexp(1, -7), 1e-4, 1e-5 };
}

/* The coarser type of t and the floats in which e is computed. */
static dtype coarser(dtype t, const kexpr *e)
{
	if (dtype_is_float(e->type) && dtype_bits(e->type) < dtype_bits(t))
		t = e->type;
	for (int i = 0; i < e->nargs; i++)
		t = coarser(t, e->args[i]);
	return t;
}

static dtype coarsest(const run *r)
{
	dtype t = DT_F64;
	for (int i = 0; i < r->x->nstages; i++)
		if (!r->x->stages[i].kernel->nslices)
			t = coarser(t, r->x->stages[i].kernel->body);
	return t;
}

/* L as a function of element e of an input. */
typedef struct along {
	run *r;
	view *x;
	int64_t e;
	const view *weights;
} along;

/* Half the width of a difference, for a fraction of the step. */
static double width(const along *l, double part)
{
	double at = elem_get_f64(l->x->type, l->x->data, l->e);
	dtype t = coarser(l->x->type, &(kexpr){ .type = coarsest(l->r) });
	return part * step_of(t).h * fmax(1, fabs(at));
}

/* The slope of L for a fraction of the step, and the allowed error of a
 * derivative.  Returns false if L has no slope there. */
static bool slope(const along *l, double part, double *result, double *slack)
{
	run *r = l->r;
	view *x = l->x;
	int64_t e = l->e;
	const view *weights = l->weights;
	double at = elem_get_f64(x->type, x->data, e), scale;
	step s = step_of(coarser(x->type, &(kexpr){ .type = coarsest(r) }));
	double h = width(l, part);
	double here = loss(r, weights, &scale);
	elem_set_f64(x->type, x->data, e, at + h);
	bool fine = execute_run(r);
	double above = loss(r, weights, &scale);
	elem_set_f64(x->type, x->data, e, at - h);
	fine &= execute_run(r);
	double below = loss(r, weights, &scale);
	elem_set_f64(x->type, x->data, e, at);
	fine &= execute_run(r);
	double up = (above - here) / h, down = (here - below) / h;
	*result = (up + down) / 2;
	double unit = s.error * (fabs(*result) + 1) + s.noise / part * scale;
	*slack = 100 * unit + fabs(up - down) / 2;
	return fine && isfinite(*result) && fabs(up - down) < 1e3 * unit;
}

/* The greatest number computed by any stage. */
static double greatest_value(const run *r)
{
	double most = 0;
	for (int i = 0; i < r->x->nstages; i++) {
		const view *y = &r->values[r->x->nparams + i];
		for (int64_t e = 0; e < view_count(y); e++) {
			double v = fabs(elem_get_f64(y->type, y->data, e));
			most = isfinite(v) ? fmax(most, v) : most;
		}
	}
	return most;
}

/* Whether a step lies between the element and the point at distance `far'. */
static bool has_step(const along *l, double far)
{
	run *r = l->r;
	view *x = l->x;
	double at = elem_get_f64(x->type, x->data, l->e);
	const view *here = steps_of(r);
	elem_set_f64(x->type, x->data, l->e, at + far);
	bool fine = execute_run(r) && are_same_steps(r, here, steps_of(r));
	elem_set_f64(x->type, x->data, l->e, at);
	return !(execute_run(r) && fine);
}

/* Whether a fault is confirmed: smaller differences have the same slope, and it
 * is not the derived one, even if the greatest number was rounded. */
static bool is_confirmed(const along *l, double is, double want, double slack)
{
	static const double parts[] = { 0.6, 0.25 };
	dtype t = coarser(l->x->type, &(kexpr){ .type = coarsest(l->r) });
	if (has_step(l, width(l, 1)) || has_step(l, -width(l, 1)))
		return false;
	for (int i = 0; i < 2; i++) {
		double again, less;
		if (!slope(l, parts[i], &again, &less))
			return false;
		double lost = unit_roundoff(t) * greatest_value(l->r) /
			      (parts[i] * step_of(t).h);
		if (fabs(is - again) <= less + lost ||
		    fabs(want - again) > slack + less)
			return false;
	}
	return true;
}

/* Whether all results with a weight are finite. */
static bool is_finite(const run *r, const view *weights)
{
	for (int i = 0; i < r->x->nresults; i++) {
		const view *y = &r->values[r->x->results[i]];
		for (int64_t e = 0; weights[i].data && e < view_count(y); e++)
			if (!isfinite(elem_get_f64(y->type, y->data, e)))
				return false;
	}
	return true;
}

static void compare(run *r, view *x, const view *weights, const char *input,
		    const view *got)
{
	int64_t n = view_count(x);
	trial *t = r->t;
	for (int i = 0; i < MAX_ELEMENTS && n; i++) {
		int64_t e = rng_in(&t->v->random, 0, n - 1);
		along l = {r, x, e, weights};
		double want, slack;
		if (!slope(&l, 1, &want, &slack))
			continue;
		double is = elem_get_f64(got->type, got->data, e);
		if (!isfinite(is)) { /* the root of 0, times 0 */
			t->v->result->infinite += is_finite(r, weights);
			continue;
		}
		bool near = fabs(is - want) <= slack;
		if (!near && !is_confirmed(&l, is, want, slack))
			continue;
		t->v->result->slopes++;
		t->v->points[x - r->values]++;
		if (near)
			continue;
		note(t, VERIFY_WRONG, "", input, 0,
		     "its gradient is not the slope (element %lld is %.9g, "
		     "differences give %.9g)", (long long)e, is, want);
		return;
	}
}

/* ---- the derived operator ----------------------------------------------- */

/* The argument for a parameter of a derived operator; `of' is from
 * gradient.params. */
static view argument_for(const run *f, const view *weights, int of,
			 tensor_type *type)
{
	*type = of < 0 ? f->x->result_types[~of] : f->types[of];
	return of < 0 ? weights[~of] : f->values[of];
}

bool asks_for_none(const view *weights, const gradient *d, const ast_op *op)
{
	for (int i = 0; i < op->nparams; i++)
		if (d->params[i] < 0 && !weights[~d->params[i]].data)
			return true;
	return false;
}

/* Whether a parameter, a result or a sum has no elements.  Then the gradient
 * may divide by a size of 0. */
static bool is_empty(const run *f, const view *weights)
{
	for (int i = 0; i < f->x->nstages; i++)
		if (kernel_points(f->x->stages[i].kernel) == 0)
			return true;
	for (int i = 0; i < f->x->nparams; i++)
		if (view_count(&f->values[i]) == 0)
			return true;
	for (int i = 0; i < f->x->nresults; i++)
		if (weights[i].data && view_count(&weights[i]) == 0)
			return true;
	return false;
}

static const attr_value **attributes_for(arena *a, const ast_op *op,
					 const gradient *d,
					 const attr_value *const *attrs)
{
	const attr_value **given =
		ARENA_ARRAY(a, const attr_value *, op->nattrs + 1);
	for (int i = 0; i < op->nattrs; i++)
		given[i] = attrs[d->attrs[i]];
	return given;
}

bool run_gradient(run *g, const run *f, const view *weights,
			 const attr_value *const *attrs, const gradient *d)
{
	const char *input = d->input;
	trial *t = f->t;
	const ast_op *op = g->op;
	tensor_type *types = ARENA_ARRAY(t->arena, tensor_type, op->nparams);
	view *inputs = ARENA_ARRAY(t->arena, view, op->nparams);
	for (int i = 0; i < op->nparams; i++)
		inputs[i] = argument_for(f, weights, d->params[i], &types[i]);
	g->types = types;
	if (!expand_run(g, attributes_for(t->arena, op, d, attrs))) {
		if (is_empty(f, weights))
			return false;
		note(t, VERIFY_WRONG, "", input, 0,
		     "its gradient cannot be expanded (%s)", g->because);
		return false;
	}
	for (int i = 0; i < op->nparams; i++)
		g->values[i] = inputs[i];
	if (execute_run(g))
		return true;
	note(t, VERIFY_WRONG, "", input, 0,
	     "its gradient reads at an index outside its input");
	return false;
}

const view *weights_asked(const run *f, const view *weights,
				 const gradient *d)
{
	view *asked = ARENA_COPY(f->t->arena, weights, f->x->nresults);
	for (int i = 0; i < f->x->nresults; i++) {
		bool found = !d->own;
		for (int j = 0; d->own && j < d->own->nparams; j++)
			found |= d->params[j] == ~i;
		if (!found)
			asked[i].data = NULL;
	}
	return asked;
}

static void check_gradient(run *f, const view *weights,
			   const attr_value *const *attrs, int input,
			   const ast_op *op)
{
	run g = { .t = f->t, .op = op };
	const gradient *d = &f->t->v->derived[input];
	view *x = &f->values[input];
	weights = weights_asked(f, weights, d);
	if (asks_for_none(weights, d, op))
		return;
	if (!run_gradient(&g, f, weights, attrs, d))
		return;
	const view *dx = &g.values[g.x->results[0]];
	const tensor_type *type = &g.x->result_types[0];
	if (type->ndim == f->types[input].ndim &&
	    !memcmp(type->dims, f->types[input].dims,
		    (size_t)type->ndim * sizeof(*type->dims)))
		compare(f, x, weights, d->input, dx);
	else
		note(f->t, VERIFY_WRONG, "", d->input, 0,
		     "its gradient has another shape");
}

/* A stand-in for an opaque function does not have the slopes for which a given
 * gradient was written.  A derived gradient needs none. */
static bool has_stand_in(const run *f)
{
	for (int i = 0; i < f->x->nstages; i++) {
		const kernel *k = f->x->stages[i].kernel;
		if (k->opaque && dtype_is_float(k->type))
			return true;
	}
	return false;
}

static bool is_derived(const gradient *g)
{
	return g->op && !g->own;
}

void check_gradients(trial *t)
{
	verifier *v = t->v;
	run f = { .t = t, .op = v->op };
	const attr_value *const *attrs = attrs_in(t, DT_F64);
	f.types = types_in(t, DT_F64);
	if (!expand_run(&f, attrs)) { /* the text says the types */
		attrs = t->drawn->attrs;
		f.types = t->drawn->types;
		for (int i = 0; i < v->op->nparams; i++)
			if (dtype_is_float(f.types[i].type) &&
			    f.types[i].type != DT_F32 &&
			    f.types[i].type != DT_F64)
				return;
		if (!expand_run(&f, attrs))
			return;
	}
	/* differences show no slope in these */
	if (dtype_bits(coarsest(&f)) < 32)
		return;
	if (!fill(&f))
		return;
	view *weights = draw_weights(&f);
	for (int i = 0; i < v->op->nparams; i++)
		if (is_derived(&v->derived[i]) && !v->gradients[i])
			note(t, VERIFY_WRONG, "", v->derived[i].input, 0,
			     "its gradient has errors");
		else if (v->gradients[i] && dtype_is_float(f.types[i].type) &&
			 (is_derived(&v->derived[i]) || !has_stand_in(&f)))
			check_gradient(&f, weights, attrs, i, v->gradients[i]);
	if (attrs != t->drawn->attrs)
		check_rounded_gradients(t);
}

void report_gradients(verifier *v)
{
	for (int i = 0; i < v->op->nparams; i++)
		if (v->gradients[i] && v->points[i] == 0)
			v->result->unchecked++;
}

void derive_gradients(verifier *v, tdl_modules *m)
{
	int n = gradient_derive(v->arena, m, v->op, &v->derived);
	v->gradients = ARENA_ARRAY(v->arena, const ast_op *, n + 1);
	v->points = ARENA_ARRAY(v->arena, int64_t, n + 1);
	for (int i = 0; i < n; i++) {
		const gradient *g = &v->derived[i];
		gradient_load(m, g);
		if (g->op && !g->zero)
			v->gradients[i] = dsl_op(m, g->name);
		v->result->gradients += v->gradients[i] != NULL;
	}
}
