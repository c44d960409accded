/* Tests: layout */
/* layout: who holds what, and what moves between two layouts, against an
 * enumeration of all elements that knows nothing of boxes. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout_classes.h"
#include "tests/unit/draw.h"
#include "tests/unit/hand_kernels.h"
#include "tests/unit/suite.h"

enum {
	PAIRS = 10000,
	MOST_NDIM = 3,
	MOST_EXTENT = 6,
	MOST_ELEMENTS = MOST_EXTENT * MOST_EXTENT * MOST_EXTENT,
	MOST_WORKERS = 27,
};

/* ---- by the definition ------------------------------------------------- */

/* The elements of a tensor that each worker has, by their row-major numbers. */
typedef struct holding {
	bool has[MOST_WORKERS][MOST_ELEMENTS];
	bool depends[MAX_AXES]; /* on the worker's coordinate */
} holding;

typedef struct scene {
	draw d;
	arena *a;
	mesh m;
	int nworkers;
	int ndim, nvars;
	int64_t dims[MOST_NDIM]; /* of the tensor */
	int64_t extents[MAX_NVARS]; /* of the kernel's variables */
	int nelem;
	int time; /* the dimension of which a turn has [lo, hi); CUT_NONE */
	layout_turn turn;
	int64_t lo, hi;
	cuts tensor, other, space; /* other: of the tensor stored elsewhere */
	kernel *k;
} scene;

static int coordinate(const mesh *m, int worker, int axis)
{
	for (int a = m->naxes - 1; a > axis; a--)
		worker /= m->size[a];
	return worker % m->size[axis];
}

/* Whether x, of [0, n), is in a worker's part where some axes cut it: nested,
 * part i of k of [lo, hi) begins at lo + floor(i (hi - lo) / k). */
static bool in_part(const mesh *m, int worker, const cuts *c, uint32_t axes,
		    int d, int64_t x, int64_t n)
{
	int64_t lo = 0, hi = n;
	for (int a = 0; a < m->naxes; a++) {
		if (c->dim[a] != d || !(axes >> a & 1))
			continue;
		int64_t width = hi - lo, i = coordinate(m, worker, a);
		hi = lo + (i + 1) * width / m->size[a];
		lo = lo + i * width / m->size[a];
	}
	return x >= lo && x < hi;
}

/* The same in the turn: of dimension d of a tensor. */
static bool in_turn(const scene *s, int worker, const cuts *c, int d, int64_t x)
{
	int64_t lo = d == s->time ? s->lo : 0;
	int64_t hi = d == s->time ? s->hi : s->dims[d];
	return in_part(&s->m, worker, c, ~UINT32_C(0), d, x - lo, hi - lo);
}

static void index_of(const scene *s, int element, int64_t *at)
{
	for (int d = s->ndim - 1; d >= 0; d--) {
		at[d] = element % s->dims[d];
		element /= (int)s->dims[d];
	}
}

static bool in_block(const scene *s, int worker, const cuts *c, int element)
{
	int64_t at[MOST_NDIM];
	index_of(s, element, at);
	for (int d = 0; d < s->ndim; d++)
		if (!in_turn(s, worker, c, d, at[d]))
			return false;
	return true;
}

/* Whether the kernel gives partial results along an axis: it divides a
 * reduction variable, or hands on what it reads. */
static bool is_partial(const scene *s, int axis)
{
	return s->space.dim[axis] >= s->ndim || s->space.dim[axis] < CUT_NONE;
}

/* Whether they are combined: the tensor is not partial there. */
static bool is_combined(const scene *s, int axis)
{
	return is_partial(s, axis) && s->tensor.dim[axis] >= CUT_NONE;
}

static void hold_stored(const scene *s, const cuts *c, holding *h)
{
	memset(h, 0, sizeof(*h));
	for (int w = 0; w < s->nworkers; w++)
		for (int e = 0; e < s->nelem; e++)
			h->has[w][e] = in_block(s, w, c, e);
	for (int a = 0; a < s->m.naxes; a++)
		h->depends[a] = c->dim[a] >= 0;
}

/* The output variables are the tensor's dimensions.  Of a partial result, what
 * a worker has depends on its place along the axis, too; each keeps its own. */
static void hold_produced(const scene *s, holding *h)
{
	hold_stored(s, &s->space, h);
	for (int a = 0; a < s->m.naxes; a++)
		h->depends[a] = s->space.dim[a] >= 0 && !is_partial(s, a);
}

