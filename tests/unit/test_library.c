/* Tests: libtdl base */
/* tdl.h: each function, with each of its allocations failing in turn. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/tdl/tdl.h"
#include "tests/unit/suite.h"

static const char operators[] =
	"/// Twice.\n"
	"op twice(x[N]) -> y[N] = lambda i: x[i] + x[i]\n"
	"op rows(a[I, J]) -> s[I] = lambda i: Sum(lambda j: a[i, j])\n";

static const char importing[] =
	"import \"parts.tdl\"\n"
	"op four(x[N]) -> y[N] = lambda i: 4.0 * x[i]\n";

static const char network[] =
	"model tiny(batch = 8, width = 16) {\n"
	"    input x[batch, width]\n"
	"    param w[width, width]\n"
	"    y = relu(matmul(x, w))\n"
	"    output y\n"
	"}\n";

/* ---- an allocator that fails ------------------------------------------- */

typedef struct counter {
	atomic_int calls, live;
	int fails; /* the number of the call that fails; -1: none */
} counter;

static void *count(void *user, size_t n)
{
	counter *c = user;
	if (atomic_fetch_add(&c->calls, 1) == c->fails)
		return NULL;
	void *p = malloc(n);
	if (p)
		atomic_fetch_add(&c->live, 1);
	return p;
}

static void uncount(void *user, void *p)
{
	atomic_fetch_sub(&((counter *)user)->live, 1);
	free(p);
}

/* ---- the functions ----------------------------------------------------- */

/* Their arguments, made before the one that is tried. */
typedef struct world {
	tdl_context *c;
	tdl_module *module;
	tdl_model *model;
	tdl_plan *plan;
	tdl_run *run;
	char *text; /* of the plan */
	char *file; /* for a plan */
} world;

static const tdl_option on_four[] = { { "devices", "4" }, { NULL, NULL } };
static const tdl_option interpreted[] = { { "kernels", "interpreter" },
					  { NULL, NULL } };

static bool keeps_text(char *text)
{
	bool good = text && *text == '{';
	tdl_text_free(text);
	return good;
}

static bool try_folder(world *w)
{
	return tdl_context_add_folder(w->c, "nowhere") == TDL_OK;
}

static bool try_text(world *w)
{
	return tdl_context_add_text(w->c, "parts.tdl", operators,
				    strlen(operators)) == TDL_OK;
}

static bool try_module(world *w)
{
	tdl_module *m = tdl_module_of_text(w->c, "four.tdl", importing,
					   strlen(importing));
	tdl_module_free(m);
	return m != NULL;
}

static bool try_operators(world *w)
{
	return keeps_text(tdl_module_operators(w->module));
}

static bool try_describe(world *w)
{
	return keeps_text(tdl_module_describe(w->module));
}

static bool try_explain(world *w)
{
	const tdl_option shapes[] = { { "shape", "x=8" }, { "devices", "2" },
				      { NULL, NULL } };
	return keeps_text(tdl_module_explain(w->module, "four", shapes));
}

static bool try_verify(world *w)
{
	const tdl_option few[] = { { "trials", "1" }, { NULL, NULL } };
	return keeps_text(tdl_module_verify(w->module, "four", few));
}

static bool try_model(world *w)
{
	tdl_model *m = tdl_model_of_text(w->c, "tiny.tdl", network,
					 strlen(network), NULL);
	tdl_model_free(m);
	return m != NULL;
}

static bool try_graph(world *w)
{
	return keeps_text(tdl_model_graph(w->model));
}

static bool try_search(world *w)
{
	tdl_plan *p = tdl_plan_search(w->model, on_four);
	tdl_plan_free(p);
	return p != NULL;
}

static bool try_auto(world *w)
{
	const tdl_option best[] = { { "devices", "2" },
				    { "algorithm", "auto" }, { NULL, NULL } };
	tdl_plan *p = tdl_plan_search(w->model, best);
	tdl_plan_free(p);
	return p != NULL;
}

static bool try_write(world *w)
{
	return tdl_plan_write(w->plan, w->file) == TDL_OK;
}

static bool try_load(world *w)
{
	tdl_plan *p = tdl_plan_of_text(w->c, "x.plan", w->text,
				       strlen(w->text));
	tdl_plan_free(p);
	return p != NULL;
}

static bool try_plan_text(world *w)
{
	return keeps_text(tdl_plan_text(w->plan));
}

static bool try_report(world *w)
{
	return keeps_text(tdl_plan_report(w->plan));
}

static bool try_layout(world *w)
{
	return keeps_text(tdl_plan_layout(w->plan, NULL));
}

static bool try_diff(world *w)
{
	return keeps_text(tdl_plan_diff(w->plan, w->plan, NULL));
}

