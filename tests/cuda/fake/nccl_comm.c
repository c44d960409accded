/* Communicators of the fake NCCL: how ranks meet, split and leave. */
#include <errno.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "nccl_comm.h"

static ncclComm_t comms, closed;

ncclComm_t first_comm(void)
{
	return comms;
}

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

/* Closing may synchronise the device: with kernels of communicators that were
 * not aborted, too. */
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
	drop_registrations(comm);
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
	const int left = drop_registrations(comm);
	const ncclResult_t result = close_comm(comm);
	return left == 0 ? result
			 : wrong(ncclInvalidUsage,
				 "a communicator is destroyed that has %d "
				 "registered buffers", left);
}

/* Enqueued work ends, with whatever it has; a communicator that a group aborts
 * is closed at its end, when all of it has been told. */
FAKE_EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	if (!comm || !comm->peer_monitor)
		return ncclInvalidArgument;
	comm->aborted = true;
	while (comm->inside)
		usleep(100);
	if (group_is_open()) {
		comm->leaves = true;
		return ncclSuccess;
	}
	return close_comm(comm);
}

void close_left(void)
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
