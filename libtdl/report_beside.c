#include "config.h"

#include "libtdl/report_beside.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "libtdl/measured_trace.h"

enum {
	MOST_BYTES = 1 << 30, /* of a file */
	MOST_SPANS = 200000,  /* drawn of one stage */
};

typedef struct reader {
	arena *a;
	diag_sink *s;
	const char *path;
	const plan_pipeline *p;
	json_t *found; /* the object if there is no path; NULL */
} reader;

static bool wrong(const reader *r, const char *what)
{
	diag_error_in(r->s, DIAG_REPORT_INVALID, r->path, "%s", what);
	return false;
}

/* The object in the file; NULL with an error added. */
static json_t *read_object(const reader *r)
{
	json_error_t e;
	size_t len;
	const char *text = file_read(r->a, r->s, r->path, MOST_BYTES, &len);
	if (!text)
		return NULL;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (!j)
		wrong(r, arena_printf(r->a, "line %d, column %d: %s", e.line,
				      e.column, e.text));
	else if (!json_is_object(j))
		wrong(r, "an object is expected");
	return json_is_object(j) ? j : NULL;
}

/* The given object, or that of the file, if it concerns the plan's model and
 * the same number of devices.  NULL with errors added. */
static json_t *object_of(const reader *r)
{
	json_t *j = r->path ? read_object(r) : r->found;
	bool good = j && (!r->path ||
			  measured_trace_fits(r->a, r->s, r->path, r->p, j));
	return good ? j : NULL;
}

/* ---- plans -------------------------------------------------------------- */

/* Copies a figure >= 0 of a plan.  real: it is a real number, otherwise an
 * integer. */
static bool copy_figure(const reader *r, const json_t *from, const char *key,
			bool real, json_t *to)
{
	json_t *v = json_object_get(from, key);
	bool good = real ? json_is_number(v) : json_is_integer(v);
	if (!good || !(json_number_value(v) >= 0))
		return wrong(r, arena_printf(r->a, "'%s' of a plan is no %s",
					     key, real ? "number of seconds"
						       : "number of bytes"));
	json_object_set_new(to, key,
			    real ? json_real(json_number_value(v))
				 : json_integer(json_integer_value(v)));
	return true;
}

/* Copies the figures of any plan: its planner, its time and its bytes. */
static bool copy_plan(const reader *r, const json_t *from, json_t *to)
{
	const char *name = json_string_value(json_object_get(from,
							     "algorithm"));
	if (!name)
		return wrong(r, "a plan has no 'algorithm'");
	json_object_set_new(to, "algorithm", json_string(name));
	return copy_figure(r, from, "predicted_seconds", true, to) &&
	       copy_figure(r, from, "peak_bytes_per_device", false, to) &&
	       copy_figure(r, from, "communication_bytes", false, to);
}

/* Copies a plan of the frontier: its figures, and whether its reductions are in
 * buckets. */
static bool copy_point(const reader *r, const json_t *from, json_t *to)
{
	json_object_set_new(to, "buckets", json_boolean(json_is_true(
		json_object_get(from, "buckets"))));
	return copy_plan(r, from, to);
}

static json_t *number_or_null(const json_t *v)
{
	return json_is_integer(v) ? json_integer(json_integer_value(v))
	       : json_is_real(v)  ? json_real(json_real_value(v))
				  : json_null();
}

/* Copies a planner's row: its plan, or the reason why it has none. */
static bool copy_planner(const reader *r, const json_t *from, json_t *to)
{
	const char *name = json_string_value(json_object_get(from,
							     "algorithm"));
	const char *error = json_string_value(json_object_get(from, "error"));
	const json_t *model = json_object_get(from, "byte_model");
	const char *machine = json_string_value(json_object_get(
		from, "predicted_for"));
	const json_t *train = json_object_get(from, "train");
	if (name && error) {
		json_object_set_new(to, "algorithm", json_string(name));
		json_object_set_new(to, "error", json_string(error));
		return true;
	}
	if (r->path && train &&
	    json_is_true(train) != r->p->stages[0].training)
		return wrong(r, json_is_true(train) ?
			     "its plans are for training, this one is not" :
			     "its plans are not for training, this one is");
	json_object_set_new(to, "byte_model",
			    number_or_null(json_object_get(model, "total")));
	json_object_set_new(to, "gap",
			    number_or_null(json_object_get(from, "gap")));
	json_object_set_new(to, "search_seconds",
			    number_or_null(json_object_get(from,
							   "search_seconds")));
	json_object_set_new(to, "predicted_for",
			    machine ? json_string(machine) : json_null());
	if (json_is_false(json_object_get(from, "fits")))
		json_object_set_new(to, "fits", json_false());
	return copy_plan(r, from, to);
}

/* Copies the rows of the list under a key of the file.  NULL with an error
 * added. */
