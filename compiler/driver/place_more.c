/* tdlc place: the common parts of algorithms that have results of their own. */
#include "config.h"

#include "compiler/driver/place_more.h"
#include "libtdl/plan_report.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/placement/placement_file.h"

const char *const place_objectives[] = { "default", "makespan", "load", "peak",
					 "cost", NULL };

/* The V of interleaved:V; 0 if it is none. */
static int chunks_of(const char *text)
{
	static const char interleaved[] = "interleaved:";
	size_t n = strlen(interleaved), digits;
	if (strncmp(text, interleaved, n))
		return 0;
	digits = strspn(text + n, "0123456789");
	if (text[n + digits] || digits == 0 || digits > 4)
		return 0;
	int v = atoi(text + n);
	return v > PLACE_MAX_CHUNKS ? 0 : v;
}

bool place_schedule(const place_more *m, pipeline_schedule *kind, int *chunks)
{
	static const pipeline_schedule plain[] = {
		SCHEDULE_1F1B, SCHEDULE_GPIPE, SCHEDULE_ZB,
	};
	*kind = SCHEDULE_1F1B;
	*chunks = 1;
	if (!m->schedule)
		return true;
	for (int i = 0; i < 3; i++)
		if (!strcmp(m->schedule, schedule_name(plain[i]))) {
			*kind = plain[i];
			return true;
		}
	*chunks = chunks_of(m->schedule);
	if (*chunks != 1)
		*kind = SCHEDULE_INTERLEAVED;
	return *chunks > 0;
}

const place_special place_specials[] = {
	{ "mcap", place_mcap, NULL },
	{ "pipedream", place_pipedream, "profiles" },
	{ "load", place_load, NULL },
	{ "capture", place_capture, "layer tables" },
	{ 0 },
};

json_t *place_seconds(double ns)
{
	return json_real(ns / 1e9);
}

json_t *place_bytes(double bytes)
{
	assert(bytes < PLACE_MAX_BYTES);
	return json_integer((json_int_t)ceil(bytes));
}

const char *place_bytes_text(arena *a, double bytes)
{
	assert(bytes < PLACE_MAX_BYTES);
	return plan_bytes_text(a, (int64_t)ceil(bytes));
}

const cost_graph *place_read_profile(const place_run *r)
{
	cost_graph *g = cost_graph_read(r->d->arena, r->d->sink, r->path);
	if (!g || g->format == COST_FORMAT_PIPEDREAM)
		return g;
	diag_error_in(r->d->sink, DIAG_STAGES_PROFILE, r->path,
		      "stages are cut from profiles (graph.txt), whose layers "
		      "have parameters and activations");
	return NULL;
}

const cost_graph *place_read_layers(const place_run *r,
				    const machine_request *q,
				    cli_status *status)
{
	const cost_graph *g = place_read_graph(r->d, r->o, q, r->path, status);
	if (!g || g->format != COST_FORMAT_DNN)
		return g;
	diag_error_in(r->d->sink, DIAG_STAGES_PROFILE, r->path,
		      "stages are cut from profiles (graph.txt) and from "
		      "models, whose layers have parameters and activations");
	return NULL;
}

cli_status place_finish(const place_run *r, const cost_graph *g,
			const int *place, json_t *json,
			void (*text)(const void *), const void *result)
{
	cli_status status = CLI_OK;
	const char *parted = r->output ?
		placement_parted(r->d->arena, g, place) : NULL;
	if (parted) {
		diag_error_in(r->d->sink, DIAG_PLACEMENT_INVALID, r->output,
			      "%s: no placement is written", parted);
		json_decref(json);
		return CLI_OK;
	}
	if (r->output)
		status = place_write(r->d, g, place, (int)r->o->devices,
				     r->output);
	if (status == CLI_OK && r->json && !(r->output &&
						!strcmp(r->output, "-")))
		return driver_print_json(r->d, json);
	json_decref(json);
	if (status == CLI_OK && !(r->output && !strcmp(r->output, "-")))
		text(result);
	return status;
}
