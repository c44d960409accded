/* Operators that may be merged into the one that reads their result.
 *
 * The assignment determines which of them are (lower/fuse.h).  A `merge' has
 * the facts that are known before there is one.  Made by fuse_outlook(), used
 * by the lower bounds of program_bounds.h. */
#ifndef TDL_COMPILER_COST_MERGES_H
#define TDL_COMPILER_COST_MERGES_H

#include "compiler/graph/graph.h"

/* For a tensor that may never be in memory: */
typedef struct merge {
	bool may;
	/* The only node that reads the tensor, if known.  It must be divided as
	 * `read' requires for the tensor's cuts. */
	node_id reader;		  /* NONE if not known */
	const struct kexpr *read; /* in the reader's kernel */
} merge;

#endif
