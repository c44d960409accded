/* When the instructions of a program run on a machine. */
#ifndef TDL_COMPILER_LOWER_TIMELINE_H
#define TDL_COMPILER_LOWER_TIMELINE_H

#include "plan/plan.h"

/* The end of a run of the program, from its beginning, where instruction i
 * takes seconds[i].  A worker has two streams: one computes, which also copies
 * within the worker's memory, one communicates; each goes through its
 * instructions in the order of the program.  An instruction begins when its
 * stream is free, what it reads is written, and nobody any more reads or writes
 * what lies where it writes. */
double timeline_end(const plan *p, const double *seconds);

#endif
