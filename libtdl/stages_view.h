/* A plan with one stage or several on a machine: its simulated step as text, as
 * JSON, as a trace and as a chart. */
#ifndef TDL_LIBTDL_STAGES_VIEW_H
#define TDL_LIBTDL_STAGES_VIEW_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/simulate/simulate.h"
#include "libtdl/job.h"

typedef struct stages_view {
	arena *arena;
	const plan_pipeline *p;
	const topology *machine;
	const simulation *step;
	int *nuses; /* by stage: memory over time */
	simulated_use **uses;
	int64_t *peak; /* the greatest of these */
} stages_view;

/* The machine with that name (NULL: the default) and k devices; NULL after
 * adding errors. */
const topology *stages_machine(job *d, const char *name, int64_t k);

/* The name, or the file, of the machine for which to predict times: the one
 * requested, else the one for which the plan was made; NULL: the default. */
const char *stages_machine_name(const plan_prediction *p, const char *asked);

/* Simulates a step; NULL after adding an error at `path'. */
const stages_view *stages_view_of(job *d, const plan_pipeline *p,
				  const topology *machine, const char *path);

/* ---- parts of other results -------------------------------------------- */

/* "F", "B", "W"; "before" for segment -1, "after" for the one after the
 * last. */
const char *stages_pass_name(const plan *of, int segment);

/* The node of a stage that node n recomputes in its backward pass; -1. */
int stages_computes_again(const plan *of, int n);

/* The number of operators of a stage's forward pass that its backward pass
 * recomputes. */
int stages_recomputed(const plan *of);
/* "117 operators", over all stages; NULL if there are none. */
const char *stages_recomputed_text(arena *a, const plan_pipeline *p);

/* [{"from", "to", "tensor", "once", "bytes"}]: bytes to all receivers per
 * step. */
json_t *stages_channels_json(const stages_view *v);

/* The figures of stage s in a step: devices, times, memory. */
json_t *stages_figures_json(const stages_view *v, int s);

/* The schedule, "1f1b, 8 micro-batches, of 64 samples in all". */
const char *stages_schedule_text(arena *a, const plan_pipeline *p);

/* Rows for the stages: devices, operators, memory, times. */
void stages_table(FILE *to, const stages_view *v);

/* ---- tdlc show --------------------------------------------------------- */

void stages_show_text(FILE *to, const stages_view *v);
json_t *stages_show_json(const stages_view *v);
/* A graph for each stage. */
void stages_show_dot(FILE *to, const stages_view *v, bool unfolded);

/* ---- tdlc explain ------------------------------------------------------ */

/* A tensor by its name: its number in each stage, -1 where it does not
 * exist. */
typedef struct stages_tensor {
	const char *name;
	int *in;
} stages_tensor;

/* Returns false if there is none of that name. */
bool stages_find_tensor(const stages_view *v, const char *name,
			stages_tensor *x);

/* A hint at the name that was probably meant, as from spelling_hint(). */
const char *stages_tensor_hint(const stages_view *v, const char *name);

/* Where it is computed, held, sent and read. */
void stages_tensor_text(FILE *to, const stages_view *v, const stages_tensor *x);
json_t *stages_tensor_json(const stages_view *v, const stages_tensor *x);

/* ---- tdlc simulate ----------------------------------------------------- */

void stages_simulation_text(FILE *to, const stages_view *v);
json_t *stages_simulation_json(const stages_view *v);

/* The step in the format of Chrome's traces: a process for each stage. */
json_t *stages_trace(const stages_view *v);

/* ---- the diagram ------------------------------------------------------- */

/* A line for each stage, with a legend.  A character stands for a part of the
 * step and shows the micro-batch that takes most of it. */
void stages_chart_text(FILE *to, const stages_view *v);

/* The same as SVG, drawn to scale, with messages. */
void stages_chart_svg(FILE *to, const stages_view *v);

#endif
