/* The operators of a model that can be divided, and those that cannot. */
#ifndef TDL_LIBTDL_COVERAGE_H
#define TDL_LIBTDL_COVERAGE_H

#include <stdio.h>

#include "base/json.h"
#include "base/vec.h"
#include "compiler/analysis/strategy.h"
#include "compiler/model/model.h"
#include "compiler/planners/search.h"
#include "libtdl/plan_input.h"
#include "libtdl/plan_strict.h"

typedef VEC(const char *) coverage_names;

/* A row of the table: an operator of the library, or a kind of the model's own
 * operators ("Conv"). */
typedef struct coverage_row {
	const char *name;
	int nodes, unsupported, unknown; /* of the model: as in survey_kind */
	int operators, whole;		 /* in the graph; of these, undivided */
	int64_t bytes;			 /* that the plan moves for them */
	coverage_names strategies; /* variables that may be divided */
	/* for a library operator, the kinds that are mapped to it; for a kind,
	 * the library operators */
	coverage_names others;
} coverage_row;

typedef VEC(coverage_row) coverage_rows;

/* An operator that no strategy divides. */
typedef struct coverage_whole {
	const node *node;
	const char *why;
	/* bytes needed to bring the inputs that are cut to every device */
	int64_t fetched;
	int64_t repeated; /* bytes of the result beyond the first copy */
	int64_t bytes;	  /* that the plan moves for it */
} coverage_whole;

typedef struct coverage {
	int64_t devices;
	/* the least number of parts into which an operator should be divided */
	int64_t parts;
	const graph *graph;
	const search_result *search;
	model_survey survey;
	coverage_rows ops, kinds;
	VEC(coverage_whole) whole;
} coverage;

typedef struct coverage_request {
	int64_t devices;
	plan_model model; /* only its sizes and its name */
} coverage_request;

#define COVERAGE_REQUEST { .devices = 2 }

#define COVERAGE_OPTIONS(r)                                                  \
	{ CLI_INT, 'k', "devices", "N",                                      \
	  "the number of devices for the costs (2)", &(r)->devices,          \
	  .min = 2, .max = MESH_MAX_WORKERS },                               \
	PLAN_OPTIONS_SIZES(&(r)->model)

/* Reads the model at path and collects the facts.  Returns NULL with errors
 * added, or after a message; *status is then the command's. */
const coverage *coverage_of(job *d, const char *path,
			    const coverage_request *r, cli_status *status);

/* The output of `tdlc coverage --json'. */
json_t *coverage_json(const coverage *c);
/* The same without --json. */
void coverage_text(FILE *to, arena *a, const coverage *c);

#endif
