#include "config.h"

#include "runtime/exec/verify.h"

#include <math.h>
#include <string.h>

#include "kernel/eval.h"

enum { ELEMENT = 4 }; /* factor of a tensor's error that one element may have */
enum { CHANCE = 4 };  /* elements that may round to a neighbour by chance */

/* Whether the reduction of node n is divided by the workers, by turns or by a
 * library, so that its result depends on the order of terms. */
static bool rounds_differently(const plan *p, int n, bool library, bool turns)
{
	const kernel *k = p->kernels[p->nodes[n].kernel].kernel;
	turns = turns && p->loop.turns > 1 && p->nodes[n].time != CUT_NONE &&
		k->vars[p->nodes[n].time].kind != KVAR_OUTPUT;
	reducer r =
		turns || (library && k->body) ? k->reducer : plan_partial(p, n);
	return (r == RED_SUM || r == RED_PROD) && dtype_is_float(k->type);
}

bool *verify_divided(arena *a, const plan *p, bool library, bool turns)
{
	bool *divided = ARENA_ARRAY(a, bool, p->nnodes);
	for (int n = 0; n < p->nnodes; n++)
		divided[n] = rounds_differently(p, n, library, turns);
	return divided;
}

bool *verify_divided_in_stages(arena *a, const plan_pipeline *p,
			       const pipeline_whole *w, bool library,
			       bool turns)
{
	bool *all = ARENA_ARRAY(a, bool, w->plan->nnodes);
	for (int s = 0; s < p->nstages; s++) {
		const plan *x = &p->stages[s];
		const bool *divided = verify_divided(a, x, library, turns);
		for (int n = 0; n < x->nnodes; n++)
			if (w->nodes[s][n] >= 0)
				all[w->nodes[s][n]] = divided[n];
	}
	return all;
}

bool *verify_rounded(arena *a, const plan *p, const bool *divided)
{
	bool *rounded = ARENA_ARRAY(a, bool, p->nnodes);
	bool *added = ARENA_ARRAY(a, bool, p->ntensors);
	for (int n = 0; n < p->nnodes; n++) {
		const plan_node *x = &p->nodes[n];
		const kernel *k = p->kernels[x->kernel].kernel;
		rounded[n] = divided[n];
		for (int i = 0; rounded[n] && i < k->ninputs; i++)
			added[x->inputs[i]] = true;
	}
	for (int n = 0; n < p->nnodes; n++)
		rounded[n] = rounded[n] || added[p->nodes[n].output];
	return rounded;
}

static double allowed(dtype t)
{
	switch (t) {
	case DT_F64:
		return 1e-11;
	case DT_F32:
		return 5e-5;
	case DT_F16:
		return 5e-3;
	case DT_BF16:
		return 5e-2;
	case DT_F8E4M3FN:
	case DT_F8E4M3FNUZ:
	case DT_F6E2M3:
		return 0.5;
	case DT_F8E5M2:
	case DT_F8E5M2FNUZ:
	case DT_F8E8M0:
	case DT_F6E3M2:
	case DT_F4E2M1:
		return 1;
	default:
		return 0;
	}
}

/* Makes one pass over the program.  Returns whether it found more. */
static bool spread(const plan *p, const bool *divided, double *error)
{
	bool more = false;
	for (int n = 0; n < p->nnodes; n++) {
		const plan_node *node = &p->nodes[n];
		const kernel *k = p->kernels[node->kernel].kernel;
		double most = 0;
		if (divided[n])
			most = allowed(k->type);
		for (int i = 0; i < k->ninputs; i++)
			most = fmax(most, error[node->inputs[i]]);
		if (most > 0 && dtype_is_float(k->type))
			most = fmax(most, allowed(k->type));
		error[node->output] = most;
	}
	for (int t = 0; t < p->ntensors; t++) {
		int next = p->tensors[t].next;
		if (p->tensors[t].role == PLAN_STATE && next >= 0 &&
		    error[next] > error[t]) {
			error[t] = error[next];
			more = true;
		}
	}
	return more;
}

/* The relative error that each tensor may have compared with one worker, after
 * any number of steps.  It is the precision of the coarsest type through which
 * the tensor depends on a sum with another order; 0 if the tensor has to be
 * equal. */
static double *find_errors(arena *a, const plan *p, const bool *divided)
{
	double *error = ARENA_ARRAY(a, double, p->ntensors);
	while (spread(p, divided, error))
		continue;
	return error;
}

/* ---- two tensors ------------------------------------------------------- */

typedef struct distance {
	double most; /* greatest |a - b|; NAN if an element is NaN */
	error_of of;
	int64_t doubtful;
} distance;

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void note_greater(double *to, double v)
{
	if (isnan(v) || v > *to)
		*to = isnan(*to) ? *to : v;
}

static double last_bit(dtype t);

