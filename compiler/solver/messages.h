/* The state of message passing, and its steps.  Inside message_passing.c and
 * branch.c only. */
#ifndef TDL_COMPILER_SOLVER_MESSAGES_H
#define TDL_COMPILER_SOLVER_MESSAGES_H

#include <stdbool.h>

#include "compiler/solver/minplus.h"
#include "compiler/solver/problem.h"

/* Costs count in units of 1 / 2^shift, so that small ones can be shared out.
 * Costs in tables count up to CAP only, which lowers bounds and so is safe; a
 * message changes by 2 * CAP in a pass at most.  Costs of values, too, count up
 * to CAP until the value is removed; then they are GONE. */
#define CAP ((int64_t)1 << 50)
#define GONE ((int64_t)1 << 60)

/* A table, and the costs moved out of it to its two variables: side 0 has the
 * rows, side 1 the columns.  cost[x][y] - moved[0][x] - moved[1][y] >= 0 for
 * all values that are left. */
typedef struct msg_table {
	int var[2];
	const int64_t *cost;
	int64_t *moved[2];
} msg_table;

typedef struct msg_link {
	int other;
	msg_table *e;
	int side; /* of this variable in e */
} msg_link;

/* A variable: n values, of which nlive are left. */
typedef struct msg_var {
	int n, nlive;
	int *value;	/* of the problem; NULL: 0, 1, .. */
	int64_t *cost;	/* >= 0; GONE for values taken out */
	msg_link *links; /* those to variables before this one first */
	int nbefore, nlinks;
	int place;	/* in the order of the passes */
	int choice;	/* of the assignment being made */
	bool settled;	/* it has its value, and the cost of that is added to
			   its neighbours */
	bool stale;	/* a neighbour has changed since the choice was made */
} msg_var;

typedef struct messages {
	arena *a, *tmp;
	const problem *p;
	int n;
	msg_var *nodes;
	int *order; /* of the passes */
	msg_table *edges;
	minplus_scale scale;
	int64_t bound; /* lower bound: the cost taken out of all values, in
			  units */
	int *best;
	int64_t best_cost;
	int64_t limit; /* least cost that is no better than the best
			  assignment's, in units */
	int *value; /* work space, per variable */
	int64_t *own, *new, *give; /* the same, per value */
	int64_t live; /* values left, in all */
	bool holds_back; /* see visit() */
	bool chooses;	 /* passes choose an assignment, all but the first */
	int *chosen[2];	 /* by the last pass backward, and forward; NULL */
	double spread;	 /* by how much values cost more than the best one of
			    their variable, on average, summed over variables */
} messages;

static inline int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static inline int value_at(const msg_var *o, int x)
{
	return o->value ? o->value[x] : x;
}

/* All of p, with nothing moved.  The best assignment is in a, all else in
 * tmp. */
messages messages_new(arena *a, arena *tmp, const problem *p);

/* Subtracts the least cost of v from its values, and removes values that are
 * too dear.  False if none is left. */
bool messages_prune(messages *r, int v);

/* Moves give[] from the costs of v into the table of a link, and out of it to
 * the other variable as much as the table allows. */
void messages_send(messages *r, msg_var *v, const msg_link *l);

/* The value of v for the assignment being made, given the choices of its
 * neighbours first .. end - 1 that are not settled. */
void messages_choose(messages *r, int v, int first, int end);

/* Keeps the assignment that was made, if it is the best one. */
void messages_keep_best(messages *r);

/* The least integer cost that is consistent with `bound', in units. */
int64_t messages_round_up(const messages *r, int64_t bound);

#endif
