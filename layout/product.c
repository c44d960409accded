#include "config.h"

#include "layout/product.h"

#include <string.h>

#include "base/checked.h"

typedef struct interval {
	int64_t lo, hi;
} interval;

/* The intervals of a dimension, one for each combination of coordinates on the
 * axes, in mixed radix, the first axis outermost. */
typedef struct spread {
	uint32_t axes;
	int n;
	interval *at;
	bool even;  /* all are as long as the first */
	bool empty; /* some are empty */
} spread;

/* The boxes that the dimensions span are shared out in even runs over the flat
 * axes. */
struct product {
	const mesh *m;
	int ndim;
	uint32_t flat;
	spread dims[MAX_NVARS];
};

/* A layout whose intervals are being found. */
typedef struct source {
	const layout *l;
	const mesh *m;
	uint32_t partial; /* of a REDUCED_SHARD */
	uint32_t vars[MAX_NVARS]; /* that each dimension depends on */
} source;

/* ---- intervals --------------------------------------------------------- */

/* Cuts an interval by those of the axes that cut dimension d, nested. */
static void cut(interval *i, const mesh *m, const cuts *c, uint32_t axes, int d,
		const int *coords)
{
	for (; axes; axes &= axes - 1) {
		int a = __builtin_ctz(axes);
		if (c->dim[a] == d)
			block(i->lo, i->hi, coords[a], m->size[a], &i->lo,
			      &i->hi);
	}
}

/* The interval that is read.  Variables that are not in its index are not
 * divided here: should another dimension be empty nonetheless, it is so on
 * every worker with these coordinates. */
static interval read_in(const source *s, int d, uint32_t axes,
			const int *coords)
{
	box space = kernel_space(s->l->kernel);
	for (; axes; axes &= axes - 1) {
		int a = __builtin_ctz(axes), v = s->l->space->dim[a];
		block(space.lo[v], space.hi[v], coords[a], s->m->size[a],
		      &space.lo[v], &space.hi[v]);
	}
	box need = layout_needs(s->l->kernel, &space, s->l->inputs);
	return (interval){ need.lo[d], need.hi[d] };
}

static interval interval_at(const source *s, int d, uint32_t axes,
			    const int *coords)
{
	const layout *l = s->l;
	if (l->kind == LAYOUT_NEEDS)
		return read_in(s, d, axes, coords);
	interval i = { 0, l->kind == LAYOUT_STORED ?
				  l->dims[d] : l->kernel->vars[d].extent };
	if (l->kind == LAYOUT_STORED) {
		cut(&i, s->m, l->cuts, axes, d, coords);
		return i;
	}
	cut(&i, s->m, l->space, axes & ~s->partial, d, coords);
	if (l->kind == LAYOUT_REDUCED_SHARD)
		cut(&i, s->m, l->cuts, axes & s->partial, d, coords);
	return i;
}

/* The axes along which c cuts one of the variables. */
static uint32_t axes_that_cut(const mesh *m, const cuts *c, uint32_t vars)
{
	uint32_t axes = 0;
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] >= 0 && (vars >> c->dim[a] & 1))
			axes |= UINT32_C(1) << a;
	return axes;
}

static uint32_t axes_of(const source *s, int d)
{
	const layout *l = s->l;
	uint32_t one = UINT32_C(1) << d;
	if (l->kind == LAYOUT_STORED)
		return axes_that_cut(s->m, l->cuts, one);
	uint32_t axes = axes_that_cut(s->m, l->space, s->vars[d]);
	if (l->kind == LAYOUT_REDUCED_SHARD)
		axes |= axes_that_cut(s->m, l->cuts, one) & s->partial;
	return axes;
}

static void set_spread(arena *a, const source *s, int d, spread *to)
{
	int coords[MAX_AXES] = { 0 };
	uint32_t axes = axes_of(s, d);
	interval *i;
	*to = (spread){ .axes = axes, .n = layout_sharers(s->m, axes),
			.even = true };
	to->at = i = ARENA_ARRAY(a, interval, to->n);
	do {
		*i = interval_at(s, d, axes, coords);
		to->even = to->even &&
			   i->hi - i->lo == to->at->hi - to->at->lo;
		to->empty = to->empty || i->lo >= i->hi;
		i++;
	} while (mesh_next(s->m, axes, coords));
}

/* ---- products ---------------------------------------------------------- */

/* The variables that the dimensions of a read depend on; of several inputs all
 * are taken to depend on all. */
