/* Piper's plans: contiguous stages, each with replicas, a tensor degree and a
 * way for each of its layers, of least time per sample (Tarnawski, Narayanan,
 * Phanishayee, NeurIPS 2021; costs as in its published program).
 *
 * A sample is a micro-batch; N of them are a batch.  A stage of d replicas (d
 * divides N) of t devices each takes, per sample,
 *
 *	time	sum over layers of ((seconds + cut / B) / d
 *			+ 4 (d - 1) / d parameters / N / B)
 *	memory	sum over layers of y kept + fixed
 *
 * where cut is 2 (bytes + sync) for each edge to or from another stage, B the
 * bandwidth of a device, and y = ceil(s / d) the micro-batches in flight, s
 * being the sum of replicas of this stage and all after it.  Time per sample is
 * that of the longest stage.  The sum of d t is at most the number of devices,
 * that of d at most N.
 *
 * The split, the replicas and the degrees are searched exactly.  The ways of a
 * stage's layers are chosen by a rule, because the exact choice is a knapsack
 * problem: take the fastest way of each layer, then take steps along the
 * layers' lower convex hulls of (memory, time), those with the least time per
 * byte first, until the memory suffices; then undo unnecessary steps, the last
 * first.  (This is Piper's rule, except for the undoing.) With fractional steps
 * the same search gives a lower bound. */
#ifndef TDL_COMPILER_PLACEMENT_PIPER_H
#define TDL_COMPILER_PLACEMENT_PIPER_H

#include "compiler/placement/degrees.h"

enum { PIPER_MAX_IDEALS = 512 }; /* with more, only one order is cut */

typedef struct piper_request {
	int devices, micro_batches;
	double memory, bandwidth;
} piper_request;

typedef struct piper_stage {
	int n, *layers; /* in the order of the file */
	int *ways;	/* of each layer: its way's number among the layer's */
	int replicas, degree, in_flight;
	double seconds, nbytes; /* per sample; per device */
} piper_stage;

typedef struct piper_plan {
	int nstages, devices;
	piper_stage *stages; /* the first computes first */
	double seconds;	     /* per sample */
	double bound;	     /* lower bound for all plans of these splits */
	/* no plan of these splits takes less, up to rounding */
	bool optimal;
	bool fixed_order;    /* not all splits were considered */
	int nsplits;	     /* ideals */
} piper_plan;

/* Finds the best plan, in a; false if nothing fits. */
bool piper_best(arena *a, const degree_table *t, const piper_request *r,
		piper_plan *best);

/* The least of twice, four and eight times the memory with which something
 * fits; 0 if nothing does. */
double piper_enough_memory(const degree_table *t, const piper_request *r);

/* ---- stages' costs, piper_cost.c ----------------------------------------- */

/* The limit on the sum of replicas. */
static inline int piper_most_sum(const piper_request *r)
{
	return r->micro_batches < r->devices ? r->micro_batches : r->devices;
}

/* With up to y micro-batches in flight a stage takes this many seconds. */
typedef struct piper_step {
	int y;
	double seconds;
} piper_step;

/* A stage at d replicas of t devices: steps of increasing y and seconds. */
typedef struct piper_cost {
	int replicas, degree, nsteps, nrelaxed;
	const piper_step *steps, *relaxed; /* relaxed: with fractional steps */
} piper_cost;

/* The costs of the layers in `set' (a bit each) for all replicas and degrees,
 * in a. */
typedef struct piper_costs {
	int n;
	const piper_cost *at;
} piper_costs;

piper_costs piper_costs_of(arena *a, const degree_table *t,
			   const piper_request *r, const uint64_t *set);

/* Fills in a stage's layers, their choices and costs. */
void piper_stage_fill(arena *a, const degree_table *t, const piper_request *r,
		      const uint64_t *set, piper_stage *s);

#endif
