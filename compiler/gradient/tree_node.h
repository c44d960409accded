/* Nodes of trees without simplification, parenthesised by precedence.  Shared
 * by the files tree*.c alone. */
#ifndef TDL_COMPILER_GRADIENT_TREE_NODE_H
#define TDL_COMPILER_GRADIENT_TREE_NODE_H

#include <math.h>

#include "compiler/gradient/tree.h"

ast_expr *tree_node(trees *t, ast_kind kind, int n, ast_expr *const *args);

/* x as an operand that must bind at least so tightly. */
ast_expr *tree_operand(trees *t, ast_expr *x, ast_precedence least);

/* x without parentheses, as it stands alone. */
ast_expr *tree_alone(trees *t, ast_expr *x);

/* A node of `first', unless NULL, followed by the items. */
ast_expr *tree_list(trees *t, ast_kind kind, ast_expr *first, int n,
		    ast_expr *const *items);

/* A binary operator as written; its right operand binds more tightly. */
ast_expr *tree_plain(trees *t, ast_operator op, ast_expr *x, ast_expr *y);

/* The sum of the terms with this sign, as positive terms; NULL if there are
 * none. */
ast_expr *tree_sum_of(trees *t, const tree_terms *terms, int sign);

/* Whether the text shows that e is a whole number: arithmetic on variables,
 * sizes, attributes and positions. */
bool tree_is_whole(const trees *t, const ast_expr *e);

/* r, the simplified result of an operation on x and y, as a fraction if the
 * operation gives one; all three are constants. */
ast_expr *tree_as_before(trees *t, ast_expr *r, const ast_expr *x,
			 const ast_expr *y);

static inline bool is_op(const ast_expr *e, ast_operator op)
{
	return (e->kind == AST_BINARY || e->kind == AST_UNARY) && e->op == op;
}

/* Whether e is a product with 0.  It is left alone where it may be NaN, because
 * the other factor may be infinite. */
static inline bool has_zero(const ast_expr *e)
{
	return is_op(e, OP_MUL) &&
	       (tree_is_zero(e->args[0]) || tree_is_zero(e->args[1]));
}

/* Doubles represent all whole numbers up to this. */
#define MOST_WHOLE 0x1p53

/* Whether e is a number that can be computed with here: not infinity, which is
 * also a value of each integer type, nor a whole number that would be
 * rounded. */
static inline bool is_number(const ast_expr *e)
{
	return e->kind == AST_INT ? fabs((double)e->i) < MOST_WHOLE
				  : e->kind == AST_FLOAT && isfinite(e->f);
}

static inline double number(const ast_expr *e)
{
	return e->kind == AST_INT ? (double)e->i : e->f;
}

#endif
