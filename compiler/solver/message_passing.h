/* Reduces a problem by removing values that no better assignment has.
 *
 * Message passing (TRW-S; Kolmogorov, IEEE PAMI 28, 2006, in integers) raises a
 * lower bound and finds good assignments.  A value is removed when every
 * assignment with it costs at least as much as the best one found.
 * docs/solver.md proves that an optimum remains, or has been found. */
#ifndef TDL_COMPILER_SOLVER_MESSAGE_PASSING_H
#define TDL_COMPILER_SOLVER_MESSAGE_PASSING_H

#include <stdbool.h>

#include "base/clock.h"
#include "compiler/solver/problem.h"

typedef struct reduction {
	int *best;	   /* the best assignment found */
	int64_t best_cost; /* its cost, at most the problem's top */
	int64_t bound;	   /* no assignment costs less; at most best_cost */
	/* The remaining values of each variable, ascending.  Assignments
	 * cheaper than best have only these.  If bound < best_cost, each
	 * variable has at least one. */
	int *nvalues, **values;
	/* If bound < best_cost, the rest as a problem of its own.  Every
	 * assignment cheaper than best_cost has the same cost in it.  Costs
	 * have been moved from tables to values as far as that raised the
	 * bound; they count in units of 1 / 2^shift. */
	problem *rest; /* also NULL if next to nothing was gained */
	int shift;
} reduction;

/* Reduces p; the result is in a.  Passes continue while they make progress,
 * with `glance' only while they make much progress; there are at least two.
 * They end at `end'. */
reduction message_passing(arena *a, const problem *p, deadline end,
			  bool glance);

/* The outlook for finding a cost below the top, after a glance. */
typedef enum glance_outlook {
	GLANCE_OPEN,
	GLANCE_HOPELESS, /* more passes will hardly remove any value */
	GLANCE_NOTHING,	 /* no assignment costs less than the top */
} glance_outlook;

glance_outlook message_glance(const problem *p, deadline end);

#endif
