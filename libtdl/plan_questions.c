/* Questions about a plan: functions of tdl.h with a tdl_plan. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "libtdl/api.h"
#include "libtdl/plan_diff.h"
#include "libtdl/plan_reasons.h"
#include "libtdl/plan_view.h"
#include "libtdl/program_files.h"
#include "plan/plan.h"

typedef struct question {
	const tdl_plan *of, *beside;
	const char *name; /* of a file, a machine, a tensor, or a format */
	const tdl_option *options;
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
	const char *text =
		plan_text(c->job.arena, q->of->plan, api_nowhere, &n);
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

static void explain(api_call *c, void *arg)
{
	question *q = arg;
	plan_reasons r;
	cli_status status;
	int by = 0;
	const cli_option table[] = { PLAN_REASONS_OPTION_ALGORITHM(&by),
				     { CLI_END } };
	if (!api_options(c, table, q->options))
		return;
	bool made = plan_reasons_of(&c->job, q->of->plan, api_nowhere, q->name,
				    plan_reasons_planners[by], &r, &status);
	api_status(c, status);
	if (made)
		q->answer = api_text(plan_reasons_json(c->job.arena, &r));
}

char *tdl_plan_explain(tdl_plan *p, const char *name,
		       const tdl_option *options)
{
	question q = { .of = p, .name = name, .options = options };
	return ask(explain, &q);
}

static void export_plan(api_call *c, void *arg)
{
	question *q = arg;
	if (strcmp(q->name, "cuda"))
		api_fail(c, TDL_USAGE, "there is no format '%s'", q->name);
	else
		api_status(c, program_write(&c->job, q->of->plan, q->folder));
}

tdl_status tdl_plan_export(tdl_plan *p, const char *format, const char *folder)
{
	question q = { .of = p, .name = format, .folder = folder };
	return api_run(p->context, export_plan, &q);
}
