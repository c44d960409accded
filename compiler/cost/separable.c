/* Volumes of regions, summed over all groups of workers without visiting each.
 *
 * The regions of a tensor that a group needs and has are boxes: products of
 * intervals, and mostly each interval depends on a few axes of the mesh only,
 * those that cut the tensor's dimension or a variable in its index.  The sum
 * over all groups of a product of lengths is then a product of sums over
 * disjoint sets of axes: 8 + 8 terms in place of 64. */
#include "config.h"

#include "compiler/cost/separable.h"

#include "compiler/cost/byte_model.h"

/* Elements times groups. */
typedef __int128 wide;

typedef struct interval {
	int64_t lo, hi;
} interval;

/* Intervals in one dimension, one per combination of coordinates on the axes,
 * in mixed radix, the first axis outermost. */
typedef struct spread {
	uint32_t axes;
	interval *at;
} spread;

/* Dimension d: what groups need (or own of a result) and have stored. */
typedef struct extent {
	spread need, have;
} extent;

typedef enum measure {
	MEASURE_NEED,
	MEASURE_HAVE,
	MEASURE_BOTH, /* elements that are both needed and there */
} measure;

typedef struct separable {
	arena *tmp;
	const mesh *m;
	const pair *p;
	int n;			   /* dimensions of the tensor */
	uint32_t vars[MAX_NVARS];  /* in the index of each dimension */
	int64_t sizes[MAX_NVARS];  /* of the dimensions */
	cuts node_cuts, tensor_cuts; /* with the choices at hand */
	uint32_t partial;
	extent dims[MAX_NVARS];
} separable;

/* ---- conditions -------------------------------------------------------- */

/* Finds the one read of an input in e; false where there are two that differ,
 * or one under a condition. */
static bool find_read(const kexpr *e, int input, bool sure, const kexpr **read)
{
	if (e->kind == KX_READ && e->input == input) {
		if (!sure || (*read && !kx_equal(*read, e)))
			return false;
		*read = e;
	}
	for (int i = 0; i < e->nargs; i++)
		if (!find_read(e->args[i], input,
			       sure && (e->kind != KX_SELECT || i == 0), read))
			return false;
	return true;
}

static uint32_t vars_in(const kexpr *e)
{
	uint32_t vars = e->kind == KX_VAR ? UINT32_C(1) << e->var : 0;
	for (int i = 0; i < e->nargs; i++)
		vars |= vars_in(e->args[i]);
	return vars;
}

/* The variables that each dimension of the region read depends on. */
static bool find_vars(separable *s)
{
	const kernel *k = s->p->kernel;
	int input = __builtin_ctz(s->p->inputs);
	const kexpr *read = NULL;
	if (s->p->inputs >> input != 1 || !k->body ||
	    !find_read(k->body, input, true, &read) || !read)
		return false;
	s->n = k->inputs[input].ndim;
	for (int d = 0; d < s->n; d++) {
		s->sizes[d] = k->inputs[input].dims[d];
		s->vars[d] = vars_in(read->args[d]);
	}
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].input == input)
			s->vars[k->derived[i].dim] |= UINT32_C(1)
						      << k->derived[i].var;
	return true;
}

static void own_vars(separable *s)
{
	s->n = s->p->kernel->nout;
	for (int d = 0; d < s->n; d++) {
		s->sizes[d] = kernel_dim(s->p->kernel, d);
		s->vars[d] = UINT32_C(1) << d;
	}
}

/* ---- spreads ----------------------------------------------------------- */

/* The place of coords in a spread over the axes. */
static size_t rank_of(const mesh *m, uint32_t axes, const int *coords)
{
	size_t r = 0;
	for (; axes; axes &= axes - 1) {
		int a = __builtin_ctz(axes);
		r = r * (size_t)m->size[a] + (size_t)coords[a];
	}
	return r;
}

/* Goes on to the next coordinates on the axes; false after the last. */
static bool advance(const mesh *m, uint32_t axes, int *coords)
{
	while (axes) {
		int a = 31 - __builtin_clz(axes);
		if (++coords[a] < m->size[a])
			return true;
		coords[a] = 0;
		axes &= ~(UINT32_C(1) << a);
	}
	return false;
}

