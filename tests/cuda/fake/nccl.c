/* A fake NCCL: ranks are processes, which exchange bytes through memory of the
 * host, as work of the fake driver's streams.
 *
 * It is as strict as the documentation: work is done in the order of the
 * stream; a send that is not in one group with a receive waits for the other
 * side; ranks that call different things, or with other counts or types, or in
 * a graph where another does not, are told so; two ranks on one GPU are refused
 * unless NCCL_HOSTID tells them apart; a communicator is left, or aborted, when
 * the graphs that have captured calls of it are gone, and the others' work is
 * done or aborted; it is left by all ranks at a time.  Sums are added in an
 * order of their own, as those of the real one.
 *
 *	FAKE_NCCL_FAIL		FUNCTION:N:ERROR, as FAKE_CUDA_FAIL; of
 *				`transfer', the N-th group of calls of this
 *				process never ends
 *	FAKE_NCCL_BUFFERS	MiB that a communicator takes of the device's
 *				memory at its first call, 16; those that share
 *				with the one that they were split from, none
 *	FAKE_NCCL_SILENT	a rank that dies is not noticed, as where GPUs
 *				of one machine are concerned */
#include <errno.h>
#include <nccl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "fake.h"
#include "nccl_op.h"

static _Thread_local char last_error[400];
static _Thread_local int depth; /* of groups */
static ncclComm_t comms, closed;

static ncclResult_t wrong(ncclResult_t result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static ncclResult_t wrong(ncclResult_t result, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(last_error, sizeof last_error, fmt, ap);
	va_end(ap);
	if (getenv("NCCL_DEBUG"))
		fprintf(stderr, "fake NCCL: %s\n", last_error);
	return result;
}

/* ---- errors -------------------------------------------------------------- */

FAKE_EXPORT const char *ncclGetErrorString(ncclResult_t result)
{
	static const char *const texts[] = {
		"no error",
		"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
		"unhandled system error (run with NCCL_DEBUG=INFO for details)",
		"internal error - please report this issue to the NCCL "
		"developers",
		"invalid argument (run with NCCL_DEBUG=WARN for details)",
		"invalid usage (run with NCCL_DEBUG=WARN for details)",
		"remote process exited or there was a network error",
		"NCCL operation in progress",
	};
	return result >= 0 && (size_t)result < sizeof texts / sizeof texts[0]
		       ? texts[result]
		       : "unknown result code";
}

FAKE_EXPORT const char *ncclGetLastError(ncclComm_t comm)
{
	return comm && comm->text[0] ? comm->text : last_error;
}

/* The error that FAKE_NCCL_FAIL gives for a call. */
static ncclResult_t injected(const char *function)
{
	static int calls;
	const char *s = getenv("FAKE_NCCL_FAIL");
	const size_t n = strlen(function);
	if (!s || strncmp(s, function, n) || s[n] != ':')
		return ncclSuccess;
	char *end;
	const long which = strtol(s + n + 1, &end, 10);
	if (++calls != which || *end != ':')
		return ncclSuccess;
	return wrong((ncclResult_t)atoi(end + 1), "%s fails on demand",
		     function);
}

FAKE_EXPORT ncclResult_t ncclGetVersion(int *version)
{
	*version = NCCL_VERSION_CODE;
	return ncclSuccess;
}

/* ---- communicators ------------------------------------------------------- */

FAKE_EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	unsigned long long random;
	const ncclResult_t result = injected("ncclGetUniqueId");
	if (result)
		return result;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return ncclSystemError;
	memset(id, 0, sizeof *id);
	snprintf(id->internal, sizeof id->internal, "/fake-nccl-%016llx",
		 random);
	return ncclSuccess;
}

static void sit_down(ncclComm_t c)
{
	seat *s = &c->peer_monitor->seats[c->rank];
	const char *host = getenv("NCCL_HOSTID");
	s->pid = getpid();
	s->device = c->device;
	if (host)
		snprintf(s->host, sizeof s->host, "%s", host);
	else
		gethostname(s->host, sizeof s->host - 1);
}

