/* Nodes of trees as they are written, shared by the files tree*.c alone:
 * parentheses by precedence, and nothing simplified. */
#ifndef TDL_COMPILER_GRADIENT_TREE_NODE_H
#define TDL_COMPILER_GRADIENT_TREE_NODE_H

#include <math.h>

#include "compiler/gradient/tree.h"

ast_expr *tree_node(trees *t, ast_kind kind, int n, ast_expr *const *args);

/* x as an operand that has to bind so. */
ast_expr *tree_operand(trees *t, ast_expr *x, ast_precedence least);

/* x without an operator around it. */
ast_expr *tree_alone(trees *t, ast_expr *x);

/* A node of `first`, where there is one, and of items. */
ast_expr *tree_list(trees *t, ast_kind kind, ast_expr *first, int n,
		    ast_expr *const *items);

/* An operator as it is written; the right operand binds tighter. */
ast_expr *tree_plain(trees *t, ast_operator op, ast_expr *x, ast_expr *y);

/* The sum of the terms with this sign, as positive ones; NULL for none. */
ast_expr *tree_sum_of(trees *t, const tree_terms *terms, int sign);

/* Whether the text shows that e is a whole number: arithmetic on variables,
 * sizes, attributes and positions. */
bool tree_is_whole(const trees *t, const ast_expr *e);

/* r, which an operation on x and y was simplified to, as a fraction where that
 * is one, all being constants. */
ast_expr *tree_as_before(trees *t, ast_expr *r, const ast_expr *x,
			 const ast_expr *y);

static inline bool is_op(const ast_expr *e, ast_operator op)
{
	return (e->kind == AST_BINARY || e->kind == AST_UNARY) && e->op == op;
}

/* Whether it is a product with 0, which is left as it is where it may be NaN,
 * as of an infinite number. */
static inline bool has_zero(const ast_expr *e)
{
	return is_op(e, OP_MUL) &&
	       (tree_is_zero(e->args[0]) || tree_is_zero(e->args[1]));
}

/* Up to which a double has all whole numbers. */
#define MOST_WHOLE 0x1p53

/* That can be computed with here: not infinity, which is a number of each
 * integer type, too, nor a whole number that would be rounded. */
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
