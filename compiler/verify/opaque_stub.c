/* A function that stands in for any opaque function.  Each element of its
 * results mixes all elements of all arguments with its own position.
 * Strategies that are right for this function are right for any, as it depends
 * only on its slices. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <string.h>

#include "base/hash.h"
#include "include/tdl/kernel.h"

/* Moves to the next position.  Returns false after the last. */
static bool advance(const tdl_view *v, int64_t *at)
{
	for (int d = v->ndim; d-- > 0;) {
		if (++at[d] < v->dims[d])
			return true;
		at[d] = 0;
	}
	return false;
}

static bool is_empty(const tdl_view *v)
{
	for (int d = 0; d < v->ndim; d++)
		if (v->dims[d] <= 0)
			return true;
	return false;
}

static int64_t offset(const tdl_view *v, const int64_t *at)
{
	int64_t i = 0;
	for (int d = 0; d < v->ndim; d++)
		i += at[d] * v->strides[d];
	return i;
}

static uint64_t mix_argument(uint64_t seed, const tdl_view *v)
{
	int64_t at[MAX_NDIM] = { 0 };
	dtype t = (dtype)v->dtype;
	seed = hash_bytes(seed, v->dims, (size_t)v->ndim * sizeof(int64_t));
	if (is_empty(v))
		return seed;
	do {
		int64_t i = offset(v, at);
		uint64_t bits;
		if (dtype_is_float(t)) {
			double x = elem_get_f64(t, v->data, i);
			memcpy(&bits, &x, sizeof(bits));
		} else {
			bits = (uint64_t)elem_get_i64(t, v->data, i);
		}
		seed = hash_bytes(seed, &bits, sizeof(bits));
	} while (advance(v, at));
	return seed;
}

static void fill(uint64_t seed, const tdl_view *v)
{
	int64_t at[MAX_NDIM] = { 0 };
	dtype t = (dtype)v->dtype;
	if (is_empty(v))
		return;
	do {
		rng r = { hash_bytes(seed, at, (size_t)v->ndim *
					       sizeof(int64_t)) };
		int64_t i = offset(v, at);
		if (dtype_is_float(t))
			elem_set_f64(t, v->data, i,
				     (double)rng_in(&r, -512, 512) / 64);
		else
			elem_set_i64(t, v->data, i, rng_in(&r, 0, 1));
	} while (advance(v, at));
}

int stand_in(const tdl_kernel_call *call)
{
	uint64_t seed = HASH_SEED;
	for (int i = 0; i < call->ninputs; i++)
		seed = mix_argument(seed, &call->inputs[i]);
	for (int i = 0; i < call->noutputs; i++)
		if (call->outputs[i].data)
			fill(hash_i64(seed, i), &call->outputs[i]);
	return 0;
}
