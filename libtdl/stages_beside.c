#include "config.h"

#include "libtdl/stages_beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

enum { MOST_PRINTED = 10 };

/* ---- comparing --------------------------------------------------------- */

static double apart(const beside_row *x)
{
	return fabs(x->measured - x->simulated);
}

/* The ratio of the larger time to the smaller one. */
static double times_apart(const beside_row *x)
{
	double less = fmin(x->measured, x->simulated);
	double more = fmax(x->measured, x->simulated);
	return less > 0 ? more / less : more > 0 ? INFINITY : 1;
}

static int by_place(const beside_row *x, const beside_row *y)
{
	return x->stage != y->stage ? x->stage - y->stage
				    : x->instruction - y->instruction;
}

static int by_difference(const void *a, const void *b)
{
	const beside_row *x = a, *y = b;
	if (apart(x) != apart(y))
		return apart(x) > apart(y) ? -1 : 1;
	return by_place(x, y);
}

static int by_ratio(const void *a, const void *b)
{
	const beside_row *x = a, *y = b;
	if (times_apart(x) != times_apart(y))
		return times_apart(x) > times_apart(y) ? -1 : 1;
	return by_place(x, y);
}

/* The kind of an instruction; for a kernel its class. */
static const char *kind_of(const plan *p, const plan_instr *in)
{
	if (in->op != PLAN_RUN)
		return plan_instr_kind(in);
	const plan_node *n = &p->nodes[in->node];
	return kernel_class_name(
		kernel_form_of(p->kernels[n->kernel].kernel).class);
}

/* ---- one stage --------------------------------------------------------- */

typedef struct builder {
	arena *a;
	const stages_view *v;
	const measured_trace *m;
	VEC(beside_row) rows;
	int unmeasured;
} builder;

/* By row of a stage, the most and the least seconds on its devices. */
typedef struct extremes {
	double *most, *least; /* by row; least -1: no device has it */
} extremes;

static void end_device(extremes *e, int n, double *own, bool *has)
{
	for (int i = 0; i < n; i++) {
		if (!has[i])
			continue;
		e->most[i] = fmax(e->most[i], own[i]);
		if (e->least[i] < 0 || own[i] < e->least[i])
			e->least[i] = own[i];
		own[i] = 0;
		has[i] = false;
	}
}

/* The extremes, by the first row of each unit; first[] maps instructions to
 * these rows. */
static extremes extremes_of(builder *b, int nth, const int *first)
{
	const measured_spans *of = &b->m->stages[nth];
	int n = b->v->p->stages[nth].ninstrs, device = -1;
	extremes e = { ARENA_ARRAY(b->a, double, n),
		       ARENA_ARRAY(b->a, double, n) };
	double *own = ARENA_ARRAY(b->a, double, n);
	bool *has = ARENA_ARRAY(b->a, bool, n);
	for (int i = 0; i < n; i++)
		e.least[i] = -1;
	for (int i = 0; i < of->all.n; i++) {
		const measured_span *x = &of->all.at[i];
		if (x->device != device)
			end_device(&e, n, own, has);
		device = x->device;
		own[first[x->row]] += x->seconds;
		has[first[x->row]] = true;
	}
	end_device(&e, n, own, has);
	return e;
}

/* Adds each simulated time to the row of its unit.  A unit that receives a
 * message exists on a machine with one stream.  It counts from the end of the
 * unit before it, as measurements do, because it waits. */
static void simulate_rows(const builder *b, int nth, double *seconds,
			  int *times, int *first)
{
	const simulated_stage *s = &b->v->step->stages[nth];
	const plan_instr *program = b->v->p->stages[nth].program;
	double before = 0;
	for (int i = 0; i < s->nunits; i++) {
		const simulated_unit *u = &s->units[i];
		bool waits = program[u->instr].op == PLAN_RECEIVE;
		for (int k = u->instr; k < u->end; k++)
			first[k] = u->instr;
		seconds[u->instr] += u->end_seconds -
				     (waits ? before : u->begin_seconds);
		times[u->instr]++;
		before = u->end_seconds;
	}
}

