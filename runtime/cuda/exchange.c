#include "config.h"

#include "runtime/cuda/exchange.h"

#include <string.h>

#include "base/checked.h"
#include "base/vec.h"
#include "layout/runs.h"

/* Alignment of parcels in staging memory. */
enum { ALIGN = 16 };

typedef VEC(box) boxes;

static int64_t aligned(int64_t n)
{
	return round_up(n, ALIGN);
}

static int64_t box_bytes(const exchange *x, const box *b)
{
	return box_volume(b) * (int64_t)dtype_size(x->type);
}

static region dense(const box *b)
{
	return (region){ .at = *b, .count = box_volume(b) };
}

/* ---- senders and receivers --------------------------------------------- */

/* The bytes that each worker receives from each sender. */
typedef struct table {
	int n;
	int64_t *nbytes;
	uint32_t axes;
} table;

static int64_t *cell(const table *t, int receiver, int sender)
{
	return &t->nbytes[(size_t)receiver * (size_t)t->n + (size_t)sender];
}

static void add_box(arena *a, boxes *by_peer, int peer, const box *b)
{
	vec_push(a, &by_peer[peer], *b);
}

/* Fills the table, and notes the boxes that this worker receives and sends. */
static table make_table(arena *work, const plan *p, exchange *x, boxes *from,
			boxes *to)
{
	const plan_instr *in = &p->program[x->instr];
	table t = { .n = mesh_workers(&p->mesh) };
	t.nbytes = arena_calloc(work, (size_t)t.n * (size_t)t.n,
				sizeof(int64_t));
	for (int w = 0; w < t.n; w++) {
		arena *tmp = arena_new();
		piece *q;
		int n = plan_pieces(tmp, p, in, w, &q);
		for (int i = 0; i < n; i++) {
			*cell(&t, w, q[i].peer) += box_bytes(x, &q[i].at);
			t.axes |= mesh_axes_between(&p->mesh, w, q[i].peer);
			if (w == x->worker)
				x->zeros |= q[i].zeros;
			if (w == x->worker)
				add_box(work, from, q[i].peer, &q[i].at);
			else if (q[i].peer == x->worker)
				add_box(work, to, w, &q[i].at);
		}
		arena_free(tmp);
	}
	return t;
}

/* Whether in each group every worker gives every worker, itself included, *each
 * bytes, more than 0.  A negative *each is set to the bytes of the first. */
static bool is_even(const plan *p, const table *t, int64_t *each)
{
	for (int w = 0; w < t->n; w++) {
		for (int v = 0; v < t->n; v++) {
			bool same = !(mesh_axes_between(&p->mesh, v, w) &
				      ~t->axes);
			int64_t n = *cell(t, w, v);
			if (same && *each < 0)
				*each = n;
			if (n != (same ? *each : 0))
				return false;
		}
	}
	return *each > 0;
}

/* Whether each worker gets shares of one size from its whole group. */
static bool has_equal_shares(const plan *p, const table *t)
{
	for (int w = 0; w < t->n; w++)
		for (int v = 0; v < t->n; v++) {
			bool same = !(mesh_axes_between(&p->mesh, v, w) &
				      ~t->axes);
			if (*cell(t, w, v) != (same ? *cell(t, w, w) : 0))
				return false;
		}
	return true;
}

/* The largest share in this worker's group. */
static int64_t largest_share(const plan *p, const table *t, int worker)
{
	int64_t most = 0;
	for (int w = 0; w < t->n; w++)
		if (!(mesh_axes_between(&p->mesh, w, worker) & ~t->axes) &&
		    *cell(t, w, w) > most)
			most = *cell(t, w, w);
	return most;
}

/* Whether each worker gives its whole block, so that it can be read from the
 * buffer. */
static bool gives_all(const plan *p, const exchange *x, int64_t each)
{
	const plan_instr *in = &p->program[x->instr];
	for (int w = 0; w < mesh_workers(&p->mesh); w++)
		if (plan_region(p, in->from, w).count *
			    (int64_t)dtype_size(x->type) != each)
			return false;
	return true;
}

