/* The best plan of a small graph, by the figures of its program.
 *
 * Plans are lowered one by one, those first that bounds promise most of: sums
 * over choices that no program is faster than, and sums that no program needs
 * less memory than (figures.h), the latter as a limit and, weighted (a
 * Lagrangian relaxation), added to the former.  When no bound is below the best
 * that was found, that is the best there is. */
#ifndef TDL_COMPILER_SEARCH_BOUNDED_H
#define TDL_COMPILER_SEARCH_BOUNDED_H

#include "compiler/search/merges.h"
#include "compiler/search/search.h"

/* What the program of a plan takes. */
typedef struct bounded_value {
	double seconds;
	int64_t bytes; /* of the arena */
} bounded_value;

typedef struct bounded_request {
	const graph *graph;
	mesh mesh;
	const struct topology *topology;
	const outline *pins; /* NULL: none */
	const merge *merges; /* that lower() may make; NULL: none */
	int64_t limit;	     /* of bytes; 0: none */
	bool memory;	     /* least bytes are wanted, not least seconds */
	int most_plans;	     /* that are lowered; 0: some 2,048; as many
				times less is looked at otherwise */
	double seconds;	     /* the search may take about so long; 0: any */
	/* A plan that is known, and what it takes. */
	const assignment *start;
	bounded_value known;
	/* Lowers a plan; false ends the search. */
	bool (*lower)(void *to, const assignment *as, bounded_value *v);
	void *to;
} bounded_request;

typedef struct bounded_result {
	bool tried;   /* the graph is small enough */
	bool proven;  /* nothing is better than the best that was lowered */
	double bound; /* that nothing is below, seconds or bytes */
	int nplans;   /* that were lowered */
} bounded_result;

/* False if lower() was. */
bool bounded_search(const bounded_request *q, bounded_result *r);

#endif
