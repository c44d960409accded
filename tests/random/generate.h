/* Random operators, as text with shapes that suit it.
 *
 * Every construct of the language's expressions occurs: reads that are plain,
 * strided, shifted, guarded, clamped, under a condition, at what was read;
 * reductions in each other; choices; conversions; packs; calls.  Most are well
 * typed and inside their tensors by construction; what the checker or expansion
 * refuses all the same is counted by the caller. */
#ifndef TDL_TESTS_RANDOM_GENERATE_H
#define TDL_TESTS_RANDOM_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"

enum { MAX_DIMS = 5, MAX_PARAMS = 8 };

/* A parameter of the operator "f". */
typedef struct random_param {
	const char *name;
	dtype type;
	int ndim;
	int64_t dims[MAX_DIMS];
} random_param;

typedef struct random_operator {
	const char *text;
	uint64_t seed;
	int nparams;
	random_param params[MAX_PARAMS];
} random_operator;

/* The same seed gives the same operator. */
random_operator random_operator_new(arena *a, uint64_t seed);

#endif