/* Whether a tensor's error is relative to its change. */
static bool by_change(const sway *s, dtype t)
{
	return s && s->start && last_bit(t) > 0;
}

static double start_of(const sway *s, dtype t, int64_t i)
{
	return by_change(s, t) ? elem_get_f64(t, s->start->data, i) : 0;
}

/* The root mean square of the finite elements, or of their change if that is
 * known. */
static double scale_of(const array *x, const sway *s)
{
	double sum = 0;
	int64_t n = array_nelem(x);
	for (int64_t i = 0; i < n; i++) {
		double v = elem_get_f64(x->type, x->data, i) -
			   start_of(s, x->type, i);
		sum += isfinite(v) ? v * v : 0;
	}
	return n > 0 ? sqrt(sum / (double)n) : 0;
}

/* The error from storing an element that changes in steps: the distance of two
 * neighbouring numbers for each step.  0 if it does not change. */
static double grid_of(const sway *s, dtype t, int64_t i, double b)
{
	double size = fmax(fabs(b), fabs(start_of(s, t, i)));
	return by_change(s, t) && isfinite(size)
		       ? (double)s->steps * last_bit(t) * size
		       : 0;
}

/* The values that element i may have if it is in doubt. */
typedef struct reach {
	double least, most;
} reach;

static reach reach_of(const sway *s, int64_t i, double b)
{
	if (!s || !s->least)
		return (reach){ b, b };
	double least = s->least[i], most = s->most[i];
	double width = least < most ? most - least : 0;
	return (reach){ least - width, most + width };
}

/* Whether rounding moves element b of a tensor by more than `most'. */
static bool is_doubtful(const reach *r, double b, double most)
{
	return r->most - b > most || b - r->least > most;
}

/* The root mean square of the distance by which rounding moves the elements of
 * a tensor.  0 unless most elements are in doubt. */
static double common_width(const array *y, double type, const sway *s)
{
	int64_t n = array_nelem(y), doubtful = 0;
	double scale = s && s->least ? scale_of(y, s) : 0, sum = 0;
	for (int64_t i = 0; i < n && s && s->least; i++) {
		double b = elem_get_f64(y->type, y->data, i);
		double change = fabs(b - start_of(s, y->type, i));
		double width = s->most[i] - s->least[i];
		reach r = reach_of(s, i, b);
		doubtful += is_doubtful(&r, b,
					type * fmax(change, scale) +
						3 * grid_of(s, y->type, i, b));
		sum += isfinite(width) ? width * width : 0;
	}
	return 2 * doubtful > n ? sqrt(sum / (double)n) : 0;
}

/* The distance of x from y.  An element in doubt has none within its reach.
 * type: the error that rounding may cause, relative to the norm. */
static distance distance_of(const array *x, const array *y, double type,
			    const sway *s)
{
	distance d = { 0 };
	double scale = scale_of(y, s), sum = 0, grids = 0, greatest = 0;
	double width = common_width(y, type, s);
	int64_t n = array_nelem(x);
	for (int64_t i = 0; i < n; i++) {
		double a = elem_get_f64(x->type, x->data, i);
		double b = elem_get_f64(y->type, y->data, i);
		double change = fabs(b - start_of(s, y->type, i));
		double e = fabs(a - b), size = fmax(change, scale);
		double grid = grid_of(s, y->type, i, b);
		reach r = reach_of(s, i, b);
		bool doubtful = is_doubtful(&r, b, type * size + 3 * grid);
		d.doubtful += doubtful;
		grids += 2 * type * size * grid;
		greatest = fmax(greatest, grid);
		if (is_same(a, b))
			continue;
		note_greater(&d.most, e);
		double more = fmin(width, r.most - r.least);
		if (doubtful && r.least - more <= a && a <= r.most + more)
			continue;
		sum += e * e;
		e -= fmin(e, grid);
		if (e != 0)
			note_greater(&d.of.element,
				     size > 0 ? e / size : INFINITY);
	}
	sum -= fmin(sum, grids + CHANCE * greatest * greatest +
				 (greatest > 0 ? 4 * s->flips : 0));
	if (sum != 0)
		d.of.norm = scale > 0 ? sqrt(sum / (double)n) / scale
				      : INFINITY;
	return d;
}

/* ---- what is allowed --------------------------------------------------- */

/* An error as a multiple of the allowed one; NAN if there is none. */
static double part_of(const error_of *e, const error_of *allowed)
{
	double part = 0;
	note_greater(&part, e->norm / allowed->norm);
	note_greater(&part, e->element / allowed->element);
	return part;
}

static bool is_worse(double part, double than)
{
	return isnan(part) ? !isnan(than) : part > than;
}

