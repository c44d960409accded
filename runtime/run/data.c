#include "config.h"

#include "runtime/run/data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/random.h"
#include "runtime/exec/executor.h"

/* ---- reading ----------------------------------------------------------- */

static int find_input(const plan *p, const char *name)
{
	for (int i = 0; i < p->ninputs; i++)
		if (!strcmp(p->tensors[p->inputs[i]].name, name))
			return i;
	return -1;
}

static bool same_dims(const int64_t *x, const int64_t *y, int n)
{
	return !memcmp(x, y, (size_t)n * sizeof(*x));
}

/* The samples of array x in a step if it is divided for input t; 0 if the whole
 * array is the input; -1 if it fits neither way. */
static int64_t samples_per_step(const plan_tensor *t, const array *x)
{
	if (x->ndim == t->ndim && same_dims(x->dims, t->dims, t->ndim))
		return 0;
	if (x->ndim == t->ndim && t->ndim > 0 && t->dims[0] > 0 &&
	    same_dims(x->dims + 1, t->dims + 1, t->ndim - 1))
		return t->dims[0];
	if (x->ndim == t->ndim + 1 && same_dims(x->dims + 1, t->dims, t->ndim))
		return 1;
	return -1;
}

/* Notes that array i is divided into samples, `batch' of them per step. */
static bool note_samples(dataset *d, int i, int64_t batch, const char *path,
			 failure *f)
{
	const array *x = &d->arrays[i];
	d->divided[i] = true;
	if (d->batch == 0) {
		d->batch = batch;
		d->samples = x->dims[0];
	}
	if (x->dims[0] != d->samples)
		return fail_with(f, CLI_INPUT, "%s: '%s' has %" PRId64
				 " samples, other arrays have %" PRId64, path,
				 x->name, x->dims[0], d->samples);
	if (batch != d->batch)
		return fail_with(f, CLI_INPUT, "%s: a step takes %" PRId64
				 " samples of '%s', %" PRId64 " of other "
				 "arrays", path, batch, x->name, d->batch);
	return true;
}

static bool describe(dataset *d, npz *z, int i, const char *path, failure *f)
{
	array *x = &d->arrays[i];
	const plan_tensor *t = &d->p->tensors[d->p->inputs[i]];
	int64_t batch;
	if (!npz_shape(z, x, f))
		return false;
	batch = samples_per_step(t, x);
	if (batch < 0)
		return fail_with(f, CLI_INPUT, "%s: '%s' has neither the shape "
				 "of the input nor samples of it: but for one "
				 "dimension in front the shapes must be the "
				 "same", path, x->name);
	return batch == 0 || note_samples(d, i, batch, path, f);
}

static bool load(dataset *d, npz *z, int i, const char *path, failure *f)
{
	array *x = &d->arrays[i];
	int64_t nbytes = array_nbytes(x);
	int64_t have = (int64_t)sysconf(_SC_PHYS_PAGES) *
		       (int64_t)sysconf(_SC_PAGESIZE);
	if (have <= 0 || nbytes <= have)
		x->data = malloc(nbytes > 0 ? (size_t)nbytes : 1);
	if (!x->data)
		return fail_with(f, CLI_MACHINE, "%s: no memory for the %"
				 PRId64 " bytes of '%s'", path, nbytes,
				 x->name);
	return npz_read(z, x, f);
}

/* A data set of exactly one batch: each array has its input's shape, and the
 * first dimension of all is the samples. */
static bool note_one_batch(dataset *d)
{
	for (int i = 0; i < d->p->ninputs; i++) {
		const array *x = &d->arrays[i];
		if (!x->data)
			continue;
		if (x->ndim == 0 || x->dims[0] < 1 ||
		    (d->batch && x->dims[0] != d->batch))
			return false;
		d->samples = d->batch = x->dims[0];
		d->divided[i] = true;
	}
	return d->batch > 0;
}

static void note_unused(arena *a, dataset *d, const char *name)
{
	d->unused = arena_printf(a, "%s%s'%s'", d->unused ? d->unused : "",
				 d->unused ? ", " : "", name);
}

