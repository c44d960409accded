/* Workers as processes on one GPU each, connected by NCCL: all workers of a
 * stage with one another, and with those of the stages on its links.
 *
 * A transfer is done as the collective that it amounts to, on the communicator
 * of its mesh axes.  Halos and gathers by pieces are grouped sends and
 * receives.  A bucket is one kernel that packs, one group of calls, and one
 * kernel that unpacks, if there is anything to pack.  NCCL adds in its own
 * order.  What NCCL does not combine as reducer_combine() does is exchanged,
 * and combined here in the order of the workers.
 *
 * Messages between stages have a communicator and a stream for each link and
 * direction.  So a send may wait for its receiver without blocking collectives
 * or messages in the other direction.  All processes issue their calls in the
 * order of plan/messages.h.  So whichever calls block others or the host, the
 * first one that has not ended can proceed. */
#include "config.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cuda/nccl_parts.h"

#define CALL NCCL_OF

/* ---- types ------------------------------------------------------------- */

static const struct {
	bool known;
	ncclDataType_t type;
} types[DT_COUNT] = {
	[DT_F64] = { true, ncclFloat64 }, [DT_F32] = { true, ncclFloat32 },
	[DT_F16] = { true, ncclFloat16 }, [DT_BF16] = { true, ncclBfloat16 },
	[DT_I64] = { true, ncclInt64 },	  [DT_I32] = { true, ncclInt32 },
	[DT_I8] = { true, ncclInt8 },	  [DT_U64] = { true, ncclUint64 },
	[DT_U32] = { true, ncclUint32 },  [DT_U8] = { true, ncclUint8 },
	[DT_BOOL] = { true, ncclUint8 },
};

/* Truth values are 0 and 1. */
static ncclRedOp_t operation_of(reducer r)
{
	switch (r) {
	case RED_PROD:
		return ncclProd;
	case RED_MAX:
	case RED_OR:
		return ncclMax;
	case RED_MIN:
	case RED_AND:
		return ncclMin;
	default:
		return ncclSum;
	}
}

/* NCCL's max and min may lose a NaN. */
static bool reduces(reducer r, dtype t)
{
	if (r == RED_MAX || r == RED_MIN)
		return types[t].known && !dtype_is_float(t);
	if (r == RED_AND || r == RED_OR)
		return t == DT_BOOL;
	return types[t].known && t != DT_BOOL;
}

/* ---- opening ----------------------------------------------------------- */

static bool is_spread(const nccl *l, const stream_step *t, int i)
{
	return stream_combined(l->p, t->instrs[i]) >= 0;
}

/* Transfers of a bucket have staging memory side by side. */
static void note_bucket(nccl *l, const stream_step *t)
{
	bucket *b = &l->buckets[t->instrs[0]];
	int64_t out = 0, in = 0;
	b->last = -1;
	for (int i = 0; i < PHASES; i++) {
		b->phases[i].of = ARENA_ARRAY(l->a, exchange *, t->ninstrs);
		b->phases[i].before = pack_new(l->packer, 0);
		b->phases[i].after = pack_new(l->packer, 0);
	}
	for (int i = 0; i < t->ninstrs; i++) {
		exchange *x = &l->exchanges[t->instrs[i]];
		*x = exchange_of(l->a, l->p, t->instrs[i], l->worker, reduces);
		if (is_spread(l, t, i))
			exchange_merge(l->p,
				       &l->exchanges[stream_combined(l->p,
								     x->instr)],
				       x);
	}
	for (int i = 0; i < t->ninstrs; i++) {
		exchange *x = &l->exchanges[t->instrs[i]];
		phase *to = &b->phases[is_spread(l, t, i)];
		x->outbox_at = out;
		x->inbox_at = in;
		out += (x->outbox + 255) / 256 * 256;
		in += (x->inbox + 255) / 256 * 256;
		if (x->kind == EXCHANGE_LOCAL)
			continue;
		b->last = x->instr;
		if (x->kind != EXCHANGE_NOTHING)
			to->of[to->n++] = x;
	}
	l->outbox_bytes = out > l->outbox_bytes ? out : l->outbox_bytes;
	l->inbox_bytes = in > l->inbox_bytes ? in : l->inbox_bytes;
}

