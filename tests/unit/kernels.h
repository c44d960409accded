/* Random kernels over i64 tensors, and an oracle that walks them point by
 * point, written without looking at how kernel/ does it. */
#ifndef TDL_TESTS_UNIT_KERNELS_H
#define TDL_TESTS_UNIT_KERNELS_H

#include "kernel/eval.h"

/* A generator of pseudo-random numbers (splitmix64). */
typedef struct rng {
	uint64_t state;
} rng;

/* Uniform in [lo, hi]. */
int pick(rng *r, int lo, int hi);
bool chance(rng *r, int percent);

typedef struct recipe {
	bool quasi;	 /* / % min max abs and products in indices */
	bool joint;	 /* conditions on several variables, and or not */
	bool conditions; /* select */
	bool data;	 /* data-dependent indices */
	bool reduce;
	int max_extent;
} recipe;

/* A random kernel, its accesses not yet prepared. */
kernel *random_kernel(arena *a, rng *r, const recipe *how);

/* A random index expression in k's variables. */
kexpr *random_index(arena *a, rng *r, const kernel *k, const recipe *how);

/* A random part of the iteration space, now and then empty. */
box random_part(rng *r, const kernel *k);

/* A dense box of f64, small integers. */
view random_view(arena *a, rng *r, const box *at);

/* Called for each read that is made, with its indices. */
typedef void seen_read(void *ctx, const kexpr *read, const int64_t *index);

typedef struct oracle {
	const kernel *k;
	const box *space;
	int64_t **data; /* per input, whole and dense */
	int64_t point[MAX_NVARS];
	bool fault; /* an index was outside its input */
	seen_read *seen;
	void *ctx;
} oracle;

/* Random contents for all inputs. */
int64_t **random_data(arena *a, rng *r, const kernel *k);

/* The body, or any i64 or bool expression, at the oracle's point. */
int64_t oracle_value(oracle *o, const kexpr *e);

/* Sets the point to the first of dimensions [from, to) of the space, false
 * where there is none; goes on to the next one, false after the last. */
bool oracle_start(oracle *o, int from, int to);
bool oracle_next(oracle *o, int from, int to);

/* The number of loops: variables that are not derived. */
int oracle_loops(const kernel *k);

#endif
