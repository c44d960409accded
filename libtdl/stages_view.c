#include "config.h"

#include "libtdl/stages_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/text.h"
#include "base/units.h"
#include "libtdl/plan_report.h"
#include "libtdl/profiles.h"

/* ---- making ------------------------------------------------------------ */

/* The greatest number of devices that a machine can have. */
static int64_t devices_of(const topology *t)
{
	int64_t n = 1, kinds = 0;
	for (int i = 0; i < t->nlevels; i++)
		n = t->levels[i].size == 0 ? MESH_MAX_WORKERS
		    : saturated_mul(n, t->levels[i].size);
	for (int i = 0; i < t->nkinds; i++)
		kinds += t->kinds[i].count;
	return t->nkinds > 0 && kinds < n ? kinds : n;
}

const topology *stages_machine(job *d, const char *name, int64_t k)
{
	const topology *t = name ? topology_read(d->arena, d->sink, name)
				 : topology_preset(0);
	if (!t || k <= devices_of(t))
		return t ? profiles_machine(d, t, k) : NULL;
	diag_error_in(d->sink, DIAG_TOPOLOGY_SIZE, t->name,
		      "%d devices do not fit: it has %d", (int)k,
		      (int)devices_of(t));
	return NULL;
}

const char *stages_machine_name(const plan_prediction *p, const char *asked)
{
	if (asked)
		return asked;
	return p->topology ? p->topology : p->machine;
}

const stages_view *stages_view_of(job *d, const plan_pipeline *p,
				  const topology *machine, const char *path)
{
	arena *a = d->arena;
	const char *why = simulate_refused(a, p);
	if (why) {
		diag_error_in(d->sink, DIAG_TOO_LARGE, path, "%s", why);
		return NULL;
	}
	stages_view *v = ARENA_NEW(a, stages_view);
	*v = (stages_view){ .arena = a, .p = p, .machine = machine };
	v->step = simulate_pipeline(a, p, machine);
	v->nuses = ARENA_ARRAY(a, int, p->nstages);
	v->peak = ARENA_ARRAY(a, int64_t, p->nstages);
	v->uses = ARENA_ARRAY(a, simulated_use *, p->nstages);
	for (int s = 0; s < p->nstages; s++) {
		v->uses[s] = simulated_memory(a, p, v->step, s, &v->nuses[s]);
		for (int i = 0; i < v->nuses[s]; i++)
			if (v->uses[s][i].nbytes > v->peak[s])
				v->peak[s] = v->uses[s][i].nbytes;
	}
	return v;
}

/* ---- words ------------------------------------------------------------- */

const char *stages_pass_name(const plan *of, int segment)
{
	static const char *const names[] = { [PASS_FORWARD] = "F",
					     [PASS_BACKWARD] = "B",
					     [PASS_WEIGHT] = "W" };
	int n = of->stage ? of->stage->nsegments : of->loop.turns > 0;
	if (segment < 0 || segment >= n)
		return segment < 0 ? "before" : "after";
	return of->stage ? names[of->stage->segments[segment].pass] : "body";
}

static int node_named(const plan *of, const char *name, size_t n)
{
	for (int i = 0; i < of->nnodes; i++)
		if (!strncmp(of->nodes[i].name, name, n) &&
		    !of->nodes[i].name[n])
			return i;
	return -1;
}

/* The node of which n is a recomputation: n's name begins with its name and
 * ".again". */
int stages_computes_again(const plan *of, int n)
{
	const char *name = of->nodes[n].name, *end = NULL;
	for (const char *at = name; (at = strstr(at, ".again")); at++)
		end = at;
	int first = end ? node_named(of, name, (size_t)(end - name)) : -1;
	return first >= 0 && of->nodes[first].kernel == of->nodes[n].kernel
		       ? first : -1;
}

int stages_recomputed(const plan *of)
{
	int all = 0;
	for (int s = 0; of->stage && s < of->stage->nsegments; s++) {
		const plan_segment *x = &of->stage->segments[s];
		for (int i = x->begin; i < x->end; i++)
			all += x->pass != PASS_FORWARD &&
			       of->program[i].op == PLAN_RUN &&
			       stages_computes_again(
				       of, of->program[i].node) >= 0;
	}
	return all;
}

const char *stages_recomputed_text(arena *a, const plan_pipeline *p)
{
	int all = 0;
	for (int s = 0; s < p->nstages; s++)
		all += stages_recomputed(&p->stages[s]);
	return all == 0 ? NULL
			: arena_printf(a, "%d operator%s of the forward "
				       "passes, before the backward passes",
				       all, all == 1 ? "" : "s");
}

