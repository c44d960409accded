#include "config.h"

#include "libtdl/report.h"

#include <string.h>

#include "base/intern.h"
#include "layout/layout_text.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_view.h"
#include "libtdl/report_build.h"

enum { REPORT_FORMAT = 1 };

/* ---- layouts ----------------------------------------------------------- */

static json_t *sizes_json(const int64_t *v, int n)
{
	json_t *list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_integer(v[i]));
	return list;
}

/* Moves to the next coordinates over the axes that cut dimension d, innermost
 * axis first.  Returns false after the last. */
static bool next_part(const mesh *m, const cuts *c, int d, int *coords)
{
	for (int i = m->naxes; i-- > 0;) {
		if (c->dim[i] != d)
			continue;
		if (++coords[i] < m->size[i])
			return true;
		coords[i] = 0;
	}
	return false;
}

/* The ends of the parts of a dimension, beginning with 0; a part may be
 * empty. */
static json_t *bounds_json(const mesh *m, const plan_tensor *t, int d)
{
	const box whole = box_whole(&t->dims[d], 1);
	cuts c = cuts_none();
	int coords[MAX_AXES] = { 0 };
	json_t *list = json_array();
	int64_t at = 0;
	for (int i = 0; i < m->naxes; i++)
		c.dim[i] = t->cuts.dim[i] == d ? 0 : CUT_NONE;
	json_array_append_new(list, json_integer(0));
	do {
		box b = cuts_block(&whole, m, &c, m->naxes, coords);
		at = b.hi[0] > at ? b.hi[0] : at;
		json_array_append_new(list, json_integer(at));
	} while (next_part(m, &c, 0, coords));
	return list;
}

static json_t *layout_json(arena *a, const mesh *m, const plan_tensor *t)
{
	json_t *bounds = json_array(), *on = json_array();
	for (int d = 0; d < t->ndim; d++)
		json_array_append_new(bounds, bounds_json(m, t, d));
	for (int i = 0; i < m->naxes; i++) {
		int d = t->cuts.dim[i];
		json_array_append_new(
			on, d >= 0 ? json_integer(d)
			    : d == CUT_NONE
				    ? json_null()
				    : json_string(layout_axis_text(a, d)));
	}
	return json_pack("{s:o,s:o,s:o}", "shape", sizes_json(t->dims, t->ndim),
			 "cuts", on, "bounds", bounds);
}

/* The number of the tensor's layout among the different layouts; adds it to
 * `all' if it is new. */
static int layout_number(const report *r, strmap *known, json_t *all,
			 const plan_tensor *t)
{
	json_t *j = layout_json(r->a, &r->p->mesh, t);
	const char *key = json_text(r->a, j, JSON_COMPACT);
	int *number = strmap_get(known, key);
	if (number) {
		json_decref(j);
		return *number;
	}
	number = ARENA_NEW(r->a, int);
	*number = (int)json_array_size(all);
	strmap_put(known, key, number);
	json_array_append_new(all, j);
	return *number;
}

static void set_tensors(const report *r, json_t *to)
{
	const plan *p = r->p;
	strmap *known = strmap_new(r->a);
	json_t *layouts = json_array(), *tensors = json_array();
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		json_t *x = json_pack(
			"{s:s,s:s,s:s,s:i,s:I,s:I}", "name", t->name, "kind",
			plan_role_name(t), "type", dtype_name(t->type),
			"layout", layout_number(r, known, layouts, t), "bytes",
			(json_int_t)plan_tensor_nbytes(t), "bytes_per_device",
			(json_int_t)plan_kept_bytes(p, i));
		if (p->loop.turns > 0 && t->time != CUT_NONE)
			json_object_set_new(x, "time", json_integer(t->time));
		json_array_append_new(tensors, x);
	}
	json_object_set_new(to, "layouts", layouts);
	json_object_set_new(to, "tensors", tensors);
}

/* ---- the machine and the whole ----------------------------------------- */

static json_t *machine_json(const report *r)
{
	const topology *t = r->machine;
	int on[MAX_AXES];
	json_t *levels = json_array(), *axes = json_array();
	for (int i = 0; i < t->nlevels; i++)
		json_array_append_new(
			levels, json_pack("{s:s,s:f,s:f}", "name",
					  t->levels[i].name, "latency",
					  t->levels[i].latency, "bandwidth",
					  t->levels[i].bandwidth));
	topology_levels(t, &r->p->mesh, on);
	for (int i = 0; i < r->p->mesh.naxes; i++)
		json_array_append_new(axes, json_integer(on[i]));
	return json_pack("{s:s,s:s,s:o,s:b,s:o,s:o}", "name", t->name, "device",
			 t->device, "memory",
			 t->memory ? json_integer(t->memory) : json_null(),
			 "overlap", t->overlap, "levels", levels,
			 "level_of_axis", axes);
}

