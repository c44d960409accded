#include "config.h"

#include "compiler/portfolio/stage_pins.h"

#include <fnmatch.h>
#include <string.h>

#include "base/file.h"
#include "base/spelling.h"
#include "compiler/portfolio/pin_text.h"
#include "compiler/portfolio/pipeline_buckets.h"
#include "compiler/portfolio/pipeline_judge.h"
#include "plan/pipeline.h"

/* A line: the names or the number of a stage, and what it says about them. */
typedef struct stage_pin {
	range at;
	const char *names; /* NULL: the pin is about a stage, .. */
	int of;		   /* .. this one */
	int stage, device; /* for operators; -1: not given */
	int devices, replicas; /* for a stage; 0: not given */
} stage_pin;

typedef struct reading {
	arena *arena;
	diag_sink *sink;
	const graph *g;
	int k;
	VEC(stage_pin) pins;
} reading;

static bool fail(const reading *r, range at, const char *why)
{
	diag_error(r->sink, DIAG_BAD_PIN, at, "%s", why);
	return false;
}

/* ---- text ---------------------------------------------------------------- */

/* The number after a word and blanks; -1 if the text has another form. */
static int number_after(const char *text, const char *word, int most)
{
	const char *number = pin_after_word(text, word);
	int64_t value;
	return number && cli_int(number, 0, most, &value) ? (int)value : -1;
}

/* Whether a pin, without comment and outer blanks, is about stages. */
static bool is_of_stages(const char *line)
{
	const char *words = strrchr(line, '=');
	if (!words)
		return false;
	words += 1 + strspn(words + 1, " \t");
	return pin_after_word(words, "stage") || pin_after_word(words, "on") ||
	       pin_after_word(words, "devices") ||
	       pin_after_word(words, "replicas");
}

static bool read_stage_words(const reading *r, char *words, stage_pin *p)
{
	for (char *word; (word = strsep(&words, ","));) {
		word = pin_trimmed(word);
		int n = number_after(word, "devices", MESH_MAX_WORKERS);
		int d = number_after(word, "replicas", MESH_MAX_WORKERS);
		if (n < 1 && d < 1)
			return fail(r, p->at, arena_printf(
				r->arena, "'%s' is none of devices N, "
				"replicas R, of a stage", word));
		if (n > 0)
			p->devices = n;
		else
			p->replicas = d;
	}
	return true;
}

/* Reads a line; a pin_line. */
static bool read_line(void *of, char *text, range at)
{
	reading *r = of;
	stage_pin p = { .at = at };
	char *words = strrchr(text, '=');
	if (!words || !is_of_stages(text))
		return fail(r, p.at, "pins of stages do not go with pins of "
			    "layouts");
	*words++ = '\0';
	text = pin_trimmed(text);
	words = pin_trimmed(words);
	p.stage = p.device = -1;
	p.of = number_after(text, "stage", PLAN_MAX_STAGES - 1);
	if (p.of >= 0 && !read_stage_words(r, words, &p))
		return false;
	if (p.of < 0) {
		p.names = text;
		p.stage = number_after(words, "stage", PLAN_MAX_STAGES - 1);
		p.device = number_after(words, "on", r->k - 1);
		if (p.stage < 0 && p.device < 0)
			return fail(r, p.at, arena_printf(
				r->arena, "'%s' is none of stage S, on D, with "
				"devices from 0 to %d", words, r->k - 1));
	}
	vec_push(r->arena, &r->pins, p);
	return true;
}

static bool read_text(reading *r, const char *path, const char *text,
		      size_t len)
{
	return pin_text_read(r->arena, r->sink, path, text, len, read_line, r);
}

static bool read_all(reading *r, const pin_texts *o)
{
	bool ok = true;
	if (o->file) {
		size_t len;
		const char *text = file_read(r->arena, r->sink, o->file,
					     PIN_MOST_TEXT, &len);
		ok = text && read_text(r, o->file, text, len);
	}
	for (int i = 0; i < o->pins.n; i++)
		ok &= read_text(r, diag_option(r->sink, "pin"), o->pins.at[i],
				strlen(o->pins.at[i]));
	return ok;
}

