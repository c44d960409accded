/* The costs of stages of any layers, for each way to divide them: sums of their
 * layers' costs, plus what planned stages turned out to need in addition. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_SUMS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_SUMS_H

#include "compiler/portfolio/pipeline_costs.h"
#include "compiler/portfolio/pipeline_plan.h"

/* The part of a stage's memory that sums over layers miss: messages, bytes that
 * its layers share, layouts chosen for all of them together. */
typedef struct stage_error {
	bool known;
	/* bytes are part times the sum, plus more; part <= 1, more >= 0 */
	double part, more;
} stage_error;

/* A way, with prefix sums of its costs over the layers. */
typedef struct way_sums {
	pipeline_way way;
	double *computing, *moving, *fixed, *kept[COST_PAIRS];
	/* [i (n + 1) + j]: the most of any of the layers [i, j) */
	double *passing[2];
	double *once;
	double *given; /* by layer: the fraction that is on a device */
	double hidden, shared;
	/* Index: 1 unless at the beginning of the sequence of layers, plus 2
	 * unless at its end. */
	stage_error errors[4];
} way_sums;

typedef struct pipeline_sums {
	arena *a;
	const plan_request *how;
	const pipeline_costs *costs;
	bool recompute; /* forward passes, in all stages */
	VEC(way_sums) ways;
} pipeline_sums;

void pipeline_sums_add(pipeline_sums *x, const way_costs *w);

/* A stage: layers [i, j) on devices [begin, end). in_flight: micro-batches
 * between the forward pass and the end of the backward pass; waiting: if the
 * backward pass is in two parts, those that wait for the first of them, else
 * 0. */
typedef struct stage_place {
	int i, j, begin, end, in_flight, waiting;
} stage_place;

/* The way that computes a stage's micro-batch fastest within a fraction of each
 * device's memory (INFINITY: ignore memory); NULL if there is none. *seconds:
 * per micro-batch, including its share of what runs once. */
const way_sums *pipeline_sums_best(const pipeline_sums *x,
				   const stage_place *at, double share,
				   double *seconds);

/* The way that needs the least of a device, and that as a fraction of the limit
 * of each; NULL if there is none. */
const way_sums *pipeline_sums_least(const pipeline_sums *x,
				    const stage_place *at, double *share);

/* The bytes per device, and seconds as above, of a stage by a given way.
 * Returns false if the way is not known. */
bool pipeline_sums_of(const pipeline_sums *x, const pipeline_way *way,
		      const stage_place *at, double *bytes, double *seconds);

/* Learns from the stages of a plan with this cut, which has one chunk per
 * stage. */
void pipeline_sums_learn(pipeline_sums *x, const pipeline_cut *cut,
			 const pipeline_result *r);

/* Forgets what was learnt. */
void pipeline_sums_forget(pipeline_sums *x);

/* stage_place.waiting of stage s. */
int pipeline_sums_waiting(pipeline_schedule kind, int s, int nstages,
			  int turns);

/* Stage s of a cut with one chunk per stage. */
stage_place pipeline_sums_place(const pipeline_cut *cut, int s, int turns);

/* The bytes that each of devices [begin, end) may use, by how or by the
 * machine; INFINITY.  Used even without a limit, since plans that fit the
 * machine are better. */
double pipeline_limit(const plan_request *how, int begin, int end);

#endif
