/* The heartbeats of all processes of a run, as files, and the thread that
 * monitors them.  Private to rendezvous.c. */
#ifndef TDL_RUNTIME_COMM_PEER_MONITOR_H
#define TDL_RUNTIME_COMM_PEER_MONITOR_H

#include <pthread.h>

#include "runtime/comm/heartbeat.h"
#include "runtime/exec/communicator.h"

enum { BOARD_SHARED = 4 }; /* files that others may not have read yet */

/* The other ranks as the thread sees them. */
typedef struct peer {
	int64_t beat;
	double heard; /* the time when that was new */
	int status;
	char host[64];
} peer;

typedef struct board {
	arena *a;
	const char *prefix; /* of all files' paths */
	const char *path, *first; /* of the own notice, of rank 0's */
	int rank, nranks;
	double patience; /* seconds */
	uint64_t *joined; /* the numbers that the ranks have drawn */
	peer *peers;
	pthread_t thread;
	bool watches;
	int64_t shared[BOARD_SHARED]; /* meetings, the oldest first */
	int nshared;
	pthread_mutex_t lock; /* of what follows */
	notice own;
	const plan *p; /* NULL for none */
	const comm_progress *progress;
	bool ends;
} board;

/* The file of data shared at a meeting; in a. */
char *board_shared(const board *b, arena *a, int64_t meeting);

/* Writes the own notice; false with errno set. */
bool board_write(board *b);

/* Reads that of another, or the own. */
bool board_read(const board *b, int rank, notice *x);


/* Waits a moment, longer the more often nothing was found. */
void board_rest(int nth);

/* Starts the thread. */
bool board_watch(board *b);

/* Ends the thread, and tells the others the exit status of this process. */
void board_end(board *b, cli_status status);

/* Removes the files that this process has shared, or all its files; files of a
 * former run. */
void board_clear(board *b, bool all);
void board_clear_old(const board *b);

/* Prints the reason and ends the process, and so the others. */
void board_die(board *b, cli_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));

#endif
