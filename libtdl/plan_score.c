#include "config.h"

#include "libtdl/plan_score.h"

#include "base/text.h"
#include "base/units.h"
#include "compiler/lower/cost.h"
#include "libtdl/plan_diff.h"
#include "libtdl/plan_report.h"

static int devices_of(const plan_score *x)
{
	return pipeline_first(x->v->p, x->v->p->nstages);
}

const plan_score *plan_score_of(job *d, const stages_view *v)
{
	arena *a = d->arena;
	const topology *t = v->machine;
	const plan *one = plan_one_device(a, pipeline_merge(a, v->p)->plan);
	plan_score *x = ARENA_NEW(a, plan_score);
	x->v = v;
	x->alone = lower_seconds(one, topology_of(a, t, 1));
	if (d->profiles.n > 0) {
		const profiles_share s = profiles_share_of(
			v->p->stages, v->p->nstages, t);
		x->by = ARENA_COPY(a, &s, 1);
	}
	return x;
}

json_t *plan_score_json(const plan_score *x)
{
	const plan_pipeline *p = x->v->p;
	double seconds = x->v->step->seconds;
	json_t *j = json_pack(
		"{s:s, s:s, s:i, s:i, s:i, s:s?, s:I, s:I, s:f, s:s, s:f}",
		"model", p->model, "algorithm", p->algorithm, "devices",
		devices_of(x), "micro_batches", plan_micro_batches(p), "stages",
		p->nstages, "schedule", p->schedule, "communication_bytes",
		(json_int_t)p->communication_bytes, "peak_bytes_per_device",
		(json_int_t)plan_most_memory(p), "predicted_seconds", seconds,
		"predicted_for", x->v->machine->name,
		"predicted_seconds_one_device", x->alone);
	json_object_set_new(j, "speedup", seconds > 0 ?
			    json_real(x->alone / seconds) : json_null());
	if (x->by)
		json_object_set_new(j, "predicted_by",
				    profiles_share_json(x->by));
	return j;
}

static void print_row(FILE *to, const char *name, const char *text)
{
	fprintf(to, "  %-13s  ", name);
	text_wrap(to, text, 17, 17);
}

void plan_score_text(FILE *to, const plan_score *x)
{
	arena *a = x->v->arena;
	const plan_pipeline *p = x->v->p;
	int n = devices_of(x);
	double seconds = x->v->step->seconds;
	fprintf(to, "%s on %d device%s, planned by %s\n", p->model, n,
		n == 1 ? "" : "s", p->algorithm);
	if (p->schedule)
		print_row(to, "schedule", stages_schedule_text(a, p));
	print_row(to, "communication", arena_printf(
		a, "%s a run, received by all devices",
		plan_bytes_text(a, p->communication_bytes)));
	print_row(to, "memory", arena_printf(
		a, "%s per device", plan_bytes_text(a, plan_most_memory(p))));
	print_row(to, "predicted", arena_printf(
		a, "%s a run, for '%s'; one device alone: %s",
		units_seconds(seconds).text, x->v->machine->name,
		units_seconds(x->alone).text));
	if (seconds > 0)
		print_row(to, "speed", arena_printf(
			a, "%.3g times one device alone, %.1f %% of %d",
			x->alone / seconds, 100 * x->alone / seconds / n, n));
	if (x->by)
		print_row(to, "of it", profiles_share_text(a, x->by));
}
