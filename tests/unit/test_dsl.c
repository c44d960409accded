/* Tests: dsl */
/* dsl: words and names, recovery, look-up, layout, and that no input however
 * broken does harm.  The text of each diagnostic is in tests/golden/err. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "dsl/builtins.h"
#include "dsl/parse.h"
#include "kernel/kernel.h"
#include "tests/unit/suite.h"
#include "tests/unit/written.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* ---- words that are names ----------------------------------------------- */

static const char *const words[] = {
	"let", "then", "else", "and", "or", "for",
	"return", "unsupported", "broadcast", "const",
	"input", "output", "param", "int", "float", "axis", "type",
	"Sum", "exp", "none", "f32", "_", "x_1",
	/* The last six cannot be the last word of a statement, where they
	 * would be taken with the first of the next, or for a value. */
	"lambda", "if", "not", "true", "false", "inf",
};

/* Each word as the name of an operator, a tensor, an attribute, a pack, a
 * result, a let, in an expression and at its end. */
START_TEST(word_is_name)
{
	const char *w = words[_i];
	const char *text = arena_printf(
		a,
		"op %s(x[N]) -> y[N] = lambda i: x[i]\n"
		"op a(%s[N], broadcast x[..%s]; k: int = 1) -> y[N] =\n"
		"  let t = lambda j: %s[j] + %s[j]\n"
		"  lambda i: %s[i] * k - %s[i] + t[i]\n"
		"op b(x[N]; %s: int[] = [1]) -> y[N] =\n"
		"  let %s_ = lambda i: x[i]\n"
		"  lambda i: %s_[i] + %s[0]\n"
		"op c(x[N]) -> %s[N] = let %s = lambda i: x[i]\n"
		"  lambda i: %s[i]\n",
		w, w, w, w, w, w, w, w, w, w, w, w, w, w);
	ck_assert_msg(load_text(text), "%s\n%s", text, printed());
	text = arena_printf(a, "onnx \"A\" 1 (%s, x?; k: int = 1) "
			       "{ %s_ = %s return %s }\n", w, w, w, w);
	if (_i < COUNT(words) - 6)
		ck_assert_msg(load_text(text), "%s\n%s", text, printed());
	ck_assert_ptr_nonnull(dsl_op(modules, w));
}
END_TEST

static const char *const reserved[] = {
	"op", "opaque", "onnx", "model", "grad", "import",
};

START_TEST(word_is_reserved)
{
	load_text(arena_printf(a, "op f(%s[N]) -> y[N] = lambda i: 0\n",
			       reserved[_i]));
	ck_assert_int_eq(diag_errors(sink), 1);
	ck_assert_ptr_nonnull(strstr(printed(), "is a reserved word"));
}
END_TEST

/* Bodies in which words join and begin expressions, and what they mean. */
static const struct {
	const char *body, *meaning;
} expressions[] = {
	{ "if a[i] < 0 and not (a[i] < 1) or true then 1 else 2",
	  "if a[i] < 0 and not (a[i] < 1) or true then 1 else 2" },
	{ "if not not true then if true then 1 else 2 else 3",
	  "if not not true then if true then 1 else 2 else 3" },
	{ "a[i] - -a[i]*2", "a[i] - -a[i] * 2" },
	{ "(a[i] else -inf)+inf", "(a[i] else -inf) + inf" },
	{ "2*i+n*(n-1)%3", "2*i + n * (n - 1) % 3" },
	{ "Sum(lambda:1)", "Sum(lambda: 1)" },
	{ "Max(lambda j,..d,k<n+1:a[j])",
	  "Max(lambda j, ..d, k < n + 1: a[j])" },
	{ "(((a[i])))", "(a[i])" },
	{ "f(..(d\\axes),..(d&[0,1]),..d[p],k=[1,2])",
	  "f(..(d \\ axes), ..(d & [0, 1]), ..d[p], k = [1, 2])" },
	{ "1e5+2.50+9223372036854775807", "1e5 + 2.50 + 9223372036854775807" },
	{ "a==b", "a == b" },
};

START_TEST(expression)
{
	const char *text = arena_printf(a, "op f(a[N]) -> y[N] = lambda i: %s",
					expressions[_i].body);
	ast_module *m = dsl_parse(modules, "test.tdl", text, strlen(text));
	ck_assert_msg(m != NULL, "%s", printed());
	const char *out = dsl_format(a, m);
	ck_assert_msg(strstr(out, expressions[_i].meaning) != NULL,
		      "%s\nis laid out as\n%s", text, out);
	const ast_expr *e = m->defs[0].op->bodies[0]->args[0];
	size_t n;
	const char *source = diag_text(sink, e->at, &n);
	if (!e->parens)
		ck_assert_int_eq(strncmp(source, expressions[_i].body, n), 0);
}
END_TEST

