/* The plans of other planners beside a plan in its report, the frontier of time
 * and memory, a step that was measured: as tdlc and tdlrun write them. */
#ifndef TDL_LIBTDL_REPORT_BESIDE_H
#define TDL_LIBTDL_REPORT_BESIDE_H

#include "base/diag.h"
#include "base/json.h"
#include "plan/pipeline.h"

/* Files, and the same as it was found, which counts where there is no file;
 * NULL: none. */
typedef struct report_files {
	const char *planners; /* of `tdlc compare --json' */
	const char *frontier; /* of `tdlc plan --frontier --json' */
	const char *trace;    /* of `tdlrun --trace' */
	json_t *planners_found, *frontier_found;
} report_files;

/* Sets "planners", "frontier" and "measured" of a report of p, of each of its
 * stages the last; null where there is none.  p may be NULL if there is no file
 * at all.  False with errors added. */
bool report_add_files(arena *a, diag_sink *s, const report_files *f,
		      const plan_pipeline *p, json_t *report);

#endif
