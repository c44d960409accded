/* The reports of `tdlc place', and of `score' and `compare' of cost graphs. */
#include "config.h"

#include "compiler/driver/place.h"
#include "compiler/driver/plan_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/placement/placement_file.h"

bool place_read_operand(driver *d, const place_options *o, int n,
			char **operands, place_input *in,
			cli_status *status)
{
	if (n == 1)
		return place_read(d, o, operands[0], in, status);
	*status = cli_usage(&d->program, "one cost graph is expected");
	return false;
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
