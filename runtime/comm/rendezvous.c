#include "config.h"

#include "runtime/comm/rendezvous.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/comm/peer_monitor.h"

enum {
	JOIN_SECONDS = 120,
	LEAVE_SECONDS = 5,
	SAID = 2, /* seconds after which somebody has reported who is gone */
	MOST_RANKS = 4096,
};

/* ---- who this is ------------------------------------------------------- */

static bool number_in(const char *name, int64_t *value)
{
	const char *text = getenv(name);
	char *end;
	if (!text || !*text)
		return false;
	errno = 0;
	*value = strtoll(text, &end, 10);
	return errno == 0 && !*end && *value >= 0;
}

bool rendezvous_rank(int64_t *rank, int64_t *ranks)
{
	static const char *const names[][2] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "PMI_RANK", "PMI_SIZE" },
		{ "RANK", "WORLD_SIZE" },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (number_in(names[i][0], rank) &&
		    number_in(names[i][1], ranks))
			return true;
	return false;
}

static bool find_rank(peer_monitor *b, const comm_options *o, failure *f)
{
	int64_t rank = -1, ranks = -1;
	rendezvous_rank(&rank, &ranks);
	rank = o->rank >= 0 ? o->rank : rank;
	ranks = o->ranks > 0 ? o->ranks : ranks;
	if (rank < 0 || ranks < 1)
		return fail_with(f, CLI_USAGE, "--rendezvous needs to know "
				 "which process this is: --rank and --ranks "
				 "say it where neither mpirun, Slurm nor "
				 "torchrun does");
	if (rank >= ranks || ranks > MOST_RANKS)
		return fail_with(f, CLI_USAGE, "there is no rank %" PRId64
				 " of %" PRId64 "; ranks are counted from 0, "
				 "and are %d at most", rank, ranks,
				 (int)MOST_RANKS);
	b->rank = (int)rank;
	b->nranks = (int)ranks;
	return true;
}

/* ---- joining ----------------------------------------------------------- */

/* Gathers all ranks.  Rank 0 repeats what it finds in the others' heartbeats
 * until each of them has found its own number there and says so. */
static bool gather_all(peer_monitor *b)
{
	bool all = true, changed = false;
	for (int r = 1; r < b->nranks; r++) {
		heartbeat x;
		bool there = peer_monitor_read(b, r, &x);
		if (there && x.self != b->joined[r]) {
			b->joined[r] = x.self;
			changed = true;
		}
		all = all && there && x.run == b->own.self;
	}
	b->own.begun = all;
	if (all || changed)
		peer_monitor_write(b);
	return all;
}

/* Looks for this rank's number in rank 0's heartbeat. */
static bool follow(peer_monitor *b)
{
	heartbeat first;
	uint64_t *joined = b->joined;
	if (!heartbeat_read(b->first, &first, b->nranks, joined) ||
	    joined[b->rank] != b->own.self)
		return false;
	if (b->own.run != first.self) {
		b->own.run = first.self;
		peer_monitor_write(b);
	}
	joined[0] = first.self;
	return first.begun;
}

static bool fail_to_join(const peer_monitor *b, failure *f)
{
	char missing[200] = "";
	size_t at = 0;
	for (int r = 0; r < b->nranks && at < sizeof(missing) - 20; r++) {
		heartbeat x;
		bool there = r == b->rank ||
			     (peer_monitor_read(b, r, &x) && b->own.run &&
			      x.run == b->own.run);
		if (!there)
			at += (size_t)snprintf(missing + at,
					       sizeof(missing) - at, "%s%d",
					       at ? ", " : "", r);
	}
	return fail_with(f, CLI_MACHINE, "rank %d of %d has waited %d seconds "
			 "at '%s' for rank %s", b->rank, b->nranks,
			 (int)JOIN_SECONDS, b->prefix, missing);
}

static bool join(peer_monitor *b, failure *f)
{
	double until = clock_seconds() + JOIN_SECONDS;
	if (!peer_monitor_write(b))
		return fail_with(f, CLI_MACHINE, "%s: %s", b->path,
				 strerror(errno));
	for (int i = 0; clock_seconds() < until; i++) {
		if (b->rank == 0 ? gather_all(b) : follow(b))
			return true;
		peer_monitor_rest(i);
	}
	return fail_to_join(b, f);
}

/* Sets the prefix of files: a folder made where its parent exists, or the
 * beginning of a file's path. */
static void find_prefix(peer_monitor *b, const char *path)
{
	struct stat s;
	size_t n = strlen(path);
	if (n > 0 && path[n - 1] == '/')
		mkdir(path, 0777);
	bool is_folder = stat(path, &s) == 0 && S_ISDIR(s.st_mode);
	b->prefix = arena_printf(b->a, "%s%s", path,
				 is_folder ? "/tdlrun." : ".");
	b->path = arena_printf(b->a, "%s%d", b->prefix, b->rank);
	b->first = arena_printf(b->a, "%s0", b->prefix);
}

