/* Instructions of plans as machines are measured by them: what decides the time
 * that each takes. */
#ifndef TDL_RUNTIME_EXEC_CALIBRATED_H
#define TDL_RUNTIME_EXEC_CALIBRATED_H

#include "kernel/kernel_class.h"
#include "plan/plan.h"

/* An instruction that was measured: its seconds, and how far the median of all
 * measurements is above the least, relative to that. */
typedef struct calibrated {
	bool moves;
	/* A kernel. */
	kernel_form form;
	kernel_load load;
	kernel_work work;
	bool cold; /* it reads what is no result of the step */
	/* A transfer: of the worker with the most. */
	collective collective;
	double received, written; /* bytes */
	double seconds, spread;
} calibrated;

/* An instruction of a plan without loop on a worker, not measured yet: a
 * transfer or a kernel that is run. */
calibrated calibrated_of(const plan *p, const plan_instr *in, int worker);

/* The bytes that a worker receives from others in a transfer. */
double calibrated_received(const plan *p, const plan_instr *in, int worker);

#endif
