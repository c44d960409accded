#include "config.h"

#include "runtime/comm/mpi_heartbeat.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/comm/heartbeat.h"

/* Seconds between two looks.  A rank that has not looked for so long has been
 * stopped itself, and knows nothing about the others. */
#define LOOK 0.5
#define SLEPT 2.0
/* A thread that does anything uses a larger share of a processor than this. */
#define IDLE 0.005
/* Bytes per second of the slowest network: a transfer may take so much longer
 * than the timeout. */
#define SLOWEST 1e7

enum { MOST_HOST = 64 };

/* The point that a rank has reached. */
typedef struct position {
	int rank;
	int at; /* last transfer that has ended in this step; -1 */
	double done; /* fraction of its stage's program up to there */
	int64_t steps; /* number of steps begun */
	char host[MOST_HOST];
} position;

/* The message of a rank to the next one. */
typedef struct pulse {
	position own;
	int leaves; /* the rank is done; this is its last message */
	/* number of ranks in a row, this one the last, that have waited too
	 * long; at most all */
	int nwaiting;
	position behind; /* of these the one that is furthest behind */
} pulse;

struct mpi_heartbeat {
	MPI_Comm comm;
	int rank, nranks, before, next;
	double timeout;
	pthread_t thread;
	atomic_bool ends;
	/* The state of the program, set by the main thread. */
	atomic_long steps;
	atomic_int at;
	atomic_bool inside;
	atomic_long waits; /* waits begun plus ended: odd while it waits */
	atomic_int waits_for; /* an instruction; -1: all others */
	atomic_llong wait_bytes;
	pthread_mutex_t lock; /* guards these three */
	bool alone; /* another rank has no such thread */
	const plan_pipeline *p;
	const comm_progress *progress;
	/* Used by the heartbeat thread only. */
	pulse sent, heard;
	MPI_Request sending;
	double heard_at, looked_at;
	/* position since which no processor time was used, .. */
	long idle_steps;
	int idle_at;
	/* .. and when it was reached, by both clocks */
	double idle_since, idle_cpu;
	long seen_waits; /* value of waits .. */
	double waits_since; /* .. and when it was reached */
};

/* ---- clocks ------------------------------------------------------------ */

