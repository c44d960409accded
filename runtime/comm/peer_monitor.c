#include "config.h"

#include "runtime/comm/peer_monitor.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* Seconds between two looks at the others.  Also the time that the lowest
 * living rank has to report what happened before another rank does. */
#define LOOK 0.5
#define GRACE 1.0

/* The first steps load modules and libraries, connect devices and capture what
 * is replayed.  So many steps may take so many times as long. */
enum { STARTING = 2, START_FACTOR = 5 };

/* ---- files ------------------------------------------------------------- */

char *peer_monitor_shared(const peer_monitor *b, arena *a, int64_t meeting)
{
	return arena_printf(a, "%sdata-%" PRIx64 "-%" PRId64, b->prefix,
			    b->joined[0], meeting);
}

static heartbeat own_heartbeat(peer_monitor *b)
{
	pthread_mutex_lock(&b->lock);
	heartbeat own = b->own;
	pthread_mutex_unlock(&b->lock);
	return own;
}

bool peer_monitor_write(peer_monitor *b)
{
	pthread_mutex_lock(&b->lock);
	bool good = heartbeat_write(b->path, &b->own,
				    b->rank == 0 ? b->nranks : 0, b->joined);
	pthread_mutex_unlock(&b->lock);
	return good;
}

bool peer_monitor_read(const peer_monitor *b, int rank, heartbeat *x)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s%d", b->prefix, rank);
	return heartbeat_read(path, x, 0, NULL);
}

