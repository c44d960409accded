#include "config.h"

#include "libtdl/planner_table.h"

#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "compiler/portfolio/auto.h"
#include "compiler/portfolio/one_planner.h"
#include "compiler/portfolio/stage_pins.h"
#include "libtdl/plan_published.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_stages.h"

/* The name for the best pipeline found. */
static const char our_stages[] = "stages";

/* ---- options ------------------------------------------------------------ */

static bool are_algorithms(job *d, const cli_words *names, bool stages)
{
	for (int i = 0; i < names->n; i++) {
		const char *name = names->at[i];
		bool is = plan_is_published(name) || !strcmp(name, our_stages);
		if (!(is && stages) &&
		    !plan_is_algorithm_of(d, name, arena_printf(
			d->arena, "; with %s: %s, %s",
			job_option(d, "micro-batches"), our_stages,
			plan_published_names(d->arena))))
			return false;
	}
	return true;
}

/* Reads --memory as the planners take it. */
static bool read_limit(job *d, planner_request *r)
{
	if (!r->limit ||
	    (units_read_size(r->limit, &r->memory) && r->memory > 0))
		return true;
	cli_usage(&d->program, "%s takes a number of bytes, such as 512M or "
		  "80GB, not '%s'", job_option(d, "memory"), r->limit);
	return false;
}

bool planner_options_agree(job *d, planner_request *r)
{
	bool stages = r->micro_batches > 0;
	if (r->statistics && !stages) {
		cli_usage(&d->program, "%s needs %s",
			  job_option(d, "micro-batch-statistics"),
			  job_option(d, "micro-batches"));
		return false;
	}
	return are_algorithms(d, &r->algorithms, stages) &&
	       are_algorithms(d, &r->with, false) &&
	       plan_read_bucket(d, r->bucket, r->topology, &r->bucket_bytes) &&
	       read_limit(d, r);
}

static bool among(const cli_words *words, const char *name)
{
	for (int i = 0; i < words->n; i++)
		if (!strcmp(words->at[i], name))
			return true;
	return false;
}

/* ---- the plans ---------------------------------------------------------- */

static plan_request request_of(const job *d, const planner_request *r,
			       const planner_table *t, const char *algorithm)
{
	return (plan_request){ .arena = d->arena, .sink = d->sink,
			       .graph = t->graph, .algorithm = algorithm,
			       .seconds = r->seconds, .k = t->devices,
			       .topology = t->machine, .pins = r->pins,
			       .variant = r->variant,
			       .memory = r->memory,
			       .bucket = r->bucket_bytes,
			       .separate = r->separate,
			       .observer = r->observer,
			       .threads = r->threads };
}

/* Adds the plan with the user's pins; tofu decides the rest. */
static bool add_pinned(job *d, const planner_request *r, planner_table *t)
{
	const lower_options lower = { .algorithm = "pins" };
	const plan_request how = request_of(d, r, t, "tofu");
	plan_result made;
	if (!plan_by_planner(&how, &lower, &made))
		return false;
	search_result *s = ARENA_COPY(d->arena, made.search, 1);
	s->algorithm = "pins";
	made.search = s;
	vec_push(d->arena, &t->plans, made);
	return true;
}

static bool is_own(const planner_request *r, const char *name)
{
	return r->own && !strcmp(r->own_name, name);
}

/* Adds the known plan under the name of its planner. */
static void add_own(job *d, const planner_request *r, planner_table *t)
{
	if (r->own->pipeline)
		vec_push(d->arena, &t->pipelines,
			 ((planner_pipeline){ r->own_name, *r->own,
					      r->own_seconds }));
	else
		vec_push(d->arena, &t->plans, *r->own);
}

/* Adds the plan of one planner. */
static bool add_planner(job *d, const planner_request *r, planner_table *t,
			const char *name)
{
	const lower_options lower = { .algorithm = name };
	plan_request how = request_of(d, r, t, name);
	plan_result made;
	if (is_own(r, name)) {
		add_own(d, r, t);
		return true;
	}
	if (r->score)
		how.pins = (pin_texts){ 0 };
	if (!plan_by_planner(&how, &lower, &made))
		return false;
	vec_push(d->arena, &t->plans, made);
	return true;
}

static bool add_planners(job *d, const planner_request *r, planner_table *t)
{
	const char *name;
	for (int i = 0; (name = search_algorithm(i, NULL)); i++) {
		bool wanted = among(&r->algorithms, name) ||
			      among(&r->with, name) ||
			      (r->algorithms.n == 0 && !search_on_request(i));
		if (wanted && !add_planner(d, r, t, name))
			return false;
	}
	return true;
}

