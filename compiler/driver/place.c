/* tdlc place: whole operators of a cost graph on devices. */
#include "config.h"

#include "compiler/driver/place.h"
#include "compiler/driver/place_more.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/placement/gantt.h"

typedef struct options {
	place_options place;
	place_more more;
	const char *algorithm, *output, *gantt;
	bool json;
} options;

static const place_special *special_of(const char *name)
{
	const place_special *p = place_specials;
	while (p->name && strcmp(p->name, name))
		p++;
	return p->name ? p : NULL;
}

/* Options that only algorithms with results of their own know. */
static bool has_more(const place_more *m)
{
	return m->objective > PLACE_MAKESPAN || m->schedule ||
		m->micro_batches || m->recompute || m->frontier ||
		m->zero || m->no_recompute || m->predictor || m->uneven ||
		m->any_split || m->cores >= 0;
}

/* The reason that these options do not go together; NULL where they do. */
static const char *misfit(const driver *d, const options *o)
{
	pipeline_schedule kind;
	int chunks;
	bool prints = o->json || (o->output && !strcmp(o->output, "-"));
	if (o->gantt && !strcmp(o->gantt, "-") && prints)
		return "--gantt - cannot be with --json or -o -, which print, "
		       "too";
	if (!place_schedule(&o->more, &kind, &chunks))
		return arena_printf(d->arena, "--schedule takes one of "
				    PLACE_SCHEDULES ", not '%s'",
				    o->more.schedule);
	if (special_of(o->algorithm))
		return !o->gantt ? NULL :
			arena_printf(d->arena, "--gantt draws no schedule of "
				     "%s", o->algorithm);
	if (!place_is_algorithm(o->algorithm))
		return arena_printf(d->arena, "there is no algorithm '%s'",
				    o->algorithm);
	return !has_more(&o->more) ? NULL :
		arena_printf(d->arena, "%s minimizes the makespan, and makes "
			     "no stages", o->algorithm);
}

static int read_options(driver *d, int argc, char **argv, options *o,
			cli_status *status)
{
	const char *known = "";
	for (const place_algorithm *p = place_algorithms; p->name; p++)
		known = arena_printf(d->arena, "%s%s%s", known,
				     *known ? ", " : "", p->name);
	for (const place_special *p = place_specials; p->name; p++)
		if (!place_is_algorithm(p->name))
			known = arena_printf(d->arena, "%s, %s", known,
					     p->name);
	const char *help = arena_printf(d->arena, "place with A:\n%s", known);
	const cli_option table[] = {
		{ CLI_TEXT, 0, "algorithm", "A", help, &o->algorithm },
		PLACE_OPTIONS_MACHINE(&o->place),
		DRIVER_OPTION_JSON(&o->json),
		PLACE_OPTIONS_SEARCH(&o->place),
		PLACE_OPTIONS_MORE(&o->more),
		PLACE_OPTIONS_MODEL(&o->place),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTION_OUTPUT(&o->output),
		{ CLI_TEXT, 0, "gantt", "FILE",
		  "draw the schedule as SVG; - prints it as text", &o->gantt },
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	int first = cli_parse(d->arena, &d->program, table, argc, argv,
			      status);
	const char *why = first < 0 ? NULL : misfit(d, o);
	if (!why)
		return first;
	*status = cli_usage(&d->program, "%s", why);
	return -1;
}

/* Says what is in the way of a placement within the memory. */
static cli_status say_no_room(driver *d, const place_input *in,
			      const options *o, const place_report *r)
{
	const machine *m = in->m;
	int64_t all = 0, most = 0;
	for (int v = 0; v < m->g->nops; v++) {
		all += m->resident[v];
		most = m->resident[v] > most ? m->resident[v] : most;
	}
	fflush(stdout);
	if (r->place)
		for (int i = 0; i < m->ndevices; i++)
			if (r->peak[i] > m->limit[i]) {
				cli_failed(&d->program,
					   "%s: device %d needs %" PRId64
					   " bytes", o->algorithm, i,
					   r->peak[i]);
				break;
			}
	cli_failed(&d->program, "%s found no placement within %s%" PRId64
		   " bytes of each of %d device%s: the operators keep %" PRId64
		   " bytes in all, the largest %" PRId64, o->algorithm,
		   m->alike ? "" : "at most ", m->most_limit, m->ndevices,
		   m->ndevices == 1 ? "" : "s", all, most);
	return CLI_NO_PLAN;
}

static cli_status draw_schedule(driver *d, const place_input *in,
				const place_report *r, const char *path)
{
	judge *j = judge_new(d->arena, in->m);
	verdict v = judge_run(j, r->place, INT64_MAX);
	if (strcmp(path, "-")) {
		const char *svg = gantt_svg(d->arena, in->m, r->place, &v);
		return svg ? driver_write(d, path, svg, strlen(svg)) :
			     cli_failed(&d->program, "no memory for a chart");
	}
	fputs(gantt_text(d->arena, in->m, r->place, &v), stdout);
	return CLI_OK;
}

static cli_status run_special(driver *d, const options *o, int argc,
			      char **argv, int first)
{
	if (argc - first != 1)
		return cli_usage(&d->program, "one cost graph is expected");
	const place_special *p = special_of(o->algorithm);
	const char *why = place_misfit(d, &o->place, argv[first]);
	place_run r = { d, &o->place, &o->more, o->algorithm, argv[first],
			o->output, o->json };
	if (p->reads && place_is_model(argv[first]))
		return cli_usage(&d->program, "%s reads %s, and no models",
				 p->name, p->reads);
	return why ? cli_usage(&d->program, "%s", why) : p->run(&r);
}

cli_status command_place(driver *d, int argc, char **argv)
{
	options o = { PLACE_OPTIONS, PLACE_MORE, PLACE_BEST, NULL, NULL,
		      false };
	cli_status status;
	place_input in;
	int first = read_options(d, argc, argv, &o, &status);
	if (first >= 0 && special_of(o.algorithm))
		return run_special(d, &o, argc, argv, first);
	if (first < 0 ||
	    !place_read_operand(d, &o.place, argc - first, argv + first, &in,
				&status))
		return status;
	place_report r = place_searched(d->arena, &in, &o.place, o.algorithm);
	if (!r.place || !r.fits)
		return say_no_room(d, &in, &o, &r);
	place_bounds b = place_bound(in.m);
	if (o.output)
		status = place_write(d, in.file, r.place, in.m->ndevices,
				     o.output);
	if (status == CLI_OK && o.gantt)
		status = draw_schedule(d, &in, &r, o.gantt);
	if (status != CLI_OK || (o.output && !strcmp(o.output, "-")))
		return status;
	if (o.json)
		return driver_print_json(d, place_report_json(&in, &o.place,
							      &r, &b));
	place_report_text(stdout, d->arena, &in, &o.place, &r, &b);
	return CLI_OK;
}