/* The number of a worker among those that share, counted over the axes that
 * are combined and cut no dimension of the tensor. */
static int rank_of(const scene *s, int worker, int *nranks)
{
	int rank = 0;
	*nranks = 1;
	for (int a = 0; a < s->m.naxes; a++)
		if (is_combined(s, a) && s->tensor.dim[a] == CUT_NONE) {
			rank = rank * s->m.size[a] +
			       coordinate(&s->m, worker, a);
			*nranks *= s->m.size[a];
		}
	return rank;
}

/* The part [lo, hi) of a dimension that a worker produces. */
static void produced_part(const scene *s, int worker, int d, int64_t *lo,
			  int64_t *hi)
{
	*lo = s->dims[d];
	*hi = 0;
	for (int64_t x = 0; x < s->dims[d]; x++)
		if (in_turn(s, worker, &s->space, d, x)) {
			*lo = x < *lo ? x : *lo;
			*hi = x + 1;
		}
}

/* Whether an element that a worker produces is in the block of these that the
 * partial axes cut as they cut the tensor. */
static bool in_shared_block(const scene *s, int worker, int element)
{
	int64_t at[MOST_NDIM];
	uint32_t partial = 0;
	for (int a = 0; a < s->m.naxes; a++)
		partial |= (uint32_t)is_combined(s, a) << a;
	index_of(s, element, at);
	for (int d = 0; d < s->ndim; d++) {
		int64_t lo, hi;
		produced_part(s, worker, d, &lo, &hi);
		if (!in_part(&s->m, worker, &s->tensor, partial, d, at[d] - lo,
			     hi - lo))
			return false;
	}
	return true;
}

/* Of the elements in the block a worker has an even run. */
static void hold_share(const scene *s, holding *h)
{
	holding *made = ARENA_NEW(s->a, holding);
	hold_produced(s, made);
	memset(h, 0, sizeof(*h));
	for (int w = 0; w < s->nworkers; w++) {
		int list[MOST_ELEMENTS], n = 0, nranks;
		int rank = rank_of(s, w, &nranks);
		for (int e = 0; e < s->nelem; e++)
			if (made->has[w][e] && in_shared_block(s, w, e))
				list[n++] = e;
		for (int i = rank * n / nranks; i < (rank + 1) * n / nranks;
		     i++)
			h->has[w][list[i]] = true;
	}
	for (int a = 0; a < s->m.naxes; a++)
		h->depends[a] = is_combined(s, a) || made->depends[a];
}

/* ---- random layouts ---------------------------------------------------- */

/* Cuts of extents, such that no part is empty where `full' is set. */
static cuts draw_cuts(scene *s, const int64_t *extents, int n, bool full)
{
	cuts c = cuts_none();
	for (int a = 0; a < s->m.naxes; a++) {
		int d = n == 0 ? CUT_NONE : draw_int(&s->d, -1, n - 1);
		if (d == CUT_NONE)
			continue;
		c.dim[a] = (signed char)d;
		if (full && cuts_smallest(extents[d], &s->m, &c, a + 1, d) < 1)
			c.dim[a] = CUT_NONE;
	}
	return c;
}

/* Makes the kernel hand on what it reads along some axes that divide nothing,
 * and the tensor partial along some of those where the kernel's result is.  The
 * tensor stored elsewhere is partial along the same. */
static void draw_partial(scene *s)
{
	static const kpassing sums = { 1, RED_SUM, RED_SUM };
	s->k->npassings = 1;
	s->k->passings = &sums;
	for (int a = 0; a < s->m.naxes; a++) {
		if (s->space.dim[a] == CUT_NONE && draw_int(&s->d, 0, 2) == 0)
			s->space.dim[a] = cut_passing(0);
		if (!is_partial(s, a) || draw_int(&s->d, 0, 2) > 0)
			continue;
		s->tensor.dim[a] = cut_partial(RED_SUM);
		s->other.dim[a] = cut_partial(RED_SUM);
	}
}

/* Divides a dimension over time, in half of the scenes where one may be. */
static void draw_turn(scene *s)
{
	int d = s->ndim == 0 ? 0 : draw_int(&s->d, 0, 2 * s->ndim - 1);
	s->time = CUT_NONE;
	if (d >= s->ndim || s->dims[d] == 0)
		return;
	int64_t each = draw_int(&s->d, 1, (int)s->dims[d]);
	each = s->dims[d] % each == 0 ? each : 1;
	layout_turn *t = &s->turn;
	t->batch = s->dims[d] / each;
	t->begin = draw_int(&s->d, 0, (int)t->batch - 1);
	t->end = draw_int(&s->d, (int)t->begin + 1, (int)t->batch);
	s->time = d;
	s->lo = t->begin * each;
	s->hi = t->end * each;
}