static bool has_stages(arena *a, const char *text, size_t len)
{
	char *rest = arena_strndup(a, text, len);
	for (char *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "#")] = '\0';
		if (is_of_stages(pin_trimmed(line)))
			return true;
	}
	return false;
}

bool stage_pins_are_given(arena *a, const pin_texts *o)
{
	size_t len;
	const char *text = !o->file ? NULL :
		file_read(a, diag_sink_new(a), o->file, PIN_MOST_TEXT, &len);
	bool found = text && has_stages(a, text, len);
	for (int i = 0; i < o->pins.n && !found; i++)
		found = has_stages(a, o->pins.at[i], strlen(o->pins.at[i]));
	return found;
}

/* ---- the stages ---------------------------------------------------------- */

static int count_stages(const reading *r)
{
	int most = -1;
	for (int i = 0; i < r->pins.n; i++) {
		const stage_pin *p = &r->pins.at[i];
		int s = p->names ? p->stage : p->of;
		most = s > most ? s : most;
	}
	for (int i = 0; i < r->pins.n && most < 0; i++)
		if (r->pins.at[i].device >= 0)
			most = r->k - 1; /* at most one device each */
	return most + 1;
}

/* Sets the devices of all stages: those in pins, or else as even as
 * possible. */
static bool set_devices(const reading *r, stage_pins *to)
{
	int sum = 0, said = 0;
	range at = r->pins.at[0].at;
	to->devices = ARENA_ARRAY(r->arena, int, to->nstages);
	to->replicas = ARENA_ARRAY(r->arena, int, to->nstages);
	for (int i = 0; i < r->pins.n; i++) {
		const stage_pin *p = &r->pins.at[i];
		if (p->names)
			continue;
		at = p->at;
		to->devices[p->of] = p->devices ? p->devices
						: to->devices[p->of];
		to->replicas[p->of] = p->replicas ? p->replicas
						  : to->replicas[p->of];
	}
	for (int s = 0; s < to->nstages; s++) {
		sum += to->devices[s];
		said += to->devices[s] > 0;
	}
	if (said == 0 && to->nstages <= r->k)
		to->devices = pipeline_even(r->arena, r->k, to->nstages);
	else if (said < to->nstages || sum != r->k)
		return fail(r, at, arena_printf(
			r->arena, "every stage needs a number of devices, "
			"%d in all; %d of %d stages have %d", r->k, said,
			to->nstages, sum));
	return true;
}

/* The stage meant by a pin of operators; -1 after an error. */
static int stage_of(const reading *r, const stage_pins *to, const stage_pin *p)
{
	int s = 0, first = 0;
	if (p->device < 0)
		return p->stage;
	while (first + to->devices[s] <= p->device)
		first += to->devices[s++];
	if (to->devices[s] == 1)
		return s;
	fail(r, p->at, arena_printf(
		r->arena, "device %d is one of %d of stage %d, which divide "
		"its operators", p->device, to->devices[s], s));
	return -1;
}

static bool no_name(const reading *r, const bool *is_layer,
		    const stage_pin *p)
{
	spelling s = { .given = p->names };
	for (node_id n = 0; n < r->g->nnodes; n++)
		if (is_layer[n])
			spelling_try(&s, r->g->nodes[n].name);
	return fail(r, p->at, arena_printf(
		r->arena, "no operator of the forward pass that computes with "
		"weights is called '%s'%s", p->names,
		spelling_hint(&s, r->arena)));
}

