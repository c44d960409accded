/* The elapsed time of a running program, for progress reports, time limits and
 * measurements. */
#ifndef TDL_BASE_CLOCK_H
#define TDL_BASE_CLOCK_H

#include <stdbool.h>

/* Seconds since some moment in the past, which stays the same while the machine
 * is up; unaffected by changes of the date (CLOCK_MONOTONIC). */
double clock_seconds(void);

/* Seconds of processor time of the calling thread. */
double clock_thread_seconds(void);

/* The moment at which a search has to end with what it has; all zero: never. */
typedef struct deadline {
	double at; /* clock_seconds() */
} deadline;

/* The moment that is so many seconds from now; never for 0 or less. */
deadline deadline_in(double seconds);

/* Whether it is over.  A caller who asked to stop has it end at once
 * (memory_poll()), which is why searches without a deadline ask, too. */
bool deadline_is_over(deadline d);

#endif
