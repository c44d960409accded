/* Prints a plan of several stages: the stages, what is sent between them, and
 * what each of them has, divides and moves. */
#include "config.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "libtdl/name_groups.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_view.h"
#include "libtdl/stages_view.h"

static plan_view stage_of(const stages_view *v, int s)
{
	const plan *q = &v->p->stages[s];
	return (plan_view){ .arena = v->arena, .p = q, .machine = v->machine,
			    .classes = layout_classes_new(v->arena,
							  &q->mesh) };
}

static int64_t most_memory(const plan_pipeline *p)
{
	int64_t most = 0;
	for (int s = 0; s < p->nstages; s++)
		if (p->stages[s].arena_bytes > most)
			most = p->stages[s].arena_bytes;
	return most;
}

/* ---- text -------------------------------------------------------------- */

static const char *bytes_text(arena *a, int64_t n)
{
	return arena_strdup(a, units_bytes((double)n).text);
}

static void print_item(FILE *to, const char *what, const char *text)
{
	enum { COLUMN = 17 };
	fprintf(to, "  %-*s", COLUMN - 2, what);
	text_wrap(to, text, COLUMN, COLUMN);
}

static void print_head(FILE *to, const stages_view *v)
{
	const plan_pipeline *p = v->p;
	int64_t sent = 0;
	for (int c = 0; c < p->nchannels; c++)
		sent += pipeline_channel_bytes(p, c);
	fprintf(to, "%s on %d devices in %d stages, planned by %s\n", p->model,
		pipeline_first(p, p->nstages), p->nstages, p->algorithm);
	print_item(to, "schedule", stages_schedule_text(v->arena, p));
	if (stages_recomputed_text(v->arena, p))
		print_item(to, "recomputed",
			   stages_recomputed_text(v->arena, p));
	print_item(to, "communication", arena_printf(
		v->arena, "%s a run, received by all devices; %s of it "
		"between stages", bytes_text(v->arena, p->communication_bytes),
		bytes_text(v->arena, sent)));
	print_item(to, "memory", arena_printf(
		v->arena, "%s at most per device",
		bytes_text(v->arena, most_memory(p))));
	print_item(to, "predicted", arena_printf(
		v->arena, "%s a run, for '%s'; idle: %.1f %% of all devices' "
		"time", units_seconds(v->step->seconds).text, v->machine->name,
		100 * v->step->bubble));
}

