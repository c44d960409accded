/* The output of `tdlc coverage'. */
#include "config.h"

#include <stdio.h>

#include "base/text.h"
#include "compiler/driver/coverage.h"
#include "compiler/driver/plan_print.h"
#include "compiler/model/model.h"

/* ---- JSON --------------------------------------------------------------- */

static json_t *names_json(const coverage_names *names)
{
	json_t *all = json_array();
	for (int i = 0; i < names->n; i++)
		json_array_append_new(all, json_string(names->at[i]));
	return all;
}

static json_t *rows_json(const coverage_rows *rows, bool of_model)
{
	json_t *all = json_array();
	for (int i = 0; i < rows->n; i++) {
		const coverage_row *r = &rows->at[i];
		json_t *j = json_pack("{s:s}", "op", r->name);
		if (of_model)
			json_object_update_new(j, json_pack(
				"{s:i, s:i, s:i}", "nodes", r->nodes,
				"unsupported", r->unsupported, "unknown",
				r->unknown));
		json_object_update_new(j, json_pack(
			"{s:i, s:i, s:I, s:o, s:o}", "operators", r->operators,
			"whole", r->whole, "bytes", (json_int_t)r->bytes,
			"strategies", names_json(&r->strategies),
			of_model ? "becomes" : "onnx",
			names_json(&r->others)));
		json_array_append_new(all, j);
	}
	return all;
}

static json_t *whole_json(const coverage *c)
{
	json_t *all = json_array();
	for (int i = 0; i < c->whole.n; i++) {
		const coverage_whole *w = &c->whole.at[i];
		const node *n = w->node;
		json_array_append_new(all, json_pack(
			"{s:s, s:s, s:s?, s:s?, s:s, s:I, s:I, s:I}", "name",
			n->name, "op", n->op, "onnx", n->origin, "opaque",
			n->kernel->opaque, "reason", w->why, "fetched_bytes",
			(json_int_t)w->fetched, "repeated_bytes",
			(json_int_t)w->repeated, "bytes",
			(json_int_t)w->bytes));
	}
	return all;
}

static json_t *unsupported_json(const coverage *c)
{
	json_t *all = json_array();
	for (int i = 0; i < c->survey.unsupported.n; i++) {
		const survey_node *n = &c->survey.unsupported.at[i];
		json_array_append_new(all, json_pack(
			"{s:s, s:s, s:s, s:I, s:I}", "name", n->name, "onnx",
			n->op, "reason", n->why, "input_bytes",
			(json_int_t)n->input_bytes, "output_bytes",
			(json_int_t)n->output_bytes));
	}
	return all;
}

json_t *coverage_json(const coverage *c)
{
	return json_pack("{s:s, s:I, s:i, s:i, s:i, s:I, s:o, s:o, s:o, s:o}",
			 "model", c->graph->name, "devices",
			 (json_int_t)c->devices, "operators",
			 c->graph->nnodes, "whole", c->whole.n, "unsupported",
			 c->survey.unsupported.n, "bytes",
			 (json_int_t)c->search->total, "by_operator",
			 rows_json(&c->ops, false), "by_onnx",
			 rows_json(&c->kinds, true), "whole_operators",
			 whole_json(c), "unsupported_nodes",
			 unsupported_json(c));
}

/* ---- text --------------------------------------------------------------- */

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

static void print_kinds(arena *a, const coverage *c)
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
	table_print(&t, stdout, 2);
}

static void print_ops(arena *a, const coverage *c)
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
	table_print(&t, stdout, 2);
}

void coverage_text(arena *a, const coverage *c)
{
	printf("%s on %lld devices: %d operators, %d of them whole on every "
	       "device", c->graph->name, (long long)c->devices,
	       c->graph->nnodes, c->whole.n);
	/* A model in TDL calls operators of the library and no others. */
	if (c->kinds.n) {
		printf("; %d node%s unsupported\n\n", c->survey.unsupported.n,
		       c->survey.unsupported.n == 1 ? "" : "s");
		print_kinds(a, c);
	}
	printf("%s\n", c->kinds.n ? "" : "\n");
	print_ops(a, c);
	for (int i = 0; i < c->whole.n; i++) {
		const coverage_whole *w = &c->whole.at[i];
		text_wrap(stdout, arena_printf(
			a, "%s%s (%s) is whole: %s; %s to fetch, %s computed "
			"again", i ? "" : "\n", w->node->name, w->node->op,
			w->why, plan_bytes_text(a, w->fetched),
			plan_bytes_text(a, w->repeated)), 0, 4);
	}
	for (int i = 0; i < c->survey.unsupported.n; i++) {
		const survey_node *n = &c->survey.unsupported.at[i];
		text_wrap(stdout, arena_printf(
			a, "%s%s (%s) is unsupported: %s; it reads %s and "
			"makes %s", i ? "" : "\n", n->name, n->op, n->why,
			plan_bytes_text(a, n->input_bytes),
			plan_bytes_text(a, n->output_bytes)), 0, 4);
	}
}
