/* Buckets that are being filled.  Inside lower/bucket*.c only. */
#ifndef TDL_COMPILER_LOWER_BUCKET_MAKER_H
#define TDL_COMPILER_LOWER_BUCKET_MAKER_H

#include "base/vec.h"
#include "compiler/lower/bucket.h"

/* Kinds of reductions of which buckets are filled at a time. */
enum { MOST_KINDS = 64 };

/* The common part of the reductions of a bucket, which are reduce-scatters;
 * axes of the mesh, a bit each. */
typedef struct kind {
	reducer reducer;
	dtype type;
	uint32_t axes; /* along which they go */
	bool spreads;  /* an all-gather follows each, .. */
	uint32_t over; /* .. along these axes */
} kind;

typedef VEC(int) ints;

/* A bucket that is being filled. */
typedef struct filling {
	kind kind;
	int bucket; /* its number; 0: there is none */
	int64_t bytes, most;
	ints below; /* buffers with results that depend on it */
} filling;

typedef struct bucket_maker {
	arena *tmp;
	plan *p; /* without updates of states; as it becomes */
	const plan_instr *from; /* the program as it was */
	const bucket_options *o;
	int64_t share; /* of a bucket's bytes: one of so many */
	int levels[MAX_AXES];
	int nkinds;
	filling open[MOST_KINDS];
	uint64_t *depends; /* by buffer: on open[i], a bit each */
	int *bucket;	   /* by instruction: its bucket, 0 for none */
	VEC(ints) members; /* by bucket; the first is none */
	bool *pending;	   /* by buffer: its writer waits for a bucket */
	bool *is_state;	   /* by buffer, of a stage: a state's, or of its next
			      value */
	ints waiting;	   /* the instructions that do */
	VEC(plan_instr) program;
} bucket_maker;

/* For p, which has no updates of states, or is a stage's; ends with .tmp. */
bucket_maker bucket_maker_new(plan *p, const bucket_options *o, int64_t share);

/* The plan, in a, without updates: these follow from the order. */
plan *bucket_without_updates(arena *a, const plan *p);

/* Chooses members among instructions [begin, end).  Nothing is put together
 * beyond a message: stages might wait for each other. */
void bucket_choose(bucket_maker *m, int begin, int end);

/* Whether instruction i + 1 spreads what i, which combines, makes. */
bool bucket_has_spread(const bucket_maker *m, int i, int end);

#endif
