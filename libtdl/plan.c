/* Plans: tdl_plan of tdl.h. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "compiler/codegen/codegen.h"
#include "libtdl/api.h"
#include "libtdl/plan_diff.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_search.h"
#include "libtdl/plan_view.h"
#include "plan/plan.h"

/* The name of a plan that is in no file; it lies in the current folder. */
static const char nowhere[] = "the plan";

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
	const char *text = plan_text(a, r->plan, nowhere, &n);
	if (!text || !plan_is_readable(r->plan, text, n)) {
		diag_error_in(c->job.sink, DIAG_TOO_LARGE, nowhere,
			      "the plan is larger than is accepted: %d "
			      "operators, %zu bytes", r->plan->nnodes, n);
		return;
	}
	tdl_plan *p = parse(c, nowhere, text, n);
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
	job *d = &c->job;
	plan_options o = PLAN_OPTIONS_NONE;
	const cli_option table[] = { PLAN_OPTIONS_SEARCH(d->arena, &o),
				     PLAN_OPTIONS_STRICT(&o), { CLI_END } };
	plan_request how;
	plan_result r;
	bool made;
	if (!api_options(c, table, s->options))
		return;
	if (o.devices == 0 || o.frontier) {
		api_fail(c, TDL_USAGE, o.frontier ? "a frontier is no plan" :
						    "devices is missing");
		return;
	}
	if (!plan_options_agree(d, &o)) {
		api_status(c, CLI_USAGE);
		return;
	}
	const lower_options lower = { .algorithm = o.request.algorithm,
				      .codegen = codegen_sources,
				      .checksums = true };
	if (!plan_request_of(d, s->of->canonical, &o, &how))
		return;
	how.observer = api_observer(c);
	cli_status status = plan_search(d, &how, &o, &lower, &r, &made);
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

/* ---- asking ------------------------------------------------------------ */

typedef struct question {
	const tdl_plan *of, *beside;
	const char *name; /* of a file, or a machine */
	char *answer;
} question;

static char *ask(void (*body)(api_call *c, void *arg), question *q)
{
	return api_run(q->of->context, body, q) == TDL_OK ? q->answer : NULL;
}

static void write_plan(api_call *c, void *arg)
{
	question *q = arg;
	size_t n;
	const char *text = plan_text(c->job.arena, q->of->plan, q->name, &n);
	if (!text || !file_write(q->name, text, n))
		api_fail(c, TDL_MACHINE, "%s: %s", q->name, strerror(errno));
}

tdl_status tdl_plan_write(tdl_plan *p, const char *path)
{
	question q = { .of = p, .name = api_path(path) };
	return api_run(p->context, write_plan, &q);
}

static void print(api_call *c, void *arg)
{
	question *q = arg;
	size_t n;
	const char *text = plan_text(c->job.arena, q->of->plan, nowhere, &n);
	if (text)
		q->answer = api_copy(text, n);
	else
		api_fail(c, TDL_MACHINE, "no memory for the plan's text");
}

char *tdl_plan_text(tdl_plan *p)
{
	question q = { .of = p };
	return ask(print, &q);
}

static void report(api_call *c, void *arg)
{
	question *q = arg;
	if (q->of->report)
		q->answer = api_copy(q->of->report, strlen(q->of->report));
	else
		api_fail(c, TDL_USAGE, "the plan was read: nothing is known of "
			 "its search");
}

char *tdl_plan_report(tdl_plan *p)
{
	question q = { .of = p };
	return ask(report, &q);
}

static const topology *machine_of(api_call *c, const question *q,
				  const plan *p)
{
	return plan_topology(&c->job, q->name, mesh_workers(&p->mesh));
}

static void lay_out(api_call *c, void *arg)
{
	question *q = arg;
	plan_view v = { .arena = c->job.arena, .p = q->of->plan };
	v.machine = machine_of(c, q, v.p);
	if (!v.machine)
		return;
	v.classes = layout_classes_new(v.arena, &v.p->mesh);
	q->answer = api_text(plan_view_json(&v));
}

char *tdl_plan_layout(tdl_plan *p, const char *machine)
{
	question q = { .of = p, .name = machine };
	return ask(lay_out, &q);
}

static void compare(api_call *c, void *arg)
{
	question *q = arg;
	plan_pair x = { .arena = c->job.arena,
			.plan = { q->of->plan, q->beside->plan } };
	if (!machine_of(c, q, x.plan[0]))
		return;
	x.machine = machine_of(c, q, x.plan[1]);
	if (!x.machine)
		return;
	plan_differences tensors = plan_compare(&x, false);
	plan_differences operators = plan_compare(&x, true);
	q->answer = api_text(plan_diff_json(&x, &tensors, &operators));
}

char *tdl_plan_diff(tdl_plan *p, tdl_plan *other, const char *machine)
{
	question q = { .of = p, .beside = other, .name = machine };
	return ask(compare, &q);
}