static bool set_stages(const reading *r, stage_pins *to)
{
	const graph *g = r->g;
	const bool *is_layer = stage_layers(r->arena, g);
	int last = 0;
	to->stage = ARENA_ARRAY(r->arena, int, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		to->stage[n] = NONE;
	for (int i = 0; i < r->pins.n; i++) {
		const stage_pin *p = &r->pins.at[i];
		int s = p->names ? stage_of(r, to, p) : 0, found = !p->names;
		if (s < 0)
			return false;
		for (node_id n = 0; p->names && n < g->nnodes; n++)
			if (is_layer[n] &&
			    !fnmatch(p->names, g->nodes[n].name, 0)) {
				to->stage[n] = s;
				found = 1;
			}
		if (!found)
			return no_name(r, is_layer, p);
	}
	for (node_id n = 0; n < g->nnodes; n++) {
		if (is_layer[n] && to->stage[n] == NONE)
			to->stage[n] = last;
		last = is_layer[n] ? to->stage[n] : last;
	}
	return true;
}

bool stage_pins_read(const plan_request *how, stage_pins *to)
{
	reading r = { .arena = how->arena, .sink = how->sink,
		      .g = how->graph, .k = how->k };
	*to = (stage_pins){ 0 };
	if (!read_all(&r, &how->pins))
		return false;
	to->nstages = count_stages(&r);
	return set_devices(&r, to) && set_stages(&r, to);
}

/* ---- the plan ------------------------------------------------------------ */

static int replicas_of(const pipeline_aims *aims, const stage_pins *p, int s)
{
	return p->replicas[s] ? p->replicas[s]
	       : aims->replicas ? aims->replicas
				: 1;
}

static const char *refused(const plan_request *how, const pipeline_aims *aims,
			   const stage_pins *p, const int *first)
{
	const graph_turns *t = how->graph->turns;
	for (int s = 0; s < p->nstages; s++) {
		int d = replicas_of(aims, p, s);
		if (first[s] == first[s + 1])
			return arena_printf(how->arena, "pins leave stage %d "
					    "without an operator", s);
		if (p->devices[s] % d)
			return arena_printf(how->arena, "%d replicas do not "
					    "divide the %d devices of stage "
					    "%d", d, p->devices[s], s);
		if (d > t->batch / t->turns)
			return arena_printf(
				how->arena, "stage %d has %d replicas, and a "
				"micro-batch %lld samples", s, d,
				(long long)(t->batch / t->turns));
	}
	return NULL;
}

/* The ways with the same planner in all replicas, for several devices.
 * sharded: replicas divide states. */
static pipeline_way *ways_of(const plan_request *how,
			     const pipeline_aims *aims, const stage_pins *p,
			     const pipeline_inside *in, bool sharded)
{
	pipeline_way *ways = ARENA_ARRAY(how->arena, pipeline_way,
					 p->nstages);
	for (int s = 0; s < p->nstages; s++) {
		int d = replicas_of(aims, p, s);
		bool alone = d == p->devices[s] && !aims->inside;
		const pipeline_inside *by = alone ? pipeline_any_inside : in;
		ways[s] = (pipeline_way){ p->devices[s], d, by->algorithm,
					  by->variant,
					  sharded && d > 1 };
	}
	return ways;
}

/* Whether a stage has replicas that may divide states. */
static bool may_shard(const plan_request *how, const pipeline_aims *aims,
		      const stage_pins *p)
{
	bool any = false;
	for (int s = 0; s < p->nstages; s++)
		any |= pipeline_way_shards(how->graph, replicas_of(aims, p, s));
	return any;
}

bool stage_pins_plan(const plan_request *of, const pipeline_aims *aims,
		     const stage_pins *p, pipeline_result *best)
{
	plan_request without = *of;
	const plan_request *how = &without;
	without.pins = (pin_texts){ 0 };
	const pipeline_inside given = { aims->inside, how->variant };
	int *first = ARENA_ARRAY(how->arena, int, p->nstages + 1);
	const pipeline_layers *l = pipeline_layers_of_parts(
		how->arena, how->graph, how->topology, p->nstages, p->stage,
		first);
	*best = (pipeline_result){ .refused = refused(how, aims, p, first) };
	if (best->refused)
		return true;
	const int shards = may_shard(how, aims, p) ? 2 : 1;
	for (int i = 0; i < shards * (aims->inside ? 1 : PIPELINE_INSIDES);
	     i++) {
		pipeline_result r;
		const pipeline_inside *in = aims->inside ?
			&given : &pipeline_insides[i / shards];
		const pipeline_cut cut = { p->nstages, 1, aims->kind,
					   aims->recompute, first,
					   ways_of(how, aims, p, in,
						   i % shards) };
		if (!pipeline_plan(how, l, &cut, NULL, &r))
			return false;
		if (i == 0 || pipeline_is_better(how, &r, best))
			*best = r;
	}
	pipeline_in_buckets(how, best);
	return true;
}
