#include "config.h"

#include "tests/unit/library_calls.h"
#include "tests/unit/library_placements.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char operators[] =
	"/// Twice.\n"
	"op twice(x[N]) -> y[N] = lambda i: x[i] + x[i]\n"
	"op rows(a[I, J]) -> s[I] = lambda i: Sum(lambda j: a[i, j])\n";

static const char importing[] =
	"import \"parts.tdl\"\n"
	"op four(x[N]) -> y[N] = lambda i: 4.0 * x[i]\n";

const char library_network[] =
	"model tiny(batch = 8, width = 16) {\n"
	"    input x[batch, width]\n"
	"    param w[width, width]\n"
	"    y = relu(matmul(x, w))\n"
	"    output y\n"
	"}\n";

const tdl_option library_on_four[] = { { "devices", "4" }, { NULL, NULL } };
const tdl_option library_interpreted[] = { { "kernels", "interpreter" },
					   { NULL, NULL } };
static const tdl_option on_two[] = { { "devices", "2" }, { NULL, NULL } };

static bool is_json(char *text)
{
	bool good = text && *text == '{';
	tdl_text_free(text);
	return good;
}

static bool is_text(char *text)
{
	bool good = text && *text;
	tdl_text_free(text);
	return good;
}

static const char *file(const library_world *w, char *to, const char *name)
{
	snprintf(to, 100, "%s/%s", w->folder, name);
	return to;
}

/* ---- the context --------------------------------------------------------- */

static bool set_operators(library_world *w)
{
	const char *folder = getenv("TDL_OPDEFS");
	return !tdl_context_set_operators(w->c, folder ? folder : "opdefs");
}
static bool add_folder(library_world *w)
{
	return tdl_context_add_folder(w->c, "nowhere") == TDL_OK;
}
static bool add_file(library_world *w)
{
	return tdl_context_add_file(w->c, "parts.tdl") == TDL_OK;
}
static bool add_profile(library_world *w)
{
	return tdl_context_add_profile(w->c, "no.profile") == TDL_OK;
}
static bool add_text(library_world *w)
{
	size_t n = strlen(operators);
	return !tdl_context_add_text(w->c, "parts.tdl", operators, n);
}

/* ---- operators ----------------------------------------------------------- */

static bool end_module(tdl_module *m)
{
	tdl_module_free(m);
	return m != NULL;
}

static bool module_load(library_world *w)
{
	char path[100];
	return end_module(tdl_module_load(w->c, file(w, path, "own.tdl")));
}

static bool module_of_text(library_world *w)
{
	return end_module(tdl_module_of_text(w->c, "four.tdl", importing,
					     strlen(importing)));
}

static bool module_library(library_world *w)
{
	return end_module(tdl_module_library(w->c));
}

static bool module_operators(library_world *w)
{
	return is_json(tdl_module_operators(w->module));
}

static bool module_describe(library_world *w)
{
	return is_json(tdl_module_describe(w->module));
}

static bool module_explain(library_world *w)
{
	const tdl_option shapes[] = { { "shape", "x=8" }, { "devices", "2" },
				      { NULL, NULL } };
	return is_json(tdl_module_explain(w->module, "four", shapes));
}

static bool module_verify(library_world *w)
{
	const tdl_option few[] = { { "trials", "1" }, { NULL, NULL } };
	return is_json(tdl_module_verify(w->module, "four", few));
}

static bool module_load_all(library_world *w)
{
	char own[100], net[100];
	const char *const paths[] = { file(w, own, "own.tdl"),
				      file(w, net, "tiny.tdl") };
	return end_module(tdl_module_load_all(w->c, paths, 2));
}

static bool module_files(library_world *w)
{
	return is_json(tdl_module_files(w->module));
}

static bool module_document(library_world *w)
{
	const tdl_option html[] = { { "format", "html" }, { NULL, NULL } };
	return is_text(tdl_module_document(w->module, html)) &&
	       is_text(tdl_module_document(w->module, NULL));
}

