/* Buckets being filled.  Inside lower/bucket*.c only. */
#ifndef TDL_COMPILER_LOWER_BUCKET_MAKER_H
#define TDL_COMPILER_LOWER_BUCKET_MAKER_H

#include "base/vec.h"
#include "compiler/lower/bucket.h"

/* The most kinds of reductions for which buckets are filled at one time. */
enum { MOST_KINDS = 64 };

/* The properties that the reductions of a bucket, which are reduce-scatters,
 * have in common; axes of the mesh, a bit each. */
typedef struct kind {
	reducer reducer;
	dtype type;
	uint32_t axes; /* the axes of the reduction */
	bool spreads;  /* an all-gather follows each, .. */
	uint32_t over; /* .. over these axes */
} kind;

typedef VEC(int) ints;

/* A bucket being filled. */
typedef struct filling {
	kind kind;
	int bucket; /* its number; 0: there is none */
	int64_t bytes, most;
	ints below; /* buffers whose values depend on it */
} filling;

typedef struct bucket_maker {
	arena *tmp;
	plan *p; /* without updates of states; being changed */
	const plan_instr *from; /* the original program */
	const bucket_options *o;
	int64_t share; /* divisor of a bucket's bytes */
	int levels[MAX_AXES];
	int nkinds;
	filling open[MOST_KINDS];
	/* by buffer: the open[i] on which it depends, a bit each */
	uint64_t *depends;
	int *bucket;	   /* by instruction: its bucket, 0 for none */
	VEC(ints) members; /* by bucket; bucket 0 is unused */
	bool *pending;	   /* by buffer: its writer waits for a bucket */
	/* by buffer, in a stage: it is a state's, or of its next value */
	bool *is_state;
	ints waiting;	   /* the instructions that wait for a bucket */
	VEC(plan_instr) program;
} bucket_maker;

/* For p, which has no updates of states, or is a stage.  Its arena .tmp is the
 * caller's to free. */
bucket_maker bucket_maker_new(plan *p, const bucket_options *o, int64_t share);

/* The plan, in a, without updates, which depend on the order. */
plan *bucket_without_updates(arena *a, const plan *p);

/* Chooses the members of buckets among instructions [begin, end).  A bucket
 * does not extend over a message: stages could wait for each other. */
void bucket_choose(bucket_maker *m, int begin, int end);

/* Whether instruction i + 1 spreads the result of COMBINE i. */
bool bucket_has_spread(const bucket_maker *m, int i, int end);

#endif
