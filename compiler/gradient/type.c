/* The element types of expressions, as far as the text says them. */
#include "config.h"

#include "compiler/gradient/stage.h"
#include "dsl/builtins.h"

/* The name of a tensor of the derived operator whose declaration leaves its
 * type open, so that it has the type that all of these share: the derivative of
 * a result, or else a parameter. */
static const char *of_shared_type(grad_op *g)
{
	const ast_op *op = g->op;
	for (int i = 0; i < op->nresults; i++)
		if (op->results[i].type.kind == TYPE_SHARED)
			return grad_adjoint_name(g, g->results[i]);
	for (int i = 0; i < op->nparams; i++)
		if (op->params[i].type.kind == TYPE_SHARED)
			return op->params[i].name;
	return NULL;
}

static const ast_type any = {.kind = TYPE_ANY};

/* Of a class it is the argument that has a type. */
ast_type grad_declared_type(const ast_tensor *t)
{
	if (t->type.kind == TYPE_INT || t->type.kind == TYPE_FLOAT)
		return (ast_type){.kind = TYPE_TENSOR, .name = t->name};
	return t->type;
}

/* The first of a list of expressions that has a type. */
static ast_type first_type(const grad_op *g, ast_expr *const *e, int n)
{
	ast_type type = any;
	for (int i = 0; i < n && type.kind == TYPE_ANY; i++)
		type = grad_type(g, e[i]);
	return type;
}

/* The type that an opaque function returns: the declared one, or that of the
 * first slice that it is given. */
static ast_type opaque_type(const grad_op *g, const ast_expr *call)
{
	const ast_opaque *f = call->calls.opaque;
	if (f->results[0].type.kind != TYPE_SHARED)
		return f->results[0].type;
	return first_type(g, call->args, call->nargs);
}

static ast_type read_type(const grad_op *g, const ast_expr *e)
{
	const ast_expr *base = e->args[0];
	if (base->kind == AST_CALL)
		return opaque_type(g, base);
	int t = base->kind == AST_NAME ? grad_find_tensor(g, base->name) : -1;
	for (int i = 0; t < 0 && i < g->adjoints.n; i++)
		t = g->adjoints.at[i] == base->name ? i : -1;
	return t >= 0 ? g->tensors.at[t].type : any;
}

static ast_type call_type(const grad_op *g, const ast_expr *e)
{
	const builtin *f = e->calls.function;
	switch (f ? f->rule : RULE_NONE) {
	case RULE_TEST:
	case RULE_LOGIC:
		return ast_type_exact(DT_BOOL);
	case RULE_WHERE:
	case RULE_POSITION:
		return ast_type_exact(DT_I64);
	case RULE_CAST:
	case RULE_BITCAST:
		return *e->args[1]->type;
	case RULE_SATURATE:
		return grad_type(g, e->args[0]);
	case RULE_SELECT:
		return first_type(g, e->args + 1, e->nargs - 1);
	case RULE_LENGTH:
	case RULE_POINTS:
		return any;
	default:
		return first_type(g, e->args, e->nargs);
	}
}

static ast_type binary_type(const grad_op *g, const ast_expr *e)
{
	switch (e->op) {
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
		return first_type(g, e->args, e->nargs);
	default:
		return ast_type_exact(DT_BOOL);
	}
}

ast_type grad_type(const grad_op *g, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INDEX:
		return read_type(g, e);
	case AST_NAME:
		return grad_is_global(g, e->name) ? any
						  : ast_type_exact(DT_I64);
	case AST_BOOL:
		return ast_type_exact(DT_BOOL);
	case AST_UNARY:
		return e->op == OP_NOT ? ast_type_exact(DT_BOOL)
					: grad_type(g, e->args[0]);
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
		return any;
	}
}

/* The declared type, possibly a class, that a result of grad_type() stands for,
 * which may be that of a parameter. */
static ast_type resolved(const grad_op *g, ast_type type)
{
	for (int i = 0; type.kind == TYPE_TENSOR && i < g->op->nparams; i++)
		if (g->op->params[i].name == type.name &&
		    g->op->params[i].type.kind != TYPE_SHARED)
			return g->op->params[i].type;
	return type;
}

bool grad_is_float_type(const grad_op *g, ast_type type)
{
	ast_type t = resolved(g, type);
	return t.kind == TYPE_EXACT ? dtype_is_float(t.exact)
				    : t.kind != TYPE_INT;
}

/* Whether a type is that of a tensor by which there is a derivative. */
static bool has_derivative(const grad_op *g, ast_type type)
{
	for (int i = 0; i < g->adjoints.n; i++) {
		ast_type of = g->tensors.at[i].type;
		if (g->adjoints.at[i] && of.kind == type.kind &&
		    of.name == type.name)
			return true;
	}
	return false;
}

bool grad_is_surely_float(const grad_op *g, const ast_expr *e)
{
	ast_type type = resolved(g, grad_type(g, e));
	switch (type.kind) {
	case TYPE_EXACT:
		return dtype_is_float(type.exact);
	case TYPE_FLOAT:
		return true;
	case TYPE_SHARED:
	case TYPE_NAMED:
	case TYPE_TENSOR:
		return has_derivative(g, type);
	default:
		return false;
	}
}

ast_expr *grad_cast(grad_op *g, ast_expr *e, ast_type type)
{
	if (type.kind == TYPE_SHARED)
		type = (ast_type){.kind = TYPE_TENSOR,
				  .name = of_shared_type(g)};
	for (int i = 0; type.kind == TYPE_TENSOR && i < g->op->nresults; i++)
		if (g->op->results[i].name == type.name)
			type.name = grad_adjoint_name(g, g->results[i]);
	if (!type.name)
		return e;
	ast_expr *to = tree_name(&g->t, intern(g->t.names, type.name));
	to->type = ARENA_COPY(g->t.a, &type, 1);
	ast_expr *args[] = {e, to};
	return tree_function(&g->t, SCALAR_cast, 2, args);
}