static void open_bucket(nccl *l, const stream_step *t)
{
	const bucket *b = &l->buckets[t->instrs[0]];
	for (int i = 0; i < t->ninstrs; i++) {
		const exchange *x = &l->exchanges[t->instrs[i]];
		const phase *to = &b->phases[is_spread(l, t, i)];
		exchange_lists(x, l->p, l->c->arenas[0], l->outbox, l->inbox,
			       to->before, to->after);
		if (x->kind != EXCHANGE_LOCAL)
			groups_note(l, x->axes);
	}
}

static link_group *link_of_message(const nccl *l, int instr)
{
	return &l->links[l->c->order.link_of[l->p->program[instr].channel]];
}

/* Messages of a link have its staging memory one after the other. */
static void note_message(nccl *l, int instr)
{
	exchange *x = &l->exchanges[instr];
	link_group *g = link_of_message(l, instr);
	*x = exchange_of_message(l->a, l->c->p, l->s->stage, instr, l->worker);
	int64_t nbytes = x->outbox + x->inbox;
	g->nbytes = nbytes > g->nbytes ? nbytes : g->nbytes;
	l->messages[instr].before = pack_new(l->packer, 0);
	l->messages[instr].after = pack_new(l->packer, 0);
}

static void open_message(nccl *l, int instr)
{
	const link_group *g = link_of_message(l, instr);
	exchange_lists(&l->exchanges[instr], l->p, l->c->arenas[0], g->staging,
		       g->staging, l->messages[instr].before,
		       l->messages[instr].after);
}

static bool open_memory(nccl *l, failure *f)
{
	if (!cuda_enter(l->c, 0, f))
		return false;
	for (int i = 0; i < l->c->order.nlinks; i++) {
		link_group *g = &l->links[i];
		if (g->nbytes > 0 && !nccl_alloc(l->c, &g->staging,
						 (size_t)g->nbytes, f))
			return false;
	}
	return (l->outbox_bytes == 0 ||
		nccl_alloc(l->c, &l->outbox, (size_t)l->outbox_bytes, f)) &&
	       (l->inbox_bytes == 0 ||
		nccl_alloc(l->c, &l->inbox, (size_t)l->inbox_bytes, f)) &&
	       CUDA_CALL(&l->c->api, f, cuMemAllocHost, (void **)&l->reached,
			 (size_t)l->s->schedule.nqueues * sizeof(*l->reached));
}

static void note_all(nccl *l)
{
	const stream_schedule *s = &l->s->schedule;
	for (int i = 0; i < s->nsteps; i++) {
		const plan_instr *in =
			&l->p->program[s->steps[i].instrs[0]];
		if (plan_moves(in))
			note_bucket(l, &s->steps[i]);
		else if (plan_is_message(in))
			note_message(l, s->steps[i].instrs[0]);
	}
}

static void open_all(nccl *l)
{
	const stream_schedule *s = &l->s->schedule;
	for (int i = 0; i < s->nsteps; i++) {
		const plan_instr *in =
			&l->p->program[s->steps[i].instrs[0]];
		if (plan_moves(in))
			open_bucket(l, &s->steps[i]);
		else if (plan_is_message(in))
			open_message(l, s->steps[i].instrs[0]);
	}
}

/* The number of the next message of this stage, from m on. */
static int next_message(const nccl *l, int instr, int m)
{
	const message_order *o = &l->c->order;
	bool sends = l->p->program[instr].op == PLAN_SEND;
	int channel = l->p->program[instr].channel;
	while (o->messages[m].channel != channel ||
	       (sends ? o->messages[m].send : o->messages[m].receive) != instr)
		m++;
	return m;
}

/* Whether a step needs the library. */
static bool is_transfer(const nccl *l, const stream_step *t)
{
	const plan_instr *in = &l->p->program[t->instrs[0]];
	return plan_is_message(in) ||
	       (plan_moves(in) && l->buckets[t->instrs[0]].last >= 0);
}

/* Lists transfers.  All processes know the order of messages; between two
 * messages are the stage's own transfers. */
