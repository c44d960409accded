/* Orders in which to eliminate variables (eliminate.h): heuristics for small
 * tables and little work.  Used by solve.c. */
#ifndef TDL_COMPILER_SOLVER_ELIMINATION_ORDER_H
#define TDL_COMPILER_SOLVER_ELIMINATION_ORDER_H

#include <stdint.h>

#include "base/vec.h"

typedef VEC(int) int_vec;

/* A graph of variables that meet in tables.  Adjacency lists are symmetric,
 * without repetitions and unsorted. */
typedef struct meet {
	int n;
	const int *nvalues;
	int_vec *adjacent;
} meet;

typedef struct elimination {
	int *order;    /* all n variables; NULL if none is within the limits */
	int64_t cells; /* in all tables made */
	int64_t work;  /* total additions */
} elimination;

/* Limits of an elimination, and of the search for its order. */
typedef struct elimination_limits {
	int64_t cells, work; /* of the elimination */
	int64_t effort;	     /* steps, for each of the two orders */
} elimination_limits;

/* The better of two orders by work.  One takes the variable with the smallest
 * table next (for equal domains, of least degree); the other the one that joins
 * the fewest pairs (min-fill), whose search is given up when it takes more work
 * than it can save.  Ties go to the smaller table, then to the lower index.
 * Orders outside of the limits do not count.  The order is in a; m is
 * unchanged. */
elimination elimination_order(arena *a, const meet *m,
			      const elimination_limits *most);

#endif
