/* Workers on GPUs as processes that NCCL connects, one GPU each.
 *
 * A transfer is the collective that it amounts to, on the communicator of the
 * mesh axes that it goes along; halos and gathers by pieces are grouped sends
 * and receives.  A bucket is one kernel that packs, one group of calls, one
 * kernel that unpacks, where there is anything to pack.  NCCL adds in an order
 * of its own; what it does not combine as reducer_combine() does, or not at
 * all, is exchanged and combined here in the order of the workers. */
#include "config.h"

#include "runtime/cuda/link.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "plan/streams.h"
#include "runtime/cuda/exchange.h"
#include "runtime/cuda/nccl_memory.h"
#include "runtime/cuda/pack.h"

/* The communicator of those that differ on some axes of the mesh only. */
typedef struct group {
	uint32_t axes;
	ncclComm_t comm;
} group;

/* Transfers that nothing orders. */
typedef struct phase {
	int n;
	exchange **of; /* those that need the library */
	pack_list *before, *after;
} phase;

/* All but the moves that spread what the same bucket combines, then these. */
enum { PHASES = 2 };

typedef struct bucket {
	phase phases[PHASES];
	int last; /* of its instructions; -1 where all is local */
} bucket;

typedef struct nccl {
	arena *a;
	nccl_api api;
	cuda *c;
	const plan *p;
	int worker;
	VEC(group) groups; /* the first is that of all */
	nccl_registrations registered;
	exchange *exchanges; /* by instruction */
	bucket *buckets;     /* by the first instruction of each */
	packer *packer;
	CUdeviceptr outbox, inbox;
	int64_t outbox_bytes, inbox_bytes;
	int *at; /* mapped memory: the last transfer that has ended */
	const communicator *members; /* whom the progress is told, .. */
	void *link;		     /* .. and their state */
	comm_progress progress;
	double timeout; /* seconds until a peer that is gone has a name */
} nccl;

#define CALL(l, f, function, ...) \
	NCCL_CALL(&(l)->api, (f), function, __VA_ARGS__)

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

/* Its max and min lose a NaN. */
static bool reduces(reducer r, dtype t)
{
	if (r == RED_MAX || r == RED_MIN)
		return types[t].known && !dtype_is_float(t);
	if (r == RED_AND || r == RED_OR)
		return t == DT_BOOL;
	return types[t].known && t != DT_BOOL;
}

/* ---- groups ------------------------------------------------------------ */

/* All processes ask for the same groups in the same order. */
static void note_group(nccl *l, uint32_t axes)
{
	for (int i = 0; i < l->groups.n; i++)
		if (l->groups.at[i].axes == axes)
			return;
	vec_push(l->a, &l->groups, ((group){ .axes = axes }));
}

/* Those that are split off share its buffers. */
static bool join_all(nccl *l, const communicator *comm, void *link, failure *f)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id;
	config.splitShare = 1;
	memset(&id, 0, sizeof(id));
	if (l->worker == 0 && !CALL(l, f, ncclGetUniqueId, &id))
		return false;
	comm->share(link, 0, &id, sizeof(id));
	return CALL(l, f, ncclCommInitRankConfig, &l->groups.at[0].comm,
		    mesh_workers(&l->p->mesh), id, l->worker, &config);
}

static bool join_group(nccl *l, group *g, failure *f)
{
	const mesh *m = &l->p->mesh;
	return CALL(l, f, ncclCommSplit, l->groups.at[0].comm,
		    mesh_number_on(m, ~g->axes, l->worker),
		    mesh_number_on(m, g->axes, l->worker), &g->comm, NULL);
}

/* Its buffers come with the first collective, a step's: they are about as large
 * as that. */
static bool has_room(const nccl *l, failure *f)
{
	enum { ALL = 1 << 30, GROUP = 256 << 20 };
	double nbytes = ALL + (double)GROUP * (l->groups.n - 1);
	return cuda_has_room(l->c, 0, nbytes, "NCCL may need", f);
}

