/* Tests: compiler/solver */
/* compiler/solver: the reader of WCSP files. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/solver/wcsp.h"
#include "tests/unit/suite.h"

static const char sample[] =
	"p 3 3 6 50\n2 3 2\n"
	"1 1 4 1\n1 2\n"
	"2 0 1 9 2\n0 0 1\n1 2 60\n"
	"0 7 0\n"
	"-2 0 2 3 1\n1 0 0\n"
	"2 2 0 3 -1\n"
	"1 1 0 3\n0 1\n1 1\n2 1\n";

static problem *parse(arena *a, const char *text, size_t len)
{
	diag_sink *s = diag_sink_new(a);
	problem *p = wcsp_parse(a, s, "p", text, len);
	ck_assert_int_eq(diag_errors(s), !p);
	return p;
}

START_TEST(all_kinds_of_functions)
{
	arena *a = arena_new();
	problem *p = parse(a, sample, strlen(sample));
	ck_assert(p && p->vars.n == 3 && p->tables.n == 3);
	ck_assert(p->top == 50 && p->constant == 7);
	const int64_t unary[] = { 5, 3, 5 };
	const int64_t table[] = { 1, 9, 9, 9, 9, 50 };
	const int64_t shared[] = { 3, 3, 0, 3 };
	ck_assert(!memcmp(p->vars.at[1].cost, unary, sizeof(unary)));
	ck_assert(!memcmp(p->tables.at[0].cost, table, sizeof(table)));
	ck_assert(!memcmp(p->tables.at[1].cost, shared, sizeof(shared)));
	ck_assert(p->tables.at[1].cost == p->tables.at[2].cost);
	ck_assert(p->tables.at[2].x == 2 && p->tables.at[2].y == 0);
	ck_assert_int_eq(problem_cost(p, (int[]){ 1, 0, 0 }), 7 + 5 + 9 + 0 +
			 3);
	arena_free(a);
}
END_TEST

/* A file that is cut off anywhere is an error. */
START_TEST(cut_off)
{
	size_t all = strlen(sample);
	for (size_t n = 0; n + 2 < all; n++) {
		arena *a = arena_new();
		char *text = arena_strndup(a, sample, n);
		ck_assert_msg(!parse(a, text, n), "the first %zu bytes", n);
		arena_free(a);
	}
}
END_TEST

/* A damaged file is read or refused; it never makes the reader fail. */
START_TEST(damaged)
{
	static const char bytes[] = " \n-0123456789x\377";
	uint32_t seed = 1;
	for (int round = 0; round < 20000; round++) {
		arena *a = arena_new();
		char *text = arena_strdup(a, sample);
		for (int i = 0; i < 1 + round % 3; i++) {
			seed = seed * 1664525 + 1013904223;
			text[(seed >> 8) % strlen(sample)] =
				bytes[(seed >> 24) % (sizeof(bytes) - 1)];
		}
		problem *p = parse(a, text, strlen(sample));
		for (int i = 0; p && i < p->tables.n; i++)
			ck_assert(p->tables.at[i].x != p->tables.at[i].y);
		arena_free(a);
	}
}
END_TEST

/* A top or cost above COST_MAX is read as COST_MAX. */
START_TEST(highest_top)
{
	static const char text[] = "p 1 1 1 9223372036854775807 1 1 0 0 1 0 "
				   "9223372036854775806";
	arena *a = arena_new();
	problem *p = parse(a, text, strlen(text));
	ck_assert(p && p->top == COST_MAX);
	ck_assert(p->vars.at[0].cost[0] == COST_MAX);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("wcsp");
	TCase *c = tcase_create("all");
	tcase_add_test(c, all_kinds_of_functions);
	tcase_add_test(c, cut_off);
	tcase_add_test(c, damaged);
	tcase_add_test(c, highest_top);
	suite_add_tcase(s, c);
	return s;
}
