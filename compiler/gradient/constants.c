/* Types that constants take from their context.  The types are written out
 * where an expression is moved: a reduction becomes a stage of its own, and
 * infinity is a different number in each integer type. */
#include "config.h"

#include <math.h>

#include "compiler/gradient/stage.h"

static builtin_rule rule_of(const ast_expr *e)
{
	const builtin *f = e->kind == AST_CALL ? e->calls.function : NULL;
	return f ? f->rule : RULE_NONE;
}

static bool has_no_type(etype t)
{
	return t.kind == TY_UNKNOWN || etype_is_constant(t);
}

static bool is_of_integers(etype t)
{
	return t.kind == TY_ANY_INT ||
	       (t.kind == TY_EXACT && dtype_is_int(t.exact));
}

/* The type own; if own belongs to a constant or to no number, `around'.  A
 * fraction cannot have an integer type. */
static etype either(etype own, etype around)
{
	if (own.kind == TY_FLOAT && is_of_integers(around))
		return etype_exact(DT_F32);
	return has_no_type(own) || etype_is_bool(own) ? around : own;
}

static bool has_shared_type(const ast_op *op)
{
	for (int i = 0; i < op->nparams; i++)
		if (op->params[i].type.kind == TYPE_SHARED)
			return true;
	for (int i = 0; i < op->nresults; i++)
		if (op->results[i].type.kind == TYPE_SHARED)
			return true;
	return false;
}

/* The type of numbers that are compared.  If `around' is the type of the
 * condition, it is the type shared by the tensors, or the smallest that
 * fits. */
static etype compared_type(const grad_op *g, etype own, etype around)
{
	if (!etype_is_bool(around))
		return either(own, around);
	if (own.kind == TY_FLOAT && !has_shared_type(g->op))
		return etype_exact(DT_F32);
	return either(own, (etype){.kind = TY_SHARED});
}

etype grad_operands_type(const grad_op *g, const ast_expr *e, etype around)
{
	bool compares = e->kind == AST_BINARY && e->op >= OP_LT &&
			e->op <= OP_NE;
	switch (rule_of(e)) {
	case RULE_WHERE:
		return grad_common_type(g, e->args[0]->args, 1);
	case RULE_CAST:
	case RULE_BITCAST:
		return either(grad_common_type(g, e->args, 1), around);
	case RULE_TEST:
		compares = true;
		break;
	default:
		break;
	}
	if (compares)
		return compared_type(g, grad_common_type(g, e->args, e->nargs),
				     around);
	if (e->kind == AST_INDEX)
		return etype_exact(DT_I64);
	if (e->kind == AST_GUARD) /* the value outside remains a constant */
		return etype_unknown;
	return either(grad_type(g, e), around);
}

ast_expr *grad_still_typed(grad_op *g, ast_expr *body, const ast_expr *before)
{
	etype type = grad_type(g, before);
	bool lost = !grad_has_type(g, body) && grad_has_type(g, before) &&
		    type.kind != TY_SHARED;
	return lost ? grad_cast(g, body, type) : body;
}

bool grad_absorbs_zero(const ast_expr *e)
{
	return (e->kind == AST_UNARY && e->op == OP_NEG) ||
	       (e->kind == AST_BINARY &&
		(e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL));
}

/* Whether e has a type and its simplified form x has none. */
static bool has_lost_type(const grad_op *g, const ast_expr *x,
			  const ast_expr *e)
{
	return !grad_has_type(g, x) && grad_has_type(g, e) &&
	       !etype_is_bool(grad_type(g, e));
}

/* A zero in a derivative needs no type: it is omitted, or only added to.  A
 * zero from the operator's own text keeps its type. */
ast_expr *grad_chosen(void *arg, ast_expr *x, const ast_expr *other)
{
	grad_op *g = arg;
	if (g->complete && tree_is_zero(x))
		return x;
	if (has_lost_type(g, x, other))
		return grad_cast(g, x, grad_type(g, other));
	return tree_like_fraction(&g->t, x, other);
}

/* Integers lose nothing if the type i64 is dropped. */
ast_expr *grad_typed_number(grad_op *g, ast_expr *x, const ast_expr *e)
{
	bool arithmetic = e->kind == AST_UNARY || e->kind == AST_BINARY ||
			  (e->kind == AST_CALL && !ast_reducer(e));
	if (!arithmetic || !has_lost_type(g, x, e) ||
	    etype_is(grad_type(g, e), DT_I64))
		return x;
	return grad_cast(g, x, grad_type(g, e));
}

/* inf or -inf */
static bool is_infinity(const ast_expr *e)
{
	if (e->kind == AST_UNARY && e->op == OP_NEG)
		e = e->args[0];
	return e->kind == AST_FLOAT && isinf(e->f);
}

ast_expr *grad_typed_infinity(grad_op *g, const ast_expr *e, etype type)
{
	if (!is_infinity(e) || !is_of_integers(type))
		return NULL;
	return grad_cast(g, tree_map(&g->t, e, NULL, NULL), type);
}

ast_expr *grad_typed_reduction(grad_op *g, ast_expr *e, etype type)
{
	if (!ast_reducer(e) || rule_of(e) == RULE_WHERE ||
	    rule_of(e) == RULE_LOGIC || type.kind == TY_SHARED)
		return e;
	ast_expr *lambda = e->args[0], *body = lambda->args[0];
	if (!has_no_type(grad_type(g, body)) || has_no_type(type))
		return e;
	lambda = tree_lambda(&g->t, lambda->nvars, lambda->vars,
			     grad_cast(g, body, type));
	return tree_function(&g->t, e->calls.function->id, 1, &lambda);
}