static bool format_file(library_world *w)
{
	char path[100];
	return is_text(tdl_format(w->c, file(w, path, "own.tdl")));
}

static bool format_text(library_world *w)
{
	return is_text(tdl_format_text(w->c, "own.tdl", operators,
				       strlen(operators)));
}

/* Results for people. */
static bool texts(library_world *w)
{
	const tdl_option shapes[] = { { "shape", "x=8" }, { NULL, NULL } };
	tdl_context_set_style(w->c, TDL_TEXT);
	bool good = is_text(tdl_module_operators(w->module)) &&
		    is_text(tdl_module_explain(w->module, "four", NULL)) &&
		    is_text(tdl_module_explain(w->module, "four", shapes)) &&
		    is_text(tdl_model_graph(w->model)) &&
		    is_text(tdl_model_compare(w->model, on_two)) &&
		    is_text(tdl_plan_report(w->plan)) &&
		    is_text(tdl_plan_layout(w->plan, NULL)) &&
		    is_text(tdl_plan_explain(w->plan, "x", NULL));
	tdl_context_set_style(w->c, TDL_DOT);
	good = good && is_text(tdl_model_graph(w->model)) &&
	       is_text(tdl_plan_layout(w->plan, NULL));
	tdl_context_set_style(w->c, 0);
	return good;
}

static bool function_options(library_world *w)
{
	size_t n;
	const tdl_option_info *all =
		tdl_function_options(w->c, "tdl_plan_search", &n);
	return all && n > 10 && !strcmp(all[0].name, "devices") &&
	       all[0].letter == 'k' && !strcmp(all[1].words[0], "tofu");
}

static bool function_check(library_world *w)
{
	return tdl_function_check(w->c, "tdl_plan_search", on_two) == TDL_OK;
}

static bool solve(library_world *w)
{
	char path[100];
	return is_json(tdl_solve(w->c, file(w, path, "two.wcsp"), NULL));
}

static bool export_rule(library_world *w)
{
	const tdl_option shapes[] = { { "shape", "x=8" }, { NULL, NULL } };
	size_t n;
	return is_text(tdl_module_export(w->module, "four", "shardy", shapes,
					 &n)) && n > 20;
}

static bool export_gradients(library_world *w)
{
	return is_text(tdl_module_export(w->module, NULL, "gradients", NULL,
					 NULL));
}

static bool export_header(library_world *w)
{
	return is_text(tdl_module_export(w->module, NULL, "header", NULL,
					 NULL));
}

static bool export_kernel(library_world *w)
{
	const tdl_option shapes[] = { { "shape", "x=8" }, { NULL, NULL } };
	return is_text(tdl_module_export(w->module, "four", "c", shapes,
					 NULL));
}

/* ---- models -------------------------------------------------------------- */

static bool end_model(tdl_model *m)
{
	tdl_model_free(m);
	return m != NULL;
}

static bool model_load(library_world *w)
{
	char path[100];
	return end_model(tdl_model_load(w->c, file(w, path, "tiny.tdl"),
					NULL));
}

static bool model_of_text(library_world *w)
{
	const tdl_option trained[] = { { "evaluate", NULL },
				       { "D", "batch=4" }, { NULL, NULL } };
	return end_model(tdl_model_of_text(w->c, "tiny.tdl", library_network,
					   strlen(library_network), trained));
}

static bool model_graph(library_world *w)
{
	return is_json(tdl_model_graph(w->model));
}

static bool model_costs(library_world *w)
{
	return is_json(tdl_model_costs(w->model, NULL));
}

static bool model_coverage(library_world *w)
{
	char path[100];
	return is_json(tdl_model_coverage(w->c, file(w, path, "tiny.tdl"),
					  NULL));
}

/* ---- plans --------------------------------------------------------------- */

static bool end_plan(tdl_plan *p)
{
	tdl_plan_free(p);
	return p != NULL;
}

static bool plan_search(library_world *w)
{
	return end_plan(tdl_plan_search(w->model, library_on_four));
}

