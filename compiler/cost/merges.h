/* Operators that may become a part of the one that reads their result.
 *
 * The assignment determines which of them do (lower/fuse.h); a `merge' states
 * the facts known before there is one.  Made by fuse_outlook(), used by the
 * lower bounds of program_bounds.h. */
#ifndef TDL_COMPILER_COST_MERGES_H
#define TDL_COMPILER_COST_MERGES_H

#include "compiler/graph/graph.h"

/* Of a tensor that may never be in memory: */
typedef struct merge {
	bool may;
	/* The only node that reads the tensor, where that is known.  It has to
	 * be divided as `read' says and as the tensor is cut. */
	node_id reader;		  /* NONE where it is not known */
	const struct kexpr *read; /* in the reader's kernel */
} merge;

#endif
