/* Counts the bytes that a worker receives without listing its pieces.
 *
 * Axes are decided in the order of the division.  If a sender differs from the
 * worker on an axis outside of all undecided ones, the whole rest comes from
 * such senders. */
#include "config.h"

#include "layout/division.h"
#include "layout/transfer.h"

enum { NOWHERE = MAX_AXES }; /* the sender is the worker itself, so far */

typedef struct counter {
	const mesh *mesh;
	const division *source;
	box want;
	int own[MAX_AXES]; /* the worker's coordinates */
	/* by split: the outermost of the axes from it on */
	int left[MAX_AXES + 1];
	transfer_received *to;	/* elements */
} counter;

static void add_elements(counter *c, int outermost, int64_t n)
{
	if (outermost != NOWHERE)
		c->to->bytes[outermost] += n;
}

/* ---- runs over flat axes ----------------------------------------------- */

/* The elements that a part of b has in the runs [first, first + n). */
static int64_t in_runs(const counter *c, const box *b, const box *part,
		       int first, int n)
{
	int64_t lo, hi, unused, all = box_volume(b);
	int nruns = division_nruns(c->source, c->mesh);
	block(0, all, first, nruns, &lo, &unused);
	block(0, all, first + n - 1, nruns, &unused, &hi);
	return box_count_before(b, part, hi) - box_count_before(b, part, lo);
}

/* The flat axes on which the owner of a run differs from the worker. */
static uint32_t differing(const counter *c, int run)
{
	const division *l = c->source;
	uint32_t axes = 0;
	for (int i = l->nflat - 1; i >= 0; i--) {
		int a = l->flat[i], k = c->mesh->size[a];
		axes |= (uint32_t)(run % k != c->own[a]) << a;
		run /= k;
	}
	return axes;
}

/* Marks the flat axes on which an owner of a part of b differs from the
 * worker. */
static void mark_runs(counter *c, const box *b, const box *part)
{
	const division *l = c->source;
	uint32_t all = 0;
	int nruns = division_nruns(l, c->mesh);
	for (int i = 0; i < l->nflat; i++)
		if (c->mesh->size[l->flat[i]] > 1)
			all |= UINT32_C(1) << l->flat[i];
	if (box_equal(b, part) && box_volume(b) >= nruns)
		c->to->axes |= all;
	for (int run = 0; run < nruns && (all & ~c->to->axes); run++)
		if (in_runs(c, b, part, run, 1) > 0)
			c->to->axes |= differing(c, run);
}

/* Counts the part of b.  Workers with the same coordinates on the first flat
 * axes have adjacent runs. */
static void count_runs(counter *c, const box *b, const box *part,
		       int outermost)
{
	const division *l = c->source;
	int first = 0, n = division_nruns(l, c->mesh);
	int64_t rest = box_volume(part);
	for (int i = 0; i < l->nflat; i++) {
		int a = l->flat[i];
		n /= c->mesh->size[a];
		first += c->own[a] * n;
		int64_t same = in_runs(c, b, part, first, n);
		add_elements(c, a < outermost ? a : outermost, rest - same);
		rest = same;
	}
	add_elements(c, outermost, rest);
	mark_runs(c, b, part);
}

/* ---- splits ------------------------------------------------------------ */

/* Counts the wanted part of b, a part of the source by the splits before, whose
 * owner differs from the worker on axis `outermost' and none outside of it. */
static void count(counter *c, int split, const box *b, int outermost)
{
	const division *l = c->source;
	box part = box_intersect(b, &c->want);
	if (box_is_empty(&part))
		return;
	if (split == l->nsplits && l->nflat > 0) {
		count_runs(c, b, &part, outermost);
		return;
	}
	if (split == l->nsplits ||
	    (l->nflat == 0 && outermost < c->left[split])) {
		add_elements(c, outermost, box_volume(&part));
		return;
	}
	int axis = l->split[split].axis, d = l->split[split].dim;
	int k = c->mesh->size[axis];
	for (int i = 0; i < k; i++) {
		bool own = i == c->own[axis];
		box next = *b;
		block(b->lo[d], b->hi[d], i, k, &next.lo[d], &next.hi[d]);
		if (next.lo[d] < next.hi[d])
			count(c, split + 1, &next,
			      own || outermost < axis ? outermost : axis);
	}
}

/* Marks the axes on which an owner of a part of [lo, hi) of dimension d differs
 * from the worker; `differs' has those from the splits before. */
static void mark(counter *c, int split, int d, int64_t lo, int64_t hi,
		 uint32_t differs)
{
	const division *l = c->source;
	uint32_t may = differs;
	for (int i = split; i < l->nsplits; i++)
		if (l->split[i].dim == d)
			may |= UINT32_C(1) << l->split[i].axis;
	if (lo >= c->want.hi[d] || hi <= c->want.lo[d] || lo >= hi ||
	    !(may & ~c->to->axes))
		return;
	while (split < l->nsplits && l->split[split].dim != d)
		split++;
	if (split == l->nsplits) {
		c->to->axes |= differs;
		return;
	}
	int axis = l->split[split].axis, k = c->mesh->size[axis];
	for (int i = 0; i < k; i++) {
		int64_t from, to;
		uint32_t other = (uint32_t)(i != c->own[axis]) << axis;
		block(lo, hi, i, k, &from, &to);
		mark(c, split + 1, d, from, to, differs | other);
	}
}

static void count_copied(counter *c)
{
	const division *l = c->source;
	const box whole = box_intersect(&l->whole, &c->want);
	c->left[l->nsplits] = NOWHERE;
	for (int i = l->nsplits - 1; i >= 0; i--) {
		int axis = l->split[i].axis, after = c->left[i + 1];
		c->left[i] = axis < after ? axis : after;
	}
	if (box_is_empty(&whole))
		return;
	count(c, 0, &l->whole, NOWHERE);
	for (int d = 0; d < whole.n; d++)
		mark(c, 0, d, l->whole.lo[d], l->whole.hi[d], 0);
}

/* ---- all --------------------------------------------------------------- */

/* Counts a combined share: each sharer sends equally much. */
static void count_combined(counter *c, uint32_t axes, int64_t n)
{
	int64_t inner = 1;
	for (int a = c->mesh->naxes - 1; a >= 0 && n > 0; a--) {
		int k = axes >> a & 1 ? c->mesh->size[a] : 1;
		c->to->bytes[a] = n * (k - 1) * inner;
		c->to->axes |= (uint32_t)(k > 1) << a;
		inner *= k;
	}
}

transfer_received transfer_receives(const layout_transfer *t, int worker)
{
	transfer_received sum = { .axes = 0 };
	if (transfer_has_zeros(t, worker))
		return sum;
	const region to = layout_region_of(&t->to, t->mesh, worker);
	counter c = { .mesh = t->mesh, .want = to.at, .to = &sum };
	mesh_coords(t->mesh, worker, c.own);
	if (t->combine) {
		count_combined(&c, transfer_shared_axes(t), to.count);
	} else {
		const division from = division_of(&t->from, t->mesh);
		c.source = &from;
		count_copied(&c);
	}
	for (int a = 0; a < t->mesh->naxes; a++)
		sum.bytes[a] *= (int64_t)dtype_size(t->to.type);
	return sum;
}
