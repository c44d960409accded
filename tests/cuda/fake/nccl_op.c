/* Transfers of the fake NCCL: bytes through rings, headers before them that
 * both sides compare, and reductions of what has come. */
#include "nccl_op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

/* Before the bytes of each transfer: what the sender called. */
typedef struct header {
	char name[24];
	uint64_t bytes;
	int32_t type, op, root, captured, registered;
} header;

/* Bytes from or to a peer. */
typedef struct transfer {
	const op *o;
	int peer;
	bool sends, done;
	header head, other; /* ours, the peer's */
	size_t head_done, done_bytes, bytes;
	unsigned char *at;
} transfer;

size_t op_size(const op *o)
{
	static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	return sizes[o->type];
}

static void *take(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p)
		abort();
	return p;
}

group *group_add(group *g, const op *o)
{
	if (!g)
		g = take(1, sizeof *g);
	g->ops = realloc(g->ops, (size_t)(g->n + 1) * sizeof *g->ops);
	if (!g->ops)
		abort();
	g->ops[g->n++] = *o;
	return g;
}

void group_capture(group *g)
{
	g->captured = true;
	for (int i = 0; i < g->n; i++)
		g->ops[i].comm->captured++;
}

/* ---- what is to be transferred ------------------------------------------- */

static header header_of(const group *g, const op *o, size_t bytes)
{
	header h = {.bytes = bytes, .type = o->type, .op = o->op,
		    .captured = g->captured, .registered = o->registered};
	const bool pair = o->kind->exchange >= SEND;
	snprintf(h.name, sizeof h.name, "%s",
		 pair ? "ncclSend" : o->kind->name);
	h.root = pair ? 0 : o->root;
	return h;
}

static void add_transfer(group *g, const op *o, int peer, bool sends,
			 const void *at)
{
	const size_t bytes = o->count * op_size(o);
	g->transfers[g->ntransfers++] =
		(transfer){.o = o,
			   .peer = peer,
			   .sends = sends,
			   .head = header_of(g, o, bytes),
			   .bytes = bytes,
			   .at = (unsigned char *)(uintptr_t)at};
}

/* Adds the parcels that go out first: within a rank nothing is sent but
 * copied. */
static void add_collective(group *g, int i)
{
	const op *o = &g->ops[i];
	const size_t bytes = o->count * op_size(o);
	const int n = o->comm->nranks, me = o->comm->rank;
	g->parts[i] = take((size_t)n, bytes);
	for (int r = 0; r < n; r++) {
		const unsigned char *from = o->from;
		if (o->kind->exchange == PART_TO_EACH)
			from += (size_t)r * bytes;
		if (r == me) {
			memcpy(g->parts[i] + (size_t)r * bytes, from, bytes);
			continue;
		}
		add_transfer(g, o, r, true, from);
		add_transfer(g, o, r, false, g->parts[i] + (size_t)r * bytes);
	}
}

static void add_broadcast(group *g, const op *o)
{
	if (o->comm->rank != o->root) {
		add_transfer(g, o, o->root, false, o->to);
		return;
	}
	memmove(o->to, o->from, o->count * op_size(o));
	for (int r = 0; r < o->comm->nranks; r++)
		if (r != o->root)
			add_transfer(g, o, r, true, o->from);
}

/* Begins anew: a graph may do the same calls many times. */
static void begin(group *g)
{
	static int groups;
	int most = 0;
	for (int i = 0; i < g->n; i++)
		most += 2 * g->ops[i].comm->nranks;
	free(g->transfers);
	g->transfers = take((size_t)most, sizeof *g->transfers);
	g->ntransfers = 0;
	if (!g->parts)
		g->parts = take((size_t)g->n, sizeof *g->parts);
	for (int i = 0; i < g->n; i++) {
		const op *o = &g->ops[i];
		free(g->parts[i]);
		g->parts[i] = NULL;
		switch (o->kind->exchange) {
		case ALL_TO_EACH:
		case PART_TO_EACH: add_collective(g, i); break;
		case FROM_ROOT: add_broadcast(g, o); break;
		case SEND:
			add_transfer(g, o, o->root, true, o->from);
			break;
		case RECEIVE:
			add_transfer(g, o, o->root, false, o->to);
			break;
		}
	}
	const char *s = getenv("FAKE_NCCL_FAIL");
	g->hangs = s && !strncmp(s, "transfer:", 9) && ++groups == atoi(s + 9);
	for (int i = 0; i < g->n; i++)
		g->ops[i].comm->pending++;
	g->counted = true;
}

/* ---- moving bytes -------------------------------------------------------- */

/* Reports a mismatch, the rank's error from then on; the work itself never
 * ends. */
