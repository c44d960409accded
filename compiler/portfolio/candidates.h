/* The candidates of auto: a plan of each planner and of many prices of memory,
 * and the best of them within a memory limit. */
#ifndef TDL_COMPILER_PORTFOLIO_CANDIDATES_H
#define TDL_COMPILER_PORTFOLIO_CANDIDATES_H

#include "compiler/portfolio/programs.h"

/* A plan, and the best of its programs so far. */
typedef struct plan_candidate {
	const search_result *search; /* without an error */
	plan_programs programs;	     /* those made so far */
	plan_program program;	     /* chosen by plan_best() */
} plan_candidate;

typedef VEC(plan_candidate) plan_candidates;

/* Whether two plans of a graph, on one mesh, are the same. */
bool plan_is_same(const graph *g, const assignment *x, const assignment *y);

/* Adds the plan of a search without an error, and its variant in which nothing
 * stays partial. */
void plan_add_found(arena *a, const search_result *s, plan_candidates *all);

/* Adds the plan of one planner if it finds one, and of a variant of it if that
 * is new.  Returns false after adding errors. */
bool plan_add(const plan_request *how, const char *algorithm,
	      plan_candidates *all);

/* Plans with every planner that needs no external program and, if `sweep' is
 * set, with those that take prices for many prices of memory (price_sweep.h).
 * Adds the plans to *all, which may already have candidates of the same graph
 * and machine; their planners do not run again.  Returns false after adding
 * errors. */
bool plan_gather(const plan_request *how, bool sweep, plan_candidates *all);

/* Finds the candidate whose program is the best by the objective among those
 * within the limit.  Of equally good ones it takes the one with less time,
 * fewer bytes moved or less memory; of these the first.  If none is within the
 * limit, it takes the one with the least memory. *best is NULL if there are no
 * candidates.  Returns false after adding errors. */
bool plan_best(const plan_request *how, plan_candidates *all,
	       plan_candidate **best);

/* The request of auto without a limit: copies may use all memory of the
 * machine. */
plan_request plan_roomy(const plan_request *how);

#endif
