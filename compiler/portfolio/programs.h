/* The programs of one plan, and the best of them.
 *
 * A plan leaves two choices to its program: the order of its nodes, and which
 * fetched copies a worker keeps for later readers.  A plan therefore has one
 * program for each schedule and each amount of memory for copies (`room')
 * tried: none, a tenth more than is needed without copies, enough for all
 * copies, and some values in between.  These values depend only on the plan and
 * the machine, not on the memory limit.  Programs within a limit are also
 * within a larger one, so that more memory never gives a worse result.  The
 * bounds in lower_times tell for which plans and schedules no program needs to
 * be made. */
#ifndef TDL_COMPILER_PORTFOLIO_PROGRAMS_H
#define TDL_COMPILER_PORTFOLIO_PROGRAMS_H

#include "compiler/portfolio/program_maker.h"

typedef VEC(plan_program) plan_programs;

/* Whether this is the program that every search for time or bytes tries: a
 * tenth more memory than needed, in the order of the graph. */
bool program_is_usual(const plan_program *p);

/* Whether a program is within a limit; 0: no limit. */
bool program_fits(const plan_program *p, int64_t limit);

/* Less than, equal to or greater than 0: compares by the objective, then by
 * time, memory and bytes moved.  Times that differ by rounding are equal. */
int program_compare(const plan_program *x, const plan_program *y,
		    plan_objective by);

/* Finds the best of a plan's programs by how->objective within how->memory; the
 * one with the least memory if none is within it.  Without how->room there is
 * one program, which keeps a tenth more.  If `beat' is not NULL, *best is
 * correct only if it is better than that.  Programs in *known, which may be
 * NULL, are not made again; new ones are appended.  Returns false after adding
 * errors. */
bool program_best(const plan_request *how, const assignment *as,
		  plan_programs *known, const plan_program *beat,
		  plan_program *best);

/* The same; `before' has the programs that an earlier call appended to *known.
 * That call began with the same programs and had to beat nothing, or something
 * no better than `beat'.  What it made is not made again.  The result is that
 * of program_best(). */
bool program_best_again(const plan_request *how, const assignment *as,
			plan_programs *known, const plan_programs *before,
			const plan_program *beat, plan_program *best);

#endif
