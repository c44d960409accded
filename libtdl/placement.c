#include "config.h"

#include "libtdl/placement.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "compiler/placement/model_costs.h"
#include "compiler/placement/placement_file.h"

const char *const place_networks[] = { "ports", "free", NULL };

const char *place_network(const place_options *o)
{
	return place_networks[o->network < 0 ? 0 : o->network];
}

/* ---- options ------------------------------------------------------------- */

/* Reads a number >= least that ends at character `end'. */
static bool real(const char *text, char end, double least, double *to,
		 const char **rest)
{
	char *stop;
	*to = strtod(text, &stop);
	*rest = *stop ? stop + 1 : stop;
	return stop != text && (*stop == end || *stop == 0) && *to >= least &&
	       *to <= 1e12;
}

/* Reads --link GB/S[,US] as bytes per second and seconds. */
static bool read_link(job *d, const char *text, machine_request *r)
{
	const char *rest;
	double gb, us = 0;
	bool good = real(text, ',', 1e-9, &gb, &rest);
	if (good && *rest)
		good = real(rest, 0, 0, &us, &rest);
	if (!good)
		cli_usage(&d->program, "%s is GB/S[,MICROSECONDS], not '%s'",
			  job_option(d, "link"), text);
	r->bandwidth = gb * 1e9;
	r->latency = us / 1e6;
	return good;
}

bool place_read_machine(job *d, const place_options *o, machine_request *r,
			cli_status *status)
{
	*status = CLI_USAGE;
	r->ndevices = (int)o->devices;
	r->free_network = o->network == 1;
	r->factor = o->factor < 0 ? 4 : o->factor;
	if (o->devices == 0)
		cli_usage(&d->program, "%s is missing",
			  job_option_of(d, "devices", "N"));
	else if (o->link && o->topology)
		cli_usage(&d->program, "%s and %s both say how long a "
			  "transfer takes", job_option(d, "link"),
			  job_option(d, "topology"));
	else if (o->memory && (!units_read_size(o->memory, &r->memory) ||
			       r->memory == 0))
		cli_usage(&d->program, "%s is a number of bytes, not '%s'",
			  job_option(d, "memory"), o->memory);
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
	       t->clip_norm != NO_CLIP_NORM || t->freeze.n || t->only.n ||
	       t->seed;
}

static const char *of_factor(const job *d)
{
	return arena_printf(d->arena, "%s goes with profiles and layer tables",
			    job_option(d, "factor"));
}

const char *place_misfit(const job *d, const place_options *o,
			 const char *path)
{
	if (place_is_model(path))
		return o->factor < 0 ? NULL : of_factor(d);
	return has_model_options(&o->model) ?
		       "options of models, for sizes and training, do not go "
		       "with a cost graph" : NULL;
}

static const cost_graph *read_model(job *d, const place_options *o,
				    const topology *t, const char *path,
				    cli_status *status)
{
	const graph *g = plan_read_model(d, path, &o->model, status);
	return g ? cost_graph_of_model(d->arena, d->sink, g,
				       t ? t : topology_preset(0), path) :
		   NULL;
}

const cost_graph *place_read_graph(job *d, const place_options *o,
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
		*status = cli_usage(&d->program, "%s", of_factor(d));
		return NULL;
	}
	return g;
}

bool place_read(job *d, const place_options *o, const char *path,
		place_input *in, cli_status *status)
{
	machine_request r = { 0 };
	if (!place_read_machine(d, o, &r, status))
		return false;
	in->file = place_read_graph(d, o, &r, path, status);
	return in->file && placed_input(d->arena, d->sink, in->file, &r, in);
}

/* ---- a given placement --------------------------------------------------- */

bool place_scored(job *d, const place_input *in, const char *path,
		  place_report *r, int *ncores)
{
	*ncores = placed_cores(in);
	int *place = placement_read(d->arena, d->sink, path, in->file,
				    in->m->ndevices, *ncores);
	if (place)
		*r = placed_given(d->arena, in, place, ncores);
	return place != NULL;
}

cli_status place_check_memory(job *d, const place_input *in,
			      const place_report *r)
{
	if (r->fits)
		return CLI_OK;
	for (int i = 0; i < in->m->ndevices; i++)
		if (r->peak[i] > in->m->limit[i]) {
			quantity q[2];
			units_bytes_apart(2, (double[]){
				(double)r->peak[i], (double)in->m->limit[i],
			}, q);
			cli_failed(&d->program, "device %d needs %s, and has "
				   "%s", i, q[0].text, q[1].text);
		}
	return CLI_NO_PLAN;
}

/* ---- every algorithm ----------------------------------------------------- */

static bool wanted(const cli_words *algorithms, const char *name)
{
	for (int i = 0; i < algorithms->n; i++)
		if (!strcmp(algorithms->at[i], name))
			return true;
	return algorithms->n == 0;
}

cli_status place_all(job *d, const place_input *in, const place_options *o,
		     const cli_words *algorithms, place_reports *all)
{
	for (int i = 0; i < algorithms->n; i++)
		if (!placed_algorithm(algorithms->at[i]))
			return cli_usage(&d->program, "there is no algorithm "
					 "'%s'", algorithms->at[i]);
	for (const place_algorithm *p = place_algorithms; p->name; p++) {
		bool takes = !p->takes || p->takes(in->m);
		if (!takes && algorithms->n > 0 && wanted(algorithms, p->name))
			return cli_usage(&d->program, "%s does not take this "
					 "graph on this machine", p->name);
		if (takes && wanted(algorithms, p->name))
			vec_push(d->arena, all,
				 placed_by(d->arena, in, p,
					   o->colocation, o->seconds));
	}
	return CLI_OK;
}

/* ---- JSON ---------------------------------------------------------------- */

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

json_t *place_table_json(const place_input *in, const place_options *o,
			 const place_reports *all, const place_bounds *b)
{
	json_t *j = json_object(), *list = json_array();
	json_object_set_new(j, "graph", json_string(in->file->name));
	json_object_set_new(j, "devices", json_integer(in->m->ndevices));
	json_object_set_new(j, "network",
			    json_string(place_network(o)));
	json_object_set_new(j, "lower_bound_seconds",
			    json_real((double)b->greatest * 1e-9));
	for (int i = 0; i < all->n; i++) {
		const place_report *r = &all->at[i];
		json_t *row = json_object();
		if (r->place)
			json_object_update_new(row,
					       place_report_json(in, o, r, b));
		else
			json_object_set_new(row, "algorithm",
					    json_string(r->algorithm));
		json_object_set_new(row, "fits", json_boolean(r->fits));
		json_array_append_new(list, row);
	}
	json_object_set_new(j, "algorithms", list);
	return j;
}
