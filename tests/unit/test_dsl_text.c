/* Tests: dsl */
/* The front end on texts in any layout, broken and hostile ones among them. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "dsl/parse.h"
#include "tests/unit/suite.h"
#include "tests/unit/written.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* ---- layout ------------------------------------------------------------- */

static const char *corpus[64];
static int ncorpus;

static void add_file(const char *path)
{
	size_t len;
	char *text = file_read(a, sink, path, 1 << 20, &len);
	if (text && ncorpus < COUNT(corpus))
		corpus[ncorpus++] = text;
}

static void add_folder(const char *folder, const char *suffix)
{
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		size_t n = strlen(e->d_name), s = strlen(suffix);
		if (n > s && !strcmp(e->d_name + n - s, suffix))
			add_file(path_join(a, folder, e->d_name));
	}
	if (d)
		closedir(d);
}

/* The golden tests' inputs and the operators that are installed. */
static void setup_corpus(void)
{
	set_up_modules();
	const char *srcdir = getenv("srcdir");
	srcdir = srcdir ? srcdir : ".";
	ncorpus = 0;
	const char *golden = path_join(a, srcdir, "tests/golden/dsl");
	const char *opdefs = path_join(a, srcdir, "opdefs");
	add_file(path_join(a, golden, "language.tdl"));
	add_file(path_join(a, golden, "messy.txt"));
	ck_assert_int_eq(ncorpus, 2);
	add_folder(opdefs, ".tdl");
	add_folder(path_join(a, opdefs, "onnx"), ".tdl");
}

static ast_module *parse(const char *text)
{
	return dsl_parse(modules, "test.tdl", text, strlen(text));
}

/* Formatting again changes nothing, and formatting once not the tree. */
static void check_layout(const char *text)
{
	ast_module *m = parse(text);
	if (!m)
		return;
	char *once = dsl_format(a, m);
	ast_module *n = parse(once);
	ck_assert_msg(n != NULL, "%s\n---- is laid out as\n%s\n%s", text, once,
		      printed());
	char *twice = dsl_format(a, n);
	ck_assert_msg(!strcmp(once, twice), "%s\n---- and then\n%s", once,
		      twice);
	ck_assert_str_eq(dsl_dump(a, m), dsl_dump(a, n));
	ck_assert_int_eq(m->ncomments, n->ncomments);
	for (int i = 0; i < m->ncomments; i++) {
		size_t x, y;
		const char *p = diag_text(sink, m->comments[i].at, &x);
		const char *q = diag_text(sink, n->comments[i].at, &y);
		ck_assert(x == y && !memcmp(p, q, x));
	}
}

START_TEST(layout)
{
	for (int i = 0; i < ncorpus; i++) {
		ck_assert_msg(parse(corpus[i]) != NULL, "%s", printed());
		check_layout(corpus[i]);
	}
}
END_TEST

/* A comment between any two tokens stays, and the tree with it. */
START_TEST(comments_anywhere)
{
	const char *text = corpus[0];
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++) {
		if (text[i] != ' ')
			continue;
		tear_down_modules();
		setup_corpus();
		text = corpus[0];
		check_layout(arena_printf(a, "%.*s // trailing\n%s", (int)i,
					  text, text + i));
		check_layout(arena_printf(a, "%.*s\n// own line\n%s", (int)i,
					  text, text + i));
	}
}
END_TEST

/* ---- broken inputs ------------------------------------------------------ */

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u +
		       1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* One to four bytes or pieces of the text are changed. */
static char *mutated(const char *text)
{
	static const char bytes[] = "()[]{}.,;:=<>+-*/%\\&?\"\n x0N\xc3\xff";
	size_t len = strlen(text);
	char *out = ARENA_ARRAY(a, char, 2 * len + 64);
	memcpy(out, text, len);
	for (uint32_t n = 1 + random_below(4); n > 0; n--) {
		uint32_t at = random_below((uint32_t)len + 1);
		uint32_t left = (uint32_t)len - at;
		uint32_t piece = random_below(left < 24 ? left + 1 : 24);
		switch (random_below(3)) {
		case 0: /* another byte */
			out[at] = bytes[random_below(sizeof(bytes) - 1)];
			len += at == len;
			break;
		case 1: /* a piece less */
			memmove(out + at, out + at + piece, left - piece);
			len -= piece;
			break;
		default: /* a piece twice */
			if (len + piece > strlen(text) + 60)
				break;
			memmove(out + at + piece, out + at, left);
			len += piece;
		}
	}
	out[len] = 0;
	return out;
}

