/* Operators that may become a part of the one that reads what they compute.
 *
 * Which ones do depends on how they are divided (lower/fuse.h); here is what
 * can be said before. */
#ifndef TDL_COMPILER_SEARCH_MERGES_H
#define TDL_COMPILER_SEARCH_MERGES_H

#include "compiler/graph/graph.h"

/* Of a tensor that may never be in memory: */
typedef struct merge {
	bool may;
	/* Where it is known that one node alone reads it: that one, which has
	 * to be divided as `read` says and as the tensor lies. */
	node_id reader;		  /* NONE where it is not known */
	const struct kexpr *read; /* in the reader's kernel */
} merge;

#endif
