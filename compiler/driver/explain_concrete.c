/* The strategies of an operator for given shapes, as text. */
#include "config.h"

#include <stdio.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/driver/explain_text.h"

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

static void print_strategy(arena *a, const told *t, const explain_strategy *s)
{
	const kernel *k = t->kernel;
	const char *kind = s->reducer == RED_NONE ? "split"
			   : k->vars[s->var].kind == KVAR_DERIVED
				   ? "reduced (derived)"
				   : "reduced";
	printf("\n%s, %s in %d: moves %s\n", told_var(a, t, s->var), kind,
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
	table_print(&table, stdout, 2);
}

static void print_told(arena *a, const told *t)
{
	const kernel *k = t->kernel;
	for (int i = 0; i < t->said.n; i++)
		print_strategy(a, t, &t->said.strategies[i]);
	bool any = false;
	for (int v = 0; v < k->nvars; v++) {
		if (!t->said.why_not[v])
			continue;
		printf("%s%s cannot be split: %s\n", any ? "" : "\n",
		       told_var(a, t, v), t->said.why_not[v]);
		any = true;
	}
	said_passings passing = told_passing(a, t);
	if (passing.n)
		printf("\npartial values pass: %s\n",
		       passing_text(a, &passing));
}

static void print_text(driver *d, const explain_request *r, const expansion *x)
{
	arena *a = d->arena;
	if (x->nstages == 0)
		printf("%s returns its input unchanged.\n", r->op->name);
	for (int i = 0; i < x->nstages; i++) {
		told t = explain_stage(d->arena, r, x, i);
		if (x->nstages > 1)
			printf("%sstage %s\n", i ? "\n" : "", t.name);
		printf("%s\n", kernel_text(a, t.kernel));
		print_told(a, &t);
	}
}

cli_status explain_concrete(driver *d, const explain_request *given)
{
	explain_request r = *given;
	cli_status status;
	expansion *x = explain_shapes(d, &r, &status);
	if (!x)
		return status;
	if (r.json)
		return driver_print_json(d, explain_json(d->arena, &r, x));
	print_text(d, &r, x);
	return CLI_OK;
}
