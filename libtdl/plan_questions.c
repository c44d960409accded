/* Questions about a plan: the functions of tdl.h that take a tdl_plan. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "compiler/graph/canonical.h"
#include "compiler/lower/cost.h"
#include "libtdl/api.h"
#include "libtdl/plan_diff.h"
#include "libtdl/plan_reasons.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_view.h"
#include "libtdl/onnx_layouts.h"
#include "libtdl/plan_formats.h"
#include "libtdl/plan_frontier.h"
#include "libtdl/planner_table.h"
#include "libtdl/report.h"
#include "libtdl/report_beside.h"
#include "libtdl/stages_reasons.h"
#include "libtdl/stages_view.h"
#include "plan/plan.h"

typedef struct question {
	tdl_plan *of, *beside;
	const char *name; /* name of a file, a machine, a tensor or a format */
	const tdl_option *options;
	report_files files;
	bool compare;
	const char *folder;
	char *answer;
} question;

static char *ask(void (*body)(api_call *c, void *arg), question *q)
{
	return api_ask(q->of->context, body, q, &q->answer);
}

static void write_plan(api_call *c, void *arg)
{
	question *q = arg;
	size_t n;
	const char *text = api_text_at(c, q->of, q->name, &n);
	if (text && !file_write(q->name, text, n))
		api_fail(c, TDL_MACHINE, "%s: %s", q->name, strerror(errno));
}

tdl_status tdl_plan_write(tdl_plan *p, const char *path)
{
	question q = { .of = p, .name = api_path(p->context, path) };
	return api_run(p->context, write_plan, &q);
}

static void print(api_call *c, void *arg)
{
	question *q = arg;
	size_t n;
	const char *text = api_text_at(c, q->of, api_nowhere, &n);
	if (text)
		q->answer = api_copy(text, n);
}

char *tdl_plan_text(tdl_plan *p)
{
	question q = { .of = p };
	return ask(print, &q);
}

static void report(api_call *c, void *arg)
{
	question *q = arg;
	const plan_result *r = q->of->found;
	text_stream s;
	if (!r) {
		api_fail(c, TDL_USAGE, "the plan was read: nothing is known of "
			 "its search");
	} else if (api_as_text(c)) {
		plan_report_text(text_stream_open(&s), c->job.arena, r);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(plan_report_json(r));
	}
}

char *tdl_plan_report(tdl_plan *p)
{
	question q = { .of = p };
	return ask(report, &q);
}

/* The named machine, or that of the plan. */
static const topology *machine_for(api_call *c, const char *name,
				   const plan *p)
{
	return plan_topology(&c->job, stages_machine_name(&p->predicted, name),
			     mesh_workers(&p->mesh));
}

static const topology *machine_of(api_call *c, const question *q,
				  const plan *p)
{
	return machine_for(c, q->name, p);
}

/* A view of a plan of several stages on a given or named machine; NULL with
 * errors added. */
static const stages_view *stages_on(api_call *c, tdl_plan *of,
				    const topology *t, const char *machine)
{
	const plan_pipeline *p = api_read_stages(c, of);
	if (p && !t)
		t = stages_machine(&c->job, stages_machine_name(&p->predicted,
								machine),
				   pipeline_first(p, p->nstages));
	return p && t ? stages_view_of(&c->job, p, t, of->path) : NULL;
}

static const stages_view *stages_of(api_call *c, tdl_plan *of,
				    const char *machine)
{
	return stages_on(c, of, NULL, machine);
}

static void lay_out_stages(api_call *c, question *q)
{
	text_stream s;
	const stages_view *v = stages_of(c, q->of, q->name);
	if (!v)
		return;
	if (c->context->style & TDL_DOT) {
		stages_show_dot(text_stream_open(&s), v,
				c->context->style & TDL_UNFOLDED);
		q->answer = api_printed(c, &s);
	} else if (api_as_text(c)) {
		stages_show_text(text_stream_open(&s), v);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(stages_show_json(v));
	}
}

