/* Placements by `capture' for a table by tensor degree: Piper's plans. */
#include "config.h"

#include "libtdl/placement_more.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "compiler/placement/piper.h"

typedef struct piper {
	const place_run *run;
	const degree_table *t;
	piper_request r;
	piper_plan best;
	double seconds; /* duration of the search */
} piper;

/* ---- reading ------------------------------------------------------------- */

static bool usage(const place_run *r, cli_status *status)
{
	static const char who[] = "a table by tensor degree";
	if (!place_takes_only(r, who, "link memory micro-batches objective",
			      status))
		return false;
	if (r->more->objective > PLACE_MAKESPAN)
		return place_refuse(r, status, "the only objective of %s is "
				    "makespan, the time per sample", who);
	return true;
}

static bool read_piper(piper *p, const json_t *table, cli_status *status)
{
	const place_run *r = p->run;
	place_options o = *r->o;
	machine_request q = { 0 };
	o.devices = o.devices ? o.devices : 1;
	if (!usage(r, status) || !place_read_machine(r->d, &o, &q, status))
		return false;
	if (q.latency > 0)
		return place_refuse(r, status, "links of a table by tensor "
				    "degree have no latency");
	p->t = degrees_read(r->d->arena, r->d->sink, r->path, table);
	if (!p->t)
		return false;
	p->r = (piper_request){
		.devices = r->o->devices ? q.ndevices : p->t->devices,
		.micro_batches = r->more->micro_batches ?
			(int)r->more->micro_batches : p->t->micro_batches,
		.memory = fmin(q.memory ? (double)q.memory : p->t->memory,
			       PLACE_MAX_BYTES / 2),
		.bandwidth = q.bandwidth > 0 ? q.bandwidth : p->t->bandwidth,
	};
	return true;
}

static cli_status say_no_room(const piper *p)
{
	const job *d = p->run->d;
	cli_failed(&d->program, "no plan fits into %s of each of %d device%s",
		   place_bytes_text(d->arena, p->r.memory), p->r.devices,
		   p->r.devices == 1 ? "" : "s");
	double enough = piper_enough_memory(p->t, &p->r);
	if (enough > 0)
		cli_failed(&d->program, "%s %.0f would do",
			   job_option(d, "memory"), enough);
	return CLI_NO_PLAN;
}

/* ---- printing ------------------------------------------------------------ */

static json_t *stage_json(const piper *p, const piper_stage *s)
{
	json_t *j = json_object(), *layers = json_array();
	for (int i = 0; i < s->n; i++) {
		const degree_layer *l = &p->t->at[s->layers[i]];
		json_t *x = json_object();
		json_object_set_new(x, "id", json_integer(strtoll(l->id, NULL,
								  10)));
		json_object_set_new(x, "way", json_string(
			l->ways[s->ways[i]].name));
		json_array_append_new(layers, x);
	}
	json_object_set_new(j, "nodes", json_integer(s->n));
	json_object_set_new(j, "replicas", json_integer(s->replicas));
	json_object_set_new(j, "tensor_degree", json_integer(s->degree));
	json_object_set_new(j, "devices",
			    json_integer(s->replicas * s->degree));
	json_object_set_new(j, "in_flight", json_integer(s->in_flight));
	json_object_set_new(j, "peak_bytes", place_bytes(s->nbytes));
	json_object_set_new(j, "seconds", json_real(s->seconds));
	json_object_set_new(j, "layers", layers);
	return j;
}

static double peak_of(const piper_plan *of)
{
	double peak = 0;
	for (int s = 0; s < of->nstages; s++)
		peak = fmax(peak, of->stages[s].nbytes);
	return peak;
}

