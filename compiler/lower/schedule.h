/* Orders of the nodes, and the memory that they take.  Inside lower/ only. */
#ifndef TDL_COMPILER_LOWER_SCHEDULE_H
#define TDL_COMPILER_LOWER_SCHEDULE_H

#include "compiler/lower/program.h"

/* A tensor that a node reads. */
typedef struct use {
	int tensor;
	bool stored; /* as it is stored; else a fetched copy of it */
	bool yields; /* the result may take its place when the node is its last
			reader */
} use;

/* The needs of a node: all in bytes of one worker, the most of any. */
typedef struct sched_node {
	int nuses;
	use *uses;	 /* each tensor once */
	int64_t fetched; /* copies that are live while it runs */
	int64_t made;  /* written by the run */
	int64_t shard; /* the shard that this is combined to; 0 if that is the
			  stored block of the result */
	int state;	 /* whose next value it makes, or -1 */
} sched_node;

/* The nodes of a program, without an order. */
typedef struct jobs {
	arena *tmp; /* of the orders */
	const plan *p;
	sched_node *jobs;
	int64_t *nbytes; /* by tensor: of its stored block */
	int *maker;	 /* by tensor: the node that computes it, or -1 */
	int *nreaders;	 /* by tensor: nodes */
	int **readers;
} jobs;

/* In o->a. */
jobs jobs_of(const outline *o);

/* ---- liveness ---------------------------------------------------------- */

/* Liveness: the bytes in use while nodes run one after the other. */
typedef struct liveness {
	const jobs *x;
	int *left;	  /* by tensor: readers that have not run */
	int64_t *waiting; /* by state: its next value, until nobody reads the
			     state any more and it can be copied there */
	int64_t in_use;
	int64_t copied; /* of next values that do not replace their states */
} liveness;

liveness liveness_new(const jobs *x);

/* Runs a node whose inputs are there; returns the most bytes in use
 * meanwhile. */
int64_t liveness_run(liveness *c, int n);

/* The change of the bytes in use that running the node makes. */
int64_t liveness_change(const liveness *c, int n);

/* Whether all readers of a state have run, node n left aside. */
bool liveness_may_update(const liveness *c, int state, int n);

/* The most bytes in use at once in a program that runs the nodes in an order
 * and keeps no copies; *copied: bytes that it copies to states. */
int64_t schedule_peak(const jobs *x, const int *order, int64_t *copied);

/* ---- orders ------------------------------------------------------------ */

/* The nodes in the order that a schedule is made from. */
int *schedule_levels(const jobs *x, lower_order by);

/* The nodes in a given order, except that a node that leaves no more bytes in
 * use than before runs as early as it can: a weight is updated as soon as its
 * gradient is there and all readers of the old weight are done. */
int *schedule_early(const jobs *x, const int *order);

/* The nodes in a given order, except that a node whose result is not read for a
 * while, and is larger than the inputs kept in its place, runs just before its
 * first reader: a conversion, an activation that the backward pass
 * recomputes. */
int *schedule_late(const jobs *x, const int *order);

/* The nodes in a given order, except that a reader of a result that is moved to
 * where it is stored lets others go first for a while, so that they run during
 * the transfer: in a step of training the update of a weight, whose gradient is
 * summed up. */
int *schedule_overlapping(const jobs *x, const int *order);

#endif
