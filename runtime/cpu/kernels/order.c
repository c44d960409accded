/* The positions of a vector's greatest or least elements, in order:
 *
 *	opaque top_order(x[N]; count: int, greatest: bool) -> at[count]: i64 =
 *	    "tdl_top_order"
 *
 * Equal elements, and NaNs among themselves, are ordered by position; a NaN is
 * above all numbers.  Returns 2 for arguments it does not know. */
#include "config.h"

#include "runtime/exec/builtin.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/eval.h"

/* A position, and an integer: the less, the sooner the element comes. */
typedef struct ranked {
	uint64_t key;
	int64_t at;
} ranked;

/* An integer that compares as the element does. */
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

static int compare(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Restores the order of a heap of n elements, the last one on top, after
 * heap[0] was replaced. */
static void sift(ranked *heap, int64_t n)
{
	ranked moved = heap[0];
	int64_t i = 0;
	for (int64_t next = 1; next < n; next = 2 * i + 1) {
		if (next + 1 < n && compare(&heap[next], &heap[next + 1]) < 0)
			next++;
		if (compare(&moved, &heap[next]) >= 0)
			break;
		heap[i] = heap[next];
		i = next;
	}
	heap[i] = moved;
}

/* The elements that come first, in order, to first[0 .. count): a heap holds
 * those of the elements seen so far.  N log(count) steps. */
static void select_first(const tdl_view *x, bool greatest, ranked *first,
			 int64_t count)
{
	const ranked last = { UINT64_MAX, INT64_MAX };
	for (int64_t i = 0; i < count; i++)
		first[i] = last;
	for (int64_t i = 0; i < x->dims[0] && count > 0; i++) {
		uint64_t key = key_of(x, i * x->strides[0]);
		ranked r = { greatest ? ~key : key, i };
		if (compare(&r, &first[0]) >= 0)
			continue;
		first[0] = r;
		sift(first, count);
	}
	qsort(first, (size_t)count, sizeof(*first), compare);
}

int tdl_top_order(const tdl_kernel_call *call)
{
	if (call->ninputs != 1 || call->noutputs < 1 || call->nattrs != 2 ||
	    !call->attrs[0].ints || !call->attrs[1].ints)
		return 2;
	const tdl_view *x = &call->inputs[0], *at = &call->outputs[0];
	if (!at->data)
		return 0;
	int64_t count = call->attrs[0].ints[0];
	if (x->ndim != 1 || at->ndim != 1 || at->dtype != TDL_I64 ||
	    at->dims[0] != count || count > x->dims[0])
		return 2;
	arena *work = arena_new();
	ranked *first = ARENA_ARRAY(work, ranked, count);
	select_first(x, call->attrs[1].ints[0] != 0, first, count);
	for (int64_t i = 0; i < count; i++)
		((int64_t *)at->data)[i * at->strides[0]] = first[i].at;
	arena_free(work);
	return 0;
}
