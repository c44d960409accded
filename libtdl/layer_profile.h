/* Profiles of a model, layer by layer, as mCAP makes them: each layer alone,
 * and after the one before it; for a micro-batch and for half of one.
 *
 * Layers are the units between which stages of a pipeline may be cut; of equal
 * ones the first is run.  A run is the program of a stage: forward and backward
 * passes and the update of its states, for one micro-batch.  A model therefore
 * needs no more memory than two of its layers do. */
#ifndef TDL_LIBTDL_LAYER_PROFILE_H
#define TDL_LIBTDL_LAYER_PROFILE_H

#include "compiler/portfolio/pipeline_costs.h"
#include "libtdl/api.h"
#include "plan/profile.h"

/* Time and memory of layers, on the worker that takes longest. */
typedef struct layer_figures {
	double turn; /* seconds per micro-batch, both passes */
	double once; /* seconds once per step */
	double bytes; /* bytes of the arena used */
} layer_figures;

enum { LAYER_SIZES = 2 };

/* A run of layers [i, j): one or two. */
typedef struct layer_run {
	int i, j;
	const char *refused; /* why they were not run; NULL if they were */
	bool known[LAYER_SIZES]; /* for a micro-batch, for half of one */
	layer_figures of[LAYER_SIZES];
} layer_run;

typedef struct layer_profile {
	arena *arena;
	const graph *g; /* of a micro-batch */
	int devices, turns;
	const char *algorithm;
	int64_t samples[LAYER_SIZES]; /* the second is 0 if there is no half */
	const pipeline_costs *costs;
	VEC(layer_run) runs;
	profile *all;
} layer_profile;

/* The options of the measurement. */
typedef struct layer_options {
	int64_t steps, limit; /* bytes per device; 0: this machine's */
	int kernels; /* as in backend_options */
} layer_options;

/* Measures the layers of how->graph, in micro-batches given by turns, with
 * how's planner; adds the measurements to `all'.  NULL after adding errors, or
 * after a message. */
const layer_profile *layer_profile_make(api_call *c, const plan_request *how,
					const turns_options *turns,
					const layer_options *o, profile *all);

/* The run of layers [i, j), or of others that do the same; NULL if they were
 * not run. */
const layer_run *layer_profile_find(const layer_profile *p, int i, int j);

/* The predicted seconds of a step of all layers: the first one alone, plus what
 * each adds to the one before it; the passes of all micro-batches.  NAN if a
 * layer is not known. */
double layer_profile_step(const layer_profile *p);

/* The relative error of the sum of two layers' times against the time of both
 * run together: the median and the greatest over all pairs; NAN if none is
 * known. */
typedef struct layer_apart {
	double median, most;
} layer_apart;

layer_apart layer_profile_apart(arena *a, const layer_profile *p);

/* The output of `tdlc profile' with --json, and without. */
json_t *layer_profile_json(const layer_profile *p);
void layer_profile_text(FILE *to, const layer_profile *p);

#endif