static void list_transfers(nccl *l)
{
	enum { BETWEEN = 1 << 20 };
	const stream_schedule *s = &l->s->schedule;
	comm_transfer *all = ARENA_ARRAY(l->a, comm_transfer, s->nsteps);
	int n = 0, m = 0;
	int64_t place = 0;
	l->numbers = ARENA_ARRAY(l->a, int, l->p->ninstrs);
	for (int i = 0; i < s->nsteps; i++) {
		const stream_step *t = &s->steps[i];
		if (!is_transfer(l, t))
			continue;
		bool goes = plan_is_message(&l->p->program[t->instrs[0]]);
		if (goes) {
			m = next_message(l, t->instrs[0], m);
			place = (int64_t)(m + 1) * BETWEEN;
		}
		int last = goes ? t->instrs[0]
				: l->buckets[t->instrs[0]].last;
		l->numbers[t->instrs[0]] = n;
		all[n++] = (comm_transfer){ t->on, last, place++ };
	}
	l->progress.ntransfers = n;
	l->progress.transfers = all;
	l->progress.reached = l->reached;
}

static bool open_transfers(nccl *l, failure *f)
{
	const message_order *o = &l->c->order;
	l->exchanges = ARENA_ARRAY(l->a, exchange, l->p->ninstrs);
	l->buckets = ARENA_ARRAY(l->a, bucket, l->p->ninstrs);
	l->messages = ARENA_ARRAY(l->a, message, l->p->ninstrs);
	l->links = ARENA_ARRAY(l->a, link_group, o->nlinks);
	for (int i = 0; i < o->nlinks; i++) {
		l->links[i].from = o->links[i].from;
		l->links[i].to = o->links[i].to;
	}
	l->packer = pack_open(l->c, true, f);
	if (!l->packer)
		return false;
	note_all(l);
	if (!open_memory(l, f))
		return false;
	groups_note(l, (UINT32_C(1) << l->p->mesh.naxes) - 1);
	open_all(l);
	memset(l->reached, 0, (size_t)l->s->schedule.nqueues *
				      sizeof(*l->reached));
	list_transfers(l);
	return pack_upload(l->packer, f);
}

static void close_nccl(void *state)
{
	nccl *l = state;
	failure ignored = { 0 };
	groups_leave(l);
	/* Their thread looks at l->reached. */
	if (l->members->watch)
		l->members->watch(l->link, NULL);
	if (cuda_enter(l->c, 0, &ignored)) {
		nccl_free(l->c, l->outbox);
		nccl_free(l->c, l->inbox);
		for (int i = 0; l->links && i < l->c->order.nlinks; i++)
			nccl_free(l->c, l->links[i].staging);
		if (l->reached)
			l->c->api.cuMemFreeHost(l->reached);
	}
	if (l->packer)
		pack_close(l->packer);
	arena_free(l->a);
}

/* A process has workers of one stage only. */
static void *open_nccl(cuda *c, const communicator *comm, void *link,
		       failure *f)
{
	arena *a = arena_new();
	nccl *l = ARENA_NEW(a, nccl);
	*l = (nccl){ .a = a, .c = c, .s = &c->parts[0], .p = c->parts[0].p,
		     .worker = c->parts[0].number, .members = comm,
		     .link = link };
	if (nccl_open(&l->api, f) && cuda_enter(c, 0, f) &&
	    open_transfers(l, f) && groups_join(l, comm, link, f)) {
		if (comm->watch)
			l->timeout = comm->watch(link, &l->progress);
		return l;
	}
	groups_abort(l);
	close_nccl(l);
	return NULL;
}

/* ---- transfers --------------------------------------------------------- */

static void *pointer(CUdeviceptr at)
{
	return (void *)(uintptr_t)at;
}

static CUdeviceptr buffer(const nccl *l, int number)
{
	return cuda_place(l->c, 0, number);
}

static bool enqueue_messages(const nccl *l, const exchange *x, CUdeviceptr out,
			     CUdeviceptr in, ncclComm_t g, CUstream s,
			     failure *f)
{
	const plan_instr *instr = &l->p->program[x->instr];
	for (int i = 0; i < x->nto; i++) {
		const parcel *q = &x->to[i];
		CUdeviceptr at = (q->direct ? buffer(l, instr->from) : out) +
				 (CUdeviceptr)q->at;
		if (!CALL(l, f, ncclSend, pointer(at), (size_t)q->nbytes,
			  ncclUint8, q->number, g, s))
			return false;
	}
	for (int i = 0; i < x->nfrom; i++) {
		const parcel *q = &x->from[i];
		CUdeviceptr at = (q->direct ? buffer(l, instr->to) : in) +
				 (CUdeviceptr)q->at;
		if (!CALL(l, f, ncclRecv, pointer(at), (size_t)q->nbytes,
			  ncclUint8, q->number, g, s))
			return false;
	}
	return true;
}

