/* Tests: libtdl base */
/* tdl.h: limits, faults of the caller, runs. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/tdl/tdl.h"
#include "tests/unit/library_calls.h"
#include "tests/unit/suite.h"

typedef library_world world;

/* ---- limits ------------------------------------------------------------- */

START_TEST(a_quota_is_kept)
{
	world w = library_world_new(NULL);
	size_t used = tdl_context_used(w.c);
	tdl_context_set_quota(w.c, used + 100000);
	ck_assert(!library_auto(&w));
	ck_assert_int_eq(tdl_last_status(w.c), TDL_NO_MEMORY);
	ck_assert_uint_le(tdl_context_used(w.c), used);
	tdl_context_set_quota(w.c, 0);
	ck_assert(library_auto(&w));
	ck_assert_uint_gt(tdl_context_peak(w.c), used + 100000);
	library_world_end(&w);
}
END_TEST

typedef struct seen {
	tdl_context *c;
	int steps, cancel_at;
} seen;

static void see(void *user, const char *phase, const char *algorithm, int done,
		int all)
{
	seen *s = user;
	ck_assert(*phase && algorithm && done >= 0 && all >= 0);
	if (++s->steps == s->cancel_at)
		tdl_cancel(s->c);
}

static bool has_graph(world *w)
{
	char *text = tdl_model_graph(w->model);
	tdl_text_free(text);
	return text != NULL;
}

START_TEST(a_search_can_be_cancelled)
{
	world w = library_world_new(NULL);
	seen s = { .c = w.c };
	tdl_context_set_progress(w.c, see, &s);
	ck_assert(library_auto(&w));
	ck_assert_int_gt(s.steps, 5);
	for (s.cancel_at = 1; s.cancel_at < 5; s.cancel_at++) {
		size_t n, used = tdl_context_used(w.c);
		s.steps = 0;
		ck_assert(!library_auto(&w));
		ck_assert_int_eq(s.steps, s.cancel_at);
		ck_assert_int_eq(tdl_last_status(w.c), TDL_CANCELLED);
		ck_assert_str_eq(tdl_diagnostics(w.c, &n)->name, "cancelled");
		ck_assert_uint_eq(tdl_context_used(w.c), used);
	}
	tdl_context_set_progress(w.c, NULL, NULL);
	tdl_cancel(w.c); /* the next one */
	ck_assert(!has_graph(&w));
	ck_assert(has_graph(&w));
	library_world_end(&w);
}
END_TEST

/* ---- faults of the caller ----------------------------------------------- */

static void expect(const tdl_context *c, tdl_status status, const char *name,
		   const char *part)
{
	size_t n;
	const tdl_diagnostic *d = tdl_diagnostics(c, &n);
	ck_assert_int_eq(tdl_last_status(c), status);
	ck_assert_uint_gt(n, 0);
	ck_assert_str_eq(d->name, name);
	ck_assert_msg(strstr(d->message, part) != NULL, "%s", d->message);
}

START_TEST(faults_have_places)
{
	static const char bad[] = "op f(x[N]) -> y[N] =\n    lambda i: z[i]\n";
	tdl_context *c = tdl_context_new(NULL);
	size_t n;
	ck_assert_ptr_null(tdl_module_of_text(c, "bad.tdl", bad, strlen(bad)));
	expect(c, TDL_INPUT, "unbound-index", "'z'");
	const tdl_diagnostic *d = tdl_diagnostics(c, &n);
	ck_assert_str_eq(d->file, "bad.tdl");
	ck_assert_int_eq(d->line, 2);
	ck_assert_int_eq(d->column, 15);
	ck_assert_int_eq(d->end_column, 16);
	ck_assert_ptr_null(tdl_model_load(c, "nowhere.onnx", NULL));
	expect(c, TDL_INPUT, "cannot-read", "No such file");
	tdl_context_free(c);
}
END_TEST

