/* The common code of `tdlc place', and of `score' and `compare' of cost
 * graphs. */
#include "config.h"

#include "compiler/driver/place.h"
#include "compiler/driver/plan_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "compiler/placement/model_costs.h"
#include "compiler/placement/placement_file.h"

const char *const place_networks[] = { "ports", "free", NULL };

const char *place_network(const place_options *o)
{
	return place_networks[o->network < 0 ? 0 : o->network];
}

/* ---- the command line ---------------------------------------------------- */

/* A positive number that ends at `end`. */
static bool real(const char *text, char end, double least, double *to,
		 const char **rest)
{
	char *stop;
	*to = strtod(text, &stop);
	*rest = *stop ? stop + 1 : stop;
	return stop != text && (*stop == end || *stop == 0) && *to >= least &&
	       *to <= 1e12;
}

/* --link GB/S[,US] as bytes/s and seconds. */
static bool read_link(driver *d, const char *text, machine_request *r)
{
	const char *rest;
	double gb, us = 0;
	bool good = real(text, ',', 1e-9, &gb, &rest);
	if (good && *rest)
		good = real(rest, 0, 0, &us, &rest);
	if (!good)
		cli_usage(&d->program, "--link is GB/S[,MICROSECONDS], not "
			  "'%s'", text);
	r->bandwidth = gb * 1e9;
	r->latency = us / 1e6;
	return good;
}

bool place_read_machine(driver *d, const place_options *o, machine_request *r,
			cli_status *status)
{
	*status = CLI_USAGE;
	r->ndevices = (int)o->devices;
	r->free_network = o->network == 1;
	r->factor = o->factor < 0 ? 4 : o->factor;
	if (o->devices == 0)
		cli_usage(&d->program, "-k N is missing");
	else if (o->link && o->topology)
		cli_usage(&d->program, "--link and --topology both say how "
			  "long a transfer takes");
	else if (o->memory && (!units_read_size(o->memory, &r->memory) ||
			       r->memory == 0))
		cli_usage(&d->program, "--memory is a number of bytes, not "
			  "'%s'", o->memory);
	else if (!o->link || read_link(d, o->link, r))
		*status = CLI_OK;
	if (*status == CLI_OK && o->topology) {
		r->topology = topology_read(d->arena, d->sink, o->topology);
		return r->topology != NULL;
	}
	return *status == CLI_OK;
}

bool place_is_model(const char *path)
{
	const char *dot = strrchr(path, '.');
	return dot && (!strcmp(dot, ".tdl") || !strcmp(dot, ".onnx"));
}

/* Whether an option about a model is given. */
static bool has_model_options(const plan_model *m)
{
	const train_request *t = &m->train;
	return m->name || m->defines.n || m->shapes.n || t->train ||
	       t->evaluate || t->loss || t->optimizer || t->precision ||
	       t->clip_norm != NO_CLIP_NORM || t->freeze.n || t->seed;
}

const char *place_misfit(const driver *d, const place_options *o,
			 const char *path)
{
	if (place_is_model(path))
		return o->factor < 0 ? NULL :
				       "--factor goes with profiles and layer "
				       "tables";
	if (d->folders.n > 0 || d->opdefs || d->load.n > 0)
		return "--include, --opdefs and --load go with a model, not "
		       "with a cost graph";
	return has_model_options(&o->model) ?
		       "options of models, for sizes and training, do not go "
		       "with a cost graph" : NULL;
}

static const cost_graph *read_model(driver *d, const place_options *o,
				    const topology *t, const char *path,
				    cli_status *status)
{
	const graph *g = plan_read_model(d, path, &o->model, status);
	return g ? cost_graph_of_model(d->arena, d->sink, g,
				       t ? t : topology_preset(0), path) :
		   NULL;
}

const cost_graph *place_read_graph(driver *d, const place_options *o,
				   const machine_request *r, const char *path,
				   cli_status *status)
{
	const char *why = place_misfit(d, o, path);
	if (why) {
		*status = cli_usage(&d->program, "%s", why);
		return NULL;
	}
	if (place_is_model(path))
		return read_model(d, o, r->topology, path, status);
	const cost_graph *g = cost_graph_read(d->arena, d->sink, path);
	if (g && o->factor >= 0 && !g->resident_is_weights) {
		*status = cli_usage(&d->program, "--factor goes with profiles "
				    "and layer tables");
		return NULL;
	}
	return g;
}

bool place_read(driver *d, const place_options *o, int argc, char **argv,
		int first, place_input *in, cli_status *status)
{
	machine_request r = { 0 };
	if (argc - first != 1) {
		*status = cli_usage(&d->program, "one cost graph is expected");
		return false;
	}
	if (!place_read_machine(d, o, &r, status))
		return false;
	in->file = place_read_graph(d, o, &r, argv[first], status);
	const cost_graph *g = in->file ? cost_graph_tie_training(d->arena,
								 d->sink,
								 in->file) :
					 NULL;
	in->m = g ? machine_new(d->arena, d->sink, g, &r) : NULL;
	in->load = in->m ? in->m->loads : NULL;
	return in->m != NULL;
}

bool place_is_meant(int argc, char **argv)
{
	bool model = false, costs = false, placement = false;
	for (int i = 1; i < argc; i++) {
		const char *dot = strrchr(argv[i], '.');
		model |= place_is_model(argv[i]);
		costs |= dot && (!strcmp(dot, ".json") || !strcmp(dot, ".txt"));
		placement |= !strncmp(argv[i], "--placement", 11);
	}
	return placement || (costs && !model);
}

