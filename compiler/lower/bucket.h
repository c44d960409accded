/* Buckets: small reductions that are executed as one (plan_bucket_end()). */
#ifndef TDL_COMPILER_LOWER_BUCKET_H
#define TDL_COMPILER_LOWER_BUCKET_H

#include "compiler/lower/cost.h"

enum { BUCKET_OF_MACHINE = -1 };

typedef struct bucket_options {
	/* The bytes of partial results in a bucket; or BUCKET_OF_MACHINE: as
	 * many as make the machine's latency a tenth of the bucket's time, or
	 * fewer, if the prediction says that is faster. */
	int64_t bytes;
	const topology *machine;
	/* Bytes that a worker's arena may take; 0: a tenth more than without
	 * buckets, within the machine's memory.  An arena that is larger
	 * without buckets does not grow further. */
	int64_t memory;
} bucket_options;

/* The plan p, in a, with reductions of the same collective, element type,
 * reducer and group of workers joined in buckets, if they do not depend on each
 * other; a bucket waits for the last of its reductions.  Results and the bytes
 * moved do not change.  Returns p itself if there is nothing to gain, or not
 * enough memory. f: the classes of p's layouts. */
plan *bucket_plan(arena *a, plan *p, layout_classes *f,
			const bucket_options *o);

/* The same for stage p of a pipeline, whose buffers have places, separately in
 * each of its segments and between two messages, so that messages keep their
 * order.  Buckets are `share' times smaller.  The result is in a, with places;
 * NULL if no bucket has several reductions. */
plan *bucket_stage(arena *a, const plan *p, const bucket_options *o,
		   int64_t share);

/* Seconds of a run of p that its largest buckets would save if nothing waited
 * for them or for memory. p's buffers need no places. x: for the machine of
 * *o. */
double bucket_might_save(instr_times *x, const plan *p,
			 const bucket_options *o);

#endif
