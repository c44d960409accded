/* A fake NCCL: ranks are processes, which exchange bytes through memory of the
 * host, as work of the fake driver's streams.
 *
 * It is as strict as the documentation: work is done in the order of the
 * stream; a send that is not in one group with a receive waits for the other
 * side, and the first call for a message between two ranks for the other's;
 * ranks that call different things, or with other counts or types, or in a
 * graph where another does not, are told so; two ranks on one GPU are refused
 * unless NCCL_HOSTID tells them apart; a communicator is left, or aborted, when
 * the graphs that have captured calls of it are gone, and the others' work is
 * done or aborted; it is left by all ranks at a time.  Of a call either all
 * ranks give registered buffers or none does; a buffer is no longer registered
 * when its memory is freed or the communicator destroyed, which the real one
 * leaves to its caller.  Sums are added in an order of their own, as those of
 * the real one.
 *
 *	FAKE_NCCL_FAIL		FUNCTION:N:ERROR, as FAKE_CUDA_FAIL; of
 *				`transfer', the N-th group of calls of this
 *				process never ends
 *	FAKE_NCCL_BUFFERS	MiB that a communicator takes of the device's
 *				memory at its first call, 16; those that share
 *				with the one that they were split from, none
 *	FAKE_NCCL_SILENT	a rank that dies is not noticed, as where GPUs
 *				of one machine are concerned */
#include <nccl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "nccl_comm.h"

static _Thread_local char last_error[400];
static _Thread_local int depth; /* of groups */

ncclResult_t wrong(ncclResult_t result, const char *fmt, ...)
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

ncclResult_t injected(const char *function)
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

/* For the log: the first call of a group, and whether all that it transfers is
 * registered. */
static const char *describe(const group *g)
{
	bool registered = true;
	for (int i = 0; i < g->n; i++)
		registered = registered && g->ops[i].registered;
	return registered ? g->ops[0].kind->name_registered
			  : g->ops[0].kind->name;
}

/* Two ranks connect when both have called for the first message between them;
 * until then the call does not return, as the real one's. */
static ncclResult_t connect_peer(const op *o)
{
	const ncclComm_t c = o->comm;
	const bool sends = o->kind->exchange == SEND;
	seat *own = &c->peer_monitor->seats[c->rank];
	seat *other = &c->peer_monitor->seats[o->root];
	_Atomic char *mine = sends ? own->sends : own->receives;
	_Atomic char *theirs = sends ? other->receives : other->sends;
	mine[o->root] = 1;
	while (!theirs[c->rank]) {
		if (board_dead(c->peer_monitor) >= 0)
			return wrong(ncclRemoteError, "rank %d is gone",
				     board_dead(c->peer_monitor));
		fake_progress();
		usleep(100);
	}
	return ncclSuccess;
}

/* All first say to whom they want to be connected. */
static ncclResult_t connect_peers(const group *g)
{
	ncclResult_t result = ncclSuccess;
	for (int i = 0; i < g->n; i++) {
		const op *o = &g->ops[i];
		seat *own = &o->comm->peer_monitor->seats[o->comm->rank];
		if (o->kind->exchange == SEND)
			own->sends[o->root] = 1;
		else if (o->kind->exchange == RECEIVE)
			own->receives[o->root] = 1;
	}
	for (int i = 0; !result && i < g->n; i++)
		if (g->ops[i].kind->exchange >= SEND)
			result = connect_peer(&g->ops[i]);
	return result;
}

static ncclResult_t launch(CUstream s, group *g)
{
	const ncclResult_t connected = connect_peers(g);
	if (connected) {
		group_release(g);
		return connected;
	}
	const fake_work w = {.what = describe(g),
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

/* All that the library reads and writes of this rank's. */
static bool has_registered(const op *o, size_t from, size_t to)
{
	return (!o->kind->sends ||
		is_registered(o->comm, o->from, from * op_size(o))) &&
	       (!o->kind->receives ||
		is_registered(o->comm, o->to, to * op_size(o)));
}

static ncclResult_t call(op *o, CUstream s)
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
	if (!result && o->count > 0) {
		o->registered = has_registered(o, from, to);
		result = add(s, o);
	}
	if (result && depth > 0 && !in_group)
		in_group = result;
	return result;
}

bool group_is_open(void)
{
	return depth > 0;
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

#define KIND(n, ...)                                                  \
	static const op_kind kind = {                                 \
		.name = n, .name_registered = n " of registered buffers", \
		__VA_ARGS__}

FAKE_EXPORT ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
				       ncclDataType_t type, ncclRedOp_t by,
				       ncclComm_t comm, cudaStream_t stream)
{
	KIND("ncclAllReduce", .sends = true, .receives = true,
	     .in_place = true, .reduces = true, .exchange = ALL_TO_EACH);
	op o = {&kind, comm, from, to, count, type, by, 0, false};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclReduceScatter(const void *from, void *to,
					   size_t count, ncclDataType_t type,
					   ncclRedOp_t by, ncclComm_t comm,
					   cudaStream_t stream)
{
	KIND("ncclReduceScatter", .sends = true, .receives = true,
	     .from_all = true, .reduces = true, .exchange = PART_TO_EACH);
	op o = {&kind, comm, from, to, count, type, by, 0, false};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
				       ncclDataType_t type, ncclComm_t comm,
				       cudaStream_t stream)
{
	KIND("ncclAllGather", .sends = true, .receives = true, .to_all = true,
	     .exchange = ALL_TO_EACH);
	op o = {&kind, comm, from, to, count, type, 0, 0, false};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclAlltoAll(const void *from, void *to, size_t count,
				      ncclDataType_t type, ncclComm_t comm,
				      cudaStream_t stream)
{
	KIND("ncclAlltoAll", .sends = true, .receives = true, .from_all = true,
	     .to_all = true, .exchange = PART_TO_EACH);
	op o = {&kind, comm, from, to, count, type, 0, 0, false};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclBroadcast(const void *from, void *to, size_t count,
				       ncclDataType_t type, int root,
				       ncclComm_t comm, cudaStream_t stream)
{
	KIND("ncclBroadcast", .receives = true, .in_place = true,
	     .exchange = FROM_ROOT);
	op o = {&kind, comm, from, to, count, type, 0, root, false};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclSend(const void *from, size_t count,
				  ncclDataType_t type, int peer,
				  ncclComm_t comm, cudaStream_t stream)
{
	KIND("ncclSend", .sends = true, .exchange = SEND);
	op o = {&kind, comm, from, NULL, count, type, 0, peer, false};
	return call(&o, stream);
}

FAKE_EXPORT ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type,
				  int peer, ncclComm_t comm,
				  cudaStream_t stream)
{
	KIND("ncclRecv", .receives = true, .exchange = RECEIVE);
	op o = {&kind, comm, NULL, to, count, type, 0, peer, false};
	return call(&o, stream);
}
