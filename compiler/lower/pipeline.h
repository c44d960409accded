/* Lowering of a graph whose nodes are divided among the stages of a pipeline,
 * each with its own mesh and layouts. */
#ifndef TDL_COMPILER_LOWER_PIPELINE_H
#define TDL_COMPILER_LOWER_PIPELINE_H

#include "compiler/cost/schedule.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/stage_graph.h"
#include "plan/pipeline.h"

/* A stage: its graph, made by stage_graph(), and the layouts in it. */
typedef struct lower_stage {
	const graph *g;
	assignment as;
	const plan *draft; /* of lowering_draft(); NULL: not made yet */
} lower_stage;

/* The plan, in a.  A draft may be shared by stages of several pipelines, by any
 * schedule. stages[s] is for each stage of h->d, which
 * stage_division_refused() accepts.  The schedule's devices are the stages,
 * with as many chunks as the division has; its micro-batches are the turns.
 * pipeline_refused() accepts it; for its times see pipeline_lists().
 *
 * Returns NULL after adding errors: those of lower_plan(). */
plan_pipeline *lower_pipeline(arena *a, const stage_homes *h,
			      const lower_stage *stages,
			      const pipeline *schedule, const lower_options *o,
			      diag_sink *s);

/* As lower_completed(). */
plan_pipeline *lower_completed_pipeline(arena *a, const plan_pipeline *p,
					void (*codegen)(arena *a,
							plan_kernel *k),
					diag_sink *s);

#endif
