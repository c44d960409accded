/* Placements of whole operators: tdl_placement_*() of tdl.h. */
#include "config.h"

#include <string.h>

#include "libtdl/api.h"
#include "libtdl/placement_text.h"

typedef struct placing {
	const char *path;
	const tdl_option *options;
	char *answer;
} placing;

/* The options of the three functions. */
typedef struct placing_options {
	place_options place;
	const char *placement; /* a file */
	const char *algorithm;
	cli_words algorithms;
} placing_options;

#define PLACING_OPTIONS { .place = PLACE_OPTIONS, .algorithm = PLACE_BEST }

/* Reads the options by a table, and the graph.  False after a message or with
 * errors added. */
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

static void search(api_call *c, void *arg)
{
	placing *p = arg;
	job *d = &c->job;
	placing_options o = PLACING_OPTIONS;
	place_input in;
	const cli_option table[] = {
		PLACE_OPTIONS_MACHINE(&o.place), PLACE_OPTIONS_MODEL(&o.place),
		PLACE_OPTIONS_SEARCH(&o.place),
		{ CLI_TEXT, 0, "algorithm", "A", "", &o.algorithm },
		{ CLI_END },
	};
	if (!read_input(c, p, table, &o, &in))
		return;
	if (!place_is_algorithm(o.algorithm)) {
		api_fail(c, TDL_USAGE, "there is no algorithm '%s'",
			 o.algorithm);
		return;
	}
	place_report r = place_searched(d->arena, &in, &o.place, o.algorithm);
	if (!r.place || !r.fits) {
		api_fail(c, TDL_NO_PLAN, "%s found no placement within the "
			 "memory", o.algorithm);
		return;
	}
	tell(c, p, &in, &o.place, &r);
}

char *tdl_placement_search(tdl_context *c, const char *path,
			   const tdl_option *options)
{
	placing p = { api_path(c, path), options, NULL };
	return api_ask(c, search, &p, &p.answer);
}

static void compare(api_call *c, void *arg)
{
	placing *p = arg;
	placing_options o = PLACING_OPTIONS;
	place_reports all = { 0 };
	place_input in;
	const cli_option table[] = {
		PLACE_OPTIONS_MACHINE(&o.place), PLACE_OPTIONS_MODEL(&o.place),
		PLACE_OPTIONS_SEARCH(&o.place),
		PLACE_OPTION_ALGORITHMS(&o.algorithms),
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
		PLACE_OPTIONS_MACHINE(&o.place), PLACE_OPTIONS_MODEL(&o.place),
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
	{ "tdl_placement_search", search, &(const placing){ 0 },
	  sizeof(placing) },
	{ "tdl_placement_compare", compare, &(const placing){ 0 },
	  sizeof(placing) },
	{ "tdl_placement_score", score, &(const placing){ 0 },
	  sizeof(placing) },
	{ 0 }
};
