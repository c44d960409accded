/* tdlc score and tdlc compare of cost graphs: a given placement, and every
 * algorithm, by the same judge. */
#include "config.h"

#include "compiler/driver/place.h"
#include "compiler/driver/plan_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/placement/placement_file.h"

/* ---- score --------------------------------------------------------------- */

/* The number of processor cores of the file, devices after the others. */
static int cores_of(const place_input *in)
{
	enum { MOST = 1024 };
	for (int v = 0; v < in->file->nops; v++)
		if (in->file->ops[v].core_ns < 0)
			return 0;
	return in->file->cores < 0    ? 0 :
	       in->file->cores > MOST ? MOST :
					(int)in->file->cores;
}

/* Placements on processor cores have loads and sums of bytes, and no
 * makespan. */
static place_report score_loads(arena *a, const place_input *in,
				const int *place, int ndevices)
{
	const machine *m = in->load;
	const int64_t *load = place_loads(a, m, place, ndevices);
	place_report r = { .algorithm = "given", .place = place,
			   .makespan = -1, .fits = true,
			   .peak = ARENA_ARRAY(a, int64_t, ndevices) };
	for (int v = 0; v < m->g->nops; v++)
		r.peak[place[v]] += m->resident[v];
	for (int d = 0; d < ndevices; d++) {
		r.max_load = load[d] > r.max_load ? load[d] : r.max_load;
		r.fits &= d >= m->ndevices || r.peak[d] <= m->limit[d];
	}
	return r;
}

static void print_loads(const place_input *in, const place_report *r)
{
	printf("%s on %d device%s and processor cores, given\n",
	       in->file->name, in->m->ndevices,
	       in->m->ndevices == 1 ? "" : "s");
	printf("makespan     none: one pass is simulated on accelerators "
	       "alone\nlargest load %s\n", place_ns(r->max_load).text);
}