static exchange_kind kind_of(const plan *p, exchange *x, const table *t,
			     reduces_fn *reduces)
{
	const plan_instr *in = &p->program[x->instr];
	int64_t each = -1;
	if (!t->axes)
		return EXCHANGE_LOCAL;
	if (in->op == PLAN_COMBINE) {
		if (!reduces(x->reducer, x->type) || !has_equal_shares(p, t))
			return EXCHANGE_MESSAGES;
		x->slot = largest_share(p, t, x->worker);
		return EXCHANGE_REDUCE_SCATTER;
	}
	if (!is_even(p, t, &each))
		return EXCHANGE_MESSAGES;
	x->slot = each;
	if (in->collective == COLL_ALL_GATHER && gives_all(p, x, each))
		return EXCHANGE_ALL_GATHER;
	return in->collective == COLL_ALL_TO_ALL ? EXCHANGE_ALL_TO_ALL
						 : EXCHANGE_MESSAGES;
}

/* ---- places ------------------------------------------------------------ */

/* The offset in bytes of the boxes in a region where they are contiguous, one
 * after the other; -1 if they are not. */
static int64_t offset_in(const exchange *x, const parcel *q, const region *r)
{
	int64_t begin = -1, next = -1;
	for (int i = 0; i < q->nboxes; i++) {
		region own = dense(&q->boxes[i]);
		runs run = runs_of(&q->boxes[i], &own, r);
		if (run.left > 1 || (i > 0 && run.src != next))
			return -1;
		begin = i > 0 ? begin : run.src;
		next = run.src + run.n;
	}
	return begin < 0 ? -1 : begin * (int64_t)dtype_size(x->type);
}

static parcel parcel_of(arena *a, const plan *p, const exchange *x,
			const boxes *b, int peer)
{
	parcel q = { .peer = peer, .nboxes = b->n,
		     .number = mesh_number_on(&p->mesh, x->axes, peer),
		     .boxes = ARENA_COPY(a, b->at, b->n) };
	for (int i = 0; i < q.nboxes; i++)
		q.nbytes += box_bytes(x, &q.boxes[i]);
	return q;
}

static int parcels_of(arena *a, const plan *p, const exchange *x,
		      const boxes *by_peer, parcel **to)
{
	int nworkers = mesh_workers(&p->mesh), n = 0;
	*to = ARENA_ARRAY(a, parcel, x->size);
	for (int w = 0; w < nworkers; w++)
		if (w != x->worker && by_peer[w].n > 0)
			(*to)[n++] = parcel_of(a, p, x, &by_peer[w], w);
	return n;
}

/* Places messages.  They go from buffer to buffer without staging where
 * possible. */
static void place_messages(exchange *x, parcel *all, int n, const region *r,
			   bool may, int64_t *staging)
{
	for (int i = 0; i < n; i++) {
		parcel *q = &all[i];
		int64_t at = may ? offset_in(x, q, r) : -1;
		q->direct = at >= 0;
		q->at = q->direct ? at : *staging;
		if (!q->direct)
			*staging += aligned(q->nbytes);
	}
}

/* Whether a region has the slots of all workers, this one included, at their
 * offsets in staging memory. */
static bool has_slots(const exchange *x, const parcel *all, int n,
		      const region *r)
{
	if (n != x->size - 1)
		return false;
	for (int i = 0; i < n; i++)
		if (all[i].nbytes != x->slot ||
		    offset_in(x, &all[i], r) != all[i].number * x->slot)
			return false;
	return x->own.nbytes == x->slot &&
	       offset_in(x, &x->own, r) == x->number * x->slot;
}

static void place_slots(const exchange *x, parcel *all, int n, bool direct)
{
	for (int i = 0; i < n; i++) {
		all[i].direct = direct;
		all[i].at = all[i].number * x->slot;
	}
}

