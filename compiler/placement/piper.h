/* Piper's plans: contiguous stages, each with replicas, a tensor degree and a
 * way for each of its layers, of least time per sample (Tarnawski, Narayanan,
 * Phanishayee, NeurIPS 2021; costs as its published program has them).
 *
 * A sample is a micro-batch, N of them a batch.  A stage of d replicas (d
 * divides N) of t devices each takes, per sample,
 *
 * 	time	sum over layers of ((seconds + cut / B) / d
 * 			+ 4 (d - 1) / d parameters / N / B)
 * 	memory	sum over layers of y kept + fixed
 *
 * where cut is 2 (bytes + sync) of each edge to or from another stage, B the
 * bandwidth of a device, and y = ceil(s / d) the micro-batches in flight, s the
 * sum of replicas of this stage and all behind it.  Time per sample is that of
 * the longest stage; the sum of d t is at most the devices, that of d at most
 * N.
 *
 * The split, the replicas and the degrees are searched exactly; the ways of a
 * stage's layers by a rule, for that is a knapsack problem: the fastest of
 * each, then steps along each layer's lower convex hull of (memory, time),
 * those that cost least time per byte first, until the memory suffices; then
 * steps that were not necessary are undone, the last first (Piper's rule,
 * except for that).  With fractions of steps the same search gives a lower
 * bound. */
#ifndef TDL_COMPILER_PLACEMENT_PIPER_H
#define TDL_COMPILER_PLACEMENT_PIPER_H

#include "compiler/placement/degrees.h"

enum { PIPER_MAX_IDEALS = 512 }; /* with more, one order is cut */

typedef struct piper_request {
	int devices, micro_batches;
	double memory, bandwidth;
} piper_request;

typedef struct piper_stage {
	int n, *layers; /* in the order of the file */
	int *ways;	/* of each, its way's number among the layer's */
	int replicas, degree, in_flight;
	double seconds, nbytes; /* per sample; of each device */
} piper_stage;

typedef struct piper_plan {
	int nstages, devices;
	piper_stage *stages; /* the first computes first */
	double seconds;	     /* per sample */
	double bound;	     /* .. of any plan of these splits */
	bool optimal;	     /* no plan of these splits takes less, but for
				rounding */
	bool fixed_order;    /* not all splits were looked at */
	int nsplits;	     /* ideals */
} piper_plan;

/* False where nothing fits. */
bool piper_best(arena *a, const degree_table *t, const piper_request *r,
		piper_plan *best);

/* Of twice, four and eight times the memory the least with which something
 * fits; 0 where nothing does. */
double piper_enough_memory(const degree_table *t, const piper_request *r);

/* ---- stages' costs, piper_cost.c ----------------------------------------- */

/* The most that replicas may add up to. */
static inline int piper_most_sum(const piper_request *r)
{
	return r->micro_batches < r->devices ? r->micro_batches : r->devices;
}

/* With up to y micro-batches in flight a stage takes so long. */
typedef struct piper_step {
	int y;
	double seconds;
} piper_step;

/* A stage at d replicas of t devices: steps of rising y and seconds. */
typedef struct piper_cost {
	int replicas, degree, nsteps, nrelaxed;
	const piper_step *steps, *relaxed; /* relaxed: with fractions */
} piper_cost;

/* The costs of the layers in `set` (bits), all replicas and degrees. */
typedef struct piper_costs {
	int n;
	const piper_cost *at;
} piper_costs;

piper_costs piper_costs_of(arena *a, const degree_table *t,
			   const piper_request *r, const uint64_t *set);

/* Fills in the layers, their choices and costs. */
void piper_stage_fill(arena *a, const degree_table *t, const piper_request *r,
		      const uint64_t *set, piper_stage *s);

#endif