static json_t *copy_rows(const reader *r, const json_t *j, const char *key,
			 bool (*copy)(const reader *r, const json_t *from,
				      json_t *to))
{
	const json_t *from = json_object_get(j, key);
	json_t *list = json_array();
	if (!json_is_array(from)) {
		wrong(r, arena_printf(r->a, "there is no list '%s'", key));
		return NULL;
	}
	for (size_t i = 0; i < json_array_size(from); i++) {
		json_t *row = json_object();
		json_array_append_new(list, row);
		if (!copy(r, json_array_get(from, i), row))
			return NULL;
	}
	return list;
}

/* The planners, followed by the pipelines compared with them. */
static json_t *planners_json(const reader *r)
{
	json_t *j = object_of(r), *more;
	json_t *rows = j ? copy_rows(r, j, "planners", copy_planner) : NULL;
	if (!rows || !json_object_get(j, "pipelines"))
		return rows;
	more = copy_rows(r, j, "pipelines", copy_planner);
	if (more)
		json_array_extend(rows, more);
	return more ? rows : NULL;
}

static json_t *frontier_json(const reader *r)
{
	json_t *j = object_of(r);
	json_t *rows = j ? copy_rows(r, j, "frontier", copy_point) : NULL;
	const char *proof = json_string_value(json_object_get(j, "proof"));
	return !rows ? NULL :
		json_pack("{s:b,s:o,s:o}", "proven",
			  json_is_true(json_object_get(j, "proven")), "proof",
			  proof ? json_string(proof) : json_null(), "plans",
			  rows);
}

/* ---- a measured step ---------------------------------------------------- */

/* By instruction: the seconds of all its turns on the device where they are
 * most. */
static json_t *longest_json(const reader *r, const measured_spans *of,
			    int stage)
{
	int n = r->p->stages[stage].ninstrs, device = -1;
	double *most = ARENA_ARRAY(r->a, double, n);
	double *own = ARENA_ARRAY(r->a, double, n);
	json_t *list = json_array();
	for (int i = 0; i < of->all.n; i++) {
		const measured_span *x = &of->all.at[i];
		if (x->device != device)
			memset(own, 0, (size_t)n * sizeof(*own));
		device = x->device;
		own[x->row] += x->seconds;
		most[x->row] = fmax(most[x->row], own[x->row]);
	}
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_real(most[i]));
	return list;
}

/* The number of spans that are drawn: of a device all or none. */
static int drawn(const measured_spans *of)
{
	int n = of->all.n, at = MOST_SPANS;
	if (n <= at)
		return n;
	while (at > 0 &&
	       of->all.at[at].device == of->all.at[at - 1].device)
		at--;
	return at;
}

static json_t *measured_json(const reader *r, const measured_trace *m,
			     int stage)
{
	const measured_spans *of = &m->stages[stage];
	json_t *rows = json_array();
	for (int i = 0; i < drawn(of); i++) {
		const measured_span *x = &of->all.at[i];
		json_array_append_new(rows, json_pack("[i,i,f,f]", x->device,
						      x->row, x->begin,
						      x->seconds));
	}
	return json_pack("{s:f,s:o,s:o}", "seconds", m->seconds, "longest",
			 longest_json(r, of, stage), "timeline", rows);
}

/* ---- all of them -------------------------------------------------------- */

/* The report of a stage; a plan without stages has one, the whole report.  NULL
 * after the last. */
static json_t *part_of(json_t *report, int stage)
{
	const json_t *all = json_object_get(report, "stages");
	return all ? json_object_get(json_array_get(all, (size_t)stage),
				     "report")
	       : stage == 0 ? report : NULL;
}

static bool add_trace(const reader *r, json_t *report)
{
	const measured_trace *m = NULL;
	json_t *part;
	if (r->path && !(m = measured_trace_read(r->a, r->s, r->path, r->p)))
		return false;
	for (int i = 0; (part = part_of(report, i)); i++)
		json_object_set_new(part, "measured",
				    m ? measured_json(r, m, i) : json_null());
	return true;
}

static bool add(const reader *r, const char *key,
		json_t *(*read)(const reader *r), json_t *report)
{
	json_t *j = r->path || r->found ? read(r) : json_null();
	if (j)
		json_object_set_new(report, key, j);
	return j;
}

bool report_add_files(arena *a, diag_sink *s, const report_files *f,
		      const plan_pipeline *p, json_t *report)
{
	const reader planners = { a, s, f->planners, p, f->planners_found };
	const reader frontier = { a, s, f->frontier, p, f->frontier_found };
	const reader trace = { a, s, f->trace, p, NULL };
	return add(&planners, "planners", planners_json, report) &&
	       add(&frontier, "frontier", frontier_json, report) &&
	       add_trace(&trace, report);
}