static void set_axes(separable *s, spread *to, uint32_t axes)
{
	size_t n = 1;
	for (int a = 0; a < s->m->naxes; a++)
		if (axes >> a & 1)
			n *= (size_t)s->m->size[a];
	*to = (spread){ axes, ARENA_ARRAY(s->tmp, interval, n) };
}

/* Cuts an interval by the axes that cut dimension d, nested. */
static void cut(const separable *s, interval *i, const cuts *c, uint32_t axes,
		int d, const int *coords)
{
	for (int a = 0; a < s->m->naxes; a++)
		if ((axes >> a & 1) && c->dim[a] == d)
			block(i->lo, i->hi, coords[a], s->m->size[a], &i->lo,
			      &i->hi);
}

/* The interval read in dimension d by groups with these coordinates on these
 * axes.  The variables that are not in its index are undivided here: should
 * another dimension be empty nonetheless, it is so in every group with these
 * coordinates. */
static interval read_in(const separable *s, int d, uint32_t axes,
			const int *coords)
{
	const kernel *k = s->p->kernel;
	box space = kernel_space(k);
	for (int a = 0; a < s->m->naxes; a++) {
		int v = s->node_cuts.dim[a];
		if (axes >> a & 1)
			block(space.lo[v], space.hi[v], coords[a],
			      s->m->size[a], &space.lo[v], &space.hi[v]);
	}
	box need = kernel_need(k, &space, __builtin_ctz(s->p->inputs));
	return (interval){ need.lo[d], need.hi[d] };
}

/* The interval of a result that a group owns: the interval produced, cut by the
 * partial axes as the tensor is stored. */
static interval owned_in(const separable *s, int d, const int *coords)
{
	interval i = { 0, s->sizes[d] };
	cut(s, &i, &s->node_cuts, ~s->partial, d, coords);
	cut(s, &i, &s->tensor_cuts, s->partial, d, coords);
	return i;
}

static void spread_need(separable *s, int d)
{
	uint32_t axes = 0;
	int coords[MAX_AXES] = { 0 };
	for (int a = 0; a < s->m->naxes; a++) {
		int v = s->node_cuts.dim[a];
		bool shared = s->partial >> a & 1;
		if (shared ? s->tensor_cuts.dim[a] == d :
			     v != CUT_NONE && (s->vars[d] >> v & 1))
			axes |= UINT32_C(1) << a;
	}
	set_axes(s, &s->dims[d].need, axes);
	interval *to = s->dims[d].need.at;
	do {
		*to++ = s->p->inputs ? read_in(s, d, axes, coords) :
				       owned_in(s, d, coords);
	} while (advance(s->m, axes, coords));
}

static void spread_have(separable *s, int d)
{
	uint32_t axes = 0;
	int coords[MAX_AXES] = { 0 };
	for (int a = 0; a < s->m->naxes; a++)
		if (s->tensor_cuts.dim[a] == d)
			axes |= UINT32_C(1) << a;
	set_axes(s, &s->dims[d].have, axes);
	interval *to = s->dims[d].have.at;
	do {
		*to = (interval){ 0, s->sizes[d] };
		cut(s, to++, &s->tensor_cuts, ~0u, d, coords);
	} while (advance(s->m, axes, coords));
}

/* ---- sums -------------------------------------------------------------- */

static uint32_t axes_of(const extent *e, measure what)
{
	return (what != MEASURE_HAVE ? e->need.axes : 0) |
	       (what != MEASURE_NEED ? e->have.axes : 0);
}

static int64_t length(const mesh *m, const extent *e, measure what,
		      const int *coords)
{
	interval i = { 0, INT64_MAX };
	if (what != MEASURE_HAVE)
		i = e->need.at[rank_of(m, e->need.axes, coords)];
	if (what != MEASURE_NEED) {
		interval h = e->have.at[rank_of(m, e->have.axes, coords)];
		i.lo = h.lo > i.lo ? h.lo : i.lo;
		i.hi = h.hi < i.hi ? h.hi : i.hi;
	}
	return i.hi > i.lo ? i.hi - i.lo : 0;
}