static ncclResult_t check_seats(ncclComm_t c)
{
	const seat *s = c->peer_monitor->seats;
	if (getenv("NCCL_MULTI_RANK_GPU_ENABLE"))
		return ncclSuccess;
	for (int i = 0; i < c->nranks; i++)
		for (int j = 0; j < i; j++)
			if (s[i].device == s[j].device &&
			    !strcmp(s[i].host, s[j].host))
				return wrong(ncclInvalidUsage,
					     "Duplicate GPU detected : rank %d "
					     "and rank %d both on CUDA device "
					     "%d",
					     j, i, s[i].device);
	return ncclSuccess;
}

static ncclResult_t meet(ncclComm_t c)
{
	const int dead = board_meet(c->peer_monitor, c->rank, ++c->meetings);
	return dead < 0 ? ncclSuccess
			: wrong(ncclRemoteError, "rank %d is gone", dead);
}

static ncclResult_t open_comm(ncclComm_t *comm, const char *name, int nranks,
			      int rank)
{
	CUdevice device;
	if (cuCtxGetDevice(&device))
		return wrong(ncclUnhandledCudaError, "there is no context");
	ncclComm_t c = calloc(1, sizeof *c);
	if (!c)
		return ncclSystemError;
	*c = (struct ncclComm){.nranks = nranks, .rank = rank,
			       .device = device};
	snprintf(c->name, sizeof c->name, "%s", name);
	c->peer_monitor = board_open(c->name, nranks);
	ncclResult_t result =
		c->peer_monitor ? ncclSuccess
			 : wrong(ncclInvalidUsage,
				 "ranks differ in how many they are");
	if (!result && rank == 0 &&
	    getrandom(&c->peer_monitor->order, sizeof c->peer_monitor->order,
		      0) < 0)
		result = ncclSystemError;
	if (!result) {
		sit_down(c);
		result = meet(c);
	}
	if (!result && rank == 0)
		board_forget(c->name);
	if (!result)
		result = check_seats(c);
	if (!result)
		result = meet(c);
	if (result) {
		if (c->peer_monitor)
			board_close(c->peer_monitor);
		free(c);
	} else {
		c->next = comms;
		comms = *comm = c;
	}
	return result;
}

static ncclResult_t check_config(const ncclConfig_t *config)
{
	if (!config)
		return ncclSuccess;
	if (config->magic != 0xcafebeef || config->size < 24)
		return wrong(ncclInvalidArgument,
			     "a ncclConfig_t that was not initialised");
	if (config->blocking == 0)
		return wrong(ncclInvalidUsage,
			     "the fake has no non-blocking communicators");
	return ncclSuccess;
}

FAKE_EXPORT ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks,
						ncclUniqueId id, int rank,
						ncclConfig_t *config)
{
	ncclResult_t result = injected("ncclCommInitRank");
	*comm = NULL;
	if (!result)
		result = check_config(config);
	if (result)
		return result;
	const bool shares = config && config->splitShare == 1;
	if (nranks < 1 || nranks > MAX_RANKS || rank < 0 || rank >= nranks ||
	    strncmp(id.internal, "/fake-nccl-", 11))
		return wrong(ncclInvalidArgument, "rank %d of %d", rank,
			     nranks);
	result = open_comm(comm, id.internal, nranks, rank);
	if (!result)
		(*comm)->shares = shares;
	return result;
}

FAKE_EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks,
					  ncclUniqueId id, int rank)
{
	return ncclCommInitRankConfig(comm, nranks, id, rank, NULL);
}

/* The place in a color: by key, then by rank. */
static bool is_before(const seat *s, int i, int j)
{
	return s[i].key != s[j].key ? s[i].key < s[j].key : i < j;
}

