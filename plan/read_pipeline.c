/* The reader of plans with stages (version 4), and without.  Tables have the
 * rows of all stages, one stage's after another's; each stage has its number of
 * rows. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "plan/pipeline.h"
#include "plan/read.h"

enum { MOST_TASKS = 1 << 16, MOST_RUNS = 1 << 12 };

/* ---- schedules --------------------------------------------------------- */

static bool read_segment(reader *r, json_t *j, int begin, plan_segment *to)
{
	static const char *const passes[] = { "F", "B", "W" };
	members m;
	int pass = 0;
	to->begin = begin;
	if (!read_members(r, j, &m) ||
	    !read_word(r, &m, "pass", passes, 3, &pass) ||
	    !read_index(r, &m, "chunk", PLAN_MOST_ROWS, &to->chunk) ||
	    !read_index(r, &m, "end", PLAN_MOST_ROWS, &to->end))
		return false;
	to->pass = (plan_pass)pass;
	return read_no_more(r, &m);
}

static bool read_segments(reader *r, members *m, plan *p, plan_stage *to)
{
	json_t *all;
	if (!read_index(r, m, "begin", PLAN_MOST_ROWS, &p->loop.begin) ||
	    !read_array(r, m, "segments", MOST_TASKS, &all))
		return false;
	int n = (int)json_array_size(all), end = p->loop.begin;
	plan_segment *at = ARENA_ARRAY(r->arena, plan_segment, n);
	for (int i = 0; i < n; i++) {
		if (!read_segment(r, json_array_get(all, (size_t)i), end,
				  &at[i]))
			return false;
		end = at[i].end;
	}
	p->loop.end = end;
	to->nsegments = n;
	to->segments = at;
	return p->loop.begin <= end ||
	       read_error(r, "the body ends before it begins");
}

static bool read_run(reader *r, json_t *j, plan_tasks *to)
{
	members m;
	int *tasks = NULL;
	if (!read_members(r, j, &m) ||
	    !read_index(r, &m, "times", PLAN_MAX_TURNS, &to->times) ||
	    !read_ints(r, &m, "segments", &tasks, &to->ntasks))
		return false;
	to->tasks = tasks;
	return read_no_more(r, &m);
}

static bool read_order(reader *r, members *m, plan_stage *to)
{
	json_t *all;
	if (!read_array(r, m, "order", MOST_RUNS, &all))
		return false;
	int n = (int)json_array_size(all);
	plan_tasks *at = ARENA_ARRAY(r->arena, plan_tasks, n);
	for (int i = 0; i < n; i++)
		if (!read_run(r, json_array_get(all, (size_t)i), &at[i]))
			return false;
	to->nruns = n;
	to->runs = at;
	return true;
}

/* ---- stages ------------------------------------------------------------ */

static bool read_stage(reader *r, json_t *j, plan *p)
{
	members m;
	plan_stage *s = ARENA_NEW(r->arena, plan_stage);
	p->stage = s;
	if (!read_members(r, j, &m) || !read_mesh(r, &m, &p->mesh) ||
	    !read_int(r, &m, "arena_bytes", 0, PLAN_MAX_BYTES,
		      &p->arena_bytes) ||
	    !read_copies(r, p, &m) ||
	    !read_int(r, &m, "communication_bytes", 0, INT64_MAX,
		      &p->communication_bytes) ||
	    !read_ints(r, &m, "inputs", &p->inputs, &p->ninputs) ||
	    !read_ints(r, &m, "outputs", &p->outputs, &p->noutputs) ||
	    !read_training(r, p, &m) || !read_growth(r, p, &m) ||
	    !read_folds(r, p, &m))
		return false;
	return read_index(r, &m, "tensors", PLAN_MOST_ROWS, &p->ntensors) &&
	       read_index(r, &m, "nodes", PLAN_MOST_ROWS, &p->nnodes) &&
	       read_index(r, &m, "buffers", PLAN_MOST_ROWS, &p->nbuffers) &&
	       read_index(r, &m, "instructions", PLAN_MOST_ROWS,
			  &p->ninstrs) &&
	       read_segments(r, &m, p, s) && read_order(r, &m, s) &&
	       read_no_more(r, &m);
}

static bool read_channel(reader *r, json_t *j, plan_channel *c)
{
	members m;
	return read_members(r, j, &m) &&
	       read_index(r, &m, "from", PLAN_MAX_STAGES, &c->from) &&
	       read_index(r, &m, "source", PLAN_MOST_ROWS, &c->source) &&
	       read_index(r, &m, "to", PLAN_MAX_STAGES, &c->to) &&
	       read_index(r, &m, "target", PLAN_MOST_ROWS, &c->target) &&
	       read_no_more(r, &m);
}

/* Reads the schedule's members, which all stages share. */
static bool read_schedule(reader *r, members *top, plan_pipeline *p,
			  plan_loop *o)
{
	json_t *j = read_member(r, top, "schedule");
	json_t *statistics;
	int64_t turns;
	members m;
	if (!j || !read_members(r, j, &m) ||
	    !read_name(r, &m, "name", &p->schedule) ||
	    !read_int(r, &m, "micro_batches", 1, PLAN_MAX_TURNS, &turns) ||
	    !read_int(r, &m, "batch", turns, PLAN_MAX_BYTES, &o->batch))
		return false;
	o->turns = (int)turns;
	statistics = read_optional(&m, "statistics");
	o->statistics = statistics != NULL;
	if (statistics && !json_is_true(statistics))
		return read_error(r, "'statistics' is there and not true");
	return read_no_more(r, &m);
}

