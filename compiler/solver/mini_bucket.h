/* Sums of tables over few variables, and lower bounds of such a sum once its
 * first variables, in a fixed order, have values: mini-bucket elimination
 * (Dechter and Rish, JACM 2003).  The bound is exact if no table had to be
 * divided.  Used by the best-first search of best_first.c. */
#ifndef TDL_COMPILER_SOLVER_MINI_BUCKET_H
#define TDL_COMPILER_SOLVER_MINI_BUCKET_H

#include <stdbool.h>

#include "base/vec.h"

enum {
	MINI_BUCKET_MOST_CELLS = 1 << 14, /* per table */
	MINI_BUCKET_MOST_VARS = 8,  /* per table */
};

/* A table, row by row; its variables ascend. */
typedef struct mini_bucket_table {
	int n, var[MINI_BUCKET_MOST_VARS];
	double *cost;
} mini_bucket_table;

typedef VEC(mini_bucket_table) mini_bucket_tables;

/* A sum of tables. */
typedef struct mini_bucket {
	arena *arena;
	int nvars;
	const int *nvalues; /* by variable */
	double constant;
	mini_bucket_tables *tables; /* by their last variable */
	/* Set by mini_bucket_solve(): lower bounds of the sum of all variables
	 * from one on, by that variable; the same tables by their last
	 * variable. */
	mini_bucket_tables *sent, *received;
	double least; /* lower bound of the whole sum */
} mini_bucket;

/* An empty sum, in a; nvalues must outlive it. */
mini_bucket *mini_bucket_new(arena *a, int nvars, const int *nvalues);

/* Adds `times' a table of one variable, or of two, u x v; it is copied. */
void mini_bucket_add(mini_bucket *x, int var, const double *cost, double times);
void mini_bucket_add_pair(mini_bucket *x, int u, int v, const double *cost,
			  double times);

/* The same for three distinct variables; the values of the last vary
 * fastest. */
void mini_bucket_add_three(mini_bucket *x, const int *vars, const double *cost,
			   double times);

/* Computes the bounds for all prefixes of assignments, in a; earlier bounds are
 * discarded. */
void mini_bucket_solve(mini_bucket *x, arena *a);

/* The bound for the values up to var, given `before', the bound for the
 * variables before var; for variable 0 that is x->least. */
double mini_bucket_step(const mini_bucket *x, int var, const int *value,
			double before);

#endif
