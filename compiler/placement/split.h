/* Splits a sequence of layers into contiguous stages, exactly.
 *
 * The cost of a stage is a table over intervals [i, j) of layers with arbitrary
 * values: the programs below do not assume that a longer interval costs more.
 * The entry of [i, j) is at interval_at(i, j).
 *
 * Stage s of S with the layers [i, j) takes time, and memory fixed +
 * in_flight[s] * kept.  For a split, peak is the greatest memory of a stage,
 * bottleneck the greatest time, and a step of M micro-batches takes
 *
 *	sum of times + (M - 1) * bottleneck + greatest sync
 *
 * (fill and drain; Zheng et al. 2022).  Sums of whole numbers below 2^53 are
 * exact, so that equal splits compare equal. */
#ifndef TDL_COMPILER_PLACEMENT_SPLIT_H
#define TDL_COMPILER_PLACEMENT_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"

enum { SPLIT_MAX_LAYERS = 4096 };

typedef struct intervals {
	int n;	       /* layers */
	double *time;  /* per micro-batch; any unit */
	double *fixed; /* bytes independent of the micro-batches in flight */
	double *kept;  /* bytes per micro-batch in flight */
	double *sync;  /* once per step; NULL: none */
	/* The part of fixed that is present only while a pass of the stage
	 * runs; NULL if not needed. */
	double *running;
	/* The least values over all [i', j) with i' <= i, set by
	 * intervals_finish().  They tell a scan over i from the end when no
	 * further interval can fit. */
	double *time_floor, *fixed_floor, *kept_floor;
} intervals;

static inline size_t interval_at(int i, int j)
{
	return (size_t)j * (size_t)(j - 1) / 2 + (size_t)i;
}

/* A table of zeros for n layers. */
double *intervals_table(arena *a, int n);

/* Tables of zeros, 1 <= n <= SPLIT_MAX_LAYERS. */
intervals *intervals_new(arena *a, int n, bool sync);

/* Call this once the tables are filled. */
void intervals_finish(arena *a, intervals *t);

typedef struct split_problem {
	const intervals *of;
	int nstages;	      /* 1 <= nstages <= n; no stage is empty */
	const int *in_flight; /* by stage */
	int micro_batches;    /* M */
	double cap;	      /* bytes per stage; INFINITY: no cap */
} split_problem;

typedef struct split {
	/* nstages + 1 elements; stage s holds [first[s], first[s + 1]) */
	int *first;
	double peak, bottleneck, step;
} split;

/* The memory of stage s with the interval at x. */
static inline double split_memory(const split_problem *p, int s, size_t x)
{
	return p->of->fixed[x] + p->in_flight[s] * p->of->kept[x];
}

/* Computes peak, bottleneck and step of the split given by s->first. */
void split_measure(const split_problem *p, split *s);

/* Find the best split within the cap, in a; false if there is none.
 *
 *	least_peak		peak, then step
 *	least_bottleneck	bottleneck, then peak, then step
 *	least_step		step, then peak
 *
 * least_step considers only steps of at most `limit' (INFINITY: any).  All are
 * dynamic programs in at most O(S n^2). least_step runs several of them, on
 * intervals of longest times that are halved until a bound excludes them. */
bool split_least_peak(arena *a, const split_problem *p, split *best);
bool split_least_bottleneck(arena *a, const split_problem *p, split *best);
bool split_least_step(arena *a, const split_problem *p, double limit,
		      split *best);

typedef VEC(split) split_list;

/* The Pareto frontier of (peak, bottleneck), or with `steps' of (peak, step),
 * within the cap; least peak first; in a. */
split_list split_frontier(arena *a, const split_problem *p, bool steps);

/* The least peak of splits within the cap; INFINITY if there is none. */
double split_peak(const split_problem *p);

/* For the case that no split fits: stores the split of least peak without the
 * cap, and returns its stage of greatest memory. */
int split_exceeding_stage(arena *a, const split_problem *p, split *least);

#endif