START_TEST(options_are_checked)
{
	world w = library_world_new(NULL);
	const tdl_option unknown[] = { { "divices", "4" }, { NULL, NULL } };
	const tdl_option bad[] = { { "devices", "0" }, { NULL, NULL } };
	const tdl_option flag[] = { { "devices", "4" }, { "no-fuse", "x" },
				    { NULL, NULL } };
	const tdl_option shaped[] = { { "shape", "x=8" }, { NULL, NULL } };
	const tdl_option small[] = { { "devices", "4" }, { "memory", "9" },
				     { NULL, NULL } };
	const struct {
		const tdl_option *options;
		tdl_status status;
		const char *name, *part;
	} cases[] = {
		{ NULL, TDL_USAGE, "usage", "devices is missing" },
		{ unknown, TDL_USAGE, "usage", "no option 'divices'" },
		{ bad, TDL_USAGE, "usage", "takes a whole number" },
		{ flag, TDL_USAGE, "usage", "takes no value" },
		{ small, TDL_NO_PLAN, "limit", "a device needs" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ck_assert_ptr_null(tdl_plan_search(w.model, cases[i].options));
		expect(w.c, cases[i].status, cases[i].name, cases[i].part);
	}
	ck_assert_ptr_null(tdl_module_explain(w.module, "for", NULL));
	expect(w.c, TDL_USAGE, "usage", "did you mean 'four'?");
	ck_assert_ptr_null(tdl_module_export(w.module, NULL, "gradients",
					     shaped, NULL));
	expect(w.c, TDL_USAGE, "usage", "shape and D go with the formats c");
	tdl_plan *read = tdl_plan_of_text(w.c, "x", w.text, strlen(w.text));
	ck_assert_ptr_null(tdl_plan_report(read));
	expect(w.c, TDL_USAGE, "usage", "was read");
	tdl_plan_free(read);
	library_world_end(&w);
}
END_TEST

/* ---- runs ---------------------------------------------------------------- */

/* relu(x w) on four devices, for a w of ours. */
START_TEST(a_run_computes)
{
	static const int64_t square[] = { 16, 16 };
	world w = library_world_new(NULL);
	const tdl_option trained[] = { { "evaluate", NULL }, { NULL, NULL } };
	tdl_model *m = tdl_model_of_text(w.c, "tiny.tdl", library_network,
					 strlen(library_network), trained);
	tdl_plan *p = tdl_plan_search(m, library_on_four);
	tdl_run *r = tdl_run_open(p, library_interpreted);
	float x[8][16], y[8][16], v[16][16], got[16][16];
	const tdl_array weights = { "w", "f32", 2, square, v, sizeof(v) };
	const tdl_array again = { "w", "f32", 2, square, got, sizeof(got) };
	ck_assert_ptr_nonnull(r);
	tdl_plan_free(p);
	tdl_model_free(m);
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++)
			v[i][j] = (float)((i * 7 + j * 3) % 5 - 2);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 16; j++)
			x[i][j] = (float)((i + 2 * j) % 7 - 3);
	ck_assert_int_eq(tdl_run_set_state(r, &weights), TDL_OK);
	ck_assert_int_eq(library_step(r, &x[0][0], &y[0][0]), TDL_OK);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 16; j++) {
			float sum = 0;
			for (int k = 0; k < 16; k++)
				sum += x[i][k] * v[k][j];
			ck_assert_float_eq(y[i][j], sum > 0 ? sum : 0);
		}
	ck_assert_int_eq(tdl_run_get_state(r, &again), TDL_OK);
	ck_assert_int_eq(memcmp(v, got, sizeof(v)), 0);
	ck_assert_int_eq(tdl_run_step(r, NULL, 0, NULL, 0), TDL_USAGE);
	expect(w.c, TDL_USAGE, "usage", "the input 'x' is missing");
	const tdl_array other = { "x", "f64", 2, square, v, sizeof(v) };
	ck_assert_int_eq(tdl_run_step(r, &other, 1, NULL, 0), TDL_USAGE);
	tdl_cancel(w.c);
	ck_assert_int_eq(library_step(r, &x[0][0], &y[0][0]), TDL_CANCELLED);
	tdl_run_free(r);
	library_world_end(&w);
}
END_TEST

enum { DEEP = 6 * 5 };

/* Two steps of a small network that is trained, by a plan of these devices; the
 * losses, and a weight. */
