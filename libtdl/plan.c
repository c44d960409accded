/* Finds and reads plans: the type tdl_plan of tdl.h. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "compiler/codegen/codegen.h"
#include "compiler/portfolio/pipeline_plan.h"
#include "libtdl/api.h"
#include "libtdl/plan_frontier.h"
#include "libtdl/plan_search.h"
#include "libtdl/plan_speed.h"
#include "libtdl/planner_table.h"
#include "plan/pipeline.h"

const char api_nowhere[] = "the plan";

/* ---- making ------------------------------------------------------------ */

typedef struct search {
	tdl_model *of;
	const tdl_option *options;
	tdl_plan *result;
} search;

/* The bytes that a memory limit leaves beside a plan's arena. */
static int64_t room_beside(const plan *p, int64_t limit)
{
	if (limit <= 0)
		return PLAN_MAX_BYTES;
	return limit > p->arena_bytes ? limit - p->arena_bytes : 0;
}

/* A copy of the plan with packed factors kept as far as the limit allows. */
static const plan *with_kept(arena *a, const plan *p, int64_t limit)
{
	plan *own = ARENA_COPY(a, p, 1);
	codegen_keep(own, room_beside(own, limit));
	return own;
}

/* The number of micro-batches of a found plan; 0 if it has no loop. */
static int turns_of(const plan_result *r)
{
	return r->pipeline ? r->pipeline->plan->stages[0].loop.turns :
			     r->plan->loop.turns;
}

/* The request for the other planners' plans, with the options of the search
 * that found r.  Pins of stages apply only to that search. */
static planner_request others_of(const plan_options *o, const plan_request *how,
				 const plan_result *r, double seconds)
{
	planner_request all = {
		.devices = how->k, .topology = o->topology,
		.seconds = how->seconds, .memory = how->memory,
		.variant = how->variant,
		.bucket_bytes = how->bucket, .separate = how->separate,
		.micro_batches = turns_of(r), .statistics = o->statistics,
		.nbatch = o->batch_dims.n, .batch = o->batch,
		.own = o->stages ? NULL : r, .own_name = how->algorithm,
		.own_seconds = seconds
	};
	if (!o->stages)
		all.pins = how->pins;
	return all;
}

/* Makes the result, in the call's arena. */
static void keep_found(api_call *c, search *s, const plan_request *how,
		       const plan_result *r)
{
	arena *a = c->job.arena;
	s->result = ARENA_NEW(a, tdl_plan);
	*s->result = (tdl_plan){ .context = c->context, .arena = a,
				 .path = api_nowhere, .model = s->of,
				 .machine = how->topology,
				 .how = ARENA_COPY(a, how, 1),
				 .found = ARENA_COPY(a, r, 1) };
	c->keeps = true;
}

static void find_plan(api_call *c, void *arg)
{
	search *s = arg;
	plan_options o = PLAN_OPTIONS_NONE;
	plan_request how;
	plan_result r;
	frontier f;
	bool made;
	if (!api_plan_request(c, s->of, s->options, &o, &how))
		return;
	if (o.frontier == CLI_ALONE) {
		api_fail(c, TDL_USAGE, "a frontier is no plan; one of its "
			 "plans has a number");
		return;
	}
	const lower_options lower = { .algorithm = o.request.algorithm };
	const double begun = clock_seconds();
	cli_status status =
		o.frontier ? plan_of_frontier(&c->job, &how, o.frontier, &f,
					      &r, &made)
			   : plan_search(&c->job, &how, &o, &lower, &r, &made);
	api_status(c, status);
	if (!made || status != CLI_OK)
		return;
	if (o.frontier) {
		search_result *took = ARENA_COPY(c->job.arena, r.search, 1);
		took->seconds = clock_seconds() - begun;
		r.search = took;
	}
	if (r.plan)
		r.plan = with_kept(c->job.arena, r.plan, how.memory);
	keep_found(c, s, &how, &r);
	const planner_request others = others_of(&o, &how, s->result->found,
						 clock_seconds() - begun);
	s->result->others = ARENA_COPY(c->job.arena, &others, 1);
	if (o.frontier)
		s->result->frontier = ARENA_COPY(c->job.arena, &f, 1);
}

tdl_plan *tdl_plan_search(tdl_model *m, const tdl_option *options)
{
	search s = { .of = m, .options = options };
	if (api_run(m->context, find_plan, &s) != TDL_OK)
		return NULL;
	m->uses++;
	return s.result;
}

/* ---- as a file has it, and as it is read ------------------------------- */

static api_made *made_of(api_call *c, tdl_plan *p)
{
	for (int i = 0; i < c->made.n; i++)
		if (c->made.at[i].of == p)
			return &c->made.at[i];
	vec_push(c->job.arena, &c->made, (api_made){ .of = p });
	return &c->made.at[c->made.n - 1];
}

bool api_has_stages(const tdl_plan *p)
{
	return p->stages || (p->found && p->found->pipeline);
}

/* Whether a plan has no stages of a pipeline.  Adds a message if it has. */
static bool has_no_stages(api_call *c, const tdl_plan *p)
{
	if (api_has_stages(p))
		api_fail(c, TDL_USAGE, "%s has stages of a pipeline: that is "
			 "for a plan without, which %s none makes", p->path,
			 job_option(&c->job, "stages"));
	return !api_has_stages(p);
}

/* The machine for which a plan was found, if one was named. */
static plan_prediction prediction_of(const tdl_plan *p)
{
	const plan_result *r = p->found;
	if (!r || plan_speed_is_default(r->topology))
		return (plan_prediction){ 0 };
	return (plan_prediction){ r->machine, r->topology->path, r->seconds,
				  plan_speed_of(r).batch };
}

