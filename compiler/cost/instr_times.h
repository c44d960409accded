/* The seconds of a plan's instructions on a machine, computed once for all
 * instructions that do the same: in the programs of one assignment, or of
 * several whose buffers have common classes.  An instruction takes as long as
 * its slowest worker; instr_time() looks at no more than 64. */
#ifndef TDL_COMPILER_COST_INSTR_TIMES_H
#define TDL_COMPILER_COST_INSTR_TIMES_H

#include "compiler/cost/topology.h"
#include "plan/classes.h"

typedef struct instr_times instr_times;

/* In a. f has the classes of the plans' buffers.  The nodes of plans that are
 * asked about must outlive the result. */
instr_times *instr_times_new(arena *a, layout_classes *f, const topology *t);

/* The same for devices that compute `speed' times as fast as the machine's. */
instr_times *instr_times_at(arena *a, layout_classes *f, const topology *t,
			    double speed);

const topology *instr_times_machine(const instr_times *x);

/* Seconds of one instruction that is not in a bucket; 0 for a message. */
double instr_times_one(instr_times *x, const plan *p, const plan_instr *in);

/* Seconds of instructions [begin, end), up to plan_phase_end(), executed
 * together. */
double instr_times_phase(instr_times *x, const plan *p, int begin, int end);

/* The bytes over each level of the machine in transfers [begin, end), up to
 * plan_phase_end(); for each level on the worker with most. */
void instr_times_bytes(instr_times *x, const plan *p, int begin, int end,
		       double *bytes);

/* The seconds of each of the ninstrs instructions; the first of a phase has the
 * seconds of the whole phase. */
void instr_times_each(instr_times *x, const plan *p, double *seconds);

/* The latency of a transfer: its seconds beyond those for its bytes. */
double instr_times_latency(instr_times *x, const plan *p,
			   const plan_instr *in);

/* The bytes that all workers receive by an instruction; 0 for a message. */
int64_t instr_times_received(instr_times *x, const plan *p,
			     const plan_instr *in);

#endif
