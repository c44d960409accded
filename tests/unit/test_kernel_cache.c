/* Tests: runtime/exec runtime/cpu runtime/run */
/* Kernels as they are compiled and kept, and the opaque functions built in. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "compiler/codegen/codegen.h"
#include "include/tdl/generated.h"
#include "kernel/eval.h"
#include "layout/mesh.h"
#include "runtime/comm/barrier.h"
#include "runtime/cpu/build.h"
#include "runtime/cpu/chunks.h"
#include "runtime/exec/builtin.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/thread_pool.h"
#include "runtime/exec/verify.h"
#include "runtime/run/inputs.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

/* ---- compiled kernels -------------------------------------------------- */

static const char *const answer[] = {
	"int TDL_KERNEL(tdl_args *args) { return 41 + (args == 0); }\n",
	NULL,
};

static int count_entries(const char *dir)
{
	FILE *p = popen(arena_printf(mem, "ls '%s' | wc -l", dir), "r");
	int n = -1;
	if (fscanf(p, "%d", &n) != 1)
		n = -1;
	pclose(p);
	return n;
}

static void expect_answer(void)
{
	cpu_kernel *k[2];
	failure f = { 0 };
	void *lib = cpu_build(2, answer, k, NULL, &f);
	ck_assert_msg(lib != NULL, "%s", f.text);
	ck_assert_int_eq(k[0](NULL), 42);
	ck_assert_ptr_null(k[1]);
	cpu_close(lib);
}