static void place_all(const plan *p, exchange *x)
{
	const plan_instr *in = &p->program[x->instr];
	region src = plan_region(p, in->from, x->worker);
	region dst = plan_region(p, in->to, x->worker);
	switch (x->kind) {
	case EXCHANGE_MESSAGES:
		place_messages(x, x->to, x->nto, &src, true, &x->outbox);
		place_messages(x, x->from, x->nfrom, &dst,
			       in->op == PLAN_MOVE, &x->inbox);
		return;
	case EXCHANGE_ALL_GATHER:
		x->sends_direct = true;
		x->receives_direct = has_slots(x, x->from, x->nfrom, &dst);
		x->inbox = x->receives_direct ? 0 : x->size * x->slot;
		break;
	case EXCHANGE_ALL_TO_ALL:
		x->sends_direct = has_slots(x, x->to, x->nto, &src);
		x->receives_direct = has_slots(x, x->from, x->nfrom, &dst);
		x->outbox = x->sends_direct ? 0 : x->size * x->slot;
		x->inbox = x->receives_direct ? 0 : x->size * x->slot;
		break;
	case EXCHANGE_REDUCE_SCATTER:
		x->sends_direct = has_slots(x, x->to, x->nto, &src);
		x->receives_direct = x->own.nbytes == x->slot;
		x->outbox = x->sends_direct ? 0 : x->size * x->slot;
		x->inbox = x->receives_direct ? 0 : x->slot;
		break;
	default:
		return;
	}
	place_slots(x, x->to, x->nto, x->sends_direct);
	place_slots(x, x->from, x->nfrom, x->receives_direct);
}

exchange exchange_of(arena *a, const plan *p, int instr, int worker,
		     reduces_fn *reduces)
{
	const plan_instr *in = &p->program[instr];
	int nworkers = mesh_workers(&p->mesh);
	arena *work = arena_new();
	boxes *from = ARENA_ARRAY(work, boxes, nworkers);
	boxes *to = ARENA_ARRAY(work, boxes, nworkers);
	exchange x = { .instr = instr, .worker = worker, .size = 1,
		       .type = p->tensors[p->buffers[in->to].tensor].type };
	if (in->op == PLAN_COMBINE)
		x.reducer = plan_partial(p, in->node);
	table t = make_table(work, p, &x, from, to);
	x.axes = t.axes;
	for (int i = 0; i < p->mesh.naxes; i++)
		if (x.axes >> i & 1)
			x.size *= p->mesh.size[i];
	x.number = mesh_number_on(&p->mesh, x.axes, worker);
	x.own = parcel_of(a, p, &x, &from[worker], worker);
	x.nto = parcels_of(a, p, &x, to, &x.to);
	x.nfrom = parcels_of(a, p, &x, from, &x.from);
	for (int i = 0; i < x.nfrom; i++)
		x.received += x.from[i].nbytes;
	x.kind = kind_of(p, &x, &t, reduces);
	place_all(p, &x);
	arena_free(work);
	return x;
}

/* ---- messages ---------------------------------------------------------- */

/* The boxes that a sender gives to a receiver. */
static boxes boxes_between(arena *a, const plan_pipeline *p, int channel,
			   int turn, int sender, int receiver)
{
	arena *tmp = arena_new();
	boxes found = { 0 };
	piece *q;
	int n = pipeline_pieces(tmp, p, channel, turn, receiver, &q);
	for (int i = 0; i < n; i++)
		if (q[i].peer == sender)
			vec_push(a, &found, q[i].at);
	arena_free(tmp);
	return found;
}

static void add_parcel(const exchange *x, parcel *all, int *n, int peer,
		       int number, boxes b)
{
	parcel q = { .peer = peer, .number = number, .nboxes = b.n,
		     .boxes = b.at };
	for (int i = 0; i < b.n; i++)
		q.nbytes += box_bytes(x, &b.at[i]);
	if (q.nbytes > 0)
		all[(*n)++] = q;
}

