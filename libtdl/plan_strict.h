/* The strict modes of tdlc plan. */
#ifndef TDL_LIBTDL_PLAN_STRICT_H
#define TDL_LIBTDL_PLAN_STRICT_H

#include "base/diag.h"
#include "compiler/planners/search.h"

typedef struct plan_strictness {
	bool fail_on_opaque;
	/* warn for tensors from this many bytes on; -1: never */
	int64_t replicated;
} plan_strictness;

/* Whether no strategy divides a kernel into that many parts, although one of
 * its extents is large enough or it is opaque. */
bool node_is_whole(const kernel *k, int64_t parts);
/* The reason why no strategy divides it, as a clause. */
const char *node_whole_reasons(arena *a, const kernel *k);

/* If requested, adds an error for each operator that no strategy divides;
 * returns false if there are any. */
bool plan_is_divided(arena *a, const graph *g, const plan_strictness *s,
		     diag_sink *sink);

/* If requested, adds a warning for each tensor that every device stores, or
 * fetches, whole. */
void plan_warn_replicated(arena *a, const graph *g, const assignment *as,
			  const plan_strictness *s, diag_sink *sink);

#endif
