/* A simulated step in the format of Chrome's traces, which Perfetto reads, too.
 * Each stage is a process with a thread for each of its streams.  Instants are
 * in microseconds. */
#include "config.h"

#include "libtdl/stages_view.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

/* Some viewers ignore thread 0. */
enum { PASSES = 1, COMPUTES, COMMUNICATES, SENDS, RECEIVES, THREADS };

/* Viewers count whole nanoseconds, and drop a span that begins before the
 * preceding one has ended.  So instants are rounded, not lengths. */
static double microseconds(double seconds)
{
	return round(seconds * 1e9) / 1e3;
}

static json_t *name_json(const char *what, int nth, int thread,
			 const char *name)
{
	return json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "name", what, "ph", "M",
			 "pid", nth, "tid", thread, "args", "name", name);
}

/* A span between two instants.  Takes ownership of args. */
static json_t *span_json(const char *name, const char *kind, int nth,
			 int thread, double begin, double end, json_t *args)
{
	return json_pack("{s:s,s:s,s:s,s:i,s:i,s:f,s:f,s:o}", "name", name,
			 "cat", kind, "ph", "X", "pid", nth, "tid", thread,
			 "ts", microseconds(begin), "dur",
			 round((microseconds(end) - microseconds(begin)) *
			       1e3) / 1e3,
			 "args", args);
}

static void add_names(const stages_view *v, json_t *to, int s)
{
	static const char *const threads[] = {
		[PASSES] = "passes", [COMPUTES] = "computes",
		[COMMUNICATES] = "communicates", [SENDS] = "sends",
		[RECEIVES] = "receives",
	};
	const simulated_stage *x = &v->step->stages[s];
	const char *name = arena_printf(v->arena, "stage %d, device%s %d to %d",
					s, x->ndevices == 1 ? "" : "s",
					x->first, x->first + x->ndevices - 1);
	json_array_append_new(to, name_json("process_name", s, 0, name));
	json_array_append_new(
		to, json_pack("{s:s,s:s,s:i,s:i,s:{s:i}}", "name",
			      "process_sort_index", "ph", "M", "pid", s, "tid",
			      0, "args", "sort_index", s));
	for (int i = PASSES; i < THREADS; i++)
		json_array_append_new(to, name_json("thread_name", s, i,
						    threads[i]));
}

/* A number for JSON, where -1 becomes null. */
static json_t *number_or_null(int n)
{
	return n < 0 ? json_null() : json_integer(n);
}

static void add_tasks(const stages_view *v, json_t *to, int s)
{
	const simulated_stage *x = &v->step->stages[s];
	for (int i = 0; i < x->ntasks; i++) {
		const simulated_task *t = &x->tasks[i];
		const char *pass = stages_pass_name(&v->p->stages[s],
						    t->segment);
		const char *name = t->turn < 0 ? pass :
			arena_printf(v->arena, "%s%d", pass, t->turn);
		json_array_append_new(
			to, span_json(name, "pass", s, PASSES, t->begin_seconds,
				      t->end_seconds,
				      json_pack("{s:o}", "micro_batch",
						number_or_null(t->turn))));
	}
}

static const char *instr_name(const plan *q, const plan_instr *in)
{
	int buffer = plan_moves(in) ? in->from : in->to;
	return in->op == PLAN_RUN
		       ? q->nodes[in->node].name
		       : q->tensors[q->buffers[buffer].tensor].name;
}

static const char *instr_kind(const plan_instr *in)
{
	return plan_moves(in)	    ? collective_name(in->collective)
	       : in->op == PLAN_RUN ? "run"
	       : in->op == PLAN_FEED ? "feed"
				     : "receive";
}

static void add_units(const stages_view *v, json_t *to, int s)
{
	const plan *q = &v->p->stages[s];
	const simulated_stage *x = &v->step->stages[s];
	for (int i = 0; i < x->nunits; i++) {
		const simulated_unit *u = &x->units[i];
		const plan_instr *in = &q->program[u->instr];
		if (u->end_seconds <= u->begin_seconds)
			continue;
		json_array_append_new(
			to, span_json(instr_name(q, in), instr_kind(in), s,
				      COMPUTES + u->stream, u->begin_seconds,
				      u->end_seconds,
				      json_pack("{s:i,s:o}", "instruction",
						u->instr, "micro_batch",
						number_or_null(u->turn))));
	}
}

