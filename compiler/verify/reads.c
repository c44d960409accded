/* Compares regions with the reads that are made.
 *
 * All points of a stage are visited.  Indices and conditions that do not depend
 * on data are computed.  If they depend on data, an index may be anything, and
 * a condition may be true or false.  The result is exactly the set of reads
 * that some data would cause. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <string.h>

#include "kernel/scalar.h"

typedef struct interval {
	int64_t lo, hi; /* [lo, hi), empty if lo >= hi */
} interval;

/* The elements that a part reads through one read of the body. */
typedef struct seen {
	interval index[MAX_NDIM];  /* hull of the indices */
	interval inside[MAX_NDIM]; /* hull of the indices that are inside */
	bool any, some;
} seen;

/* A read, or a slice of an opaque function. */
typedef struct place {
	const void *key;
	int input, ndim;
	/* intervals are not exact: see is_loose(), or a condition on a quotient
	 * or remainder makes strides */
	bool loose;
	bool data[MAX_NDIM]; /* the index depends on data, or is all */
} place;

/* A variable divided into a number of parts. */
typedef struct way {
	int var, nparts;
	VEC(seen) seen[MAX_PARTS]; /* by place */
} way;

typedef struct watch {
	trial *t;
	const stage *stage;
	const kernel *k;
	int64_t point[MAX_NVARS];
	/* number of conditions around on quotients or remainders */
	int nstrided;
	VEC(place) places;
	int nways;
	way *ways;
} watch;

/* ---- what does not depend on data --------------------------------------- */

static bool known(const watch *w, const kexpr *e, int64_t *v);

static bool known_fn(const watch *w, const kexpr *e, int64_t *v)
{
	int64_t x, y = 0;
	dtype of = e->args[0]->type;
	if (dtype_is_float(of))
		return false;
	bool kx = known(w, e->args[0], &x);
	bool ky = e->nargs < 2 || known(w, e->args[1], &y);
	bool decides = e->fn == FN_AND ? 0 : 1;
	if (e->fn == FN_AND || e->fn == FN_OR) {
		*v = decides;
		if ((kx && !!x == decides) || (ky && !!y == decides))
			return true;
	}
	if (!kx || !ky)
		return false;
	*v = scalar_int(e->fn, of, x, y);
	return true;
}

/* Computes an integer expression or a condition at the point.  Returns false if
 * it depends on data. */
static bool known(const watch *w, const kexpr *e, int64_t *v)
{
	int64_t c;
	switch (e->kind) {
	case KX_INT:
		*v = e->i;
		return true;
	case KX_VAR:
		*v = w->point[e->var];
		return true;
	case KX_FN:
		return known_fn(w, e, v);
	case KX_SELECT:
		return known(w, e->args[0], &c) &&
		       known(w, e->args[c ? 1 : 2], v);
	case KX_CAST:
		if (dtype_is_float(e->type) ||
		    dtype_is_float(e->args[0]->type) ||
		    !known(w, e->args[0], &c))
			return false;
		*v = scalar_wrap(e->type, c);
		return true;
	default:
		return false;
	}
}

/* ---- collecting --------------------------------------------------------- */

static int find_place(watch *w, const void *key, place made)
{
	for (int i = 0; i < w->places.n; i++)
		if (w->places.at[i].key == key)
			return i;
	made.key = key;
	vec_push(w->t->arena, &w->places, made);
	for (int i = 0; i < w->nways; i++)
		for (int p = 0; p < w->ways[i].nparts; p++)
			vec_push(w->t->arena, &w->ways[i].seen[p],
				 (seen){ 0 });
	return w->places.n - 1;
}

static void extend(interval *x, int64_t i, bool first)
{
	if (first || i < x->lo)
		x->lo = i;
	if (first || i + 1 > x->hi)
		x->hi = i + 1;
}

/* The part of a way that has the point.  -1 means all parts: a derived variable
 * adds no loop. */
static int part_at(const watch *w, const way *y)
{
	const kvar *v = &w->k->vars[y->var];
	if (v->kind == KVAR_DERIVED)
		return -1;
	for (int p = 0; p < y->nparts; p++) {
		int64_t lo, hi;
		block(0, v->extent, p, y->nparts, &lo, &hi);
		if (w->point[y->var] >= lo && w->point[y->var] < hi)
			return p;
	}
	return -1;
}

static void see(watch *w, int at, const int64_t *index)
{
	const place *p = &w->places.at[at];
	const int64_t *dims = w->k->inputs[p->input].dims;
	bool inside = true;
	for (int d = 0; d < p->ndim; d++)
		inside &= p->data[d] ? dims[d] > 0
				     : index[d] >= 0 && index[d] < dims[d];
	for (int i = 0; i < w->nways; i++) {
		way *y = &w->ways[i];
		int part = part_at(w, y);
		for (int q = 0; q < y->nparts; q++) {
			seen *s = &y->seen[q].at[at];
			if (part >= 0 && q != part)
				continue;
			for (int d = 0; d < p->ndim; d++) {
				extend(&s->index[d], index[d], !s->any);
				if (inside)
					extend(&s->inside[d], index[d],
					       !s->some);
			}
			s->any = true;
			s->some |= inside;
		}
	}
}