static double clock_of(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Processor seconds of all threads except this one. */
static double used(void)
{
	return clock_of(CLOCK_PROCESS_CPUTIME_ID) -
	       clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- what is said ------------------------------------------------------ */

/* Reports a failure and ends the run.  `why' is followed by the timeout. */
static void give_up(mpi_heartbeat *b, const position *x, const char *why)
{
	char place[300];
	pthread_mutex_lock(&b->lock);
	place_text(b->p, x->rank, x->steps, x->at, place, sizeof(place));
	fprintf(stderr, "tdlrun: rank %d on '%s' %s for %g seconds; it was "
		"%s\n", x->rank, x->host, why, b->timeout, place);
	fflush(stderr);
	_exit(CLI_MACHINE);
}

/* Called by the rank that is furthest behind when all ranks wait. */
static void give_up_waiting(mpi_heartbeat *b)
{
	char place[300], awaited[300];
	const position *x = &b->sent.own;
	pthread_mutex_lock(&b->lock);
	place_text(b->p, x->rank, x->steps, x->at, place, sizeof(place));
	awaited_text(b->p, x->rank, atomic_load(&b->waits_for), awaited,
		     sizeof(awaited));
	fprintf(stderr, "tdlrun: all %d ranks have waited for one another for "
		"%g seconds; rank %d on '%s' is furthest behind: it was %s, "
		"and waits for %s\n", b->nranks, b->timeout, x->rank, x->host,
		place, awaited);
	fflush(stderr);
	_exit(CLI_MACHINE);
}

/* ---- the thread -------------------------------------------------------- */

/* The fraction of the program that is done.  Stages have different programs, so
 * instruction numbers cannot be compared. */
static double done_of(const plan_pipeline *p, const position *x)
{
	int number;
	if (!p || x->rank >= pipeline_first(p, p->nstages))
		return 0;
	int n = p->stages[pipeline_stage_of(p, x->rank, &number)].ninstrs;
	return n > 0 ? (x->at + 1.0) / n : 0;
}

static void look_at_own(mpi_heartbeat *b, position *x)
{
	pthread_mutex_lock(&b->lock);
	const comm_progress *progress = b->progress;
	x->steps = progress ? atomic_load(&progress->steps) :
			      atomic_load(&b->steps);
	x->at = progress ? comm_last(progress) : atomic_load(&b->at);
	x->done = done_of(b->p, x);
	pthread_mutex_unlock(&b->lock);
}

static bool is_sent(mpi_heartbeat *b)
{
	int done;
	MPI_Test(&b->sending, &done, MPI_STATUS_IGNORE);
	return done;
}

/* Whether the main thread has waited longer than what it waits for takes on the
 * slowest network. */
static bool waits_too_long(mpi_heartbeat *b, double now)
{
	long waits = atomic_load(&b->waits);
	if (waits % 2 == 0 || waits != b->seen_waits) {
		b->seen_waits = waits;
		b->waits_since = now;
	}
	return now - b->waits_since >
	       b->timeout + (double)atomic_load(&b->wait_bytes) / SLOWEST;
}

static bool is_behind(const position *x, const position *y)
{
	if (x->steps != y->steps)
		return x->steps < y->steps;
	return x->done != y->done ? x->done < y->done : x->rank < y->rank;
}

/* Adds this rank to the waiting ranks before it, as given by the last message.
 * A rank that goes on ends the row.  So if the row has as many members as there
 * are ranks, all of them wait now. */
static void note_waiting(mpi_heartbeat *b, double now)
{
	const pulse *before = &b->heard;
	pulse *x = &b->sent;
	x->nwaiting = 0;
	if (!waits_too_long(b, now))
		return;
	x->behind = x->own;
	x->nwaiting = 1;
	if (before->nwaiting == 0)
		return;
	if (is_behind(&before->behind, &x->own))
		x->behind = before->behind;
	x->nwaiting += before->nwaiting < b->nranks ? before->nwaiting :
						     b->nranks - 1;
}

/* Sends the message, unless the next rank has not taken the last one yet; then
 * it is sent later. */
static void tell(mpi_heartbeat *b, bool leaves)
{
	if (!is_sent(b))
		return;
	look_at_own(b, &b->sent.own);
	note_waiting(b, clock_of(CLOCK_MONOTONIC));
	if (b->sent.nwaiting == b->nranks && b->sent.behind.rank == b->rank)
		give_up_waiting(b);
	b->sent.leaves = leaves;
	MPI_Isend(&b->sent, (int)sizeof(b->sent), MPI_BYTE, b->next, 0,
		  b->comm, &b->sending);
}

static void hear(mpi_heartbeat *b)
{
	int there;
	MPI_Iprobe(b->before, 0, b->comm, &there, MPI_STATUS_IGNORE);
	for (; there; MPI_Iprobe(b->before, 0, b->comm, &there,
				 MPI_STATUS_IGNORE)) {
		MPI_Recv(&b->heard, (int)sizeof(b->heard), MPI_BYTE, b->before,
			 0, b->comm, MPI_STATUS_IGNORE);
		b->heard_at = clock_of(CLOCK_MONOTONIC);
	}
}

/* Whether the main thread, inside a step, has done nothing for too long. */
static bool stands_still(mpi_heartbeat *b, double now)
{
	double cpu = used();
	long steps = atomic_load(&b->steps);
	int at = atomic_load(&b->at);
	bool works = !atomic_load(&b->inside) ||
		     atomic_load(&b->waits) % 2 == 1 ||
		     cpu - b->idle_cpu > IDLE * (now - b->idle_since) + IDLE;
	if (works || steps != b->idle_steps || at != b->idle_at) {
		b->idle_steps = steps;
		b->idle_at = at;
		b->idle_since = now;
		b->idle_cpu = cpu;
	}
	return now - b->idle_since > b->timeout;
}

static void look(mpi_heartbeat *b)
{
	double now = clock_of(CLOCK_MONOTONIC);
	if (now - b->looked_at > SLEPT)
		b->heard_at = b->idle_since = b->waits_since = now;
	b->looked_at = now;
	hear(b);
	if (!b->heard.leaves && now - b->heard_at > b->timeout)
		give_up(b, &b->heard.own, "has not been heard from");
	if (stands_still(b, now)) {
		look_at_own(b, &b->sent.own);
		give_up(b, &b->sent.own, "has made no progress, neither "
			"computing nor waiting for others,");
	}
}

static void pause_a_little(double seconds)
{
	struct timespec t = { 0, (long)(seconds * 1e9) };
	nanosleep(&t, NULL);
}

/* The thread's loop.  It begins when it is known whether all ranks have such a
 * thread.  It ends when the rank before is done, too, so that no message is on
 * its way. */
static void *keep_beating(void *arg)
{
	mpi_heartbeat *b = arg;
	pthread_mutex_lock(&b->lock);
	bool alone = b->alone;
	pthread_mutex_unlock(&b->lock);
	if (alone)
		return NULL;
	while (!atomic_load(&b->ends)) {
		tell(b, false);
		look(b);
		for (int i = 0; i < 10 && !atomic_load(&b->ends); i++)
			pause_a_little(LOOK / 10);
	}
	while (!is_sent(b) || !b->sent.leaves || !b->heard.leaves) {
		if (!b->sent.leaves)
			tell(b, true);
		look(b);
		pause_a_little(0.001);
	}
	return NULL;
}

/* ---- for the main thread ----------------------------------------------- */

/* Starts the thread with signals blocked; the main thread handles them. */
static bool start(mpi_heartbeat *b)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	bool good = pthread_create(&b->thread, NULL, keep_beating, b) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return good;
}

/* Whether x is true on all ranks. */
static bool all_have(bool x)
{
	int own = x, all;
	MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return all != 0;
}

/* Introduces the rank to its neighbours. */
static void meet(mpi_heartbeat *b, int n, double timeout)
{
	MPI_Comm_dup(MPI_COMM_WORLD, &b->comm);
	MPI_Comm_rank(b->comm, &b->rank);
	b->nranks = n;
	b->before = (b->rank + n - 1) % n;
	b->next = (b->rank + 1) % n;
	b->timeout = timeout;
	b->sending = MPI_REQUEST_NULL;
	atomic_store(&b->at, -1);
	b->sent.own.rank = b->rank;
	b->sent.own.at = -1;
	gethostname(b->sent.own.host, sizeof(b->sent.own.host) - 1);
	MPI_Sendrecv(&b->sent, (int)sizeof(b->sent), MPI_BYTE, b->next, 0,
		     &b->heard, (int)sizeof(b->heard), MPI_BYTE, b->before, 0,
		     b->comm, MPI_STATUS_IGNORE);
	b->heard_at = b->looked_at = b->idle_since = b->waits_since =
		clock_of(CLOCK_MONOTONIC);
	pthread_mutex_init(&b->lock, NULL);
}

/* Starts the threads of all ranks, or of none. */
static bool start_all(mpi_heartbeat *b)
{
	pthread_mutex_lock(&b->lock);
	bool started = start(b), all = all_have(started);
	b->alone = !all;
	pthread_mutex_unlock(&b->lock);
	if (started && !all)
		pthread_join(b->thread, NULL);
	return all;
}

bool mpi_heartbeat_open(double timeout, mpi_heartbeat **to)
{
	int n;
	*to = NULL;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n < 2)
		return true;
	mpi_heartbeat *b = calloc(1, sizeof(*b));
	if (!all_have(b != NULL)) {
		free(b);
		return false;
	}
	meet(b, n, timeout);
	if (start_all(b)) {
		*to = b;
		return true;
	}
	pthread_mutex_destroy(&b->lock);
	MPI_Comm_free(&b->comm);
	free(b);
	return false;
}

