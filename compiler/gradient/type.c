/* The element types of expressions, as far as the text determines them. */
#include "config.h"

#include "compiler/gradient/stage.h"
#include "compiler/gradient/tree_node.h"
#include "dsl/builtins.h"

/* A tensor of the derived operator whose declaration leaves the type open, so
 * that it has the type shared by all such tensors.  It is the derivative of a
 * result, or else a parameter; NULL if there is none. */
static const ast_symbol *of_shared_type(grad_op *g)
{
	const ast_op *op = g->op;
	for (int i = 0; i < op->nresults; i++)
		if (op->results[i].type.kind == TYPE_SHARED)
			return grad_adjoint(g, g->results[i]);
	for (int i = 0; i < op->nparams; i++)
		if (op->params[i].type.kind == TYPE_SHARED)
			return g->symbols.at[i];
	return NULL;
}

/* A type that is only a class, any integer or any float, refers to argument
 * s. */
etype grad_declared_type(const ast_tensor *t, const ast_symbol *s)
{
	etype type = etype_declared(&t->type);
	if (type.kind == TY_ANY_INT || type.kind == TY_ANY_FLOAT)
		type.symbol = s;
	return type;
}

/* ---- expressions -------------------------------------------------------- */

static etype of_name(void *arg, const ast_expr *e)
{
	const grad_op *g = arg;
	int t = grad_tensor_like(g, e);
	if (t >= 0)
		return g->tensors.at[t].type;
	return e->symbol && e->symbol->kind != SYMBOL_VAR
		       ? (etype){.kind = TY_INT} : etype_exact(DT_I64);
}

/* The type of a tensor may be the type of a derivative. */
static etype said(void *arg, const ast_type *t)
{
	ast_expr name = {.kind = AST_NAME, .symbol = t->symbol};
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

/* Whether a type is that of a tensor by which a derivative exists. */
static bool has_derivative(const grad_op *g, etype type)
{
	for (int i = 0; i < g->adjoints.n; i++) {
		etype of = g->tensors.at[i].type;
		if (g->adjoints.at[i] && of.kind == type.kind &&
		    of.symbol == type.symbol)
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

/* The type named by an attribute's value or a tensor; no type if s is NULL. */
static ast_type type_by(ast_type_kind kind, const ast_symbol *s)
{
	return (ast_type){.kind = kind, .name = s ? s->name : NULL,
			  .symbol = s};
}

/* The type of a tensor of the operator; for a result, the type of the
 * derivative by it. */
static ast_type type_of_tensor(grad_op *g, const ast_symbol *s)
{
	for (int i = 0; i < g->op->nresults; i++)
		if (s && g->tensor_of.at[s->number] == g->results[i])
			s = grad_adjoint(g, g->results[i]);
	return type_by(TYPE_TENSOR, s);
}

/* A type as written in a conversion.  .name is NULL if it cannot be written. */
static ast_type written(grad_op *g, etype type)
{
	switch (type.kind) {
	case TY_EXACT:
		return ast_type_exact(type.exact);
	case TY_ATTR:
		return type_by(TYPE_NAMED, type.symbol);
	case TY_SHARED:
		return type_of_tensor(g, of_shared_type(g));
	case TY_ANY_INT:
	case TY_ANY_FLOAT:
		return type_of_tensor(g, type.symbol);
	default:
		return type_by(TYPE_ANY, NULL);
	}
}

ast_expr *grad_cast(grad_op *g, ast_expr *e, etype type)
{
	ast_type t = written(g, type);
	if (!t.name)
		return e;
	ast_expr *to = tree_node(&g->t, AST_NAME, 0, NULL);
	to->name = intern(g->t.names, t.name);
	to->symbol = t.symbol;
	to->type = ARENA_COPY(g->t.a, &t, 1);
	ast_expr *args[] = {e, to};
	return tree_function(&g->t, SCALAR_cast, 2, args);
}

/* ---- division by 0 ------------------------------------------------------ */

/* Whether e is 0, or 0 of some type. */
static bool is_none(const ast_expr *e)
{
	const builtin *f = e->kind == AST_CALL ? e->calls.function : NULL;
	return tree_is_int(f && f->rule == RULE_CAST ? e->args[0] : e, 0);
}

static bool is_divided_by_none(const grad_op *g, const ast_expr *e)
{
	return e->kind == AST_BINARY && (e->op == OP_DIV || e->op == OP_MOD) &&
	       is_none(e->args[1]) &&
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
