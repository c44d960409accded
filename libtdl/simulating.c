/* Simulates steps of plans: functions of tdl.h. */
#include "config.h"

#include <string.h>

#include "libtdl/api.h"
#include "libtdl/plan_score.h"
#include "libtdl/stages_beside.h"
#include "libtdl/stages_view.h"

typedef struct question {
	tdl_plan *of;
	const char *machine, *format, *trace;
	char *answer;
} question;

static const stages_view *view_of(api_call *c, const question *q)
{
	const plan_pipeline *p = api_read_stages(c, q->of);
	const topology *t = !p ? NULL :
		stages_machine(&c->job, stages_machine_name(&p->predicted,
							    q->machine),
			       pipeline_first(p, p->nstages));
	return t ? stages_view_of(&c->job, p, t, q->of->path) : NULL;
}

static void simulate(api_call *c, void *arg)
{
	question *q = arg;
	const stages_view *v = view_of(c, q);
	text_stream s;
	if (!v)
		return;
	if (api_as_text(c)) {
		stages_simulation_text(text_stream_open(&s), v);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(stages_simulation_json(v));
	}
}

char *tdl_plan_simulate(tdl_plan *p, const char *machine)
{
	question q = { .of = p, .machine = machine };
	return api_ask(p->context, simulate, &q, &q.answer);
}

static void score(api_call *c, void *arg)
{
	question *q = arg;
	const stages_view *v = view_of(c, q);
	const plan_score *x = v ? plan_score_of(&c->job, v) : NULL;
	text_stream s;
	if (!x)
		return;
	if (api_as_text(c)) {
		plan_score_text(text_stream_open(&s), x);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(plan_score_json(x));
	}
}

char *tdl_plan_score(tdl_plan *p, const char *machine)
{
	question q = { .of = p, .machine = machine };
	return api_ask(p->context, score, &q, &q.answer);
}

static void trace(api_call *c, void *arg)
{
	question *q = arg;
	const stages_view *v = view_of(c, q);
	if (v)
		q->answer = api_text(stages_trace(v));
}

char *tdl_plan_trace(tdl_plan *p, const char *machine)
{
	question q = { .of = p, .machine = machine };
	return api_ask(p->context, trace, &q, &q.answer);
}

static void compare(api_call *c, void *arg)
{
	question *q = arg;
	const stages_view *v = view_of(c, q);
	text_stream s;
	const measured_trace *m = !v ? NULL :
		measured_trace_read(c->job.arena, c->job.sink, q->trace, v->p);
	if (!m)
		return;
	const beside *b = beside_of(v, m);
	if (api_as_text(c)) {
		beside_text(text_stream_open(&s), b);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(beside_json(b));
	}
}

char *tdl_plan_beside(tdl_plan *p, const char *machine, const char *path)
{
	question q = { .of = p, .machine = machine, .trace = path };
	return api_ask(p->context, compare, &q, &q.answer);
}

static void draw(api_call *c, void *arg)
{
	question *q = arg;
	bool svg = !strcmp(q->format, "svg");
	text_stream s;
	if (!svg && strcmp(q->format, "text")) {
		api_fail(c, TDL_USAGE, "there is no format '%s'", q->format);
		return;
	}
	const stages_view *v = view_of(c, q);
	if (!v)
		return;
	if (svg)
		stages_chart_svg(text_stream_open(&s), v);
	else
		stages_chart_text(text_stream_open(&s), v);
	q->answer = api_printed(c, &s);
}

char *tdl_plan_chart(tdl_plan *p, const char *machine, const char *format)
{
	question q = { .of = p, .machine = machine, .format = format };
	return api_ask(p->context, draw, &q, &q.answer);
}
