#include "config.h"

#include "libtdl/stages_reasons.h"

#include "base/text.h"
#include "base/units.h"
#include "libtdl/plan_report.h"

/* ---- text -------------------------------------------------------------- */

static const char *seconds_text(arena *a, double s)
{
	return arena_strdup(a, units_seconds(s).text);
}

static const char *move_text(arena *a, const pipeline_move *x)
{
	if (!x->before)
		return "-";
	if (x->refused)
		return "no plan";
	return arena_printf(a, "%s, %s%s", seconds_text(a, x->seconds),
			    plan_bytes_text(a, x->peak_bytes),
			    x->fits ? "" : " (too much)");
}

static void print_cuts(FILE *to, arena *a, const pipeline_reasons *x)
{
	static const char *const heads[] = { "stages", "sent", "they take",
					     "a layer earlier",
					     "a layer later", "before" };
	enum { COLUMNS = sizeof(heads) / sizeof(*heads) };
	text_table t = table_new(a, COLUMNS);
	for (int i = 0; i < COLUMNS; i++)
		table_add(&t, heads[i]);
	for (int i = 0; i < x->ncuts; i++) {
		const pipeline_reason *c = &x->cuts[i];
		table_add(&t, arena_printf(a, "%d, %d", c->stage[0],
					   c->stage[1]));
		table_add(&t, plan_bytes_text(a, (int64_t)c->nbytes));
		table_add(&t, arena_printf(a, "%s, %s",
					   seconds_text(a, c->seconds[0]),
					   seconds_text(a, c->seconds[1])));
		table_add(&t, move_text(a, &c->earlier));
		table_add(&t, move_text(a, &c->later));
		table_add(&t, c->before);
	}
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

/* Prints the stage that takes longest, and the stage whose devices need most
 * memory. */
static void print_limits(FILE *to, arena *a, const pipeline_result *r)
{
	int longest = 0, fullest = 0;
	double most = -1;
	for (int s = 0; s < r->plan->nstages; s++) {
		const double *pass = r->stages[s].seconds.pass;
		double own = pass[PASS_FORWARD] + pass[PASS_BACKWARD] +
			     pass[PASS_WEIGHT];
		if (own > most) {
			most = own;
			longest = s;
		}
		if (r->plan->stages[s].arena_bytes >
		    r->plan->stages[fullest].arena_bytes)
			fullest = s;
	}
	text_wrap(to, arena_printf(
		a, "\nStage %d takes longest, %s of each micro-batch; a device "
		"of stage %d needs most, %s.", longest, seconds_text(a, most),
		fullest, plan_bytes_text(
			a, r->plan->stages[fullest].arena_bytes)), 0, 0);
}

static void print_next(FILE *to, arena *a, const pipeline_result *r,
		       const pipeline_reasons *x)
{
	if (!x->next) {
		text_wrap(to, "There is no plan within the memory with a "
			  "cut one layer elsewhere.", 0, 0);
		return;
	}
	text_wrap(to, arena_printf(
		a, "The next best cut between stages %d and %d is before '%s': "
		"a step takes %s, %s %.2g %% than now.",
		x->cuts[x->next_cut].stage[0], x->cuts[x->next_cut].stage[1],
		x->next->before, seconds_text(a, x->next->seconds),
		x->next->seconds < r->seconds ? "shorter by" : "longer by",
		100 * (x->next->seconds < r->seconds
			       ? 1 - x->next->seconds / r->seconds
			       : x->next->seconds / r->seconds - 1)), 0, 0);
}

void stages_reasons_text(FILE *to, arena *a, const pipeline_result *r,
			 const pipeline_reasons *x, const char *machine)
{
	text_wrap(to, arena_printf(
		a, "%s in %d stage%s, planned by %s: a step takes %s, for "
		"'%s', and a device needs %s", r->plan->model,
		r->plan->nstages, r->plan->nstages == 1 ? "" : "s",
		r->plan->algorithm, seconds_text(a, r->seconds), machine,
		plan_bytes_text(a, r->peak_bytes)), 0, 2);
	if (x->ncuts == 0)
		return;
	print_cuts(to, a, x);
	print_limits(to, a, r);
	print_next(to, a, r, x);
}

/* ---- json -------------------------------------------------------------- */

static json_t *move_json(const pipeline_move *x)
{
	if (!x->before)
		return json_null();
	if (x->refused)
		return json_pack("{s:s,s:s}", "before", x->before, "error",
				 x->refused);
	return json_pack("{s:s,s:f,s:I,s:b}", "before", x->before,
			 "predicted_seconds", x->seconds,
			 "peak_bytes_per_device", (json_int_t)x->peak_bytes,
			 "fits", x->fits);
}

static json_t *cut_json(const pipeline_reason *c)
{
	return json_pack(
		"{s:[i,i],s:s,s:f,s:[f,f],s:[I,I],s:o,s:o}", "stages",
		c->stage[0], c->stage[1], "before", c->before, "bytes",
		c->nbytes, "seconds", c->seconds[0], c->seconds[1],
		"peak_bytes", (json_int_t)c->peak_bytes[0],
		(json_int_t)c->peak_bytes[1], "earlier",
		move_json(&c->earlier), "later", move_json(&c->later));
}

json_t *stages_reasons_json(const pipeline_result *r, const pipeline_reasons *x,
			    const char *machine)
{
	json_t *all = json_array();
	json_t *next = x->next ? move_json(x->next) : json_null();
	if (x->next)
		json_object_set_new(next, "cut", json_integer(x->next_cut));
	for (int i = 0; i < x->ncuts; i++)
		json_array_append_new(all, cut_json(&x->cuts[i]));
	return json_pack("{s:s,s:s,s:i,s:f,s:s,s:I,s:o,s:o}", "model",
			 r->plan->model, "algorithm", r->plan->algorithm,
			 "devices", pipeline_first(r->plan, r->plan->nstages),
			 "predicted_seconds", r->seconds, "predicted_for",
			 machine, "peak_bytes_per_device",
			 (json_int_t)r->peak_bytes, "cuts", all, "next",
			 next);
}