static void draw_scene(scene *s)
{
	s->m.naxes = draw_int(&s->d, 1, 3);
	for (int a = 0; a < s->m.naxes; a++)
		s->m.size[a] = draw_int(&s->d, 1, 3);
	s->nworkers = mesh_workers(&s->m);
	s->ndim = draw_int(&s->d, 0, MOST_NDIM);
	s->nvars = s->ndim + draw_int(&s->d, 0, 2);
	s->nelem = 1;
	for (int v = 0; v < s->nvars; v++)
		s->extents[v] = draw_int(&s->d, draw_int(&s->d, 0, 3) > 0,
					 MOST_EXTENT);
	for (int d = 0; d < s->ndim; d++) {
		s->dims[d] = s->extents[d];
		s->nelem *= (int)s->dims[d];
	}
	s->k = make_kernel(s->a, DT_F32, s->ndim, s->nvars, s->extents);
	s->k->reducer = s->nvars > s->ndim ? RED_SUM : RED_NONE;
	s->tensor = draw_cuts(s, s->dims, s->ndim, false);
	s->other = draw_cuts(s, s->dims, s->ndim, false);
	draw_turn(s);
	if (s->time != CUT_NONE)
		s->extents[s->time] = s->hi - s->lo;
	s->space = draw_cuts(s, s->extents, s->nvars, true);
	draw_partial(s);
}

static layout layout_in(const scene *s, layout_kind kind, const cuts *c)
{
	return (layout){ .kind = kind, .type = DT_F32, .ndim = s->ndim,
			 .dims = s->dims, .cuts = c, .kernel = s->k,
			 .space = &s->space, .turn = s->turn,
			 .tensor_time = s->time, .space_time = s->time };
}

/* ---- comparisons ------------------------------------------------------- */

static bool region_has(const scene *s, const region *r, int element)
{
	int64_t at[MOST_NDIM];
	box one = { .n = s->ndim };
	index_of(s, element, at);
	for (int d = 0; d < s->ndim; d++) {
		one.lo[d] = at[d];
		one.hi[d] = at[d] + 1;
	}
	return region_held(r, &one) == 1;
}

static void check_regions(const scene *s, const layout *l, const holding *h)
{
	int64_t most = 0;
	for (int w = 0; w < s->nworkers; w++) {
		region r = layout_region_of(l, &s->m, w);
		int64_t n = 0;
		for (int e = 0; e < s->nelem; e++) {
			ck_assert_int_eq(region_has(s, &r, e), h->has[w][e]);
			n += h->has[w][e];
		}
		ck_assert_int_eq(r.count, n);
		most = n > most ? n : most;
	}
	ck_assert_int_eq(layout_most_bytes(l, &s->m), 4 * most);
}

/* The worker that gives an element to w: it has it, and w's coordinates where
 * the source does not depend on them. */
static int owner_of(const scene *s, const holding *from, int w, int e)
{
	int owner = -1;
	for (int v = 0; v < s->nworkers; v++) {
		bool may = from->has[v][e];
		for (int a = 0; a < s->m.naxes && may; a++)
			may = from->depends[a] || coordinate(&s->m, v, a) ==
							  coordinate(&s->m, w,
								     a);
		if (!may)
			continue;
		ck_assert_int_eq(owner, -1);
		owner = v;
	}
	ck_assert_int_ge(owner, 0);
	return owner;
}

/* Counts the pieces that have an element, and notes the last one's peer. */
static int count_pieces(const scene *s, const piece *q, int n, int element,
			int *peer)
{
	int count = 0;
	for (int i = 0; i < n; i++) {
		region r = { q[i].at, 0, box_volume(&q[i].at) };
		if (!region_has(s, &r, element))
			continue;
		count++;
		*peer = q[i].peer;
	}
	return count;
}

/* Counts an element that a worker receives from another: by the outermost axis
 * on which they differ. */
static void receive(const scene *s, int w, int from, transfer_received *sum)
{
	int outermost = -1;
	for (int a = s->m.naxes - 1; a >= 0; a--) {
		if (coordinate(&s->m, w, a) == coordinate(&s->m, from, a))
			continue;
		sum->axes |= UINT32_C(1) << a;
		outermost = a;
	}
	if (outermost >= 0)
		sum->bytes[outermost] += 4;
}

