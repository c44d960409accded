/* Lowering of a graph whose nodes are divided among the stages of a pipeline,
 * each with a mesh and layouts of its own. */
#ifndef TDL_COMPILER_LOWER_PIPELINE_H
#define TDL_COMPILER_LOWER_PIPELINE_H

#include "compiler/lower/lower.h"
#include "compiler/lower/stage_graph.h"
#include "plan/pipeline.h"

typedef enum pipeline_order {
	ORDER_GPIPE, /* all forward passes, then all backward passes */
	ORDER_1F1B,  /* a backward pass as soon as there is one */
} pipeline_order;

/* "gpipe", "1f1b" */
const char *pipeline_order_name(pipeline_order o);

/* A stage: its graph, of stage_graph(), and the layouts in it. */
typedef struct lower_stage {
	const graph *g;
	assignment as;
} lower_stage;

/* The plan, in a; stages[s] for each stage of h->d, which
 * stage_division_refused() accepts.  NULL when errors were added: those of
 * lower_plan(). */
plan_pipeline *lower_pipeline(arena *a, const stage_homes *h,
			      const lower_stage *stages, pipeline_order order,
			      const lower_options *o, diag_sink *s);

#endif