static bool read_arrays(arena *a, dataset *d, npz *z, const char *path,
			failure *f)
{
	for (int n = 0; npz_name(z, n); n++) {
		int i = find_input(d->p, npz_name(z, n));
		if (i < 0) {
			note_unused(a, d, npz_name(z, n));
			continue;
		}
		if (!describe(d, z, i, path, f) || !load(d, z, i, path, f))
			return false;
	}
	if (d->batch == 0 && !note_one_batch(d))
		return fail_with(f, CLI_INPUT, "%s: there are no samples: no "
				 "array has a first dimension other than its "
				 "input's, or one dimension more", path);
	return d->samples > 0 ||
	       fail_with(f, CLI_INPUT, "%s: there are 0 samples", path);
}

dataset *dataset_read(arena *a, const plan *p, const char *path, failure *f)
{
	dataset *d = ARENA_NEW(a, dataset);
	npz *z = npz_open(a, path, f);
	if (!z)
		return NULL;
	d->p = p;
	d->arrays = ARENA_ARRAY(a, array, p->ninputs);
	d->divided = ARENA_ARRAY(a, bool, p->ninputs);
	for (int i = 0; i < p->ninputs; i++)
		d->arrays[i] = executor_array(p, p->inputs[i]);
	bool good = read_arrays(a, d, z, path, f);
	npz_close(z);
	if (good)
		return d;
	dataset_free(d);
	return NULL;
}

void dataset_free(dataset *d)
{
	for (int i = 0; d && i < d->p->ninputs; i++)
		free(d->arrays[i].data);
}

/* ---- batches ----------------------------------------------------------- */

int64_t dataset_steps(const dataset *d, bool padded)
{
	return d->samples / d->batch +
	       (padded && d->samples % d->batch != 0);
}

/* Draws a number below n, all equally likely.  Words of the stream that would
 * make some likelier are skipped. */
static uint64_t draw_below(uint64_t seed, uint64_t *at, uint64_t n)
{
	uint64_t most = UINT64_MAX - UINT64_MAX % n, v;
	do {
		v = (uint64_t)random_word(seed, *at) << 32;
		v |= random_word(seed, *at + 1);
		*at += 2;
	} while (v >= most);
	return v % n;
}

/* Shuffles by Fisher and Yates.  The epoch's key is a word of the seed's
 * stream. */
void dataset_shuffle(uint64_t seed, int64_t epoch, int64_t n, int64_t *to)
{
	uint64_t k = 2 * (uint64_t)epoch, at = 0;
	uint64_t key = (uint64_t)random_word(seed, k) << 32 |
		       random_word(seed, k + 1);
	for (int64_t i = 0; i < n; i++)
		to[i] = i;
	for (int64_t i = n - 1; i > 0; i--) {
		int64_t j = (int64_t)draw_below(key, &at, (uint64_t)i + 1);
		int64_t x = to[i];
		to[i] = to[j];
		to[j] = x;
	}
}

static void fill_input(const dataset *d, int i, const int64_t *order,
		       int64_t first, const array *input)
{
	const array *from = &d->arrays[i];
	size_t nbytes = (size_t)(array_nbytes(input) / d->batch);
	for (int64_t j = 0; j < d->batch; j++) {
		int64_t n = first + j < d->samples ? first + j : d->samples - 1;
		int64_t sample = order ? order[n] : n;
		memcpy((char *)input->data + (size_t)j * nbytes,
		       (const char *)from->data + (size_t)sample * nbytes,
		       nbytes);
	}
}

int64_t dataset_fill(const dataset *d, const int64_t *order, int64_t step,
		     const array *inputs)
{
	int64_t first = step * d->batch, left = d->samples - first;
	for (int i = 0; i < d->p->ninputs; i++)
		if (d->divided[i])
			fill_input(d, i, order, first, &inputs[i]);
		else if (d->arrays[i].data)
			memcpy(inputs[i].data, d->arrays[i].data,
			       (size_t)array_nbytes(&inputs[i]));
	return left < d->batch ? left : d->batch;
}
