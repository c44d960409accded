/* The time model: predicted seconds of a part of a program on a machine.
 *
 * All of these are of the slowest worker.  If there are more than `most'
 * workers, `most' of them are examined, evenly spaced from the first to the
 * last.  *source, unless it is NULL, is where that worker's time is from. */
#ifndef TDL_COMPILER_COST_INSTR_TIME_H
#define TDL_COMPILER_COST_INSTR_TIME_H

#include "compiler/cost/topology.h"
#include "plan/plan.h"

/* Of the kernel of a layout, whose variables are divided over m by its cuts
 * `space', and whose result goes to the layout `to'. */
double run_time(const topology *t, const mesh *m, const layout *made,
		const layout *to, int most, time_source *source);

/* Of a transfer, which is the collective c. */
double transfer_time(const topology *t, const layout_transfer *move,
		     collective c, int most, time_source *source);

/* The part of a worker in a transfer: bytes of the result that it writes, and
 * those that others send it, by the outermost level between. */
typedef struct transfer_work {
	double written, received[MAX_AXES];
	uint32_t axes; /* on which a sender differs from it, a bit each */
} transfer_work;

/* Of each worker that is examined, in their order; in a. */
transfer_work *transfer_work_of(arena *a, const topology *t,
				const layout_transfer *move, int most);

/* Of n transfers on m that are executed as one, in one group of workers: one
 * latency, and the bytes of all; from what transfer_work_of() gives of each. */
double transfers_time(const topology *t, const mesh *m,
		      const transfer_work *const *works, int n, collective c,
		      int most);

/* The bytes that a worker brings over each level in them, by level: of the
 * worker with most. */
void transfers_bytes(const topology *t, const mesh *m,
		     const transfer_work *const *works, int n, collective c,
		     int most, double *bytes);

/* Of instructions [begin, end) of a plan, transfers of one kind that are
 * executed as one. */
double phase_time(const plan *p, const topology *t, int begin, int end,
		  int most, time_source *source);

/* Of an instruction of a plan. */
double instr_time(const plan *p, const topology *t, const plan_instr *in,
		  int most, time_source *source);

/* Adds the seconds of all instructions of a plan, those of a loop's body once
 * for each turn, to the sources that they are from, `times' each. */
void instr_time_sources(const plan *p, const topology *t, double times,
			double seconds[TIME_SOURCES]);

#endif
