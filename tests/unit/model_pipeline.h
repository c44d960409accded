/* Models of examples/models, small, in stages. */
#ifndef TDL_TESTS_UNIT_MODEL_PIPELINE_H
#define TDL_TESTS_UNIT_MODEL_PIPELINE_H

#include "compiler/lower/pipeline.h"
#include "tests/unit/random_layouts.h"

typedef struct model_case {
	const char *file; /* without folder and ending */
	const char *sizes; /* "batch=8 layers=2", of -D */
	const char *optimizer, *precision;
	double clip_norm; /* 0: none */
} model_case;

/* All of them; the last one has no file. */
extern const model_case model_cases[];

/* A step of training; the same in turns. */
graph *model_step(arena *a, const model_case *c);
graph *model_in_turns(arena *a, const model_case *c, int turns);

/* Its layers, divided among parts of about the same work. */
stage_division model_division(arena *a, const graph *g, int nstages,
			      int nchunks);

/* Lowered with layouts by a planner, each stage on 1 to 4 devices at random;
 * or, if r is NULL, on one device. */
plan_pipeline *model_pipeline(arena *a, const graph *g,
			      const stage_division *d, pipeline_schedule kind,
			      rng *r);

#endif
