/* Eliminating variables on tables of costs: the minimum over one variable of
 * the sum of its tables is a table over the variables that it meets (bucket
 * elimination; Dechter, Artificial Intelligence 113, 1999). */
#ifndef TDL_COMPILER_SOLVER_ELIMINATE_H
#define TDL_COMPILER_SOLVER_ELIMINATE_H

#include <stdbool.h>

#include "compiler/solver/problem.h"
#include "compiler/solver/table_store.h"

/* A table over n variables, row-major in the order of vars. */
typedef struct cost_factor {
	int n;
	int *vars;
	const int64_t *cost;
	int64_t *own; /* cost, where it may be written to */
	bool dead;    /* a variable of it is gone */
} cost_factor;

typedef VEC(cost_factor *) cost_factors;

/* An eliminated variable, with the factors that determine its value once all
 * their other variables have one. */
typedef struct gone {
	int var;
	cost_factors factors;
} gone;

/* The state of a problem from which variables are taken out one by one. */
typedef struct eliminator {
	arena *tmp;
	const problem *p;
	int n;
	int *nvalues;
	int64_t **unary;
	cost_factors *at; /* per variable; also dead ones */
	int *nlive;	/* number that are not dead */
	bool *done;
	VEC(gone) stack;
	int64_t least; /* cost of everything eliminated so far, or a lower bound
			  of it */
	int nleft;     /* after folding */
	int *value;
	table_store made; /* of factors of two variables */
	int64_t *work; /* for sums, from one variable to the next */
	int64_t nwork;
} eliminator;

/* Everything of p, nothing eliminated.  Parallel tables are one, variables
 * with one value have none.  The values are in a, all else in tmp. */
eliminator eliminator_new(arena *a, arena *tmp, const problem *p);

/* Takes x out; the tables that its sum makes take the place of its own. */
void eliminator_eliminate(eliminator *s, int x);

/* Of a table of two variables the one that is not v. */
static inline int cost_factor_other(const cost_factor *f, int v)
{
	return f->vars[f->vars[0] == v];
}

/* Gives the variables that were eliminated their values, the last one first:
 * of the best ones the lowest.  The others have to have theirs. */
void eliminator_read_back(eliminator *s);

#endif
