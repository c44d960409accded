/* The tree as text: one node a line, indented by depth, without places. */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "dsl/dsl.h"

typedef struct dumper {
	arena *arena; /* work space */
	VEC(char) out;
} dumper;

static void line(dumper *d, int depth, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void line(dumper *d, int depth, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(d->arena, fmt, ap);
	va_end(ap);
	for (int i = 0; i < 2 * depth; i++)
		vec_push(d->arena, &d->out, ' ');
	for (; *text; text++)
		vec_push(d->arena, &d->out, *text);
	vec_push(d->arena, &d->out, '\n');
}

/* ---- expressions -------------------------------------------------------- */

static void dump_expr(dumper *d, const ast_expr *e, int depth);

static void dump_pack(dumper *d, const ast_pack *p, int depth)
{
	static const char *const kinds[] = {
		[PACK_ALL] = "all",   [PACK_MINUS] = "minus",
		[PACK_AND] = "and",   [PACK_PERM] = "permuted",
		[PACK_CALL] = "call",
	};
	line(d, depth, "pack %s%s%s", kinds[p->kind], p->name ? " " : "",
	     p->name ? p->name : "");
	if (p->sel)
		dump_expr(d, p->sel, depth + 1);
}

static void dump_vars(dumper *d, const ast_expr *e, int depth)
{
	for (int i = 0; i < e->nvars; i++) {
		const ast_var *v = &e->vars[i];
		if (v->pack)
			dump_pack(d, v->pack, depth);
		else
			line(d, depth, "variable %s", v->name);
		if (v->extent)
			dump_expr(d, v->extent, depth + 1);
	}
}

static void dump_head(dumper *d, const ast_expr *e, int depth)
{
	switch (e->kind) {
	case AST_INT:
		line(d, depth, "int %" PRId64, e->i);
		break;
	case AST_FLOAT:
		line(d, depth, "float %.17g", e->f);
		break;
	case AST_STRING:
		line(d, depth, "string \"%s\"", e->name);
		break;
	case AST_BOOL:
		line(d, depth, e->i ? "true" : "false");
		break;
	case AST_NAME:
		line(d, depth, "name %s", e->name);
		break;
	case AST_FAMILY: {
		const char *text = "";
		for (int i = 0; i <= e->nargs; i++)
			text = arena_printf(d->arena, "%s%s%s", text,
					    i ? "{}" : "", e->texts[i]);
		line(d, depth, "family %s", text);
		break;
	}
	case AST_CALL:
		line(d, depth, "call %s%s", e->name,
		     e->open_named ? " .." : "");
		break;
	case AST_UNARY:
	case AST_BINARY:
		line(d, depth, "%s", ast_operator_text(e->op));
		break;
	case AST_PACK:
		dump_pack(d, e->pack, depth);
		break;
	default: {
		static const char *const words[] = {
			[AST_LIST] = "list",   [AST_SLICE] = "slice",
			[AST_INDEX] = "index", [AST_GUARD] = "guard",
			[AST_IF] = "if",       [AST_LAMBDA] = "lambda",
		};
		line(d, depth, "%s", words[e->kind]);
	}
	}
}

static void dump_expr(dumper *d, const ast_expr *e, int depth)
{
	dump_head(d, e, depth);
	dump_vars(d, e, depth + 1);
	for (int i = 0; i < e->nargs; i++)
		dump_expr(d, e->args[i], depth + 1);
	for (int i = 0; i < e->nnamed; i++) {
		line(d, depth + 1, "named %s", e->named[i].name);
		dump_expr(d, e->named[i].value, depth + 2);
	}
}

/* ---- signatures --------------------------------------------------------- */

static void dump_tensors(dumper *d, const char *what, const ast_tensor *t,
			 int n)
{
	for (; n > 0; n--, t++) {
		line(d, 1, "%s %s%s%s%s%s%s%s%s", what, t->name,
		     t->broadcast ? " broadcast" : "",
		     t->optional ? " optional" : "",
		     t->variadic ? " variadic" : "",
		     t->constant ? " const" : "", t->is_list ? " list" : "",
		     t->type.name ? " : " : "",
		     t->type.name ? t->type.name : "");
		for (int i = 0; i < t->ndims; i++)
			dump_expr(d, t->dims[i], 2);
	}
}

static void dump_attrs(dumper *d, const ast_attr *a, int n)
{
	for (; n > 0; n--, a++) {
		line(d, 1, "attribute %s : %s%s%s", a->name,
		     ast_attr_type_text(a->type),
		     !a->is_list ? ""
		     : a->length < 0
			     ? "[]"
			     : arena_printf(d->arena, "[%d]", a->length),
		     a->optional ? "?" : "");
		if (a->init)
			dump_expr(d, a->init, 2);
	}
}

static void dump_doc(dumper *d, const char *doc)
{
	while (doc) {
		const char *end = strchr(doc, '\n');
		line(d, 1, "doc %.*s",
		     (int)(end ? end - doc : (long)strlen(doc)), doc);
		doc = end ? end + 1 : NULL;
	}
}

/* ---- statements --------------------------------------------------------- */

static void dump_block(dumper *d, ast_stmt *const *body, int n, int depth);

static void dump_target(dumper *d, const ast_expr *e, int depth)
{
	if (e->kind == AST_NAME)
		line(d, depth, "target %s", e->name);
	else
		dump_expr(d, e, depth);
}

static void dump_stmt(dumper *d, const ast_stmt *s, int depth)
{
	static const char *const words[] = {
		[STMT_ASSIGN] = "assign", [STMT_IF] = "if",
		[STMT_RETURN] = "return", [STMT_INPUT] = "input",
		[STMT_PARAM] = "param",	  [STMT_STATE] = "state",
		[STMT_NEXT] = "next",	  [STMT_OUTPUT] = "output",
	};
	switch (s->kind) {
	case STMT_FOR:
		line(d, depth, "for %s%s", s->var, s->each ? " in" : "");
		break;
	case STMT_CALL:
		line(d, depth, "%s", s->var);
		break;
	default:
		line(d, depth, "%s%s%s", words[s->kind],
		     s->type.name ? " : " : "",
		     s->type.name ? s->type.name : "");
	}
	for (int i = 0; i < s->ntargets; i++)
		dump_target(d, s->targets[i], depth + 1);
	if (s->value)
		dump_expr(d, s->value, depth + 1);
	for (int i = 0; i < s->nvalues; i++)
		dump_expr(d, s->values[i], depth + 1);
	dump_block(d, s->body, s->nbody, depth + 1);
	if (s->nother)
		line(d, depth, "else");
	dump_block(d, s->other, s->nother, depth + 1);
}

static void dump_block(dumper *d, ast_stmt *const *body, int n, int depth)
{
	for (int i = 0; i < n; i++)
		dump_stmt(d, body[i], depth);
}

/* ---- definitions -------------------------------------------------------- */

static void dump_op(dumper *d, const ast_op *o)
{
	line(d, 0, "op %s", o->name);
	dump_doc(d, o->doc);
	dump_tensors(d, "parameter", o->params, o->nparams);
	dump_attrs(d, o->attrs, o->nattrs);
	dump_tensors(d, "result", o->results, o->nresults);
	for (int i = 0; i < o->nlets; i++) {
		line(d, 1, "let");
		for (int j = 0; j < o->lets[i].nnames; j++)
			line(d, 2, "target %s", o->lets[i].names[j]);
		dump_expr(d, o->lets[i].value, 2);
	}
	for (int i = 0; i < o->nbodies; i++)
		dump_expr(d, o->bodies[i], 1);
}

static void dump_params(dumper *d, const ast_named *params, int n)
{
	for (int i = 0; i < n; i++) {
		line(d, 1, "parameter %s", params[i].name);
		if (params[i].value)
			dump_expr(d, params[i].value, 2);
	}
}

static void dump_def(dumper *d, const ast_def *def)
{
	switch (def->kind) {
	case DEF_OP:
		dump_op(d, def->op);
		return;
	case DEF_OPAQUE:
		line(d, 0, "opaque %s \"%s\"", def->opaque->name,
		     def->opaque->symbol);
		dump_doc(d, def->opaque->doc);
		dump_tensors(d, "parameter", def->opaque->params,
			     def->opaque->nparams);
		dump_attrs(d, def->opaque->attrs, def->opaque->nattrs);
		dump_tensors(d, "result", def->opaque->results,
			     def->opaque->nresults);
		return;
	case DEF_BLOCK:
		line(d, 0, "def %s", def->block->name);
		dump_doc(d, def->block->doc);
		dump_params(d, def->block->params, def->block->nparams);
		dump_block(d, def->block->body, def->block->nbody, 1);
		return;
	case DEF_MODEL:
		line(d, 0, "model %s", def->model->name);
		dump_doc(d, def->model->doc);
		dump_params(d, def->model->params, def->model->nparams);
		dump_block(d, def->model->body, def->model->nbody, 1);
		return;
	case DEF_ONNX:
		line(d, 0, "onnx \"%s\" \"%s\" %d..%d", def->onnx->domain,
		     def->onnx->op_type, def->onnx->since, def->onnx->until);
		dump_doc(d, def->onnx->doc);
		dump_tensors(d, "input", def->onnx->params,
			     def->onnx->nparams);
		dump_attrs(d, def->onnx->attrs, def->onnx->nattrs);
		dump_block(d, def->onnx->body, def->onnx->nbody, 1);
		return;
	case DEF_IMPORT:
		line(d, 0, "import \"%s\"", def->import);
		return;
	}
}

char *dsl_dump(arena *a, const ast_module *m)
{
	dumper d = { .arena = arena_new() };
	for (int i = 0; i < m->ndefs; i++)
		dump_def(&d, &m->defs[i]);
	char *text = arena_strndup(a, d.out.n ? d.out.at : "",
				   (size_t)d.out.n);
	arena_free(d.arena);
	return text;
}