/* Exchanges all slots, this worker's own included. */
static bool enqueue_all_to_all(const nccl *l, const exchange *x, char *send,
			       char *receive, ncclComm_t g, CUstream s,
			       failure *f)
{
	size_t n = (size_t)x->slot;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
	if (l->api.ncclAlltoAll)
		return CALL(l, f, ncclAlltoAll, send, receive, n, ncclUint8, g,
			    s);
#endif
	for (int i = 0; i < x->size; i++)
		if (!CALL(l, f, ncclSend, send + (size_t)i * n, n, ncclUint8, i,
			  g, s) ||
		    !CALL(l, f, ncclRecv, receive + (size_t)i * n, n, ncclUint8,
			  i, g, s))
			return false;
	return true;
}

static bool enqueue(const nccl *l, const exchange *x, CUstream s, failure *f)
{
	const plan_instr *in = &l->p->program[x->instr];
	ncclComm_t g = groups_of(l, x);
	CUdeviceptr outbox = l->outbox + (CUdeviceptr)x->outbox_at;
	CUdeviceptr inbox = l->inbox + (CUdeviceptr)x->inbox_at;
	char *send = pointer(x->sends_direct ? buffer(l, in->from) : outbox);
	char *receive = pointer(x->receives_direct ? buffer(l, in->to)
						   : inbox);
	size_t n = (size_t)x->slot, count = n / dtype_size(x->type);
	ncclDataType_t t = types[x->type].type;
	switch (x->kind) {
	case EXCHANGE_MESSAGES:
		return enqueue_messages(l, x, outbox, inbox, g, s, f);
	case EXCHANGE_ALL_GATHER:
		return CALL(l, f, ncclAllGather, send, receive, n, ncclUint8,
			    g, s);
	case EXCHANGE_ALL_TO_ALL:
		return enqueue_all_to_all(l, x, send, receive, g, s, f);
	case EXCHANGE_REDUCE_SCATTER:
		return n == 0 ||
		       CALL(l, f, ncclReduceScatter, send, receive, count, t,
			    operation_of(x->reducer), g, s);
	case EXCHANGE_ALL_REDUCE:
		in = &l->p->program[stream_spread(l->p, x->instr)];
		receive = pointer(buffer(l, in->to));
		return n == 0 ||
		       CALL(l, f, ncclAllReduce, send, receive, count, t,
			    operation_of(x->reducer), g, s);
	default:
		return true;
	}
}

/* A group that was begun is always ended. */
static bool enqueue_group(const nccl *l, const phase *x, CUstream s, failure *f)
{
	bool well = true;
	if (x->n == 0)
		return true;
	if (!CALL(l, f, ncclGroupStart))
		return false;
	for (int i = 0; well && i < x->n; i++)
		well = enqueue(l, x->of[i], s, f);
	return CALL(l, f, ncclGroupEnd) && well;
}

/* Notes that a queue has come to the beginning or the end of a transfer. */
static bool tell(const nccl *l, int on, int instr, bool ends, CUstream s,
		 failure *f)
{
	return pack_reached(l->packer, 0,
			    (CUdeviceptr)(uintptr_t)&l->reached[on],
			    2 * l->numbers[instr] + 1 + ends, s, f);
}

/* Notes that no queue has come to any transfer. */
static bool begin_nccl(void *state, CUstream s, failure *f)
{
	nccl *l = state;
	for (int q = 0; q < l->s->schedule.nqueues; q++)
		if (!pack_reached(l->packer, 0,
				  (CUdeviceptr)(uintptr_t)&l->reached[q], 0, s,
				  f))
			return false;
	return true;
}

static bool transfer_nccl(void *state, int part, const int *instrs, int n,
			  CUstream s, failure *f)
{
	nccl *l = state;
	const bucket *b = &l->buckets[instrs[0]];
	(void)part;
	(void)n;
	bool tells = b->last >= 0;
	if (tells && !tell(l, STREAM_COMMUNICATION, instrs[0], false, s, f))
		return false;
	for (int i = 0; i < PHASES; i++) {
		const phase *x = &b->phases[i];
		if (!pack_run(l->packer, x->before, s, f) ||
		    !enqueue_group(l, x, s, f) ||
		    !pack_run(l->packer, x->after, s, f))
			return false;
	}
	return !tells ||
	       tell(l, STREAM_COMMUNICATION, instrs[0], true, s, f);
}

