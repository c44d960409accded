/* The time model: predicted seconds of a part of a program on a machine.
 *
 * All of these are of the slowest worker.  If there are more than `most'
 * workers, `most' of them are examined, evenly spaced from the first to the
 * last. */
#ifndef TDL_COMPILER_COST_INSTR_TIME_H
#define TDL_COMPILER_COST_INSTR_TIME_H

#include "compiler/cost/topology.h"
#include "plan/plan.h"

/* Of the kernel of a layout, whose variables are divided over m by its cuts
 * `space', and whose result goes to the layout `to'. */
double run_time(const topology *t, const mesh *m, const layout *made,
		const layout *to, int most);

/* Of a transfer, which is the collective c. */
double transfer_time(const topology *t, const layout_transfer *move,
		     collective c, int most);

/* Of n transfers that are executed as one, in one group of workers: one
 * latency, and the bytes of all. */
double transfers_time(const topology *t, const layout_transfer *moves, int n,
		      collective c, int most);

/* Of instructions [begin, end) of a plan, transfers of one kind that are
 * executed as one. */
double phase_time(const plan *p, const topology *t, int begin, int end,
		  int most);

/* Of an instruction of a plan. */
double instr_time(const plan *p, const topology *t, const plan_instr *in,
		  int most);

#endif
