/* Data sets: arrays of samples that batches are cut from. */
#ifndef TDL_RUNTIME_RUN_DATA_H
#define TDL_RUNTIME_RUN_DATA_H

#include "plan/plan.h"
#include "runtime/exec/npz.h"

/* The arrays of an .npz file for the inputs of a plan.  An array of an input's
 * own shape is fed whole in each step.  If only the first dimension differs, it
 * counts samples, and a step takes as many as the input has; if the array has
 * one more dimension, in front, a step takes one sample.  All arrays have the
 * same number of samples, and a step takes equally many of each.  If all arrays
 * have their inputs' own shapes, and the same first dimension, they are the
 * samples of one step. */
typedef struct dataset {
	const plan *p;
	array *arrays; /* by input; .data is NULL where the file has none */
	bool *divided; /* by input: into samples */
	int64_t samples, batch; /* of the set, of a step */
	const char *unused; /* "'a', 'b'": arrays without an input; NULL */
} dataset;

/* Reads from a file, which must have samples, the arrays that have names of
 * inputs.  NULL, with *f set, on failure.  dataset_free() frees the
 * elements. */
dataset *dataset_read(arena *a, const plan *p, const char *path, failure *f);
void dataset_free(dataset *d);

/* The number of steps in an epoch: of full batches, or, padded, of all
 * samples. */
int64_t dataset_steps(const dataset *d, bool padded);

/* The order of the samples in an epoch, which depends only on the seed and
 * the epoch: to[] is a permutation of 0 .. n - 1, each equally likely. */
void dataset_shuffle(uint64_t seed, int64_t epoch, int64_t n, int64_t *to);

/* Fills the inputs that the set has with step `step` of an epoch: samples
 * order[step * batch] and so on, or in the order of the file if order is NULL.
 * The last sample is repeated to fill the batch.  Returns the number of samples
 * without these repetitions. */
int64_t dataset_fill(const dataset *d, const int64_t *order, int64_t step,
		     const array *inputs);

#endif
