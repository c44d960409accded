/* tdlc ops: the installed operators. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/driver/describe.h"

/* The names of the ONNX operators that map to each operator. */
typedef VEC(const char *) name_list;

typedef struct mapping {
	driver *d;
	tdl_modules *modules;
	strmap *lists; /* operator -> name_list */
	const char *onnx; /* the entry at hand */
} mapping;

/* Notes that the entry calls an operator. */
static void note(mapping *m, const char *op)
{
	name_list *l = strmap_get(m->lists, op);
	if (!l) {
		l = ARENA_NEW(m->d->arena, name_list);
		strmap_put(m->lists, op, l);
	}
	for (int i = 0; i < l->n; i++)
		if (!strcmp(l->at[i], m->onnx))
			return;
	vec_push(m->d->arena, l, m->onnx);
}

static void walk_expr(mapping *m, const ast_expr *e)
{
	if (!e)
		return;
	if (e->kind == AST_CALL && dsl_op(m->modules, e->name))
		note(m, e->name);
	for (int i = 0; i < e->nargs; i++)
		walk_expr(m, e->args[i]);
	for (int i = 0; i < e->nnamed; i++)
		walk_expr(m, e->named[i].value);
}

static void walk(mapping *m, ast_stmt *const *body, int n)
{
	for (int i = 0; i < n; i++) {
		const ast_stmt *s = body[i];
		walk_expr(m, s->value);
		for (int j = 0; j < s->nvalues; j++)
			walk_expr(m, s->values[j]);
		walk(m, s->body, s->nbody);
		walk(m, s->other, s->nother);
	}
}

static strmap *map_onnx(driver *d, tdl_modules *modules)
{
	mapping m = { .d = d, .modules = modules,
		      .lists = strmap_new(d->arena) };
	for (int i = 0; i < modules->nonnx; i++) {
		const ast_onnx *e = modules->onnx[i];
		m.onnx = *e->domain ? arena_printf(d->arena, "%s.%s",
						   e->domain, e->op_type)
				    : e->op_type;
		walk(&m, e->body, e->nbody);
	}
	return m.lists;
}

/* The first line of a doc comment, "" for none. */
static const char *first_line(arena *a, const char *doc)
{
	if (!doc)
		return "";
	while (*doc == ' ')
		doc++;
	return arena_strndup(a, doc, strcspn(doc, "\n"));
}

static json_t *ops_json(driver *d, const tdl_modules *m, const strmap *onnx)
{
	json_t *all = json_array();
	for (int i = 0; i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		const name_list *l = strmap_get(onnx, op->name);
		json_t *from = json_array();
		for (int j = 0; l && j < l->n; j++)
			json_array_append_new(from, json_string(l->at[j]));
		json_array_append_new(all, json_pack(
			"{s:s, s:s, s:o}", "name", op->name, "doc",
			first_line(d->arena, op->doc), "onnx", from));
	}
	return json_pack("{s:o}", "operators", all);
}

static void print_ops(driver *d, const tdl_modules *m, const strmap *onnx)
{
	text_table t = table_new(d->arena, 3);
	for (int i = 0; i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		const name_list *l = strmap_get(onnx, op->name);
		const char *from = "";
		for (int j = 0; l && j < l->n; j++)
			from = arena_printf(d->arena, "%s%s%s", from,
					    j ? ", " : "", l->at[j]);
		table_add(&t, op->name);
		table_add(&t, first_line(d->arena, op->doc));
		table_add(&t, *from ? arena_printf(d->arena, "[%s]", from)
				    : "");
	}
	table_print(&t, stdout, "");
}

cli_status command_ops(driver *d, int argc, char **argv)
{
	bool json = false;
	const cli_option options[] = {
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (first < argc)
		return cli_usage(&d->program, "unexpected operand '%s'",
				 argv[first]);
	tdl_modules *m = driver_load_opdefs(d);
	if (!m)
		return CLI_INPUT;
	strmap *onnx = map_onnx(d, m);
	if (json)
		return driver_print_json(d, ops_json(d, m, onnx));
	print_ops(d, m, onnx);
	return CLI_OK;
}