/* ---- recovery ----------------------------------------------------------- */

static const struct {
	const char *text;
	int nerrors;
	const char *good; /* an operator that is there nevertheless */
} faults[] = {
	{ "op x(a[m) -> o[m] = lambda i: 0\nop y(a[M]) -> o[M] = lambda i: ;\n"
	  "op z(a[M]) -> o[M] = lambda i: a[i]", 2, "z" },
	{ "op x(\nop y(\nop z(a[M]) -> o[M] = lambda i: a[i]", 2, "z" },
	{ "} } }\nop z(a[M]) -> o[M] = lambda i: a[i]", 1, "z" },
	{ "op z(a[M]) -> o[M] = lambda i: a[i]\nmodel m { op x }\nop y", 2,
	  "z" },
	/* A caller of what does not parse has no further fault. */
	{ "op x(a[M]) -> o[M] = lambda i: \nop y(a[M]) -> o[M] = "
	  "let b = x(a) lambda i: b[i]\n"
	  "op z(a[M]) -> o[M] = lambda i: a[i]", 1, "z" },
	/* Nor has a caller of what does not check. */
	{ "op x(a[M]) -> o[M] = lambda i: b[i]\nop y(a[M]) -> o[M] = "
	  "let b = x(a) lambda i: b[i]\n"
	  "op z(a[M]) -> o[M] = lambda i: a[i]", 1, "z" },
	/* Two faults in one body are both found. */
	{ "op x(a[M]) -> o[M] = lambda i: b[i] + c[i]\n"
	  "op z(a[M]) -> o[M] = lambda i: a[i]", 2, "z" },
	{ "\"\nop z(a[M]) -> o[M] = lambda i: a[i]", 1, "z" },
	{ "\xef\xbb\xbfop z(a[M]) -> o[M] =\r\n lambda i: a[i]\r\n", 0, "z" },
	{ "", 0, NULL },
	{ "// only a comment", 0, NULL },
};

START_TEST(recovery)
{
	load_text(faults[_i].text);
	ck_assert_msg(diag_errors(sink) == faults[_i].nerrors,
		      "%d, not %d:\n%s", diag_errors(sink),
		      faults[_i].nerrors, printed());
	ck_assert_ptr_null(dsl_op(modules, "x"));
	ck_assert_ptr_null(dsl_op(modules, "y"));
	if (faults[_i].good)
		ck_assert_ptr_nonnull(dsl_op(modules, faults[_i].good));
}
END_TEST

/* ---- checks that find one thing ----------------------------------------- */

/* One mistake is reported once, however far it spreads. */
static const struct {
	const char *text, *name;
} mistakes[] = {
	{ "op f(x[N, M]) -> y[N, M] = lambda n, m: x[n, m] + n * M + m",
	  "type-mismatch" },
	{ "op f(x[N]) -> y[N] = lambda i: x[i] and 1", "type-mismatch" },
	{ "op f(x[N]) -> y[N] = lambda i: x[i] * (1 + true)",
	  "type-mismatch" },
	{ "op f(x[N]) -> y[N] = lambda i: -(x[i] == 1) * 2 + i",
	  "type-mismatch" },
	{ "op f(x[N]: i64) -> y[N]: i64 = lambda i: "
	  "if i < 1 then exp(x[i]) else x[i]", "type-mismatch" },
	{ "op f(x[N]: i64) -> y[N]: i64 = lambda i: "
	  "Sum(lambda j: Mean(lambda k: x[k]) + x[j])", "type-mismatch" },
	{ "op f(x[N]; t: type) -> y[N] = lambda i: max(x[i], t) + 1",
	  "type-mismatch" },
	{ "op f(x[N]: i64) -> y[N] = let t = lambda i: sqrt(x[i])\n"
	  "lambda i: t[i] < 1", "type-mismatch" },
	{ "op f(x[N+1]) -> y[N] = lambda i: x[i]", "unbound-index" },
	{ "op f(x[N]) -> y[N] = lambda i: x[j] + x[j + 1]",
	  "unbound-index" },
	{ "opaque g(x[N]) -> y[N] = \"k\"\n"
	  "op f(x[B, N]) -> y[B, N] = lambda b, i: g(x[b])[i]",
	  "wrong-rank" },
	{ "opaque g(x[N]) -> y[N] = \"k\"\n"
	  "op f(x[B, N]) -> y[B, N] = lambda b, i: g(x[b, :, :])[b, i]",
	  "wrong-rank" },
	/* Names that are not found are ones that nobody else has. */
	{ "import \"absent.tdl\"\n"
	  "op f(x[N]) -> y[N] = let z = g(x) lambda i: z[i] + h(z[i])\n"
	  "onnx \"F\" 1 (x) { return g(x) }", "import-not-found" },
	{ "import \"/dev\"\n"
	  "op f(x[N]) -> y[N] = let z = g(x) lambda i: z[i]", "cannot-read" },
};