static void lay_out(api_call *c, void *arg)
{
	question *q = arg;
	if (api_has_stages(q->of)) {
		lay_out_stages(c, q);
		return;
	}
	plan_view v = { .arena = c->job.arena, .p = api_read_plan(c, q->of) };
	v.machine = v.p ? machine_of(c, q, v.p) : NULL;
	text_stream s;
	if (!v.machine)
		return;
	v.classes = layout_classes_new(v.arena, &v.p->mesh);
	if (c->context->style & TDL_DOT)
		plan_view_dot(text_stream_open(&s), v.arena, v.p,
			      c->context->style & TDL_UNFOLDED);
	else if (api_as_text(c))
		plan_view_text(text_stream_open(&s), &v);
	else
		q->answer = api_text(plan_view_json(&v));
	if (!q->answer)
		q->answer = api_printed(c, &s);
}

char *tdl_plan_layout(tdl_plan *p, const char *machine)
{
	question q = { .of = p, .name = machine };
	return ask(lay_out, &q);
}

/* The figures for a report.  A plan that was found has those of its search,
 * too. */
static json_t *facts_of(api_call *c, const question *q)
{
	const plan_result *r = q->of->found;
	if (api_has_stages(q->of)) {
		const topology *known = r && !q->name ? q->of->machine : NULL;
		const stages_view *v = stages_on(c, q->of, known, q->name);
		return v ? report_stages_json(v) : NULL;
	}
	const plan *p = r ? r->plan : q->of->plan;
	const topology *t = r && !q->name ? q->of->machine :
					    machine_of(c, q, p);
	json_t *j = t ? report_json(p, t) : NULL;
	if (j && r)
		json_object_set_new(j, "search", plan_report_search(r));
	return j;
}

/* Adds the other planners' plans to what is drawn.  Returns false after a
 * message or with errors added. */
static bool add_others(api_call *c, question *q)
{
	const tdl_plan *p = q->of;
	planner_table t;
	if (!q->compare || q->files.planners)
		return true;
	if (!p->others) {
		api_fail(c, TDL_USAGE, "the plan was read: %s is for one that "
			 "was found", job_option(&c->job, "compare"));
		return false;
	}
	planner_request r = *p->others;
	r.observer = api_observer(c);
	r.threads = api_threads(c);
	api_see_model(c, p->model);
	if (!planner_table_of(&c->job, graph_canonical(c->job.arena,
						       p->model->graph),
			      &r, &t))
		return false;
	q->files.planners_found = planner_table_rows(&t);
	return true;
}

/* All facts, including those drawn beside the plan. */
static json_t *all_facts(api_call *c, question *q)
{
	report_files *f = &q->files;
	const cli_option table[] = {
		PLAN_OPTION_TOPOLOGY(c->job.arena, &q->name),
		{ CLI_TEXT, 0, "planners", "FILE",
		  "draw the planners of 'tdlc compare', its JSON",
		  &f->planners },
		{ CLI_TEXT, 0, "frontier", "FILE",
		  "draw the frontier of 'tdlc plan', its JSON",
		  &f->frontier },
		{ CLI_TEXT, 0, "trace", "FILE",
		  "draw the measured step in a trace of 'tdlrun'",
		  &f->trace },
		{ CLI_FLAG, 0, "compare", NULL,
		  "also draw the plans of all planners, as 'tdlc compare' "
		  "finds them", &q->compare },
		{ CLI_END },
	};
	if (!api_options(c, table, q->options))
		return NULL;
	const plan_pipeline *p = NULL;
	if ((f->planners || f->frontier || f->trace) &&
	    !(p = api_read_stages(c, q->of)))
		return NULL;
	if (!add_others(c, q))
		return NULL;
	if (q->of->frontier)
		f->frontier_found = plan_frontier_json(q->of->how,
						       q->of->frontier);
	json_t *j = facts_of(c, q);
	return j && report_add_files(c->job.arena, c->job.sink, f, p, j)
		       ? j
		       : NULL;
}

static void tell_facts(api_call *c, void *arg)
{
	question *q = arg;
	json_t *j = all_facts(c, q);
	if (j)
		q->answer = api_text(j);
}

