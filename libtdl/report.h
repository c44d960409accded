/* A plan as a report: everything that is drawn of it, as JSON, and the page
 * that draws it. */
#ifndef TDL_LIBTDL_REPORT_H
#define TDL_LIBTDL_REPORT_H

#include "base/json.h"
#include "compiler/cost/topology.h"
#include "libtdl/stages_view.h"
#include "plan/plan.h"

/* The figures of a plan, with times predicted for a machine: the output of
 * `tdlc report --json' (docs/report.md).  The plan's mesh must be that of the
 * machine, as plan_topology() checks.  Figures that need a visit of each worker
 * are null for more than 256 workers. */
json_t *report_json(const plan *p, const topology *machine);

/* The same for a plan with several stages: the figures of the whole, and a
 * report for each stage with the times of the simulated step. */
json_t *report_stages_json(const stages_view *v);

/* The page that draws a report: HTML that loads nothing, in a, *len bytes.
 * Texts of the report are escaped: none becomes markup. */
char *report_page(arena *a, const json_t *report, size_t *len);

#endif
