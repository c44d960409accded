#include "config.h"

#include "runtime/verify.h"

#include <math.h>
#include <string.h>

#include "plan/eval.h"

/* Whether the workers divide a reduction of node n whose result depends on the
 * order of its terms. */
static bool rounds_differently(const plan *p, int n)
{
	const kernel *k = p->kernels[p->nodes[n].kernel].kernel;
	reducer r = plan_partial(p, n, NULL);
	return (r == RED_SUM || r == RED_PROD) && dtype_is_float(k->type);
}

/* Tensors that may differ from one worker's in their last bits. */
static bool *find_inexact(arena *a, const plan *p)
{
	bool *inexact = ARENA_ARRAY(a, bool, p->ntensors);
	for (int n = 0; n < p->nnodes; n++) {
		const plan_node *node = &p->nodes[n];
		const kernel *k = p->kernels[node->kernel].kernel;
		bool *out = &inexact[node->output];
		*out = rounds_differently(p, n);
		for (int i = 0; i < k->ninputs; i++)
			*out |= inexact[node->inputs[i]];
	}
	return inexact;
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

comparison verify_outputs(const plan *p, const array *got, const array *want)
{
	arena *work = arena_new();
	const bool *inexact = find_inexact(work, p);
	comparison c = { .equal = true, .exact = true };
	for (int i = 0; i < p->noutputs; i++) {
		size_t nbytes = (size_t)array_nbytes(&got[i]);
		if (!memcmp(got[i].data, want[i].data, nbytes))
			continue;
		distance d = distance_of(&got[i], &want[i]);
		double rel = relative(&d);
		c.exact = false;
		note_greater(&c.max_abs_error, d.most);
		note_greater(&c.max_rel_error, rel);
		if (inexact[p->outputs[i]] && rel <= allowed(got[i].type))
			continue;
		c.equal = false;
		if (!c.worst)
			c.worst = got[i].name;
	}
	arena_free(work);
	return c;
}