char *tdl_plan_facts(tdl_plan *p, const tdl_option *options)
{
	question q = { .of = p, .options = options };
	return ask(tell_facts, &q);
}

static void draw_page(api_call *c, void *arg)
{
	question *q = arg;
	size_t n;
	json_t *j = all_facts(c, q);
	const char *page = j ? report_page(c->job.arena, j, &n) : NULL;
	json_decref(j);
	if (page)
		q->answer = api_copy(page, n);
	else if (j)
		api_fail(c, TDL_MACHINE, "no memory for the report");
}

char *tdl_plan_page(tdl_plan *p, const tdl_option *options)
{
	question q = { .of = p, .options = options };
	return ask(draw_page, &q);
}

/* Sets the machine of a pair and the seconds of plan i on it.  Returns false
 * with errors added. */
static bool predict(api_call *c, const question *q, plan_pair *x, int i)
{
	const plan_pipeline *p = x->plan[i];
	if (pipeline_is_plan(p)) {
		x->machine = machine_of(c, q, p->stages);
		if (x->machine)
			x->seconds[i] = lower_seconds(p->stages, x->machine);
		return x->machine;
	}
	const stages_view *v = stages_of(c, i ? q->beside : q->of, q->name);
	if (!v)
		return false;
	x->machine = v->machine;
	x->seconds[i] = v->step->seconds;
	return true;
}

/* Whether two plans are for machines from the same file, however its path is
 * written. */
static bool is_one_file(arena *a, const plan_prediction *x,
			const plan_prediction *y)
{
	const char *p = x->topology ? path_real(a, x->topology) : NULL;
	const char *q = y->topology ? path_real(a, y->topology) : NULL;
	return p && q && !strcmp(p, q);
}

/* Sets the machine on which two plans are compared if none is named: that of
 * the plans.  Returns false after a message. */
static bool find_common(api_call *c, question *q,
			const plan_pipeline *const *plans)
{
	const char *of[2];
	for (int i = 0; i < 2; i++)
		of[i] = stages_machine_name(&plans[i]->predicted, q->name);
	if (of[0] && of[1] && strcmp(of[0], of[1]) &&
	    !is_one_file(c->job.arena, &plans[0]->predicted,
			 &plans[1]->predicted)) {
		api_fail(c, TDL_USAGE, "the plans are for '%s' and for '%s': "
			 "%s says on which they are compared", of[0], of[1],
			 job_option(&c->job, "topology"));
		return false;
	}
	q->name = of[0] ? of[0] : of[1];
	return true;
}

static void compare(api_call *c, void *arg)
{
	question *q = arg;
	plan_pair x = { .arena = c->job.arena };
	text_stream s;
	x.plan[0] = api_read_stages(c, q->of);
	x.plan[1] = x.plan[0] ? api_read_stages(c, q->beside) : NULL;
	if (!x.plan[1] || !find_common(c, q, x.plan) ||
	    !predict(c, q, &x, 0) || !predict(c, q, &x, 1))
		return;
	plan_differences tensors = plan_compare(&x, false);
	plan_differences operators = plan_compare(&x, true);
	if (api_as_text(c)) {
		plan_diff_text(text_stream_open(&s), &x, &tensors, &operators);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(plan_diff_json(&x, &tensors,
						    &operators));
	}
}

char *tdl_plan_diff(tdl_plan *p, tdl_plan *other, const char *machine)
{
	question q = { .of = p, .beside = other, .name = machine };
	return ask(compare, &q);
}

/* Explains where a tensor is in a plan of several stages. */
static void explain_stages(api_call *c, question *q, const char *machine)
{
	const stages_view *v = stages_of(c, q->of, machine);
	stages_tensor x;
	text_stream s;
	if (!v)
		return;
	if (!stages_find_tensor(v, q->name, &x)) {
		api_fail(c, TDL_USAGE, "there is no tensor '%s' in %s%s",
			 q->name, q->of->path,
			 stages_tensor_hint(v, q->name));
	} else if (!plan_reasons_held(&c->job, v->p->stages, v->p->nstages,
				      q->of->path, q->name)) {
		api_status(c, CLI_USAGE);
	} else if (api_as_text(c)) {
		stages_tensor_text(text_stream_open(&s), v, &x);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(stages_tensor_json(v, &x));
	}
}