FAKE_EXPORT ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
				       ncclComm_t *split, ncclConfig_t *config)
{
	ncclResult_t result = injected("ncclCommSplit");
	*split = NULL;
	if (!result)
		result = check_config(config);
	if (result)
		return result;
	if (!comm || (color < 0 && color != NCCL_SPLIT_NOCOLOR))
		return wrong(ncclInvalidArgument, "a color of %d", color);
	const seat *s = comm->peer_monitor->seats;
	comm->peer_monitor->seats[comm->rank].color = color;
	comm->peer_monitor->seats[comm->rank].key = key;
	result = meet(comm);
	if (result)
		return result;
	int n = 0, rank = 0;
	for (int i = 0; i < comm->nranks; i++)
		if (s[i].color == color) {
			n++;
			rank += is_before(s, i, comm->rank);
		}
	comm->splits++;
	result = meet(comm); /* all have read the colors */
	if (result || color == NCCL_SPLIT_NOCOLOR)
		return result;
	char name[sizeof comm->name + 32];
	snprintf(name, sizeof name, "%s.%d.%d", comm->name, comm->splits,
		 color);
	result = open_comm(split, name, n, rank);
	if (!result)
		(*split)->connected = (*split)->shares = comm->shares;
	return result;
}

/* Until the graphs are gone that its calls are in, as the real one, even where
 * it is aborted. */
static void wait_for_graphs(ncclComm_t comm)
{
	while (comm->captured > 0) {
		fake_progress();
		usleep(100);
	}
}

/* What closing does may synchronise the device: with kernels of communicators
 * that were not aborted, too. */
static void wait_for_others(void)
{
	for (ncclComm_t c = comms; c; c = c->next)
		while (c->pending > 0 && !c->aborted) {
			fake_progress();
			usleep(100);
		}
}

static ncclResult_t close_comm(ncclComm_t comm)
{
	wait_for_others();
	wait_for_graphs(comm);
	for (ncclComm_t *c = &comms; *c; c = &(*c)->next)
		if (*c == comm) {
			*c = comm->next;
			break;
		}
	board_close(comm->peer_monitor);
	/* Work that was not finished may look at it still: it is kept. */
	comm->peer_monitor = NULL;
	comm->next = closed;
	closed = comm;
	return ncclSuccess;
}

FAKE_EXPORT ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
	return comm ? ncclSuccess : ncclInvalidArgument;
}

/* A collective: returns when all have come, or died. */
FAKE_EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	if (!comm || !comm->peer_monitor)
		return ncclInvalidArgument;
	(void)meet(comm);
	while (comm->pending > 0 && !comm->error) {
		fake_progress();
		usleep(100);
	}
	comm->aborted = true;
	return close_comm(comm);
}

/* What has been enqueued ends, with whatever it has; what a group aborts is
 * closed at its end, when all of it has been told. */
FAKE_EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	if (!comm || !comm->peer_monitor)
		return ncclInvalidArgument;
	comm->aborted = true;
	while (comm->inside)
		usleep(100);
	if (depth > 0) {
		comm->leaves = true;
		return ncclSuccess;
	}
	return close_comm(comm);
}

static void close_left(void)
{
	for (ncclComm_t c = comms, next; c; c = next) {
		next = c->next;
		if (c->leaves)
			close_comm(c);
	}
}

FAKE_EXPORT ncclResult_t ncclCommGetAsyncError(ncclComm_t comm,
					       ncclResult_t *error)
{
	if (!comm || !comm->peer_monitor)
		return ncclInvalidArgument;
	const int dead = getenv("FAKE_NCCL_SILENT") || comm->pending == 0
				 ? -1
				 : board_dead(comm->peer_monitor);
	if (dead >= 0 && !comm->error) {
		comm->error = ncclRemoteError;
		snprintf(comm->text, sizeof comm->text,
			 "socket closed by remote peer, rank %d", dead);
	}
	*error = comm->error;
	return ncclSuccess;
}

FAKE_EXPORT ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
	if (!comm)
		return ncclInvalidArgument;
	*count = comm->nranks;
	return ncclSuccess;
}