static json_t *piper_json(const void *of)
{
	const piper *p = of;
	json_t *j = json_object(), *stages = json_array();
	json_t *peaks = json_array();
	const piper_plan *b = &p->best;
	for (int s = 0; s < b->nstages; s++) {
		const piper_stage *x = &b->stages[s];
		json_array_append_new(stages, stage_json(p, x));
		for (int d = 0; d < x->replicas * x->degree; d++)
			json_array_append_new(peaks, place_bytes(x->nbytes));
	}
	json_object_set_new(j, "graph", json_string(p->t->name));
	json_object_set_new(j, "algorithm", json_string("capture"));
	json_object_set_new(j, "objective", json_string("makespan"));
	json_object_set_new(j, "costs", json_string("piper"));
	json_object_set_new(j, "devices", json_integer(b->devices));
	json_object_set_new(j, "nstages", json_integer(b->nstages));
	json_object_set_new(j, "micro_batches",
			    json_integer(p->r.micro_batches));
	json_object_set_new(j, "peak_bytes_max", place_bytes(peak_of(b)));
	json_object_set_new(j, "bottleneck_seconds", json_real(b->seconds));
	json_object_set_new(j, "seconds_per_sample", json_real(b->seconds));
	json_object_set_new(j, "lower_bound_seconds", json_real(b->bound));
	json_object_set_new(j, "optimal", json_boolean(b->optimal &&
						       !b->fixed_order));
	json_object_set_new(j, "order", json_string(b->fixed_order ? "fixed" :
								     "any"));
	json_object_set_new(j, "peak_bytes", peaks);
	json_object_set_new(j, "stages", stages);
	json_object_set_new(j, "seconds", json_real(p->seconds));
	return j;
}

/* "vanilla: 3, activation recomp: 2": the number of layers for each way. */
static const char *ways_text(arena *a, const piper *p, const piper_stage *s)
{
	const char *text = "";
	for (int i = 0; i < s->n; i++) {
		const char *name = p->t->at[s->layers[i]].ways[s->ways[i]].name;
		int n = 0, before = 0;
		for (int k = 0; k < s->n; k++) {
			const degree_layer *l = &p->t->at[s->layers[k]];
			if (strcmp(l->ways[s->ways[k]].name, name))
				continue;
			n++;
			before += k < i;
		}
		if (before == 0)
			text = arena_printf(a, "%s%s%s: %d", text,
					    *text ? ", " : "", name, n);
	}
	return text;
}

static void piper_text(FILE *to, arena *a, const void *of)
{
	const piper *p = of;
	const piper_plan *b = &p->best;
	text_wrap(to,
		  arena_printf(
			  a,
			  "%s, capture with Piper's costs: %d layers, %d micro-"
			  "batches a batch, %d of %d devices",
			  p->t->name, p->t->n, p->r.micro_batches, b->devices,
			  p->r.devices),
		  0, 4);
	fprintf(to, "time per sample %.9g s; ", b->seconds);
	if (b->optimal)
		fprintf(to, "the least");
	else
		fprintf(to, "no plan takes less than %.9g s", b->bound);
	fprintf(to, "%s\npeak            %s\n",
		b->fixed_order ? " of splits of one order" : "",
		place_bytes_text(a, peak_of(b)));
	fprintf(to,
		"\nstage  layers  replicas  tensor  in flight      peak      "
		"time  ways\n");
	for (int s = 0; s < b->nstages; s++) {
		const piper_stage *x = &b->stages[s];
		fprintf(to, "%5d  %6d  %8d  %6d  %9d  %8s  %s  %s\n", s, x->n,
			x->replicas, x->degree, x->in_flight,
			place_bytes_text(a, x->nbytes),
			units_right(units_seconds(x->seconds), 8).text,
			ways_text(a, p, x));
	}
}

cli_status place_piper(const place_run *r, const json_t *table, place_found *to)
{
	cli_status status = CLI_OK;
	piper *p = ARENA_NEW(r->d->arena, piper);
	p->run = r;
	if (!read_piper(p, table, &status))
		return status;
	double begun = clock_seconds();
	if (!piper_best(r->d->arena, p->t, &p->r, &p->best))
		return say_no_room(p);
	p->seconds = clock_seconds() - begun;
	*to = (place_found){ .of = p, .json = piper_json, .text = piper_text };
	return CLI_OK;
}