static bool try_open(world *w)
{
	tdl_run *r = tdl_run_open(w->plan, interpreted);
	tdl_run_free(r);
	return r != NULL;
}

static tdl_status step(tdl_run *r, float *x, float *y)
{
	static const int64_t dims[] = { 8, 16 };
	const tdl_array in = { "x", "f32", 2, dims, x, 8 * 16 * sizeof(*x) };
	const tdl_array out = { "y", "f32", 2, dims, y, 8 * 16 * sizeof(*y) };
	return tdl_run_step(r, &in, 1, &out, 1);
}

static bool try_step(world *w)
{
	float x[8 * 16] = { 1 }, y[8 * 16];
	tdl_run *r = tdl_run_open(w->plan, interpreted);
	bool good = r && step(r, x, y) == TDL_OK;
	tdl_run_free(r);
	return good;
}

static const struct {
	const char *name;
	bool (*run)(world *w);
} functions[] = {
	{ "add_folder", try_folder }, { "add_text", try_text },
	{ "module", try_module },     { "operators", try_operators },
	{ "describe", try_describe }, { "explain", try_explain },
	{ "verify", try_verify },     { "model", try_model },
	{ "graph", try_graph },	      { "search", try_search },
	{ "auto", try_auto },	      { "write", try_write },
	{ "load", try_load },	      { "text", try_plan_text },
	{ "report", try_report },     { "layout", try_layout },
	{ "diff", try_diff },	      { "run_open", try_open },
	{ "step", try_step },
};
enum { NFUNCTIONS = sizeof(functions) / sizeof(*functions) };

static world new_world(const tdl_allocator *a)
{
	world w = { .c = tdl_context_new(a) };
	ck_assert_ptr_nonnull(w.c);
	ck_assert(try_text(&w));
	w.module = tdl_module_of_text(w.c, "four.tdl", importing,
				      strlen(importing));
	ck_assert_ptr_nonnull(w.module);
	w.model = tdl_model_of_text(w.c, "tiny.tdl", network, strlen(network),
				    NULL);
	ck_assert_ptr_nonnull(w.model);
	w.plan = tdl_plan_search(w.model, on_four);
	ck_assert_ptr_nonnull(w.plan);
	w.text = tdl_plan_text(w.plan);
	ck_assert_ptr_nonnull(w.text);
	w.file = strdup("test_library.plan");
	return w;
}

static void end_world(world *w)
{
	unlink(w->file);
	free(w->file);
	tdl_text_free(w->text);
	tdl_plan_free(w->plan);
	tdl_model_free(w->model);
	tdl_module_free(w->module);
	tdl_context_free(w->c);
}

/* The next allocation to fail: all of the first, then ever fewer, and with
 * SAMPLE=N every Nth of these. */
static int after(int i)
{
	return i < 40 ? i + 1 : i + 1 + i / 8 * sample_every() / 4;
}

START_TEST(each_failure_is_a_diagnostic)
{
	counter k = { .fails = -1 };
	const tdl_allocator a = { count, uncount, &k };
	world w = new_world(&a);
	ck_assert_msg(functions[_i].run(&w), "%s", functions[_i].name);
	for (int i = 0;; i = after(i)) {
		size_t n, used = tdl_context_used(w.c);
		int live = atomic_load(&k.live);
		atomic_store(&k.calls, 0);
		k.fails = i;
		bool good = functions[_i].run(&w);
		k.fails = -1;
		const tdl_diagnostic *d = tdl_diagnostics(w.c, &n);
		if (good && atomic_load(&k.calls) <= i)
			break;
		ck_assert_msg(!good, "%s: %d", functions[_i].name, i);
		ck_assert_int_eq(tdl_last_status(w.c), TDL_NO_MEMORY);
		ck_assert_uint_eq(n, 1);
		ck_assert_str_eq(d->name, "no-memory");
		/* Diagnostics of the call before may be gone by now. */
		ck_assert_msg(atomic_load(&k.live) <= live,
			      "%s: %d: %d blocks are left",
			      functions[_i].name, i,
			      atomic_load(&k.live) - live);
		ck_assert_uint_le(tdl_context_used(w.c), used);
		ck_assert_msg(functions[_i].run(&w), "%s, after %d",
			      functions[_i].name, i);
	}
	end_world(&w);
	ck_assert_int_eq(atomic_load(&k.live), 0);
}
END_TEST

START_TEST(no_memory_for_a_context)
{
	counter k = { .fails = 0 };
	const tdl_allocator a = { count, uncount, &k };
	ck_assert_ptr_null(tdl_context_new(&a));
	tdl_context_free(NULL);
	tdl_module_free(NULL);
	tdl_model_free(NULL);
	tdl_plan_free(NULL);
	tdl_run_free(NULL);
	tdl_text_free(NULL);
}
END_TEST

