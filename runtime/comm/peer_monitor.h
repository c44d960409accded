/* The heartbeats of all processes of a run, as files, and the thread that
 * monitors them.  Private to rendezvous.c. */
#ifndef TDL_RUNTIME_COMM_PEER_MONITOR_H
#define TDL_RUNTIME_COMM_PEER_MONITOR_H

#include <pthread.h>

#include "runtime/comm/heartbeat.h"
#include "runtime/exec/communicator.h"

enum { PEER_MONITOR_SHARED = 4 }; /* files that others may not have read yet */

/* The other ranks as the thread sees them. */
typedef struct peer {
	int64_t beat;
	double heard; /* the time when that was new */
	int status;
	char host[64];
} peer;

typedef struct peer_monitor {
	arena *a;
	const char *prefix; /* of all files' paths */
	const char *path, *first; /* of the own heartbeat, of rank 0's */
	int rank, nranks;
	double timeout; /* seconds */
	uint64_t *joined; /* the numbers that the ranks have drawn */
	peer *peers;
	pthread_t thread;
	bool watches;
	int64_t shared[PEER_MONITOR_SHARED]; /* meetings, the oldest first */
	int nshared;
	pthread_mutex_t lock; /* of what follows */
	heartbeat own;
	const plan_pipeline *p; /* NULL for none */
	const comm_progress *progress;
	bool ends;
} peer_monitor;

/* The file of data shared at a meeting; in a. */
char *peer_monitor_shared(const peer_monitor *b, arena *a, int64_t meeting);

/* Writes the own heartbeat; false with errno set. */
bool peer_monitor_write(peer_monitor *b);

/* Reads that of another, or the own. */
bool peer_monitor_read(const peer_monitor *b, int rank, heartbeat *x);


/* Waits a moment, longer the more often nothing was found. */
void peer_monitor_rest(int nth);

/* Starts the thread. */
bool peer_monitor_watch(peer_monitor *b);

/* Ends the thread, and tells the others the exit status of this process. */
void peer_monitor_end(peer_monitor *b, cli_status status);

/* Removes the files that this process has shared, or all its files; files of a
 * former run. */
void peer_monitor_clear(peer_monitor *b, bool all);
void peer_monitor_clear_old(const peer_monitor *b);

/* Prints the reason and ends the process, and so the others. */
void peer_monitor_die(peer_monitor *b, cli_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));

#endif