static void check_received(const layout_transfer *t, int w,
			   const transfer_received *sum)
{
	const transfer_received r = transfer_receives(t, w);
	ck_assert_uint_eq(r.axes, sum->axes);
	for (int a = 0; a < t->mesh->naxes; a++)
		ck_assert_int_eq(r.bytes[a], sum->bytes[a]);
}

/* Each element that w wants comes once, from its owner.  Returns the elements
 * that others send. */
static int check_move(const scene *s, const layout_transfer *t, int w,
		      const holding *from, const holding *to)
{
	arena *tmp = arena_new();
	piece *q;
	int n = transfer_pieces(tmp, t, w, &q), received = 0;
	transfer_received sum = { .axes = 0 };
	for (int e = 0; e < s->nelem; e++) {
		int peer = -1, count = count_pieces(s, q, n, e, &peer);
		ck_assert_int_eq(count, to->has[w][e]);
		if (count == 0)
			continue;
		ck_assert_int_eq(peer, owner_of(s, from, w, e));
		received += peer != w;
		receive(s, w, peer, &sum);
	}
	check_received(t, w, &sum);
	for (int i = 0; i < n; i++) {
		ck_assert(!q[i].add);
		ck_assert(i == 0 || q[i - 1].peer <= q[i].peer);
	}
	arena_free(tmp);
	return received;
}

/* Whether two workers differ on axes only that are combined. */
static bool share_a_result(const scene *s, int v, int w)
{
	for (int a = 0; a < s->m.naxes; a++)
		if (!is_combined(s, a) &&
		    coordinate(&s->m, v, a) != coordinate(&s->m, w, a))
			return false;
	return true;
}

/* Each element of w's share comes once from each sharer, the first copied and
 * the others added, in their order. */
static int check_combine(const scene *s, const layout_transfer *t, int w,
			 const holding *share)
{
	arena *tmp = arena_new();
	piece *q;
	int n = transfer_pieces(tmp, t, w, &q), received = 0;
	transfer_received sum = { .axes = 0 };
	for (int e = 0; e < s->nelem; e++) {
		int at = 0;
		for (int v = 0; v < s->nworkers; v++) {
			if (!share->has[w][e] || !share_a_result(s, v, w))
				continue;
			int peer, first = at;
			while (at < n && count_pieces(s, &q[at], 1, e,
						      &peer) == 0)
				at++;
			ck_assert_int_lt(at, n);
			ck_assert_int_eq(q[at].peer, v);
			ck_assert_int_eq(q[at].add, first > 0);
			received += v != w;
			receive(s, w, v, &sum);
			at++;
		}
		for (; at < n; at++) {
			int peer;
			ck_assert(!count_pieces(s, &q[at], 1, e, &peer));
		}
	}
	check_received(t, w, &sum);
	arena_free(tmp);
	return received;
}

static int64_t held_in_all(const scene *s, const holding *h)
{
	int64_t n = 0;
	for (int w = 0; w < s->nworkers; w++)
		for (int e = 0; e < s->nelem; e++)
			n += h->has[w][e];
	return n;
}

/* Whether what each owner has is wanted by those for whom it is the owner, and
 * all of them want the same. */
static bool is_gather(const scene *s, const holding *from, const holding *to)
{
	for (int w = 0; w < s->nworkers; w++)
		for (int e = 0; e < s->nelem; e++) {
			if (!to->has[w][e])
				continue;
			int v = owner_of(s, from, w, e);
			for (int x = 0; x < s->nelem; x++)
				if (to->has[v][x] != to->has[w][x] ||
				    (from->has[v][x] && !to->has[w][x]))
					return false;
		}
	return true;
}

/* The promises of a collective by its name. */
static void check_collective(const scene *s, const layout_transfer *t,
			     int64_t received, const holding *from,
			     const holding *to)
{
	collective c = transfer_collective(t, received);
	if (t->combine)
		ck_assert_int_eq(c, COLL_REDUCE_SCATTER);
	else
		ck_assert((c == COLL_LOCAL) == (received == 0));
	if (c == COLL_ALL_TO_ALL)
		ck_assert(held_in_all(s, from) == held_in_all(s, to));
	if (c == COLL_HALO)
		for (int w = 0; w < s->nworkers; w++)
			for (int e = 0; e < s->nelem; e++)
				ck_assert(!from->has[w][e] || to->has[w][e]);
	if (!t->combine && received > 0)
		ck_assert_int_eq(c == COLL_ALL_GATHER, is_gather(s, from, to));
}

