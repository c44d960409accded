/* Placements by `load': minimises the greatest load. */
#include "config.h"

#include "libtdl/placement_more.h"
#include "libtdl/placement_text.h"
#include "libtdl/plan_report.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/placement/load_search.h"
#include "compiler/placement/placement_file.h"

typedef struct load {
	const place_run *run;
	place_input in;
	load_request r;
	load_found found;
} load;

static bool usage(const place_run *r, cli_status *status)
{
	if (r->o->colocation)
		return place_refuse(r, status,
				    "load always keeps colours "
				    "together, and does not take %s",
				    job_option(r->d, "colocation"));
	if (!place_takes_only(r, "load", "objective topology link memory "
			      "factor any-split cores", status))
		return false;
	if (r->more->objective != PLACE_UNSAID &&
	    r->more->objective != PLACE_LOAD)
		return place_refuse(r, status, "the only objective of load is "
				    "load");
	return true;
}

static bool read_load(load *l, cli_status *status)
{
	const place_run *r = l->run;
	if (!usage(r, status) ||
	    !place_read(r->d, r->o, r->path, &l->in, status))
		return false;
	const cost_graph *g = l->in.file;
	if (!l->in.load->alike)
		return place_refuse(r, status, "load takes devices of one kind "
				    "only");
	if (l->in.load->nlevels > 1)
		return place_refuse(r, status,
				    "load takes links of one kind "
				    "only: use %s",
				    job_option(r->d, "link"));
	if (g->ncolours > LOAD_MAX_GROUPS) {
		diag_error_in(r->d->sink, DIAG_LOAD_TOO_LARGE, r->path,
			      "load balances at most %d groups, not %d",
			      LOAD_MAX_GROUPS, g->ncolours);
		return false;
	}
	l->r = (load_request){ g, l->in.m, .any_split = r->more->any_split };
	l->r.o = (load_options){
		.accelerators = (int)r->o->devices,
		.cores = (int)(r->more->cores >= 0 ? r->more->cores :
			       g->cores > 0 ? g->cores : 0),
		.memory_nbytes = l->in.load->most_limit,
		.transfer_ns = l->in.load->move[0],
		.nbytes = l->in.load->resident,
	};
	if (!r->o->memory && g->memory_nbytes > 0)
		l->r.o.memory_nbytes = g->memory_nbytes;
	return true;
}

static cli_status say_no_room(const load *l)
{
	load_need need = load_needs(l->in.file, &l->r.o);
	quantity q[3];
	units_bytes_apart(3, (double[]){
		(double)l->r.o.memory_nbytes, (double)need.all,
		(double)need.most,
	}, q);
	cli_failed(&l->run->d->program,
		   "load found no split within %s of each of %d accelerators: "
		   "the operators keep %s in all, those of the largest colour "
		   "%s",
		   q[0].text, l->r.o.accelerators, q[1].text, q[2].text);
	return CLI_NO_PLAN;
}

static json_t *load_json(const void *of)
{
	const load *l = of;
	const load_found *f = &l->found;
	json_t *j = json_object(), *peak = json_array(), *loads = json_array();
	const load_result *b = f->best;
	for (int d = 0; d < l->r.o.accelerators; d++)
		json_array_append_new(peak, json_integer(f->peak[d]));
	for (int d = 0; d < l->r.o.accelerators + l->r.o.cores; d++)
		json_array_append_new(loads,
				      place_seconds((double)f->loads[d]));
	json_object_set_new(j, "graph", json_string(l->in.file->name));
	json_object_set_new(j, "algorithm", json_string("load"));
	json_object_set_new(j, "objective", json_string("load"));
	json_object_set_new(j, "network",
			    json_string(place_network(l->run->o)));
	json_object_set_new(j, "devices", json_integer(l->r.o.accelerators));
	json_object_set_new(j, "cores", json_integer(l->r.o.cores));
	json_object_set_new(j, "makespan_seconds", f->makespan < 0 ?
			    json_null() : place_seconds((double)f->makespan));
	json_object_set_new(j, "max_load_seconds",
			    place_seconds((double)b->ns));
	json_object_set_new(j, "load_seconds", loads);
	json_object_set_new(j, "peak_bytes", peak);
	json_object_set_new(j, "lower_bound_seconds",
			    place_seconds((double)b->bound_ns));
	json_object_set_new(j, "optimal", json_boolean(b->optimal));
	json_object_set_new(j, "contiguous",
			    json_boolean(!l->r.any_split));
	json_object_set_new(j, "seconds", json_real(f->seconds));
	json_object_set_new(j, "placement",
			    placement_list(l->in.file, b->device));
	return j;
}

static void load_text(FILE *to, arena *a, const void *of)
{
	const load *l = of;
	const load_found *f = &l->found;
	const load_result *b = f->best;
	const char *ideals = b->nideals <= 0 ? "" :
		arena_printf(a, ", %d ideals", b->nideals);
	text_wrap(to,
		  arena_printf(a,
			       "%s on %d accelerator%s and %d core%s, load: %d "
			       "operators, "
			       "%d groups%s",
			       l->in.file->name, l->r.o.accelerators,
			       l->r.o.accelerators == 1 ? "" : "s",
			       l->r.o.cores,
			       l->r.o.cores == 1 ? "" : "s", l->in.file->nops,
			       b->ngroups, ideals),
		  0, 4);
	fprintf(to, "largest load %s; ", place_ns(b->ns).text);
	if (b->optimal && !l->r.any_split)
		fprintf(to, "the least of contiguous splits\n");
	else if (b->optimal)
		fprintf(to, "the least of all splits\n");
	else
		fprintf(to, "lower bound %s\n", place_ns(b->bound_ns).text);
	fprintf(to, "\n%6s  %15s  %12s\n", "device", "load", "memory");
	for (int d = 0; d < l->r.o.accelerators + l->r.o.cores; d++)
		fprintf(to, "%6d  %s  %12s\n", d,
			place_ns_right(f->loads[d], 15).text,
			d < l->r.o.accelerators ? plan_bytes_text(a, f->peak[d])
					      : "core");
}

cli_status place_load(const place_run *r, place_found *to)
{
	cli_status status = CLI_OK;
	load *l = ARENA_NEW(r->d->arena, load);
	l->run = r;
	if (!read_load(l, &status))
		return status;
	if (!load_search(r->d->arena, &l->r, &l->found))
		return say_no_room(l);
	*to = (place_found){ l, load_json, load_text, l->in.file,
			     l->found.best->device, (int)r->o->devices, NULL };
	return CLI_OK;
}