/* Adds the messages that no unit receives. */
static void simulate_messages(const builder *b, int nth, double *seconds,
			      int *times)
{
	const plan *p = &b->v->p->stages[nth];
	const simulation *x = b->v->step;
	int *row = ARENA_ARRAY(b->a, int, b->v->p->nchannels);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RECEIVE)
			row[p->program[i].channel] = i;
	for (int m = 0; m < x->nmessages; m++) {
		const simulated_message *of = &x->messages[m];
		if (b->v->p->channels[of->channel].to != nth ||
		    of->receiver >= 0)
			continue;
		seconds[row[of->channel]] += of->end_seconds -
					     of->begin_seconds;
		times[row[of->channel]]++;
	}
}

/* Whether the instruction's time includes waiting for other devices. */
static bool waits(const plan_instr *in)
{
	return plan_is_message(in) ||
	       (plan_moves(in) && in->collective != COLL_LOCAL);
}

static void add_stage(builder *b, int nth)
{
	const plan *p = &b->v->p->stages[nth];
	double *seconds = ARENA_ARRAY(b->a, double, p->ninstrs);
	int *times = ARENA_ARRAY(b->a, int, p->ninstrs);
	int *first = ARENA_ARRAY(b->a, int, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++)
		first[i] = i;
	simulate_rows(b, nth, seconds, times, first);
	simulate_messages(b, nth, seconds, times);
	const extremes e = extremes_of(b, nth, first);
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (times[i] == 0)
			continue;
		beside_row x = { plan_instr_name(p, in), kind_of(p, in),
				 nth, i, times[i], seconds[i],
				 waits(in) ? e.least[i] : e.most[i] };
		if (e.least[i] < 0)
			b->unmeasured++;
		else if (x.simulated > 0 || x.measured > 0)
			vec_push(b->a, &b->rows, x);
	}
}

/* ---- all --------------------------------------------------------------- */

static void add_kinds(arena *a, beside *to)
{
	to->kinds = ARENA_ARRAY(a, beside_row, to->nrows);
	for (int i = 0; i < to->nrows; i++) {
		const beside_row *x = &to->rows[i];
		int k = 0;
		while (k < to->nkinds && strcmp(to->kinds[k].kind, x->kind))
			k++;
		beside_row *sum = &to->kinds[k];
		if (k == to->nkinds)
			to->kinds[to->nkinds++] = (beside_row){
				.kind = x->kind, .instruction = k };
		sum->times += x->times;
		sum->simulated += x->simulated;
		sum->measured += x->measured;
	}
	if (to->nkinds > 0)
		qsort(to->kinds, (size_t)to->nkinds, sizeof(*to->kinds),
		      by_difference);
}

const beside *beside_of(const stages_view *v, const measured_trace *m)
{
	builder b = { .a = v->arena, .v = v, .m = m };
	beside *to = ARENA_NEW(v->arena, beside);
	for (int s = 0; s < v->p->nstages; s++)
		add_stage(&b, s);
	if (b.rows.n > 0)
		qsort(b.rows.at, (size_t)b.rows.n, sizeof(*b.rows.at),
		      by_difference);
	*to = (beside){ .view = v, .simulated = v->step->seconds,
			.measured = m->seconds, .nrows = b.rows.n,
			.rows = b.rows.at, .unmeasured = b.unmeasured };
	add_kinds(v->arena, to);
	return to;
}

/* ---- text -------------------------------------------------------------- */

static const char *ratio_text(arena *a, double simulated, double measured)
{
	return simulated > 0 ? arena_printf(a, "%.3g", measured / simulated)
			     : "-";
}

static const char *seconds_text(arena *a, double s)
{
	return arena_strdup(a, units_seconds(s).text);
}

static void add_times(text_table *t, arena *a, const beside_row *x)
{
	double d = x->measured - x->simulated;
	table_add(t, seconds_text(a, x->simulated));
	table_add(t, seconds_text(a, x->measured));
	table_add(t, ratio_text(a, x->simulated, x->measured));
	table_add(t, arena_printf(a, "%s%s", d < 0 ? "-" : "+",
				  units_seconds(fabs(d)).text));
}

static void add_heads(text_table *t, const char *const *heads, int n)
{
	for (int i = 0; i < n; i++)
		table_add(t, heads[i]);
}

