/* The algorithms of a search for a placement, those of the table and those with
 * their own results, and common functions. */
#include "config.h"

#include "libtdl/placement_more.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "libtdl/placement_text.h"
#include "libtdl/plan_report.h"

const char *const place_objectives[] = { "default", "makespan", "load", "peak",
					 "cost", NULL };

/* ---- options ------------------------------------------------------------- */

/* The V of interleaved:V; 0 if the text has another form. */
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

bool place_schedule(const char *text, pipeline_schedule *kind, int *chunks)
{
	static const pipeline_schedule plain[] = {
		SCHEDULE_1F1B, SCHEDULE_GPIPE, SCHEDULE_ZB,
	};
	*kind = SCHEDULE_1F1B;
	*chunks = 1;
	if (!text)
		return true;
	for (int i = 0; i < 3; i++)
		if (!strcmp(text, schedule_name(plain[i]))) {
			*kind = plain[i];
			return true;
		}
	*chunks = chunks_of(text);
	if (*chunks != 1)
		*kind = SCHEDULE_INTERLEAVED;
	return *chunks > 0;
}

bool place_refuse(const place_run *r, cli_status *status, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	*status = cli_usage(&r->d->program, "%s",
			    arena_vprintf(r->d->arena, fmt, ap));
	va_end(ap);
	return false;
}

/* Whether a word occurs in a text of words separated by blanks. */
static bool is_among(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += n)
		if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

bool place_takes_only(const place_run *r, const char *who, const char *names,
		      cli_status *status)
{
	const place_options *o = r->o;
	const place_more *m = r->more;
	const struct {
		const char *name;
		bool given;
	} all[] = {
		{ "network", o->network >= 0 },
		{ "topology", o->topology },
		{ "link", o->link },
		{ "memory", o->memory },
		{ "factor", o->factor >= 0 },
		{ "colocation", o->colocation },
		{ "time-limit", o->seconds > 0 },
		{ "objective", m->objective != PLACE_UNSAID },
		{ "schedule", m->schedule },
		{ "micro-batches", m->micro_batches },
		{ "recompute", m->recompute },
		{ "no-recompute", m->no_recompute },
		{ "zero", m->zero },
		{ "uneven", m->uneven },
		{ "frontier", m->frontier },
		{ "predictor", m->predictor },
		{ "any-split", m->any_split },
		{ "cores", m->cores >= 0 },
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].given && !is_among(names, all[i].name))
			return place_refuse(r, status, "%s does not take %s",
					    who, job_option(r->d, all[i].name));
	return true;
}

/* ---- shared -------------------------------------------------------------- */

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

/* ---- algorithms of the table --------------------------------------------- */

/* A placement with its makespan. */
typedef struct plain {
	place_input in;
	const place_options *o;
	place_report r;
	place_bounds b;
} plain;

static json_t *plain_json(const void *of)
{
	const plain *p = of;
	return place_report_json(&p->in, p->o, &p->r, &p->b);
}

static void plain_text(FILE *to, arena *a, const void *of)
{
	const plain *p = of;
	place_report_text(to, a, &p->in, p->o, &p->r, &p->b);
}

/* The first device whose memory a placement exceeds; -1 if there is none. */
static int exceeding_device(const plain *p)
{
	for (int i = 0; p->r.place && i < p->in.m->ndevices; i++)
		if (p->r.peak[i] > p->in.m->limit[i])
			return i;
	return -1;
}