bool library_auto(library_world *w)
{
	const tdl_option best[] = { { "devices", "2" },
				    { "algorithm", "auto" }, { NULL, NULL } };
	return end_plan(tdl_plan_search(w->model, best));
}

static bool model_compare(library_world *w)
{
	return is_json(tdl_model_compare(w->model, on_two));
}

static bool model_score(library_world *w)
{
	const tdl_option pinned[] = { { "devices", "2" }, { "pin", "x=cut 0" },
				      { "algorithm", "tofu" },
				      { NULL, NULL } };
	return is_json(tdl_model_score(w->model, pinned));
}

static bool model_frontier(library_world *w)
{
	return is_json(tdl_model_frontier(w->model, on_two));
}

static bool plan_load(library_world *w)
{
	char path[100];
	return end_plan(tdl_plan_load(w->c, file(w, path, "tiny.plan")));
}

static bool plan_of_text(library_world *w)
{
	return end_plan(tdl_plan_of_text(w->c, "x.plan", w->text,
					 strlen(w->text)));
}

static bool plan_write(library_world *w)
{
	char path[100];
	return tdl_plan_write(w->plan, file(w, path, "tiny.plan")) == TDL_OK;
}

static bool plan_text(library_world *w)
{
	return is_json(tdl_plan_text(w->plan));
}

static bool plan_report(library_world *w)
{
	return is_json(tdl_plan_report(w->plan));
}

static bool plan_layout(library_world *w)
{
	return is_json(tdl_plan_layout(w->plan, NULL));
}

static bool plan_facts(library_world *w)
{
	return is_json(tdl_plan_facts(w->plan, NULL));
}

static bool plan_page(library_world *w)
{
	return is_text(tdl_plan_page(w->plan, NULL));
}

static bool plan_step(library_world *w)
{
	char at[100];
	return is_json(tdl_plan_simulate(w->plan, NULL)) &&
	       is_json(tdl_plan_trace(w->plan, NULL)) &&
	       is_json(tdl_plan_beside(w->plan, NULL, file(w, at, "a.trace")));
}

static bool plan_chart(library_world *w)
{
	return is_text(tdl_plan_chart(w->plan, NULL, "svg"));
}

/* A plan of two stages, found, as its file, and read of that. */
static bool plan_of_stages(library_world *w)
{
	static const tdl_option staged[] = {
		{ "devices", "2" }, { "stages", "2" },
		{ "micro-batches", "2" }, { NULL, NULL }
	};
	tdl_plan *p = tdl_plan_search(w->model, staged);
	bool good = p && is_json(tdl_plan_simulate(p, NULL)) &&
		    is_json(tdl_plan_layout(p, NULL)) &&
		    is_json(tdl_plan_cuts(p));
	char *text = good ? tdl_plan_text(p) : NULL;
	tdl_plan *q = text ? tdl_plan_of_text(w->c, "a.plan", text,
					      strlen(text)) : NULL;
	good = q && is_text(tdl_plan_chart(q, NULL, "text"));
	tdl_text_free(text);
	tdl_plan_free(q);
	tdl_plan_free(p);
	return good;
}

static bool plan_diff(library_world *w)
{
	char *score = tdl_plan_score(w->plan, NULL);
	return is_json(score) && is_json(tdl_plan_diff(w->plan, w->plan, 0));
}

static bool plan_explain(library_world *w)
{
	return is_json(tdl_plan_explain(w->plan, "x", NULL));
}

static bool plan_export(library_world *w)
{
	char path[100];
	return tdl_plan_export(w->plan, "cuda", file(w, path, "cuda")) ==
	       TDL_OK;
}

static bool plan_annotate(library_world *w)
{
	return tdl_plan_annotate(w->plan, "/dev/null", "/none") == TDL_INPUT;
}

/* ---- runs ---------------------------------------------------------------- */

static bool run_open(library_world *w)
{
	tdl_run *r = tdl_run_open(w->plan, library_interpreted);
	tdl_run_free(r);
	return r != NULL;
}