/* Enqueues a message; its parcels form one group. */
static bool enqueue_message(const nccl *l, const exchange *x, CUstream s,
			    failure *f)
{
	const link_group *g = link_of_message(l, x->instr);
	if (x->nto + x->nfrom == 0)
		return true;
	if (!CALL(l, f, ncclGroupStart))
		return false;
	bool well = enqueue_messages(l, x, g->staging, g->staging, g->comm, s,
				     f);
	return CALL(l, f, ncclGroupEnd) && well;
}

/* The queue of a link of the pipeline. */
static int queue_of(const nccl *l, int link)
{
	int i = 0;
	while (l->s->links[i] != link)
		i++;
	return STREAM_COUNT + i;
}

static bool message_nccl(void *state, int part, int instr, int link,
			 failure *f)
{
	nccl *l = state;
	const message *m = &l->messages[instr];
	CUstream s = l->c->gpus[0].messages[link];
	int on = queue_of(l, link);
	(void)part;
	return tell(l, on, instr, false, s, f) &&
	       pack_run(l->packer, m->before, s, f) &&
	       enqueue_message(l, &l->exchanges[instr], s, f) &&
	       pack_run(l->packer, m->after, s, f) &&
	       tell(l, on, instr, true, s, f);
}

/* ---- waiting ----------------------------------------------------------- */

/* Polls NCCL for an asynchronous error: a broken connection, or a peer that
 * left. */
static bool look(const nccl *l, failure *f)
{
	arena *work = arena_new();
	bool good = true;
	int n;
	const ncclComm_t *all = groups_all(l, work, &n);
	for (int i = 0; good && i < n; i++) {
		ncclResult_t r = ncclSuccess;
		good = CALL(l, f, ncclCommGetAsyncError, all[i], &r);
		if (good && r != ncclSuccess && r != ncclInProgress)
			good = nccl_good(&l->api, r, "NCCL", f);
	}
	arena_free(work);
	return good;
}

static bool name_transfer(const nccl *l, failure *f)
{
	failure why = *f;
	int at = comm_last(&l->progress);
	*f = (failure){ 0 };
	if (at < 0)
		return fail_with(f, why.status, "worker %d, in the first "
				 "transfer of a step: %s", l->c->first,
				 why.text);
	const plan_instr *in = &l->p->program[at];
	return fail_with(f, why.status, "worker %d, after instruction %d (%s "
			 "of '%s'): %s", l->c->first, at,
			 plan_is_message(in) ? "message"
					: collective_name(in->collective),
			 l->p->tensors[l->p->buffers[in->to].tensor].name,
			 why.text);
}

/* Sleeps only after some looks, so that short steps are not delayed.  A look at
 * the stream takes a microsecond. */
static void rest(int64_t looks)
{
	if (looks < 1000)
		sched_yield();
	else
		usleep(50);
}

/* Waits until the stream has ended, or cannot end any more.  If a peer is gone,
 * the thread that monitors peers reports it and ends this process. */
static bool wait_stream(nccl *l, CUstream s, failure *f)
{
	CUresult r = CUDA_ERROR_NOT_READY;
	for (int64_t i = 0; r == CUDA_ERROR_NOT_READY; i++) {
		if (i % 16 == 15 && !look(l, f)) {
			usleep((useconds_t)(l->timeout * 1e6));
			return name_transfer(l, f);
		}
		r = l->c->api.cuStreamQuery(s);
		if (r == CUDA_ERROR_NOT_READY)
			rest(i);
	}
	return cuda_good(&l->c->api, r, "cuStreamQuery", f);
}

static bool wait_nccl(void *state, CUstream s, failure *f)
{
	nccl *l = state;
	atomic_fetch_add(&l->progress.steps, 1);
	atomic_store(&l->progress.waits, true);
	bool well = wait_stream(l, s, f);
	atomic_store(&l->progress.waits, false);
	return well;
}

static void abandon_nccl(void *state)
{
	groups_abort(state);
}

static int64_t received_nccl(void *state, int part, int instr)
{
	(void)part;
	return ((nccl *)state)->exchanges[instr].received;
}

const cuda_link link_nccl = {
	.alloc = nccl_alloc,
	.free = nccl_free,
	.open = open_nccl,
	.begin = begin_nccl,
	.transfer = transfer_nccl,
	.message = message_nccl,
	.wait = wait_nccl,
	.received = received_nccl,
	.abandon = abandon_nccl,
	.close = close_nccl,
};
