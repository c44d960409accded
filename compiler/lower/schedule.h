/* Orders of the nodes, and the memory that they take.  Inside lower/ only. */
#ifndef TDL_COMPILER_LOWER_SCHEDULE_H
#define TDL_COMPILER_LOWER_SCHEDULE_H

#include "compiler/lower/program.h"

/* A tensor that a node reads. */
typedef struct use {
	int tensor;
	bool stored; /* reads it as stored; else a fetched copy */
	/* the result may take its place if the node is its last reader */
	bool yields;
} use;

/* The memory that a node needs, in bytes on the worker that needs most. */
typedef struct sched_node {
	int nuses;
	use *uses;	 /* each tensor once */
	int64_t fetched; /* fetched copies in use while it runs */
	int64_t made;  /* written by the run */
	/* the shard to which this is combined; 0 if that is the stored block of
	 * the result */
	int64_t shard;
	int state;	 /* the state whose next value it computes, or -1 */
} sched_node;

/* The nodes of a program, without an order. */
typedef struct jobs {
	arena *tmp; /* for the orders */
	const plan *p;
	sched_node *jobs;
	int64_t *nbytes; /* by tensor: of its stored block */
	int *maker;	 /* by tensor: the node that computes it, or -1 */
	int *nreaders;	 /* by tensor: the number of nodes that read it */
	int **readers;
} jobs;

/* In o->a. */
jobs jobs_of(const outline *o);

/* ---- liveness ---------------------------------------------------------- */

/* Liveness: the bytes in use while nodes run one after the other. */
typedef struct liveness {
	const jobs *x;
	int *left;	  /* by tensor: readers that have not run yet */
	/* by state: bytes of its next value, until the state has no readers
	 * left and the value can be copied there */
	int64_t *waiting;
	int64_t in_use;
	/* bytes of next values that do not replace their states */
	int64_t copied;
} liveness;

liveness liveness_new(const jobs *x);

/* Runs a node whose inputs exist; returns the most bytes in use meanwhile. */
int64_t liveness_run(liveness *c, int n);

/* The change in the bytes in use if the node runs. */
int64_t liveness_change(const liveness *c, int n);

/* Whether all readers of a state, except node n, have run. */
bool liveness_may_update(const liveness *c, int state, int n);

/* The most bytes in use at once in a program that runs the nodes in this order
 * and keeps no copies. *copied receives the bytes that it copies to states. */
int64_t schedule_peak(const jobs *x, const int *order, int64_t *copied);

/* ---- orders ------------------------------------------------------------ */

/* The nodes in the order from which a schedule is made. */
int *schedule_levels(const jobs *x, lower_order by);

/* The nodes in a given order, except that a node whose run does not increase
 * the bytes in use runs as early as possible: a weight is updated as soon as
 * its gradient exists and all readers of the old weight are done. */
int *schedule_early(const jobs *x, const int *order);

/* The nodes in a given order, except that a node whose result is not read for a
 * while, and is larger than the inputs kept instead, runs just before its first
 * reader: a conversion, an activation that the backward pass recomputes. */
int *schedule_late(const jobs *x, const int *order);

/* The nodes in a given order, except that a reader of a result that is moved to
 * where it is stored lets others go first for a while, so that they run during
 * the transfer.  In a step of training this is the update of a weight whose
 * gradient is being summed. */
int *schedule_overlapping(const jobs *x, const int *order);

#endif
