/* Splits for interleaved schedules: S V contiguous chunks of layers, of which
 * device s of S has the chunks s, S + s, 2 S + s, ..
 *
 * A device needs memory for what its chunks have all the time, added up, and
 * for the micro-batches in flight of each at the instant at which these, with
 * what the running chunk needs beside, are the most (schedule.h).  Its time of
 * a micro-batch is that of its chunks.  Of a split, peak is the greatest memory
 * of a device, bottleneck the greatest time, and a step of M micro-batches
 * takes
 * 	M * bottleneck + (sum of all times - bottleneck) / V,
 * which with one chunk is the step of split.h.
 *
 * The peak couples chunks that are far apart, so that there is no program over
 * prefixes.  Least values are sought by a dual bound, local search and branch
 * and bound; what the latter does not finish is not proven, and has a bound. */
#ifndef TDL_COMPILER_PLACEMENT_CHUNKS_H
#define TDL_COMPILER_PLACEMENT_CHUNKS_H

#include "compiler/cost/schedule.h"
#include "compiler/placement/split.h"

typedef struct chunk_problem {
	const intervals *of;	    /* with `running' */
	int ndevices, chunks;	    /* S, V; S V <= layers */
	int micro_batches;	    /* M */
	const chunk_counts *counts; /* by device */
	double cap;		    /* bytes of a device; INFINITY */
} chunk_problem;

static inline int chunk_stages(const chunk_problem *p)
{
	return p->ndevices * p->chunks;
}

typedef enum chunk_measure {
	CHUNKS_PEAK,
	CHUNKS_BOTTLENECK,
	CHUNKS_STEP,
	CHUNKS_MEASURES,
} chunk_measure;

typedef struct chunk_split {
	split s;      /* first has S V + 1 entries */
	double bound; /* of the goal: no split within the cap is below it */
	bool proven;  /* that no split is better by the goal */
	bool all_proven; /* .. and, of those as good, by the other measures */
} chunk_split;

enum {
	CHUNKS_MOST_STAGES = 128, /* S V */
	CHUNKS_MOST_LOOKS = 1 << 30, /* at intervals, by one program */
};

/* The reason why n layers on so many devices cannot be planned, in a; NULL if
 * they can be. */
const char *chunks_refused(arena *a, int n, int ndevices, int chunks);

/* The problem in a, with the instants of the schedule. */
chunk_problem chunk_problem_new(arena *a, const intervals *of, int ndevices,
				int chunks, int micro_batches, double cap);

/* The memory of device s with its first `nchunks' chunks alone. */
double chunk_memory(const chunk_problem *p, const int *first, int s,
		    int nchunks);
/* The time of a micro-batch on device s with its first `nchunks' chunks. */
double chunk_time(const chunk_problem *p, const int *first, int s, int nchunks);

/* The greatest number of micro-batches of a chunk of device s in flight, or of
 * all its chunks together, with chunk -1. */
int chunk_in_flight(const chunk_problem *p, int s, int chunk);

/* The device of greatest memory. */
int chunk_exceeding_device(const chunk_problem *p, const int *first);

/* Fills in peak, bottleneck and step of the split given by `first'. */
void chunk_split_measure(const chunk_problem *p, split *s);

/* The best split found within the cap, in a, by the goal and then
 *	peak		step
 *	bottleneck	peak, then step
 *	step		peak
 * False if none was found: then best->s has the least peak that was, and
 * best->proven says whether there is none within the cap. */
bool chunks_best(arena *a, const chunk_problem *p, chunk_measure goal,
		 chunk_split *best);

/* A split within the cap, if one is found; in general not of least peak. */
bool chunks_fit(arena *a, const chunk_problem *p, chunk_split *best);

/* The Pareto frontier of (peak, goal), goal bottleneck or step, within the cap,
 * least peak first.  False if a part of it could not be proven. */
bool chunks_frontier(arena *a, const chunk_problem *p, chunk_measure goal,
		     split_list *frontier);

/* ---- shared by chunks.c and chunk_search.c ------------------------------ */

/* Improves the incumbent w->best, within limits that it keeps, by one measure.
 * Stops at the value `enough' (-INFINITY: never).  Returns a lower bound of the
 * measure, the incumbent's value if it is proven to be the least. */
double chunks_improve(const chunk_problem *p, chunk_measure goal,
		      const double limit[CHUNKS_MEASURES], double enough,
		      split *best);

#endif
