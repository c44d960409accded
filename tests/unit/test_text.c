/* Tests: base */
/* base/text: paragraphs and tables of at most 80 columns. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/unit/suite.h"

static char *written;
static size_t nwritten;
static FILE *to;

static void begin(void)
{
	to = open_memstream(&written, &nwritten);
}

static void end(void)
{
	free(written);
}

static void expect(const char *text)
{
	fclose(to);
	ck_assert_str_eq(written, text);
}

/* A word of n letters. */
static const char *word(arena *a, int n)
{
	char *s = arena_strdup(a, "");
	while (n-- > 0)
		s = arena_printf(a, "%sx", s);
	return s;
}

START_TEST(widths)
{
	ck_assert_int_eq(text_width(""), 0);
	ck_assert_int_eq(text_width("µs"), 2);
	fclose(to);
}
END_TEST

START_TEST(short_text)
{
	text_wrap(to, "", 3, 3);
	text_wrap(to, "a  b", 0, 0);
	text_wrap(to, "a\nb\n\nc", 0, 2);
	text_indented(to, "d", 4);
	expect("\na  b\na\n  b\n\n  c\n    d\n");
}
END_TEST

START_TEST(full_lines)
{
	arena *a = arena_new();
	const char *x = word(a, 38), *more = word(a, 90);
	text_wrap(to, arena_printf(a, "%s %s y", x, word(a, 41)), 0, 2);
	text_wrap(to, arena_printf(a, "%s %s µ z", x, word(a, 39)), 0, 2);
	text_wrap(to, arena_printf(a, "a %s b", more), 0, 1);
	expect(arena_printf(a, "%s %s\n  y\n%s %s µ\n  z\na\n %s\n b\n", x,
			    word(a, 41), x, word(a, 39), more));
	arena_free(a);
}
END_TEST

START_TEST(tables)
{
	arena *a = arena_new();
	text_table t = table_new(a, 3);
	const char *const cells[] = { "a", "µµ", "c", "bbb", "", "dd",
				      "e", "", "" };
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		table_add(&t, cells[i]);
	table_print(&t, to, 1);
	expect(" a    µµ  c\n bbb      dd\n e\n");
	arena_free(a);
}
END_TEST

/* Rows go on in the next line, by whole columns, but for the last. */
START_TEST(wide_tables)
{
	arena *a = arena_new();
	text_table t = table_new(a, 3);
	const char *x = word(a, 35), *y = word(a, 60);
	table_add(&t, x);
	table_add(&t, word(a, 20));
	table_add(&t, arena_printf(a, "%s %s %s", x, x, x));
	table_add(&t, y);
	table_add(&t, x);
	table_add(&t, "c");
	table_print(&t, to, 0);
	expect(arena_printf(a, "%s  %s\n    %s %s\n    %s\n%s\n    %s  c\n",
			    x, word(a, 20), x, x, x, y, x));
	for (char *line = written, *stop; *line; line = stop + 1) {
		stop = strchr(line, '\n');
		*stop = 0;
		ck_assert_msg(text_width(line) <= TEXT_COLUMNS, "%s", line);
	}
	arena_free(a);
}
END_TEST

START_TEST(paragraphs)
{
	arena *a = arena_new();
	text_table t = table_new(a, 3);
	const char *x = word(a, 70);
	const char *cells[] = { "var", "of", "much", "i", x, "2",
				"j", "y", "z" };
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		table_add(&t, cells[i]);
	table_print_fitted(&t, to, 0, 1);
	expect(arena_printf(a, "i\n    of    %s\n    much  2\nj\n    of    y\n"
			    "    much  z\n", x));
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("text");
	TCase *t = tcase_create("text");
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, widths);
	tcase_add_test(t, short_text);
	tcase_add_test(t, full_lines);
	tcase_add_test(t, tables);
	tcase_add_test(t, wide_tables);
	tcase_add_test(t, paragraphs);
	suite_add_tcase(s, t);
	return s;
}