static void check_transfer(const scene *s, const layout_transfer *t,
			   const holding *from, const holding *to)
{
	int64_t total = 0;
	for (int w = 0; w < s->nworkers; w++) {
		int n = t->combine ? check_combine(s, t, w, to)
				   : check_move(s, t, w, from, to);
		ck_assert_int_eq(transfer_bytes(t, w), 4 * n);
		total += 4 * n;
	}
	ck_assert_int_eq(transfer_total(t), total);
	check_collective(s, t, total, from, to);
	layout_classes *f = layout_classes_new(s->a, &s->m);
	int pair = layout_class_pair(
		f, t->combine ? LAYOUT_COMBINE : LAYOUT_MOVE,
		layout_class_of(f, &t->from), layout_class_of(f, &t->to));
	ck_assert_int_eq(layout_pair_received(f, pair), total);
	ck_assert_int_eq(layout_pair_collective(f, pair),
			 transfer_collective(t, total));
}

/* ---- tests ------------------------------------------------------------- */

static void check_classes(const scene *s, const layout *x, const holding *h,
			  const layout *y, const holding *i)
{
	layout_classes *f = layout_classes_new(s->a, &s->m);
	int a = layout_class_of(f, x), b = layout_class_of(f, y);
	bool same = true, covers = true;
	for (int w = 0; w < s->nworkers; w++)
		for (int e = 0; e < s->nelem; e++) {
			same = same && h->has[w][e] == i->has[w][e];
			covers = covers && (h->has[w][e] || !i->has[w][e]);
		}
	ck_assert_int_eq(layout_class_same(f, a, b), same);
	ck_assert_int_eq(layout_class_cover(f, a, b), covers);
}

START_TEST(equals_enumeration)
{
	int partial = 0, moved = 0, runs = 0, left = 0;
	for (int seed = 0; seed < PAIRS; seed++) {
		if (!sampled(seed))
			continue;
		scene s = { .d = { (uint64_t)seed }, .a = arena_new() };
		draw_scene(&s);
		holding *stored = ARENA_NEW(s.a, holding);
		holding *other = ARENA_NEW(s.a, holding);
		holding *made = ARENA_NEW(s.a, holding);
		holding *share = ARENA_NEW(s.a, holding);
		hold_stored(&s, &s.tensor, stored);
		hold_stored(&s, &s.other, other);
		hold_produced(&s, made);
		hold_share(&s, share);
		const layout at = layout_in(&s, LAYOUT_STORED, &s.tensor);
		const layout to = layout_in(&s, LAYOUT_STORED, &s.other);
		const layout out = layout_in(&s, LAYOUT_PRODUCES, NULL);
		const layout own = layout_in(&s, LAYOUT_REDUCED_SHARD,
					     &s.tensor);
		check_regions(&s, &at, stored);
		check_regions(&s, &out, made);
		check_regions(&s, &own, share);
		check_classes(&s, &at, stored, &to, other);
		check_classes(&s, &at, stored, &out, made);
		const layout_transfer moves[] = {
			{ &s.m, at, to, false },
			{ &s.m, out, at, false },
			{ &s.m, out, own, true },
			{ &s.m, own, at, false },
		};
		bool shares = false, kept = false;
		for (int x = 0; x < s.m.naxes; x++) {
			shares |= is_combined(&s, x);
			kept |= s.tensor.dim[x] < CUT_NONE;
		}
		ck_assert(shares == (layout_combined_axes(&s.m, s.k, &s.space,
							  &s.tensor) != 0));
		ck_assert(layout_fits(&s.m, s.k, &s.space, 0, &s.tensor));
		int rank;
		check_transfer(&s, &moves[0], stored, other);
		if (shares) {
			check_transfer(&s, &moves[2], made, share);
			check_transfer(&s, &moves[3], share, stored);
		} else {
			check_transfer(&s, &moves[1], made, stored);
		}
		moved += transfer_total(&moves[0]) > 0;
		partial += shares;
		left += kept;
		rank_of(&s, 0, &rank);
		runs += rank > 1;
		arena_free(s.a);
	}
	ck_assert_int_gt(moved, at_least(1000));
	ck_assert_int_gt(partial, at_least(1000));
	ck_assert_int_gt(left, at_least(1000));
	ck_assert_int_gt(runs, at_least(500));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("layout");
	TCase *t = tcase_create("layout");
	tcase_add_test(t, equals_enumeration);
	suite_add_tcase(s, t);
	return s;
}
