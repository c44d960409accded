/* The best plan of a small graph, by the time or memory of its program:
 * best-first search over assignments, used by the portfolio `auto'.
 *
 * Plans are lowered one by one, the most promising first.  Two kinds of lower
 * bounds order them: sums over choices that no program is faster than, and sums
 * that no program needs less memory than (program_bounds.h).  The latter serve
 * as a limit and, weighted, are added to the former (a Lagrangian relaxation).
 * The search ends when no bound is below the best plan found, which is then
 * optimal. */
#ifndef TDL_COMPILER_PLANNERS_BEST_FIRST_H
#define TDL_COMPILER_PLANNERS_BEST_FIRST_H

#include "compiler/cost/merges.h"
#include "compiler/planners/search.h"

/* Time and memory of the program of a plan. */
typedef struct best_first_value {
	double seconds;
	int64_t bytes; /* of the arena */
} best_first_value;

typedef struct best_first_request {
	const graph *graph;
	mesh mesh;
	const struct topology *topology;
	const partial_assignment *pins; /* NULL: none */
	const merge *merges; /* that lower() may do; NULL: none */
	int64_t limit;	     /* of bytes; 0: none */
	bool memory;	     /* minimise bytes, not seconds */
	/* limit of plans lowered; 0: about 2,048.  Other work is limited in
	 * proportion */
	int most_plans;
	double seconds;	     /* approximate time limit; 0: none */
	/* A known plan and its value. */
	const assignment *start;
	best_first_value known;
	/* Lowers a plan; false ends the search. */
	bool (*lower)(void *to, const assignment *as, best_first_value *v);
	void *to;
} best_first_request;

typedef struct best_first_result {
	bool tried;   /* the graph was small enough */
	bool proven;  /* no plan is better than the best one lowered */
	double bound; /* lower bound of all plans, seconds or bytes */
	int nplans;   /* number of plans lowered */
} best_first_result;

/* Whether a graph has few enough operators.  Whether they have few enough
 * choices, only best_first_search() can tell. */
bool bounded_may_try(const graph *g);

/* Returns false if lower() returned false. */
bool best_first_search(const best_first_request *q, best_first_result *r);

#endif
