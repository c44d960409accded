/* Tests: base */
/* base/hash: a table beside a list that is searched from its beginning. */
#include "config.h"

#include <check.h>
#include <stdbool.h>

#include "base/hash.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { NROWS = 2000 };

/* Few values, so that many hashes agree in their lowest bits or altogether. */
static uint64_t draw_hash(draw *d, int trial)
{
	switch (trial % 4) {
	case 0: return draw_bits(d);
	case 1: return draw_bits(d) % 50;
	case 2: return draw_bits(d) % 50 << 60;
	default: return draw_bits(d) % 300 * 64;
	}
}

/* The table has the numbers of the list for a hash, each once. */
static void compare(const hash_table *t, const uint64_t *list, int n,
		    uint64_t hash)
{
	bool seen[NROWS] = { false };
	uint32_t at = 0;
	for (int i; (i = hash_table_next(t, hash, &at)) >= 0;) {
		ck_assert_int_lt(i, n);
		ck_assert(!seen[i]);
		seen[i] = true;
	}
	int first = 0;
	while (first < n &&
	       seen[first] == (hash_fold(list[first]) == hash_fold(hash)))
		first++;
	ck_assert_int_eq(first, n);
}

START_TEST(agrees_with_a_list)
{
	draw d = { (uint64_t)_i };
	arena *a = arena_new();
	hash_table t = { 0 };
	uint64_t list[NROWS] = { 0 };
	int n = 0;
	compare(&t, list, n, 0);
	for (int step = 0; step < 2000 && n < NROWS; step++) {
		uint64_t hash = draw_hash(&d, _i);
		int what = draw_int(&d, 0, 999);
		if (what == 0) {
			hash_table_clear(&t);
			n = 0;
		} else if (what < 600) {
			list[n] = hash;
			hash_table_add(a, &t, hash, n++);
		}
		if (step % 4 == 0)
			compare(&t, list, n, hash);
	}
	for (int i = 0; i < n; i += 3)
		compare(&t, list, n, list[i]);
	ck_assert_uint_eq(t.n, (uint32_t)n);
	arena_free(a);
}
END_TEST

START_TEST(known_values)
{
	/* The vectors of FNV-1a, 64 bits. */
	ck_assert_uint_eq(hash_str(HASH_SEED, ""), 0xcbf29ce484222325u);
	ck_assert_uint_eq(hash_str(HASH_SEED, "a"), 0xaf63dc4c8601ec8cu);
	ck_assert_uint_eq(hash_str(HASH_SEED, "foobar"), 0x85944171f73967e8u);
	ck_assert_uint_eq(hash_bytes(hash_str(HASH_SEED, "foo"), "bar", 3),
			  hash_str(HASH_SEED, "foobar"));
}
END_TEST

START_TEST(words)
{
	uint64_t p[] = { 1, 2, 3 }, q[] = { 1, 3, 2 };
	ck_assert_uint_eq(hash_words(HASH_SEED, p, 0), HASH_SEED);
	ck_assert(hash_words(HASH_SEED, p, 3) != hash_words(HASH_SEED, q, 3));
	ck_assert(hash_words(HASH_SEED, p, 3) != hash_words(HASH_SEED, p, 2));
	ck_assert_uint_eq(hash_words(hash_words(HASH_SEED, p, 1), p + 1, 2),
			  hash_words(HASH_SEED, p, 3));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("hash");
	TCase *c = tcase_create("hash");
	tcase_add_loop_test(c, agrees_with_a_list, 0, 40);
	tcase_add_test(c, known_values);
	tcase_add_test(c, words);
	suite_add_tcase(s, c);
	return s;
}
