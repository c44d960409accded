/* Placements of whole operators: the functions tdl_placement_*() of tdl.h. */
#include "config.h"

#include <string.h>

#include "compiler/placement/gantt.h"
#include "compiler/placement/placement_file.h"
#include "libtdl/api.h"
#include "libtdl/placement_more.h"
#include "libtdl/placement_text.h"

/* ---- searching ----------------------------------------------------------- */

struct tdl_placement {
	tdl_context *context;
	arena *arena;
	const char *algorithm, *path;
	place_found found;
};

typedef struct search {
	tdl_context *context;
	const char *path;
	const tdl_option *options;
	tdl_placement *result;
} search;

/* A copy of a request, from which a result can be printed after the call. */
static place_run *lasting(arena *a, const place_options *o,
			  const place_more *m, const char *algorithm,
			  const char *path)
{
	place_run *r = ARENA_NEW(a, place_run);
	place_more *more = ARENA_COPY(a, m, 1);
	if (m->schedule)
		more->schedule = arena_strdup(a, m->schedule);
	r->o = ARENA_COPY(a, o, 1);
	r->more = more;
	r->algorithm = arena_strdup(a, algorithm);
	r->path = arena_strdup(a, path);
	return r;
}

static void find(api_call *c, void *arg)
{
	search *s = arg;
	arena *a = c->job.arena;
	place_options o = PLACE_OPTIONS;
	place_more more = PLACE_MORE;
	const char *algorithm = PLACE_BEST;
	place_found found = { 0 };
	const char *help = arena_printf(a, "place with A:\n%s",
					place_algorithm_names(a));
	const cli_option table[] = {
		{ CLI_TEXT, 0, "algorithm", "A", help, &algorithm,
		  .choices = words_of_placers(a, true) },
		PLACE_OPTIONS_MACHINE(a, &o), PLACE_OPTIONS_SEARCH(&o),
		PLACE_OPTIONS_MORE(a, &more), PLACE_OPTIONS_MODEL(&o),
		{ CLI_END },
	};
	if (!api_options(c, table, s->options))
		return;
	place_run *r = lasting(a, &o, &more, algorithm, s->path);
	r->d = &c->job;
	api_status(c, place_find(r, &found));
	r->d = NULL;
	if (!found.of)
		return;
	s->result = ARENA_NEW(a, tdl_placement);
	*s->result = (tdl_placement){ s->context, a, r->algorithm, r->path,
				      found };
	c->keeps = true;
}

tdl_placement *tdl_placement_search(tdl_context *c, const char *path,
				    const tdl_option *options)
{
	search s = { c, api_path(c, path), options, NULL };
	return api_run(c, find, &s) == TDL_OK ? s.result : NULL;
}

void tdl_placement_free(tdl_placement *p)
{
	if (p)
		arena_free(p->arena);
}

/* ---- what was found ------------------------------------------------------ */

typedef struct question {
	const tdl_placement *of;
	const char *format;
	char *answer;
} question;

static void report(api_call *c, void *arg)
{
	question *q = arg;
	const place_found *f = &q->of->found;
	text_stream s;
	if (api_as_text(c)) {
		f->text(text_stream_open(&s), c->job.arena, f->of);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(f->json(f->of));
	}
}

char *tdl_placement_report(tdl_placement *p)
{
	question q = { .of = p };
	return api_ask(p->context, report, &q, &q.answer);
}

static void write_out(api_call *c, void *arg)
{
	question *q = arg;
	const place_found *f = &q->of->found;
	arena *a = c->job.arena;
	if (!f->g) {
		api_fail(c, TDL_USAGE, "a plan of %s places no operators, so "
			 "there is no placement to write", q->of->algorithm);
		return;
	}
	const char *parted = placement_parted(a, f->g, f->place);
	if (parted) {
		diag_error_in(c->job.sink, DIAG_PLACEMENT_INVALID, q->of->path,
			      "%s: no placement is written", parted);
		return;
	}
	json_t *j = placement_json(f->g, f->place, f->ndevices);
	const char *text = arena_printf(a, "%s\n",
					json_text(a, j, JSON_INDENT(1)));
	json_decref(j);
	q->answer = api_copy(text, strlen(text));
}

char *tdl_placement_text(tdl_placement *p)
{
	question q = { .of = p };
	return api_ask(p->context, write_out, &q, &q.answer);
}

static void draw(api_call *c, void *arg)
{
	question *q = arg;
	const place_found *f = &q->of->found;
	arena *a = c->job.arena;
	bool svg = !strcmp(q->format, "svg");
	if (!svg && strcmp(q->format, "text")) {
		api_fail(c, TDL_USAGE, "there is no format '%s'", q->format);
		return;
	}
	if (!f->m) {
		api_fail(c, TDL_USAGE, "no schedule of %s is drawn",
			 q->of->algorithm);
		return;
	}
	judge *j = judge_new(a, f->m);
	verdict v = judge_run(j, f->place, INT64_MAX);
	const char *chart = svg ? gantt_svg(a, f->m, f->place, &v) :
				  gantt_text(a, f->m, f->place, &v);
	if (chart)
		q->answer = api_copy(chart, strlen(chart));
	else
		api_fail(c, TDL_MACHINE, "no memory for a chart");
}

