/* The memory that the ranks of a fake communicator share: that of the host,
 * with a ring of bytes from each to each. */
#ifndef TDL_TESTS_CUDA_FAKE_RING_H
#define TDL_TESTS_CUDA_FAKE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FAKE_HIDDEN __attribute__((visibility("hidden")))

enum {
	RING_BYTES = 64 << 10,
	MAX_RANKS = 64,
};

typedef struct ring {
	_Atomic uint64_t written, taken;
	unsigned char bytes[RING_BYTES];
} ring;

/* The state of a rank that the others read. */
typedef struct seat {
	_Atomic int arrived; /* how many meetings it has come to */
	pid_t pid;
	char host[64];
	int device;
	int color, key;
	/* Ranks to which it sends, or from which it receives, and has called
	 * that once. */
	_Atomic char sends[MAX_RANKS], receives[MAX_RANKS];
} seat;

typedef struct peer_monitor {
	_Atomic int nranks; /* 0: nobody has come yet */
	unsigned order;	    /* of sums, drawn by rank 0 */
	seat seats[MAX_RANKS];
	ring rings[]; /* [from * nranks + to] */
} peer_monitor;

/* Opens the board of a name, made by whoever comes first; NULL where another
 * has another number of ranks, or the system has no memory. */
FAKE_HIDDEN peer_monitor *board_open(const char *name, int nranks);
/* Once all are there, one of them takes the name away. */
FAKE_HIDDEN void board_forget(const char *name);
FAKE_HIDDEN void board_close(peer_monitor *b);

/* Waits until all have come to meeting n; the rank of one that has died, or
 * -1. */
FAKE_HIDDEN int board_meet(peer_monitor *b, int rank, int n);

/* A rank whose process is not there any more; -1: none. */
FAKE_HIDDEN int board_dead(const peer_monitor *b);

/* Bytes that could be put in, or taken out, now. */
FAKE_HIDDEN size_t ring_put(ring *r, const void *from, size_t n);
FAKE_HIDDEN size_t ring_take(ring *r, void *to, size_t n);
FAKE_HIDDEN bool ring_is_empty(const ring *r);

#endif
