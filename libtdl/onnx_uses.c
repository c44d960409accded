#include "config.h"

#include "libtdl/onnx_uses.h"

#include <string.h>

typedef struct mapping {
	arena *arena;
	const tdl_modules *modules;
	strmap *lists;	  /* operator -> mapped_names */
	const char *onnx; /* the current entry */
	strmap *defs;	  /* defs already walked for it */
} mapping;

/* Notes that the entry calls an operator. */
static void note(mapping *m, const char *op)
{
	mapped_names *l = strmap_get(m->lists, op);
	if (!l) {
		l = ARENA_NEW(m->arena, mapped_names);
		strmap_put(m->lists, op, l);
	}
	for (int i = 0; i < l->n; i++)
		if (!strcmp(l->at[i], m->onnx))
			return;
	vec_push(m->arena, l, m->onnx);
}

static void walk(mapping *m, ast_stmt *const *body, int n);

static void walk_expr(mapping *m, const ast_expr *e)
{
	if (!e)
		return;
	if (ast_op_of(e))
		note(m, ast_op_of(e)->name);
	const ast_block *def = e->kind == AST_CALL ? e->calls.def : NULL;
	if (def && !strmap_get(m->defs, def->name)) {
		strmap_put(m->defs, def->name, m);
		walk(m, def->body, def->nbody);
	}
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

strmap *mapped_from(arena *a, const tdl_modules *modules)
{
	mapping m = { .arena = a, .modules = modules,
		      .lists = strmap_new(a) };
	for (int i = 0; i < modules->nonnx; i++) {
		const ast_onnx *e = modules->onnx[i];
		m.onnx = *e->domain ? arena_printf(a, "%s.%s", e->domain,
						   e->op_type)
				    : e->op_type;
		m.defs = strmap_new(a);
		walk(&m, e->body, e->nbody);
	}
	return m.lists;
}
