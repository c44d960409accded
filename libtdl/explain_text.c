/* Prints the strategies of an operator for given shapes. */
#include "config.h"

#include "libtdl/explain.h"

#include "base/text.h"
#include "base/units.h"
#include "libtdl/text_chart.h"

static const char *box_text(arena *a, const box *b)
{
	const char *s = "";
	if (b->n && box_is_empty(b))
		return "nothing";
	for (int d = 0; d < b->n; d++)
		s = arena_printf(a, "%s%s%lld:%lld", s, d ? ", " : "",
				 (long long)b->lo[d], (long long)b->hi[d]);
	return arena_printf(a, "[%s]", s);
}

/* ---- who holds what ---------------------------------------------------- */

/* The part of a strategy's tensor: input i, or the result if i is ninputs. */
static const box *held(const told *t, const explain_strategy *s, int part,
		       int i)
{
	const explain_part *p = &s->parts[part];
	return i < t->kernel->ninputs ? &p->inputs[t->order[i]] : &p->output;
}

/* The first dimension in which the non-empty parts differ; -1 if there is
 * none. */
static int divided_dim(const told *t, const explain_strategy *s, int i)
{
	const box *first = NULL;
	for (int p = 0; p < t->said.k; p++) {
		const box *b = held(t, s, p, i);
		if (box_is_empty(b))
			continue;
		first = first ? first : b;
		for (int d = 0; d < b->n; d++)
			if (b->lo[d] != first->lo[d] ||
			    b->hi[d] != first->hi[d])
				return d;
	}
	return -1;
}

static int64_t extent_of(const told *t, int i, int d)
{
	const kernel *k = t->kernel;
	return i < k->ninputs ? k->inputs[t->order[i]].dims[d]
			      : k->vars[d].extent;
}

static const char *tensor_name(const told *t, int i)
{
	return i < t->kernel->ninputs ? t->kernel->inputs[t->order[i]].name
				      : t->result;
}

/* Draws the parts: a line for each part and a column for each divided tensor
 * show where the part lies along the dimension.  Tensors of which each part has
 * all are left out, and nothing is drawn for many parts. */
static void draw_parts(FILE *to, arena *a, const told *t,
		       const explain_strategy *s)
{
	enum { MOST_PARTS = 16, WIDTH = 16 };
	int n = 0, tensors[MAX_NINPUTS + 1], dims[MAX_NINPUTS + 1];
	for (int i = 0; i <= t->kernel->ninputs; i++) {
		dims[n] = divided_dim(t, s, i);
		tensors[n] = i;
		n += dims[n] >= 0;
	}
	if (n == 0 || t->said.k > MOST_PARTS)
		return;
	text_table table = table_new(a, n + 1);
	table_add(&table, "part");
	for (int j = 0; j < n; j++)
		table_add(&table, arena_printf(a, "%s, dimension %d",
					       tensor_name(t, tensors[j]),
					       dims[j]));
	for (int p = 0; p < t->said.k; p++) {
		table_add(&table, arena_printf(a, "%d", p));
		for (int j = 0; j < n; j++) {
			const box *b = held(t, s, p, tensors[j]);
			int d = dims[j];
			table_add(&table, chart_part(
				a, b->lo[d], b->hi[d],
				extent_of(t, tensors[j], d), WIDTH));
		}
	}
	fprintf(to, "\n");
	table_print(&table, to, 2);
}

/* ---- strategies -------------------------------------------------------- */

static void print_strategy(FILE *to, arena *a, const told *t,
			   const explain_strategy *s)
{
	const kernel *k = t->kernel;
	const char *kind = s->reducer == RED_NONE ? "split"
			   : k->vars[s->var].kind == KVAR_DERIVED
				   ? "reduced (derived)"
				   : "reduced";
	fprintf(to, "\n%s, %s in %d: moves %s\n", told_var(a, t, s->var), kind,
	       t->said.k, units_bytes((double)s->bytes).text);
	text_table table = table_new(a, k->ninputs + 2);
	table_add(&table, "part");
	for (int i = 0; i < k->ninputs; i++)
		table_add(&table, k->inputs[t->order[i]].name);
	table_add(&table, t->result);
	for (int p = 0; p < t->said.k; p++) {
		const explain_part *part = &s->parts[p];
		table_add(&table, arena_printf(a, "%d", p));
		for (int i = 0; i < k->ninputs; i++)
			table_add(&table, box_text(a, &part->inputs[
							      t->order[i]]));
		const char *out = box_text(a, &part->output);
		table_add(&table, s->reducer == RED_NONE
					  ? out
					  : arena_printf(a, "%s partial %s",
							 out,
							 reducer_name(
								 s->reducer)));
	}
	table_print(&table, to, 2);
	draw_parts(to, a, t, s);
}

static void print_told(FILE *to, arena *a, const told *t)
{
	const kernel *k = t->kernel;
	for (int i = 0; i < t->said.n; i++)
		print_strategy(to, a, t, &t->said.strategies[i]);
	bool any = false;
	for (int v = 0; v < k->nvars; v++) {
		if (!t->said.why_not[v])
			continue;
		fprintf(to, "%s%s cannot be split: %s\n", any ? "" : "\n",
		       told_var(a, t, v), t->said.why_not[v]);
		any = true;
	}
	said_passings passing = told_passing(a, t);
	if (passing.n)
		fprintf(to, "\npartial values pass: %s\n",
		       passing_text(a, &passing));
}

void explain_text(FILE *to, arena *a, const explain_request *r,
		  const expansion *x)
{
	if (x->nstages == 0)
		fprintf(to, "%s returns its input unchanged.\n", r->op->name);
	for (int i = 0; i < x->nstages; i++) {
		told t = explain_stage(a, r, x, i);
		if (x->nstages > 1)
			fprintf(to, "%sstage %s\n", i ? "\n" : "", t.name);
		fprintf(to, "%s\n", kernel_text(a, t.kernel));
		print_told(to, a, &t);
	}
}
