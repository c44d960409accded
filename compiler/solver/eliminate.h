/* Elimination of variables from tables of costs: the minimum over one variable
 * of the sum of its tables is a table over the variables that it meets (bucket
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
	int64_t *own; /* cost, if it may be modified */
	bool dead;    /* one of its variables has been eliminated */
} cost_factor;

typedef VEC(cost_factor *) cost_factors;

/* An eliminated variable, with the factors that determine its value once all
 * their other variables have values. */
typedef struct gone {
	int var;
	cost_factors factors;
} gone;

/* The state of a problem from which variables are eliminated one by one. */
typedef struct eliminator {
	arena *tmp;
	const problem *p;
	int n;
	int *nvalues;
	int64_t **unary;
	cost_factors *at; /* by variable; dead ones included */
	int *nlive;	/* number that are not dead */
	bool *done;
	VEC(gone) stack;
	/* the cost of everything eliminated so far, or a lower bound of it */
	int64_t least;
	int nleft;     /* after folding */
	int *value;
	table_store made; /* tables made of factors of two variables */
	/* work space for sums, reused from one variable to the next */
	int64_t *work;
	int64_t nwork;
} eliminator;

/* The state for p with nothing eliminated.  Parallel tables are joined;
 * variables with one value have no tables.  The values are in a, everything
 * else in tmp. */
eliminator eliminator_new(arena *a, arena *tmp, const problem *p);

/* Eliminates x: the tables made from the sum of its tables replace them. */
void eliminator_eliminate(eliminator *s, int x);

/* The variable other than v of a table of two variables. */
static inline int cost_factor_other(const cost_factor *f, int v)
{
	return f->vars[f->vars[0] == v];
}

/* Assigns values to the eliminated variables, the last one first: of the best
 * values the lowest.  The other variables must have theirs. */
void eliminator_read_back(eliminator *s);

#endif