START_TEST(mutations)
{
	enum { TIMES = 60 };
	for (int i = 0; i < TIMES; i++) {
		tear_down_modules();
		setup_corpus();
		random_state = (uint64_t)_i * TIMES + (uint64_t)i;
		char *text = mutated(corpus[_i % ncorpus]);
		load_text(text);
		check_layout(text);
	}
}
END_TEST

/* head, n times middle, tail: exactly one error, of that name. */
static const struct {
	const char *head, *middle, *tail;
	int n;
	const char *name;
} hostile[] = {
#define BODY "op f(x[N]) -> y[N] = lambda i: "
	{ "", "(", "", 10000000, "syntax" },
	{ BODY, "(", "", 10000000, "too-deep" },
	{ BODY, "Sum(lambda i: ", "", 100000, "too-deep" },
	{ BODY, "lambda i: ", "1", 100000, "too-deep" },
	{ BODY "x[i]", " + x[i]", "", 1000000, "too-deep" },
	{ BODY, "-", "1", 1000000, "too-deep" },
	{ BODY, "if x then ", "1", 100000, "too-deep" },
	{ BODY, "f(", "", 1000000, "too-deep" },
	{ BODY, "x[", "", 1000000, "too-deep" },
	{ BODY, "[", "", 1000000, "too-deep" },
	{ "onnx \"A\" 1 (x) { ", "if x { } else ", "{ } }", 100000,
	  "too-deep" },
	{ "onnx \"A\" 1 (x) { ", "for i < 3 { ", "", 100000, "too-deep" },
	{ "op f(x[N]; a: int[] = [1", ", 1", "]) -> y[N] = lambda i: x[i]",
	  2000000, "too-large" },
	{ "", "import \"x\" ", "", 1000000, "too-large" },
	{ "", "///\n", "op f(x[N]) -> y[N] = lambda i: x[i]", 4000000,
	  "too-large" },
	{ "", "//\n", "", 5000000, "too-large" },
	{ BODY "$", "/// x\n", "", 2000000, "bad-character" },
	{ "op ", "a", "(x[N]) -> y[N] = lambda i: x[i]", 1000000,
	  "name-too-long" },
	{ "import \"", "a", "", 10000000, "unterminated-string" },
	{ "", "$ ", "", 5000000, "bad-character" },
	{ "", "a", "", 20000000, "too-large" },
	{ "op f(x[N", ", N", "]) -> y[N] = lambda i: x[i]", 100000,
	  "too-many-dimensions" },
	{ BODY "x[i", ", i", "]", 100000, "wrong-rank" },
	{ BODY "Sum(lambda i", ", j", ": x[i])", 100000,
	  "too-many-dimensions" },
	{ "op f(x[N]", ", x[N]", ") -> y[N] = lambda i: x[i]", 100000,
	  "too-many-dimensions" },
};

START_TEST(large)
{
	const char *middle = hostile[_i].middle;
	size_t n = strlen(middle), head = strlen(hostile[_i].head);
	size_t len = head + n * (size_t)hostile[_i].n;
	char *text = malloc(len + strlen(hostile[_i].tail) + 1);
	memcpy(text, hostile[_i].head, head);
	for (size_t i = head; i < len; i += n)
		memcpy(text + i, middle, n);
	strcpy(text + len, hostile[_i].tail);
	load_text(text);
	const char *want = arena_printf(a, "[%s]", hostile[_i].name);
	char *got = printed();
	ck_assert_msg(diag_errors(sink) == 1 && strstr(got, want) != NULL,
		      "%d errors, not one %s:\n%.1000s", diag_errors(sink),
		      want, got);
	ck_assert_uint_lt(arena_used(a), 150u << 20);
	free(text);
}
END_TEST

static TCase *new_case(Suite *s, const char *name, void (*set_up)(void))
{
	TCase *t = tcase_create(name);
	tcase_add_checked_fixture(t, set_up, tear_down_modules);
	suite_add_tcase(s, t);
	return t;
}

Suite *suite(void)
{
	Suite *s = suite_create("dsl_text");
	TCase *t = new_case(s, "layout", setup_corpus);
	tcase_add_test(t, layout);
	tcase_add_test(t, comments_anywhere);
	tcase_add_loop_test(t, mutations, 0, 40);
	t = new_case(s, "hostile", set_up_modules);
	tcase_add_loop_test(t, large, 0, COUNT(hostile));
	return s;
}
