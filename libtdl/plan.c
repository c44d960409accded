/* Plans that are found and read: tdl_plan of tdl.h. */
#include "config.h"

#include "base/file.h"
#include "compiler/codegen/codegen.h"
#include "libtdl/api.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_search.h"
#include "plan/plan.h"

const char api_nowhere[] = "the plan";

/* ---- making ------------------------------------------------------------ */

/* A plan out of a text, as it is read from a file, in an arena of its own. */
static tdl_plan *parse(api_call *c, const char *path, const char *text,
		       size_t n)
{
	arena *a = arena_new();
	const plan *p = plan_parse(a, c->job.sink, arena_strdup(a, path), text,
				   n);
	if (!p) {
		arena_free(a);
		return NULL;
	}
	tdl_plan *r = ARENA_NEW(a, tdl_plan);
	*r = (tdl_plan){ .context = c->context, .arena = a, .plan = p };
	return r;
}

typedef struct search {
	const tdl_model *of;
	const tdl_option *options;
	tdl_plan *result;
} search;

/* A plan that was found is what tdlrun would read of it. */
static void keep(api_call *c, search *s, const plan_result *r)
{
	size_t n;
	arena *a = c->job.arena;
	const char *text = plan_text(a, r->plan, api_nowhere, &n);
	if (!text || !plan_is_readable(r->plan, text, n)) {
		diag_error_in(c->job.sink, DIAG_TOO_LARGE, api_nowhere,
			      "the plan is larger than is accepted: %d "
			      "operators, %zu bytes", r->plan->nnodes, n);
		return;
	}
	tdl_plan *p = parse(c, api_nowhere, text, n);
	if (!p)
		return;
	json_t *j = plan_report_json(r);
	p->report = json_text(p->arena, j, JSON_INDENT(2));
	json_decref(j);
	s->result = p;
}

static void find_plan(api_call *c, void *arg)
{
	search *s = arg;
	plan_options o = PLAN_OPTIONS_NONE;
	plan_request how;
	plan_result r;
	bool made;
	if (!api_plan_request(c, s->of, s->options, &o, &how))
		return;
	if (o.frontier) {
		api_fail(c, TDL_USAGE, "a frontier is no plan");
		return;
	}
	const lower_options lower = { .algorithm = o.request.algorithm,
				      .codegen = codegen_sources,
				      .checksums = true };
	cli_status status = plan_search(&c->job, &how, &o, &lower, &r, &made);
	api_status(c, status);
	if (made && status == CLI_OK)
		keep(c, s, &r);
}

tdl_plan *tdl_plan_search(tdl_model *m, const tdl_option *options)
{
	search s = { .of = m, .options = options };
	return api_run(m->context, find_plan, &s) == TDL_OK ? s.result :
								NULL;
}

/* ---- reading ----------------------------------------------------------- */

typedef struct reading {
	const char *path, *text; /* NULL: a file */
	size_t n;
	tdl_plan *result;
} reading;

static void read_plan(api_call *c, void *arg)
{
	reading *r = arg;
	job *d = &c->job;
	enum { MOST = 128 << 20 };
	if (!r->text)
		r->text = file_read(d->arena, d->sink, r->path, MOST, &r->n);
	if (r->text)
		r->result = parse(c, r->path, r->text, r->n);
}

tdl_plan *tdl_plan_load(tdl_context *c, const char *path)
{
	reading r = { .path = api_path(path) };
	return api_run(c, read_plan, &r) == TDL_OK ? r.result : NULL;
}

tdl_plan *tdl_plan_of_text(tdl_context *c, const char *path, const char *text,
			   size_t nbytes)
{
	const dsl_text t = api_given(path, text, nbytes);
	reading r = { path, t.text, nbytes, NULL };
	return api_run(c, read_plan, &r) == TDL_OK ? r.result : NULL;
}

void tdl_plan_free(tdl_plan *p)
{
	if (p)
		arena_free(p->arena);
}
