#include "config.h"

#include "layout/transfer.h"

#include <stdlib.h>

#include "base/vec.h"
#include "layout/division.h"
#include "layout/product.h"

/* ---- pieces ------------------------------------------------------------ */

typedef struct finder {
	arena *arena;
	const mesh *mesh;
	const division *source;
	box want;
	int coords[MAX_AXES]; /* of the owner under construction */
	VEC(piece) found;
} finder;

static void emit(finder *f, const box *part)
{
	box at = box_intersect(part, &f->want);
	if (box_is_empty(&at))
		return;
	piece one = { .peer = mesh_worker(f->mesh, f->coords),
		      .at = at };
	vec_push(f->arena, &f->found, one);
}

/* Emits the elements first .. last of b, counted in row-major order over the
 * dimensions from d on, as boxes: at most two per dimension plus one. */
static void emit_run(finder *f, box b, int d, int64_t first, int64_t last)
{
	if (first >= last)
		return;
	int64_t inner = 1, lo = d < b.n ? b.lo[d] : 0;
	for (int i = d + 1; i < b.n; i++)
		inner *= b.hi[i] - b.lo[i];
	if (d >= b.n || (first == 0 && last == inner * (b.hi[d] - lo))) {
		emit(f, &b);
		return;
	}
	int64_t i = first / inner, end = last / inner;
	if (first % inner) {
		int64_t stop = i == end ? last % inner : inner;
		b.lo[d] = lo + i;
		b.hi[d] = lo + i + 1;
		emit_run(f, b, d + 1, first % inner, stop);
		if (i++ == end)
			return;
	}
	if (i < end) {
		b.lo[d] = lo + i;
		b.hi[d] = lo + end;
		emit(f, &b);
	}
	b.lo[d] = lo + end;
	b.hi[d] = lo + end + 1;
	emit_run(f, b, d + 1, 0, last % inner);
}

/* Finds all owners of parts of b over the flat axes. */
static void find_flat(finder *f, const box *b)
{
	const division *l = f->source;
	const mesh *m = f->mesh;
	int nranks = division_nruns(l, m);
	for (int rank = 0; rank < nranks; rank++) {
		int64_t first, last;
		for (int i = l->nflat - 1, q = rank; i >= 0; i--) {
			f->coords[l->flat[i]] = q % m->size[l->flat[i]];
			q /= m->size[l->flat[i]];
		}
		block(0, box_volume(b), rank, nranks, &first, &last);
		emit_run(f, *b, 0, first, last);
	}
}

static void find_owners(finder *f, int split, const box *b)
{
	const division *l = f->source;
	box meets = box_intersect(b, &f->want);
	if (box_is_empty(&meets))
		return;
	if (split == l->nsplits && l->nflat > 0) {
		find_flat(f, b);
		return;
	}
	if (split == l->nsplits) {
		emit(f, b);
		return;
	}
	int axis = l->split[split].axis, d = l->split[split].dim;
	int k = f->mesh->size[axis];
	for (int i = 0; i < k; i++) {
		box part = *b;
		block(b->lo[d], b->hi[d], i, k, &part.lo[d], &part.hi[d]);
		f->coords[axis] = i;
		if (part.lo[d] < part.hi[d])
			find_owners(f, split + 1, &part);
	}
}

static int by_peer(const void *x, const void *y)
{
	const piece *a = x, *b = y;
	if (a->peer != b->peer)
		return a->peer < b->peer ? -1 : 1;
	for (int d = 0; d < a->at.n; d++)
		if (a->at.lo[d] != b->at.lo[d])
			return a->at.lo[d] < b->at.lo[d] ? -1 : 1;
	return 0;
}

/* Lists every sharer's part of the worker's own share, the lowest worker
 * first. */
static void find_sharers(finder *f, uint32_t axes, const region *own)
{
	for (int a = 0; a < f->mesh->naxes; a++)
		if (axes >> a & 1)
			f->coords[a] = 0;
	do {
		int from = f->found.n;
		emit_run(f, own->at, 0, own->first, own->first + own->count);
		for (int i = from; i < f->found.n; i++)
			f->found.at[i].add = from > 0;
	} while (mesh_next(f->mesh, axes, f->coords));
}

uint32_t transfer_shared_axes(const layout_transfer *t)
{
	return layout_combined_axes(t->mesh, t->from.kernel, t->from.space,
				    t->to.cuts);
}

bool transfer_has_zeros(const layout_transfer *t, int worker)
{
	int coords[MAX_AXES];
	mesh_coords(t->mesh, worker, coords);
	return layout_has_zeros(t->mesh, t->to.zeros, coords);
}

int transfer_pieces(arena *a, const layout_transfer *t, int worker,
		    piece **pieces)
{
	region to = layout_region_of(&t->to, t->mesh, worker);
	finder f = { .arena = a, .mesh = t->mesh, .want = to.at };
	mesh_coords(t->mesh, worker, f.coords);
	if (transfer_has_zeros(t, worker)) {
		emit(&f, &to.at);
		for (int i = 0; i < f.found.n; i++)
			f.found.at[i].zeros = true;
	} else if (t->combine) {
		find_sharers(&f, transfer_shared_axes(t), &to);
	} else {
		division from = division_of(&t->from, t->mesh);
		f.source = &from;
		find_owners(&f, 0, &from.whole);
		if (t->from.kind == LAYOUT_REDUCED_SHARD && f.found.n > 0)
			qsort(f.found.at, (size_t)f.found.n,
			      sizeof(*f.found.at), by_peer);
	}
	*pieces = f.found.at;
	return f.found.n;
}

/* ---- bytes ------------------------------------------------------------- */

int64_t transfer_bytes(const layout_transfer *t, int worker)
{
	int64_t size = (int64_t)dtype_size(t->to.type);
	region dst = layout_region_of(&t->to, t->mesh, worker);
	if (t->combine)
		return dst.count * size *
		       (layout_sharers(t->mesh, transfer_shared_axes(t)) - 1);
	if (transfer_has_zeros(t, worker))
		return 0;
	region src = layout_region_of(&t->from, t->mesh, worker);
	return (dst.count - region_held(&src, &dst.at)) * size;
}

/* The elements that all workers receive by copies; false if the workers must be
 * visited.  Along axes of zeros nothing is cut: all have the same elements, and
 * the first receives them. */
static bool copied(const layout_transfer *t, int64_t *n)
{
	arena *tmp = arena_new();
	const product *from = product_of(tmp, &t->from, t->mesh);
	const product *to = product_of(tmp, &t->to, t->mesh);
	int64_t all, most, held;
	bool known = from && to && product_elements(to, &all, &most) &&
		     product_held(from, to, &held);
	if (known)
		*n = (all - held) / layout_sharers(t->mesh, t->to.zeros);
	arena_free(tmp);
	return known;
}

int64_t transfer_total(const layout_transfer *t)
{
	const mesh *m = t->mesh;
	uint32_t axes = layout_axes(&t->from, m) | layout_axes(&t->to, m);
	int64_t size = (int64_t)dtype_size(t->to.type), n, total = 0;
	int coords[MAX_AXES] = { 0 };
	if (t->combine)
		return layout_elements(&t->to, m) * size *
		       (layout_sharers(m, transfer_shared_axes(t)) - 1);
	if (copied(t, &n))
		return n * size;
	do {
		total += transfer_bytes(t, mesh_worker(m, coords));
	} while (mesh_next(m, axes, coords));
	return total * (mesh_workers(m) /
			layout_sharers(m, axes | t->to.zeros));
}
