/* Instructions of plans as they are measured: the properties that decide how
 * long each takes. */
#ifndef TDL_RUNTIME_EXEC_CALIBRATED_H
#define TDL_RUNTIME_EXEC_CALIBRATED_H

#include "kernel/kernel_class.h"
#include "plan/plan.h"

/* A measured instruction: its seconds, and (median - least) / least of all
 * measurements. */
typedef struct calibrated {
	bool moves;
	/* A kernel. */
	kernel_form form;
	kernel_load load;
	kernel_work work;
	bool cold; /* it reads something other than results of the step */
	/* A transfer, as on the worker with the most. */
	collective collective;
	double received, written; /* bytes */
	double seconds, spread;
} calibrated;

/* Describes an instruction of a plan without loop on a worker, a transfer or a
 * kernel's run, before it is measured. */
calibrated calibrated_of(const plan *p, const plan_instr *in, int worker);

/* The bytes that a worker receives from others in a transfer. */
double calibrated_received(const plan *p, const plan_instr *in, int worker);

#endif
