/* A plan as a report: all that is drawn of it, as JSON, and the page that draws
 * it. */
#ifndef TDL_LIBTDL_REPORT_H
#define TDL_LIBTDL_REPORT_H

#include "base/json.h"
#include "compiler/cost/topology.h"
#include "libtdl/stages_view.h"
#include "plan/plan.h"

/* The figures of a plan, with times predicted for a machine: the output of
 * `tdlc report --json' (docs/report.md).  The plan has to be laid out by its
 * mesh on the machine, plan_topology().  What takes a look at each
 * worker is null for more than 256 of them. */
json_t *report_json(const plan *p, const topology *machine);

/* The same of a plan of several stages: the figures of the whole, and a report
 * for each stage, with the times of the simulated step. */
json_t *report_stages_json(const stages_view *v);

/* The page that draws a report: HTML that loads nothing, in a, *len bytes.  No
 * text of the report is markup in it, whatever it contains. */
char *report_page(arena *a, const json_t *report, size_t *len);

#endif
