/* Splits for interleaved schedules: S V contiguous chunks of layers, of which
 * device s of S has the chunks s, S + s, 2 S + s, ..
 *
 * A device needs memory for what its chunks always hold, and for the
 * micro-batches in flight of each chunk at the instant when these, plus the
 * temporaries of the running chunk, take the most (schedule.h).  Its time for a
 * micro-batch is that of its chunks.  For a split, peak is the greatest memory
 * of a device, bottleneck the greatest time, and a step of M micro-batches
 * takes
 *
 *	M * bottleneck + (sum of all times - bottleneck) / V,
 *
 * which with one chunk is the step of split.h.
 *
 * The peak couples chunks that are far apart, so no dynamic program over
 * prefixes exists.  Least values are sought by a dual bound, local search, and
 * branch and bound.  If the latter does not finish, the result is not proven,
 * but has a bound. */
#ifndef TDL_COMPILER_PLACEMENT_CHUNKS_H
#define TDL_COMPILER_PLACEMENT_CHUNKS_H

#include "compiler/cost/schedule.h"
#include "compiler/placement/split.h"

typedef struct chunk_problem {
	const intervals *of;	    /* with `running' */
	int ndevices, chunks;	    /* S, V; S V <= layers */
	int micro_batches;	    /* M */
	const chunk_counts *counts; /* by device */
	double cap;		    /* bytes per device; INFINITY: no cap */
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
	double bound; /* of the goal: no split within the cap has less */
	bool proven;  /* no split is better by the goal */
	/* .. and of equally good ones, none by the other measures */
	bool all_proven;
} chunk_split;

enum {
	CHUNKS_MOST_STAGES = 128, /* S V */
	CHUNKS_MOST_LOOKS = 1 << 30, /* interval look-ups of one program */
};

/* The reason why n layers on ndevices devices cannot be planned, in a; NULL if
 * they can. */
const char *chunks_refused(arena *a, int n, int ndevices, int chunks);

/* The problem, in a, with the schedule's instants. */
chunk_problem chunk_problem_new(arena *a, const intervals *of, int ndevices,
				int chunks, int micro_batches, double cap);

/* The memory of device s with only its first `nchunks' chunks. */
double chunk_memory(const chunk_problem *p, const int *first, int s,
		    int nchunks);
/* The time of a micro-batch on device s with its first `nchunks' chunks. */
double chunk_time(const chunk_problem *p, const int *first, int s, int nchunks);

/* The most micro-batches in flight in a chunk of device s; with chunk -1, in
 * all its chunks together. */
int chunk_in_flight(const chunk_problem *p, int s, int chunk);

/* The device that needs the most memory. */
int chunk_exceeding_device(const chunk_problem *p, const int *first);

/* Computes peak, bottleneck and step of the split given by s->first. */
void chunk_split_measure(const chunk_problem *p, split *s);

/* Finds the best split within the cap, in a, by the goal, then by:
 *
 *	peak		step
 *	bottleneck	peak, then step
 *	step		peak
 *
 * Returns false if none was found; then best->s has the least peak found, and
 * best->proven says whether it is proven that none is within the cap. */
bool chunks_best(arena *a, const chunk_problem *p, chunk_measure goal,
		 chunk_split *best);

/* Finds a split within the cap, not necessarily of least peak; false if none
 * was found. */
bool chunks_fit(arena *a, const chunk_problem *p, chunk_split *best);

/* The Pareto frontier of (peak, goal), with goal bottleneck or step, within the
 * cap, least peak first.  Returns false if a part of it could not be proven. */
bool chunks_frontier(arena *a, const chunk_problem *p, chunk_measure goal,
		     split_list *frontier);

/* ---- shared by chunks.c and chunk_search.c ------------------------------ */

/* Improves *best by one measure, keeping the limits of all measures.  Stops at
 * the value `enough' (-INFINITY: never).  Returns a lower bound of the measure,
 * which is the value of *best if that is proven to be the least. */
double chunks_improve(const chunk_problem *p, chunk_measure goal,
		      const double limit[CHUNKS_MEASURES], double enough,
		      split *best);

#endif