/* All memory that calls on a communicator use. */
static bool register_memory(nccl *l, ncclComm_t comm, failure *f)
{
	return nccl_register(&l->api, l->a, &l->registered, comm,
			     l->c->arenas[0], l->p->arena_bytes, f) &&
	       nccl_register(&l->api, l->a, &l->registered, comm, l->outbox,
			     l->outbox_bytes, f) &&
	       nccl_register(&l->api, l->a, &l->registered, comm, l->inbox,
			     l->inbox_bytes, f);
}

static bool join_groups(nccl *l, const communicator *comm, void *link,
			failure *f)
{
	if (!has_room(l, f) || !join_all(l, comm, link, f))
		return false;
	for (int i = 1; i < l->groups.n; i++)
		if (!join_group(l, &l->groups.at[i], f))
			return false;
	for (int i = 0; i < l->groups.n; i++)
		if (!register_memory(l, l->groups.at[i].comm, f))
			return false;
	return true;
}

static ncclComm_t comm_of(const nccl *l, const exchange *x)
{
	for (int i = 1; i < l->groups.n; i++)
		if (l->groups.at[i].axes == x->axes)
			return l->groups.at[i].comm;
	return l->groups.at[0].comm;
}

/* Those that are cut out of others first. */
static void leave_all(nccl *l)
{
	nccl_deregister(&l->api, &l->registered);
	for (int i = l->groups.n - 1; i >= 0; i--)
		if (l->groups.at[i].comm)
			l->api.ncclCommDestroy(l->groups.at[i].comm);
	l->groups.n = 0;
}

/* To abort one may synchronise the device, and so wait for work of another that
 * has not been told: all are told, then closed, where a group does that. */
static void abort_all(nccl *l)
{
	enum { GROUPED = 22200 }; /* 2.22: they are part of a group */
	int version = 0;
	bool grouped = l->api.ncclGetVersion(&version) == ncclSuccess &&
		       version >= GROUPED &&
		       l->api.ncclGroupStart() == ncclSuccess;
	for (int i = l->groups.n - 1; i >= 0; i--)
		if (l->groups.at[i].comm)
			l->api.ncclCommAbort(l->groups.at[i].comm);
	if (grouped)
		l->api.ncclGroupEnd();
	l->groups.n = 0;
	l->registered.n = 0;
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
			note_group(l, x->axes);
	}
}

static bool open_memory(nccl *l, failure *f)
{
	return cuda_enter(l->c, 0, f) &&
	       (l->outbox_bytes == 0 ||
		nccl_alloc(l->c, &l->outbox, (size_t)l->outbox_bytes, f)) &&
	       (l->inbox_bytes == 0 ||
		nccl_alloc(l->c, &l->inbox, (size_t)l->inbox_bytes, f)) &&
	       CUDA_CALL(&l->c->api, f, cuMemAllocHost, (void **)&l->at,
			 sizeof(*l->at));
}

static bool open_transfers(nccl *l, failure *f)
{
	stream_schedule s = plan_streams(l->a, l->p);
	l->exchanges = ARENA_ARRAY(l->a, exchange, l->p->ninstrs);
	l->buckets = ARENA_ARRAY(l->a, bucket, l->p->ninstrs);
	l->packer = pack_open(l->c, l->p, f);
	if (!l->packer)
		return false;
	for (int i = 0; i < s.nsteps; i++)
		if (plan_moves(&l->p->program[s.steps[i].instrs[0]]))
			note_bucket(l, &s.steps[i]);
	if (!open_memory(l, f))
		return false;
	note_group(l, (UINT32_C(1) << l->p->mesh.naxes) - 1);
	for (int i = 0; i < s.nsteps; i++)
		if (plan_moves(&l->p->program[s.steps[i].instrs[0]]))
			open_bucket(l, &s.steps[i]);
	*l->at = -1;
	l->progress.at = l->at;
	return pack_upload(l->packer, f);
}