void mpi_heartbeat_close(mpi_heartbeat *b)
{
	if (!b)
		return;
	atomic_store(&b->ends, true);
	pthread_join(b->thread, NULL);
	pthread_mutex_destroy(&b->lock);
	MPI_Comm_free(&b->comm);
	free(b);
}

void mpi_heartbeat_watch(mpi_heartbeat *b, const plan_pipeline *p,
			 const comm_progress *x)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->p = p;
	b->progress = x;
	pthread_mutex_unlock(&b->lock);
}

void mpi_heartbeat_step(mpi_heartbeat *b, const plan_pipeline *p)
{
	if (b && p) {
		mpi_heartbeat_watch(b, p, NULL);
		atomic_store(&b->at, -1);
		atomic_fetch_add(&b->steps, 1);
	}
	if (b)
		atomic_store(&b->inside, p != NULL);
}

void mpi_heartbeat_wait(mpi_heartbeat *b, int instr, int64_t nbytes)
{
	if (!b)
		return;
	atomic_store(&b->waits_for, instr);
	atomic_store(&b->wait_bytes, nbytes);
	atomic_fetch_add(&b->waits, 1);
}

void mpi_heartbeat_go_on(mpi_heartbeat *b)
{
	if (!b)
		return;
	int instr = atomic_load(&b->waits_for);
	if (instr > atomic_load(&b->at))
		atomic_store(&b->at, instr);
	atomic_fetch_add(&b->waits, 1);
}
