/* Searches for many plans at once: functions of tdl.h about a model. */
#include "config.h"

#include "compiler/graph/canonical.h"
#include "libtdl/api.h"
#include "libtdl/plan_frontier.h"
#include "libtdl/onnx_layouts.h"
#include "libtdl/planner_table.h"

typedef struct planning {
	const tdl_model *of;
	const tdl_option *options;
	bool score;
	char *answer;
} planning;

bool api_plan_request(api_call *c, const tdl_model *m,
		      const tdl_option *options, plan_options *o,
		      plan_request *how)
{
	job *d = &c->job;
	const cli_option table[] = { PLAN_OPTIONS_SEARCH(d->arena, o),
				     PLAN_OPTIONS_STRICT(o), { CLI_END } };
	if (!api_set_options(c, table, options))
		return false;
	if (!plan_is_asked_for(d, 1, o->devices) || !plan_options_agree(d, o)) {
		api_status(c, CLI_USAGE);
		return false;
	}
	if (c->mode != API_CALL)
		return false;
	api_see_model(c, m);
	if (!api_model_agrees(c, m, o->stages != NULL))
		return false;
	if (!plan_request_of(d, graph_canonical(d->arena, m->graph), o, how))
		return false;
	how->observer = api_observer(c);
	how->threads = api_threads(c);
	return true;
}

static void find_frontier(api_call *c, void *arg)
{
	planning *p = arg;
	plan_options o = PLAN_OPTIONS_NONE;
	plan_request how;
	frontier f;
	bool made;
	o.frontier = CLI_ALONE;
	if (!api_plan_request(c, p->of, p->options, &o, &how))
		return;
	api_status(c, plan_frontier_of(&c->job, &how, &f, &made));
	text_stream s;
	if (!made)
		return;
	if (api_as_text(c)) {
		plan_frontier_text(text_stream_open(&s), &how, &f);
		p->answer = api_printed(c, &s);
	} else {
		p->answer = api_text(plan_frontier_json(&how, &f));
	}
}

char *tdl_model_frontier(tdl_model *m, const tdl_option *options)
{
	planning p = { .of = m, .options = options };
	return api_ask(m->context, find_frontier, &p, &p.answer);
}

/* Finds pins: given ones, or otherwise the model's annotations, which are then
 * scored.  Returns false after a message or with errors added. */
static bool find_pins(api_call *c, const planning *p, const graph *g,
		      planner_request *r)
{
	mesh m;
	const topology *t = !r->score || pins_are_given(&r->pins) ? NULL :
		plan_topology(&c->job, r->topology, r->devices);
	if (!r->score || pins_are_given(&r->pins))
		return true;
	if (!t)
		return false;
	topology_mesh(t, (int)r->devices, &m);
	if (!onnx_layouts_pins(&c->job, p->of->path, g, &m, &r->pins.pins))
		return false;
	if (pins_are_given(&r->pins))
		return true;
	cli_usage(&c->job.program, "%s is missing",
		  job_option_of(&c->job, "pins", "FILE"));
	api_status(c, CLI_USAGE);
	return false;
}

static void find_table(api_call *c, void *arg)
{
	planning *p = arg;
	planner_request r = { .score = p->score };
	const cli_option table[] = { PLANNER_OPTIONS(c->job.arena, &r),
				     { CLI_END } };
	planner_table t;
	if (!api_set_options(c, table, p->options))
		return;
	if (!plan_is_asked_for(&c->job, 1, r.devices) ||
	    !planner_options_agree(&c->job, &r)) {
		api_status(c, CLI_USAGE);
		return;
	}
	if (c->mode != API_CALL)
		return;
	api_see_model(c, p->of);
	if (!api_model_agrees(c, p->of, false))
		return;
	r.observer = api_observer(c);
	r.threads = api_threads(c);
	text_stream s;
	const graph *g = graph_canonical(c->job.arena, p->of->graph);
	if (!find_pins(c, p, g, &r) ||
	    !planner_table_of(&c->job, g, &r, &t))
		return;
	if (api_as_text(c)) {
		planner_table_text(text_stream_open(&s), c->job.arena, &t);
		p->answer = api_printed(c, &s);
	} else {
		p->answer = api_text(planner_table_json(&t));
	}
}

char *tdl_model_compare(tdl_model *m, const tdl_option *options)
{
	planning p = { .of = m, .options = options };
	return api_ask(m->context, find_table, &p, &p.answer);
}

char *tdl_model_score(tdl_model *m, const tdl_option *options)
{
	planning p = { .of = m, .options = options, .score = true };
	return api_ask(m->context, find_table, &p, &p.answer);
}

const api_function api_of_planning[] = {
	{ "tdl_model_frontier", find_frontier, &(const planning){ 0 },
	  sizeof(planning) },
	{ "tdl_model_compare", find_table, &(const planning){ 0 },
	  sizeof(planning) },
	{ "tdl_model_score", find_table, &(const planning){ .score = true },
	  sizeof(planning) },
	{ 0 }
};
