/* The programs of one plan, and the best of them.
 *
 * A plan leaves open which fetched copies its program keeps, and the order of
 * its nodes.  Its programs are those that keep a tenth more than they need,
 * nothing more, all copies, and some in between, by each of some schedules.
 * They follow from the plan and the machine alone, not from the limit of
 * memory: programs within a limit are also within a larger one, so that the
 * best is never worse with more memory.  The bounds of lower_times tell of
 * which plans and schedules no program needs to be made. */
#ifndef TDL_COMPILER_PORTFOLIO_PROGRAMS_H
#define TDL_COMPILER_PORTFOLIO_PROGRAMS_H

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
	/* .. seconds, of those by this schedule that keep no more copies. */
	double least_kept;
	int64_t moved, held; /* bytes: in a run, and of the arena */
	int64_t in_use; /* the peak, without gaps; -1: not computed */
	lower_rooms rooms;
} plan_program;

typedef VEC(plan_program) plan_programs;

/* Whether all ladders for time and bytes have this program: it keeps a tenth
 * more. */
bool program_is_usual(const plan_program *p);

/* Whether a program needs no more than a limit, 0 for none. */
bool program_fits(const plan_program *p, int64_t limit);

/* Less than, equal to or greater than 0: by the objective, then by time, memory
 * and bytes moved.  Times that differ by rounding are equal. */
int program_compare(const plan_program *x, const plan_program *y,
		    plan_objective by);

/* Makes a program of a plan, measures it and discards it.  *p selects the
 * program, and receives its figures.  `see', if not NULL, is called with it.
 * False when errors were added. */
bool program_try(const plan_request *how, const assignment *as,
		 plan_program *p, void (*see)(void *to, const plan *p),
		 void *to);

/* The best of a plan's programs by how->objective, within how->memory; the one
 * that needs the least memory if none is within it.  Without how->room there is
 * one, which keeps a tenth more.  Where `beat` is not NULL, *best is right only
 * if it is better than that.  Programs in *known, which may be NULL, are not
 * made again; new ones are added.  False when errors were added. */
bool program_best(const plan_request *how, const assignment *as,
		  plan_programs *known, const plan_program *beat,
		  plan_program *best);

#endif