static void mismatch(const transfer *t)
{
	ncclComm_t c = t->o->comm;
	c->error = ncclInvalidUsage;
	snprintf(c->text, sizeof c->text,
		 "rank %d calls %s of %llu bytes, type %d, operation %d, root "
		 "%d%s%s; rank %d calls %s of %llu bytes, type %d, operation "
		 "%d, root %d%s%s",
		 c->rank, t->head.name, (unsigned long long)t->head.bytes,
		 t->head.type, t->head.op, t->head.root,
		 t->head.captured ? ", captured" : "",
		 t->head.registered ? ", registered" : "", t->peer,
		 t->other.name, (unsigned long long)t->other.bytes,
		 t->other.type, t->other.op, t->other.root,
		 t->other.captured ? ", captured" : "",
		 t->other.registered ? ", registered" : "");
	fprintf(stderr, "fake NCCL: %s\n", c->text);
}

static void move_out(transfer *t, ring *r)
{
	const unsigned char *head = (const unsigned char *)&t->head;
	t->head_done += ring_put(r, head + t->head_done,
				 sizeof t->head - t->head_done);
	if (t->head_done == sizeof t->head)
		t->done_bytes += ring_put(r, t->at + t->done_bytes,
					  t->bytes - t->done_bytes);
	t->done = t->head_done == sizeof t->head && t->done_bytes == t->bytes &&
		  ring_is_empty(r);
}

static void move_in(transfer *t, ring *r)
{
	unsigned char *other = (unsigned char *)&t->other;
	if (t->head_done < sizeof t->other) {
		t->head_done += ring_take(r, other + t->head_done,
					  sizeof t->other - t->head_done);
		if (t->head_done < sizeof t->other)
			return;
		if (memcmp(&t->head, &t->other, sizeof t->head)) {
			mismatch(t);
			return;
		}
	}
	t->done_bytes += ring_take(r, t->at + t->done_bytes,
				   t->bytes - t->done_bytes);
	t->done = t->done_bytes == t->bytes;
}

/* Of those of one communicator with one peer in one direction only the first
 * that is not done goes on. */
static bool is_first(const group *g, int i)
{
	const transfer *t = &g->transfers[i];
	for (int j = 0; j < i; j++) {
		const transfer *u = &g->transfers[j];
		if (!u->done && u->o->comm == t->o->comm &&
		    u->peer == t->peer && u->sends == t->sends)
			return false;
	}
	return true;
}

/* Whether all of it is done; *moved: whether anything was. */
static bool move(group *g, bool *moved)
{
	bool all = true;
	for (int i = 0; i < g->ntransfers; i++) {
		transfer *t = &g->transfers[i];
		ncclComm_t c = t->o->comm;
		if (t->done || c->error) {
			all = all && t->done;
			continue;
		}
		const size_t before = t->head_done + t->done_bytes;
		const int from = t->sends ? c->rank : t->peer;
		const int to = t->sends ? t->peer : c->rank;
		ring *r = &c->peer_monitor->rings[from * c->nranks + to];
		if (is_first(g, i))
			(t->sends ? move_out : move_in)(t, r);
		*moved = *moved || t->done ||
			 t->head_done + t->done_bytes > before;
		all = all && t->done;
	}
	return all;
}

/* ---- reductions ---------------------------------------------------------- */

typedef union number {
	int64_t i;
	uint64_t u;
	double d;
	float f;
} number;

static bool is_signed(ncclDataType_t t)
{
	return t == ncclInt8 || t == ncclInt32 || t == ncclInt64;
}

static bool is_unsigned(ncclDataType_t t)
{
	return t == ncclUint8 || t == ncclUint32 || t == ncclUint64;
}

static number get(ncclDataType_t t, const unsigned char *p)
{
	number x = {0};
	int8_t i8;
	int32_t i32;
	uint32_t u32;
	uint16_t u16;
	switch ((int)t) {
	case ncclInt8: memcpy(&i8, p, 1); x.i = i8; break;
	case ncclUint8: x.u = *p; break;
	case ncclInt32: memcpy(&i32, p, 4); x.i = i32; break;
	case ncclUint32: memcpy(&u32, p, 4); x.u = u32; break;
	case ncclInt64:
	case ncclUint64:
	case ncclFloat64: memcpy(&x, p, 8); break;
	case ncclFloat32: memcpy(&x.f, p, 4); break;
	case ncclFloat16:
		memcpy(&u16, p, 2);
		x.f = float_of_small(u16, 5, 10, 0);
		break;
	case ncclBfloat16:
		memcpy(&u16, p, 2);
		x.f = float_of_small(u16, 8, 7, 0);
		break;
	case ncclFloat8e4m3: x.f = float_of_small(*p, 4, 3, 1); break;
	case ncclFloat8e5m2: x.f = float_of_small(*p, 5, 2, 0); break;
	}
	return x;
}