START_TEST(cache)
{
	const char *dir = file("cache");
	char *rm, *entry = arena_alloc(mem, 200);
	setenv("TDL_CACHE", dir, 1);
	expect_answer();
	ck_assert_int_eq(count_entries(dir), 1);
	expect_answer();
	ck_assert_int_eq(count_entries(dir), 1);
	/* A damaged entry is made again. */
	FILE *p = popen(arena_printf(mem, "ls -d '%s'/*", dir), "r");
	ck_assert_ptr_nonnull(fgets(entry, 200, p));
	pclose(p);
	entry[strcspn(entry, "\n")] = '\0';
	FILE *so = fopen(arena_printf(mem, "%s/kernels.so", entry), "w");
	fputs("damaged", so);
	fclose(so);
	expect_answer();
	expect_answer();
	/* So is what a full disk cut short, before the loader sees it. */
	char *path = arena_printf(mem, "%s/kernels.so", entry);
	ck_assert_int_eq(truncate(path, 3000), 0);
	expect_answer();
	/* A file that others may change is not trusted. */
	ck_assert_int_eq(chmod(path, 0666), 0);
	expect_answer();
	ck_assert_int_eq(count_entries(dir), 1);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	failure f = { 0 };
	cpu_kernel *k[2];
	ck_assert_ptr_null(cpu_build(2, answer, k, NULL, &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
	/* Without a cache nothing is left. */
	setenv("TDL_CACHE", "/dev/null/x", 1);
	setenv("TMPDIR", file("tmp"), 1);
	ck_assert_int_eq(mkdir(file("tmp"), 0700), 0);
	expect_answer();
	ck_assert_int_eq(count_entries(file("tmp")), 0);
	rm = arena_printf(mem, "rm -rf '%s'", dir);
	ck_assert_int_eq(system(rm), 0);
}
END_TEST

/* Of n kernels each returns its number, modulo `different'. */
static const char **numbered(int n, int different)
{
	const char **s = ARENA_ARRAY(mem, const char *, n);
	for (int i = 0; i < n; i++)
		s[i] = arena_printf(mem, "int TDL_KERNEL(tdl_args *args) "
				    "{ return %d + (args != 0); }\n",
				    i % different);
	return s;
}

typedef struct told {
	int times, done, all;
} told;

static void tell(void *arg, int done, int all)
{
	told *t = arg;
	ck_assert_int_le(t->done, done);
	*t = (told){ t->times + 1, done, all };
}

/* A text is compiled once, whichever kernels have it, and who asks is told of
 * the compiler where that takes long. */
START_TEST(equal_kernels)
{
	enum { N = 60, DIFFERENT = 45 };
	const char *cc = file("slow");
	const char **sources = numbered(N, DIFFERENT);
	cpu_kernel *k[N];
	failure f = { 0 };
	told t = { 0 };
	const build_progress progress = { tell, &t };
	FILE *script = fopen(cc, "w");
	fputs("#!/bin/sh\n"
	      "case \"$*\" in *' -c '*) sleep 1.1 ;; esac\nexec cc \"$@\"\n",
	      script);
	fclose(script);
	ck_assert_int_eq(chmod(cc, 0700), 0);
	setenv("TDL_CACHE", file("cache"), 1);
	setenv("CC", cc, 1);
	void *lib = cpu_build(N, sources, k, &progress, &f);
	ck_assert_msg(lib != NULL, "%s", f.text);
	for (int i = 0; i < N; i++) {
		ck_assert_int_eq(k[i](NULL), i % DIFFERENT);
		ck_assert_ptr_eq(k[i], k[i % DIFFERENT]);
	}
	ck_assert_int_ge(t.times, 1);
	ck_assert_int_eq(t.all, DIFFERENT);
	ck_assert_int_eq(t.done, DIFFERENT);
	cpu_close(lib);
	t = (told){ 0 };
	lib = cpu_build(N, sources, k, &progress, &f);
	ck_assert_ptr_nonnull(lib);
	ck_assert_int_eq(t.times, 0);
	cpu_close(lib);
	setenv("CC", "cc", 1);
	/* The kernels that share a text are part of what is kept. */
	lib = cpu_build(N, numbered(N, DIFFERENT - 1), k, NULL, &f);
	ck_assert_ptr_nonnull(lib);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(k[i](NULL), i % (DIFFERENT - 1));
	cpu_close(lib);
}
END_TEST

/* Texts that differ in their comments and their numbers alone; every fifth has
 * one number less, and every third, in a file of other texts, is alone. */
START_TEST(numbers)
{
	enum { N = 30 };
	const char **s = ARENA_ARRAY(mem, const char *, N);
	cpu_kernel *k[N];
	failure f = { 0 };
	tdl_args args = { .scratch = NULL };
	for (int i = 0; i < N; i++)
		s[i] = arena_printf(
			mem, "/* %d */\n#define TDL_NUMBER_0 (-%dLL)\n%s"
			"int TDL_KERNEL(tdl_args *args)\n{\n"
			"\treturn TDL_NUMBER_0 %s + %d;\n}\n"
			"#undef TDL_NUMBER_0\n%s", i, i,
			i % 5 ? "#define TDL_NUMBER_1 (1000)\n" : "",
			i % 5 ? "+ TDL_NUMBER_1" : "", i % 3 ? 0 : i,
			i % 5 ? "#undef TDL_NUMBER_1\n" : "");
	setenv("TDL_CACHE", file("cache"), 1);
	void *lib = cpu_build(N, s, k, NULL, &f);
	ck_assert_msg(lib != NULL, "%s", f.text);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(k[i](&args), (i % 5 ? 1000 : 0) - i +
				 (i % 3 ? 0 : i));
	cpu_close(lib);
	/* Two texts for those that are not alone. */
	chunks x = chunks_of(mem, N, s, 1);
	int shared = 0;
	for (const char *t = x.at[0].text;
	     (t = strstr(t, "TDL_KERNEL tdl_s")); t++)
		shared++;
	ck_assert_int_eq(x.n, 1);
	ck_assert_int_eq(shared, 2);
	ck_assert_int_eq(x.nkernels, N);
}
END_TEST

/* The files of a plan: every kernel in one of them, and all about as long. */
START_TEST(shares)
{
	for (int n = 0; n < 200; n += 7)
		for (int processors = 1; processors < 9; processors += 3) {
			const char **s = numbered(n, n + 1);
			chunks x = chunks_of(mem, n, s, processors);
			int all = 0, least = n, most = 0;
			for (int c = 0; c < x.n; c++) {
				all += x.at[c].n;
				least = x.at[c].n < least ? x.at[c].n : least;
				most = x.at[c].n > most ? x.at[c].n : most;
			}
			ck_assert_int_eq(all, n);
			ck_assert_int_eq(x.nkernels, n);
			ck_assert_int_le(most - least, 1);
			ck_assert(x.n < processors ? most <= 4 :
						     x.n % processors == 0);
		}
}
END_TEST

START_TEST(compilers_that_fail)
{
	static const char *const bad[] = { "int TDL_KERNEL(\n" };
	static const char *const other[] = { "int something;\n" };
	cpu_kernel *k[1];
	failure f = { 0 };
	setenv("TDL_CACHE", file("cache"), 1);
	ck_assert_ptr_null(cpu_build(1, bad, k, NULL, &f));
	ck_assert_ptr_nonnull(strstr(f.text, "error"));
	ck_assert_int_eq(f.status, CLI_INPUT);
	f = (failure){ 0 };
	ck_assert_ptr_null(cpu_build(1, other, k, NULL, &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	f = (failure){ 0 };
	setenv("CC", "/nonexistent/cc", 1);
	ck_assert_ptr_null(cpu_build(1, answer, k, NULL, &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
	ck_assert_ptr_nonnull(strstr(f.text, "/nonexistent/cc"));
	f = (failure){ 0 };
	setenv("CC", "false", 1);
	ck_assert_ptr_null(cpu_build(1, answer, k, NULL, &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
}
END_TEST

/* Flags of the user's are the compiler's last, and part of what is kept. */
START_TEST(own_flags)
{
	static const char *const given[] = {
		"int TDL_KERNEL(tdl_args *args) { return args ? 1 : OWN; }\n"
	};
	cpu_kernel *k[1];
	failure f = { 0 };
	setenv("TDL_CACHE", file("cache"), 1);
	ck_assert_ptr_null(cpu_build(1, given, k, NULL, &f));
	for (int i = 1; i < 3; i++) {
		setenv("TDL_KERNEL_CFLAGS",
		       arena_printf(mem, " -O1\t-DOWN=%d", i), 1);
		void *lib = cpu_build(1, given, k, NULL, &f);
		ck_assert_msg(lib != NULL, "%s", f.text);
		ck_assert_int_eq(k[0](NULL), i);
		cpu_close(lib);
	}
	f = (failure){ 0 };
	setenv("TDL_KERNEL_CFLAGS", "--no-such-flag", 1);
	ck_assert_ptr_null(cpu_build(1, given, k, NULL, &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
	unsetenv("TDL_KERNEL_CFLAGS");
}
END_TEST

/* ---- opaque functions -------------------------------------------------- */

START_TEST(cholesky)
{
	const int64_t dims[] = { 3, 3 }, rows[] = { 3, 1 }, cols[] = { 1, 3 };
	double m[] = { 4, 0, 0, 2, 5, 0, 2, 3, 6 }, l[9];
	static const double want[] = { 2, 0, 0, 1, 2, 0, 1, 1, 2 };
	tdl_view in = { m, TDL_F64, 2, dims, rows };
	tdl_view out = { l, TDL_F64, 2, dims, rows };
	tdl_kernel_call call = { 1, &in, 1, &out };
	tdl_kernel *f = builtin_kernel("tdl_cholesky");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_null(builtin_kernel("tdl_absent"));
	ck_assert_int_eq(f(&call), 0);
	for (int i = 0; i < 9; i++)
		ck_assert_double_eq(l[i], want[i]);
	out.strides = cols;
	ck_assert_int_eq(f(&call), 0);
	for (int i = 0; i < 9; i++)
		ck_assert_double_eq(l[i / 3 + i % 3 * 3], want[i]);
	m[8] = -6;
	ck_assert_int_eq(f(&call), 1);
	out.ndim = 1;
	ck_assert_int_eq(f(&call), 2);
	out.data = NULL;
	ck_assert_int_eq(f(&call), 0);
}
END_TEST

/* ---- the whole --------------------------------------------------------- */

Suite *suite(void)
{
	Suite *s = suite_create("kernel_cache");
	TCase *c = tcase_create("kernel_cache");
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, cache);
	tcase_add_test(c, equal_kernels);
	tcase_add_test(c, numbers);
	tcase_add_test(c, shares);
	tcase_add_test(c, compilers_that_fail);
	tcase_add_test(c, own_flags);
	tcase_add_test(c, cholesky);
	suite_add_tcase(s, c);
	return s;
}