static void train_deep(tdl_context *c, const tdl_option *plan, bool reread,
		       float *losses, float *w)
{
	static const char deep[] =
		"model deep(batch = 6, width = 5) {\n"
		"    input x[batch, width]\n"
		"    input t[batch, width]\n"
		"    param v[width, width]\n"
		"    param w[width, width]\n"
		"    y = relu(matmul(x, v))\n"
		"    z = matmul(y, w)\n"
		"    loss = mse(z, t)\n"
		"    output loss\n"
		"}\n";
	static const tdl_option train[] = { { "train", NULL }, { NULL, NULL } };
	static const int64_t dims[] = { 6, 5 }, square[] = { 5, 5 };
	float x[DEEP], t[DEEP];
	double rate = 0.1;
	const tdl_array in[] = { { "x", "f32", 2, dims, x, sizeof(x) },
				 { "t", "f32", 2, dims, t, sizeof(t) },
				 { "lr", "f64", 0, NULL, &rate,
				   sizeof(rate) } };
	tdl_model *m = tdl_model_of_text(c, "deep.tdl", deep, strlen(deep),
					 train);
	tdl_plan *p = tdl_plan_search(m, plan);
	ck_assert_ptr_nonnull(p);
	if (reread) {
		char *text = tdl_plan_text(p);
		tdl_plan_free(p);
		p = tdl_plan_of_text(c, "deep.plan", text, strlen(text));
		tdl_text_free(text);
	}
	tdl_run *r = tdl_run_open(p, library_interpreted);
	ck_assert_ptr_nonnull(r);
	tdl_plan_free(p);
	tdl_model_free(m);
	for (int i = 0; i < DEEP; i++) {
		x[i] = (float)(i % 7) / 7;
		t[i] = (float)(i % 5) / 3;
	}
	for (int i = 0; i < 2; i++) {
		const tdl_array out = { "loss", "f32", 0, NULL, &losses[i],
					sizeof(losses[i]) };
		ck_assert_int_eq(tdl_run_step(r, in, 3, &out, 1), TDL_OK);
	}
	const tdl_array to = { "w", "f32", 2, square, w, 25 * sizeof(*w) };
	ck_assert_int_eq(tdl_run_get_state(r, &to), TDL_OK);
	ck_assert_int_eq(tdl_run_set_state(r, &to), TDL_OK);
	tdl_run_free(r);
}

/* Stages of a pipeline run as one device does, whether searched or read. */
START_TEST(a_run_of_stages)
{
	static const tdl_option one[] = { { "devices", "1" }, { NULL, NULL } };
	static const tdl_option two[] = {
		{ "devices", "2" }, { "stages", "2" }, { "micro-batches", "3" },
		{ NULL, NULL }
	};
	float want[2], got[2], w[25], v[25];
	tdl_context *c = tdl_context_new(NULL);
	train_deep(c, one, false, want, w);
	for (int reread = 0; reread < 2; reread++) {
		train_deep(c, two, reread, got, v);
		for (int i = 0; i < 2; i++)
			ck_assert_float_eq_tol(got[i], want[i], 1e-6f);
		for (int i = 0; i < 25; i++)
			ck_assert_float_eq_tol(v[i], w[i], 1e-6f);
	}
	ck_assert_float_ne(want[0], want[1]);
	tdl_context_free(c);
}
END_TEST

/* An index outside of a tensor ends a run, and its context stays of use. */
START_TEST(a_failed_run_is_of_no_use)
{
	static const char picking[] =
		"op picked_at(x[N], at[M]: i64) -> y[M] = lambda i: x[at[i]]\n"
		"model picked(n = 8, m = 4) {\n"
		"    input x[n]\n"
		"    input at[m]: i64\n"
		"    y = picked_at(x, at)\n"
		"    output y\n"
		"}\n";
	static const int64_t eight[] = { 8 }, four[] = { 4 };
	float x[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, y[4];
	int64_t at[4] = { 7, 0, 3, 5 };
	const tdl_array in[] = { { "x", "f32", 1, eight, x, sizeof(x) },
				 { "at", "i64", 1, four, at, sizeof(at) } };
	const tdl_array out = { "y", "f32", 1, four, y, sizeof(y) };
	tdl_context *c = tdl_context_new(NULL);
	tdl_model *m = tdl_model_of_text(c, "picked.tdl", picking,
					 strlen(picking), NULL);
	ck_assert_ptr_nonnull(m);
	tdl_plan *p = tdl_plan_search(m, library_on_four);
	for (int i = 0; i < 2; i++) {
		tdl_run *r = tdl_run_open(p, library_interpreted);
		at[1] = 0;
		ck_assert_int_eq(tdl_run_step(r, in, 2, &out, 1), TDL_OK);
		ck_assert_float_eq(y[0] + y[3], 12);
		at[1] = 8;
		ck_assert_int_eq(tdl_run_step(r, in, 2, &out, 1), TDL_INPUT);
		expect(c, TDL_INPUT, "input", "index 8");
		at[1] = 0;
		ck_assert_int_eq(tdl_run_step(r, in, 2, &out, 1), TDL_USAGE);
		expect(c, TDL_USAGE, "usage", "has failed before");
		tdl_run_free(r);
	}
	tdl_context_free(c);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("library");
	TCase *c = tcase_create("library");
	tcase_set_timeout(c, 600);
	tcase_add_test(c, a_quota_is_kept);
	tcase_add_test(c, a_search_can_be_cancelled);
	tcase_add_test(c, faults_have_places);
	tcase_add_test(c, options_are_checked);
	tcase_add_test(c, a_run_computes);
	tcase_add_test(c, a_run_of_stages);
	tcase_add_test(c, a_failed_run_is_of_no_use);
	suite_add_tcase(s, c);
	return s;
}