/* The threads for a stage's messages.  There are as many as messages in flight
 * at a time, since spans of a thread must not overlap. */
typedef struct lanes {
	VEC(double) end; /* by thread: end of the last span */
} lanes;

/* The thread for a message at one of its ends. */
static int thread_of(const stages_view *v, json_t *to, lanes *x, int end,
		     int s, const simulated_message *m)
{
	int k = 0;
	while (k < x->end.n && x->end.at[k] > m->begin_seconds)
		k++;
	int thread = SENDS + end + 2 * k;
	if (k == x->end.n) {
		vec_push(v->arena, &x->end, 0);
		if (k > 0)
			json_array_append_new(
				to, name_json("thread_name", s, thread,
					      end ? "receives" : "sends"));
	}
	x->end.at[k] = m->end_seconds;
	return thread;
}

/* Adds both ends of a message and the arrow between them.  Viewers bind an
 * arrow to the span around its instant, and the end of a span does not belong
 * to it. */
static void add_message(const stages_view *v, json_t *to, int m, lanes *rows)
{
	const simulated_message *x = &v->step->messages[m];
	const plan_channel *c = &v->p->channels[x->channel];
	const char *name = v->p->stages[c->to].tensors[c->target].name;
	const int ends[] = { c->from, c->to };
	const double instants[] = { x->begin_seconds,
				    (x->begin_seconds + x->end_seconds) / 2 };
	for (int i = 0; i < 2; i++) {
		int thread = thread_of(v, to, &rows[2 * ends[i] + i], i,
				       ends[i], x);
		json_t *args = json_pack("{s:i,s:i,s:o}", "from", c->from,
					 "to", c->to, "micro_batch",
					 number_or_null(x->turn));
		json_array_append_new(
			to, span_json(name, "message", ends[i], thread,
				      x->begin_seconds, x->end_seconds, args));
		json_array_append_new(
			to, json_pack("{s:s,s:s,s:s,s:s*,s:i,s:i,s:i,s:f}",
				      "name", name, "cat", "message", "ph",
				      i ? "f" : "s", "bp", i ? "e" : NULL,
				      "id", m, "pid", ends[i], "tid",
				      thread, "ts",
				      microseconds(instants[i])));
	}
}

static void add_memory(const stages_view *v, json_t *to, int s)
{
	for (int i = 0; i < v->nuses[s]; i++) {
		const simulated_use *x = &v->uses[s][i];
		json_array_append_new(
			to, json_pack("{s:s,s:s,s:i,s:f,s:{s:I}}", "name",
				      "memory", "ph", "C", "pid", s, "ts",
				      microseconds(x->seconds), "args",
				      "bytes", (json_int_t)x->nbytes));
	}
}

static int by_begin(const void *x, const void *y)
{
	const simulated_message *const *a = x, *const *b = y;
	if ((*a)->begin_seconds != (*b)->begin_seconds)
		return (*a)->begin_seconds < (*b)->begin_seconds ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void add_messages(const stages_view *v, json_t *to)
{
	const simulation *s = v->step;
	int n = s->nmessages;
	lanes *rows = ARENA_ARRAY(v->arena, lanes, 2 * v->p->nstages);
	const simulated_message **all =
		ARENA_ARRAY(v->arena, const simulated_message *, n);
	for (int m = 0; m < n; m++)
		all[m] = &s->messages[m];
	if (n > 0)
		qsort(all, (size_t)n, sizeof(*all), by_begin);
	for (int m = 0; m < n; m++)
		add_message(v, to, (int)(all[m] - s->messages), rows);
}

json_t *stages_trace(const stages_view *v)
{
	json_t *events = json_array();
	for (int s = 0; s < v->p->nstages; s++) {
		add_names(v, events, s);
		add_tasks(v, events, s);
		add_units(v, events, s);
		add_memory(v, events, s);
	}
	add_messages(v, events);
	return json_pack("{s:o,s:s,s:{s:s,s:s,s:f}}", "traceEvents", events,
			 "displayTimeUnit", "ms", "otherData", "model",
			 v->p->model, "machine", v->machine->name, "seconds",
			 v->step->seconds);
}