/* Prints one row for the tensors of repeated blocks between the same stages. */
static void print_channels(FILE *to, const stages_view *v)
{
	static const char *const heads[] = { "tensor that is sent", "times",
					     "from", "to", "in all", "" };
	enum { COLUMNS = sizeof(heads) / sizeof(*heads) };
	arena *a = v->arena;
	const plan_pipeline *p = v->p;
	const char **names = ARENA_ARRAY(a, const char *, p->nchannels + 1);
	const char **kinds = ARENA_ARRAY(a, const char *, p->nchannels + 1);
	for (int c = 0; c < p->nchannels; c++) {
		const plan_channel *ch = &p->channels[c];
		names[c] = p->stages[ch->to].tensors[ch->target].name;
		kinds[c] = arena_printf(a, "%d %d %d %" PRId64, ch->from,
					ch->to, pipeline_in_turns(p, c),
					pipeline_channel_bytes(p, c));
	}
	name_groups all = group_names(a, p->nchannels, names, kinds);
	text_table t = table_new(a, COLUMNS);
	for (int i = 0; i < COLUMNS; i++)
		table_add(&t, heads[i]);
	for (int i = 0; i < all.n; i++) {
		const name_group *g = &all.at[i];
		int c = g->members[0];
		const plan_channel *ch = &p->channels[c];
		table_add(&t, g->name);
		table_add(&t, g->n == 1 ? "" : arena_printf(a, "%d", g->n));
		table_add(&t, arena_printf(a, "%d", ch->from));
		table_add(&t, arena_printf(a, "%d", ch->to));
		table_add(&t, bytes_text(a, pipeline_channel_bytes(p, c) *
						    g->n));
		table_add(&t, pipeline_in_turns(p, c) ? "" : "once");
	}
	if (p->nchannels == 0)
		return;
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

static void print_stage(FILE *to, const stages_view *v, int s)
{
	const plan_view x = stage_of(v, s);
	const simulated_stage *of = &v->step->stages[s];
	const char *sizes = "";
	for (int i = 0; i < x.p->mesh.naxes && x.p->mesh.naxes > 1; i++)
		sizes = arena_printf(v->arena, "%s%s%d", sizes,
				     i ? " x " : " (", x.p->mesh.size[i]);
	fprintf(to, "\nstage %d: ", s);
	if (of->ndevices == 1)
		fprintf(to, "device %d\n", of->first);
	else
		fprintf(to, "devices %d to %d%s%s\n", of->first,
			of->first + of->ndevices - 1, sizes,
			*sizes ? ")" : "");
	plan_view_tables(to, &x);
}

void stages_show_text(FILE *to, const stages_view *v)
{
	print_head(to, v);
	stages_table(to, v);
	stages_chart_text(to, v);
	print_channels(to, v);
	for (int s = 0; s < v->p->nstages; s++)
		print_stage(to, v, s);
}

void stages_show_dot(FILE *to, const stages_view *v, bool unfolded)
{
	for (int s = 0; s < v->p->nstages; s++) {
		plan own = v->p->stages[s];
		own.model = arena_printf(v->arena, "%s, stage %d", v->p->model,
					 s);
		plan_view_dot(to, v->arena, &own, unfolded);
	}
}

/* ---- json -------------------------------------------------------------- */

/* [{"pass", "chunk", "instructions"}], the segments of the body. */
static json_t *segments_json(const plan_stage *s)
{
	static const char *const names[] = { "F", "B", "W" };
	json_t *all = json_array();
	for (int i = 0; i < s->nsegments; i++)
		json_array_append_new(
			all, json_pack("{s:s,s:i,s:i}", "pass",
				       names[s->segments[i].pass], "chunk",
				       s->segments[i].chunk, "instructions",
				       s->segments[i].end -
					       s->segments[i].begin));
	return all;
}

/* [{"times", "segments"}], as in the plan's file. */
static json_t *order_json(const plan_stage *s)
{
	json_t *all = json_array();
	for (int r = 0; r < s->nruns; r++) {
		json_t *tasks = json_array();
		for (int i = 0; i < s->runs[r].ntasks; i++)
			json_array_append_new(
				tasks, json_integer(s->runs[r].tasks[i]));
		json_array_append_new(all, json_pack("{s:i,s:o}", "times",
						     s->runs[r].times,
						     "segments", tasks));
	}
	return all;
}

static json_t *stage_json(const stages_view *v, int s)
{
	const plan_view x = stage_of(v, s);
	json_t *j = stages_figures_json(v, s);
	json_object_set_new(j, "segments", segments_json(x.p->stage));
	json_object_set_new(j, "order", order_json(x.p->stage));
	plan_view_set_lists(&x, j);
	return j;
}

json_t *stages_show_json(const stages_view *v)
{
	const plan_pipeline *p = v->p;
	json_t *stages = json_array();
	for (int s = 0; s < p->nstages; s++)
		json_array_append_new(stages, stage_json(v, s));
	return json_pack(
		"{s:s,s:s,s:i,s:s,s:o,s:I,s:I,s:f,s:s,s:f,s:o,s:o}", "model",
		p->model, "algorithm", p->algorithm, "devices",
		pipeline_first(p, p->nstages), "schedule", p->schedule,
		"micro_batches", plan_loop_json(&p->stages[0].loop),
		"communication_bytes", (json_int_t)p->communication_bytes,
		"peak_bytes_per_device", (json_int_t)most_memory(p),
		"predicted_seconds", v->step->seconds, "predicted_for",
		v->machine->name, "bubble", v->step->bubble, "stages", stages,
		"channels", stages_channels_json(v));
}
