/* The programs of one plan, and the best of them.
 *
 * A plan leaves two things of its program open: the order of its nodes, and
 * which of the copies that a worker fetched it keeps for later readers.  So a
 * plan has one program for each schedule and each memory for copies (`room')
 * that is tried: none, a tenth more than is needed without copies, enough for
 * all copies, and some values in between.  These values follow from the plan
 * and the machine alone, not from the limit of memory: programs within a limit
 * are also within a larger one, so that the best is never worse with more
 * memory.  The bounds of lower_times tell of which plans and schedules no
 * program needs to be made. */
#ifndef TDL_COMPILER_PORTFOLIO_PROGRAMS_H
#define TDL_COMPILER_PORTFOLIO_PROGRAMS_H

#include "compiler/portfolio/program_maker.h"

typedef VEC(plan_program) plan_programs;

/* Whether this is the program that every search for time or bytes tries: a
 * tenth more memory than is needed, and the order of the graph. */
bool program_is_usual(const plan_program *p);

/* Whether a program needs no more than a limit, 0 for none. */
bool program_fits(const plan_program *p, int64_t limit);

/* Less than, equal to or greater than 0: by the objective, then by time, memory
 * and bytes moved.  Times that differ by rounding are equal. */
int program_compare(const plan_program *x, const plan_program *y,
		    plan_objective by);

/* The best of a plan's programs by how->objective, within how->memory; the one
 * that needs the least memory if none is within it.  Without how->room there is
 * one, which keeps a tenth more.  Where `beat` is not NULL, *best is right only
 * if it is better than that.  Programs in *known, which may be NULL, are not
 * made again; new ones are added.  False when errors were added. */
bool program_best(const plan_request *how, const assignment *as,
		  plan_programs *known, const plan_program *beat,
		  plan_program *best);

/* The same, given what was added to *known by a call that began with the same
 * programs and had to beat nothing, or one that is not better than `beat': what
 * it made is not made again.  The result is that of program_best(). */
bool program_best_again(const plan_request *how, const assignment *as,
			plan_programs *known, const plan_programs *before,
			const plan_program *beat, plan_program *best);

#endif
