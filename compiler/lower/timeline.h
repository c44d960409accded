/* Simulation of a program on a machine: the instants at which its instructions
 * run.  Used by cost.h for machines that communicate while they compute. */
#ifndef TDL_COMPILER_LOWER_TIMELINE_H
#define TDL_COMPILER_LOWER_TIMELINE_H

#include "plan/plan.h"

/* The ends of the instructions of a run of the program, counted from its
 * beginning, where instruction i takes seconds[i]; a bucket is one instruction,
 * within which its members end one after the other.  A worker has two streams:
 * one computes, which also copies within the worker's memory, one communicates;
 * each goes through its instructions in the order of the program.  An
 * instruction begins when its stream is free, its operands are written, and no
 * earlier instruction still reads or writes the memory that it writes. */
void timeline_run(const plan *p, const double *seconds, double *end);

/* The last of them. */
double timeline_end(const plan *p, const double *seconds);

/* The same if no instruction waited for memory, but for its operands alone. */
double timeline_least(const plan *p, const double *seconds);

#endif