static void close_nccl(void *state)
{
	nccl *l = state;
	failure ignored = { 0 };
	leave_all(l);
	/* Their thread looks at l->at. */
	if (l->members->watch)
		l->members->watch(l->link, NULL);
	if (cuda_enter(l->c, 0, &ignored)) {
		nccl_free(l->c, l->outbox);
		nccl_free(l->c, l->inbox);
		if (l->at)
			l->c->api.cuMemFreeHost(l->at);
	}
	if (l->packer)
		pack_close(l->packer);
	arena_free(l->a);
}

static void *open_nccl(cuda *c, const plan *p, const communicator *comm,
		       void *link, failure *f)
{
	arena *a = arena_new();
	nccl *l = ARENA_NEW(a, nccl);
	*l = (nccl){ .a = a, .c = c, .p = p, .worker = c->first,
		     .members = comm, .link = link };
	if (nccl_open(&l->api, f) && cuda_enter(c, 0, f) &&
	    open_transfers(l, f) && join_groups(l, comm, link, f)) {
		if (comm->watch)
			l->timeout = comm->watch(link, &l->progress);
		return l;
	}
	abort_all(l);
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

/* All slots, this worker's own too. */
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
	ncclComm_t g = comm_of(l, x);
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

/* A group that was begun is ended in any case. */
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

/* None has ended. */
static bool begin_nccl(void *state, CUstream s, failure *f)
{
	nccl *l = state;
	return pack_reached(l->packer, 0, (CUdeviceptr)(uintptr_t)l->at, -1, s,
			    f);
}

static bool transfer_nccl(void *state, const int *instrs, int n, CUstream s,
			  failure *f)
{
	nccl *l = state;
	const bucket *b = &l->buckets[instrs[0]];
	(void)n;
	for (int i = 0; i < PHASES; i++) {
		const phase *x = &b->phases[i];
		if (!pack_run(l->packer, x->before, s, f) ||
		    !enqueue_group(l, x, s, f) ||
		    !pack_run(l->packer, x->after, s, f))
			return false;
	}
	return b->last < 0 ||
	       pack_reached(l->packer, 0, (CUdeviceptr)(uintptr_t)l->at,
			    b->last, s, f);
}

/* ---- waiting ----------------------------------------------------------- */

/* Polls NCCL for an asynchronous error: a broken connection, a peer that
 * left. */
static bool look(const nccl *l, failure *f)
{
	for (int i = 0; i < l->groups.n; i++) {
		ncclResult_t r = ncclSuccess;
		if (!CALL(l, f, ncclCommGetAsyncError, l->groups.at[i].comm,
			  &r))
			return false;
		if (r != ncclSuccess && r != ncclInProgress)
			return nccl_good(&l->api, r, "NCCL", f);
	}
	return true;
}

static bool name_transfer(const nccl *l, failure *f)
{
	failure why = *f;
	int at = *(volatile int *)l->at;
	*f = (failure){ 0 };
	if (at < 0)
		return fail_with(f, why.status, "worker %d, in the first "
				 "transfer of a step: %s", l->worker, why.text);
	const plan_instr *in = &l->p->program[at];
	return fail_with(f, why.status, "worker %d, after instruction %d (%s "
			 "of '%s'): %s", l->worker, at,
			 collective_name(in->collective),
			 l->p->tensors[l->p->buffers[in->to].tensor].name,
			 why.text);
}

/* Short steps are not slept over: a look at the stream costs a microsecond. */
static void rest(int64_t looks)
{
	if (looks < 1000)
		sched_yield();
	else
		usleep(50);
}

/* Waits until the stream has ended, or cannot any more.  If a peer is gone, the
 * thread that monitors the peers names it, and ends this process, too. */
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
	abort_all(state);
}

static int64_t received_nccl(void *state, int instr)
{
	return ((nccl *)state)->exchanges[instr].received;
}

const cuda_link link_nccl = {
	.alloc = nccl_alloc,
	.free = nccl_free,
	.open = open_nccl,
	.begin = begin_nccl,
	.transfer = transfer_nccl,
	.wait = wait_nccl,
	.received = received_nccl,
	.abandon = abandon_nccl,
	.close = close_nccl,
};
