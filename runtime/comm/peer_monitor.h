/* The heartbeats of all processes of a run, as files, and the thread that
 * monitors them.  Private to rendezvous.c. */
#ifndef TDL_RUNTIME_COMM_PEER_MONITOR_H
#define TDL_RUNTIME_COMM_PEER_MONITOR_H

#include <pthread.h>

#include "runtime/comm/heartbeat.h"
#include "runtime/exec/communicator.h"

enum { PEER_MONITOR_SHARED = 4 }; /* shared files that others may not have read
				   * yet */

/* Another rank as the monitoring thread sees it. */
typedef struct peer {
	int64_t beat;
	double heard; /* when beat last changed */
	int status;
	char host[64];
} peer;

typedef struct peer_monitor {
	arena *a;
	const char *prefix; /* common to all files' paths */
	const char *path, *first; /* of this process's heartbeat, of rank 0's */
	int rank, nranks;
	double timeout; /* seconds */
	uint64_t *joined; /* the ranks' random numbers */
	peer *peers;
	pthread_t thread;
	bool watches;
	/* meetings with shared files, the oldest first */
	int64_t shared[PEER_MONITOR_SHARED];
	int nshared;
	pthread_mutex_t lock; /* protects the members below */
	heartbeat own;
	const plan_pipeline *p; /* NULL for none */
	const comm_progress *progress;
	bool ends;
} peer_monitor;

/* The path of the file with the data shared at a meeting; in a. */
char *peer_monitor_shared(const peer_monitor *b, arena *a, int64_t meeting);

/* Writes this process's heartbeat; false with errno set. */
bool peer_monitor_write(peer_monitor *b);

/* Reads the heartbeat of a rank; false if there is none. */
bool peer_monitor_read(const peer_monitor *b, int rank, heartbeat *x);


/* Sleeps for a moment, longer with each call that found nothing (nth). */
void peer_monitor_rest(int nth);

/* Starts the thread. */
bool peer_monitor_watch(peer_monitor *b);

/* Ends the thread, and tells the others this process's exit status. */
void peer_monitor_end(peer_monitor *b, cli_status status);

/* Removes the files that this process has shared, or all its files; removes
 * files of an earlier run. */
void peer_monitor_clear(peer_monitor *b, bool all);
void peer_monitor_clear_old(const peer_monitor *b);

/* Prints the reason and ends the process, and thereby the others. */
void peer_monitor_die(peer_monitor *b, cli_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));

#endif
