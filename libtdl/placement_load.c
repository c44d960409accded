/* Placements by `load': the least of the greatest loads. */
#include "config.h"

#include "libtdl/placement_more.h"
#include "libtdl/placement_text.h"
#include "libtdl/plan_report.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "compiler/placement/load.h"
#include "compiler/placement/placement_file.h"

/* Moves that --any-split tries; about a second for each ten millions. */
enum { MOVES = 40000000 };

typedef struct load {
	const place_run *run;
	place_input in;
	load_options o;
	const load_result *best;
	int64_t *loads, *peak; /* by device */
	int64_t makespan;	/* ns; -1 if cores are used */
	double seconds;
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
	l->o = (load_options){
		.accelerators = (int)r->o->devices,
		.cores = (int)(r->more->cores >= 0 ? r->more->cores :
			       g->cores > 0 ? g->cores : 0),
		.memory_nbytes = l->in.load->most_limit,
		.transfer_ns = l->in.load->move[0],
		.nbytes = l->in.load->resident,
	};
	if (!r->o->memory && g->memory_nbytes > 0)
		l->o.memory_nbytes = g->memory_nbytes;
	return true;
}

static cli_status say_no_room(const load *l)
{
	arena *own = arena_new();
	const cost_graph *g = l->in.file;
	int64_t all = 0, most = 0;
	int64_t *of = ARENA_ARRAY(own, int64_t, g->ncolours);
	for (int v = 0; v < g->nops; v++) {
		int64_t *c = &of[g->ops[v].colour];
		*c += l->o.nbytes[v];
		all += l->o.nbytes[v];
		most = *c > most ? *c : most;
	}
	arena_free(own);
	cli_failed(&l->run->d->program,
		   "load found no split within %" PRId64 " bytes of each of %d "
		   "accelerators: the operators keep %" PRId64 " bytes in all, "
		   "those of the largest colour %" PRId64, l->o.memory_nbytes,
		   l->o.accelerators, all, most);
	return CLI_NO_PLAN;
}

static void search(load *l)
{
	arena *a = l->run->d->arena;
	double begun = clock_seconds();
	int n = l->o.accelerators + l->o.cores;
	bool cores = false;
	l->best = load_contiguous(a, l->in.file, &l->o);
	if (l->run->more->any_split)
		l->best = load_any(a, l->in.file, &l->o, l->best, MOVES);
	l->seconds = clock_seconds() - begun;
	if (!l->best)
		return;
	l->loads = load_of(a, l->in.file, &l->o, l->best->device);
	l->peak = ARENA_ARRAY(a, int64_t, n);
	for (int v = 0; v < l->in.file->nops; v++) {
		cores |= l->best->device[v] >= l->o.accelerators;
		l->peak[l->best->device[v]] += l->o.nbytes[v];
	}
	l->makespan = -1;
	if (!cores) {
		judge *j = judge_new(a, l->in.m);
		l->makespan = judge_run(j, l->best->device,
					INT64_MAX).makespan;
	}
}

static json_t *load_json(const void *of)
{
	const load *l = of;
	json_t *j = json_object(), *peak = json_array(), *loads = json_array();
	const load_result *b = l->best;
	for (int d = 0; d < l->o.accelerators; d++)
		json_array_append_new(peak, json_integer(l->peak[d]));
	for (int d = 0; d < l->o.accelerators + l->o.cores; d++)
		json_array_append_new(loads,
				      place_seconds((double)l->loads[d]));
	json_object_set_new(j, "graph", json_string(l->in.file->name));
	json_object_set_new(j, "algorithm", json_string("load"));
	json_object_set_new(j, "objective", json_string("load"));
	json_object_set_new(j, "network",
			    json_string(place_network(l->run->o)));
	json_object_set_new(j, "devices", json_integer(l->o.accelerators));
	json_object_set_new(j, "cores", json_integer(l->o.cores));
	json_object_set_new(j, "makespan_seconds", l->makespan < 0 ?
			    json_null() : place_seconds((double)l->makespan));
	json_object_set_new(j, "max_load_seconds",
			    place_seconds((double)b->ns));
	json_object_set_new(j, "load_seconds", loads);
	json_object_set_new(j, "peak_bytes", peak);
	json_object_set_new(j, "lower_bound_seconds",
			    place_seconds((double)b->bound_ns));
	json_object_set_new(j, "optimal", json_boolean(b->optimal));
	json_object_set_new(j, "contiguous",
			    json_boolean(!l->run->more->any_split));
	json_object_set_new(j, "seconds", json_real(l->seconds));
	json_object_set_new(j, "placement",
			    placement_list(l->in.file, b->device));
	return j;
}

static void load_text(FILE *to, arena *a, const void *of)
{
	const load *l = of;
	const load_result *b = l->best;
	const char *ideals = b->nideals <= 0 ? "" :
		arena_printf(a, ", %d ideals", b->nideals);
	text_wrap(to,
		  arena_printf(a,
			       "%s on %d accelerator%s and %d core%s, load: %d "
			       "operators, "
			       "%d groups%s",
			       l->in.file->name, l->o.accelerators,
			       l->o.accelerators == 1 ? "" : "s", l->o.cores,
			       l->o.cores == 1 ? "" : "s", l->in.file->nops,
			       b->ngroups, ideals),
		  0, 4);
	fprintf(to, "largest load %s; ", place_ns(b->ns).text);
	if (b->optimal && !l->run->more->any_split)
		fprintf(to, "the least of contiguous splits\n");
	else if (b->optimal)
		fprintf(to, "the least of all splits\n");
	else
		fprintf(to, "lower bound %s\n", place_ns(b->bound_ns).text);
	fprintf(to, "\n%6s  %15s  %12s\n", "device", "load", "memory");
	for (int d = 0; d < l->o.accelerators + l->o.cores; d++)
		fprintf(to, "%6d  %s  %12s\n", d,
			place_ns_right(l->loads[d], 15).text,
			d < l->o.accelerators ? plan_bytes_text(a, l->peak[d])
					      : "core");
}

cli_status place_load(const place_run *r, place_found *to)
{
	cli_status status = CLI_OK;
	load *l = ARENA_NEW(r->d->arena, load);
	l->run = r;
	if (!read_load(l, &status))
		return status;
	search(l);
	if (!l->best)
		return say_no_room(l);
	*to = (place_found){ l, load_json, load_text, l->in.file,
			     l->best->device, (int)r->o->devices, NULL };
	return CLI_OK;
}