/* Adds the best plan of all planners, some of which are in the table
 * already. */
static bool add_best(job *d, const planner_request *r, planner_table *t)
{
	const lower_options lower = { .algorithm = PLAN_AUTO };
	const plan_request how = request_of(d, r, t, PLAN_AUTO);
	plan_result best;
	if (r->score ||
	    (r->algorithms.n > 0 && !among(&r->algorithms, PLAN_AUTO)))
		return true;
	if (is_own(r, PLAN_AUTO)) {
		add_own(d, r, t);
		return true;
	}
	const search_result **made =
		ARENA_ARRAY(d->arena, const search_result *, t->plans.n);
	for (int i = 0; i < t->plans.n; i++)
		made[i] = t->plans.at[i].search;
	if (!plan_auto(&how, &lower, made, t->plans.n, &best))
		return false;
	vec_push(d->arena, &t->plans, best);
	return true;
}

static int64_t proven_bound(const planner_table *t)
{
	int64_t bound = -1;
	for (int i = 0; i < t->plans.n; i++) {
		const plan_result *r = &t->plans.at[i];
		const search_result *s = r->search;
		if (s->whole)
			s = s->whole;
		if (!s->error && s->lower_bound > bound &&
		    search_cuts_all(r->graph, &s->assignment))
			bound = s->lower_bound;
	}
	return bound;
}

/* ---- pipelines ---------------------------------------------------------- */

static void push_pipeline(job *d, planner_table *t, const char *name,
			  const pipeline_result *found, double seconds)
{
	vec_push(d->arena, &t->pipelines,
		 ((planner_pipeline){
			 name, { .graph = t->graph, .pipeline = found,
				 .objective = "time",
				 .machine = t->machine->name,
				 .topology = t->machine,
				 .machine_memory = t->machine->memory,
				 .seconds = found->seconds }, seconds }));
}

static bool add_pipeline(job *d, const planner_request *r, planner_table *t,
			 const char *name)
{
	const pipeline_aims aims = { .kind = SCHEDULE_1F1B, .chunks = 1 };
	plan_request how = request_of(d, r, t, name);
	pipeline_result *found = ARENA_NEW(d->arena, pipeline_result);
	double begun = clock_seconds();
	how.pins = (pin_texts){ 0 };
	bool ok = plan_is_published(name)
			  ? plan_published_find(&how, &aims, found)
			  : pipeline_search(&how, &aims, found);
	push_pipeline(d, t, name, found, clock_seconds() - begun);
	return ok;
}

/* Adds the pipeline with the user's pins. */
static bool add_pinned_stages(job *d, const planner_request *r,
			      planner_table *t)
{
	static const char name[] = "pins";
	const pipeline_aims aims = { .kind = SCHEDULE_1F1B, .chunks = 1 };
	const plan_request how = request_of(d, r, t, name);
	pipeline_result *found = ARENA_NEW(d->arena, pipeline_result);
	double begun = clock_seconds();
	stage_pins pins;
	if (!stage_pins_read(&how, &pins) ||
	    !stage_pins_plan(&how, &aims, &pins, found))
		return false;
	push_pipeline(d, t, name, found, clock_seconds() - begun);
	return true;
}

static bool add_pipelines(job *d, const planner_request *r, planner_table *t)
{
	const char *name = our_stages;
	if (r->micro_batches == 0 || t->devices == 1 ||
	    (pins_are_given(&r->pins) && !t->staged))
		return true;
	for (int i = 0; name; name = plan_published_name(i++))
		if ((r->algorithms.n == 0 || among(&r->algorithms, name)) &&
		    !add_pipeline(d, r, t, name))
			return false;
	return true;
}

/* The graph of one micro-batch if there are several; NULL with errors added. */
static const graph *in_turns(job *d, const graph *g, const planner_request *r,
			     bool stages)
{
	int64_t n = r->micro_batches ? r->micro_batches : 1;
	const turns_options o = { .turns = (int)n,
				  .nbatch = r->nbatch,
				  .batch = r->batch,
				  .statistics = r->statistics };
	bool divided = r->micro_batches || stages;
	return divided ? graph_in_turns(d->arena, g, &o, d->sink) : g;
}

