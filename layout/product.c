#include "config.h"

#include "layout/product.h"

#include <string.h>

#include "base/checked.h"
#include "layout/nest.h"

typedef struct interval {
	int64_t lo, hi;
} interval;

/* The intervals of a dimension, one for each combination of coordinates on the
 * axes, in mixed radix, the first axis outermost. */
typedef struct spread {
	uint32_t axes;
	int n;
	interval *at; /* NULL: a nest whose intervals were not needed yet */
	bool even;    /* all are as long as the first */
	bool empty;   /* some are empty */
	/* they are the parts of the nest of [begin, begin + extent) */
	bool nested;
	nest nest;
	int64_t begin, extent;
} spread;

/* Boxes spanned by the dimensions, divided into even runs over the flat
 * axes. */
struct product {
	arena *arena;
	const mesh *m;
	int ndim;
	uint32_t flat;
	spread *dims;
};

/* A layout whose intervals are being computed. */
typedef struct source {
	const layout *l;
	const mesh *m;
	uint32_t partial; /* for a REDUCED_SHARD */
	/* variables on which each dimension depends */
	uint32_t vars[MAX_NVARS];
	int spans[MAX_NVARS];	  /* from kernel_need_spans() */
} source;

/* ---- intervals --------------------------------------------------------- */

/* The interval that is read.  Variables that are not in its index are not
 * divided here: if another dimension is empty nonetheless, it is so on every
 * worker with these coordinates. */
static interval read_in(const source *s, int d, uint32_t axes,
			const int *coords)
{
	box space = layout_space(s->l);
	for (; axes; axes &= axes - 1) {
		int a = __builtin_ctz(axes), v = s->l->space->dim[a];
		block(space.lo[v], space.hi[v], coords[a], s->m->size[a],
		      &space.lo[v], &space.hi[v]);
	}
	box need = layout_needs(s->l->kernel, &space, s->l->inputs);
	return (interval){ need.lo[d], need.hi[d] };
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

/* Whether the intervals of a dimension are the parts of a nest. */
static bool find_nest(const source *s, int d, spread *to)
{
	const layout *l = s->l;
	bool reads = l->kind == LAYOUT_NEEDS, stored = l->kind == LAYOUT_STORED;
	if (reads && s->spans[d] == NEED_OTHER)
		return false;
	const box whole = stored ? layout_whole(l) : layout_space(l);
	int i = reads ? s->spans[d] : d;
	uint32_t one = i == NEED_ALL ? 0 : UINT32_C(1) << i;
	to->nest = nest_none();
	to->begin = i == NEED_ALL ? 0 : whole.lo[i];
	to->extent = i == NEED_ALL ? l->dims[d] : whole.hi[i] - whole.lo[i];
	to->axes = axes_that_cut(s->m, stored ? l->cuts : l->space, one);
	nest_add(&to->nest, s->m, to->axes);
	if (l->kind == LAYOUT_REDUCED_SHARD) {
		uint32_t own = axes_that_cut(s->m, l->cuts, one) & s->partial;
		nest_add(&to->nest, s->m, own);
		to->axes |= own;
	}
	to->n = layout_sharers(s->m, to->axes);
	to->even = to->extent % to->nest.parts == 0;
	to->empty = to->extent < to->nest.parts;
	return true;
}

/* The intervals of a spread. */
static const interval *intervals(const product *p, spread *s)
{
	int coords[MAX_AXES] = { 0 };
	if (s->at)
		return s->at;
	interval *i = s->at = ARENA_ARRAY(p->arena, interval, s->n);
	do {
		*i = (interval){ s->begin, s->begin + s->extent };
		for (int j = 0; j < s->nest.n; j++) {
			int a = s->nest.axis[j];
			block(i->lo, i->hi, coords[a], p->m->size[a], &i->lo,
			      &i->hi);
		}
		i++;
	} while (mesh_next(p->m, s->axes, coords));
	return s->at;
}

static void set_spread(arena *a, const source *s, int d, spread *to)
{
	int coords[MAX_AXES] = { 0 };
	to->nested = find_nest(s, d, to);
	if (to->nested)
		return;
	uint32_t axes = axes_that_cut(s->m, s->l->space, s->vars[d]);
	interval *i;
	*to = (spread){ .axes = axes, .n = layout_sharers(s->m, axes),
			.even = true };
	to->at = i = ARENA_ARRAY(a, interval, to->n);
	do {
		*i = read_in(s, d, axes, coords);
		to->even = to->even &&
			   i->hi - i->lo == to->at->hi - to->at->lo;
		to->empty = to->empty || i->lo >= i->hi;
		i++;
	} while (mesh_next(s->m, axes, coords));
}

/* ---- products ---------------------------------------------------------- */

/* Finds the spans of a read; unknown where several inputs differ. */
static void find_spans(source *s)
{
	const layout *l = s->l;
	int first = __builtin_ctz(l->inputs);
	kernel_need_spans(l->kernel, first, s->spans);
	for (int i = first + 1; i < l->kernel->ninputs; i++) {
		int spans[MAX_NVARS];
		if (!(l->inputs >> i & 1))
			continue;
		kernel_need_spans(l->kernel, i, spans);
		for (int d = 0; d < l->ndim; d++)
			if (spans[d] != s->spans[d])
				s->spans[d] = NEED_OTHER;
	}
}

/* Finds the variables on which the dimensions of a read depend; with several
 * inputs, all dimensions are assumed to depend on all. */
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
	find_spans(s);
}

