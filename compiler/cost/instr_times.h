/* The seconds of a plan's instructions on a machine, found once for those that
 * do the same: in the programs of one assignment, or of several whose buffers
 * have their classes in common.  An instruction takes as long as its slowest
 * worker, of at most 64 that instr_time() looks at. */
#ifndef TDL_COMPILER_COST_INSTR_TIMES_H
#define TDL_COMPILER_COST_INSTR_TIMES_H

#include "compiler/cost/topology.h"
#include "plan/classes.h"

typedef struct instr_times instr_times;

/* In a; the nodes of plans that are asked about have to stay as long.  f: the
 * classes of their buffers. */
instr_times *instr_times_new(arena *a, layout_classes *f, const topology *t);

/* The same for devices that compute so many times as fast as the machine's. */
instr_times *instr_times_at(arena *a, layout_classes *f, const topology *t,
			    double speed);

const topology *instr_times_machine(const instr_times *x);

/* Of one instruction, which is no member of a bucket; 0 of a message. */
double instr_times_one(instr_times *x, const plan *p, const plan_instr *in);

/* Of instructions [begin, end), up to plan_phase_end(), together. */
double instr_times_phase(instr_times *x, const plan *p, int begin, int end);

/* The bytes that a worker brings over each level of the machine in transfers
 * [begin, end), up to plan_phase_end(); at each level those of the worker with
 * most. */
void instr_times_bytes(instr_times *x, const plan *p, int begin, int end,
		       double *bytes);

/* Of each, ninstrs; of a phase the first has the seconds of all. */
void instr_times_each(instr_times *x, const plan *p, double *seconds);

/* The seconds of a transfer that are latency: what it takes beyond the time of
 * its bytes. */
double instr_times_latency(instr_times *x, const plan *p,
			   const plan_instr *in);

/* The bytes that all workers receive; of no message. */
int64_t instr_times_received(instr_times *x, const plan *p,
			     const plan_instr *in);

#endif
