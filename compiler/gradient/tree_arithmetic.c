/* Sums and products, simplified during construction. */
#include "config.h"

#include <math.h>

#include "base/checked.h"
#include "compiler/gradient/tree_node.h"

ast_expr *tree_neg(trees *t, ast_expr *x)
{
	if (tree_is_zero(x))
		return x;
	if (is_op(x, OP_NEG))
		return x->args[0];
	if (is_op(x, OP_SUB))
		return tree_sub(t, x->args[1], x->args[0]);
	if (is_op(x, OP_MUL) && is_number(x->args[0]) && number(x->args[0]) < 0)
		return tree_mul(t, tree_neg(t, x->args[0]), x->args[1]);
	x = tree_operand(t, x, BINDS_PRODUCT);
	ast_expr *e = tree_node(t, AST_UNARY, 1, &x);
	e->op = OP_NEG;
	return e;
}

/* Whether the product of two numbers can be written as a number. */
static bool folds(const ast_expr *x, const ast_expr *y)
{
	int64_t i;
	return is_number(x) && is_number(y) &&
	       (x->kind != AST_INT || y->kind != AST_INT ||
		ck_mul(x->i, y->i, &i));
}

static ast_expr *fold(trees *t, const ast_expr *x, const ast_expr *y)
{
	return x->kind == AST_INT && y->kind == AST_INT
		       ? tree_int(t, x->i * y->i)
		       : tree_float(t, number(x) * number(y));
}

static bool is_one(const ast_expr *e)
{
	return is_number(e) && number(e) == 1;
}

/* ---- sums -------------------------------------------------------------- */

/* The coefficient, or NaN where it may have been rounded or multiplied: from
 * MOST_WHOLE on, or from 2 on if it is that of a constant so great. */
static double exact(const ast_expr *of, double coef)
{
	double most = of->kind == AST_INT && !is_number(of) ? 2 : MOST_WHOLE;
	return fabs(coef) < most ? coef : NAN;
}

static void add_term(trees *t, tree_terms *to, ast_expr *of, double coef)
{
	for (int i = 0; i < to->n; i++)
		if (ast_same(to->at[i].of, of)) {
			to->at[i].coef = exact(of, to->at[i].coef + coef);
			return;
		}
	vec_push(t->a, to, ((tree_term){exact(of, coef), of}));
}

bool tree_is_exact(const tree_terms *terms)
{
	for (int i = 0; i < terms->n; i++)
		if (isnan(terms->at[i].coef))
			return false;
	return true;
}

void tree_collect(trees *t, tree_terms *to, ast_expr *e, double times)
{
	if (is_number(e)) {
		add_term(t, to, tree_int(t, 1), times * number(e));
	} else if (is_op(e, OP_NEG)) {
		tree_collect(t, to, e->args[0], -times);
	} else if (is_op(e, OP_ADD) || is_op(e, OP_SUB)) {
		tree_collect(t, to, e->args[0], times);
		tree_collect(t, to, e->args[1],
			     e->op == OP_SUB ? -times : times);
	} else if (is_op(e, OP_MUL) && is_number(e->args[0]) && !has_zero(e)) {
		tree_collect(t, to, e->args[1], times * number(e->args[0]));
	} else {
		add_term(t, to, e, times);
	}
}

static ast_expr *numeral(trees *t, double f)
{
	return f == floor(f) && fabs(f) < MOST_WHOLE
		       ? tree_int(t, (int64_t)f) : tree_float(t, f);
}

ast_expr *tree_sum_of(trees *t, const tree_terms *terms, int sign)
{
	ast_expr *sum = NULL;
	for (int last = 0; last < 2; last++)
		for (int i = 0; i < terms->n; i++) {
			double coef = sign * terms->at[i].coef;
			ast_expr *of = terms->at[i].of;
			/* A constant comes last. */
			if (coef <= 0 || is_number(of) != last)
				continue;
			of = last ? numeral(t, coef)
				  : tree_mul(t, numeral(t, coef), of);
			sum = sum ? tree_plain(t, OP_ADD, sum, of) : of;
		}
	return sum;
}

/* Subtracts the terms in order: positive - t1 - t2 .. */
static ast_expr *subtract(trees *t, ast_expr *sum, const tree_terms *terms)
{
	for (int last = 0; last < 2; last++)
		for (int i = 0; i < terms->n; i++) {
			double coef = -terms->at[i].coef;
			ast_expr *of = terms->at[i].of;
			if (coef <= 0 || is_number(of) != last)
				continue;
			of = last ? numeral(t, coef)
				  : tree_mul(t, numeral(t, coef), of);
			sum = sum ? tree_plain(t, OP_SUB, sum, of)
				  : tree_neg(t, of);
		}
	return sum ? sum : tree_int(t, 0);
}

/* Whether coef * q is b * (a / b), given r = a % b. */
static bool is_whole_of(const ast_expr *q, double coef, const ast_expr *r)
{
	const ast_expr *b = r->args[1];
	if (is_op(q, OP_MUL) && ast_same(q->args[1], b))
		q = q->args[0];
	else if (b->kind == AST_INT && b->i && coef == (double)b->i)
		coef = 1;
	else
		return false;
	return coef == 1 && is_op(q, OP_DIV) &&
	       ast_same(q->args[0], r->args[0]) && ast_same(q->args[1], b);
}

