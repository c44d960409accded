/* The elapsed time of a running program, for progress reports, time limits and
 * measurements. */
#ifndef TDL_BASE_CLOCK_H
#define TDL_BASE_CLOCK_H

/* Seconds since some moment in the past, which stays the same while the machine
 * is up; unaffected by changes of the date (CLOCK_MONOTONIC). */
double clock_seconds(void);

#endif
