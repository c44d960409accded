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

/* Of a class it is the argument that has a type. */
etype grad_declared_type(const ast_tensor *t)
{
	etype type = etype_declared(&t->type);
	if (type.kind == TY_ANY_INT || type.kind == TY_ANY_FLOAT)
		type.name = t->name;
	return type;
}

/* ---- expressions -------------------------------------------------------- */

static etype of_name(void *arg, const ast_expr *e)
{
	const grad_op *g = arg;
	int t = grad_find_tensor(g, e->name);
	for (int i = 0; t < 0 && i < g->adjoints.n; i++)
		t = g->adjoints.at[i] == e->name ? i : -1;
	if (t >= 0)
		return g->tensors.at[t].type;
	return grad_is_global(g, e->name) ? (etype){.kind = TY_INT}
					  : etype_exact(DT_I64);
}

/* The type of a tensor by its name, which may be one of the derivatives. */
static etype said(void *arg, const ast_type *t)
{
	ast_expr name = {.kind = AST_NAME, .name = t->name};
	return t->kind == TYPE_TENSOR ? of_name(arg, &name) : etype_declared(t);
}

etype grad_said_type(const grad_op *g, const ast_type *t)
{
	return said((grad_op *)g, t);
}

etype grad_type(const grad_op *g, const ast_expr *e)
{
	etype_scope s = {.of_name = of_name, .said = said, .arg = (grad_op *)g};
	return etype_of(&s, e);
}

etype grad_common_type(const grad_op *g, ast_expr *const *e, int n)
{
	etype_scope s = {.of_name = of_name, .said = said, .arg = (grad_op *)g};
	return etype_of_operands(&s, e, n);
}

bool grad_has_type(const grad_op *g, const ast_expr *e)
{
	etype t = grad_type(g, e);
	return t.kind != TY_UNKNOWN && !etype_is_constant(t);
}

/* Whether a type is that of a tensor by which there is a derivative. */
static bool has_derivative(const grad_op *g, etype type)
{
	for (int i = 0; i < g->adjoints.n; i++) {
		etype of = g->tensors.at[i].type;
		if (g->adjoints.at[i] && of.kind == type.kind &&
		    of.name == type.name)
			return true;
	}
	return false;
}

bool grad_is_surely_float(const grad_op *g, const ast_expr *e)
{
	etype type = grad_type(g, e);
	switch (type.kind) {
	case TY_EXACT:
		return dtype_is_float(type.exact);
	case TY_ANY_FLOAT:
		return true;
	case TY_SHARED:
	case TY_ATTR:
		return has_derivative(g, type);
	default:
		return false;
	}
}

/* ---- conversions -------------------------------------------------------- */

/* A type as it is written in a conversion; .name is NULL for none. */
static ast_type written(grad_op *g, etype type)
{
	switch (type.kind) {
	case TY_EXACT:
		return ast_type_exact(type.exact);
	case TY_ATTR:
		return (ast_type){.kind = TYPE_NAMED, .name = type.name};
	case TY_SHARED:
		return (ast_type){.kind = TYPE_TENSOR,
				  .name = of_shared_type(g)};
	case TY_ANY_INT:
	case TY_ANY_FLOAT:
		return (ast_type){.kind = TYPE_TENSOR, .name = type.name};
	default:
		return (ast_type){.kind = TYPE_ANY};
	}
}

ast_expr *grad_cast(grad_op *g, ast_expr *e, etype type)
{
	ast_type t = written(g, type);
	for (int i = 0; t.kind == TYPE_TENSOR && i < g->op->nresults; i++)
		if (g->op->results[i].name == t.name)
			t.name = grad_adjoint_name(g, g->results[i]);
	if (!t.name)
		return e;
	ast_expr *to = tree_name(&g->t, intern(g->t.names, t.name));
	to->type = ARENA_COPY(g->t.a, &t, 1);
	ast_expr *args[] = {e, to};
	return tree_function(&g->t, SCALAR_cast, 2, args);
}

/* ---- division by 0 ------------------------------------------------------ */

static bool is_divided_by_none(const grad_op *g, const ast_expr *e)
{
	return e->kind == AST_BINARY && (e->op == OP_DIV || e->op == OP_MOD) &&
	       tree_is_int(e->args[1], 0) &&
	       !etype_may_be_float(grad_type(g, e));
}

static bool has_divided_by_none(const grad_op *g, const ast_expr *e)
{
	if (is_divided_by_none(g, e))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (has_divided_by_none(g, e->args[i]))
			return true;
	return false;
}

static ast_expr *none(void *arg, const ast_expr *e)
{
	grad_op *g = arg;
	return is_divided_by_none(g, e)
		       ? grad_cast(g, tree_int(&g->t, 0), grad_type(g, e))
		       : NULL;
}

ast_expr *grad_divided_by_none(grad_op *g, ast_expr *e)
{
	return has_divided_by_none(g, e) ? tree_map(&g->t, e, none, g) : e;
}
