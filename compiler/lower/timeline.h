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

/* The last of them, of a program that leaves out `more' turns of its loop
 * before the last one (plan_unroll()).  It is known if the two turns before
 * that begin in the same state of streams and memory but for a number of
 * seconds; then all do.  Else, and never where nothing is left out, -1. */
double timeline_end(const plan *p, const double *seconds, int more);

/* The same if no instruction waited for memory, but for its operands alone. */
double timeline_least(const plan *p, const double *seconds, int more);

#endif
