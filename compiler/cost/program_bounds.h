/* Lower bounds of the time and memory of a program, as sums over the choices of
 * its plan.
 *
 * The program that the lowering makes of a plan takes at least the time of each
 * of several sums, and at least the memory of each of others.  A sum of memory
 * counts blocks that are in use together in any order of the nodes, however
 * long copies are kept. best_first.c searches with these bounds, on graphs of
 * at most PROGRAM_BOUNDS_MOST_NODES nodes. */
#ifndef TDL_COMPILER_COST_PROGRAM_BOUNDS_H
#define TDL_COMPILER_COST_PROGRAM_BOUNDS_H

#include "compiler/cost/merges.h"
#include "compiler/cost/time_model.h"
#include "compiler/solver/mini_bucket.h"

enum { PROGRAM_BOUNDS_MOST_NODES = 64 };

/* A table over one, two or three variables; the last one's values vary
 * fastest. */
typedef struct bound_term {
	int u, v, w; /* -1 where there is none */
	const double *cost;
} bound_term;

typedef struct program_bound {
	VEC(bound_term) terms;
} program_bound;

typedef VEC(program_bound) program_bounds;

/* Variables are the nodes and the tensors that decide, in the order of the data
 * flow. */
typedef struct program_bound_set {
	arena *arena;
	const time_model *time_model;
	int nvars;
	int *nvalues;
	int *of; /* by variable: its number in joint_problem() */
	program_bounds seconds, bytes;
} program_bound_set;

/* The bounds of a graph of at most PROGRAM_BOUNDS_MOST_NODES nodes, in a.
 * usual[] has a value for each variable of joint_problem(); the bounds are
 * tightest near these. merges, by tensor, are those that programs may have;
 * NULL: none.  `pinned': the candidates of a node may lack some that a node
 * merged with it could still take in its place. */
program_bound_set *program_bounds_new(arena *a, const time_model *x,
				      const topology *t, const int *usual,
				      const merge *merges, bool pinned);

/* Adds `times' a bound to a sum over the same variables. */
void program_bound_add(mini_bucket *to, const program_bound *f, double times);

/* The value of a bound under an assignment. */
double program_bound_at(const program_bound_set *s, const program_bound *f,
			const int *value);

#endif