static bool read_stages(reader *r, members *top, plan_pipeline *p)
{
	plan_loop loop = { 0 };
	json_t *all;
	if (!read_schedule(r, top, p, &loop) ||
	    !read_array(r, top, "stages", PLAN_MAX_STAGES, &all))
		return false;
	p->nstages = (int)json_array_size(all);
	p->stages = ARENA_ARRAY(r->arena, plan, p->nstages);
	r->table = "stages";
	for (r->index = 0; r->index < p->nstages; r->index++) {
		plan *s = &p->stages[r->index];
		s->model = p->model;
		s->algorithm = p->algorithm;
		s->loop = loop;
		if (!read_stage(r, json_array_get(all, (size_t)r->index), s))
			return false;
	}
	r->table = NULL;
	return p->nstages > 0 || read_error(r, "there are no stages");
}

static bool read_channels(reader *r, members *top, plan_pipeline *p)
{
	json_t *all;
	if (!read_array(r, top, "channels", PLAN_MOST_ROWS, &all))
		return false;
	p->nchannels = (int)json_array_size(all);
	p->channels = ARENA_ARRAY(r->arena, plan_channel, p->nchannels);
	r->table = "channels";
	for (r->index = 0; r->index < p->nchannels; r->index++)
		if (!read_channel(r, json_array_get(all, (size_t)r->index),
				  &p->channels[r->index]))
			return false;
	r->table = NULL;
	return true;
}

/* ---- the file ---------------------------------------------------------- */

/* Checks that the stages' rows are all rows of a table. */
static bool check_count(reader *r, const plan_pipeline *p, int table, int64_t n)
{
	int64_t all = 0;
	for (int s = 0; s < p->nstages; s++) {
		const plan *x = &p->stages[s];
		all += table == TABLE_TENSORS ? x->ntensors
		       : table == TABLE_NODES ? x->nnodes
		       : table == TABLE_BUFFERS ? x->nbuffers
						: x->ninstrs;
	}
	return all == n ||
	       read_error(r, "'%s' has %lld rows, the stages %lld",
			  plan_tables[table], (long long)n, (long long)all);
}

static bool read_all_tables(reader *r, members *top, plan_pipeline *p)
{
	for (int i = 0; i < NTABLES; i++) {
		int64_t n;
		if (!read_count(r, top, i, &n))
			return false;
		if (i != TABLE_KERNELS && !check_count(r, p, i, n))
			return false;
		for (int s = 0; i == TABLE_KERNELS && s < p->nstages; s++)
			p->stages[s].nkernels = (int)n;
	}
	if (!read_tables(r, p->stages, p->nstages))
		return false;
	for (int s = 0; s < p->nstages; s++)
		if (!read_outputs(r, &p->stages[s]))
			return false;
	return true;
}

static bool read_pipeline(reader *r, plan_pipeline *p, json_t *top)
{
	const char *format;
	int64_t version;
	members m;
	if (!read_members(r, top, &m) ||
	    !read_text(r, &m, "format", &format) ||
	    !read_int(r, &m, "version", 0, INT64_MAX, &version))
		return false;
	if (strcmp(format, "tdl-plan") || version != PLAN_PIPELINE_VERSION)
		return read_error(r, "this is not a plan of version %d",
				  PLAN_PIPELINE_VERSION);
	return read_name(r, &m, "model", &p->model) &&
	       read_name(r, &m, "algorithm", &p->algorithm) &&
	       read_int(r, &m, "communication_bytes", 0, INT64_MAX,
			&p->communication_bytes) &&
	       read_names(r, &m, "inputs", &p->inputs, &p->ninputs) &&
	       read_names(r, &m, "outputs", &p->outputs, &p->noutputs) &&
	       read_names(r, &m, "fixed", &p->fixed, &p->nfixed) &&
	       read_predicted(r, &m, &p->predicted) &&
	       read_stages(r, &m, p) && read_channels(r, &m, p) &&
	       read_all_tables(r, &m, p) && read_no_more(r, &m);
}

static bool has_stages(const json_t *top)
{
	const json_t *version = json_object_get(top, "version");
	return json_is_integer(version) &&
	       json_integer_value(version) == PLAN_PIPELINE_VERSION;
}

static plan_pipeline *read_one_stage(reader *r, json_t *top, uint64_t digest)
{
	plan *one = ARENA_NEW(r->arena, plan);
	if (!read_plan(r, one, top) || !plan_check(one, r->sink, r->path))
		return NULL;
	one->digest = digest;
	return pipeline_of_plan(r->arena, one);
}

static plan_pipeline *read_with_stages(reader *r, json_t *top, uint64_t digest)
{
	plan_pipeline *p = ARENA_NEW(r->arena, plan_pipeline);
	p->digest = digest;
	return read_pipeline(r, p, top) && pipeline_check(p, r->sink, r->path)
		       ? p
		       : NULL;
}

plan_pipeline *pipeline_parse(arena *a, diag_sink *s, const char *path,
			      const char *text, size_t len)
{
	rows all = rows_find(text, len, plan_tables, NTABLES);
	reader r = { .arena = a, .sink = s, .path = path, .rows = &all };
	json_t *top = read_top(&r);
	if (!top)
		return NULL;
	uint64_t digest = hash_bytes(HASH_SEED, text, len);
	plan_pipeline *p = has_stages(top) ? read_with_stages(&r, top, digest)
					   : read_one_stage(&r, top, digest);
	json_decref(top);
	return p;
}

plan_pipeline *pipeline_read(arena *a, diag_sink *s, const char *path)
{
	arena *tmp = arena_new();
	size_t len;
	char *text = file_read(tmp, s, path, PLAN_MOST_TEXT, &len);
	plan_pipeline *p = text ? pipeline_parse(a, s, path, text, len) : NULL;
	arena_free(tmp);
	return p;
}
