/* Further data in a plan's report: the plans of other planners, the frontier of
 * time and memory, a measured step, read as tdlc and tdlrun write them. */
#ifndef TDL_LIBTDL_REPORT_BESIDE_H
#define TDL_LIBTDL_REPORT_BESIDE_H

#include "base/diag.h"
#include "base/json.h"
#include "plan/pipeline.h"

/* Files; or the same data as found in this process, used if there is no file;
 * NULL: none. */
typedef struct report_files {
	const char *planners; /* of `tdlc compare --json' */
	const char *frontier; /* of `tdlc plan --frontier --json' */
	const char *trace;    /* of `tdlrun --trace' */
	json_t *planners_found, *frontier_found;
} report_files;

/* Sets "planners", "frontier" and "measured" of a report of p; "measured" for
 * each of its stages; null if missing. p may be NULL if no file is given.
 * Returns false with errors added. */
bool report_add_files(arena *a, diag_sink *s, const report_files *f,
		      const plan_pipeline *p, json_t *report);

#endif
