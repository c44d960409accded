/* Constants: integers are computed in i64, fractions in f64.  Simplification
 * keeps the kind: (1.5 + 0.5) / 4 is 0.5. */
#include "config.h"

#include <math.h>

#include "compiler/gradient/tree_node.h"

/* The kind of numbers in an expression.  An expression with typed numbers is no
 * constant. */
typedef enum content { WHOLE, FRACTION, TYPED } content;

static content content_of(const trees *t, const ast_expr *e);

/* The common kind of the operands from number `first' on. */
static content of_operands(const trees *t, const ast_expr *e, int first)
{
	content all = WHOLE;
	for (int i = first; i < e->nargs && all != TYPED; i++) {
		content one = content_of(t, e->args[i]);
		all = one > all ? one : all;
	}
	return all;
}

static content of_name(const trees *t, const ast_expr *e)
{
	const ast_symbol *s = e->symbol;
	if (!s || s->kind == SYMBOL_TENSOR)
		return TYPED;
	if (s->kind != SYMBOL_ATTR)
		return WHOLE;
	return t->op->attrs[s->index].type == ATTR_FLOAT ? FRACTION : WHOLE;
}

static content of_call(const trees *t, const ast_expr *e)
{
	const builtin *f = e->calls.function;
	content of = f ? of_operands(t, e, 0) : TYPED;
	switch (f ? f->rule : RULE_NONE) {
	case RULE_NONE:
	case RULE_CAST:
	case RULE_BITCAST:
	case RULE_WHERE:
		return TYPED;
	case RULE_FLOAT:
		return of == TYPED ? TYPED : f->reducer ? of : FRACTION;
	case RULE_SATURATE:
		return content_of(t, e->args[0]);
	case RULE_SELECT:
		return of_operands(t, e, 1);
	default:
		return of;
	}
}

static content content_of(const trees *t, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
	case AST_PACK:
		return WHOLE;
	case AST_FLOAT: /* infinity is a number of every type */
		return isinf(e->f) ? WHOLE : FRACTION;
	case AST_NAME:
		return of_name(t, e);
	case AST_INDEX:
		return of_name(t, e->args[0]);
	case AST_IF:
		return of_operands(t, e, 1);
	case AST_CALL:
		return of_call(t, e);
	case AST_UNARY:
	case AST_BINARY:
	case AST_LAMBDA:
		return of_operands(t, e, 0);
	default:
		return TYPED;
	}
}

static ast_expr *as_fraction(trees *t, ast_expr *x)
{
	return x->kind == AST_INT
		       ? tree_float(t, (double)x->i)
		       : tree_plain(t, OP_DIV, x, tree_float(t, 1));
}

ast_expr *tree_like_fraction(trees *t, ast_expr *x, const ast_expr *other)
{
	return content_of(t, x) == WHOLE && content_of(t, other) == FRACTION
		       ? as_fraction(t, x) : x;
}

ast_expr *tree_as_before(trees *t, ast_expr *r, const ast_expr *x,
			 const ast_expr *y)
{
	if (content_of(t, r) != WHOLE)
		return r;
	content before = content_of(t, x), other = content_of(t, y);
	before = other > before ? other : before;
	return before == FRACTION ? as_fraction(t, r) : r;
}