exchange exchange_of_message(arena *a, const plan_pipeline *p, int stage,
			     int instr, int worker)
{
	const plan *own = &p->stages[stage];
	const plan_instr *in = &own->program[instr];
	const plan_channel *c = &p->channels[in->channel];
	int senders = mesh_workers(&p->stages[c->from].mesh);
	int receivers = mesh_workers(&p->stages[c->to].mesh);
	exchange x = { .kind = EXCHANGE_MESSAGES, .instr = instr,
		       .worker = worker, .size = senders + receivers,
		       .type = own->tensors[own->buffers[in->to].tensor].type };
	region held = plan_region(own, in->to, worker);
	if (in->op == PLAN_SEND) {
		x.number = worker;
		x.to = ARENA_ARRAY(a, parcel, receivers);
		for (int w = 0; w < receivers; w++)
			add_parcel(&x, x.to, &x.nto, w, senders + w,
				   boxes_between(a, p, in->channel, in->turn,
						 worker, w));
		place_messages(&x, x.to, x.nto, &held, true, &x.outbox);
		return x;
	}
	x.number = senders + worker;
	x.from = ARENA_ARRAY(a, parcel, senders);
	for (int w = 0; w < senders; w++)
		add_parcel(&x, x.from, &x.nfrom, w, w,
			   boxes_between(a, p, in->channel, in->turn, w,
					 worker));
	place_messages(&x, x.from, x.nfrom, &held, true, &x.inbox);
	for (int i = 0; i < x.nfrom; i++)
		x.received += x.from[i].nbytes;
	return x;
}

/* ---- all-reduce -------------------------------------------------------- */

/* Whether only these two instructions use a buffer. */
static bool is_between(const plan *p, int buffer, int combine, int move)
{
	if (plan_is_kept(p, buffer))
		return false;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		int n = 0;
		if (i == combine || i == move)
			continue;
		if (in->op == PLAN_RUN)
			n = p->kernels[p->nodes[in->node].kernel]
				    .kernel->ninputs;
		else if (in->from == buffer)
			return false;
		for (int j = 0; j < n; j++)
			if (in->inputs[j] == buffer)
				return false;
		if (in->to == buffer)
			return false;
	}
	return true;
}

/* Whether two buffers have the same offset or are disjoint. */
static bool is_same_or_apart(const plan *p, int x, int y)
{
	const plan_buffer *b = &p->buffers[x], *c = &p->buffers[y];
	return b->offset == c->offset || b->offset + b->nbytes <= c->offset ||
	       c->offset + c->nbytes <= b->offset;
}

/* Merges a reduce-scatter and the following all-gather into an all-reduce if
 * possible. */
void exchange_merge(const plan *p, exchange *combine, exchange *move)
{
	const plan_instr *first = &p->program[combine->instr];
	const plan_instr *then = &p->program[move->instr];
	if (combine->kind != EXCHANGE_REDUCE_SCATTER ||
	    then->op != PLAN_MOVE || then->from != first->to ||
	    combine->axes != move->axes ||
	    plan_layout(p, &p->buffers[then->to]).zeros ||
	    !is_same_or_apart(p, first->from, then->to) ||
	    !is_between(p, first->to, combine->instr, move->instr))
		return;
	for (int w = mesh_workers(&p->mesh) - 1; w >= 0; w--) {
		region from = plan_region(p, first->from, w);
		region to = plan_region(p, then->to, w);
		if (!box_equal(&from.at, &to.at))
			return;
	}
	combine->kind = EXCHANGE_ALL_REDUCE;
	combine->slot = plan_region(p, first->from, combine->worker).count *
			(int64_t)dtype_size(combine->type);
	combine->outbox = combine->inbox = 0;
	combine->sends_direct = combine->receives_direct = true;
	move->kind = EXCHANGE_NOTHING;
	move->outbox = move->inbox = 0;
}

/* ---- lists ------------------------------------------------------------- */

/* The memory of an exchange. */
typedef struct places {
	pack_block from, to; /* buffers */
	CUdeviceptr outbox, inbox;
} places;

/* Box k of a parcel whose boxes are stored at `data' one after the other. */
static pack_block box_in(const exchange *x, const parcel *q, int k,
			 CUdeviceptr data)
{
	for (int i = 0; i < k; i++)
		data += (CUdeviceptr)box_bytes(x, &q->boxes[i]);
	return (pack_block){ data, dense(&q->boxes[k]) };
}

static void copy_out(const exchange *x, const places *at, const parcel *q,
		     CUdeviceptr staged, pack_list *l)
{
	for (int i = 0; i < q->nboxes; i++) {
		pack_block to = box_in(x, q, i, staged);
		pack_copy(l, x->type, &q->boxes[i], &to, &at->from);
	}
}

