/* The costs of stages of any layers, by the ways to divide them: sums of their
 * layers' costs, and what stages that were planned need besides. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_SUMS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_SUMS_H

#include "compiler/portfolio/pipeline_costs.h"
#include "compiler/portfolio/pipeline_plan.h"

/* The part of a stage's memory that sums of layers do not see: messages, bytes
 * that its layers share, layouts that are chosen for all of them together. */
typedef struct stage_error {
	bool known;
	double part, more; /* bytes are so many times the sum, and these; the
			      first is 1 at most, and the second not below
			      0 */
} stage_error;

/* A way, with sums of its costs over the layers before each. */
typedef struct way_sums {
	pipeline_way way;
	double *computing, *moving, *fixed, *kept[COST_PAIRS];
	double *passing[2]; /* [i (n + 1) + j]: the most of layers [i, j) */
	double *once;
	double *given; /* by layer: the part that is on a device */
	double *held; /* by layer */
	double hidden;
	/* By place in the row: 1: not its begin, 2: not its end. */
	stage_error errors[4];
} way_sums;

typedef struct pipeline_sums {
	arena *a;
	const plan_request *how;
	const pipeline_costs *costs;
	/* [i (n + 1) + j]: bytes that layers [i, j) are given, and that later
	 * ones read of theirs. */
	const double *given, *sent;
	const double *again; /* of `given', what a layer before i reads, too */
	bool recompute; /* forward passes, in all stages */
	VEC(way_sums) ways;
} pipeline_sums;

void pipeline_sums_add(pipeline_sums *x, const way_costs *w);

/* A stage: layers [i, j) on devices [begin, end), with so many micro-batches
 * between the forward pass and the end of the backward pass, and, where that is
 * in two parts, so many that wait for the first of them; else 0. */
typedef struct stage_place {
	int i, j, begin, end, in_flight, waiting;
} stage_place;

/* The way by which a stage of a micro-batch is computed fastest, within this
 * part of each device's memory (INFINITY: all the same); NULL: there is none.
 * *seconds: a micro-batch's, with the part of what is once that falls to it. */
const way_sums *pipeline_sums_best(const pipeline_sums *x,
				   const stage_place *at, double share,
				   double *seconds);

/* By a way: bytes of each device; seconds as above.  False: the way is not
 * known. */
bool pipeline_sums_of(const pipeline_sums *x, const pipeline_way *way,
		      const stage_place *at, double *bytes, double *seconds);

/* Learns from the stages of a plan of this cut, of one chunk each. */
void pipeline_sums_learn(pipeline_sums *x, const pipeline_cut *cut,
			 const pipeline_result *r);

/* stage_place.waiting of stage s. */
int pipeline_sums_waiting(pipeline_schedule kind, int s, int nstages,
			  int turns);

/* Stage s of a cut of one chunk each. */
stage_place pipeline_sums_place(const pipeline_cut *cut, int s, int turns);

/* The bytes that each of devices [begin, end) may need, by how or the machine;
 * INFINITY.  Without a limit what fits the machine is better. */
double pipeline_limit(const plan_request *how, int begin, int end);

#endif
