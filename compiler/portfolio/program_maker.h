/* The programs of one plan, one at a time: each is made, measured and
 * discarded. */
#ifndef TDL_COMPILER_PORTFOLIO_PROGRAM_MAKER_H
#define TDL_COMPILER_PORTFOLIO_PROGRAM_MAKER_H

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "compiler/portfolio/request.h"

/* One of the programs of a plan, and its figures. */
typedef struct plan_program {
	int64_t room; /* as in lower_options, .. */
	lower_schedule schedule; /* .. likewise */
	double seconds;
	/* Lower bounds of seconds and of bytes moved for all programs of the
	 * plan. */
	double least;
	int64_t least_moved;
	/* Seconds that buckets might save (bucket_might_save()), computed for
	 * the plan's first program. */
	double saved;
	/* A lower bound of seconds for programs with this schedule that keep no
	 * more copies; 0 if this program keeps only some copies, as `room'
	 * allows. */
	double least_kept;
	/* bytes: moved in a run, held by the arena; held -1: no places were
	 * assigned, and seconds are not known */
	int64_t moved, held;
	int64_t in_use; /* the peak without gaps; -1: not computed */
	lower_rooms rooms;
	/* by a program with fewer copies, because its buffers could not be
	 * placed */
	bool replaced;
} plan_program;

/* Figures that make a program useless.  They do not depend on the places of its
 * buffers, whose assignment takes nearly half of the time. */
typedef struct program_bar {
	double least_kept;  /* above this: useless; INFINITY: none */
	int64_t in_use;	    /* this or more: useless; INT64_MAX: none */
} program_bar;

/* Whether a program, with figures set or 0, is useless by the bar. */
bool program_is_barred(const plan_program *p, const program_bar *bar);

/* Makes the programs of a plan.  What they have in common is made with the
 * first. */
typedef struct program_maker {
	const plan_request *how;
	const assignment *as;
	arena *arena; /* for the rest; NULL: not made yet */
	lowering *lowering;
	instr_times *times;
	double saved; /* as in plan_program, .. */
	bool is_counted; /* .. valid once this is set */
} program_maker;

/* Frees what was made, if anything was. */
void program_maker_free(program_maker *m);

/* Whether two schedules give the same order of nodes.  Also false after adding
 * errors. */
bool program_same_order(program_maker *m, lower_schedule x, lower_schedule y);

/* Sets *p as program_measure() would, from what it has set earlier with a bar
 * that was no lower.  Returns false if the figures do not follow from those. */
bool program_measured(const plan_program *before, const program_bar *bar,
		      plan_program *p);

/* Takes over the figures of a program of the same plan, as those of its first
 * one. */
void program_counted(program_maker *m, const plan_program *p);

/* Makes a program, measures it and discards it. *p selects the program, and
 * receives its figures.  A barred program gets no places. in_use is computed
 * for objective memory.  Calls `see', if not NULL, with a program that has
 * places.  Returns false after adding errors. */
bool program_measure(program_maker *m, plan_program *p, const program_bar *bar,
		     void (*see)(void *to, const plan *p), void *to);

#endif