/* Whether every worker has a part of every variable. */
static bool all_compute(const source *s)
{
	const box all = layout_space(s->l);
	for (int v = 0; v < all.n; v++)
		if (cuts_smallest(all.hi[v] - all.lo[v], s->m, s->l->space,
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
	*p = (product){ .arena = a, .m = m,
			.ndim = computes && !reads ? l->kernel->nout
						   : l->ndim };
	if (computes && (!all_compute(&s) || (reads && !l->inputs)))
		return NULL;
	if (l->kind == LAYOUT_REDUCED_SHARD)
		s.partial = layout_combined_axes(m, l->kernel, l->space,
						 l->cuts);
	if (reads)
		find_vars(&s);
	p->dims = ARENA_ARRAY(a, spread, p->ndim);
	for (int d = 0; d < p->ndim; d++)
		set_spread(a, &s, d, &p->dims[d]);
	for (int i = 0; i < m->naxes && l->kind == LAYOUT_REDUCED_SHARD; i++)
		if ((s.partial >> i & 1) && l->cuts->dim[i] == CUT_NONE)
			p->flat |= UINT32_C(1) << i;
	return p;
}

/* ---- walks over coordinates -------------------------------------------- */

/* A walk over the coordinates on some axes, with the indices of the
 * corresponding intervals in several spreads. */
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
	int64_t sum;
	int64_t most; /* of the product of x with itself; else unused */
} total;

static int64_t common(interval x, interval y)
{
	int64_t lo = x.lo > y.lo ? x.lo : y.lo;
	int64_t hi = x.hi < y.hi ? x.hi : y.hi;
	return hi > lo ? hi - lo : 0;
}

/* Whether x and y have the same intervals in a dimension. */
static bool equal(const product *x, const product *y, int d)
{
	spread *s = &x->dims[d], *t = &y->dims[d];
	return s == t || (s->axes == t->axes &&
			  !memcmp(intervals(x, s), intervals(y, t),
				  (size_t)s->n * sizeof(interval)));
}

/* Whether two spreads are the parts of nests of one interval. */
static bool same_nested(const spread *s, const spread *t)
{
	return s->nested && t->nested && s->begin == t->begin &&
	       s->extent == t->extent;
}

/* As sum_walk(), but without a walk, if all spreads are nests. */
static bool sum_nests(const product *x, const product *y, uint32_t axes,
		      uint32_t dims, total *t)
{
	const nest *of_x[MAX_NVARS], *of_y[MAX_NVARS];
	int64_t extent[MAX_NVARS];
	int n = 0;
	for (; dims; dims &= dims - 1) {
		int d = __builtin_ctz(dims);
		const spread *s = &x->dims[d], *u = &y->dims[d];
		if (!same_nested(s, u))
			return false;
		extent[n] = s->extent;
		of_x[n] = &s->nest;
		of_y[n++] = &u->nest;
		int64_t most = s->extent / s->nest.parts +
			       (s->extent % s->nest.parts != 0);
		if (!ck_mul(t->most, most, &t->most))
			return false;
	}
	return nest_common(x->m, axes, n, extent, of_x, of_y, &t->sum);
}

/* Sums the overlap of x and y over the coordinates on some axes, for the
 * dimensions that only these axes determine. */
static bool sum_walk(const product *x, const product *y, uint32_t axes,
		     uint32_t dims, total *t)
{
	walk w;
	const interval *of_x[MAX_NVARS], *of_y[MAX_NVARS];
	int at[MAX_NVARS], ndims = 0;
	bool even = true;
	for (; dims; dims &= dims - 1) {
		int d = __builtin_ctz(dims);
		at[ndims++] = d;
		even = even && x->dims[d].even && equal(x, y, d);
	}
	walk_begin(&w, x->m, axes);
	for (int i = 0; i < ndims; i++) {
		spread *s = &x->dims[at[i]], *u = &y->dims[at[i]];
		of_x[i] = intervals(x, s);
		of_y[i] = intervals(y, u);
		walk_add(&w, s);
		walk_add(&w, u);
	}
	*t = (total){ 0, 0 };
	do {
		int64_t n = 1;
		for (int i = 0; i < ndims; i++) {
			interval b = of_x[i][w.rank[2 * i]];
			interval c = of_y[i][w.rank[2 * i + 1]];
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

static bool sum_part(const product *x, const product *y, uint32_t axes,
		     uint32_t dims, total *t)
{
	*t = (total){ 0, 1 };
	return sum_nests(x, y, axes, dims, t) ||
	       sum_walk(x, y, axes, dims, t);
}

/* Extends *of and *dims by the dimensions that share axes with those in *dims,
 * until there are no more. */
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

/* The overlap of x and y summed over all workers, and the greatest; the flat
 * axes of x count once. */
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

/* Whether x contains y in a dimension on every worker; *same: whether they are
 * equal. */
static bool compare_dims(const product *x, const product *y, int d, bool *same)
{
	spread *s = &x->dims[d], *t = &y->dims[d];
	if (same_nested(s, t)) {
		*same = *same && s->nest.n == t->nest.n;
		return nest_covers(&s->nest, &t->nest);
	}
	const interval *b = intervals(x, s), *c = intervals(y, t);
	walk w;
	bool covers;
	walk_begin(&w, x->m, s->axes | t->axes);
	walk_add(&w, s);
	walk_add(&w, t);
	do {
		interval i = b[w.rank[0]], j = c[w.rank[1]];
		covers = i.lo <= j.lo && i.hi >= j.hi;
		*same = *same && i.lo == j.lo && i.hi == j.hi;
	} while (covers && walk_next(&w));
	return covers;
}

/* Compares the boxes of all workers; false if some are empty. */
static bool compare_boxes(const product *x, const product *y, bool *same,
			  bool *covers)
{
	*same = *covers = x->ndim == y->ndim;
	if (some_are_empty(x) || some_are_empty(y))
		return false;
	for (int d = 0; d < x->ndim && *covers; d++)
		*covers = compare_dims(x, y, d, same);
	*same = *same && *covers;
	return true;
}

bool product_held(const product *from, const product *to, int64_t *sum)
{
	total t;
	if (to->flat)
		return false;
	/* Where `to' does not distinguish the runs of a box, together they hold
	 * all of the box. */
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

/* ---- all-gathers ------------------------------------------------------- */

/* Whether the blocks of a dimension are those of nests, none of them empty, and
 * blocks of x and y contain each other: where their axes agree, or because all
 * are equally long. */
static bool is_regular(const product *x, const product *y, int d)
{
	const spread *s = &x->dims[d], *t = &y->dims[d];
	if (!same_nested(s, t) || s->empty || t->empty)
		return false;
	if (nest_covers(&t->nest, &s->nest))
		return true;
	for (int i = 0; i < s->nest.n && i < t->nest.n; i++)
		if (x->m->size[s->nest.axis[i]] != x->m->size[t->nest.axis[i]])
			return false;
	return s->even && t->even;
}

/* Whether owners have the receiver's coordinate on an axis: the source is not
 * cut along it, or cut so that the owners are those with that coordinate. */
static bool is_kept(const product *from, const product *to, int axis)
{
	for (int d = 0; d < from->ndim; d++) {
		const nest *have = &from->dims[d].nest;
		const nest *want = &to->dims[d].nest;
		for (int i = 0; i < have->n; i++)
			if (have->axis[i] == axis)
				return i < want->n && want->axis[i] == axis;
	}
	return true;
}

bool product_gathers(const product *from, const product *to, bool *gathers)
{
	if (from->ndim != to->ndim || from->flat || to->flat)
		return false;
	for (int d = 0; d < to->ndim; d++)
		if (!is_regular(from, to, d))
			return false;
	*gathers = true;
	for (int d = 0; d < to->ndim && *gathers; d++) {
		const nest *want = &to->dims[d].nest;
		*gathers = from->dims[d].nest.n >= want->n;
		for (int i = 0; i < want->n && *gathers; i++)
			*gathers = is_kept(from, to, want->axis[i]);
	}
	return true;
}
