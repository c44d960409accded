/* Tests: plan */
/* The memory plan: what is in use at one instant never overlaps, and the
 * arena is close to the least that is possible. */
#include "config.h"

#include <check.h>
#include <stdbool.h>

#include "base/arena.h"
#include "plan/arena_packing.h"
#include "tests/unit/suite.h"

enum { ALIGN = 64 };

static uint64_t state;

static int below(int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)(state % (uint64_t)n);
}

/* Lifetimes as a network's: most short, some across all of it, some nested
 * far apart (skip connections, a forward pass kept for the backward). */
static void random_items(arena_item *items, int n, int kind)
{
	for (int i = 0; i < n; i++) {
		arena_item *m = &items[i];
		m->nbytes = below(10) ? 1 + below(1 << (4 + below(12))) : 0;
		m->first = kind == 2 ? below(n) : i;
		m->last = m->first + 1 + below(3);
		if (kind == 1 && i < n / 2)
			m->last = n - i;
		if (below(8) == 0)
			m->last = m->first + below(n);
		if (m->last > n)
			m->last = n;
		if (below(10) == 0) {
			m->first = -1;
			m->last = n;
		}
	}
}

static bool collide(const arena_item *x, const arena_item *y)
{
	return x->first <= y->last && y->first <= x->last &&
	       x->offset + x->nbytes > y->offset &&
	       y->offset + y->nbytes > x->offset && x->nbytes && y->nbytes;
}

static void check_apart(const arena_item *items, int n, int64_t arena_bytes)
{
	int ncollisions = 0;
	for (int i = 0; i < n; i++) {
		const arena_item *x = &items[i];
		ck_assert_int_ge(x->offset, 0);
		ck_assert_int_eq(x->offset % ALIGN, 0);
		ck_assert_int_le(x->offset + x->nbytes, arena_bytes);
		for (int j = 0; j < i; j++)
			ncollisions += collide(x, &items[j]);
	}
	ck_assert_int_eq(ncollisions, 0);
}

START_TEST(never_overlaps)
{
	double worst = 1, sum = 0;
	int count = 0;
	for (int seed = 1; seed <= 600; seed++) {
		arena *a = arena_new();
		state = (uint64_t)seed * 7919;
		int n = 1 + below(150);
		arena_item *items = ARENA_ARRAY(a, arena_item, n);
		random_items(items, n, seed % 3);
		int64_t bytes = memory_place(items, n, ALIGN);
		int64_t bound = memory_bound(items, n, ALIGN);
		check_apart(items, n, bytes);
		ck_assert_int_ge(bytes, bound);
		if (bound > 0) {
			double r = (double)bytes / (double)bound;
			worst = r > worst ? r : worst;
			sum += r;
			count++;
		}
		arena_free(a);
	}
	ck_assert_msg(worst < 1.10, "the worst arena is %.3f times the least",
		      worst);
	ck_assert_msg(sum / count < 1.005, "on average %.4f", sum / count);
}
END_TEST

/* Chains, as most networks are, are packed perfectly. */
START_TEST(perfect_chain)
{
	enum { N = 400 };
	arena_item items[N];
	state = 99;
	for (int i = 0; i < N; i++)
		items[i] = (arena_item){ .nbytes = 64 * (1 + below(100)),
					 .first = i, .last = i + 1 };
	ck_assert_int_eq(memory_place(items, N, ALIGN),
			 memory_bound(items, N, ALIGN));
}
END_TEST

START_TEST(nothing)
{
	arena_item none = { 0, 0, 0, 7 };
	ck_assert_int_eq(memory_place(NULL, 0, ALIGN), 0);
	ck_assert_int_eq(memory_place(&none, 1, ALIGN), 0);
	ck_assert_int_eq(none.offset, 0);
}
END_TEST

START_TEST(one)
{
	arena_item m = { 65, 3, 3, 0 };
	ck_assert_int_eq(memory_place(&m, 1, ALIGN), 128);
}
END_TEST

START_TEST(same_again)
{
	enum { N = 100 };
	arena_item x[N], y[N];
	state = 5;
	random_items(x, N, 1);
	for (int i = 0; i < N; i++)
		y[i] = x[i];
	memory_place(x, N, ALIGN);
	memory_place(y, N, ALIGN);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(x[i].offset, y[i].offset);
}
END_TEST

/* Thousands of buffers are placed in another way. */
START_TEST(many)
{
	enum { N = 12000 };
	for (int kind = 0; kind < 3; kind++) {
		arena *a = arena_new();
		arena_item *items = ARENA_ARRAY(a, arena_item, N);
		state = 11;
		random_items(items, N, kind);
		int64_t bytes = memory_place(items, N, ALIGN);
		int64_t bound = memory_bound(items, N, ALIGN);
		check_apart(items, N, bytes);
		ck_assert_msg((double)bytes < 1.2 * (double)bound,
			      "kind %d: %.3f times the least", kind,
			      (double)bytes / (double)bound);
		arena_free(a);
	}
}
END_TEST

static void check_large(arena_item *items, int n)
{
	int64_t bytes = memory_place(items, n, ALIGN);
	int64_t bound = memory_bound(items, n, ALIGN);
	ck_assert_msg(bound <= bytes && bytes < 2 * bound,
		      "%.3f times the least", (double)bytes / (double)bound);
	for (int i = 0; i < n; i++)
		ck_assert(items[i].offset >= 0 &&
			  items[i].offset + items[i].nbytes <= bytes);
}

/* As a long chain's; nearly all in use at once; and with a gap of no use for
 * every other one.  A method whose time grows with the square of their number
 * does not end in time. */
START_TEST(large)
{
	enum { N = 100000 };
	arena *a = arena_new();
	arena_item *items = ARENA_ARRAY(a, arena_item, N);
	for (int kind = 0; kind < 3; kind++) {
		state = 12;
		random_items(items, N, kind);
		check_large(items, N);
	}
	for (int i = 0; i < N; i++) {
		int last = i % 2 ? N : N / 2;
		items[i] = (arena_item){ .nbytes = 64 * (1 + i / (N / 2)),
					 .first = i,
					 .last = i < N / 2 ? last : N };
	}
	check_large(items, N);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("memory");
	TCase *t = tcase_create("memory");
	tcase_add_test(t, never_overlaps);
	tcase_add_test(t, perfect_chain);
	tcase_add_test(t, nothing);
	tcase_add_test(t, one);
	tcase_add_test(t, same_again);
	tcase_add_test(t, many);
	tcase_add_test(t, large);
	suite_add_tcase(s, t);
	return s;
}