/* ---- limits ------------------------------------------------------------- */

START_TEST(a_quota_is_kept)
{
	world w = new_world(NULL);
	size_t used = tdl_context_used(w.c);
	tdl_context_set_quota(w.c, used + 100000);
	ck_assert(!try_auto(&w));
	ck_assert_int_eq(tdl_last_status(w.c), TDL_NO_MEMORY);
	ck_assert_uint_le(tdl_context_used(w.c), used);
	tdl_context_set_quota(w.c, 0);
	ck_assert(try_auto(&w));
	ck_assert_uint_gt(tdl_context_peak(w.c), used + 100000);
	end_world(&w);
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

START_TEST(a_search_can_be_cancelled)
{
	world w = new_world(NULL);
	seen s = { .c = w.c };
	tdl_context_set_progress(w.c, see, &s);
	ck_assert(try_auto(&w));
	ck_assert_int_gt(s.steps, 5);
	for (s.cancel_at = 1; s.cancel_at < 5; s.cancel_at++) {
		size_t n, used = tdl_context_used(w.c);
		s.steps = 0;
		ck_assert(!try_auto(&w));
		ck_assert_int_eq(s.steps, s.cancel_at);
		ck_assert_int_eq(tdl_last_status(w.c), TDL_CANCELLED);
		ck_assert_str_eq(tdl_diagnostics(w.c, &n)->name, "cancelled");
		ck_assert_uint_eq(tdl_context_used(w.c), used);
	}
	tdl_context_set_progress(w.c, NULL, NULL);
	tdl_cancel(w.c); /* the next one */
	ck_assert(!try_graph(&w));
	ck_assert(try_graph(&w));
	end_world(&w);
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
	world w = new_world(NULL);
	const tdl_option unknown[] = { { "divices", "4" }, { NULL, NULL } };
	const tdl_option bad[] = { { "devices", "0" }, { NULL, NULL } };
	const tdl_option flag[] = { { "devices", "4" }, { "no-fuse", "x" },
				    { NULL, NULL } };
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
	tdl_plan *read = tdl_plan_of_text(w.c, "x", w.text, strlen(w.text));
	ck_assert_ptr_null(tdl_plan_report(read));
	expect(w.c, TDL_USAGE, "usage", "was read");
	tdl_plan_free(read);
	end_world(&w);
}
END_TEST

/* ---- runs ---------------------------------------------------------------- */

/* relu(x w) on four devices, for a w of ours. */
START_TEST(a_run_computes)
{
	static const int64_t square[] = { 16, 16 };
	world w = new_world(NULL);
	const tdl_option trained[] = { { "evaluate", NULL }, { NULL, NULL } };
	tdl_model *m = tdl_model_of_text(w.c, "tiny.tdl", network,
					 strlen(network), trained);
	tdl_plan *p = tdl_plan_search(m, on_four);
	tdl_run *r = tdl_run_open(p, interpreted);
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
	ck_assert_int_eq(step(r, &x[0][0], &y[0][0]), TDL_OK);
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
	ck_assert_int_eq(step(r, &x[0][0], &y[0][0]), TDL_CANCELLED);
	tdl_run_free(r);
	end_world(&w);
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
	tdl_plan *p = tdl_plan_search(m, on_four);
	for (int i = 0; i < 2; i++) {
		tdl_run *r = tdl_run_open(p, interpreted);
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

/* ---- threads ------------------------------------------------------------- */

/* All functions, in a context of the thread's own. */
static void *work(void *arg)
{
	world w = new_world(NULL);
	bool *good = arg;
	free(w.file);
	w.file = malloc(40);
	snprintf(w.file, 40, "test_library.%p", arg);
	*good = true;
	for (int i = 0; i < NFUNCTIONS; i++)
		*good &= functions[i].run(&w);
	end_world(&w);
	return NULL;
}

START_TEST(contexts_know_nothing_of_each_other)
{
	pthread_t threads[2];
	bool good[2];
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work,
						&good[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert(good[0] && good[1]);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("library");
	TCase *c = tcase_create("library");
	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, each_failure_is_a_diagnostic, 0, NFUNCTIONS);
	tcase_add_test(c, no_memory_for_a_context);
	tcase_add_test(c, a_quota_is_kept);
	tcase_add_test(c, a_search_can_be_cancelled);
	tcase_add_test(c, faults_have_places);
	tcase_add_test(c, options_are_checked);
	suite_add_tcase(s, c);
	TCase *threads = tcase_create("threads");
	tcase_set_timeout(threads, 600);
	tcase_add_test(threads, a_run_computes);
	tcase_add_test(threads, a_failed_run_is_of_no_use);
	tcase_add_test(threads, contexts_know_nothing_of_each_other);
	suite_add_tcase(s, threads);
	return s;
}
