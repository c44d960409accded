/* The heartbeat of a process: a file of its own in a shared folder that tells
 * the other processes of the run who it is, that it lives, and how far it
 * is. */
#ifndef TDL_RUNTIME_COMM_HEARTBEAT_H
#define TDL_RUNTIME_COMM_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "plan/pipeline.h"

enum { HEARTBEAT_RUNS = -1, HEARTBEAT_KEPT = 2 };

typedef struct heartbeat {
	/* a random number that identifies the process, also against one that
	 * used the file before; never 0 */
	uint64_t self;
	uint64_t run;  /* rank 0's number, once this process has joined it */
	bool begun;    /* rank 0: all have joined */
	int64_t beat;  /* increases as long as the process lives */
	int status;    /* its exit status once it has ended */
	char host[64];
	/* Meetings of all processes, in their order: the number of the last one
	 * that this process has reached, and the values that it brought to the
	 * latest meetings that have values. */
	int64_t met;
	struct {
		int64_t at, value;
	} brought[HEARTBEAT_KEPT];
	/* Steps of the program begun; whether it waits for the device to end
	 * one; the last transfer that the device has ended, -1 for none; its
	 * position, comm_place(). */
	int64_t steps;
	bool waits;
	int at;
	int64_t place;
} heartbeat;

/* Writes a heartbeat, and for rank 0 the numbers of n other processes.  Atomic:
 * a reader finds either the previous file or this one.  Returns false with
 * errno set. */
bool heartbeat_write(const char *path, const heartbeat *x, int n,
		     const uint64_t *joined);

/* Reads a heartbeat; false if there is none. n and joined may be 0 and NULL. */
bool heartbeat_read(const char *path, heartbeat *x, int n, uint64_t *joined);

/* Writes to text, of n bytes, how far the process of a worker is in a plan,
 * which may be NULL.  It has begun `steps' steps and, in the last one, ended
 * transfer `at' (-1: none): "in step 3, after instruction 17 (all-gather of
 * 'x')"; with several stages "in step 3 of stage 1, after instruction 17
 * (message of 'y')". */
void place_text(const plan_pipeline *p, int worker, int64_t steps, int at,
		char *text, size_t n);

/* Writes to text the transfer that is being waited for: "instruction 17
 * (all-gather of 'x')"; for -1 "the others at the end of it", that is, of a
 * step. */
void awaited_text(const plan_pipeline *p, int worker, int at, char *text,
		  size_t n);

#endif