static void explain(api_call *c, void *arg)
{
	question *q = arg;
	plan_reasons r;
	cli_status status;
	int by = 0;
	const char *machine = NULL;
	const cli_option table[] = {
		PLAN_REASONS_OPTION_ALGORITHM(&by),
		PLAN_OPTION_TOPOLOGY(c->job.arena, &machine),
		{ CLI_END }
	};
	const topology *t;
	const plan *p;
	text_stream s;
	if (!api_options(c, table, q->options))
		return;
	if (api_has_stages(q->of)) {
		explain_stages(c, q, machine);
		return;
	}
	if (!(p = api_read_plan(c, q->of)) ||
	    !(t = machine_for(c, machine, p)))
		return;
	bool made = plan_reasons_of(&c->job, p, q->of->path, q->name,
				    plan_reasons_planners[by], t, &r, &status);
	api_status(c, status);
	if (!made)
		return;
	if (api_as_text(c)) {
		plan_reasons_text(text_stream_open(&s), c->job.arena, &r);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(plan_reasons_json(c->job.arena, &r));
	}
}

char *tdl_plan_explain(tdl_plan *p, const char *name,
		       const tdl_option *options)
{
	question q = { .of = p, .name = name, .options = options };
	return ask(explain, &q);
}

static void explain_cuts(api_call *c, void *arg)
{
	question *q = arg;
	const plan_result *r = q->of->found;
	const pipeline_result *found = r ? r->pipeline : NULL;
	pipeline_reasons x;
	text_stream s;
	if (!found || !found->cut) {
		api_fail(c, TDL_USAGE, !r ? "the plan was read: nothing is "
			 "known of its search" : "the plan has no stages that "
			 "layers were divided among");
		return;
	}
	plan_request how = *q->of->how;
	how.arena = c->job.arena;
	how.sink = c->job.sink;
	how.observer = NULL;
	if (!pipeline_reasons_of(&how, found, &x))
		return;
	if (api_as_text(c)) {
		stages_reasons_text(text_stream_open(&s), c->job.arena, found,
				    &x, r->machine);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(stages_reasons_json(found, &x,
							 r->machine));
	}
}

char *tdl_plan_cuts(tdl_plan *p)
{
	question q = { .of = p };
	return ask(explain_cuts, &q);
}

static void export_plan(api_call *c, void *arg)
{
	question *q = arg;
	const plan_format *f = plan_format_of(q->name);
	if (!f) {
		api_fail(c, TDL_USAGE, "there is no format '%s'", q->name);
	} else if (f->write_stages && api_has_stages(q->of)) {
		const plan_pipeline *p = api_read_stages(c, q->of);
		if (p)
			api_status(c, f->write_stages(&c->job, p, q->folder));
	} else {
		const plan *p = api_whole_plan(c, q->of);
		if (p)
			api_status(c, f->write(&c->job, p, q->folder));
	}
}

tdl_status tdl_plan_export(tdl_plan *p, const char *format, const char *folder)
{
	question q = { .of = p, .name = format, .folder = folder };
	return api_run(p->context, export_plan, &q);
}

/* folder: that of the file being written. */
static void annotate(api_call *c, void *arg)
{
	question *q = arg;
	const plan *p = api_whole_plan(c, q->of);
	if (p)
		api_status(c, onnx_layouts_write(&c->job, p, q->name,
						 q->folder));
}

tdl_status tdl_plan_annotate(tdl_plan *p, const char *model, const char *path)
{
	question q = { .of = p, .name = model, .folder = path };
	return api_run(p->context, annotate, &q);
}

const api_function api_of_questions[] = {
	{ "tdl_plan_explain", explain, &(const question){ 0 },
	  sizeof(question) },
	{ "tdl_plan_facts", tell_facts, &(const question){ 0 },
	  sizeof(question) },
	{ "tdl_plan_page", draw_page, &(const question){ 0 },
	  sizeof(question) },
	{ 0 }
};
