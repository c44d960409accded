#include "config.h"

#include "libtdl/measured_trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/json_reader.h"

enum { MOST_BYTES = 1 << 30 }; /* of a file */

bool measured_trace_fits(arena *a, diag_sink *s, const char *path,
			 const plan_pipeline *p, const json_t *about)
{
	const char *model = json_string_value(json_object_get(about, "model"));
	const json_t *devices = json_object_get(about, "devices");
	int n = pipeline_first(p, p->nstages);
	const json_reader r = { a, s, DIAG_REPORT_INVALID, path, "" };
	if (!model || strcmp(model, p->model))
		return json_reader_wrong(
			&r, arena_printf(a, "this is about %s%.100s%s, the "
					 "plan is of '%.100s'",
					 model ? "'" : "no model",
					 model ? model : "", model ? "'" : "",
					 p->model));
	if (json_integer_value(devices) != n)
		return json_reader_wrong(
			&r, arena_printf(a, "this is for %" PRId64
					 " devices, the plan for %d",
					 (int64_t)json_integer_value(devices),
					 n));
	return true;
}

static bool is_time(const json_t *v)
{
	double t = json_number_value(v);
	return json_is_number(v) && t >= 0 && t <= 1e15;
}

/* Reads the turn from an event's arguments; outside the body it is absent or
 * null. */
static bool read_turn(const json_reader *r, const plan *p, const json_t *args,
		      int *turn)
{
	const json_t *v = json_object_get(args, "micro_batch");
	*turn = -1;
	if (!v || json_is_null(v))
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    json_integer_value(v) >= p->loop.turns)
		return json_reader_wrong(r, "an event's 'micro_batch' is none "
					    "of the plan");
	*turn = (int)json_integer_value(v);
	return true;
}

/* Adds an event of an instruction.  Devices are numbered over all stages. */
static bool add_span(const json_reader *r, const plan_pipeline *p,
		     const json_t *e, measured_trace *to)
{
	const json_t *device = json_object_get(e, "pid");
	const json_t *args = json_object_get(e, "args");
	const json_t *row = json_object_get(args, "instruction");
	const json_t *begin = json_object_get(e, "ts");
	const json_t *length = json_object_get(e, "dur");
	json_int_t at = json_integer_value(device);
	int n = pipeline_first(p, p->nstages), local, turn;
	if (!json_is_integer(device) || at < 0 || at >= n)
		return json_reader_wrong(r, "an event's 'pid' is no device of "
					    "the plan");
	int stage = pipeline_stage_of(p, (int)at, &local);
	json_int_t instr = json_integer_value(row);
	if (!json_is_integer(row) || instr < 0 ||
	    instr >= p->stages[stage].ninstrs)
		return json_reader_wrong(r, "an event's 'instruction' is none "
					    "of the plan");
	if (!is_time(begin) || !is_time(length))
		return json_reader_wrong(r, "'ts' or 'dur' of an event is no "
					    "time");
	if (!read_turn(r, &p->stages[stage], args, &turn))
		return false;
	measured_spans *s = &to->stages[stage];
	if (s->all.n > 0 && s->all.at[s->all.n - 1].device > (int)at)
		return json_reader_wrong(r, "the devices are not in their "
					    "order");
	const measured_span x = { (int)at, (int)instr, turn,
				  json_number_value(begin) / 1e6,
				  json_number_value(length) / 1e6 };
	vec_push(r->a, &s->all, x);
	return true;
}

static bool read_events(const json_reader *r, const plan_pipeline *p,
			const json_t *events, measured_trace *to)
{
	if (!json_is_array(events))
		return json_reader_wrong(r, "there is no list 'traceEvents'");
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *e = json_array_get(events, i);
		const json_t *phase = json_object_get(e, "ph");
		const json_reader in = json_reader_inside(r, "traceEvents", i);
		if (!json_is_object(e) || !json_is_string(phase))
			return json_reader_wrong(&in, "this is no event");
		if (!strcmp(json_string_value(phase), "X") &&
		    !add_span(&in, p, e, to))
			return false;
	}
	return true;
}

/* Reads a trace and checks that it belongs to the plan, as `tdlrun' read it. */
static bool read_trace(const json_reader *r, const plan_pipeline *p,
		       const json_t *j, measured_trace *to)
{
	const json_t *about = json_object_get(j, "otherData");
	const json_reader in = json_reader_member(r, "otherData");
	const char *of = json_string_value(json_object_get(about, "measured"));
	const json_t *seconds = json_object_get(about, "seconds");
	if (!json_is_object(j))
		return json_reader_wrong(r, "an object is expected");
	if (!of)
		return json_reader_wrong(r, "this is no trace that tdlrun has "
					    "written");
	if (!measured_trace_fits(r->a, r->s, r->path, p, about))
		return false;
	if (strcmp(of, arena_printf(r->a, "%016" PRIx64, p->digest)))
		return json_reader_wrong(r, "another plan was measured");
	if (!is_time(seconds))
		return json_reader_wrong(&in, "'seconds' is no time");
	to->seconds = json_number_value(seconds);
	return read_events(r, p, json_object_get(j, "traceEvents"), to);
}

const measured_trace *measured_trace_read(arena *a, diag_sink *s,
					  const char *path,
					  const plan_pipeline *p)
{
	const json_reader r = { a, s, DIAG_REPORT_INVALID, path, "" };
	measured_trace *to = ARENA_NEW(a, measured_trace);
	to->stages = ARENA_ARRAY(a, measured_spans, p->nstages);
	json_t *j = json_reader_file(&r, MOST_BYTES);
	bool good = j && read_trace(&r, p, j, to);
	json_decref(j);
	return good ? to : NULL;
}