tdl_status library_step(tdl_run *r, float *x, float *y)
{
	static const int64_t dims[] = { 8, 16 };
	const tdl_array in = { "x", "f32", 2, dims, x, 8 * 16 * sizeof(*x) };
	const tdl_array out = { "y", "f32", 2, dims, y, 8 * 16 * sizeof(*y) };
	return tdl_run_step(r, &in, 1, &out, 1);
}

/* A run that fails is of no use. */
static bool run_step(library_world *w)
{
	float x[8 * 16] = { 1 }, y[8 * 16];
	tdl_run *r = tdl_run_open(w->plan, library_interpreted);
	bool good = r && library_step(r, x, y) == TDL_OK;
	tdl_run_free(r);
	return good;
}

static tdl_array weights(float *of)
{
	static const int64_t square[] = { 16, 16 };
	return (tdl_array){ "w", "f32", 2, square, of, 256 * sizeof(*of) };
}

static bool run_get_state(library_world *w)
{
	float v[256];
	const tdl_array to = weights(v);
	return tdl_run_get_state(w->run, &to) == TDL_OK;
}

static bool run_set_state(library_world *w)
{
	float v[256] = { 1 };
	const tdl_array from = weights(v);
	return tdl_run_set_state(w->run, &from) == TDL_OK;
}

/* A context's text and its operators come first, which others need. */
const library_call library_calls[] = {
	{ "tdl_context_add_text", add_text },
	{ "tdl_context_set_operators", set_operators },
	{ "tdl_context_add_folder", add_folder },
	{ "tdl_module_load", module_load },
	{ "tdl_module_of_text", module_of_text },
	{ "tdl_module_library", module_library },
	{ "tdl_module_load_all", module_load_all },
	{ "tdl_module_files", module_files },
	{ "tdl_module_document", module_document },
	{ "tdl_format", format_file },
	{ "tdl_format_text", format_text },
	{ "tdl_function_options", function_options },
	{ "tdl_function_check", function_check },
	{ "tdl_solve", solve },
	{ "texts", texts },
	{ "tdl_module_operators", module_operators },
	{ "tdl_module_describe", module_describe },
	{ "tdl_module_explain", module_explain },
	{ "tdl_module_verify", module_verify },
	{ "tdl_module_export", export_rule },
	{ "tdl_module_export", export_gradients },
	{ "tdl_module_export", export_header },
	{ "tdl_module_export", export_kernel },
	{ "tdl_model_load", model_load },
	{ "tdl_model_of_text", model_of_text },
	{ "tdl_model_graph", model_graph },
	{ "tdl_model_costs", model_costs },
	{ "tdl_model_coverage", model_coverage },
	{ "tdl_model_compare", model_compare },
	{ "tdl_model_score", model_score },
	{ "tdl_model_frontier", model_frontier },
	{ "tdl_plan_search", plan_search },
	{ "tdl_plan_search", library_auto },
	{ "tdl_plan_write", plan_write }, { "tdl_plan_load", plan_load },
	{ "tdl_plan_of_text", plan_of_text },
	{ "tdl_plan_text", plan_text },
	{ "tdl_plan_report", plan_report },
	{ "tdl_plan_layout", plan_layout },
	{ "tdl_plan_facts", plan_facts },
	{ "tdl_plan_page", plan_page },
	{ "tdl_plan_simulate", plan_step },
	{ "tdl_plan_trace", plan_step },
	{ "tdl_plan_beside", plan_step },
	{ "tdl_plan_chart", plan_chart },
	{ "tdl_plan_chart", plan_of_stages },
	{ "tdl_plan_cuts", plan_of_stages },
	{ "tdl_plan_diff", plan_diff }, { "tdl_plan_score", plan_diff },
	{ "tdl_plan_explain", plan_explain },
	{ "tdl_plan_annotate", plan_annotate },
	{ "tdl_plan_export", plan_export },
	{ "tdl_placement_search", placement_whole },
	{ "tdl_placement_search", placement_stages },
	{ "tdl_placement_search", placement_chunks },
	{ "tdl_placement_search", placement_load },
	{ "tdl_placement_search", placement_pipedream },
	{ "tdl_placement_search", placement_capture },
	{ "tdl_placement_search", placement_piper },
	{ "tdl_placement_report", placement_report },
	{ "tdl_placement_text", placement_text },
	{ "tdl_placement_chart", placement_chart },
	{ "tdl_placement_compare", placement_compare },
	{ "tdl_placement_score", placement_score },
	{ "tdl_model_profile", library_profile }, { "tdl_run_open", run_open },
	{ "tdl_run_step", run_step },
	{ "tdl_run_get_state", run_get_state },
	{ "tdl_run_set_state", run_set_state },
	{ "tdl_context_add_file", add_file },
	{ "tdl_context_add_profile", add_profile },
};
const int library_ncalls = sizeof(library_calls) / sizeof(*library_calls);

