/* Placements as text: a given one, a found one, and those of all algorithms. */
#include "config.h"

#include "libtdl/placement_text.h"

#include "base/text.h"
#include "libtdl/plan_report.h"

/* ---- one ----------------------------------------------------------------- */

static void print_devices(FILE *to, arena *a, const place_input *in,
			  const place_report *r)
{
	const machine *m = in->m;
	int *nops = ARENA_ARRAY(a, int, m->ndevices);
	int64_t *ns = ARENA_ARRAY(a, int64_t, m->ndevices);
	for (int v = 0; v < m->g->nops; v++) {
		nops[r->place[v]]++;
		ns[r->place[v]] += machine_ns(m, v, r->place[v]);
	}
	fprintf(to, "\n%6s  %9s  %12s  %6s  %12s\n", "device", "operators",
	       "work", "busy", "peak");
	for (int d = 0; d < m->ndevices; d++)
		fprintf(to, "%6d  %9d  %s  %4.0f %%  %12s\n", d, nops[d],
		       place_ns_right(ns[d], 12).text,
		       r->makespan ? 100.0 * (double)ns[d] /
					     (double)r->makespan : 0.0,
		       plan_bytes_text(a, r->peak[d]));
}

void place_report_text(FILE *to, arena *a, const place_input *in,
		       const place_options *o, const place_report *r,
		       const place_bounds *b)
{
	double gap = b->greatest > 0 ? (double)r->makespan /
					       (double)b->greatest - 1 : 0;
	fprintf(to, "%s on %d device%s, %s: %d operators, %d results\n",
	       in->file->name, in->m->ndevices,
	       in->m->ndevices == 1 ? "" : "s", r->algorithm,
	       in->m->g->nops, in->m->g->nresults);
	fprintf(to, "makespan     %s (network: %s)\n",
	       place_ns(r->makespan).text, place_network(o));
	fputs("lower bound  ", to);
	text_wrap(to, arena_printf(
		a, "%s (path %s, work %s, cut %s); %s",
		place_ns(b->greatest).text, place_ns(b->path).text,
		place_ns(b->work).text, place_ns(b->cut).text,
		r->makespan != b->greatest ?
		arena_printf(a, "gap %.1f %%", 100 * gap) :
		r->fits ? "the makespan is optimal" :
			  "a device is over its memory"), 13, 13);
	fprintf(to, "largest load %s\n", place_ns(r->max_load).text);
	print_devices(to, a, in, r);
}

void place_loads_text(FILE *to, const place_input *in, const place_report *r)
{
	fprintf(to, "%s on %d device%s and processor cores, given\n",
	       in->file->name, in->m->ndevices,
	       in->m->ndevices == 1 ? "" : "s");
	fprintf(to, "makespan     none: one pass is simulated on accelerators "
	       "alone\nlargest load %s\n", place_ns(r->max_load).text);
}

/* ---- all ------------------------------------------------------------- */

static int64_t most_bytes(const place_input *in, const place_report *r)
{
	int64_t most = 0;
	for (int d = 0; d < in->m->ndevices; d++)
		most = r->peak[d] > most ? r->peak[d] : most;
	return most;
}

static void print_row(FILE *to, arena *a, const place_input *in,
		      const place_report *r, const place_bounds *b)
{
	if (!r->place) {
		fprintf(to, "%-9s  found no placement within the memory\n",
		       r->algorithm);
		return;
	}
	fprintf(to, "%-9s  %s  %5.1f %%  %s  %12s  %s%s\n",
	       r->algorithm, place_ns_right(r->makespan, 14).text,
	       b->greatest ? 100 * ((double)r->makespan /
					    (double)b->greatest - 1) : 0.0,
	       place_ns_right(r->max_load, 14).text,
	       plan_bytes_text(a, most_bytes(in, r)),
	       units_right(units_seconds(r->seconds), 8).text,
	       r->fits ? "" : "  over memory");
}

void place_table_text(FILE *to, arena *a, const place_input *in,
		      const place_options *o, const place_reports *all,
		      const place_bounds *b)
{
	fprintf(to, "%s on %d device%s (network: %s)\n\n", in->file->name,
	       in->m->ndevices, in->m->ndevices == 1 ? "" : "s",
	       place_network(o));
	fprintf(to, "%-9s  %14s  %7s  %14s  %12s  %8s\n", "algorithm",
		"makespan", "gap", "largest load", "peak", "search");
	for (int i = 0; i < all->n; i++)
		print_row(to, a, in, &all->at[i], b);
	fprintf(to, "\nNo placement takes less than %s (path %s, work %s, cut "
	       "%s).\n", place_ns(b->greatest).text, place_ns(b->path).text,
	       place_ns(b->work).text, place_ns(b->cut).text);
}