bool planner_table_of(job *d, const graph *g, const planner_request *r,
		      planner_table *t)
{
	bool stages = r->score && stage_pins_are_given(d->arena, &r->pins);
	*t = (planner_table){ .graph = in_turns(d, g, r, stages),
			      .devices = (int)r->devices,
			      .memory = r->memory,
			      .scored = r->score && !stages,
			      .staged = stages };
	if (!t->graph)
		return false;
	t->machine = plan_topology(d, r->topology, r->devices);
	if (!t->machine || !plan_is_countable(d->sink, g, r->devices) ||
	    (t->scored && !add_pinned(d, r, t)) ||
	    (stages && !add_pinned_stages(d, r, t)) || !add_planners(d, r, t) ||
	    !add_best(d, r, t) || !add_pipelines(d, r, t))
		return false;
	t->bound = proven_bound(t);
	return true;
}

int64_t planner_limit(const planner_table *t)
{
	int64_t own = t->machine->memory;
	return t->memory > 0 && (own == 0 || t->memory <= own) ? t->memory
							       : own;
}

bool planner_exceeds(const planner_table *t, int64_t nbytes)
{
	int64_t limit = planner_limit(t);
	return limit > 0 && nbytes > limit;
}

double planner_gap(const plan_result *r, int64_t bound)
{
	const search_result *s = r->search;
	if (!search_cuts_all(r->graph, &s->assignment))
		return -1;
	if (s->total == 0)
		return 0;
	if (bound <= 0 || s->total < bound)
		return -1;
	return (double)(s->total - bound) / (double)bound;
}

/* ---- JSON --------------------------------------------------------------- */

/* Sets whether a plan is within the limit, if there is one. */
static void set_fits(const planner_table *t, int64_t nbytes, json_t *j)
{
	if (planner_limit(t) > 0)
		json_object_set_new(j, "fits", json_boolean(
			!planner_exceeds(t, nbytes)));
}

/* The row of a planner; lists: with its tensors and operators. */
static json_t *row_json(const planner_table *t, const plan_result *r,
			bool lists)
{
	const search_result *s = r->search;
	if (s->error)
		return json_pack("{s:s,s:s}", "algorithm", s->algorithm,
				 "error", s->error);
	double over = planner_gap(r, t->bound);
	json_t *j = lists ? plan_report_json(r) : plan_report_search(r);
	json_object_set_new(j, "gap", over < 0 ? json_null()
					       : json_real(over));
	set_fits(t, r->plan->arena_bytes, j);
	return j;
}

static json_t *pipeline_json(const planner_table *t, const planner_pipeline *x)
{
	json_t *j = x->found.pipeline->plan
			    ? plan_stages_json(&x->found)
			    : json_pack("{s:s}", "error",
					x->found.pipeline->refused);
	json_object_set_new(j, "algorithm", json_string(x->name));
	json_object_set_new(j, "search_seconds", json_real(x->seconds));
	if (x->found.pipeline->plan)
		set_fits(t, x->found.pipeline->peak_bytes, j);
	return j;
}

static json_t *pipelines_json(const planner_table *t)
{
	json_t *list = json_array();
	for (int i = t->staged; i < t->pipelines.n; i++)
		json_array_append_new(list,
				      pipeline_json(t, &t->pipelines.at[i]));
	return list;
}

/* Sets the rows of planners and pipelines, except those with pins. */
static void set_rows(const planner_table *t, bool lists, json_t *j)
{
	json_t *list = json_array();
	for (int i = t->scored; i < t->plans.n; i++)
		json_array_append_new(list, row_json(t, &t->plans.at[i],
						     lists));
	json_object_set_new(j, "planners", list);
	if (t->pipelines.n > t->staged)
		json_object_set_new(j, "pipelines", pipelines_json(t));
}

json_t *planner_table_rows(const planner_table *t)
{
	json_t *j = json_object();
	set_rows(t, false, j);
	return j;
}

json_t *planner_table_json(const planner_table *t)
{
	json_t *j = json_pack("{s:s,s:i}", "model", t->graph->name, "devices",
			      t->devices);
	if (t->memory > 0)
		json_object_set_new(j, "memory_limit",
				    json_integer(t->memory));
	if (t->scored)
		json_object_set_new(j, "pinned",
				    row_json(t, &t->plans.at[0], true));
	if (t->staged)
		json_object_set_new(j, "pinned",
				    pipeline_json(t, &t->pipelines.at[0]));
	set_rows(t, true, j);
	return j;
}
