/* Measures models: tdl_model_profile() of tdl.h. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "compiler/graph/canonical.h"
#include "compiler/portfolio/one_planner.h"
#include "libtdl/layer_profile.h"
#include "libtdl/plan_devices.h"
#include "libtdl/words.h"
#include "runtime/exec/profiling.h"

typedef struct measuring {
	tdl_model *of;
	const char *path;
	const tdl_option *options;
	char *answer;
} measuring;

/* The options of a measurement and of the measured plans. */
typedef struct measuring_options {
	plan_options plans;
	layer_options layers;
} measuring_options;

/* Whether the options go together.  Returns false after a message. */
static bool agree(api_call *c, measuring_options *o)
{
	job *d = &c->job;
	plan_options *p = &o->plans;
	if (p->devices == 0)
		p->devices = 1;
	if (!plan_options_agree(d, p)) {
		api_status(c, CLI_USAGE);
		return false;
	}
	o->layers.limit = p->limit;
	if (!p->any_turns && !plan_places(p->request.algorithm) &&
	    strcmp(p->request.algorithm, PLAN_AUTO))
		return c->mode == API_CALL;
	api_fail(c, TDL_USAGE, "%s takes a %s here",
		 job_option(d, p->any_turns ? "micro-batches" : "algorithm"),
		 p->any_turns ? "number" : "planner of layouts");
	return false;
}

static bool read_options(api_call *c, const measuring *q, measuring_options *o)
{
	static const char *const kinds[] = { "generated", "interpreter", NULL };
	job *d = &c->job;
	plan_options *p = &o->plans;
	const cli_option table[] = {
		{ CLI_INT, 'k', "devices", "N",
		  "measure layers divided over N devices, threads of this "
		  "machine (default: 1)", &p->devices, 1, MESH_MAX_WORKERS },
		{ CLI_TEXT, 0, "algorithm", "A",
		  "divide them with the planner A (default: tofu)",
		  &p->request.algorithm,
		  .choices = words_of_planners(d->arena, false) },
		PLAN_OPTION_MICRO_BATCHES(p),
		PLAN_OPTION_TOPOLOGY(d->arena, &p->topology),
		PLAN_OPTION_MEMORY(&p->memory),
		{ CLI_INT, 0, "steps", "N",
		  "run each part N times (default: 12)", &o->layers.steps, 1,
		  100000 },
		{ CLI_CHOICE, 0, "kernels", "K",
		  "generated (the default; needs a C compiler) or interpreter",
		  &o->layers.kernels, .choices = kinds },
		{ CLI_END },
	};
	return api_set_options(c, table, q->options) && agree(c, o);
}

/* The profile in the file, or an empty one; NULL with errors added. */
static profile *read_file(api_call *c, const char *path)
{
	profile *p = profile_new(c->job.arena);
	bool good = !file_exists(path) ||
		    profile_read(p, c->job.sink, path);
	p->made = "tdlc " PACKAGE_VERSION;
	return good ? p : NULL;
}

static void write_file(api_call *c, const char *path, const profile *p)
{
	const char *text = profile_text(c->job.arena, p);
	if (!file_write(path, text, strlen(text)))
		api_fail(c, TDL_MACHINE, "%s: %s", path, strerror(errno));
}

/* Makes the request for the plans of layers.  Returns false with errors
 * added. */
static bool request_of(api_call *c, const tdl_model *m, measuring_options *o,
		       plan_request *how)
{
	plan_options *p = &o->plans;
	*how = p->request;
	how->arena = c->job.arena;
	how->sink = c->job.sink;
	how->graph = graph_canonical(c->job.arena, m->graph);
	how->k = (int)p->devices;
	how->memory = p->limit;
	how->observer = api_observer(c);
	how->threads = 1; /* others would disturb the measurement */
	how->topology = plan_topology(&c->job, p->topology, p->devices);
	return how->topology &&
	       plan_is_countable(c->job.sink, how->graph, p->devices);
}

static void measure(api_call *c, void *arg)
{
	measuring *q = arg;
	measuring_options o = { .plans = PLAN_OPTIONS_NONE,
				.layers = { .steps = PROFILING_STEPS } };
	plan_request how;
	text_stream s;
	if (!read_options(c, q, &o))
		return;
	api_see_model(c, q->of);
	if (!api_model_agrees(c, q->of, false) ||
	    !request_of(c, q->of, &o, &how))
		return;
	const turns_options turns =
		plan_turns_options(&o.plans, o.plans.turns > 0 ?
					     (int)o.plans.turns : 1);
	profile *all = read_file(c, q->path);
	const layer_profile *p = !all ? NULL :
		layer_profile_make(c, &how, &turns, &o.layers, all);
	if (!p)
		return;
	write_file(c, q->path, all);
	if (api_as_text(c)) {
		layer_profile_text(text_stream_open(&s), p);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(layer_profile_json(p));
	}
}

char *tdl_model_profile(tdl_model *m, const char *path,
			const tdl_option *options)
{
	measuring q = { .of = m, .path = path, .options = options };
	return api_ask(m->context, measure, &q, &q.answer);
}

const api_function api_of_profiles[] = {
	{ "tdl_model_profile", measure, &(const measuring){ 0 },
	  sizeof(measuring) },
	{ 0 }
};
