/* The state of message passing, and its steps.  Inside message_passing.c and
 * branch.c only. */
#ifndef TDL_COMPILER_SOLVER_MESSAGES_H
#define TDL_COMPILER_SOLVER_MESSAGES_H

#include <stdbool.h>

#include "compiler/solver/minplus.h"
#include "compiler/solver/problem.h"

/* Costs count in units of 1 / 2^shift, so that small ones can be divided.
 * Costs in tables are capped at CAP, which lowers bounds and so is safe; a
 * message changes by at most 2 * CAP in a pass.  Costs of values are capped at
 * CAP too, until the value is removed; then they are GONE. */
#define CAP ((int64_t)1 << 50)
#define GONE ((int64_t)1 << 60)

/* A table, and the costs moved out of it to its two variables: side 0 has the
 * rows, side 1 the columns. cost[x][y] - moved[0][x] - moved[1][y] >= 0 for all
 * remaining values. */
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

/* A variable: n values, nlive of which remain. */
typedef struct msg_var {
	int n, nlive;
	int *value;	/* number in the problem; NULL: 0, 1, .. */
	int64_t *cost;	/* >= 0; GONE for removed values */
	msg_link *links; /* to variables before this one first */
	int nbefore, nlinks;
	int place;	/* in the order of the passes */
	int choice;	/* of the assignment being made */
	/* it has its value, whose cost is added to its neighbours */
	bool settled;
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
	/* lower bound: the cost subtracted from all values, in units */
	int64_t bound;
	int *best;
	int64_t best_cost;
	/* the least cost that does not improve on the best assignment, in
	 * units */
	int64_t limit;
	int *value; /* work space, by variable */
	int64_t *own, *new, *give; /* work space, by value */
	int64_t live; /* total number of remaining values */
	bool holds_back; /* see visit() */
	bool chooses;	 /* passes choose an assignment; all do but the first */
	/* assignments chosen by the last pass backward, and forward; NULL */
	int *chosen[2];
	/* how much values cost more than the best one of their variable: the
	 * average, summed over variables */
	double spread;
} messages;

static inline int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static inline int value_at(const msg_var *o, int x)
{
	return o->value ? o->value[x] : x;
}

/* The state for p with nothing moved.  The best assignment is in a, everything
 * else in tmp. */
messages messages_new(arena *a, arena *tmp, const problem *p);

/* Subtracts the least cost of v from its values, and removes values that cost
 * too much.  Returns false if none remain. */
bool messages_prune(messages *r, int v);

/* Moves give[] from the costs of v into the table of a link, and from it to the
 * other variable as much as the table allows. */
void messages_send(messages *r, msg_var *v, const msg_link *l);

/* Chooses the value of v in the current assignment, given the choices of its
 * neighbours first .. end - 1 that are not settled. */
void messages_choose(messages *r, int v, int first, int end);

/* Keeps the current assignment if it is the best one. */
void messages_keep_best(messages *r);

/* The least integer cost consistent with `bound', in units. */
int64_t messages_round_up(const messages *r, int64_t bound);

#endif