char *tdl_placement_chart(tdl_placement *p, const char *format)
{
	question q = { .of = p, .format = format };
	return api_ask(p->context, draw, &q, &q.answer);
}

/* ---- comparing, and judging ---------------------------------------------- */

typedef struct placing {
	const char *path;
	const tdl_option *options;
	char *answer;
} placing;

/* The options of both functions. */
typedef struct placing_options {
	place_options place;
	const char *placement; /* a file */
	cli_words algorithms;
} placing_options;

#define PLACING_OPTIONS { .place = PLACE_OPTIONS }

/* Reads options by a table, and the graph.  Returns false after a message or
 * with errors added. */
static bool read_input(api_call *c, const placing *p, const cli_option *table,
		       const placing_options *o, place_input *in)
{
	cli_status status = CLI_OK;
	if (!api_options(c, table, p->options))
		return false;
	bool made = place_read(&c->job, &o->place, p->path, in, &status);
	api_status(c, status);
	return made;
}

static void tell(api_call *c, placing *p, const place_input *in,
		 const place_options *o, const place_report *r)
{
	const place_bounds b = place_bound(in->m);
	text_stream s;
	if (api_as_text(c)) {
		place_report_text(text_stream_open(&s), c->job.arena, in, o, r,
				  &b);
		p->answer = api_printed(c, &s);
	} else {
		p->answer = api_text(place_report_json(in, o, r, &b));
	}
}

static void compare(api_call *c, void *arg)
{
	placing *p = arg;
	placing_options o = PLACING_OPTIONS;
	place_reports all = { 0 };
	place_input in;
	const cli_option table[] = {
		PLACE_OPTIONS_MACHINE(c->job.arena, &o.place),
		PLACE_OPTIONS_MODEL(&o.place),
		PLACE_OPTIONS_SEARCH(&o.place),
		PLACE_OPTION_ALGORITHMS(c->job.arena, &o.algorithms),
		{ CLI_END },
	};
	if (!read_input(c, p, table, &o, &in))
		return;
	cli_status status = place_all(&c->job, &in, &o.place, &o.algorithms,
				      &all);
	api_status(c, status);
	place_bounds b = place_bound(in.m);
	text_stream s;
	if (status != CLI_OK)
		return;
	if (api_as_text(c)) {
		place_table_text(text_stream_open(&s), c->job.arena, &in,
				 &o.place, &all, &b);
		p->answer = api_printed(c, &s);
	} else {
		p->answer = api_text(place_table_json(&in, &o.place, &all,
						      &b));
	}
}

char *tdl_placement_compare(tdl_context *c, const char *path,
			    const tdl_option *options)
{
	placing p = { api_path(c, path), options, NULL };
	return api_ask(c, compare, &p, &p.answer);
}

static void score(api_call *c, void *arg)
{
	placing *p = arg;
	placing_options o = PLACING_OPTIONS;
	place_input in;
	place_report r;
	int ncores;
	const cli_option table[] = {
		PLACE_OPTIONS_MACHINE(c->job.arena, &o.place),
		PLACE_OPTIONS_MODEL(&o.place),
		{ CLI_TEXT, 0, "placement", "FILE", "", &o.placement },
		{ CLI_END },
	};
	if (!read_input(c, p, table, &o, &in))
		return;
	if (!o.placement) {
		api_fail(c, TDL_USAGE, "%s is missing",
			 job_option_of(&c->job, "placement", "FILE"));
		return;
	}
	if (!place_scored(&c->job, &in, api_path(c->context, o.placement), &r,
			  &ncores))
		return;
	api_status(c, place_check_memory(&c->job, &in, &r));
	text_stream s;
	if (ncores && api_as_text(c)) {
		place_loads_text(text_stream_open(&s), &in, &r);
		p->answer = api_printed(c, &s);
	} else {
		tell(c, p, &in, &o.place, &r);
	}
}

char *tdl_placement_score(tdl_context *c, const char *path,
			  const tdl_option *options)
{
	placing p = { api_path(c, path), options, NULL };
	return api_ask(c, score, &p, &p.answer);
}

const api_function api_of_placements[] = {
	{ "tdl_placement_search", find, &(const search){ 0 }, sizeof(search) },
	{ "tdl_placement_compare", compare, &(const placing){ 0 },
	  sizeof(placing) },
	{ "tdl_placement_score", score, &(const placing){ 0 },
	  sizeof(placing) },
	{ 0 }
};
