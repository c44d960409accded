/* The output of `tdlc plan': a report, as JSON and as text. */
#ifndef TDL_COMPILER_DRIVER_PLAN_PRINT_H
#define TDL_COMPILER_DRIVER_PLAN_PRINT_H

#include <jansson.h>

#include "compiler/planners/search.h"
#include "plan/plan.h"

typedef struct plan_report {
	const graph *graph;
	const search_result *search;
	const plan *plan;
	int64_t one_device_bytes; /* arena of the same program on one device */
	double one_device_seconds; /* and its predicted time */
	double seconds;		  /* predicted, of one run, .. */
	double computation, communication; /* .. and of its instructions, see
					      lower_times */
	const char *machine;	  /* for which this is predicted */
	int64_t machine_memory;	  /* of a device of it; 0: not known */
	const char *objective;	  /* of the search: bytes, time, memory */
	bool proven; /* that no plan is better by it: docs/json.md */
} plan_report;

/* The object of cli.md, `tdlc plan --json`. */
json_t *plan_report_json(const plan_report *r);

/* The same in a few lines, for people, on standard output. */
void plan_report_text(arena *a, const plan_report *r);

/* "102 MB" */
const char *plan_bytes_text(arena *a, int64_t n);

#endif