static void put(ncclDataType_t t, unsigned char *p, number x)
{
	uint16_t u16;
	switch ((int)t) {
	case ncclInt8:
	case ncclUint8: *p = (unsigned char)x.u; break;
	case ncclInt32:
	case ncclUint32: memcpy(p, &x, 4); break;
	case ncclInt64:
	case ncclUint64:
	case ncclFloat64: memcpy(p, &x, 8); break;
	case ncclFloat32: memcpy(p, &x.f, 4); break;
	case ncclFloat16:
		u16 = (uint16_t)small_of_float(x.f, 5, 10, 0);
		memcpy(p, &u16, 2);
		break;
	case ncclBfloat16:
		u16 = (uint16_t)small_of_float(x.f, 8, 7, 0);
		memcpy(p, &u16, 2);
		break;
	case ncclFloat8e4m3:
		*p = (unsigned char)small_of_float(x.f, 4, 3, 1);
		break;
	case ncclFloat8e5m2:
		*p = (unsigned char)small_of_float(x.f, 5, 2, 0);
		break;
	}
}

#define COMBINE(op, a, b)                                                 \
	((op) == ncclProd  ? (a) * (b)                                    \
	 : (op) == ncclMax ? ((a) < (b) || (b) != (b) ? (b) : (a))        \
	 : (op) == ncclMin ? ((b) < (a) || (b) != (b) ? (b) : (a))        \
			   : (a) + (b))

static number combine(const op *o, number a, number b)
{
	if (o->type == ncclFloat64)
		a.d = COMBINE(o->op, a.d, b.d);
	else if (is_unsigned(o->type))
		a.u = COMBINE(o->op, a.u, b.u);
	else if (!is_signed(o->type))
		a.f = COMBINE(o->op, a.f, b.f);
	else if (o->op == ncclMax || o->op == ncclMin)
		a.i = COMBINE(o->op, a.i, b.i);
	else
		a.u = COMBINE(o->op, a.u, b.u); /* modulo 2^64 */
	return a;
}

static number divide(const op *o, number a)
{
	const int n = o->comm->nranks;
	if (o->type == ncclFloat64)
		a.d /= n;
	else if (is_signed(o->type))
		a.i /= n;
	else if (is_unsigned(o->type))
		a.u /= (unsigned)n;
	else
		a.f /= (float)n;
	return a;
}

/* Elements of different pieces are added in different orders, as on a ring, or,
 * as by a switch (NVLS), in one that is another each time; each step is rounded
 * to the type. */
static void reduce(const op *o, const unsigned char *parts)
{
	const char *nvls = getenv("NCCL_NVLS_ENABLE");
	const size_t turn =
		nvls && !strcmp(nvls, "0")
			? 1
			: o->comm->peer_monitor->order + o->comm->sums++;
	const size_t size = op_size(o), n = (size_t)o->comm->nranks;
	const size_t piece = (o->count + n - 1) / n;
	for (size_t i = 0; i < o->count; i++) {
		const size_t first = (i / piece + turn) % n;
		unsigned char sum[8];
		for (size_t k = 0; k < n; k++) {
			const size_t r = (first + k) % n;
			const unsigned char *x =
				parts + (r * o->count + i) * size;
			number v = get(o->type, x);
			if (k > 0)
				v = combine(o, get(o->type, sum), v);
			put(o->type, sum, v);
		}
		if (o->op == ncclAvg)
			put(o->type, sum, divide(o, get(o->type, sum)));
		memcpy((unsigned char *)o->to + i * size, sum, size);
	}
}

/* ---- groups -------------------------------------------------------------- */

static void end(group *g)
{
	for (int i = 0; i < g->n; i++) {
		const op *o = &g->ops[i];
		const size_t all =
			o->count * op_size(o) * (size_t)o->comm->nranks;
		if (g->parts[i] && o->kind->reduces)
			reduce(o, g->parts[i]);
		else if (g->parts[i])
			memcpy(o->to, g->parts[i], all);
	}
}

static void uncount(group *g)
{
	for (int i = 0; g->counted && i < g->n; i++)
		g->ops[i].comm->pending--;
	g->counted = false;
}

static bool is_aborted(const group *g)
{
	for (int i = 0; i < g->n; i++)
		if (g->ops[i].comm->aborted)
			return true;
	return false;
}

static void set_inside(group *g, bool inside)
{
	for (int i = 0; i < g->n; i++)
		g->ops[i].comm->inside = inside;
}

CUresult group_step(void *arg, bool first)
{
	group *g = arg;
	bool moved = true, done = false;
	set_inside(g, true);
	if (is_aborted(g)) {
		set_inside(g, false);
		uncount(g);
		return CUDA_SUCCESS;
	}
	if (first)
		begin(g);
	while (moved && !done && !g->hangs) {
		moved = false;
		done = move(g, &moved);
	}
	if (done) {
		end(g);
		uncount(g);
	}
	set_inside(g, false);
	return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

void group_release(void *arg)
{
	group *g = arg;
	uncount(g); /* of a device that has failed */
	for (int i = 0; g->captured && i < g->n; i++)
		g->ops[i].comm->captured--;
	for (int i = 0; g->parts && i < g->n; i++)
		free(g->parts[i]);
	free(g->parts);
	free(g->transfers);
	free(g->ops);
	free(g);
}