/* The sum over coordinates on the axes of the product over the dimensions in
 * the mask. */
static wide sum_over(const separable *s, uint32_t axes, uint32_t dims,
		     measure what)
{
	int coords[MAX_AXES] = { 0 };
	wide sum = 0;
	do {
		wide product = 1;
		for (uint32_t left = dims; left && product; left &= left - 1)
			product *= length(s->m, &s->dims[__builtin_ctz(left)],
					  what, coords);
		sum += product;
	} while (advance(s->m, axes, coords));
	return sum;
}

/* The volume of the measure, summed over all groups. */
static wide volume(const separable *s, measure what)
{
	uint32_t done = 0, used = 0;
	wide product = 1;
	for (int d = 0; d < s->n; d++) {
		if (done >> d & 1)
			continue;
		uint32_t dims = 0, axes = axes_of(&s->dims[d], what), more;
		do {
			more = UINT32_C(1) << d;
			for (int e = d; e < s->n; e++)
				if (axes_of(&s->dims[e], what) & axes)
					more |= UINT32_C(1) << e;
			more &= ~dims;
			dims |= more;
			for (int e = d; e < s->n; e++)
				if (more >> e & 1)
					axes |= axes_of(&s->dims[e], what);
		} while (more);
		product *= sum_over(s, axes, dims, what);
		done |= dims;
		used |= axes;
	}
	for (int a = 0; a < s->m->naxes; a++)
		if (!(used >> a & 1))
			product *= s->m->size[a];
	return product;
}

/* ---- tables ------------------------------------------------------------ */

static bool runs_are_flat(const separable *s)
{
	for (int a = 0; a < s->m->naxes; a++)
		if ((s->partial >> a & 1) &&
		    s->tensor_cuts.dim[a] == CUT_NONE)
			return true;
	return false;
}

static int64_t cell(separable *s)
{
	int64_t others = 0;
	for (int d = 0; d < s->n; d++)
		spread_have(s, d);
	wide both = volume(s, MEASURE_BOTH), all;
	if (s->p->inputs) {
		all = volume(s, MEASURE_NEED) - both;
	} else {
		for (int a = 0; a < s->m->naxes; a++)
			if (s->partial >> a & 1)
				others = (others + 1) * s->m->size[a] - 1;
		all = volume(s, MEASURE_HAVE) - both;
		if (others)
			all += others * volume(s, MEASURE_NEED);
	}
	return all < COST_MAX ? (int64_t)all : COST_MAX;
}

/* Fills in the row of the strategy that is set; false where a cell is not
 * separable. */
static bool row(separable *s, int64_t *to)
{
	const choices *dims = s->p->dims;
	int axis = s->m->naxes - 1;
	for (int i = 0; i < dims->n; i++) {
		s->tensor_cuts.dim[axis] = dims->at[i];
		if (runs_are_flat(s))
			return false;
		if (i == 0 || s->partial)
			for (int d = 0; d < s->n; d++)
				spread_need(s, d);
		to[i] = cell(s);
	}
	return true;
}

bool separable_table(const mesh *m, const pair *p, int64_t *table)
{
	separable s = { .m = m, .p = p };
	bool done = true;
	if (p->inputs && !find_vars(&s))
		return false;
	if (!p->inputs)
		own_vars(&s);
	s.tmp = arena_new();
	s.node_cuts = *p->node_cuts;
	s.tensor_cuts = *p->tensor_cuts;
	for (int i = 0; i < p->vars->n && done; i++) {
		s.node_cuts.dim[m->naxes - 1] = p->vars->at[i];
		if (!p->inputs)
			s.partial = layout_partial_axes(m, p->kernel,
							&s.node_cuts);
		done = row(&s, table + i * p->dims->n);
	}
	arena_free(s.tmp);
	return done;
}
