/* Tests: libtdl compiler/onnx */
/* tdl.h: where texts, models and plans come from. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/tdl/tdl.h"
#include "tests/unit/suite.h"

static const char network[] =
	"model tiny(batch = 8, width = 16) {\n"
	"    input x[batch, width]\n"
	"    param w[width, width]\n"
	"    y = relu(matmul(x, w))\n"
	"    output y\n"
	"}\n";

static const tdl_option on_two[] = { { "devices", "2" }, { NULL, NULL } };

static void expect(const tdl_context *c, tdl_status status, const char *name)
{
	size_t n;
	const tdl_diagnostic *d = tdl_diagnostics(c, &n);
	ck_assert_int_eq(tdl_last_status(c), status);
	ck_assert_uint_gt(n, 0);
	ck_assert_str_eq(d->name, name);
}

/* A vector of C++ without elements has no address. */
START_TEST(no_bytes_are_a_text)
{
	tdl_context *c = tdl_context_new(NULL);
	tdl_module *m = tdl_module_of_text(c, "empty.tdl", NULL, 0);
	ck_assert_ptr_nonnull(m);
	tdl_module_free(m);
	ck_assert_ptr_null(tdl_model_of_text(c, "empty.tdl", NULL, 0, NULL));
	expect(c, TDL_INPUT, "no-model");
	ck_assert_ptr_null(tdl_model_of_text(c, "empty.onnx", NULL, 0, NULL));
	expect(c, TDL_INPUT, "onnx-version");
	ck_assert_ptr_null(tdl_plan_of_text(c, "empty.plan", NULL, 0));
	expect(c, TDL_INPUT, "plan-syntax");
	ck_assert_int_eq(tdl_context_add_text(c, "none.tdl", NULL, 0), TDL_OK);
	m = tdl_module_load(c, "none.tdl");
	ck_assert_ptr_nonnull(m);
	tdl_context_free(c);
}
END_TEST

/* ---- ONNX ---------------------------------------------------------------- */

/* The bytes of a file. */
static void *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	void *data = malloc(*n);
	ck_assert_uint_eq(fread(data, 1, *n, f), *n);
	fclose(f);
	return data;
}

/* The same graph and plan out of a file, out of bytes that end after the call,
 * and out of a text of the context in the place of a file. */
START_TEST(onnx_is_read_from_memory)
{
	static const char *const names[] = { "relu.onnx", "declared.onnx",
					     "loop.onnx" };
	const char *srcdir = getenv("srcdir");
	char path[1000], *graphs[3], *texts[3];
	size_t n;
	tdl_context *c = tdl_context_new(NULL);
	snprintf(path, sizeof(path), "%s/tests/golden/graph/%s",
		 srcdir ? srcdir : ".", names[_i]);
	void *data = slurp(path, &n);
	for (int i = 0; i < 3; i++) {
		if (i == 1)
			ck_assert_int_eq(tdl_context_add_text(c, path, data, n),
					 TDL_OK);
		tdl_model *m = i < 2 ?
			tdl_model_load(c, path, NULL) :
			tdl_model_of_text(c, path, data, n, NULL);
		ck_assert_ptr_nonnull(m);
		if (i == 2)
			memset(data, 0xee, n);
		tdl_plan *p = tdl_plan_search(m, on_two);
		graphs[i] = tdl_model_graph(m);
		tdl_model_free(m);
		texts[i] = tdl_plan_text(p);
		ck_assert(graphs[i] && texts[i]);
		ck_assert_str_eq(graphs[i], graphs[0]);
		ck_assert_str_eq(texts[i], texts[0]);
	}
	free(data);
	tdl_context_free(c);
}
END_TEST

/* ---- files --------------------------------------------------------------- */

/* A new file has the mode that the process gives its files. */
START_TEST(files_have_the_mode_of_the_process)
{
	struct stat st;
	tdl_context *c = tdl_context_new(NULL);
	tdl_model *m = tdl_model_of_text(c, "tiny.tdl", network,
					 strlen(network), NULL);
	tdl_plan *p = tdl_plan_search(m, on_two);
	ck_assert_ptr_nonnull(p);
	mode_t was = umask(026);
	unlink("test_library_input.plan");
	ck_assert_int_eq(tdl_plan_write(p, "test_library_input.plan"), TDL_OK);
	ck_assert_int_eq(stat("test_library_input.plan", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
	ck_assert_int_eq(chmod("test_library_input.plan", 0604), 0);
	ck_assert_int_eq(tdl_plan_write(p, "test_library_input.plan"), TDL_OK);
	ck_assert_int_eq(stat("test_library_input.plan", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0604);
	ck_assert_int_eq(umask(was), 026);
	unlink("test_library_input.plan");
	tdl_context_free(c);
}
END_TEST

/* "-" is not a stream of the caller. */
START_TEST(a_dash_is_a_file)
{
	tdl_context *c = tdl_context_new(NULL);
	char folder[] = "test_library.XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	tdl_model *m = tdl_model_of_text(c, "tiny.tdl", network,
					 strlen(network), NULL);
	ck_assert_ptr_nonnull(m);
	tdl_plan *p = tdl_plan_search(m, on_two);
	ck_assert_int_eq(tdl_plan_write(p, "-"), TDL_OK);
	tdl_plan *q = tdl_plan_load(c, "-");
	ck_assert_ptr_nonnull(q);
	ck_assert_int_eq(unlink("-"), 0);
	ck_assert_ptr_null(tdl_plan_load(c, "-"));
	expect(c, TDL_INPUT, "cannot-read");
	ck_assert_ptr_null(tdl_module_load(c, "-"));
	expect(c, TDL_INPUT, "cannot-read");
	ck_assert_ptr_null(tdl_model_load(c, "-", NULL));
	expect(c, TDL_INPUT, "cannot-read");
	ck_assert_int_eq(chdir(".."), 0);
	ck_assert_int_eq(rmdir(folder), 0);
	tdl_context_free(c);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("library_input");
	TCase *c = tcase_create("library_input");
	tcase_set_timeout(c, 100);
	tcase_add_test(c, no_bytes_are_a_text);
	tcase_add_loop_test(c, onnx_is_read_from_memory, 0, 3);
	tcase_add_test(c, files_have_the_mode_of_the_process);
	tcase_add_test(c, a_dash_is_a_file);
	suite_add_tcase(s, c);
	return s;
}
