/* Random training steps in stages: chains of layers with skips, tied weights
 * and a number that all updates share, each layer with its backward pass. */
#ifndef TDL_TESTS_UNIT_RANDOM_PIPELINE_H
#define TDL_TESTS_UNIT_RANDOM_PIPELINE_H

#include "compiler/lower/pipeline.h"
#include "tests/unit/random_graph.h"

typedef struct staged_graph {
	graph *g; /* in turns */
	stage_division division;
} staged_graph;

/* The same seed gives the same graph, division and layouts; chunks: of a stage,
 * at most. */
staged_graph random_staged_graph(arena *a, rng *r, int chunks);

/* Lowered with random layouts of each stage, on random meshes. */
plan_pipeline *random_pipeline(arena *a, uint64_t seed, pipeline_schedule kind,
			       diag_sink *s);

/* The same step with stage_ties(), whose stages compute their forward passes
 * again; other layouts. */
plan_pipeline *random_pipeline_again(arena *a, uint64_t seed,
				     pipeline_schedule kind, diag_sink *s);

#endif
