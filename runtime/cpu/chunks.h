/* The texts of a plan's kernels, each once, divided into files that are
 * compiled at the same time.  Texts that differ in numbers alone, as
 * compiler/codegen defines them in front of a text, are one, whose kernels hand
 * these numbers to it. */
#ifndef TDL_RUNTIME_CPU_CHUNKS_H
#define TDL_RUNTIME_CPU_CHUNKS_H

#include "base/arena.h"

typedef struct chunk {
	int n;	    /* kernels in it */
	char *text; /* of the file; kernel i is tdl_ki in it */
} chunk;

typedef struct chunks {
	int *same; /* by kernel: the first one of its text; -1: it has none */
	int nkernels; /* of different texts */
	int n;
	chunk *at; /* those that take longest first, in a */
} chunks;

/* Divides the texts for so many processors, into as many files or, of many
 * kernels, into more; into one at least.  sources[i] is NULL for a kernel that
 * has none. */
chunks chunks_of(arena *a, int n, const char *const *sources, int processors);

#endif