/* Notes the difference of a tensor from one worker's. */
static void note_tensor(comparison *c, const array *got, const array *want,
			double type, const sway *s)
{
	distance d = distance_of(got, want, type, s);
	error_of most = { type, ELEMENT * type };
	double part = part_of(&d.of, &most);
	c->exact = false;
	c->equal = c->equal && type > 0 && part <= 1;
	c->doubtful += d.doubtful;
	note_greater(&c->max_abs_error, d.most);
	note_greater(&c->max_rel_error, d.of.norm);
	if (!is_worse(part, c->part))
		return;
	c->part = part;
	c->worst = got->name;
	c->type = want->type;
	c->error = d.of;
	c->allowed = most;
	c->rule = type == 0			? VERIFY_EXACT
		  : by_change(s, want->type) ? VERIFY_BY_CHANGE
					     : VERIFY_BY_TYPE;
}

comparison verify_tensors(const plan *p, const bool *divided, int n,
			  const int *tensors, const array *got,
			  const array *want, const sway *sways)
{
	arena *work = arena_new();
	const double *error = find_errors(work, p, divided);
	comparison c = { .equal = true, .exact = true, .part = -1 };
	for (int i = 0; i < n; i++) {
		double type = error[tensors[i]];
		size_t nbytes = (size_t)array_nbytes(&got[i]);
		c.nelem += array_nelem(&got[i]);
		if (memcmp(got[i].data, want[i].data, nbytes))
			note_tensor(&c, &got[i], &want[i], type,
				    type > 0 && sways ? &sways[i] : NULL);
	}
	arena_free(work);
	return c;
}

static void note_value(sway *s, int64_t i, double v)
{
	if (isnan(v)) {
		s->least[i] = -INFINITY;
		s->most[i] = INFINITY;
		return;
	}
	s->least[i] = fmin(s->least[i], v);
	s->most[i] = fmax(s->most[i], v);
}

/* The squared difference of an element that rounds to a neighbour. */
static double flip_of(const sway *s, dtype t, int64_t i, double a, double b)
{
	double d = fabs(a - b);
	return d <= grid_of(s, t, i, b) ? d * d : 0;
}

void verify_sway(arena *a, int n, const array *moved, const array *want,
		 sway *sways, bool counts)
{
	for (int t = 0; t < n; t++) {
		sway *s = &sways[t];
		const array *x = &moved[t], *y = &want[t];
		int64_t nelem = array_nelem(x);
		bool fresh = !s->least;
		double flips = 0;
		if (fresh) {
			s->least = ARENA_ARRAY(a, double, nelem);
			s->most = ARENA_ARRAY(a, double, nelem);
		}
		for (int64_t i = 0; i < nelem; i++) {
			double v = elem_get_f64(y->type, y->data, i);
			if (fresh)
				s->least[i] = s->most[i] = v;
			double w = elem_get_f64(x->type, x->data, i);
			note_value(s, i, w);
			if (counts)
				flips += flip_of(s, y->type, i, w, v);
		}
		s->flips = fmax(s->flips, flips);
	}
}

comparison verify_outputs(const plan *p, const array *got, const array *want)
{
	arena *work = arena_new();
	const bool *divided = verify_divided(work, p, false, true);
	comparison c = verify_tensors(p, divided, p->noutputs, p->outputs, got,
				      want, NULL);
	arena_free(work);
	return c;
}

int64_t verify_nans(const array *x)
{
	int64_t count = 0, n = dtype_is_float(x->type) ? array_nelem(x) : 0;
	for (int64_t i = 0; i < n; i++)
		count += isnan(elem_get_f64(x->type, x->data, i)) != 0;
	return count;
}

/* ---- numbers moved ----------------------------------------------------- */

/* The distance of 1 to the next number. */
static double last_bit(dtype t)
{
	switch (t) {
	case DT_F64:
		return 0x1p-52;
	case DT_F32:
		return 0x1p-23;
	case DT_F16:
		return 0x1p-10;
	case DT_BF16:
		return 0x1p-7;
	default:
		return 0;
	}
}

double verify_noise(const plan *p, const bool *divided)
{
	arena *work = arena_new();
	const double *error = find_errors(work, p, divided);
	double noise = 0;
	for (int t = 0; t < p->ntensors; t++)
		if (error[t] > 0)
			noise = fmax(noise, last_bit(p->tensors[t].type));
	arena_free(work);
	return noise;
}

void verify_move(const array *x, double noise, uint64_t seed)
{
	uint64_t mixer = 0x9e3779b97f4a7c15, start = seed * 0xbf58476d1ce4e5b9;
	double bit = last_bit(x->type);
	int64_t n = bit > 0 ? array_nelem(x) : 0;
	bit = fmax(bit, noise);
	for (int64_t i = 0; i < n; i++) {
		uint64_t mixed = (start ^ (uint64_t)i) * mixer;
		mixed = (mixed ^ mixed >> 32) * mixer;
		double v = elem_get_f64(x->type, x->data, i);
		elem_set_f64(x->type, x->data, i,
			     v * (mixed >> 63 ? 1 + bit : 1 - bit));
	}
}
