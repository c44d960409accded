/* Divides the distinct texts of a plan's kernels into files that are compiled
 * in parallel.  Texts that differ only in the numbers that compiler/codegen
 * defines in front of them are compiled once; their kernels pass these numbers
 * to it. */
#ifndef TDL_RUNTIME_CPU_CHUNKS_H
#define TDL_RUNTIME_CPU_CHUNKS_H

#include "base/arena.h"

typedef struct chunk {
	int n;	    /* kernels in it */
	char *text; /* of the file, in which kernel i is called tdl_ki */
} chunk;

typedef struct chunks {
	/* by kernel: the first one with its text; -1: it has no text */
	int *same;
	int nkernels; /* number of different texts */
	int n;
	chunk *at; /* in a; those that take longest to compile first */
} chunks;

/* Divides the texts for `processors' processors into as many files or, if there
 * are many kernels, more; at least one. sources[i] is NULL for a kernel without
 * text. */
chunks chunks_of(arena *a, int n, const char *const *sources, int processors);

#endif
