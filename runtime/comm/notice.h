/* What a process tells the others of its run, in a file of its own on a folder
 * that all reach: who it is, that it lives, how far it has come. */
#ifndef TDL_RUNTIME_COMM_NOTICE_H
#define TDL_RUNTIME_COMM_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "plan/plan.h"

enum { NOTICE_RUNS = -1, NOTICE_KEPT = 2 };

typedef struct notice {
	uint64_t self; /* drawn by each process: tells it from one that was
			  here before; never 0 */
	uint64_t run;  /* what rank 0 has drawn, once this one has joined it */
	bool begun;    /* rank 0: all have joined */
	int64_t beat;  /* goes up as long as the process lives */
	int status;    /* the exit status of one that has ended */
	char host[64];
	/* Meetings of all, in their order: how many it has come to; and what
	 * it has brought to the latest of those that it brought something to.
	 */
	int64_t met;
	struct {
		int64_t at, value;
	} brought[NOTICE_KEPT];
	/* Steps of the program begun; whether it waits for the device to end
	 * one; the last transfer that this has ended, -1 for none. */
	int64_t steps;
	bool waits;
	int at;
} notice;

/* Writes a notice, and of rank 0 what n others have drawn.  A reader finds the
 * one before or this one, whole.  False with errno set. */
bool notice_write(const char *path, const notice *x, int n,
		  const uint64_t *joined);

/* Reads one; false where there is none.  n and joined may be 0 and NULL. */
bool notice_read(const char *path, notice *x, int n, uint64_t *joined);

/* Where in a plan, which may be NULL, a process is that has begun so many
 * steps, and in the last one ended transfer `at`, or -1: "in step 3, after
 * instruction 17 (all-gather of 'x')". */
void place_text(const plan *p, int64_t steps, int at, char *text, size_t n);

#endif