/* Replaces (a / b) * b + a % b by a, for integers. */
static void recompose(trees *t, tree_terms *terms)
{
	for (int i = 0; i < terms->n; i++)
		for (int j = 0; j < terms->n; j++) {
			const ast_expr *r = terms->at[j].of;
			double coef = terms->at[j].coef;
			if (!coef || !is_op(r, OP_MOD) ||
			    !tree_is_whole(t, r) ||
			    !is_whole_of(terms->at[i].of,
					 terms->at[i].coef / coef, r))
				continue;
			terms->at[i].coef = terms->at[j].coef = 0;
			tree_collect(t, terms, r->args[0], coef);
		}
}

static bool is_sum(const ast_expr *e)
{
	return is_op(e, OP_ADD) || is_op(e, OP_SUB) || is_op(e, OP_NEG);
}

/* The sum of x and y.  A new term without like terms is appended; otherwise the
 * sum is put in order. */
static ast_expr *sum(trees *t, ast_expr *x, ast_expr *y, double sign)
{
	tree_terms terms = {0};
	tree_collect(t, &terms, x, 1);
	int n = terms.n;
	tree_collect(t, &terms, y, sign);
	if (!tree_is_exact(&terms) ||
	    (terms.n == n + 1 && !is_sum(y) && !is_op(x, OP_NEG) &&
	     !is_op(y, OP_MOD) && !is_op(x, OP_MOD)))
		return tree_plain(t, sign < 0 ? OP_SUB : OP_ADD, x, y);
	recompose(t, &terms);
	return subtract(t, tree_sum_of(t, &terms, 1), &terms);
}

static ast_expr *simple_sum(trees *t, ast_expr *x, ast_expr *y)
{
	/* if c then a else 0, and if not c then b else 0 */
	if (x->kind == AST_IF && y->kind == AST_IF &&
	    tree_is_zero(x->args[2]) && tree_is_zero(y->args[2]) &&
	    ast_same(tree_not(t, x->args[0]), y->args[0]))
		return tree_if(t, x->args[0], x->args[1], y->args[1]);
	if (tree_is_zero(x))
		return y;
	return tree_is_zero(y) ? x : sum(t, x, y, 1);
}

static ast_expr *simple_difference(trees *t, ast_expr *x, ast_expr *y)
{
	if (tree_is_zero(x))
		return tree_neg(t, y);
	return tree_is_zero(y) ? x : sum(t, x, y, -1);
}

/* ---- products ---------------------------------------------------------- */

static ast_expr *simple_product(trees *t, ast_expr *x, ast_expr *y)
{
	if (tree_is_zero(x) || tree_is_zero(y))
		return tree_int(t, 0);
	if (is_one(x))
		return y;
	if (is_one(y))
		return x;
	if (folds(x, y))
		return fold(t, x, y);
	if (has_zero(x) || has_zero(y) || (is_number(x) && is_number(y)) ||
	    (is_number(x) && is_op(y, OP_MUL) && is_number(y->args[0]) &&
	     !folds(x, y->args[0])))
		return tree_plain(t, OP_MUL, x, y);
	if (is_op(x, OP_NEG))
		return tree_neg(t, tree_mul(t, x->args[0], y));
	if (is_op(y, OP_NEG))
		return tree_neg(t, tree_mul(t, x, y->args[0]));
	if (is_number(y))
		return tree_mul(t, y, x);
	if (is_op(y, OP_MUL) && is_number(y->args[0]))
		return tree_mul(t, tree_mul(t, y->args[0], x), y->args[1]);
	if (is_number(x) && is_op(y, OP_MUL))
		return tree_mul(t, tree_mul(t, x, y->args[0]), y->args[1]);
	if (is_op(y, OP_MUL))
		return tree_mul(t, tree_mul(t, x, y->args[0]), y->args[1]);
	return tree_plain(t, OP_MUL, x, y);
}

/* A quotient of floats. */
ast_expr *tree_div(trees *t, ast_expr *x, ast_expr *y)
{
	if (tree_is_zero(x) || is_one(y))
		return x;
	if (is_op(x, OP_NEG))
		return tree_neg(t, tree_div(t, x->args[0], y));
	if (is_op(y, OP_NEG))
		return tree_neg(t, tree_div(t, x, y->args[0]));
	return tree_plain(t, OP_DIV, x, y);
}

/* ---- all ---------------------------------------------------------------- */

ast_expr *tree_add(trees *t, ast_expr *x, ast_expr *y)
{
	return tree_as_before(t, simple_sum(t, x, y), x, y);
}

ast_expr *tree_sub(trees *t, ast_expr *x, ast_expr *y)
{
	return tree_as_before(t, simple_difference(t, x, y), x, y);
}

ast_expr *tree_mul(trees *t, ast_expr *x, ast_expr *y)
{
	return tree_as_before(t, simple_product(t, x, y), x, y);
}