static int turns_of(const plan_pipeline *p)
{
	return p->stages[0].loop.turns;
}

const char *stages_schedule_text(arena *a, const plan_pipeline *p)
{
	int n = turns_of(p);
	const char *turns =
		n == 0 ? "one pass"
		       : arena_printf(a, "%d micro-batch%s, of %" PRId64
				      " samples in all", n,
				      n == 1 ? "" : "es",
				      p->stages[0].loop.batch);
	return p->schedule ? arena_printf(a, "%s, %s", p->schedule, turns)
			   : turns;
}

static const char *percent(arena *a, double part)
{
	return arena_printf(a, "%.1f %%", 100 * part);
}

static const char *devices_text(arena *a, const simulated_stage *s)
{
	int last = s->first + s->ndevices - 1;
	return s->ndevices == 1 ? arena_printf(a, "%d", s->first)
				: arena_printf(a, "%d-%d", s->first, last);
}

/* ---- text -------------------------------------------------------------- */

static void add_stage(text_table *t, const stages_view *v, int s)
{
	arena *a = v->arena;
	const plan *q = &v->p->stages[s];
	const simulated_stage *x = &v->step->stages[s];
	const double times[] = { x->computing_seconds,
				 x->communicating_seconds, x->idle_seconds };
	table_add(t, arena_printf(a, "%d", s));
	table_add(t, devices_text(a, x));
	table_add(t, arena_printf(a, "%d", q->nnodes));
	table_add(t, arena_strdup(a, units_bytes((double)q->arena_bytes).text));
	table_add(t, arena_strdup(a, units_bytes((double)v->peak[s]).text));
	for (int i = 0; i < 3; i++)
		table_add(t, arena_strdup(a, units_seconds(times[i]).text));
	table_add(t, percent(a, v->step->seconds > 0
					? x->idle_seconds / v->step->seconds
					: 0));
}