/* The plan with the sources of its kernels. */
static const plan *completed(arena *a, const plan *p, diag_sink *s)
{
	plan *whole = lower_completed(a, p, codegen_sources, s);
	if (whole)
		codegen_epilogues(a, whole);
	return whole;
}

const plan *api_whole_plan(api_call *c, tdl_plan *p)
{
	if (!has_no_stages(c, p))
		return NULL;
	api_made *m = p->whole ? NULL : made_of(c, p);
	if (m && !m->whole) {
		m->of_whole = arena_new();
		plan own = *p->found->plan;
		own.predicted = prediction_of(p);
		m->whole = completed(m->of_whole, &own, c->job.sink);
	}
	return m ? m->whole : p->whole;
}

void api_keep_made(api_call *c)
{
	for (int i = 0; i < c->made.n; i++) {
		const api_made *m = &c->made.at[i];
		if (m->whole) {
			m->of->whole = m->whole;
			m->of->of_whole = m->of_whole;
		} else if (m->of_whole) {
			arena_free(m->of_whole);
		}
		if (m->plan) {
			m->of->plan = m->plan;
			m->of->of_plan = m->of_plan;
		}
	}
}

const char *api_plan_text(api_call *c, const plan *p, const char *path,
			  size_t *n)
{
	const char *text = plan_text(c->job.arena, p, path, n);
	if (!text)
		api_fail(c, TDL_MACHINE, "%s: %s", path, strerror(errno));
	else if (!plan_is_readable(p, text, *n))
		diag_error_in(c->job.sink, DIAG_TOO_LARGE, path,
			      "the plan is larger than tdlrun accepts: %d "
			      "operators, %zu bytes", p->nnodes, *n);
	else
		return text;
	return NULL;
}

/* Adds the sources of kernels for a stage; kernels are shared by all stages. */
static void add_sources(arena *a, plan *p, int64_t limit)
{
	codegen_keep(p, room_beside(p, limit));
	codegen_epilogues(a, p);
}

/* The same for a plan of several stages. */
static const char *stages_text(api_call *c, const tdl_plan *p,
			       const char *path, size_t *n)
{
	arena *a = c->job.arena;
	const plan_pipeline *whole = p->stages;
	plan_pipeline own, *made = NULL;
	if (!whole)
		whole = made = lower_completed_pipeline(
			a, p->found->pipeline->plan, codegen_sources,
			c->job.sink);
	for (int i = 0; made && i < made->nstages; i++)
		add_sources(a, &made->stages[i], p->how->memory);
	if (whole)
		own = *whole;
	if (whole && p->found)
		own.predicted = prediction_of(p);
	const char *text = whole ? pipeline_text(a, &own, path, n) : NULL;
	if (whole && !text)
		api_fail(c, TDL_MACHINE, "%s: %s", path, strerror(errno));
	return text;
}

const char *api_text_at(api_call *c, tdl_plan *p, const char *path, size_t *n)
{
	if (api_has_stages(p))
		return stages_text(c, p, path, n);
	const plan *whole = api_whole_plan(c, p);
	return whole ? api_plan_text(c, whole, path, n) : NULL;
}

/* Parses a plan into an arena of its own, *of. */
static const plan_pipeline *parse(api_call *c, const char *path,
				  const char *text, size_t n, arena **of)
{
	arena *a = arena_new();
	const plan_pipeline *p = pipeline_parse(
		a, c->job.sink, arena_strdup(a, path), text, n);
	if (p)
		*of = a;
	else
		arena_free(a);
	return p;
}

const plan *api_read_plan(api_call *c, tdl_plan *p)
{
	size_t n;
	if (p->plan || !has_no_stages(c, p))
		return p->plan;
	const plan *whole = api_whole_plan(c, p);
	api_made *m = made_of(c, p);
	const char *text = whole && !m->plan ?
		api_plan_text(c, whole, api_nowhere, &n) : NULL;
	const plan_pipeline *one =
		text ? parse(c, api_nowhere, text, n, &m->of_plan) : NULL;
	if (one)
		m->plan = one->stages;
	return m->plan;
}

const plan_pipeline *api_read_stages(api_call *c, tdl_plan *p)
{
	if (p->stages)
		return p->stages;
	if (!api_has_stages(p)) {
		const plan *one = api_read_plan(c, p);
		return one ? pipeline_of_plan(c->job.arena, one) : NULL;
	}
	size_t n;
	const char *text = stages_text(c, p, api_nowhere, &n);
	return text ? pipeline_parse(c->job.arena, c->job.sink, api_nowhere,
				     text, n) : NULL;
}

/* ---- reading ----------------------------------------------------------- */

typedef struct reading {
	const char *path, *text; /* NULL: it is read from a file */
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
	if (!r->text)
		return;
	tdl_plan *p = ARENA_NEW(d->arena, tdl_plan);
	p->context = c->context;
	p->arena = d->arena;
	p->path = arena_strdup(d->arena, r->path);
	const plan_pipeline *all =
		parse(c, r->path, r->text, r->n, &p->of_plan);
	if (!all)
		return;
	if (pipeline_is_plan(all))
		p->whole = p->plan = all->stages;
	else
		p->stages = all;
	r->result = p;
	c->keeps = true;
}

tdl_plan *tdl_plan_load(tdl_context *c, const char *path)
{
	reading r = { .path = api_path(c, path) };
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
	if (!p)
		return;
	api_end_use(p->model);
	if (p->of_whole)
		arena_free(p->of_whole);
	if (p->of_plan)
		arena_free(p->of_plan);
	arena_free(p->arena);
}

const api_function api_of_searches[] = {
	{ "tdl_plan_search", find_plan, &(const search){ 0 }, sizeof(search) },
	{ 0 }
};