START_TEST(one_error)
{
	load_text(mistakes[_i].text);
	ck_assert_msg(diag_errors(sink) == 1 &&
			      strstr(printed(), mistakes[_i].name),
		      "%s", printed());
}
END_TEST

/* ---- checks that find nothing ------------------------------------------- */

static const char *const fine[] = {
	/* packs: bound by attributes, by what is left, in halves */
	"op f(x[..outer, N, ..inner]; outer: int[]) -> y[..outer, N, ..inner] ="
	" lambda ..outer, i, ..inner: x[..outer, i, ..inner]",
	"op f(x[..b, ..n], s[..n]) -> y[..b] ="
	" lambda ..b: Sum(lambda ..n: x[..b, ..n] * s[..n])",
	"op f(x[..d]; a: axis[2]) -> y[..(d \\ a)] ="
	" lambda ..(d \\ a): Sum(lambda ..(d & a): x[..d])",
	"op f(x[..d]) -> y[..(d \\ [0, 1])] ="
	" lambda ..(d \\ [0, 1]): Sum(lambda ..(d & [0, 1]): x[..d])",
	"op f(broadcast x[..shape]; shape: int[]) -> y[..shape] ="
	" lambda ..shape: x[..shape]",
	"op f(x[..d]; shape: int[]) -> y[..shape] ="
	" lambda ..shape: x[..unravel(ravel(..shape))]",
	/* sizes that are computed */
	"op f(x[N, C], w[K, C/group]; group: int = 1) -> y[N, K] ="
	" lambda n, k: Sum(lambda c < C/group: w[k, c] * x[n, c])",
	"op f(x[N]; n: int) -> y[max(N, n), if n > 2 then n else 3] ="
	" lambda i, j: (x[i] else 0)",
	/* types */
	"op f(x[N]: i32; t: type = f32) -> y[N]: t ="
	" lambda i: cast(x[i], t) / 2",
	"op f(x[N]: bool) -> y[]: bool = lambda: And(lambda i: not x[i])",
	"op f(x[N]) -> y[N]: i64 = lambda i: ArgMax(lambda j: x[j]) + i",
	"op f(x[N]: f16, k[N]: int) -> y[N]: f16 ="
	" lambda i: if k[i] == 3 then x[i] else -inf",
	"op f(x[N]; mode: string) -> y[N] ="
	" lambda i: if mode == \"neg\" then -x[i] else x[i]",
	"op f(; n: int) -> y[n]: i64 = lambda i: i",
	/* lets: constants, calls, several results */
	"op f(x[N]) -> y[N] = let c = N * 2 - 1 lambda i: x[i] * c",
	"op f(x[N]) -> (a[N], b[N]: i64) = lambda i: x[i], lambda i: i\n"
	"op g(x[N]) -> y[N] = let a, b = f(f1(x)) lambda i: a[i]\n"
	"op f1(x[N]; k: float = 2) -> y[N] = lambda i: x[i] * k",
	/* an extent out of the one branch that reads */
	"op f(x[N], w[M]) -> y[N] = lambda i:"
	" if i < M then Sum(lambda r < 1: w[i + r]) else x[i]",
	"op f(x[N], w[M]) -> y[N] = lambda i:"
	" Sum(lambda r: if i < r then w[r] else 0)",
};

START_TEST(no_fault)
{
	ck_assert_msg(load_text(fine[_i]), "%s\n%s", fine[_i], printed());
	ck_assert_str_eq(printed(), "");
}
END_TEST

/* ---- what a load leaves ------------------------------------------------- */

START_TEST(entries)
{
	ck_assert(load_text("onnx \"A\" 1..6 (x) { return x }\n"
			    "onnx \"A\" 7 (x, y) { return x }\n"
			    "onnx \"A\" 9.. (x, y, z) { return x }\n"
			    "onnx \"own\" \"A\" 1.. () { return none }\n"));
	static const struct {
		const char *domain;
		int opset, nparams;
	} want[] = { { "", 1, 1 }, { "", 6, 1 }, { "", 7, 2 }, { "", 8, -1 },
		     { "", 9, 3 }, { "", 99, 3 }, { "own", 5, 0 },
		     { "other", 5, -1 } };
	for (int i = 0; i < COUNT(want); i++) {
		const ast_onnx *e = dsl_onnx(modules, want[i].domain, "A",
					     want[i].opset);
		ck_assert_int_eq(e ? e->nparams : -1, want[i].nparams);
	}
	ck_assert_int_eq(modules->nonnx, 4);
}
END_TEST