static void copy_in(const exchange *x, const places *at, const parcel *q,
		    CUdeviceptr staged, pack_list *l)
{
	for (int i = 0; i < q->nboxes; i++) {
		pack_block from = box_in(x, q, i, staged);
		pack_copy(l, x->type, &q->boxes[i], &at->to, &from);
	}
}

static void copy_own(const exchange *x, const places *at, pack_list *l)
{
	for (int i = 0; i < x->own.nboxes; i++)
		if (x->zeros)
			pack_zeros(l, x->type, &x->own.boxes[i], &at->to);
		else
			pack_copy(l, x->type, &x->own.boxes[i], &at->to,
				  &at->from);
}

/* Combines shares in the order of the workers' numbers. */
static void combine(const exchange *x, const places *at, pack_list *l)
{
	arena *work = arena_new();
	pack_block *from = ARENA_ARRAY(work, pack_block, x->nfrom + 1);
	for (int k = 0; k < x->own.nboxes; k++) {
		int n = 0;
		for (int i = 0; i < x->nfrom; i++) {
			const parcel *q = &x->from[i];
			if (n == i && q->peer > x->worker)
				from[n++] = at->from;
			from[n++] = box_in(x, q, k, at->inbox +
					   (CUdeviceptr)q->at);
		}
		if (n == x->nfrom)
			from[n++] = at->from;
		pack_combine(l, x->type, x->reducer, &x->own.boxes[k], &at->to,
			     n, from);
	}
	arena_free(work);
}

static void list_messages(const exchange *x, const places *at, bool combines,
			  pack_list *before, pack_list *after)
{
	for (int i = 0; i < x->nto; i++)
		if (!x->to[i].direct)
			copy_out(x, at, &x->to[i], at->outbox +
				 (CUdeviceptr)x->to[i].at, before);
	if (combines) {
		combine(x, at, after);
		return;
	}
	copy_own(x, at, after);
	for (int i = 0; i < x->nfrom; i++)
		if (!x->from[i].direct)
			copy_in(x, at, &x->from[i], at->inbox +
				(CUdeviceptr)x->from[i].at, after);
}

static void list_slots(const exchange *x, const places *at, pack_list *before,
		       pack_list *after)
{
	CUdeviceptr own = (CUdeviceptr)(x->number * x->slot);
	if (!x->sends_direct) {
		copy_out(x, at, &x->own, at->outbox + own, before);
		for (int i = 0; i < x->nto; i++)
			copy_out(x, at, &x->to[i], at->outbox +
				 (CUdeviceptr)x->to[i].at, before);
	}
	if (x->receives_direct)
		return;
	if (x->kind == EXCHANGE_REDUCE_SCATTER) {
		copy_in(x, at, &x->own, at->inbox, after);
		return;
	}
	copy_in(x, at, &x->own, at->inbox + own, after);
	for (int i = 0; i < x->nfrom; i++)
		copy_in(x, at, &x->from[i], at->inbox +
			(CUdeviceptr)x->from[i].at, after);
}

void exchange_lists(const exchange *x, const plan *p, CUdeviceptr memory,
		    CUdeviceptr outbox, CUdeviceptr inbox, pack_list *before,
		    pack_list *after)
{
	const plan_instr *in = &p->program[x->instr];
	int from = in->op == PLAN_RECEIVE ? in->to : in->from;
	places at = {
		.from = { memory + (CUdeviceptr)p->buffers[from].offset,
			  plan_region(p, from, x->worker) },
		.to = { memory + (CUdeviceptr)p->buffers[in->to].offset,
			plan_region(p, in->to, x->worker) },
		.outbox = outbox + (CUdeviceptr)x->outbox_at,
		.inbox = inbox + (CUdeviceptr)x->inbox_at,
	};
	switch (x->kind) {
	case EXCHANGE_LOCAL:
	case EXCHANGE_MESSAGES:
		list_messages(x, &at, in->op == PLAN_COMBINE, before, after);
		break;
	case EXCHANGE_ALL_GATHER:
	case EXCHANGE_ALL_TO_ALL:
	case EXCHANGE_REDUCE_SCATTER:
		list_slots(x, &at, before, after);
		break;
	default:
		break;
	}
}
