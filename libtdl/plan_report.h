/* A plan that was found, as JSON and as text. */
#ifndef TDL_LIBTDL_PLAN_REPORT_H
#define TDL_LIBTDL_PLAN_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/portfolio/request.h"

/* The output of `tdlc plan --json'. */
json_t *plan_report_json(const plan_result *r);
/* The same without --json: a few lines. */
void plan_report_text(FILE *to, arena *a, const plan_result *r);

/* The same without the lists of tensors and operators. */
json_t *plan_report_search(const plan_result *r);

/* The sizes of a mesh's axes. */
json_t *plan_mesh_json(const mesh *m);

/* The member `micro_batches': null without a loop. */
json_t *plan_loop_json(const plan_loop *o);

/* The numbers of micro-batches tried: null, or a list; "", or "; tried: 1 (..),
 * 2 (..)". */
json_t *plan_tried_json(const plan_result *r);
const char *plan_tried_text(arena *a, const plan_result *r);

/* Adds the numbers of a plan's transfers to counts[], by collective. */
void plan_count_transfers(const plan *p, int *counts);

/* "102 MB" */
const char *plan_bytes_text(arena *a, int64_t n);

#endif
