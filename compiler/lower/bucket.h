/* Buckets: small reductions that are executed as one (plan_bucket_end()). */
#ifndef TDL_COMPILER_LOWER_BUCKET_H
#define TDL_COMPILER_LOWER_BUCKET_H

#include "compiler/lower/cost.h"

enum { BUCKET_OF_MACHINE = -1 };

typedef struct bucket_options {
	/* The bytes of partial results that a bucket may have, or
	 * BUCKET_OF_MACHINE: such that its latency on the machine is a tenth of
	 * its time, or fewer, if that is predicted to be faster. */
	int64_t bytes;
	const topology *machine;
	/* Bytes that a worker's arena may take; 0: a tenth more than it does
	 * without buckets, within the machine's memory.  A larger one is not
	 * enlarged further. */
	int64_t memory;
} bucket_options;

/* The plan p, in a, with its reductions of one collective, element type,
 * reducer and group of workers put together as long as none depends on
 * another: those of a bucket wait for the last of them.  What it computes, and
 * the bytes that it moves, stay the same.  p itself where there is nothing to
 * gain, or no memory for it.  f: the classes of p's layouts. */
plan *bucket_plan(arena *a, plan *p, layout_classes *f,
			const bucket_options *o);

/* The stage p of a pipeline, which has places, with its reductions put together
 * alike, in each of its segments by itself and between two messages, so that
 * these keep their order; its buckets have one in `share' of the bytes.  In a,
 * with places; NULL where none has several reductions. */
plan *bucket_stage(arena *a, const plan *p, const bucket_options *o,
		   int64_t share);

/* Seconds of a run of p that its largest buckets would save if nothing waited
 * for them or for memory; p's places may be open.  x: of the machine of *o. */
double bucket_might_save(instr_times *x, const plan *p,
			 const bucket_options *o);

#endif
