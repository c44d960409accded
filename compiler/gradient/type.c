/* The element types of expressions, as far as the text says them. */
#include "config.h"

#include <string.h>

#include "compiler/gradient/stage.h"
#include "dsl/builtins.h"

/* The name of a tensor of the derived operator whose declaration leaves its
 * type open, so that it has the type that all of these share: the derivative of
 * a result, or else a parameter. */
static const char *shared_type(grad_op *g)
{
	const ast_op *op = g->op;
	for (int i = 0; i < op->nresults; i++)
		if (!op->results[i].type.name)
			return grad_adjoint_name(g, g->results[i]);
	for (int i = 0; i < op->nparams; i++)
		if (!op->params[i].type.name)
			return op->params[i].name;
	return NULL;
}

/* Whether a declared type is a class; the argument has a type of that class. */
static bool is_class(const char *type)
{
	return !strcmp(type, "int") || !strcmp(type, "float");
}

const char *grad_declared_type(const ast_tensor *t)
{
	if (!t->type.name)
		return GRAD_SHARED_TYPE;
	return is_class(t->type.name) ? t->name : t->type.name;
}

/* The first of a list of expressions that has a type. */
static const char *first_type(const grad_op *g, ast_expr *const *e, int n)
{
	const char *type = NULL;
	for (int i = 0; i < n && !type; i++)
		type = grad_type(g, e[i]);
	return type;
}

/* The type that an opaque function returns: the declared one, or that of the
 * first slice that it is given. */
static const char *opaque_type(const grad_op *g, const ast_expr *call)
{
	const ast_opaque *f = call->calls.opaque;
	if (f && f->results[0].type.name)
		return f->results[0].type.name;
	return first_type(g, call->args, call->nargs);
}

static const char *read_type(const grad_op *g, const ast_expr *e)
{
	const ast_expr *base = e->args[0];
	if (base->kind == AST_CALL)
		return opaque_type(g, base);
	int t = base->kind == AST_NAME ? grad_find_tensor(g, base->name) : -1;
	return t >= 0 ? g->tensors.at[t].type : NULL;
}

static const char *call_type(const grad_op *g, const ast_expr *e)
{
	const builtin *f = e->calls.function;
	switch (f ? f->rule : RULE_NONE) {
	case RULE_TEST:
	case RULE_LOGIC:
		return "bool";
	case RULE_WHERE:
	case RULE_POSITION:
		return "i64";
	case RULE_CAST:
	case RULE_BITCAST:
		return e->args[1]->name;
	case RULE_SATURATE:
		return grad_type(g, e->args[0]);
	case RULE_SELECT:
		return first_type(g, e->args + 1, e->nargs - 1);
	case RULE_LENGTH:
	case RULE_POINTS:
		return NULL;
	default:
		return first_type(g, e->args, e->nargs);
	}
}

static const char *binary_type(const grad_op *g, const ast_expr *e)
{
	switch (e->op) {
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
		return first_type(g, e->args, e->nargs);
	default:
		return "bool";
	}
}

const char *grad_type(const grad_op *g, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INDEX:
		return read_type(g, e);
	case AST_NAME:
		return grad_is_global(g, e->name) ? NULL : "i64";
	case AST_BOOL:
		return "bool";
	case AST_UNARY:
		return e->op == OP_NOT ? "bool" : grad_type(g, e->args[0]);
	case AST_BINARY:
		return binary_type(g, e);
	case AST_IF:
		return first_type(g, e->args + 1, 2);
	case AST_LAMBDA:
	case AST_GUARD:
		return grad_type(g, e->args[0]);
	case AST_CALL:
		return call_type(g, e);
	default:
		return NULL;
	}
}

/* The declared type, possibly "int" or "float", that a result of grad_type()
 * stands for, which may be the name of a parameter that has that type. */
static const char *resolved(const grad_op *g, const char *type)
{
	for (int i = 0; type && i < g->op->nparams; i++)
		if (!strcmp(g->op->params[i].name, type) &&
		    g->op->params[i].type.name)
			return g->op->params[i].type.name;
	return type;
}

bool grad_is_float_name(const char *name)
{
	dtype t = name ? dtype_parse(name) : DT_NONE;
	return !name || dtype_is_float(t) ||
	       (t == DT_NONE && strcmp(name, "int"));
}

bool grad_is_float_type(const grad_op *g, const char *type)
{
	return grad_is_float_name(resolved(g, type));
}

ast_expr *grad_cast(grad_op *g, ast_expr *e, const char *type)
{
	if (type && !strcmp(type, GRAD_SHARED_TYPE))
		type = shared_type(g);
	if (!type)
		return e;
	ast_expr *args[] = {e, tree_name(&g->t, intern(g->t.names, type))};
	return tree_function(&g->t, SCALAR_cast, 2, args);
}
