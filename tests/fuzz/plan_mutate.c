/* Mutations of plans that keep them JSON: values change, appear twice, become
 * others of the same plan. */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "tests/fuzz/fuzz.h"

/* A value and where it is: in an object or in an array. */
typedef struct place {
	json_t *in, *value;
	const char *key;
	size_t index;
} place;

typedef VEC(place) place_vec;

/* All values below j; but for the sources of kernels, which are long and
 * which nothing looks into. */
static void collect(arena *a, json_t *j, place_vec *to)
{
	const char *key;
	json_t *x;
	size_t i;
	json_object_foreach (j, key, x) {
		place p = { j, x, key, 0 };
		if (!strcmp(key, "c"))
			continue;
		vec_push(a, to, p);
		collect(a, x, to);
	}
	json_array_foreach (j, i, x) {
		place p = { j, x, NULL, i };
		vec_push(a, to, p);
		collect(a, x, to);
	}
}

static void set(const place *p, json_t *value)
{
	if (p->key)
		json_object_set_new(p->in, p->key, value);
	else
		json_array_set_new(p->in, p->index, value);
}

static void delete(const place *p)
{
	if (p->key)
		json_object_del(p->in, p->key);
	else
		json_array_remove(p->in, p->index);
}

static json_t *new_value(fuzz_random *r)
{
	switch (fuzz_below(r, 8)) {
	case 0:
		return json_null();
	case 1:
		return json_array();
	case 2:
		return json_object();
	case 3:
		return json_boolean(fuzz_below(r, 2));
	case 4:
		return json_string("x");
	case 5:
		return json_real(1.5);
	default:
		return json_integer(fuzz_integer(r));
	}
}

static json_t *changed_number(fuzz_random *r, const json_t *v)
{
	static const int steps[] = { -64, -1, 1, 64, 2, -2 };
	if (fuzz_below(r, 3) == 0)
		return json_integer(fuzz_integer(r));
	json_int_t step = steps[fuzz_below(r, 6)], n;
	if (__builtin_add_overflow(json_integer_value(v), step, &n))
		n = 0;
	return json_integer(n);
}

/* Another value under the same key, from anywhere in the plan. */
static json_t *same_key(fuzz_random *r, const place_vec *v, const place *p)
{
	int first = fuzz_below(r, v->n);
	for (int i = 0; i < v->n; i++) {
		const place *q = &v->at[(first + i) % v->n];
		if (p->key ? q->key && !strcmp(p->key, q->key) :
			     q->in == p->in)
			return json_deep_copy(q->value);
	}
	return json_null();
}

static void change(fuzz_random *r, const place_vec *v)
{
	const place *p = &v->at[fuzz_below(r, v->n)];
	switch (fuzz_below(r, 10)) {
	case 0:
		delete(p);
		break;
	case 1:
		set(p, new_value(r));
		break;
	case 2:
		if (!p->key)
			json_array_insert_new(p->in, p->index,
					      json_deep_copy(p->value));
		break;
	case 3: case 4: case 5: case 6:
		if (json_is_integer(p->value)) {
			set(p, changed_number(r, p->value));
			break;
		}
		/* fall through */
	default:
		set(p, same_key(r, v, p));
	}
}

static json_t *parse(const uint8_t *data, size_t size)
{
	return json_loadb((const char *)data, size, 0, NULL);
}

/* The length of the printed text, if it has room; else 0. */
static size_t print(json_t *j, uint8_t *out, size_t max)
{
	size_t n = json_dumpb(j, (char *)out, max, JSON_COMPACT);
	return n <= max ? n : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	json_t *j = fuzz_below(&r, 32) ? parse(data, size) : NULL;
	arena *a = arena_new();
	size_t n = 0;
	for (int i = fuzz_below(&r, 3); j && i >= 0; i--) {
		place_vec v = { 0 };
		collect(a, j, &v);
		if (v.n)
			change(&r, &v);
	}
	if (j)
		n = print(j, data, max);
	json_decref(j);
	arena_free(a);
	return n ? n : LLVMFuzzerMutate(data, size, max);
}

/* A value of the second under the same key in the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
				 const uint8_t *data2, size_t size2,
				 uint8_t *out, size_t max, unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	json_t *x = parse(data1, size1), *y = parse(data2, size2);
	arena *a = arena_new();
	place_vec own = { 0 }, donor = { 0 };
	size_t n = 0;
	if (x && y) {
		collect(a, x, &own);
		collect(a, y, &donor);
	}
	if (own.n && donor.n) {
		const place *p = &own.at[fuzz_below(&r, own.n)];
		set(p, same_key(&r, &donor, p));
		n = print(x, out, max);
	}
	json_decref(x);
	json_decref(y);
	arena_free(a);
	if (n == 0) {
		n = size1 < max ? size1 : max;
		memcpy(out, data1, n);
	}
	return n;
}
