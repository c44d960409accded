/* The message of a process to the others of its run, a file of its own in a
 * shared folder: its identity, a heartbeat, its progress. */
#ifndef TDL_RUNTIME_COMM_HEARTBEAT_H
#define TDL_RUNTIME_COMM_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "plan/pipeline.h"

enum { HEARTBEAT_RUNS = -1, HEARTBEAT_KEPT = 2 };

typedef struct heartbeat {
	uint64_t self; /* drawn by each process: tells it from one that was
			  here before; never 0 */
	uint64_t run;  /* rank 0's number, once this one has joined it */
	bool begun;    /* rank 0: all have joined */
	int64_t beat;  /* goes up as long as the process lives */
	int status;    /* the exit status of one that has ended */
	char host[64];
	/* Meetings of all processes, in their order: the number that this one
	 * has come to, and the values that it brought to the latest of those
	 * with values. */
	int64_t met;
	struct {
		int64_t at, value;
	} brought[HEARTBEAT_KEPT];
	/* Steps of the program begun; whether it waits for the device to end
	 * one; the last transfer that this has ended, -1 for none; how far that
	 * is, comm_place(). */
	int64_t steps;
	bool waits;
	int at;
	int64_t place;
} heartbeat;

/* Writes a heartbeat, and for rank 0 the numbers that n others have drawn.  A
 * reader finds the former one or this one, complete.  False with errno set. */
bool heartbeat_write(const char *path, const heartbeat *x, int n,
		     const uint64_t *joined);

/* Reads one; false if there is none.  n and joined may be 0 and NULL. */
bool heartbeat_read(const char *path, heartbeat *x, int n, uint64_t *joined);

/* The position in a plan, which may be NULL, of the process of a worker that
 * has begun so many steps, and in the last one ended transfer `at', or -1: "in
 * step 3, after instruction 17 (all-gather of 'x')"; with several stages "in
 * step 3 of stage 1, after instruction 17 (message of 'y')". */
void place_text(const plan_pipeline *p, int worker, int64_t steps, int at,
		char *text, size_t n);

/* A transfer that is waited for: "instruction 17 (all-gather of 'x')"; -1: "the
 * others at the end of it", of a step. */
void awaited_text(const plan_pipeline *p, int worker, int at, char *text,
		  size_t n);

#endif
