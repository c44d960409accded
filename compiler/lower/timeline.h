/* Simulates a program on a machine: the instants at which its instructions run.
 * Used by cost.h for machines that communicate while they compute. */
#ifndef TDL_COMPILER_LOWER_TIMELINE_H
#define TDL_COMPILER_LOWER_TIMELINE_H

#include "plan/plan.h"

/* The end of each instruction of a run of the program, from its beginning, if
 * instruction i takes seconds[i].  A bucket counts as one instruction, within
 * which its members end one after the other.  A worker has two streams: one
 * computes, and copies within the worker's memory; the other communicates.
 * Each runs its instructions in the order of the program.  An instruction
 * begins when its stream is free, its operands are written, and no earlier
 * instruction still reads or writes the memory that it writes. */
void timeline_run(const plan *p, const double *seconds, double *end);

/* The end of the last instruction of a program that leaves out `more' turns of
 * its loop before the last one (plan_unroll()).  It is known if the two turns
 * before the gap begin in the same state of streams and memory, up to a shift
 * in time; then all turns do.  Returns -1 otherwise, and never if nothing is
 * left out. */
double timeline_end(const plan *p, const double *seconds, int more);

/* The same if instructions waited only for their operands, not for memory. */
double timeline_least(const plan *p, const double *seconds, int more);

#endif
