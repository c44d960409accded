/* tdlc score and tdlc compare of cost graphs: a given placement, and every
 * algorithm, by the same judge. */
#include "config.h"

#include "compiler/driver/place.h"
#include "compiler/driver/plan_print.h"

#include <inttypes.h>

/* ---- score --------------------------------------------------------------- */

static void print_loads(const place_input *in, const place_report *r)
{
	printf("%s on %d device%s and processor cores, given\n",
	       in->file->name, in->m->ndevices,
	       in->m->ndevices == 1 ? "" : "s");
	printf("makespan     none: one pass is simulated on accelerators "
	       "alone\nlargest load %s\n", place_ns(r->max_load).text);
}

static int read_score(driver *d, int argc, char **argv, place_options *o,
		      const char **path, bool *json, cli_status *status)
{
	const cli_option table[] = {
		{ CLI_TEXT, 0, "placement", "FILE",
		  "the placement, as 'tdlc place -o' writes it", path },
		PLACE_OPTIONS_MACHINE(o),
		DRIVER_OPTION_JSON(json),
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
	bool json = false;
	cli_status status;
	place_input in;
	d->program.synopsis = "GRAPH|MODEL -k N --placement FILE [OPTION]...";
	d->program.about = "Say how long a placement of whole operators takes.";
	int first = read_score(d, argc, argv, &o, &path, &json,
			       &status);
	if (first < 0 ||
	    !place_read_operand(d, &o, argc - first, argv + first, &in,
				&status))
		return status;
	place_report r;
	int ncores;
	if (!place_scored(d, &in, path, &r, &ncores))
		return CLI_OK;
	place_bounds b = place_bound(in.m);
	if (json)
		status = driver_print_json(d, place_report_json(&in, &o, &r,
								&b));
	else if (ncores)
		print_loads(&in, &r);
	else
		place_report_text(d->arena, &in, &o, &r, &b);
	return status == CLI_OK ? place_check_memory(d, &in, &r) : status;
}

/* ---- compare ------------------------------------------------------------- */

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
			const place_reports *all, const place_bounds *b)
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

cli_status place_compare(driver *d, int argc, char **argv)
{
	place_options o = PLACE_OPTIONS;
	cli_words algorithms = { 0 };
	place_reports all = { 0 };
	bool json = false;
	const cli_option table[] = {
		PLACE_OPTION_ALGORITHMS(&algorithms),
		PLACE_OPTIONS_MACHINE(&o),
		DRIVER_OPTION_JSON(&json),
		PLACE_OPTIONS_SEARCH(&o),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	place_input in;
	d->program.synopsis = "GRAPH -k N [OPTION]...";
	d->program.about = "Place a cost graph with every algorithm.";
	int first = cli_parse(d->arena, &d->program, table, argc, argv,
			      &status);
	if (first < 0 ||
	    !place_read_operand(d, &o, argc - first, argv + first, &in,
				&status))
		return status;
	status = place_all(d, &in, &o, &algorithms, &all);
	if (status != CLI_OK)
		return status;
	place_bounds b = place_bound(in.m);
	if (json)
		return driver_print_json(d, place_table_json(&in, &o, &all,
							     &b));
	print_table(d->arena, &in, &o, &all, &b);
	return CLI_OK;
}
