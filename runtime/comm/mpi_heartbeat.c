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

/* Seconds between two looks.  A rank that has not looked for so many has been
 * stopped itself, and knows nothing of the others. */
#define LOOK 0.5
#define SLEPT 2.0
/* A thread that does anything needs more of a processor than this. */
#define IDLE 0.005

enum { MOST_HOST = 64 };

/* The message of a rank to the next one. */
typedef struct pulse {
	int64_t steps; /* begun */
	int at;	       /* the last transfer that has ended in this one, -1 */
	int leaves;    /* it is done: this is its last one */
	char host[MOST_HOST];
} pulse;

struct mpi_heartbeat {
	MPI_Comm comm;
	int rank, before, next;
	double timeout;
	pthread_t thread;
	atomic_bool ends;
	/* Of the program, as the main thread sees it. */
	atomic_long steps;
	atomic_int at;
	atomic_bool inside, waits;
	pthread_mutex_t lock; /* of these three */
	bool alone; /* another rank has no thread */
	const plan *p;
	const comm_progress *progress;
	/* The thread's own. */
	pulse sent, heard;
	MPI_Request sending;
	double heard_at, looked_at;
	long idle_steps; /* the position at which it has used no processor .. */
	int idle_at;
	double idle_since, idle_cpu; /* .. since, by the two clocks */
};

/* ---- clocks ------------------------------------------------------------ */

static double clock_of(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Processor seconds of all threads but this one. */
static double used(void)
{
	return clock_of(CLOCK_PROCESS_CPUTIME_ID) -
	       clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- what is said ------------------------------------------------------ */

static void give_up(mpi_heartbeat *b, int rank, const pulse *x, const char *why)
{
	char place[300];
	pthread_mutex_lock(&b->lock);
	place_text(b->p, x->steps, x->at, place, sizeof(place));
	fprintf(stderr, "tdlrun: rank %d on '%s' %s for %g seconds; it was "
		"%s\n", rank, x->host, why, b->timeout, place);
	fflush(stderr);
	_exit(CLI_MACHINE);
}

/* ---- the thread -------------------------------------------------------- */

static void look_at_own(mpi_heartbeat *b, pulse *x)
{
	pthread_mutex_lock(&b->lock);
	const comm_progress *progress = b->progress;
	x->steps = progress ? atomic_load(&progress->steps) :
			      atomic_load(&b->steps);
	x->at = progress ? *progress->at : atomic_load(&b->at);
	pthread_mutex_unlock(&b->lock);
}

static bool is_sent(mpi_heartbeat *b)
{
	int done;
	MPI_Test(&b->sending, &done, MPI_STATUS_IGNORE);
	return done;
}

/* A message that the next rank has not taken yet is sent later. */
static void tell(mpi_heartbeat *b, bool leaves)
{
	if (!is_sent(b))
		return;
	look_at_own(b, &b->sent);
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
	bool works = !atomic_load(&b->inside) || atomic_load(&b->waits) ||
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
		b->heard_at = b->idle_since = now;
	b->looked_at = now;
	hear(b);
	if (!b->heard.leaves && now - b->heard_at > b->timeout)
		give_up(b, b->before, &b->heard, "has not been heard of");
	if (stands_still(b, now)) {
		look_at_own(b, &b->sent);
		give_up(b, b->rank, &b->sent, "stands still, neither "
			"computing nor waiting for others,");
	}
}

static void pause_a_little(double seconds)
{
	struct timespec t = { 0, (long)(seconds * 1e9) };
	nanosleep(&t, NULL);
}

/* Ends when the rank before is done, too, so that nothing is on its way. Begins
 * when it is known whether all ranks have such a thread. */
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

/* Signals are the main thread's matter. */
static bool start(mpi_heartbeat *b)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	bool good = pthread_create(&b->thread, NULL, keep_beating, b) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return good;
}

/* Whether all ranks say so. */
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
	b->before = (b->rank + n - 1) % n;
	b->next = (b->rank + 1) % n;
	b->timeout = timeout;
	b->sending = MPI_REQUEST_NULL;
	atomic_store(&b->at, -1);
	b->sent.at = b->heard.at = -1;
	gethostname(b->sent.host, sizeof(b->sent.host) - 1);
	MPI_Sendrecv(&b->sent, (int)sizeof(b->sent), MPI_BYTE, b->next, 0,
		     &b->heard, (int)sizeof(b->heard), MPI_BYTE, b->before, 0,
		     b->comm, MPI_STATUS_IGNORE);
	b->heard_at = b->looked_at = b->idle_since =
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

void mpi_heartbeat_watch(mpi_heartbeat *b, const plan *p,
			 const comm_progress *x)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->p = p;
	b->progress = x;
	pthread_mutex_unlock(&b->lock);
}

void mpi_heartbeat_step(mpi_heartbeat *b, const plan *p)
{
	if (b && p) {
		mpi_heartbeat_watch(b, p, NULL);
		atomic_store(&b->at, -1);
		atomic_fetch_add(&b->steps, 1);
	}
	if (b)
		atomic_store(&b->inside, p != NULL);
}

void mpi_heartbeat_pass(mpi_heartbeat *b, int instr)
{
	if (b)
		atomic_store(&b->at, instr);
}

void mpi_heartbeat_wait(mpi_heartbeat *b, bool waits)
{
	if (b)
		atomic_store(&b->waits, waits);
}
