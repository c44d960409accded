/* The programs of one plan, one at a time: made, measured and discarded. */
#ifndef TDL_COMPILER_PORTFOLIO_PROGRAM_MAKER_H
#define TDL_COMPILER_PORTFOLIO_PROGRAM_MAKER_H

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "compiler/portfolio/request.h"

/* One of the programs of a plan, and its figures. */
typedef struct plan_program {
	int64_t room; /* of lower_options, and .. */
	lower_schedule schedule; /* .. likewise */
	double seconds;
	/* A lower bound for all programs of the plan: seconds, bytes moved. */
	double least;
	int64_t least_moved;
	/* Seconds that buckets might save of the first program of the plan that
	 * was made (bucket_might_save()). */
	double saved;
	/* .. seconds, of those by this schedule that keep no more copies; 0
	 * where those that it keeps are some, as `room' allows. */
	double least_kept;
	int64_t moved, held; /* bytes: in a run, and of the arena; -1: without
				places, and its seconds are not known */
	int64_t in_use; /* the peak, without gaps; -1: not computed */
	lower_rooms rooms;
	bool replaced; /* for want of places, by one that keeps fewer copies */
} plan_program;

/* Figures from which on a program is of no use.  They do not depend on the
 * places of its buffers, which take nearly half of the time. */
typedef struct program_bar {
	double least_kept;  /* above this; INFINITY: none */
	int64_t in_use;	    /* this or more; INT64_MAX: none */
} program_bar;

/* Of a program whose figures are set, or 0. */
bool program_is_barred(const plan_program *p, const program_bar *bar);

/* The common part of the programs of a plan is made with the first of them. */
typedef struct program_maker {
	const plan_request *how;
	const assignment *as;
	arena *arena; /* of the rest; NULL: not made yet */
	lowering *lowering;
	instr_times *times;
	double saved; /* of plan_program, .. */
	bool is_counted; /* .. once this is set */
} program_maker;

/* Ends what was made, if anything was. */
void program_maker_free(program_maker *m);

/* Whether two schedules are the same order of the nodes.  False when errors
 * were added, too. */
bool program_same_order(program_maker *m, lower_schedule x, lower_schedule y);

/* Sets *p as program_measure() would, given what it has set with a bar that was
 * no lower.  False if the figures do not follow from those. */
bool program_measured(const plan_program *before, const program_bar *bar,
		      plan_program *p);

/* Takes the figures of a program over that was made of the same plan, as those
 * of its first one. */
void program_counted(program_maker *m, const plan_program *p);

/* Makes a program, measures it and discards it.  *p selects the program, and
 * receives its figures.  One that is barred gets no places.  in_use is found
 * for objective memory.  `see', if not NULL, is called with a program that has
 * places.  False when errors were added. */
bool program_measure(program_maker *m, plan_program *p, const program_bar *bar,
		     void (*see)(void *to, const plan *p), void *to);

#endif