static json_t *whole_json(const report *r)
{
	const plan *p = r->p;
	const lower_times x = r->times;
	return json_pack(
		"{s:i,s:s,s:s,s:i,s:o,s:b,s:o,s:o,s:I,s:I,s:f,s:f,s:f}",
		"format", REPORT_FORMAT, "model", p->model, "algorithm",
		p->algorithm, "devices", mesh_workers(&p->mesh), "mesh",
		plan_mesh_json(&p->mesh), "train", p->training, "micro_batches",
		plan_loop_json(&p->loop), "machine", machine_json(r),
		"communication_bytes", (json_int_t)p->communication_bytes,
		"peak_bytes_per_device", (json_int_t)p->arena_bytes,
		"predicted_seconds", x.run, "computation_seconds",
		x.computation, "communication_seconds", x.communication);
}

/* Prepares a report, except for the times. */
static report prepare(arena *a, const plan *p, const topology *machine)
{
	report r = { .a = a, .p = p, .machine = machine };
	r.flat = plan_unroll(a, p, PLAN_MAX_TURNS);
	r.classes = layout_classes_new(a, &p->mesh);
	int n = r.flat->ninstrs;
	r.row = ARENA_ARRAY(a, int, n);
	r.seconds = ARENA_ARRAY(a, double, n);
	r.end = ARENA_ARRAY(a, double, n);
	r.received = ARENA_ARRAY(a, int64_t, n);
	for (int i = 0; i < n; i++) {
		const plan_instr *in = &r.flat->program[i];
		if (plan_moves(in))
			r.received[i] = layout_pair_received(
				r.classes,
				plan_instr_class(r.classes, r.flat, in));
	}
	return r;
}

static json_t *all_json(const report *r)
{
	json_t *all = whole_json(r), *blocks;
	set_tensors(r, all);
	json_object_set_new(all, "operators", report_operators(r));
	blocks = json_pack("{s:o,s:o}", "operators", report_operator_blocks(r),
			   "tensors", report_tensor_blocks(r));
	json_object_set_new(all, "blocks", blocks);
	json_object_set_new(all, "collectives", report_collectives(r));
	report_set_traffic(r, all);
	json_object_set_new(all, "program", report_program(r));
	json_object_set_new(all, "timeline", report_timeline(r));
	json_object_set_new(all, "memory", report_memory(r));
	return all;
}

json_t *report_json(const plan *p, const topology *machine)
{
	arena *tmp = arena_new();
	report r = prepare(tmp, p, machine);
	r.times = lower_time(p, machine);
	for (int i = 0; i < r.flat->ninstrs; i++)
		r.row[i] = plan_rolled_instr(p, PLAN_MAX_TURNS, i);
	lower_instants(instr_times_new(tmp, r.classes, machine), r.flat,
		       r.seconds, r.end);
	json_t *all = all_json(&r);
	arena_free(tmp);
	return all;
}

/* ---- several stages ---------------------------------------------------- */

static json_t *stage_report(const stages_view *v, int s)
{
	arena *tmp = arena_new();
	const simulated_stage *x = &v->step->stages[s];
	report r = prepare(tmp, &v->p->stages[s], v->machine);
	r.stages = v;
	r.times = (lower_times){ .run = v->step->seconds,
				 .computation = x->computing_seconds,
				 .communication = x->communicating_seconds };
	report_set_instants(&r, v, s);
	json_t *all = all_json(&r);
	arena_free(tmp);
	return all;
}

json_t *report_stages_json(const stages_view *v)
{
	json_t *all = stages_simulation_json(v), *stages;
	stages = json_object_get(all, "stages");
	for (int s = 0; s < v->p->nstages; s++) {
		json_t *x = json_array_get(stages, (size_t)s);
		json_object_set_new(x, "report", stage_report(v, s));
	}
	report_set_stages_traffic(v->p, all);
	json_object_set_new(all, "format", json_integer(REPORT_FORMAT));
	json_object_set_new(all, "communication_bytes",
			    json_integer(v->p->communication_bytes));
	return all;
}
