/* Tests: base */
/* base/cli: numbers, settings and shapes on the command line. */
#include "config.h"

#include <check.h>
#include <stdio.h>

#include "base/cli.h"
#include "tests/unit/suite.h"

START_TEST(whole_numbers)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t v;
	} cases[] = {
		{ "0", true, 0 },	 { "8", true, 8 },
		{ "-3", true, -3 },	 { "100", true, 100 },
		{ "101", false, 0 },	 { "-4", false, 0 },
		{ "", false, 0 },	 { "-", false, 0 },
		{ " 8", false, 0 },	 { "8 ", false, 0 },
		{ "+8", false, 0 },	 { "8x", false, 0 },
		{ "0x8", false, 0 },	 { "8.0", false, 0 },
		{ "1e1", false, 0 },
		{ "99999999999999999999", false, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t v = 0;
		ck_assert_msg(cli_int(cases[i].text, -3, 100, &v) ==
			      cases[i].ok, "'%s'", cases[i].text);
		ck_assert_int_eq(v, cases[i].v);
	}
}
END_TEST

START_TEST(settings)
{
	arena *a = arena_new();
	const char *name, *value;
	ck_assert(cli_setting(a, "n=a=b", &name, &value));
	ck_assert_str_eq(name, "n");
	ck_assert_str_eq(value, "a=b");
	ck_assert(cli_setting(a, "n=", &name, &value));
	ck_assert_str_eq(value, "");
	ck_assert(!cli_setting(a, "=3", &name, &value));
	ck_assert(!cli_setting(a, "n", &name, &value));
	arena_free(a);
}
END_TEST