static void see_index(watch *w, int at, kexpr *const *e)
{
	const place *p = &w->places.at[at];
	int64_t index[MAX_NDIM] = { 0 };
	for (int d = 0; d < p->ndim; d++)
		if (!p->data[d] && !known(w, e[d], &index[d]))
			w->places.at[at].data[d] = true;
	see(w, at, index);
}

static bool is_rounded(const kexpr *e)
{
	if (e->kind == KX_FN && (e->fn == FN_DIV || e->fn == FN_MOD))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (is_rounded(e->args[i]))
			return true;
	return false;
}

static bool has_mod(const kexpr *e)
{
	if (e->kind == KX_FN && e->fn == FN_MOD)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (has_mod(e->args[i]))
			return true;
	return false;
}

static void count_vars(const kexpr *e, int *times)
{
	if (e->kind == KX_VAR)
		times[e->var]++;
	for (int i = 0; i < e->nargs; i++)
		count_vars(e->args[i], times);
}

/* Whether the interval of an index may be wider than its values, because a
 * variable occurs twice or a remainder passes the end of a period. */
static bool is_loose(const kexpr *e)
{
	int times[MAX_NVARS] = { 0 };
	count_vars(e, times);
	for (int v = 0; v < MAX_NVARS; v++)
		if (times[v] > 1)
			return true;
	return has_mod(e);
}

static place place_of(const watch *w, int input, kexpr *const *index)
{
	place p = { .input = input, .ndim = w->k->inputs[input].ndim,
		    .loose = w->nstrided > 0 };
	for (int d = 0; d < p.ndim; d++) {
		p.data[d] = !index[d] || kx_has_read(index[d]);
		p.loose |= index[d] && is_loose(index[d]);
	}
	return p;
}

static void walk(watch *w, const kexpr *e);

static void walk_args(watch *w, const kexpr *e, int from)
{
	for (int i = from; i < e->nargs; i++)
		walk(w, e->args[i]);
}

/* Walks the branches of a choice that the point may take. */
static void walk_select(watch *w, const kexpr *e)
{
	int64_t c;
	bool rounded = is_rounded(e->args[0]);
	bool sure = known(w, e->args[0], &c);
	walk(w, e->args[0]);
	w->nstrided += rounded;
	for (int i = 1; i <= 2; i++)
		if (!sure || i == (c ? 1 : 2))
			walk(w, e->args[i]);
	w->nstrided -= rounded;
}

static void walk(watch *w, const kexpr *e)
{
	int64_t c;
	bool logic = e->kind == KX_FN && (e->fn == FN_AND || e->fn == FN_OR);
	if (e->kind == KX_SELECT) {
		walk_select(w, e);
		return;
	}
	if (logic && known(w, e->args[0], &c) && !!c == (e->fn == FN_OR)) {
		walk(w, e->args[0]);
		return;
	}
	if (logic) { /* reads in the second operand depend on the first */
		bool rounded = is_rounded(e->args[0]);
		walk(w, e->args[0]);
		w->nstrided += rounded;
		walk_args(w, e, 1);
		w->nstrided -= rounded;
		return;
	}
	if (e->kind == KX_READ) {
		place p = place_of(w, e->input, e->args);
		see_index(w, find_place(w, e, p), e->args);
	}
	walk_args(w, e, 0);
}

static void walk_point(watch *w)
{
	const kernel *k = w->k;
	if (k->body)
		walk(w, k->body);
	for (int s = 0; s < k->nslices; s++) {
		const kslice *slice = &k->slices[s];
		place p = place_of(w, slice->input, slice->at);
		see_index(w, find_place(w, slice, p), slice->at);
		for (int d = 0; d < slice->ndim; d++)
			if (slice->at[d])
				walk(w, slice->at[d]);
	}
}

static void walk_points(watch *w)
{
	const kernel *k = w->k;
	int n = 0;
	while (n < k->nvars && k->vars[n].kind != KVAR_DERIVED)
		if (k->vars[n++].extent <= 0)
			return;
	for (bool more = true; more;) {
		walk_point(w);
		more = false;
		for (int v = n; v-- > 0 && !more;) {
			more = ++w->point[v] < k->vars[v].extent;
			if (!more)
				w->point[v] = 0;
		}
	}
}

/* ---- comparing ---------------------------------------------------------- */

static bool stands_for(const kernel *k, int var, const place *p, int d)
{
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].var == var &&
		    k->derived[i].input == p->input && k->derived[i].dim == d)
			return true;
	return false;
}

