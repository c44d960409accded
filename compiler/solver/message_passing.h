/* Reduction of a problem: removal of values that no better assignment has.
 * Message passing (TRW-S; Kolmogorov, IEEE PAMI 28, 2006, in integers) raises a
 * lower bound and finds good assignments; a value is removed when every
 * assignment with it costs at least as much as the best one found.
 * docs/solver.md proves that an optimum is left, or found. */
#ifndef TDL_COMPILER_SOLVER_MESSAGE_PASSING_H
#define TDL_COMPILER_SOLVER_MESSAGE_PASSING_H

#include <stdbool.h>

#include "base/clock.h"
#include "compiler/solver/problem.h"

typedef struct reduction {
	int *best;	   /* the best assignment found */
	int64_t best_cost; /* its cost, at most the problem's top */
	int64_t bound;	   /* no assignment costs less, best_cost at most */
	/* The values that are left, ascending, of each variable.  Assignments
	 * cheaper than best have only these; where bound < best_cost, each
	 * variable has one. */
	int *nvalues, **values;
	/* The rest as a problem of its own, where bound < best_cost.  Every
	 * assignment below best_cost has the same cost in it; costs have been
	 * moved from tables to values as far as that raised the bound, and
	 * count in units of 1 / 2^shift. */
	problem *rest; /* NULL also if next to nothing was gained */
	int shift;
} reduction;

/* Reduces p; the result is in a.  Passes go on while they make progress, with
 * `glance' only while they make much progress, but at least two, and end at
 * `end'. */
reduction message_passing(arena *a, const problem *p, deadline end,
			  bool glance);

/* The outlook of a problem with a cost to beat, after a glance. */
typedef enum glance_outlook {
	GLANCE_OPEN,
	GLANCE_HOPELESS, /* more passes will hardly remove a value */
	GLANCE_NOTHING,	 /* no assignment costs less than the top */
} glance_outlook;

glance_outlook message_glance(const problem *p, deadline end);

#endif