START_TEST(shapes)
{
	arena *a = arena_new();
	const char *name;
	int64_t dims[3];
	ck_assert_int_eq(cli_shape(a, "x=2x0x30", &name, dims, 3), 3);
	ck_assert_str_eq(name, "x");
	ck_assert_int_eq(dims[0], 2);
	ck_assert_int_eq(dims[1], 0);
	ck_assert_int_eq(dims[2], 30);
	ck_assert_int_eq(cli_shape(a, "a=b=7", &name, dims, 3), 1);
	ck_assert_str_eq(name, "a=b");
	ck_assert_int_eq(cli_shape(a, "x=", &name, dims, 3), 0);
	static const char *const bad[] = {
		"x", "=2", "x=2x", "x=x2", "x=2xx3", "x=-2", "x=2,3",
		"x=1x2x3x4", "x=9223372036854775808", "x=2X3",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(cli_shape(a, bad[i], &name, dims, 3) < 0, "%s",
			      bad[i]);
	arena_free(a);
}
END_TEST

/* The effect of a row of each kind: joined and separate, abbreviated, repeated;
 * and where the operands are afterwards. */
START_TEST(options)
{
	arena *a = arena_new();
	bool json = false, md = false;
	int64_t k = 1;
	double limit = 0;
	const char *dep = NULL;
	cli_words folders = { 0 };
	int format = 0;
	const char *const formats[] = { "text", "json", NULL };
	const cli_option table[] = {
		{ CLI_FLAG, 0, "json", NULL, "", &json },
		{ CLI_FLAG, 0, "-MD", NULL, "", &md },
		{ CLI_TEXT, 0, "-MF", "DEP", "", &dep },
		{ CLI_INT, 'k', "devices", "N", "", &k, .min = 1, .max = 64 },
		{ CLI_REAL, 0, "time-limit", "S", "", &limit, .max = 10 },
		{ CLI_REPEAT, 'I', NULL, "DIR", "", &folders },
		{ CLI_CHOICE, 0, "format", "F", "", &format,
		  .choices = formats },
		{ CLI_END },
	};
	const cli_program p = { "test", "", "" };
	char *argv[] = { "x",	 "a", "-k8", "-I",  "p",      "-Iq", "-MD",
			 "-MF",	 "d", "b",   "--j", "--time", "2.5",
			 "--format=json", "--", "-c", NULL };
	int argc = sizeof(argv) / sizeof(argv[0]) - 1;
	cli_status status;
	int first = cli_parse(a, &p, table, argc, argv, &status);
	ck_assert_int_eq(status, CLI_OK);
	ck_assert_int_eq(first, argc - 3);
	ck_assert_str_eq(argv[first], "a");
	ck_assert_str_eq(argv[first + 1], "b");
	ck_assert_str_eq(argv[first + 2], "-c");
	ck_assert(json && md);
	ck_assert_int_eq(k, 8);
	ck_assert_double_eq(limit, 2.5);
	ck_assert_str_eq(dep, "d");
	ck_assert_int_eq(folders.n, 2);
	ck_assert_str_eq(folders.at[1], "q");
	ck_assert_int_eq(format, 1);
	arena_free(a);
}
END_TEST

/* A number that may be left out is never the next word. */
START_TEST(counts)
{
	arena *a = arena_new();
	int64_t n = 0, m = 0, none = 0;
	const cli_option table[] = {
		{ CLI_COUNT, 0, "list", "N", "", &n, .min = 1, .max = 9 },
		{ CLI_COUNT, 0, "pick", "N", "", &m, .min = 1, .max = 9 },
		{ CLI_COUNT, 0, "else", "N", "", &none, .min = 1, .max = 9 },
		{ CLI_END },
	};
	const cli_program p = { "test", "", "" };
	char *argv[] = { "x", "--list", "7", "--pick=3", NULL };
	cli_status status;
	int first = cli_parse(a, &p, table, 4, argv, &status);
	ck_assert_int_eq(status, CLI_OK);
	ck_assert_int_eq(first, 3);
	ck_assert_str_eq(argv[first], "7");
	ck_assert_int_eq(n, CLI_ALONE);
	ck_assert_int_eq(m, 3);
	ck_assert_int_eq(none, 0);
	ck_assert_int_eq(cli_set(a, &p, table, "else", NULL), CLI_OK);
	ck_assert_int_eq(none, CLI_ALONE);
	ck_assert_int_eq(cli_set(a, &p, table, "else", "9"), CLI_OK);
	ck_assert_int_eq(none, 9);
	ck_assert_int_eq(cli_set(a, &p, table, "else", "10"), CLI_USAGE);
	ck_assert_int_eq(cli_set(a, &p, table, "else", ""), CLI_USAGE);
	arena_free(a);
}
END_TEST

/* The operand ahead of the parsing: values are none, however they look. */
START_TEST(operands)
{
	arena *a = arena_new();
	int64_t k = 0, n = 0;
	const char *text = NULL;
	bool flag = false;
	const cli_option table[] = {
		{ CLI_INT, 'k', "devices", "N", "", &k, .min = 1, .max = 9 },
		{ CLI_TEXT, 0, "topology", "T", "", &text },
		{ CLI_COUNT, 0, "list", "N", "", &n, .min = 1, .max = 9 },
		{ CLI_FLAG, 0, "json", NULL, "", &flag },
		{ CLI_END },
	};
	static const struct {
		const char *words[6];
		const char *operand, *names;
	} cases[] = {
		{ { "x" }, NULL, "" },
		{ { "x", "a.plan" }, "a.plan", "" },
		{ { "x", "--topology", "b.tdl", "a" }, "a", "topology " },
		{ { "x", "--top=b.json", "-k", "4" }, NULL,
		  "topology devices " },
		{ { "x", "-k4", "--list", "a", "c" }, "a", "devices list " },
		{ { "x", "a", "--json", "--", "-k" }, "a", "json " },
		{ { "x", "--", "-k" }, "-k", "" },
		{ { "x", "--nope", "--help", "a" }, "a", "" },
		{ { "x", "-k" }, NULL, "" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cli_words names = { 0 };
		char *argv[7] = { NULL };
		const char *all = "";
		int argc = 0;
		for (; argc < 6 && cases[i].words[argc]; argc++)
			argv[argc] = arena_strdup(a, cases[i].words[argc]);
		const char *found = cli_operand(a, table, argc, argv,
						&names);
		for (int j = 0; j < names.n; j++)
			all = arena_printf(a, "%s%s ", all, names.at[j]);
		ck_assert_pstr_eq(found, cases[i].operand);
		ck_assert_str_eq(all, cases[i].names);
		for (int j = 0; j < argc; j++)
			ck_assert_str_eq(argv[j], cases[i].words[j]);
	}
	ck_assert(k == 0 && n == 0 && !text && !flag);
	arena_free(a);
}
END_TEST

START_TEST(wrong_options)
{
	static const char *const wrong[] = {
		"-k0", "-k65", "-k", "-k8x", "--devices=", "--format=xml",
		"--time-limit=nan", "--time-limit=1s", "--devic", "--nope",
		"-z",
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		arena *a = arena_new();
		int64_t k = 1, l = 1;
		double limit = 0;
		int format = 0;
		const char *const formats[] = { "text", "json", NULL };
		const cli_option table[] = {
			{ CLI_INT, 'k', "devices", "N", "", &k, .min = 1,
			  .max = 64 },
			{ CLI_INT, 0, "device", "N", "", &l, .min = 1,
			  .max = 64 },
			{ CLI_REAL, 0, "time-limit", "S", "", &limit,
			  .max = 10 },
			{ CLI_CHOICE, 0, "format", "F", "", &format,
			  .choices = formats },
			{ CLI_END },
		};
		const cli_program p = { "test", "", "" };
		char *argv[] = { "x", arena_strdup(a, wrong[i]), NULL };
		cli_status status = CLI_OK;
		int first = cli_parse(a, &p, table, 2, argv, &status);
		ck_assert_msg(first == -1 && status == CLI_USAGE, "%s",
			      wrong[i]);
		ck_assert_int_eq(k, 1);
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("cli");
	TCase *t = tcase_create("cli");
	tcase_add_test(t, whole_numbers);
	tcase_add_test(t, settings);
	tcase_add_test(t, shapes);
	tcase_add_test(t, options);
	tcase_add_test(t, counts);
	tcase_add_test(t, operands);
	tcase_add_test(t, wrong_options);
	suite_add_tcase(s, t);
	return s;
}