static int read_score(driver *d, int argc, char **argv, place_options *o,
		      const char **path, cli_status *status)
{
	const cli_option table[] = {
		{ CLI_TEXT, 0, "placement", "FILE",
		  "the placement, as 'tdlc place -o' writes it", path },
		PLACE_OPTIONS_MACHINE(o),
		PLACE_OPTIONS_MODEL(o),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	int first = cli_parse(d->arena, &d->program, table, argc, argv,
			      status);
	if (first < 0 || *path)
		return first;
	*status = cli_usage(&d->program, "--placement FILE is missing");
	return -1;
}

cli_status place_score(driver *d, int argc, char **argv)
{
	place_options o = PLACE_OPTIONS;
	const char *path = NULL;
	cli_status status;
	place_input in;
	d->program.synopsis = "GRAPH|MODEL -k N --placement FILE [OPTION]...";
	d->program.about = "Say how long a placement of whole operators takes.";
	int first = read_score(d, argc, argv, &o, &path, &status);
	if (first < 0 ||
	    !place_read(d, &o, argc, argv, first, &in, &status))
		return status;
	int n = in.m->ndevices, all = n + cores_of(&in);
	int *place = placement_read(d->arena, d->sink, path, in.file, n,
				    all - n);
	if (!place)
		return CLI_OK;
	bool cores = false;
	for (int v = 0; v < in.file->nops; v++)
		cores |= place[v] >= n;
	place_report r = cores ? score_loads(d->arena, &in, place, all) :
				 place_judged(d->arena, &in,
					      judge_new(d->arena, in.m),
					      "given", place);
	place_bounds b = place_bound(in.m);
	if (o.json)
		status = driver_print_json(d, place_report_json(&in, &o, &r,
								&b));
	else if (cores)
		print_loads(&in, &r);
	else
		place_report_text(d->arena, &in, &o, &r, &b);
	if (status != CLI_OK || r.fits)
		return status;
	for (int i = 0; i < n; i++)
		if (r.peak[i] > in.m->limit[i])
			cli_failed(&d->program, "device %d needs %" PRId64
				   " bytes, and has %" PRId64, i, r.peak[i],
				   in.m->limit[i]);
	return CLI_NO_PLAN;
}

/* ---- compare ------------------------------------------------------------- */

typedef VEC(place_report) reports;

static int64_t most_bytes(const place_input *in, const place_report *r)
{
	int64_t most = 0;
	for (int d = 0; d < in->m->ndevices; d++)
		most = r->peak[d] > most ? r->peak[d] : most;
	return most;
}

static void print_row(arena *a, const place_input *in, const place_report *r,
		      const place_bounds *b)
{
	if (!r->place) {
		printf("%-9s  found no placement within the memory\n",
		       r->algorithm);
		return;
	}
	printf("%-9s  %s  %5.1f %%  %s  %12s  %s%s\n",
	       r->algorithm, place_ns_right(r->makespan, 14).text,
	       b->greatest ? 100 * ((double)r->makespan /
					    (double)b->greatest - 1) : 0.0,
	       place_ns_right(r->max_load, 14).text,
	       plan_bytes_text(a, most_bytes(in, r)),
	       units_right(units_seconds(r->seconds), 8).text,
	       r->fits ? "" : "  over memory");
}

static void print_table(arena *a, const place_input *in, const place_options *o,
			const reports *all, const place_bounds *b)
{
	printf("%s on %d device%s (network: %s)\n\n", in->file->name,
	       in->m->ndevices, in->m->ndevices == 1 ? "" : "s",
	       place_network(o));
	printf("%-9s  %14s  %7s  %14s  %12s  %8s\n", "algorithm", "makespan",
	       "gap", "largest load", "peak", "search");
	for (int i = 0; i < all->n; i++)
		print_row(a, in, &all->at[i], b);
	printf("\nNo placement takes less than %s (path %s, work %s, cut "
	       "%s).\n", place_ns(b->greatest).text, place_ns(b->path).text,
	       place_ns(b->work).text, place_ns(b->cut).text);
}

static json_t *table_json(const place_input *in, const place_options *o,
			  const reports *all, const place_bounds *b)
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

static int read_compare(driver *d, int argc, char **argv, place_options *o,
			cli_words *algorithms, cli_status *status)
{
	const cli_option table[] = {
		{ CLI_REPEAT, 0, "algorithm", "A",
		  "compare A only; may be repeated", algorithms },
		PLACE_OPTIONS_MACHINE(o),
		PLACE_OPTIONS_SEARCH(o),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	int first = cli_parse(d->arena, &d->program, table, argc, argv,
			      status);
	for (int i = 0; i < algorithms->n && first >= 0; i++)
		if (!place_is_algorithm(algorithms->at[i])) {
			*status = cli_usage(&d->program, "there is no "
					    "algorithm '%s'",
					    algorithms->at[i]);
			return -1;
		}
	return first;
}

static bool wanted(const cli_words *algorithms, const char *name)
{
	for (int i = 0; i < algorithms->n; i++)
		if (!strcmp(algorithms->at[i], name))
			return true;
	return algorithms->n == 0;
}

cli_status place_compare(driver *d, int argc, char **argv)
{
	place_options o = PLACE_OPTIONS;
	cli_words algorithms = { 0 };
	reports all = { 0 };
	cli_status status;
	place_input in;
	d->program.synopsis = "GRAPH -k N [OPTION]...";
	d->program.about = "Place a cost graph with every algorithm.";
	int first = read_compare(d, argc, argv, &o, &algorithms, &status);
	if (first < 0 ||
	    !place_read(d, &o, argc, argv, first, &in, &status))
		return status;
	for (const place_algorithm *p = place_algorithms; p->name; p++) {
		bool takes = !p->takes || p->takes(in.m);
		if (!takes && algorithms.n > 0 && wanted(&algorithms, p->name))
			return cli_usage(&d->program, "%s does not take this "
					 "graph on this machine", p->name);
		if (takes && wanted(&algorithms, p->name))
			vec_push(d->arena, &all,
				 place_searched(d->arena, &in, &o, p->name));
	}
	place_bounds b = place_bound(in.m);
	if (o.json)
		return driver_print_json(d, table_json(&in, &o, &all, &b));
	print_table(d->arena, &in, &o, &all, &b);
	return CLI_OK;
}