/* Reports why there is no placement within the memory. */
static cli_status say_no_room(const place_run *run, const plain *p)
{
	const machine *m = p->in.m;
	place_need need = placed_needs(m);
	int at = exceeding_device(p);
	quantity q[4];
	units_bytes_apart(4, (double[]){
		(double)m->most_limit, (double)need.all, (double)need.most,
		(double)(at < 0 ? m->most_limit : p->r.peak[at]),
	}, q);
	if (at >= 0)
		cli_failed(&run->d->program, "%s: device %d needs %s",
			   run->algorithm, at, q[3].text);
	cli_failed(&run->d->program, "%s found no placement within %s%s of "
		   "each of %d device%s: the operators keep %s in all, the "
		   "largest %s", run->algorithm, m->alike ? "" : "at most ",
		   q[0].text, m->ndevices, m->ndevices == 1 ? "" : "s",
		   q[1].text, q[2].text);
	return CLI_NO_PLAN;
}

static cli_status place_whole(const place_run *r, const place_algorithm *by,
			      place_found *to)
{
	arena *a = r->d->arena;
	plain *p = ARENA_NEW(a, plain);
	cli_status status = CLI_OK;
	if (!place_takes_only(r, r->algorithm, "network topology link memory "
			      "factor colocation time-limit objective",
			      &status))
		return status;
	if (r->more->objective > PLACE_MAKESPAN) {
		place_refuse(r, &status, "the only objective of %s is makespan",
			     r->algorithm);
		return status;
	}
	p->o = r->o;
	if (!place_read(r->d, r->o, r->path, &p->in, &status))
		return status;
	p->r = placed_by(a, &p->in, by, r->o->colocation, r->o->seconds);
	if (!p->r.place || !p->r.fits)
		return say_no_room(r, p);
	p->b = place_bound(p->in.m);
	*to = (place_found){ p, plain_json, plain_text, p->in.file, p->r.place,
			     p->in.m->ndevices, p->in.m };
	return status;
}

/* ---- all ----------------------------------------------------------------- */

typedef struct special {
	const char *name;
	cli_status (*find)(const place_run *r, place_found *to);
	const char *reads; /* the input it reads if it takes no models */
} special;

static const special specials[] = {
	{ "mcap", place_mcap, NULL },
	{ "pipedream", place_pipedream, "profiles" },
	{ "load", place_load, NULL },
	{ "capture", place_capture, "layer tables" },
	{ 0 },
};

const char *place_more_name(int i)
{
	const special *p = specials;
	for (; p->name; p++)
		if (!placed_algorithm(p->name) && i-- == 0)
			break;
	return p->name;
}

const char *place_algorithm_names(arena *a)
{
	const char *all = "";
	for (const place_algorithm *p = place_algorithms; p->name; p++)
		all = arena_printf(a, "%s%s%s", all, *all ? ", " : "", p->name);
	for (int i = 0; place_more_name(i); i++)
		all = arena_printf(a, "%s, %s", all, place_more_name(i));
	return all;
}

static cli_status find_special(const special *s, const place_run *r,
			       place_found *to)
{
	cli_status status = CLI_OK;
	const char *why = NULL;
	if (s->reads && place_is_model(r->path))
		why = arena_printf(r->d->arena, "%s reads %s, and no models",
				   s->name, s->reads);
	if (!why)
		why = place_misfit(r->d, r->o, r->path);
	if (!why)
		return s->find(r, to);
	place_refuse(r, &status, "%s", why);
	return status;
}

cli_status place_find(const place_run *r, place_found *to)
{
	pipeline_schedule kind;
	cli_status status = CLI_OK;
	int chunks;
	const special *s = specials;
	const place_algorithm *by = placed_algorithm(r->algorithm);
	while (s->name && strcmp(s->name, r->algorithm))
		s++;
	if (!place_schedule(r->more->schedule, &kind, &chunks))
		place_refuse(r, &status,
			     "%s takes one of 1f1b, gpipe, zb, "
			     "interleaved:V with V from 1 to %d, not '%s'",
			     job_option(r->d, "schedule"), PLACE_MAX_CHUNKS,
			     r->more->schedule);
	else if (s->name)
		return find_special(s, r, to);
	else if (by)
		return place_whole(r, by, to);
	else
		place_refuse(r, &status, "there is no algorithm '%s'",
			     r->algorithm);
	return status;
}
