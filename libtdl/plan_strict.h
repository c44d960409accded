/* The strict modes of tdlc plan. */
#ifndef TDL_LIBTDL_PLAN_STRICT_H
#define TDL_LIBTDL_PLAN_STRICT_H

#include "base/diag.h"
#include "compiler/planners/search.h"

typedef struct plan_strictness {
	bool fail_on_opaque;
	int64_t replicated; /* bytes of a tensor from which on to warn; -1 for
			       never */
} plan_strictness;

/* Whether no strategy divides a kernel into that many parts, though one of its
 * extents is that large or it is opaque. */
bool node_is_whole(const kernel *k, int64_t parts);
/* The reason why no strategy divides it, a clause. */
const char *node_whole_reasons(arena *a, const kernel *k);

/* If asked for, adds an error for each operator that no strategy divides;
 * returns false then. */
bool plan_is_divided(arena *a, const graph *g, const plan_strictness *s,
		     diag_sink *sink);

/* If asked for, adds a warning for each tensor that every device stores, or
 * fetches, in full. */
void plan_warn_replicated(arena *a, const graph *g, const assignment *as,
			  const plan_strictness *s, diag_sink *sink);

#endif