static void find_vars(source *s)
{
	const layout *l = s->l;
	uint32_t all = 0;
	bool several = l->inputs & (l->inputs - 1);
	for (int i = 0; i < l->kernel->ninputs; i++) {
		if (!(l->inputs >> i & 1))
			continue;
		kernel_need_vars(l->kernel, i, s->vars);
		for (int d = 0; d < l->kernel->inputs[i].ndim; d++)
			all |= s->vars[d];
	}
	for (int d = 0; d < l->ndim && several; d++)
		s->vars[d] = all;
}

/* Whether every worker has a part of every variable. */
static bool all_compute(const source *s)
{
	const kernel *k = s->l->kernel;
	for (int v = 0; v < k->nvars; v++)
		if (cuts_smallest(k->vars[v].extent, s->m, s->l->space,
				  s->m->naxes, v) < 1)
			return false;
	return true;
}

product *product_of(arena *a, const layout *l, const mesh *m)
{
	source s = { .l = l, .m = m };
	product *p = ARENA_NEW(a, product);
	bool computes = l->kind != LAYOUT_STORED;
	bool reads = l->kind == LAYOUT_NEEDS;
	*p = (product){ .m = m, .ndim = computes && !reads ? l->kernel->nout
							   : l->ndim };
	if (computes && (!all_compute(&s) || (reads && !l->inputs)))
		return NULL;
	if (l->kind == LAYOUT_REDUCED_SHARD)
		s.partial = layout_combined_axes(m, l->kernel, l->space,
						 l->cuts);
	for (int d = 0; d < p->ndim; d++)
		s.vars[d] = UINT32_C(1) << d;
	if (reads)
		find_vars(&s);
	for (int d = 0; d < p->ndim; d++)
		set_spread(a, &s, d, &p->dims[d]);
	for (int i = 0; i < m->naxes && l->kind == LAYOUT_REDUCED_SHARD; i++)
		if ((s.partial >> i & 1) && l->cuts->dim[i] == CUT_NONE)
			p->flat |= UINT32_C(1) << i;
	return p;
}

/* ---- walks over coordinates -------------------------------------------- */

/* A walk over the coordinates on some axes, and the numbers of the intervals
 * that belong to them in several spreads. */
typedef struct walk {
	const mesh *m;
	int naxes, nspreads;
	int axis[MAX_AXES], coords[MAX_AXES];
	int rank[2 * MAX_NVARS], stride[2 * MAX_NVARS][MAX_AXES];
} walk;

static void walk_begin(walk *w, const mesh *m, uint32_t axes)
{
	w->m = m;
	w->naxes = w->nspreads = 0;
	for (; axes; axes &= axes - 1) {
		w->coords[w->naxes] = 0;
		w->axis[w->naxes++] = __builtin_ctz(axes);
	}
}

static void walk_add(walk *w, const spread *s)
{
	int i = w->nspreads++, stride = 1;
	w->rank[i] = 0;
	for (int j = w->naxes - 1; j >= 0; j--) {
		bool on = s->axes >> w->axis[j] & 1;
		w->stride[i][j] = on ? stride : 0;
		stride *= on ? w->m->size[w->axis[j]] : 1;
	}
}

static bool walk_next(walk *w)
{
	for (int j = w->naxes - 1; j >= 0; j--) {
		int size = w->m->size[w->axis[j]];
		bool more = ++w->coords[j] < size;
		for (int i = 0; i < w->nspreads; i++)
			w->rank[i] += more ? w->stride[i][j]
					   : -w->stride[i][j] * (size - 1);
		if (more)
			return true;
		w->coords[j] = 0;
	}
	return false;
}

/* ---- sums of products -------------------------------------------------- */

typedef struct total {
	int64_t sum, most;
} total;

static int64_t common(interval x, interval y)
{
	int64_t lo = x.lo > y.lo ? x.lo : y.lo;
	int64_t hi = x.hi < y.hi ? x.hi : y.hi;
	return hi > lo ? hi - lo : 0;
}

static bool equal(const spread *x, const spread *y)
{
	return x == y || (x->axes == y->axes &&
			  !memcmp(x->at, y->at,
				  (size_t)x->n * sizeof(*x->at)));
}

/* Sums the lengths that x and y have in common over the coordinates on some
 * axes: of the dimensions that these axes decide alone. */
