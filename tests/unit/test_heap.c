/* Tests: base */
/* base/heap: a heap beside a list whose least entry is looked for. */
#include "config.h"

#include <check.h>

#include "base/heap.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { NSTEPS = 3000 };

static int compare(heap_entry x, heap_entry y)
{
	if (x.key != y.key)
		return x.key < y.key ? -1 : 1;
	if (x.second != y.second)
		return x.second < y.second ? -1 : 1;
	return (x.item > y.item) - (x.item < y.item);
}

static heap_entry take_least(heap_entry *list, int *n)
{
	int best = 0;
	for (int i = 1; i < *n; i++)
		if (compare(list[i], list[best]) < 0)
			best = i;
	heap_entry e = list[best];
	list[best] = list[--*n];
	return e;
}

static heap_entry draw_entry(draw *d, int range)
{
	heap_entry e = { .key = draw_int(d, -range, range) };
	if (draw_int(d, 0, 19) == 0)
		e.key = draw_int(d, 0, 1) ? INT64_MAX : INT64_MIN;
	e.second = draw_int(d, -range, range);
	e.item = draw_int(d, 0, range);
	return e;
}

/* Sometimes more is pushed and sometimes more popped, so that the heap grows,
 * shrinks and is empty now and then. */
START_TEST(agrees_with_a_list)
{
	draw d = { (uint64_t)_i };
	arena *a = arena_new();
	heap h = { 0 };
	heap_entry list[NSTEPS];
	int n = 0, range = _i % 2 ? 3 : 1000;
	for (int step = 0; step < NSTEPS; step++) {
		int pushes = step / 500 % 2 ? 35 : 65;
		if (n == 0 || draw_int(&d, 0, 99) < pushes) {
			list[n] = draw_entry(&d, range);
			heap_push(a, &h, list[n++]);
		} else {
			heap_entry x = heap_pop(&h), y = take_least(list, &n);
			ck_assert_int_eq(compare(x, y), 0);
		}
		ck_assert_int_eq(h.entries.n, n);
	}
	for (heap_entry last = { .key = INT64_MIN, .second = INT64_MIN }; n > 0;
	     last = take_least(list, &n)) {
		heap_entry x = heap_pop(&h);
		ck_assert_int_le(compare(last, x), 0);
	}
	ck_assert_int_eq(h.entries.n, 0);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("heap");
	TCase *c = tcase_create("heap");
	tcase_add_loop_test(c, agrees_with_a_list, 0, 40);
	suite_add_tcase(s, c);
	return s;
}