static bool draw(uint64_t *x)
{
	return getrandom(x, sizeof(*x), 0) == sizeof(*x) && *x != 0;
}

static bool open_board(peer_monitor *b, const comm_options *o, failure *f)
{
	if (!find_rank(b, o, f))
		return false;
	find_prefix(b, o->rendezvous);
	b->joined = ARENA_ARRAY(b->a, uint64_t, b->nranks);
	if (!draw(&b->own.self))
		return fail_with(f, CLI_MACHINE, "no random number: %s",
				 strerror(errno));
	b->own.run = b->rank == 0 ? b->own.self : 0;
	b->joined[b->rank] = b->own.self;
	if (!join(b, f))
		return false;
	if (b->rank == 0)
		peer_monitor_clear_old(b);
	return peer_monitor_watch(b) ||
	       fail_with(f, CLI_MACHINE, "cannot start a thread");
}

static bool start_rendezvous(const comm_options *o, void **run, int *rank,
			     failure *f)
{
	arena *a = arena_new();
	peer_monitor *b = ARENA_NEW(a, peer_monitor);
	*b = (peer_monitor){ .a = a, .timeout = o->timeout > 0 ? o->timeout
							  : COMM_TIMEOUT };
	b->own = (heartbeat){ .status = HEARTBEAT_RUNS, .at = -1 };
	gethostname(b->own.host, sizeof(b->own.host) - 1);
	pthread_mutex_init(&b->lock, NULL);
	if (!open_board(b, o, f)) {
		pthread_mutex_destroy(&b->lock);
		arena_free(a);
		return false;
	}
	*rank = b->rank;
	*run = b;
	return true;
}

/* ---- leaving ----------------------------------------------------------- */

/* A finished process waits a little for others that may still read its
 * values. */
static void end_rendezvous(void *run, cli_status status)
{
	peer_monitor *b = run;
	double until = clock_seconds() + LEAVE_SECONDS;
	peer_monitor_end(b, status);
	bool failed = status != CLI_OK && status != CLI_DIFFERENCE;
	for (int r = 0; !failed && r < b->nranks; r++) {
		heartbeat x;
		for (int i = 0; clock_seconds() < until &&
				peer_monitor_read(b, r, &x) &&
				x.self == b->joined[r] &&
				x.status == HEARTBEAT_RUNS; i++)
			peer_monitor_rest(i);
	}
	peer_monitor_clear(b, !failed);
	if (failed && b->nranks > 1)
		_exit(status);
	pthread_mutex_destroy(&b->lock);
	arena_free(b->a);
}

/* ---- a plan ------------------------------------------------------------ */

static void *open_rendezvous(void *run, const plan_pipeline *p, failure *f)
{
	peer_monitor *b = run;
	int workers = pipeline_first(p, p->nstages);
	if (workers != b->nranks) {
		fail_with(f, CLI_MACHINE, "the plan has %d worker%s, and there "
			  "%s %d process%s: start as many", workers,
			  workers == 1 ? "" : "s", b->nranks == 1 ? "is" :
			  "are", b->nranks, b->nranks == 1 ? "" : "es");
		return NULL;
	}
	pthread_mutex_lock(&b->lock);
	b->p = p;
	pthread_mutex_unlock(&b->lock);
	return b;
}

static void close_rendezvous(void *state)
{
	peer_monitor *b = state;
	pthread_mutex_lock(&b->lock);
	b->p = NULL;
	b->progress = NULL;
	pthread_mutex_unlock(&b->lock);
}

static double watch_rendezvous(void *state, const comm_progress *x)
{
	peer_monitor *b = state;
	pthread_mutex_lock(&b->lock);
	b->progress = x;
	pthread_mutex_unlock(&b->lock);
	return b->timeout + SAID;
}

/* The number of ranks below `end' on this machine. */
static int count_here(const peer_monitor *b, int end)
{
	int n = 0;
	for (int r = 0; r < end; r++)
		n += !strcmp(b->peers[r].host, b->own.host);
	return n;
}

static void here_rendezvous(void *state, int *first, int *n, int *neighbours)
{
	const peer_monitor *b = state;
	*first = b->rank;
	*n = 1;
	*neighbours = count_here(b, b->nranks);
}

static int neighbour_rendezvous(void *state)
{
	const peer_monitor *b = state;
	return count_here(b, b->rank);
}

/* ---- meetings ---------------------------------------------------------- */

/* Waits until a rank has come to a meeting.  If it never does, the watching
 * thread ends the process. */
static heartbeat wait_for(peer_monitor *b, int rank, int64_t meeting)
{
	heartbeat x;
	for (int i = 0; !peer_monitor_read(b, rank, &x) ||
			x.self != b->joined[rank] || x.met < meeting; i++)
		peer_monitor_rest(i);
	return x;
}

/* The value that a rank has brought to a meeting.  The rank keeps it until the
 * meeting after the next.  No process reaches that before it has read the
 * value. */
static int64_t brought_to(const heartbeat *x, int64_t meeting)
{
	for (int i = 0; i < HEARTBEAT_KEPT; i++)
		if (x->brought[i].at == meeting)
			return x->brought[i].value;
	return 0;
}