FAKE_EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
	if (!comm)
		return ncclInvalidArgument;
	*rank = comm->rank;
	return ncclSuccess;
}

/* ---- calls --------------------------------------------------------------- */

static ncclResult_t check_call(const op *o, CUstream s)
{
	if (!o->comm || !o->comm->peer_monitor)
		return wrong(ncclInvalidArgument, "%s: no communicator",
			     o->kind->name);
	if (o->comm->error)
		return o->comm->error;
	if (o->type >= ncclNumTypes || (unsigned)o->op >= ncclNumOps)
		return wrong(ncclInvalidArgument,
			     "%s: no such type or operation", o->kind->name);
	if (o->root < 0 || o->root >= o->comm->nranks)
		return wrong(ncclInvalidArgument, "%s: rank %d of %d",
			     o->kind->name, o->root, o->comm->nranks);
	if (fake_stream_device(s) != o->comm->device)
		return wrong(ncclInvalidUsage,
			     "%s: a stream of another device",
			     o->kind->name);
	return ncclSuccess;
}

static ncclResult_t check_buffer(const op *o, const void *p, size_t elements,
				 const char *which)
{
	bool pinned;
	if (elements == 0)
		return ncclSuccess;
	const int d = fake_device_of(p, elements * op_size(o), &pinned);
	if (d != o->comm->device && !pinned)
		return wrong(ncclInvalidArgument,
			     "%s: %s of %zu elements is not in the device's "
			     "memory",
			     o->kind->name, which, elements);
	if ((uintptr_t)p % op_size(o))
		return wrong(ncclInvalidArgument, "%s: %s is misaligned",
			     o->kind->name, which);
	return ncclSuccess;
}

/* In place is what the documentation names; else they must not overlap. */
static ncclResult_t check_overlap(const op *o, size_t from, size_t to)
{
	const char *a = o->from, *b = o->to;
	const size_t size = op_size(o);
	if (!a || !b || from == 0 || to == 0 || a + from * size <= b ||
	    b + to * size <= a)
		return ncclSuccess;
	const size_t own = (size_t)o->comm->rank * o->count * size;
	if ((from == to && a == b && o->kind->in_place) ||
	    (from < to && a == b + own) || (to < from && b == a + own))
		return ncclSuccess;
	return wrong(ncclInvalidArgument, "%s: the buffers overlap",
		     o->kind->name);
}

/* Calls of a group, by stream. */
typedef struct unit {
	CUstream s;
	group *g;
} unit;
static _Thread_local int nunits;
static _Thread_local unit units[16];
static _Thread_local ncclResult_t in_group;

static ncclResult_t launch(CUstream s, group *g)
{
	const fake_work w = {.what = g->ops[0].kind->name,
			     .step = group_step,
			     .release = group_release,
			     .arg = g};
	if (fake_stream_captures(s))
		group_capture(g);
	const CUresult result = fake_enqueue(s, &w);
	return result ? wrong(ncclUnhandledCudaError, "error %d of CUDA",
			      (int)result)
		      : ncclSuccess;
}

static ncclResult_t add(CUstream s, const op *o)
{
	unit *u = NULL;
	if (depth == 0)
		return launch(s, group_add(NULL, o));
	for (int i = 0; i < nunits; i++)
		if (units[i].s == s)
			u = &units[i];
	if (!u) {
		if (nunits == 16)
			return wrong(ncclInvalidUsage, "too many streams");
		u = &units[nunits++];
		*u = (unit){s, NULL};
	}
	u->g = group_add(u->g, o);
	return ncclSuccess;
}

static ncclResult_t connect(ncclComm_t comm)
{
	const char *s = getenv("FAKE_NCCL_BUFFERS");
	const size_t nbytes = (size_t)(s ? atoi(s) : 16) << 20;
	if (comm->connected)
		return ncclSuccess;
	if (!fake_take(comm->device, nbytes))
		return wrong(ncclUnhandledCudaError,
			     "Cuda failure 2 'out of memory'");
	comm->connected = true;
	return ncclSuccess;
}