/* ---- searching ----------------------------------------------------------- */

static const place_algorithm *algorithm_of(const char *name)
{
	const place_algorithm *p = place_algorithms;
	while (p->name && strcmp(p->name, name))
		p++;
	return p->name ? p : NULL;
}

bool place_is_algorithm(const char *name)
{
	return algorithm_of(name);
}

place_report place_judged(arena *a, const place_input *in, judge *j,
			  const char *algorithm, const int *place)
{
	const machine *m = in->m;
	verdict v = judge_run(j, place, INT64_MAX);
	const int64_t *load = place_loads(a, in->load, place, m->ndevices);
	place_report r = { .algorithm = algorithm, .place = place,
			   .makespan = v.makespan,
			   .peak = ARENA_COPY(a, v.peak, m->ndevices),
			   .fits = judge_fits(m, &v) };
	for (int i = 0; i < m->ndevices; i++)
		r.max_load = load[i] > r.max_load ? load[i] : r.max_load;
	return r;
}

place_report place_searched(arena *a, const place_input *in,
			    const place_options *o, const char *algorithm)
{
	double begun = clock_seconds();
	const place_task *t = place_task_new(a, in->m,
					     o->colocation || in->m->g->bound,
					     deadline_in(o->seconds));
	const int *place = algorithm_of(algorithm)->run(a, t);
	double seconds = clock_seconds() - begun;
	place_report r = { .algorithm = algorithm };
	if (place)
		r = place_judged(a, in, t->j, algorithm, place);
	r.seconds = seconds;
	return r;
}

/* ---- printing ------------------------------------------------------------ */

static json_t *instr_time(int64_t ns)
{
	return ns < 0 ? json_null() : json_real((double)ns * 1e-9);
}

json_t *place_report_json(const place_input *in, const place_options *o,
			  const place_report *r, const place_bounds *b)
{
	json_t *j = json_object(), *peak = json_array();
	for (int d = 0; d < in->m->ndevices; d++)
		json_array_append_new(peak, json_integer(r->peak[d]));
	json_object_set_new(j, "graph", json_string(in->file->name));
	json_object_set_new(j, "algorithm", json_string(r->algorithm));
	json_object_set_new(j, "objective", json_string("makespan"));
	json_object_set_new(j, "network",
			    json_string(place_network(o)));
	json_object_set_new(j, "devices", json_integer(in->m->ndevices));
	json_object_set_new(j, "makespan_seconds", instr_time(r->makespan));
	json_object_set_new(j, "max_load_seconds", instr_time(r->max_load));
	json_object_set_new(j, "peak_bytes", peak);
	json_object_set_new(j, "lower_bound_seconds", instr_time(b->greatest));
	json_object_set_new(j, "optimal",
			    json_boolean(r->fits &&
					 r->makespan == b->greatest));
	json_object_set_new(j, "seconds", json_real(r->seconds));
	json_object_set_new(j, "placement",
			    placement_list(in->file, r->place));
	return j;
}

static void print_devices(arena *a, const place_input *in,
			  const place_report *r)
{
	const machine *m = in->m;
	int *nops = ARENA_ARRAY(a, int, m->ndevices);
	int64_t *ns = ARENA_ARRAY(a, int64_t, m->ndevices);
	for (int v = 0; v < m->g->nops; v++) {
		nops[r->place[v]]++;
		ns[r->place[v]] += machine_ns(m, v, r->place[v]);
	}
	printf("\n%6s  %9s  %12s  %6s  %12s\n", "device", "operators",
	       "work", "busy", "peak");
	for (int d = 0; d < m->ndevices; d++)
		printf("%6d  %9d  %s  %4.0f %%  %12s\n", d, nops[d],
		       place_ns_right(ns[d], 12).text,
		       r->makespan ? 100.0 * (double)ns[d] /
					     (double)r->makespan : 0.0,
		       plan_bytes_text(a, r->peak[d]));
}

void place_report_text(arena *a, const place_input *in,
		       const place_options *o, const place_report *r,
		       const place_bounds *b)
{
	double gap = b->greatest > 0 ? (double)r->makespan /
					       (double)b->greatest - 1 : 0;
	printf("%s on %d device%s, %s: %d operators, %d results\n",
	       in->file->name, in->m->ndevices,
	       in->m->ndevices == 1 ? "" : "s", r->algorithm,
	       in->m->g->nops, in->m->g->nresults);
	printf("makespan     %s (network: %s)\n",
	       place_ns(r->makespan).text, place_network(o));
	fputs("lower bound  ", stdout);
	text_wrap(stdout, arena_printf(
		a, "%s (path %s, work %s, cut %s); %s",
		place_ns(b->greatest).text, place_ns(b->path).text,
		place_ns(b->work).text, place_ns(b->cut).text,
		r->makespan != b->greatest ?
		arena_printf(a, "gap %.1f %%", 100 * gap) :
		r->fits ? "the makespan is optimal" :
			  "a device is over its memory"), 13, 13);
	printf("largest load %s\n", place_ns(r->max_load).text);
	print_devices(a, in, r);
}

cli_status place_write(driver *d, const cost_graph *g, const int *place,
		       int ndevices, const char *path)
{
	json_t *j = placement_json(g, place, ndevices);
	char *text = json_dumps(j, JSON_INDENT(1));
	json_decref(j);
	if (!text)
		return cli_failed(&d->program, "no memory for a placement");
	char *line = arena_printf(d->arena, "%s\n", text);
	free(text);
	return driver_write(d, path, line, strlen(line));
}