START_TEST(documentation)
{
	ck_assert(load_text("/// One.\n///\n///  Two.\nop f(x[N]) -> y[N] =\n"
			    "/// no documentation\nlambda i: x[i] /// neither\n"
			    "op g(x[N]) -> y[N] = lambda i: x[i]\n"));
	ck_assert_str_eq(dsl_op(modules, "f")->doc, "One.\n\n Two.");
	ck_assert_ptr_null(dsl_op(modules, "g")->doc);
	ck_assert_int_eq(modules->modules[0]->ncomments, 2);
	ck_assert(modules->modules[0]->comments[0].own_line);
	ck_assert(!modules->modules[0]->comments[1].own_line);
}
END_TEST

/* A diamond of imports: each file is read once, and stands after what it
 * imports. */
START_TEST(imports)
{
	char dir[] = "/tmp/test_dsl.XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(dir));
	static const char *const files[][2] = {
		{ "a.tdl", "import \"b.tdl\"\nimport \"c.tdl\"\nop a(x[N]) -> "
			   "y[N] = let t = d(x) lambda i: t[i]\n" },
		{ "b.tdl", "import \"d.tdl\"\n" },
		{ "c.tdl", "import \"./d.tdl\"\n" },
		{ "d.tdl", "op d(x[N]) -> y[N] = lambda i: x[i]\n" },
	};
	for (int i = 0; i < COUNT(files); i++)
		ck_assert(file_write(path_join(a, dir, files[i][0]),
				     files[i][1], strlen(files[i][1])));
	bool ok = dsl_load(modules, path_join(a, dir, "a.tdl"));
	bool again = dsl_load(modules, path_join(a, dir, "d.tdl"));
	for (int i = 0; i < COUNT(files); i++)
		unlink(path_join(a, dir, files[i][0]));
	rmdir(dir);
	ck_assert_msg(ok && again, "%s", printed());
	ck_assert_int_eq(modules->nfiles, 4);
	static const char order[] = "dbca";
	for (int i = 0; i < 4; i++) {
		const char *path = modules->modules[i]->path;
		ck_assert_int_eq(path[strlen(path) - 5], order[i]);
	}
}
END_TEST

/* ---- tables ------------------------------------------------------------- */

START_TEST(builtins)
{
	const builtin *table = builtin_table;
	ck_assert_int_gt(BUILTIN_COUNT, 60);
	for (int i = 0; i < BUILTIN_COUNT; i++) {
		ck_assert_int_eq(table[i].id, i);
		ck_assert_int_le(table[i].least, table[i].most);
		ck_assert_ptr_eq(builtin_find(table[i].kind, table[i].name),
				 &table[i]);
	}
	ck_assert_ptr_null(builtin_find(BUILTIN_SCALAR, "Sum"));
	/* Kernels have every function that the checker lets pass. */
	for (int i = 0; i < BUILTIN_COUNT; i++) {
		const builtin *b = &table[i];
		bool own = b->rule >= RULE_CAST && b->rule <= RULE_POINTS;
		if (b->kind == BUILTIN_SCALAR && !own) {
			ck_assert_int_eq(fn_parse(b->name), b->fn);
			ck_assert_int_eq(fn_nargs((fn)b->fn), b->least);
		}
		ck_assert_int_eq(b->kind == BUILTIN_REDUCER, !!b->reducer);
		if (!b->reducer)
			continue;
		ck_assert_str_eq(b->name, b->reducer->name);
		ck_assert_int_eq(reducer_parse(b->name),
				 b->reducer->averages ? -1
				 : (int)b->reducer->kernel);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("dsl");
	TCase *t = tcase_create("dsl");
	tcase_add_checked_fixture(t, set_up_modules, tear_down_modules);
	tcase_add_loop_test(t, word_is_name, 0, COUNT(words));
	tcase_add_loop_test(t, word_is_reserved, 0, COUNT(reserved));
	tcase_add_loop_test(t, expression, 0, COUNT(expressions));
	tcase_add_loop_test(t, one_error, 0, COUNT(mistakes));
	tcase_add_loop_test(t, recovery, 0, COUNT(faults));
	tcase_add_loop_test(t, no_fault, 0, COUNT(fine));
	tcase_add_test(t, entries);
	tcase_add_test(t, documentation);
	tcase_add_test(t, imports);
	tcase_add_test(t, builtins);
	suite_add_tcase(s, t);
	return s;
}
