/* Tables of a model's operators that can be divided. */
#include "config.h"

#include "libtdl/coverage.h"

#include "base/text.h"
#include "libtdl/plan_report.h"

static const char *number(arena *a, int n)
{
	return n ? arena_printf(a, "%d", n) : "-";
}

static const char *list(arena *a, const coverage_names *names)
{
	const char *s = "";
	for (int i = 0; i < names->n; i++)
		s = arena_printf(a, "%s%s%s", s, i ? ", " : "", names->at[i]);
	return s;
}

static void print_kinds(FILE *to, arena *a, const coverage *c)
{
	static const char *const head[] = { "of the model", "nodes",
					    "unsupported", "unknown",
					    "operators", "whole", "moved",
					    "operators of the library" };
	text_table t = table_new(a, 8);
	for (int i = 0; i < 8; i++)
		table_add(&t, head[i]);
	for (int i = 0; i < c->kinds.n; i++) {
		const coverage_row *r = &c->kinds.at[i];
		table_add(&t, r->name);
		table_add(&t, number(a, r->nodes));
		table_add(&t, number(a, r->unsupported));
		table_add(&t, number(a, r->unknown));
		table_add(&t, number(a, r->operators));
		table_add(&t, number(a, r->whole));
		table_add(&t, plan_bytes_text(a, r->bytes));
		table_add(&t, list(a, &r->others));
	}
	table_print(&t, to, 2);
}

static void print_ops(FILE *to, arena *a, const coverage *c)
{
	static const char *const head[] = { "of the library", "operators",
					    "whole", "moved",
					    "divided along" };
	text_table t = table_new(a, 5);
	for (int i = 0; i < 5; i++)
		table_add(&t, head[i]);
	for (int i = 0; i < c->ops.n; i++) {
		const coverage_row *r = &c->ops.at[i];
		table_add(&t, r->name);
		table_add(&t, number(a, r->operators));
		table_add(&t, number(a, r->whole));
		table_add(&t, plan_bytes_text(a, r->bytes));
		table_add(&t, list(a, &r->strategies));
	}
	table_print(&t, to, 2);
}

void coverage_text(FILE *to, arena *a, const coverage *c)
{
	fprintf(to,
		"%s on %lld devices: %d operators, %d of them whole on every "
		"device",
		c->graph->name, (long long)c->devices, c->graph->nnodes,
		c->whole.n);
	/* A model in TDL only calls operators of the library. */
	if (c->kinds.n) {
		fprintf(to, "; %d node%s unsupported\n\n",
			c->survey.unsupported.n,
			c->survey.unsupported.n == 1 ? "" : "s");
		print_kinds(to, a, c);
	}
	fprintf(to, "%s\n", c->kinds.n ? "" : "\n");
	print_ops(to, a, c);
	for (int i = 0; i < c->whole.n; i++) {
		const coverage_whole *w = &c->whole.at[i];
		text_wrap(to, arena_printf(
			a, "%s%s (%s) is whole: %s; %s to fetch, %s computed "
			"again", i ? "" : "\n", w->node->name, w->node->op,
			w->why, plan_bytes_text(a, w->fetched),
			plan_bytes_text(a, w->repeated)), 0, 4);
	}
	for (int i = 0; i < c->survey.unsupported.n; i++) {
		const survey_node *n = &c->survey.unsupported.at[i];
		text_wrap(to, arena_printf(
			a, "%s%s (%s) is unsupported: %s; it reads %s and "
			"makes %s", i ? "" : "\n", n->name, n->op, n->why,
			plan_bytes_text(a, n->input_bytes),
			plan_bytes_text(a, n->output_bytes)), 0, 4);
	}
}