void peer_monitor_clear_old(const peer_monitor *b)
{
	arena *work = arena_new();
	glob_t found;
	const char *own = arena_printf(work, "%sdata-%" PRIx64 "-", b->prefix,
				       b->own.self);
	if (glob(arena_printf(work, "%sdata-*", b->prefix), 0, NULL, &found)) {
		arena_free(work);
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (strncmp(found.gl_pathv[i], own, strlen(own)) != 0)
			unlink(found.gl_pathv[i]);
	globfree(&found);
	arena_free(work);
}

/* ---- time -------------------------------------------------------------- */

static void pause_for(double seconds)
{
	struct timespec t = { (time_t)seconds,
			      (long)((seconds - (double)(time_t)seconds) *
				     1e9) };
	nanosleep(&t, NULL);
}

void peer_monitor_rest(int nth)
{
	pause_for(nth < 20 ? 0.0002 : nth < 200 ? 0.001 : 0.01);
}

/* ---- what is said ------------------------------------------------------ */

void peer_monitor_die(peer_monitor *b, cli_status status, const char *fmt, ...)
{
	va_list ap;
	fputs("tdlrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(stderr);
	pthread_mutex_lock(&b->lock);
	b->own.status = status;
	heartbeat_write(b->path, &b->own, b->rank == 0 ? b->nranks : 0,
			b->joined);
	_exit(status);
}

/* ---- looking after the others ------------------------------------------ */

static bool has_failed(int status)
{
	return status != HEARTBEAT_RUNS && status != CLI_OK &&
	       status != CLI_DIFFERENCE;
}

static bool is_lost(const peer_monitor *b, int rank, double now)
{
	const peer *x = &b->peers[rank];
	return rank != b->rank && x->status == HEARTBEAT_RUNS &&
	       now - x->heard > b->timeout;
}

/* Whether this rank reports.  The lowest living rank does so at once, the
 * others a moment later. */
static bool speaks(peer_monitor *b, int about)
{
	int lowest = 0;
	while (lowest == about || is_lost(b, lowest, clock_seconds()))
		lowest++;
	if (lowest >= b->rank)
		return true;
	for (double until = clock_seconds() + GRACE; clock_seconds() < until;) {
		heartbeat x;
		pause_for(LOOK / 10);
		if (peer_monitor_read(b, lowest, &x) && has_failed(x.status))
			return false;
	}
	return true;
}

static void give_up(peer_monitor *b, int rank, const heartbeat *x,
		    const char *why, double seconds)
{
	char place[300];
	if (!speaks(b, rank))
		_exit(CLI_MACHINE);
	pthread_mutex_lock(&b->lock);
	place_text(b->p, rank, x->steps, x->at, place, sizeof(place));
	pthread_mutex_unlock(&b->lock);
	peer_monitor_die(b, CLI_MACHINE,
			 "rank %d on '%s' %s for %g seconds; it was "
			 "%s",
			 rank, b->peers[rank].host, why, seconds, place);
}

static void look_at(peer_monitor *b, int rank, heartbeat *x)
{
	peer *q = &b->peers[rank];
	double now = clock_seconds();
	if (!peer_monitor_read(b, rank, x))
		return;
	if (x->self != b->joined[rank])
		peer_monitor_die(b, CLI_MACHINE,
				 "another run uses '%s' too: each "
				 "needs a --rendezvous of its own",
				 b->prefix);
	if (x->beat != q->beat)
		q->heard = now;
	q->beat = x->beat;
	q->status = x->status;
	/* It has reported the reason itself. */
	if (has_failed(x->status))
		_exit(x->status);
}

static bool is_behind(const heartbeat *x, const heartbeat *y)
{
	return x->steps != y->steps ? x->steps < y->steps
				    : x->place < y->place;
}

/* Since when this process has waited for its device, which waits for others. */
typedef struct stall {
	int64_t steps, place;
	double since;
} stall;

static double patience_in(const peer_monitor *b, int64_t step)
{
	return b->timeout * (step <= STARTING ? START_FACTOR : 1);
}

/* Whether the stall is too long.  If `behind' is still in an earlier step and
 * lives, the device may wait as long as it takes: that process may read, write,
 * or wait for its device, which it monitors itself. */
static bool stalls(peer_monitor *b, stall *s, const heartbeat *behind)
{
	double now = clock_seconds();
	heartbeat own = own_heartbeat(b);
	if (!own.waits || own.steps != s->steps || own.place != s->place ||
	    behind->steps < own.steps)
		*s = (stall){ own.steps, own.place, now };
	return now - s->since > patience_in(b, own.steps);
}

static void look(peer_monitor *b, stall *s)
{
	heartbeat last = own_heartbeat(b), x;
	int behind = b->rank;
	for (int r = 0; r < b->nranks; r++) {
		if (r == b->rank || b->peers[r].status == CLI_OK ||
		    b->peers[r].status == CLI_DIFFERENCE)
			continue;
		x = (heartbeat){ .at = -1 };
		look_at(b, r, &x);
		if (is_lost(b, r, clock_seconds()))
			give_up(b, r, &x, "has not been heard from",
				b->timeout);
		if (x.self && is_behind(&x, &last)) {
			last = x;
			behind = r;
		}
	}
	if (stalls(b, s, &last))
		give_up(b, behind, &last, "has made no progress",
			patience_in(b, last.steps));
}

static void note_progress(peer_monitor *b)
{
	pthread_mutex_lock(&b->lock);
	const comm_progress *x = b->progress;
	b->own.beat++;
	if (x) {
		b->own.steps = atomic_load(&x->steps);
		b->own.waits = atomic_load(&x->waits);
		b->own.at = comm_last(x);
		b->own.place = comm_place(x);
	}
	pthread_mutex_unlock(&b->lock);
}

static bool has_ended(peer_monitor *b)
{
	pthread_mutex_lock(&b->lock);
	bool ends = b->ends;
	pthread_mutex_unlock(&b->lock);
	return ends;
}

static void *watch(void *arg)
{
	peer_monitor *b = arg;
	stall s = { 0 };
	while (!has_ended(b)) {
		note_progress(b);
		peer_monitor_write(b);
		look(b, &s);
		pause_for(LOOK);
	}
	return NULL;
}

/* Signals are left to the other thread. */
bool peer_monitor_watch(peer_monitor *b)
{
	sigset_t all, before;
	b->peers = ARENA_ARRAY(b->a, peer, b->nranks);
	for (int r = 0; r < b->nranks; r++) {
		heartbeat x = own_heartbeat(b);
		if (r != b->rank)
			peer_monitor_read(b, r, &x);
		b->peers[r] = (peer){ .beat = x.beat, .heard = clock_seconds(),
				      .status = HEARTBEAT_RUNS };
		memcpy(b->peers[r].host, x.host, sizeof(x.host));
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	b->watches = pthread_create(&b->thread, NULL, watch, b) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return b->watches;
}

void peer_monitor_end(peer_monitor *b, cli_status status)
{
	pthread_mutex_lock(&b->lock);
	b->ends = true;
	b->own.status = status;
	pthread_mutex_unlock(&b->lock);
	if (b->watches)
		pthread_join(b->thread, NULL);
	peer_monitor_write(b);
}

void peer_monitor_clear(peer_monitor *b, bool all)
{
	arena *work = arena_new();
	for (int i = 0; i < b->nshared; i++)
		unlink(peer_monitor_shared(b, work, b->shared[i]));
	if (all)
		unlink(b->path);
	arena_free(work);
}
