/* Orders of the nodes, and the memory that they take.  Inside lower/ only. */
#ifndef TDL_COMPILER_LOWER_ORDER_H
#define TDL_COMPILER_LOWER_ORDER_H

#include "compiler/lower/program.h"

/* A tensor that a node reads. */
typedef struct use {
	int tensor;
	bool stored; /* where it is stored; else what was fetched of it */
	bool yields; /* the result may take its place when the node is its last
			reader */
} use;

/* What a node needs: all in bytes of one worker, the most of any. */
typedef struct job {
	int nuses;
	use *uses;	 /* each tensor once */
	int64_t fetched; /* copies that live as long as it runs */
	int64_t made;  /* what the run writes, .. */
	int64_t share; /* .. and what it is combined to; 0 where that is the
			  stored block of the result */
	int state;	 /* whose next value it makes, or -1 */
} job;

/* The nodes of a program, without an order. */
typedef struct jobs {
	arena *tmp;
	const plan *p;
	job *jobs;
	int64_t *nbytes; /* by tensor: of its stored block */
	int *maker;	 /* by tensor: the node that computes it, or -1 */
	int *nreaders;	 /* by tensor: nodes */
	int **readers;
} jobs;

jobs jobs_of(draft *d);

/* ---- one after the other ----------------------------------------------- */

/* What is in use while nodes run one after the other. */
typedef struct clerk {
	const jobs *x;
	int *left;	  /* by tensor: readers that have not run */
	int64_t *waiting; /* by state: its next value, until nobody reads the
			     state any more and it can be copied there */
	int64_t in_use;
	int64_t copied; /* of next values that do not replace their states */
} clerk;

clerk clerk_new(const jobs *x);

/* Runs a node whose inputs are there; returns the most in use meanwhile. */
int64_t clerk_run(clerk *c, int n);

/* What is in use after the node, less what is in use now. */
int64_t clerk_change(const clerk *c, int n);

/* Whether all who read a state have run, node n left aside. */
bool clerk_may_update(const clerk *c, int state, int n);

/* The most bytes in use at once in a program that runs the nodes in an order
 * and keeps no copies; *copied: those that it copies to states. */
int64_t jobs_peak(const jobs *x, const int *order, int64_t *copied);

/* ---- orders ------------------------------------------------------------ */

/* The nodes in a given order, but whatever leaves no more in use than before
 * runs as soon as it can: a weight is updated when its gradient is there, and
 * not before all who read the old weight are done. */
int *jobs_eager(const jobs *x, const int *order);

/* The nodes in a given order, but what is not read for a while, and is larger
 * than what keeping its inputs instead takes, runs when it is needed first: a
 * conversion, what a backward pass computes again. */
int *jobs_lazy(const jobs *x, const int *order);

/* The nodes in a given order, but what reads a result that has to be moved to
 * where it is stored lets others go before it for a while, so that they run
 * while it moves: of a step of training the update of a weight, whose gradient
 * is summed up. */
int *jobs_patient(const jobs *x, const int *order);

#endif
