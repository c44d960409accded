/* Profiles of a model, layer by layer, as mCAP makes them: each layer alone,
 * and behind the one before it, of a micro-batch and of half of one.
 *
 * The layers are those between which stages of a pipeline may be cut; of equal
 * ones the first is run.  A run is a stage's program, forward and backward
 * passes and the update of its states, for one micro-batch, so that a model
 * needs no more memory than two of its layers do. */
#ifndef TDL_LIBTDL_LAYER_PROFILE_H
#define TDL_LIBTDL_LAYER_PROFILE_H

#include "compiler/portfolio/pipeline_costs.h"
#include "libtdl/api.h"
#include "plan/profile.h"

/* The time and the memory of layers, of the worker that takes longest. */
typedef struct layer_figures {
	double turn; /* seconds of the micro-batch, both passes */
	double once; /* and of what is once in a step */
	double bytes; /* of an arena, as it was used */
} layer_figures;

enum { LAYER_SIZES = 2 };

/* Layers [i, j), one or two. */
typedef struct layer_run {
	int i, j;
	const char *refused; /* why they were not run; NULL: they were */
	bool known[LAYER_SIZES]; /* of a micro-batch, of half of one */
	layer_figures of[LAYER_SIZES];
} layer_run;

typedef struct layer_profile {
	arena *arena;
	const graph *g; /* of a micro-batch */
	int devices, turns;
	const char *algorithm;
	int64_t samples[LAYER_SIZES]; /* the second is 0 where there is no
					 half */
	const pipeline_costs *costs;
	VEC(layer_run) runs;
	profile *all;
} layer_profile;

/* The options of the measurement. */
typedef struct layer_options {
	int64_t steps, limit; /* bytes of a device; 0: those of this machine */
	int kernels; /* as of backend_options */
} layer_options;

/* Measures the layers of how->graph, in so many micro-batches, by the planner
 * of how; what is measured is added to `all'.  NULL when errors were added, or
 * after a message. */
const layer_profile *layer_profile_make(api_call *c, const plan_request *how,
					const turns_options *turns,
					const layer_options *o, profile *all);

/* The run of layers [i, j), or of others that do the same; NULL where they were
 * not run. */
const layer_run *layer_profile_find(const layer_profile *p, int i, int j);

/* A step of all layers: the first one alone, and what each adds to the one
 * before it; the passes of all micro-batches.  NAN where a layer is not
 * known. */
double layer_profile_step(const layer_profile *p);

/* The error of the sum of two layers' times where both are run together,
 * relative to their time then: of all pairs the median and the most; NAN where
 * none is known. */
typedef struct layer_apart {
	double median, most;
} layer_apart;

layer_apart layer_profile_apart(arena *a, const layer_profile *p);

/* The output of `tdlc profile --json', and without. */
json_t *layer_profile_json(const layer_profile *p);
void layer_profile_text(FILE *to, const layer_profile *p);

#endif