/* The box that a read of an input adds.  A dimension that depends on data is
 * taken completely, or as the derived variable's part.  Others are clipped to
 * the tensor. */
static box box_of(const watch *w, const way *y, const box *space,
		  const place *p, const interval *index)
{
	const int64_t *dims = w->k->inputs[p->input].dims;
	box b = { .n = p->ndim };
	for (int d = 0; d < p->ndim; d++) {
		b.lo[d] = 0;
		b.hi[d] = dims[d];
		if (p->data[d] && stands_for(w->k, y->var, p, d)) {
			b.lo[d] = space->lo[y->var];
			b.hi[d] = space->hi[y->var];
		} else if (!p->data[d]) {
			b.lo[d] = index[d].lo > 0 ? index[d].lo : 0;
			b.hi[d] = index[d].hi < dims[d] ? index[d].hi
							: dims[d];
		}
	}
	return box_is_empty(&b) ? box_empty(b.n) : b;
}

static const char *box_text(arena *a, const box *b)
{
	const char *s = "";
	for (int d = 0; d < b->n; d++)
		s = arena_printf(a, "%s%s%lld:%lld", s, d ? ", " : "",
				 (long long)b->lo[d], (long long)b->hi[d]);
	return arena_printf(a, "[%s]", s);
}

/* The hulls of all indices at which a part reads an input, and of those inside
 * the tensor. */
typedef struct reads {
	box index, inside;
	bool loose; /* a place is */
} reads;

static reads reads_of(const watch *w, const way *y, int p, int input)
{
	box space = part_of(w->k, y->var, p, y->nparts);
	box none = box_empty(w->k->inputs[input].ndim);
	reads r = { .index = none, .inside = none };
	for (int j = 0; j < w->places.n; j++) {
		const place *pl = &w->places.at[j];
		const seen *s = &y->seen[p].at[j];
		r.loose |= pl->input == input && pl->loose;
		if (pl->input != input || !s->any)
			continue;
		box b = box_of(w, y, &space, pl, s->index);
		r.index = box_hull(&r.index, &b);
		if (!s->some)
			continue;
		b = box_of(w, y, &space, pl, s->inside);
		r.inside = box_hull(&r.inside, &b);
	}
	return r;
}

/* Compares a region with the reads.  A region may have additional elements that
 * data would select, guards leave out, strides skip, or intervals cannot
 * exclude. */
static void compare(watch *w, const way *y, int p)
{
	arena *a = w->t->arena;
	const kernel *k = w->k;
	box space = part_of(k, y->var, p, y->nparts), needs[MAX_NINPUTS];
	const char *var = var_name(a, k, y->var);
	kernel_needs(k, &space, needs);
	for (int i = 0; i < k->ninputs; i++) {
		reads r = reads_of(w, y, p, i);
		w->t->v->result->regions++;
		w->t->v->result->loose +=
			box_volume_less(&needs[i], &r.inside) > 0;
		if (!box_contains(&needs[i], &r.inside))
			note(w->t, VERIFY_WRONG, w->stage->label, var,
			     y->nparts, "its region of '%s' misses what is read"
			     " (part %d reads %s, the region is %s)",
			     k->inputs[i].name, p, box_text(a, &r.inside),
			     box_text(a, &needs[i]));
		else if (!r.loose && !box_contains(&r.index, &needs[i]))
			note(w->t, VERIFY_WIDE, w->stage->label, var,
			     y->nparts, "its region of '%s' is larger than "
			     "what is read (part %d reads %s, the region is "
			     "%s)",
			     k->inputs[i].name, p, box_text(a, &r.index),
			     box_text(a, &needs[i]));
	}
}

box reads_of_part(trial *t, const stage *st, int var, int p, int nparts,
		  int input)
{
	way y = { .var = var, .nparts = nparts };
	watch w = { .t = t, .stage = st, .k = st->kernel, .nways = 1,
		    .ways = &y };
	walk_points(&w);
	return reads_of(&w, &y, p, input).inside;
}

void check_regions(trial *t, int at)
{
	const stage *st = &t->x->stages[at];
	watch w = { .t = t, .stage = st, .k = st->kernel };
	w.ways = ARENA_ARRAY(t->arena, way,
			     w.k->nvars * (MAX_PARTS - MIN_PARTS + 1));
	for (int v = 0; v < w.k->nvars; v++)
		for (int n = MIN_PARTS; n <= MAX_PARTS; n++)
			if (strategy_offered(w.k, v, NULL))
				w.ways[w.nways++] =
					(way){ .var = v, .nparts = n };
	walk_points(&w);
	for (int i = 0; i < w.nways; i++)
		for (int p = 0; p < w.ways[i].nparts; p++)
			compare(&w, &w.ways[i], p);
}