/* Comes to the next meeting with x.  Returns its number. */
static int64_t come(peer_monitor *b, int64_t x)
{
	pthread_mutex_lock(&b->lock);
	int64_t meeting = ++b->own.met;
	for (int i = HEARTBEAT_KEPT - 1; i > 0; i--)
		b->own.brought[i] = b->own.brought[i - 1];
	b->own.brought[0].at = meeting;
	b->own.brought[0].value = x;
	pthread_mutex_unlock(&b->lock);
	peer_monitor_write(b);
	return meeting;
}

/* The value that a rank has brought to a meeting, to which this rank brings
 * x. */
static int64_t ask(peer_monitor *b, int rank, int64_t meeting, int64_t x)
{
	if (rank == b->rank)
		return x;
	heartbeat other = wait_for(b, rank, meeting);
	return brought_to(&other, meeting);
}

static uint64_t *gather_rendezvous(void *run, arena *a, uint64_t x, int *n)
{
	peer_monitor *b = run;
	int64_t meeting = come(b, (int64_t)x);
	uint64_t *all = ARENA_ARRAY(a, uint64_t, b->nranks);
	for (int r = 0; r < b->nranks; r++)
		all[r] = (uint64_t)ask(b, r, meeting, (int64_t)x);
	*n = b->nranks;
	return all;
}

typedef int64_t merge_fn(int64_t x, int64_t y);

static int64_t meet(peer_monitor *b, int64_t x, merge_fn *merge)
{
	int64_t meeting = come(b, x), result = 0;
	for (int r = 0; r < b->nranks; r++) {
		int64_t y = ask(b, r, meeting, x);
		result = r == 0 ? y : merge(result, y);
	}
	return result;
}

static int64_t add(int64_t x, int64_t y)
{
	return x + y;
}

static int64_t greater(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static int64_t sum_rendezvous(void *state, int64_t x)
{
	return meet(state, x, add);
}

static int64_t greatest_rendezvous(void *state, int64_t x)
{
	return meet(state, x, greater);
}

static bool wait_rendezvous(void *state, int worker)
{
	(void)worker;
	meet(state, 0, greater);
	return true;
}

static void give(peer_monitor *b, int64_t meeting, const void *data, size_t n)
{
	arena *work = arena_new();
	char *path = peer_monitor_shared(b, work, meeting);
	char *next = arena_printf(work, "%s.next", path);
	/* Files that all have read are removed. */
	if (b->nshared == PEER_MONITOR_SHARED) {
		for (int r = 0; r < b->nranks; r++)
			if (r != b->rank)
				wait_for(b, r, b->shared[0]);
		unlink(peer_monitor_shared(b, work, b->shared[0]));
		memmove(b->shared, b->shared + 1,
			(PEER_MONITOR_SHARED - 1) * sizeof(*b->shared));
		b->nshared--;
	}
	FILE *to = fopen(next, "w");
	bool good = to && fwrite(data, 1, n, to) == n;
	good = to && fclose(to) == 0 && good;
	if (!good || rename(next, path) != 0)
		peer_monitor_die(b, CLI_MACHINE, "%s: %s", next,
				 strerror(errno));
	b->shared[b->nshared++] = meeting;
	arena_free(work);
}

/* A file may become visible a little later than the heartbeat that announces
 * it. */
static void take(peer_monitor *b, int rank, int64_t meeting, void *data,
		 size_t n)
{
	arena *work = arena_new();
	char *path = peer_monitor_shared(b, work, meeting);
	FILE *from = NULL;
	wait_for(b, rank, meeting);
	for (int i = 0; !from && i < 1000; i++) {
		from = fopen(path, "r");
		if (!from)
			peer_monitor_rest(i);
	}
	if (!from || fread(data, 1, n, from) != n)
		peer_monitor_die(b, CLI_MACHINE, "%s: cannot be read", path);
	fclose(from);
	arena_free(work);
}

static void share_rendezvous(void *state, int worker, void *data, int64_t n)
{
	peer_monitor *b = state;
	int64_t meeting = b->own.met + 1;
	if (b->nranks == 1)
		return;
	if (worker == b->rank)
		give(b, meeting, data, (size_t)n);
	else
		take(b, worker, meeting, data, (size_t)n);
	pthread_mutex_lock(&b->lock);
	b->own.met = meeting;
	pthread_mutex_unlock(&b->lock);
	peer_monitor_write(b);
}

const communicator comm_rendezvous = {
	.name = "rendezvous",
	.start = start_rendezvous,
	.end = end_rendezvous,
	.gather = gather_rendezvous,
	.open = open_rendezvous,
	.here = here_rendezvous,
	.neighbour = neighbour_rendezvous,
	.barrier = wait_rendezvous,
	.share = share_rendezvous,
	.sum = sum_rendezvous,
	.greatest = greatest_rendezvous,
	.watch = watch_rendezvous,
	.close = close_rendezvous,
};