static bool sum_part(const product *x, const product *y, uint32_t axes,
		     uint32_t dims, total *t)
{
	walk w;
	int at[MAX_NVARS], ndims = 0;
	bool even = true;
	for (; dims; dims &= dims - 1) {
		int d = __builtin_ctz(dims);
		at[ndims++] = d;
		even = even && x->dims[d].even &&
		       equal(&x->dims[d], &y->dims[d]);
	}
	walk_begin(&w, x->m, axes);
	for (int i = 0; i < ndims; i++) {
		walk_add(&w, &x->dims[at[i]]);
		walk_add(&w, &y->dims[at[i]]);
	}
	*t = (total){ 0, 0 };
	do {
		int64_t n = 1;
		for (int i = 0; i < ndims; i++) {
			interval b = x->dims[at[i]].at[w.rank[2 * i]];
			interval c = y->dims[at[i]].at[w.rank[2 * i + 1]];
			if (!ck_mul(n, common(b, c), &n))
				return false;
		}
		t->most = n > t->most ? n : t->most;
		if (even)
			return ck_mul(n, layout_sharers(x->m, axes), &t->sum);
		if (!ck_add(t->sum, n, &t->sum))
			return false;
	} while (walk_next(&w));
	return true;
}

/* Adds the dimensions that share axes with those in *dims to both, until no
 * more do. */
static void close_over(const uint32_t *axes, int n, uint32_t *of,
		       uint32_t *dims)
{
	for (int d = 0; d < n; d++)
		if (!(*dims >> d & 1) && (axes[d] & *of)) {
			*dims |= UINT32_C(1) << d;
			*of |= axes[d];
			d = -1;
		}
}

/* The volumes that x and y have in common, summed over all workers, and the
 * greatest; the flat axes of x count once. */
static bool sum_all(const product *x, const product *y, total *t)
{
	uint32_t axes[MAX_NVARS], done = 0, used = x->flat;
	for (int d = 0; d < x->ndim; d++)
		axes[d] = x->dims[d].axes | y->dims[d].axes;
	*t = (total){ 1, 1 };
	for (int d = 0; d < x->ndim; d++) {
		uint32_t dims = UINT32_C(1) << d, on = axes[d];
		total part;
		if (done & dims)
			continue;
		close_over(axes, x->ndim, &on, &dims);
		if (!sum_part(x, y, on, dims, &part) ||
		    !ck_mul(t->sum, part.sum, &t->sum) ||
		    !ck_mul(t->most, part.most, &t->most))
			return false;
		done |= dims;
		used |= on;
	}
	return ck_mul(t->sum, mesh_workers(x->m) / layout_sharers(x->m, used),
		      &t->sum);
}

bool product_elements(const product *x, int64_t *sum, int64_t *most)
{
	total t;
	if (!sum_all(x, x, &t))
		return false;
	int nruns = layout_sharers(x->m, x->flat);
	*sum = t.sum;
	*most = t.most > 0 ? (t.most - 1) / nruns + 1 : 0;
	return true;
}

/* ---- pairs ------------------------------------------------------------- */

static bool some_are_empty(const product *x)
{
	for (int d = 0; d < x->ndim; d++)
		if (x->dims[d].empty)
			return true;
	return false;
}

/* Compares the boxes of all workers; false if some are empty. */
static bool compare_boxes(const product *x, const product *y, bool *same,
			  bool *covers)
{
	*same = *covers = x->ndim == y->ndim;
	if (some_are_empty(x) || some_are_empty(y))
		return false;
	for (int d = 0; d < x->ndim && *covers; d++) {
		const spread *b = &x->dims[d], *c = &y->dims[d];
		walk w;
		walk_begin(&w, x->m, b->axes | c->axes);
		walk_add(&w, b);
		walk_add(&w, c);
		do {
			interval i = b->at[w.rank[0]], j = c->at[w.rank[1]];
			*covers = i.lo <= j.lo && i.hi >= j.hi;
			*same = *same && i.lo == j.lo && i.hi == j.hi;
		} while (*covers && walk_next(&w));
	}
	*same = *same && *covers;
	return true;
}

bool product_held(const product *from, const product *to, int64_t *sum)
{
	total t;
	if (to->flat)
		return false;
	/* Where `to' does not tell the runs of a box apart, these hold together
	 * what the box does. */
	for (int d = 0; d < to->ndim; d++)
		if (to->dims[d].axes & from->flat)
			return false;
	if (!sum_all(from, to, &t))
		return false;
	*sum = t.sum;
	return true;
}

bool product_compare(const product *x, const product *y, bool *same,
		     bool *covers)
{
	return !x->flat && !y->flat && compare_boxes(x, y, same, covers);
}