/* Two variables; the least cost is 1. */
static const char problem[] = "two 2 2 2 9\n2 2\n1 0 0 1\n0 3\n"
			      "2 0 1 1 3\n0 0 0\n0 1 4\n1 1 2\n";

/* ---- the world ----------------------------------------------------------- */

static void put_file(const library_world *w, const char *name,
		     const char *text)
{
	char path[100];
	FILE *f = fopen(file(w, path, name), "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

/* A run of the network whose weights are a state. */
static tdl_run *new_run(tdl_context *c)
{
	const tdl_option evaluated[] = { { "evaluate", NULL },
					 { NULL, NULL } };
	tdl_model *m = tdl_model_of_text(c, "tiny.tdl", library_network,
					 strlen(library_network), evaluated);
	ck_assert_ptr_nonnull(m);
	tdl_plan *p = tdl_plan_search(m, on_two);
	ck_assert_ptr_nonnull(p);
	tdl_run *r = tdl_run_open(p, library_interpreted);
	ck_assert_ptr_nonnull(r);
	tdl_plan_free(p);
	tdl_model_free(m);
	return r;
}

library_world library_world_new(const tdl_allocator *a)
{
	library_world w = { .c = tdl_context_new(a) };
	const char *tmp = getenv("TMPDIR");
	ck_assert_ptr_nonnull(w.c);
	snprintf(w.folder, sizeof(w.folder), "%s/tdl-library-XXXXXX",
		 tmp && strlen(tmp) < 30 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(w.folder));
	put_file(&w, "own.tdl", operators);
	put_file(&w, "tiny.tdl", library_network);
	for (const library_file *f = library_costs; f->name; f++)
		put_file(&w, f->name, f->text);
	put_file(&w, "two.wcsp", problem);
	ck_assert(add_text(&w));
	w.module = tdl_module_of_text(w.c, "four.tdl", importing,
				      strlen(importing));
	ck_assert_ptr_nonnull(w.module);
	w.model = tdl_model_of_text(w.c, "tiny.tdl", library_network,
				    strlen(library_network), NULL);
	ck_assert_ptr_nonnull(w.model);
	w.plan = tdl_plan_search(w.model, library_on_four);
	ck_assert_ptr_nonnull(w.plan);
	w.text = tdl_plan_text(w.plan);
	ck_assert_ptr_nonnull(w.text);
	ck_assert(plan_write(&w));
	library_put_trace(&w);
	w.run = new_run(w.c);
	w.placed = library_placed(&w);
	ck_assert_ptr_nonnull(w.placed);
	return w;
}

void library_world_end(library_world *w)
{
	char command[100];
	snprintf(command, sizeof(command), "rm -rf '%s'", w->folder);
	ck_assert_int_eq(system(command), 0);
	tdl_placement_free(w->placed);
	tdl_run_free(w->run);
	tdl_text_free(w->text);
	tdl_plan_free(w->plan);
	tdl_model_free(w->model);
	tdl_module_free(w->module);
	tdl_context_free(w->c);
}
