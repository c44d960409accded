/* The elapsed time of a running program, for progress reports, time limits and
 * measurements. */
#ifndef TDL_BASE_CLOCK_H
#define TDL_BASE_CLOCK_H

#include <stdbool.h>

/* Seconds since a fixed moment in the past, valid while the machine is up.
 * Changes of the date do not affect it (CLOCK_MONOTONIC). */
double clock_seconds(void);

/* Seconds of processor time of the calling thread. */
double clock_thread_seconds(void);

/* The moment at which a search must stop and return its best result; all zero
 * means never. */
typedef struct deadline {
	double at; /* clock_seconds() */
} deadline;

/* The moment `seconds' from now; never if seconds <= 0. */
deadline deadline_in(double seconds);

/* Whether the deadline has passed.  Searches without a deadline call this too:
 * it also polls for the caller's request to stop (memory_poll()), which ends
 * the call at once. */
bool deadline_is_over(deadline d);

#endif