void stages_table(FILE *to, const stages_view *v)
{
	static const char *const heads[] = { "stage", "devices", "operators",
					     "arena", "in use", "computes",
					     "moves", "idle", "" };
	enum { COLUMNS = sizeof(heads) / sizeof(*heads) };
	text_table t = table_new(v->arena, COLUMNS);
	for (int i = 0; i < COLUMNS; i++)
		table_add(&t, heads[i]);
	for (int s = 0; s < v->p->nstages; s++)
		add_stage(&t, v, s);
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

static int64_t sent_bytes(const stages_view *v)
{
	int64_t n = 0;
	for (int c = 0; c < v->p->nchannels; c++)
		n += pipeline_channel_bytes(v->p, c);
	return n;
}

static profiles_share share_of(const stages_view *v)
{
	return profiles_share_of(v->p->stages, v->p->nstages, v->machine);
}

void stages_simulation_text(FILE *to, const stages_view *v)
{
	const plan_pipeline *p = v->p;
	const simulation *x = v->step;
	double longest = 0;
	for (int m = 0; m < x->nmessages; m++) {
		double s = x->messages[m].end_seconds -
			   x->messages[m].begin_seconds;
		longest = s > longest ? s : longest;
	}
	fprintf(to, "%s on %d device%s in %d stage%s, simulated for '%s'\n",
		p->model, pipeline_first(p, p->nstages),
		pipeline_first(p, p->nstages) == 1 ? "" : "s", p->nstages,
		p->nstages == 1 ? "" : "s", v->machine->name);
	fprintf(to, "  %-14s %s\n", "schedule",
		stages_schedule_text(v->arena, p));
	if (stages_recomputed_text(v->arena, p))
		fprintf(to, "  %-14s %s\n", "recomputed",
			stages_recomputed_text(v->arena, p));
	fprintf(to, "  %-14s %s\n", "step", units_seconds(x->seconds).text);
	if (v->machine->profiled) {
		const profiles_share s = share_of(v);
		fprintf(to, "  %-14s %s\n", "of it",
			profiles_share_text(v->arena, &s));
	}
	fprintf(to, "  %-14s %s of all devices' time\n", "idle",
		percent(v->arena, x->bubble));
	if (x->nmessages > 0)
		fprintf(to, "  %-14s %d between stages, %s in all; the "
			"longest takes %s\n", "messages", x->nmessages,
			arena_strdup(v->arena, units_bytes((double)
					sent_bytes(v)).text),
			units_seconds(longest).text);
	stages_table(to, v);
	stages_chart_text(to, v);
}

/* ---- json -------------------------------------------------------------- */

json_t *stages_channels_json(const stages_view *v)
{
	json_t *all = json_array();
	for (int c = 0; c < v->p->nchannels; c++) {
		const plan_channel *ch = &v->p->channels[c];
		const plan *to = &v->p->stages[ch->to];
		json_array_append_new(
			all, json_pack("{s:i,s:i,s:s,s:b,s:I}", "from",
				       ch->from, "to", ch->to, "tensor",
				       to->tensors[ch->target].name, "once",
				       !pipeline_in_turns(v->p, c), "bytes",
				       (json_int_t)pipeline_channel_bytes(
					       v->p, c)));
	}
	return all;
}

json_t *stages_figures_json(const stages_view *v, int s)
{
	const plan *q = &v->p->stages[s];
	const simulated_stage *x = &v->step->stages[s];
	return json_pack(
		"{s:i,s:i,s:o,s:I,s:I,s:I,s:f,s:f,s:f,s:f,s:f,s:i}",
		"first_device", x->first, "devices", x->ndevices, "mesh",
		plan_mesh_json(&q->mesh),
		"peak_bytes", (json_int_t)q->arena_bytes, "bytes_in_use",
		(json_int_t)v->peak[s], "communication_bytes",
		(json_int_t)q->communication_bytes, "computing_seconds",
		x->computing_seconds, "communicating_seconds",
		x->communicating_seconds, "seconds", x->busy_seconds,
		"idle_seconds", x->idle_seconds, "waiting_seconds",
		x->waiting_seconds, "recomputed", stages_recomputed(q));
}

static json_t *turn_json(int turn)
{
	return turn < 0 ? json_null() : json_integer(turn);
}

/* [[segment, turn, begin, end], ..] */
static json_t *tasks_json(const stages_view *v, int s)
{
	const simulated_stage *x = &v->step->stages[s];
	json_t *all = json_array();
	for (int i = 0; i < x->ntasks; i++) {
		const simulated_task *t = &x->tasks[i];
		json_array_append_new(
			all, json_pack("[s,o,f,f]",
				       stages_pass_name(&v->p->stages[s],
							t->segment),
				       turn_json(t->turn), t->begin_seconds,
				       t->end_seconds));
	}
	return all;
}

/* [[channel, turn, begin, end], ..]; turn is null for a message sent once. */
static json_t *messages_json(const stages_view *v)
{
	json_t *all = json_array();
	for (int i = 0; i < v->step->nmessages; i++) {
		const simulated_message *m = &v->step->messages[i];
		json_array_append_new(
			all, json_pack("[i,o,f,f]", m->channel,
				       turn_json(m->turn), m->begin_seconds,
				       m->end_seconds));
	}
	return all;
}

static json_t *memory_json(const stages_view *v, int s)
{
	json_t *all = json_array();
	for (int i = 0; i < v->nuses[s]; i++)
		json_array_append_new(
			all, json_pack("[f,I]", v->uses[s][i].seconds,
				       (json_int_t)v->uses[s][i].nbytes));
	return all;
}

json_t *stages_simulation_json(const stages_view *v)
{
	const plan_pipeline *p = v->p;
	json_t *stages = json_array();
	for (int s = 0; s < p->nstages; s++) {
		json_t *x = stages_figures_json(v, s);
		json_object_set_new(x, "passes", tasks_json(v, s));
		json_object_set_new(x, "memory", memory_json(v, s));
		json_array_append_new(stages, x);
	}
	json_t *j = json_pack(
		"{s:s,s:s,s:i,s:s,s:s?,s:o,s:f,s:f,s:o,s:o,s:o}", "model",
		p->model, "algorithm", p->algorithm, "devices",
		pipeline_first(p, p->nstages), "predicted_for",
		v->machine->name, "schedule", p->schedule, "micro_batches",
		plan_loop_json(&p->stages[0].loop), "predicted_seconds",
		v->step->seconds, "bubble", v->step->bubble, "stages", stages,
		"channels", stages_channels_json(v), "messages",
		messages_json(v));
	if (v->machine->profiled) {
		const profiles_share x = share_of(v);
		json_object_set_new(j, "predicted_by",
				    profiles_share_json(&x));
	}
	return j;
}
