#include "config.h"

#include "runtime/verify.h"

#include <math.h>
#include <string.h>

#include "plan/eval.h"

/* Whether the workers, or a library, divide a reduction of node n whose result
 * depends on the order of its terms. */
static bool rounds_differently(const plan *p, int n, bool library)
{
	const kernel *k = p->kernels[p->nodes[n].kernel].kernel;
	reducer r = library && k->body ? k->reducer : plan_partial(p, n, NULL);
	return (r == RED_SUM || r == RED_PROD) && dtype_is_float(k->type);
}

static double allowed(dtype t)
{
	switch (t) {
	case DT_F64:
		return 1e-9;
	case DT_F32:
		return 1e-4;
	case DT_F16:
		return 1e-2;
	case DT_BF16:
		return 1e-1;
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

/* One pass over the program; whether it found more. */
static bool spread(const plan *p, bool library, double *error)
{
	bool more = false;
	for (int n = 0; n < p->nnodes; n++) {
		const plan_node *node = &p->nodes[n];
		const kernel *k = p->kernels[node->kernel].kernel;
		double most = 0;
		if (rounds_differently(p, n, library))
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

/* By how much, relatively, tensors may differ from one worker's, after as many
 * steps as it takes: as much as the coarsest type does that they come from
 * through what is added up otherwise; 0 where they have to be the same. */
static double *find_errors(arena *a, const plan *p, bool library)
{
	double *error = ARENA_ARRAY(a, double, p->ntensors);
	while (spread(p, library, error))
		continue;
	return error;
}

typedef struct distance {
	double most;	  /* |a - b| of an element; NAN where one is NaN */
	double diff, all; /* sums of squares */
} distance;

static distance distance_of(const array *x, const array *y)
{
	distance d = { 0 };
	int64_t n = array_nelem(x);
	for (int64_t i = 0; i < n; i++) {
		double a = elem_get_f64(x->type, x->data, i);
		double b = elem_get_f64(y->type, y->data, i);
		if (a == b || (isnan(a) && isnan(b))) {
			d.all += isfinite(b) ? b * b : 0;
			continue;
		}
		double e = fabs(a - b);
		if (isnan(e) || e > d.most)
			d.most = isnan(d.most) ? d.most : e;
		d.diff += e * e;
		d.all += b * b;
	}
	return d;
}

static double relative(const distance *d)
{
	if (d->diff == 0)
		return 0;
	return d->all > 0 ? sqrt(d->diff / d->all) : INFINITY;
}

static void note_greater(double *to, double v)
{
	if (isnan(v) || v > *to)
		*to = isnan(*to) ? *to : v;
}

comparison verify_tensors(const plan *p, bool library, int n,
			  const int *tensors, const array *got,
			  const array *want, const double *sway)
{
	enum { TIMES = 16 };
	arena *work = arena_new();
	const double *error = find_errors(work, p, library);
	comparison c = { .equal = true, .exact = true };
	for (int i = 0; i < n; i++) {
		size_t nbytes = (size_t)array_nbytes(&got[i]);
		if (!memcmp(got[i].data, want[i].data, nbytes))
			continue;
		distance d = distance_of(&got[i], &want[i]);
		double rel = relative(&d);
		c.exact = false;
		note_greater(&c.max_abs_error, d.most);
		note_greater(&c.max_rel_error, rel);
		double most = error[tensors[i]];
		if (most > 0 && sway)
			note_greater(&most, TIMES * sway[i]);
		if (most > 0 && rel <= most)
			continue;
		c.equal = false;
		if (!c.worst)
			c.worst = got[i].name;
	}
	arena_free(work);
	return c;
}

void verify_sway(int n, const array *moved, const array *want, double *sway)
{
	for (int i = 0; i < n; i++) {
		distance d = distance_of(&moved[i], &want[i]);
		note_greater(&sway[i], relative(&d));
	}
}

comparison verify_outputs(const plan *p, const array *got, const array *want)
{
	return verify_tensors(p, false, p->noutputs, p->outputs, got, want,
			      NULL);
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

double verify_noise(const plan *p)
{
	arena *work = arena_new();
	const double *error = find_errors(work, p, false);
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
