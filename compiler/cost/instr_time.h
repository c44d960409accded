/* The time model: predicted seconds of a part of a program on a machine.
 *
 * All times are those of the slowest worker.  If there are more than `most'
 * workers, only `most' of them are examined, evenly spaced from first to last.
 * *source, unless it is NULL, receives the source of that worker's time. */
#ifndef TDL_COMPILER_COST_INSTR_TIME_H
#define TDL_COMPILER_COST_INSTR_TIME_H

#include "compiler/cost/topology.h"
#include "plan/plan.h"

/* Seconds of the kernel of layout `made', whose variables are divided over m by
 * its cuts `space', and whose result goes to layout `to'. */
double run_time(const topology *t, const mesh *m, const layout *made,
		const layout *to, int most, time_source *source);

/* Seconds of a transfer that is the collective c. */
double transfer_time(const topology *t, const layout_transfer *move,
		     collective c, int most, time_source *source);

/* A worker's part of a transfer: bytes of the result that it writes, and bytes
 * that others send it, by the outermost level between. */
typedef struct transfer_work {
	double written, received[MAX_AXES];
	uint32_t axes; /* on which a sender differs from it, a bit each */
} transfer_work;

/* The parts of the examined workers, in order; in a. */
transfer_work *transfer_work_of(arena *a, const topology *t,
				const layout_transfer *move, int most);

/* Seconds of n transfers on m that are executed as one in one group of workers:
 * one latency, and the bytes of all. works[i] is transfer_work_of() of transfer
 * i. */
double transfers_time(const topology *t, const mesh *m,
		      const transfer_work *const *works, int n, collective c,
		      int most);

/* The bytes over each level of the machine in these transfers, on the worker
 * with most. */
void transfers_bytes(const topology *t, const mesh *m,
		     const transfer_work *const *works, int n, collective c,
		     int most, double *bytes);

/* Seconds of instructions [begin, end) of a plan: transfers of one kind that
 * are executed as one. */
double phase_time(const plan *p, const topology *t, int begin, int end,
		  int most, time_source *source);

/* Seconds of an instruction of a plan. */
double instr_time(const plan *p, const topology *t, const plan_instr *in,
		  int most, time_source *source);

/* Adds `times' the seconds of all instructions of a plan, those of a loop's
 * body once for each turn, to seconds[], by source. */
void instr_time_sources(const plan *p, const topology *t, double times,
			double seconds[TIME_SOURCES]);

#endif