static ncclResult_t call(const op *o, CUstream s)
{
	const size_t n = o->comm ? (size_t)o->comm->nranks : 0;
	const size_t from = o->count * (o->kind->from_all ? n : 1);
	const size_t to = o->count * (o->kind->to_all ? n : 1);
	ncclResult_t result = injected(o->kind->name);
	if (!result)
		result = check_call(o, s);
	if (!result && o->kind->sends)
		result = check_buffer(o, o->from, from, "what is sent");
	if (!result && o->kind->receives)
		result = check_buffer(o, o->to, to, "what is received");
	if (!result && o->kind->sends && o->kind->receives)
		result = check_overlap(o, from, to);
	if (!result)
		result = connect(o->comm);
	if (!result && o->count > 0)
		result = add(s, o);
	if (result && depth > 0 && !in_group)
		in_group = result;
	return result;
}

FAKE_EXPORT ncclResult_t ncclGroupStart(void)
{
	depth++;
	return ncclSuccess;
}

FAKE_EXPORT ncclResult_t ncclGroupEnd(void)
{
	if (depth == 0)
		return wrong(ncclInvalidUsage, "a group that was not begun");
	if (--depth > 0)
		return ncclSuccess;
	ncclResult_t result = in_group;
	for (int i = 0; i < nunits; i++) {
		if (result)
			group_release(units[i].g);
		else
			result = launch(units[i].s, units[i].g);
	}
	nunits = 0;
	in_group = ncclSuccess;
	close_left();
	return result;
}

#define KIND(...)                                       \
	static const op_kind kind = {__VA_ARGS__}

FAKE_EXPORT ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
				       ncclDataType_t type, ncclRedOp_t by,
				       ncclComm_t comm, cudaStream_t stream)
{
	KIND("ncclAllReduce", .sends = true, .receives = true,
	     .in_place = true, .reduces = true, .exchange = ALL_TO_EACH);
	const op o = {&kind, comm, from, to, count, type, by, 0};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclReduceScatter(const void *from, void *to,
					   size_t count, ncclDataType_t type,
					   ncclRedOp_t by, ncclComm_t comm,
					   cudaStream_t stream)
{
	KIND("ncclReduceScatter", .sends = true, .receives = true,
	     .from_all = true, .reduces = true, .exchange = PART_TO_EACH);
	const op o = {&kind, comm, from, to, count, type, by, 0};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
				       ncclDataType_t type, ncclComm_t comm,
				       cudaStream_t stream)
{
	KIND("ncclAllGather", .sends = true, .receives = true, .to_all = true,
	     .exchange = ALL_TO_EACH);
	const op o = {&kind, comm, from, to, count, type, 0, 0};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclAlltoAll(const void *from, void *to, size_t count,
				      ncclDataType_t type, ncclComm_t comm,
				      cudaStream_t stream)
{
	KIND("ncclAlltoAll", .sends = true, .receives = true, .from_all = true,
	     .to_all = true, .exchange = PART_TO_EACH);
	const op o = {&kind, comm, from, to, count, type, 0, 0};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclBroadcast(const void *from, void *to, size_t count,
				       ncclDataType_t type, int root,
				       ncclComm_t comm, cudaStream_t stream)
{
	KIND("ncclBroadcast", .receives = true, .in_place = true,
	     .exchange = FROM_ROOT);
	const op o = {&kind, comm, from, to, count, type, 0, root};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclSend(const void *from, size_t count,
				  ncclDataType_t type, int peer,
				  ncclComm_t comm, cudaStream_t stream)
{
	KIND("ncclSend", .sends = true, .exchange = SEND);
	const op o = {&kind, comm, from, NULL, count, type, 0, peer};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type,
				  int peer, ncclComm_t comm,
				  cudaStream_t stream)
{
	KIND("ncclRecv", .receives = true, .exchange = RECEIVE);
	const op o = {&kind, comm, NULL, to, count, type, 0, peer};
	return call(&o, stream);
}
