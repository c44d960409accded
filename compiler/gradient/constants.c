/* The types that constants take from what is around them, written out where
 * the expression comes to stand elsewhere: of a reduction, which becomes a
 * stage of its own, and of infinity, which is a number of each integer type. */
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

/* own, or where that is a constant's or no number's `around', which a fraction
 * cannot have of integers. */
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

/* The type of numbers that are compared, where `around' may be that of the
 * condition: then it is the one that tensors share, or the least that fits. */
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
	if (e->kind == AST_GUARD) /* the value outside stays a constant */
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

/* That of a constant, which is i64 or f32 there, is the same everywhere. */
ast_expr *grad_typed_argument(grad_op *g, const ast_expr *before, ast_expr *e)
{
	builtin_rule rule = rule_of(e);
	if ((rule == RULE_CAST || rule == RULE_BITCAST) &&
	    rule_of(before) == rule && /* no choice that is decided */
	    !grad_has_type(g, e->args[0]) && grad_has_type(g, before->args[0]))
		e->args[0] = grad_cast(g, e->args[0],
				       grad_type(g, before->args[0]));
	return e;
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
