/* Data sets: arrays of samples that are divided into batches. */
#ifndef TDL_RUNTIME_RUN_DATA_H
#define TDL_RUNTIME_RUN_DATA_H

#include "plan/plan.h"
#include "runtime/exec/npz.h"

/* The arrays of an .npz file for the inputs of a plan.  An array with an
 * input's own shape is fed whole in each step.  If only the first dimension
 * differs, it counts samples, and a step takes as many as the input has.  If
 * the array has one more dimension in front, a step takes one sample.  All
 * arrays must have the same number of samples, and a step takes equally many of
 * each.  If all arrays have their inputs' own shapes and the same first
 * dimension, they are the samples of one step. */
typedef struct dataset {
	const plan *p;
	array *arrays; /* by input; .data is NULL if the file has none */
	bool *divided; /* by input: whether it is divided into samples */
	int64_t samples, batch; /* in the set; per step */
	const char *unused; /* arrays without an input, "'a', 'b'"; NULL */
} dataset;

/* Reads the arrays with names of inputs from a file, which must have samples.
 * NULL, with *f set, on failure. dataset_free() frees the elements. */
dataset *dataset_read(arena *a, const plan *p, const char *path, failure *f);
void dataset_free(dataset *d);

/* The number of steps in an epoch: of full batches or, padded, of all
 * samples. */
int64_t dataset_steps(const dataset *d, bool padded);

/* The order of the samples in an epoch: to[] becomes a uniformly random
 * permutation of 0 .. n - 1 that depends only on the seed and the epoch. */
void dataset_shuffle(uint64_t seed, int64_t epoch, int64_t n, int64_t *to);

/* Fills the inputs that the set has for step `step' of an epoch with samples
 * order[step * batch] and so on, or in the order of the file if order is NULL.
 * Repeats the last sample to fill the batch.  Returns the number of samples
 * without repetitions. */
int64_t dataset_fill(const dataset *d, const int64_t *order, int64_t step,
		     const array *inputs);

#endif