static void kinds_text(FILE *to, const beside *b)
{
	static const char *const heads[] = { "kind", "times", "simulated",
					     "measured", "ratio",
					     "difference" };
	arena *a = b->view->arena;
	text_table t = table_new(a, 6);
	add_heads(&t, heads, 6);
	for (int i = 0; i < b->nkinds; i++) {
		table_add(&t, b->kinds[i].kind);
		table_add(&t, arena_printf(a, "%d", b->kinds[i].times));
		add_times(&t, a, &b->kinds[i]);
	}
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

/* Prints the first of some rows, each with its stage, or otherwise its number
 * of turns. */
static void rows_text(FILE *to, const beside *b, const beside_row *rows,
		      int n, const char *title)
{
	bool staged = b->view->p->nstages > 1;
	const char *const heads[] = { "instruction", staged ? "stage" : "times",
				      "kind", "simulated", "measured", "ratio",
				      "difference" };
	arena *a = b->view->arena;
	text_table t = table_new(a, 7);
	add_heads(&t, heads, 7);
	for (int i = 0; i < n && i < MOST_PRINTED; i++) {
		const beside_row *x = &rows[i];
		table_add(&t, x->name);
		table_add(&t, arena_printf(a, "%d", staged ? x->stage
							   : x->times));
		table_add(&t, x->kind);
		add_times(&t, a, x);
	}
	fprintf(to, "\n%s\n", title);
	table_print_fitted(&t, to, 0, 1);
}

/* Selects the rows of which a time is at least a thousandth of the step, sorted
 * by ratio. */
static int rows_by_ratio(const beside *b, beside_row *to)
{
	enum { PARTS = 1000 };
	double least = fmax(b->simulated, b->measured) / PARTS;
	int n = 0;
	for (int i = 0; i < b->nrows; i++)
		if (fmax(b->rows[i].simulated, b->rows[i].measured) >= least)
			to[n++] = b->rows[i];
	if (n > 0)
		qsort(to, (size_t)n, sizeof(*to), by_ratio);
	return n;
}

void beside_text(FILE *to, const beside *b)
{
	const stages_view *v = b->view;
	arena *a = v->arena;
	beside_row *far = ARENA_ARRAY(a, beside_row, b->nrows);
	int n = pipeline_first(v->p, v->p->nstages);
	fprintf(to, "%s on %d device%s, simulated for '%s' and measured\n",
		v->p->model, n, n == 1 ? "" : "s", v->machine->name);
	fprintf(to, "  %-14s simulated %s, measured %s: %s times as long\n",
		"step", seconds_text(a, b->simulated),
		seconds_text(a, b->measured),
		ratio_text(a, b->simulated, b->measured));
	if (b->unmeasured > 0)
		fprintf(to, "  %-14s %d instructions\n", "not measured",
			b->unmeasured);
	if (b->nrows == 0)
		return;
	kinds_text(to, b);
	rows_text(to, b, b->rows, b->nrows, "farthest apart");
	int nfar = rows_by_ratio(b, far);
	rows_text(to, b, far, nfar, "most times apart");
}

/* ---- json -------------------------------------------------------------- */

static json_t *ratio_json(double simulated, double measured)
{
	return simulated > 0 ? json_real(measured / simulated) : json_null();
}

static json_t *row_json(const beside_row *x)
{
	return json_pack("{s:i,s:i,s:s,s:s,s:i,s:f,s:f,s:o}", "stage",
			 x->stage, "instruction", x->instruction, "name",
			 x->name, "kind", x->kind, "times", x->times,
			 "simulated_seconds", x->simulated,
			 "measured_seconds", x->measured, "ratio",
			 ratio_json(x->simulated, x->measured));
}

static json_t *kind_json(const beside_row *x)
{
	return json_pack("{s:s,s:i,s:f,s:f,s:o}", "kind", x->kind, "times",
			 x->times, "simulated_seconds", x->simulated,
			 "measured_seconds", x->measured, "ratio",
			 ratio_json(x->simulated, x->measured));
}

json_t *beside_json(const beside *b)
{
	const stages_view *v = b->view;
	json_t *rows = json_array(), *kinds = json_array();
	for (int i = 0; i < b->nrows; i++)
		json_array_append_new(rows, row_json(&b->rows[i]));
	for (int i = 0; i < b->nkinds; i++)
		json_array_append_new(kinds, kind_json(&b->kinds[i]));
	return json_pack("{s:s,s:i,s:s,s:f,s:f,s:o,s:i,s:o,s:o}", "model",
			 v->p->model, "devices",
			 pipeline_first(v->p, v->p->nstages), "predicted_for",
			 v->machine->name, "simulated_seconds", b->simulated,
			 "measured_seconds", b->measured, "ratio",
			 ratio_json(b->simulated, b->measured), "unmeasured",
			 b->unmeasured, "kinds", kinds, "instructions", rows);
}
