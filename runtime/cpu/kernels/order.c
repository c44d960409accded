/* The positions of a vector's elements in the order of their values:
 *
 *	opaque falling_order(x[N]) -> at[N]: i64 = "tdl_falling_order"
 *	opaque rising_order(x[N]) -> at[N]: i64 = "tdl_rising_order"
 *
 * Equal elements, and NaNs among themselves, are ordered by position; a NaN is
 * above all numbers.  Return 2 for arguments they do not know. */
#include "config.h"

#include "runtime/cpu/kernels/kernels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "plan/eval.h"

/* A position, and an integer that compares as the element there does. */
typedef struct ranked {
	uint64_t key;
	int64_t at;
} ranked;

static uint64_t key_of(const tdl_view *x, int64_t at)
{
	const uint64_t sign = UINT64_C(1) << 63;
	dtype t = (dtype)x->dtype;
	uint64_t bits;
	if (!dtype_is_float(t)) {
		bits = (uint64_t)elem_get_i64(t, x->data, at);
		return dtype_is_signed(t) ? bits ^ sign : bits;
	}
	double v = elem_get_f64(t, x->data, at);
	if (isnan(v))
		return UINT64_MAX;
	if (v == 0)
		v = 0; /* of either sign */
	memcpy(&bits, &v, sizeof(bits));
	return bits & sign ? ~bits : bits | sign;
}

static int by_key(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int order(const tdl_kernel_call *call, bool falling)
{
	if (call->ninputs != 1 || call->noutputs < 1)
		return 2;
	const tdl_view *x = &call->inputs[0], *at = &call->outputs[0];
	if (!at->data)
		return 0;
	if (x->ndim != 1 || at->ndim != 1 || x->dims[0] != at->dims[0] ||
	    at->dtype != TDL_I64)
		return 2;
	arena *work = arena_new();
	ranked *all = ARENA_ARRAY(work, ranked, x->dims[0]);
	for (int64_t i = 0; i < x->dims[0]; i++) {
		uint64_t key = key_of(x, i * x->strides[0]);
		all[i] = (ranked){ falling ? ~key : key, i };
	}
	qsort(all, (size_t)x->dims[0], sizeof(*all), by_key);
	for (int64_t i = 0; i < x->dims[0]; i++)
		((int64_t *)at->data)[i * at->strides[0]] = all[i].at;
	arena_free(work);
	return 0;
}

int tdl_falling_order(const tdl_kernel_call *call)
{
	return order(call, true);
}

int tdl_rising_order(const tdl_kernel_call *call)
{
	return order(call, false);
}
