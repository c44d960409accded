#include "config.h"

#include "plan/transfer.h"

#include <stdlib.h>

#include "base/vec.h"

/* The division of a transfer's source over the mesh: nested splits of its
 * dimensions, the outermost first, then, for the shares of a partial result,
 * even runs over flat axes.  On all other axes it is replicated. */
typedef struct layout {
	box whole;
	int nsplits, nflat;
	struct {
		int axis, dim;
	} split[MAX_AXES];
	int flat[MAX_AXES];
} layout;

static void add_split(layout *l, int axis, int dim)
{
	l->split[l->nsplits].axis = axis;
	l->split[l->nsplits].dim = dim;
	l->nsplits++;
}

static layout layout_of(const plan *p, const plan_buffer *b)
{
	const plan_tensor *t = &p->tensors[b->tensor];
	layout l = { .whole = box_whole(t->dims, t->ndim) };
	uint32_t shared = 0;
	const cuts *c = &t->cuts;
	if (b->region != PLAN_STORED) {
		c = &p->nodes[b->node].cuts;
		plan_partial(p, b->node, &shared);
	}
	for (int a = 0; a < p->mesh.naxes; a++)
		if (c->dim[a] != CUT_NONE && !(shared >> a & 1))
			add_split(&l, a, c->dim[a]);
	if (b->region != PLAN_REDUCED_SHARD)
		return l;
	for (int a = 0; a < p->mesh.naxes; a++) {
		if (!(shared >> a & 1))
			continue;
		if (t->cuts.dim[a] == CUT_NONE)
			l.flat[l.nflat++] = a;
		else
			add_split(&l, a, t->cuts.dim[a]);
	}
	return l;
}

/* ---- pieces ------------------------------------------------------------ */

typedef struct finder {
	arena *arena;
	const plan *plan;
	const layout *source;
	box want;
	int coords[MAX_AXES]; /* of the owner under construction */
	VEC(piece) found;
} finder;

static void emit(finder *f, const box *part)
{
	box at = box_intersect(part, &f->want);
	if (box_is_empty(&at))
		return;
	piece one = { .peer = mesh_worker(&f->plan->mesh, f->coords),
		      .at = at };
	vec_push(f->arena, &f->found, one);
}

/* Emits the elements first .. last of b, counted in row-major order over the
 * dimensions from d on, as boxes: at most two per dimension and one more. */
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

/* All owners of parts of b over the flat axes. */
static void find_flat(finder *f, const box *b)
{
	const layout *l = f->source;
	const mesh *m = &f->plan->mesh;
	int nranks = 1;
	for (int i = 0; i < l->nflat; i++)
		nranks *= m->size[l->flat[i]];
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
	const layout *l = f->source;
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
	int k = f->plan->mesh.size[axis];
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

/* Every sharer's part of the worker's own share, the lowest worker first. */
static void find_sharers(finder *f, const plan_instr *in, const region *own)
{
	const mesh *m = &f->plan->mesh;
	uint32_t axes;
	plan_partial(f->plan, in->node, &axes);
	for (int a = 0; a < m->naxes; a++)
		if (axes >> a & 1)
			f->coords[a] = 0;
	for (;;) {
		int from = f->found.n, a;
		emit_run(f, own->at, 0, own->first, own->first + own->count);
		for (int i = from; i < f->found.n; i++)
			f->found.at[i].add = from > 0;
		for (a = m->naxes - 1; a >= 0; a--) {
			if (!(axes >> a & 1))
				continue;
			if (++f->coords[a] < m->size[a])
				break;
			f->coords[a] = 0;
		}
		if (a < 0)
			return;
	}
}

int transfer_pieces(arena *a, const plan *p, const plan_instr *in, int worker,
		    piece **pieces)
{
	region to = plan_region(p, in->to, worker);
	finder f = { .arena = a, .plan = p, .want = to.at };
	mesh_coords(&p->mesh, worker, f.coords);
	if (in->op == PLAN_COMBINE) {
		find_sharers(&f, in, &to);
	} else {
		layout l = layout_of(p, &p->buffers[in->from]);
		f.source = &l;
		find_owners(&f, 0, &l.whole);
		if (p->buffers[in->from].region == PLAN_REDUCED_SHARD)
			qsort(f.found.at, (size_t)f.found.n,
			      sizeof(*f.found.at), by_peer);
	}
	*pieces = f.found.at;
	return f.found.n;
}

/* ---- bytes ------------------------------------------------------------- */

/* Elements of `want` that lie in r. */
static int64_t held(const region *r, const box *want)
{
	box both = box_intersect(&r->at, want);
	if (box_is_empty(&both))
		return 0;
	return box_count_before(&r->at, &both, r->first + r->count) -
	       box_count_before(&r->at, &both, r->first);
}

int64_t transfer_bytes(const plan *p, const plan_instr *in, int worker)
{
	const plan_buffer *to = &p->buffers[in->to];
	int64_t size = (int64_t)dtype_size(p->tensors[to->tensor].type);
	region dst = plan_region(p, in->to, worker);
	if (in->op == PLAN_RUN)
		return 0;
	if (in->op == PLAN_MOVE) {
		region src = plan_region(p, in->from, worker);
		return (dst.count - held(&src, &dst.at)) * size;
	}
	uint32_t axes;
	int sharers = 1;
	plan_partial(p, in->node, &axes);
	for (int a = 0; a < p->mesh.naxes; a++)
		if (axes >> a & 1)
			sharers *= p->mesh.size[a];
	return dst.count * (sharers - 1) * size;
}

int64_t transfer_total(const plan *p, const plan_instr *in)
{
	int64_t total = 0;
	if (in->op == PLAN_RUN)
		return 0;
	for (int w = mesh_workers(&p->mesh) - 1; w >= 0; w--)
		total += transfer_bytes(p, in, w);
	return total;
}

int64_t plan_communication(const plan *p)
{
	int64_t total = 0;
	for (int i = 0; i < p->ninstrs; i++)
		total += transfer_total(p, &p->program[i]);
	return total;
}
