/* The best plan of a small graph, by the time or memory of its program:
 * best-first search over assignments, which the portfolio `auto` calls.
 *
 * Plans are lowered one by one, the most promising first by two kinds of lower
 * bounds: sums over choices that no program is faster than, and sums that no
 * program needs less memory than (program_bounds.h).  The latter serve as a
 * limit and, weighted, are added to the former (a Lagrangian relaxation).  The
 * search ends when no bound is below the best plan found, which is optimal
 * then. */
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
	const merge *merges; /* that lower() may make; NULL: none */
	int64_t limit;	     /* of bytes; 0: none */
	bool memory;	     /* least bytes are wanted, not least seconds */
	int most_plans;	     /* limit of plans lowered; 0: some 2,048.  Other
				work is reduced in proportion */
	double seconds;	     /* time limit of the search, approximate; 0:
				none */
	/* A plan known beforehand, and its value. */
	const assignment *start;
	best_first_value known;
	/* Lowers a plan; false ends the search. */
	bool (*lower)(void *to, const assignment *as, best_first_value *v);
	void *to;
} best_first_request;

typedef struct best_first_result {
	bool tried;   /* the graph is small enough */
	bool proven;  /* no plan is better than the best that was lowered */
	double bound; /* lower bound of all plans, seconds or bytes */
	int nplans;   /* number of plans lowered */
} best_first_result;

/* Whether a graph has few enough operators; best_first_search() says whether
 * they have few enough choices. */
bool bounded_may_try(const graph *g);

/* False if lower() returned false. */
bool best_first_search(const best_first_request *q, best_first_result *r);

#endif
