/* Models: the type tdl_model of tdl.h. */
#include "config.h"

#include "compiler/train/train.h"
#include "libtdl/api.h"
#include "libtdl/coverage.h"
#include "libtdl/graph_json.h"
#include "libtdl/plan_input.h"

typedef struct reading {
	const char *path;
	const dsl_text *data; /* NULL: a file */
	const tdl_option *options;
	tdl_model *result;
} reading;

static void read_model(api_call *c, void *arg)
{
	reading *r = arg;
	job *d = &c->job;
	plan_model how = PLAN_MODEL;
	const cli_option table[] = { PLAN_OPTIONS_MODEL(&how), { CLI_END } };
	cli_status status = CLI_OK;
	if (!api_options(c, table, r->options))
		return;
	if (r->data)
		api_add_texts(c, r->data, 1);
	const char *path = arena_strdup(d->arena, r->path);
	graph *g = model_read_graph(d, path, &how, &status);
	api_status(c, status);
	if (!g)
		return;
	tdl_model *m = ARENA_NEW(d->arena, tdl_model);
	*m = (tdl_model){ c->context, d->arena, path, g, d->sink, 1 };
	c->keeps = true;
	r->result = m;
}

static tdl_model *read_as(tdl_context *c, reading *r)
{
	return api_run(c, read_model, r) == TDL_OK ? r->result : NULL;
}

tdl_model *tdl_model_load(tdl_context *c, const char *path,
			  const tdl_option *options)
{
	reading r = { .path = api_path(c, path), .options = options };
	return read_as(c, &r);
}

tdl_model *tdl_model_of_text(tdl_context *c, const char *path,
			     const void *data, size_t nbytes,
			     const tdl_option *options)
{
	const dsl_text t = api_given(path, data, nbytes);
	reading r = { .path = path, .data = &t, .options = options };
	return read_as(c, &r);
}

void api_see_model(api_call *c, const tdl_model *m)
{
	c->job.sink = diag_sink_beside(c->job.arena, m->sink);
	if (c->job.program.members)
		diag_name_members(c->job.sink);
}

bool api_model_agrees(api_call *c, const tdl_model *m, bool stages)
{
	const job *d = &c->job;
	bool ok = stages || !m->graph->recompute_stages;
	if (!ok)
		api_fail(c, TDL_USAGE, "%s %s is for plans with %s",
			 job_option(d, "recompute"), TRAIN_BY_STAGE,
			 job_option(d, "stages"));
	return ok;
}

void api_end_use(tdl_model *m)
{
	if (m && --m->uses == 0)
		arena_free(m->arena);
}

void tdl_model_free(tdl_model *m)
{
	api_end_use(m);
}

/* ---- asking ------------------------------------------------------------ */

typedef struct question {
	const tdl_model *of;
	const char *name; /* of a machine, or a file */
	const tdl_option *options;
	char *answer;
} question;

static void show(api_call *c, void *arg)
{
	question *q = arg;
	const graph *g = q->of->graph;
	arena *a = c->job.arena;
	text_stream s;
	if (!api_model_agrees(c, q->of, false))
		return;
	if (c->context->style & TDL_DOT)
		graph_dot(text_stream_open(&s), a, g,
			  c->context->style & TDL_UNFOLDED);
	else if (api_as_text(c))
		graph_text(text_stream_open(&s), a, g);
	else
		q->answer = api_text(graph_json(g));
	if (!q->answer)
		q->answer = api_printed(c, &s);
}

char *tdl_model_graph(tdl_model *m)
{
	question q = { .of = m };
	return api_ask(m->context, show, &q, &q.answer);
}

static void count_costs(api_call *c, void *arg)
{
	question *q = arg;
	api_see_model(c, q->of);
	if (!api_model_agrees(c, q->of, false))
		return;
	json_t *j = model_costs_json(&c->job, q->of->graph, q->name,
				     q->of->path);
	if (j)
		q->answer = api_text(j);
}

char *tdl_model_costs(tdl_model *m, const char *machine)
{
	question q = { .of = m, .name = machine };
	return api_ask(m->context, count_costs, &q, &q.answer);
}

static void cover(api_call *c, void *arg)
{
	question *q = arg;
	coverage_request r = COVERAGE_REQUEST;
	const cli_option table[] = { COVERAGE_OPTIONS(&r), { CLI_END } };
	cli_status status = CLI_OK;
	if (!api_options(c, table, q->options))
		return;
	const coverage *all = coverage_of(&c->job, q->name, &r, &status);
	api_status(c, status);
	text_stream s;
	if (!all)
		return;
	if (api_as_text(c)) {
		coverage_text(text_stream_open(&s), c->job.arena, all);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(coverage_json(all));
	}
}

char *tdl_model_coverage(tdl_context *c, const char *path,
			 const tdl_option *options)
{
	question q = { .name = api_path(c, path), .options = options };
	return api_ask(c, cover, &q, &q.answer);
}

const api_function api_of_models[] = {
	{ "tdl_model_load", read_model, &(const reading){ 0 },
	  sizeof(reading) },
	{ "tdl_model_of_text", read_model, &(const reading){ 0 },
	  sizeof(reading) },
	{ "tdl_model_coverage", cover, &(const question){ 0 },
	  sizeof(question) },
	{ 0 }
};
