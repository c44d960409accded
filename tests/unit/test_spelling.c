/* Tests: base */
/* base/spelling: distances by their definition, names that are near. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/spelling.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

static char at(const char *s, int i)
{
	char c = s[i - 1];
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* The distance of the first i letters and the first j, by its definition. */
static int defined(const char *a, int i, const char *b, int j)
{
	if (i == 0 || j == 0)
		return i + j;
	int d = defined(a, i - 1, b, j - 1) + (at(a, i) != at(b, j));
	int deleted = defined(a, i - 1, b, j) + 1;
	int inserted = defined(a, i, b, j - 1) + 1;
	d = deleted < d ? deleted : d;
	d = inserted < d ? inserted : d;
	if (i > 1 && j > 1 && at(a, i) == at(b, j - 1) &&
	    at(a, i - 1) == at(b, j)) {
		int swapped = defined(a, i - 2, b, j - 2) + 1;
		d = swapped < d ? swapped : d;
	}
	return d;
}

static int draw_word(draw *r, char word[8])
{
	int n = draw_int(r, 0, 5);
	for (int i = 0; i < n; i++)
		word[i] = "abcABC"[draw_int(r, 0, 5)];
	word[n] = '\0';
	return n;
}

START_TEST(distances)
{
	draw r = { 7 };
	for (int i = 0; i < 2000; i++) {
		char a[8], b[8];
		int na = draw_word(&r, a), nb = draw_word(&r, b);
		ck_assert_int_eq(spelling_distance(a, b),
				 defined(a, na, b, nb));
	}
	char all[SPELLING_MAX + 2];
	memset(all, 'x', sizeof(all));
	all[SPELLING_MAX + 1] = '\0';
	ck_assert_int_eq(spelling_distance(all, "x"), SPELLING_FAR);
	all[SPELLING_MAX] = '\0';
	ck_assert_int_eq(spelling_distance(all, "x"), SPELLING_MAX - 1);
}
END_TEST

static const char *nearest(const char *given)
{
	static const char *const known[] = { "relu", "softmax", "mse", "matmul",
					     "Sum", "mean", "log" };
	spelling s = { .given = given };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		spelling_try(&s, known[i]);
	return s.nearest ? s.nearest : "";
}

START_TEST(names)
{
	ck_assert_str_eq(nearest("sofmtax"), "softmax");
	ck_assert_str_eq(nearest("sum"), "Sum");
	ck_assert_str_eq(nearest("mse_loss"), "mse");
	ck_assert_str_eq(nearest("mat"), "matmul");
	ck_assert_str_eq(nearest("lo"), "log");
	ck_assert_str_eq(nearest("conv2d"), "");
	ck_assert_str_eq(nearest(""), "");
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("spelling");
	TCase *c = tcase_create("spelling");
	tcase_add_test(c, distances);
	tcase_add_test(c, names);
	suite_add_tcase(s, c);
	return s;
}
