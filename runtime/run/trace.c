#include "config.h"

#include "runtime/run/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

/* Threads of a worker, numbered as by `tdlc simulate --trace'. */
enum { COMPUTES = 2, COMMUNICATES, SENDS, RECEIVES, THREADS };

static json_t *name_json(const char *what, int worker, int thread,
			 const char *name)
{
	return json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "name", what, "ph", "M",
			 "pid", worker, "tid", thread, "args", "name", name);
}

static void add_names(const session *s, json_t *to, int worker)
{
	static const char *const threads[] = {
		[COMPUTES] = "computes", [COMMUNICATES] = "communicates",
		[SENDS] = "sends", [RECEIVES] = "receives",
	};
	int local, stage = pipeline_stage_of(s->pipeline, worker, &local);
	const char *name = s->pipeline->nstages == 1 ?
		arena_printf(s->a, "device %d", worker) :
		arena_printf(s->a, "device %d, of stage %d", worker, stage);
	json_array_append_new(to, name_json("process_name", worker, 0, name));
	for (int i = COMPUTES; i < THREADS; i++)
		json_array_append_new(to, name_json("thread_name", worker, i,
						    threads[i]));
}

static int thread_of(const plan_instr *in)
{
	return in->op == PLAN_SEND      ? SENDS
	       : in->op == PLAN_RECEIVE ? RECEIVES
	       : plan_moves(in)		? COMMUNICATES
					: COMPUTES;
}

/* In whole nanoseconds, as tdlc writes them. */
static double microseconds(double seconds)
{
	return round(seconds * 1e9) / 1e3;
}

static json_t *span_json(const plan *p, int worker, const exec_span *x)
{
	const plan_instr *in = &p->program[x->row];
	json_t *turn = x->turn < 0 ? json_null() : json_integer(x->turn);
	double begin = microseconds(x->begin), end = microseconds(x->end);
	return json_pack("{s:s,s:s,s:s,s:i,s:i,s:f,s:f,s:{s:i,s:o}}", "name",
			 plan_instr_name(p, in), "cat", plan_instr_kind(in),
			 "ph", "X", "pid", worker, "tid", thread_of(in), "ts",
			 begin, "dur", round((end - begin) * 1e3) / 1e3, "args",
			 "instruction", x->row, "micro_batch", turn);
}

/* Adds a worker's spans.  Returns the instant at which it ended. */
static double add_worker(session *s, executor *m, json_t *to, int worker)
{
	int n, local;
	int stage = pipeline_stage_of(s->pipeline, worker, &local);
	const exec_span *x = executor_spans(m, worker, &n);
	add_names(s, to, worker);
	for (int i = 0; i < n; i++)
		json_array_append_new(
			to, span_json(&s->pipeline->stages[stage], worker,
				      &x[i]));
	return n ? x[n - 1].end : 0;
}

bool trace_write(session *s, executor *m, const char *path)
{
	const plan_pipeline *p = s->pipeline;
	int nworkers = pipeline_first(p, p->nstages);
	json_t *events = json_array();
	double seconds = 0;
	for (int w = 0; w < nworkers; w++) {
		double end = add_worker(s, m, events, w);
		seconds = end > seconds ? end : seconds;
	}
	json_t *all = json_pack(
		"{s:o,s:s,s:{s:s,s:s,s:i,s:f}}", "traceEvents", events,
		"displayTimeUnit", "ms", "otherData", "model", p->model,
		"measured", arena_printf(s->a, "%016" PRIx64, p->digest),
		"devices", nworkers, "seconds", seconds);
	const char *text = arena_printf(s->a, "%s\n",
					json_text(s->a, all, JSON_COMPACT));
	json_decref(all);
	if (!s->leads || file_write(path, text, strlen(text)))
		return true;
	return fail_with(&s->f, CLI_MACHINE, "%s: %s", path, strerror(errno));
}
