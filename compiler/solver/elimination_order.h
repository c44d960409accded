/* Orders in which variables are eliminated (eliminate.h): heuristics for small
 * tables and little work.  Used by solve.c. */
#ifndef TDL_COMPILER_SOLVER_ELIMINATION_ORDER_H
#define TDL_COMPILER_SOLVER_ELIMINATION_ORDER_H

#include <stdint.h>

#include "base/vec.h"

typedef VEC(int) int_vec;

/* A graph of variables that meet.  Adjacency lists are symmetric, without
 * repetitions and not sorted. */
typedef struct meet {
	int n;
	const int *nvalues;
	int_vec *adjacent;
} meet;

typedef struct elimination {
	int *order;    /* all n variables; NULL where none is within limits */
	int64_t cells; /* of the tables that are made, in all */
	int64_t work;  /* additions that are made, in all */
} elimination;

/* Limits of an elimination, and of the search for its order. */
typedef struct elimination_limits {
	int64_t cells, work; /* of the elimination */
	int64_t effort;	     /* steps, of each of the two orders */
} elimination_limits;

/* The better, by work, of two orders: the variable with the smallest table next
 * (for equal domains: of least degree); and the one next that joins the fewest
 * pairs (min-fill); the search for the latter is given up when it takes more
 * work than it can save.  Ties go to the smaller table, then to the lower
 * index.  Orders that are not within the limits do not count.  The order is in
 * a; m is unchanged. */
elimination elimination_order(arena *a, const meet *m,
			      const elimination_limits *most);

#endif
