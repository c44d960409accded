#include "config.h"

#include "compiler/gradient/range.h"

#include "compiler/gradient/tree_node.h"

/* Below it a number times a place in a tensor, or times the product of two,
 * does not wrap around in i64. */
#define MOST_PROVEN 0x1p31

static bool is_nonnegative(const grad_facts *f, ast_expr *e, int depth);

/* The extent of a variable; NULL for other symbols. */
static ast_expr *extent_of(const grad_facts *f, const ast_symbol *s)
{
	for (int i = 0; i < f->vars.n; i++)
		if (!f->vars.at[i].pack && f->vars.at[i].symbol == s)
			return f->vars.at[i].extent;
	return NULL;
}

/* Whether an atom of a sum is never negative. */
static bool is_natural(const grad_facts *f, const ast_expr *e, int depth)
{
	if (e->kind == AST_INT)
		return e->i >= 0;
	if (e->kind == AST_NAME)
		return e->symbol && e->symbol->kind != SYMBOL_ATTR;
	if (e->kind != AST_BINARY)
		return false;
	if (e->op == OP_MOD)
		return true;
	return (e->op == OP_DIV || e->op == OP_MUL) &&
	       is_nonnegative(f, e->args[0], depth) &&
	       (e->op == OP_DIV || is_nonnegative(f, e->args[1], depth));
}

/* The upper bound of an atom; NULL if it is not known. */
static ast_expr *most_of(const grad_facts *f, const ast_expr *e)
{
	ast_expr *n = NULL;
	if (e->kind == AST_NAME)
		n = extent_of(f, e->symbol);
	else if (e->kind == AST_BINARY && e->op == OP_MOD)
		n = e->args[1];
	return n ? tree_sub(&f->g->t, n, tree_int(&f->g->t, 1)) : NULL;
}

/* The greatest that e, or what it is computed of, can be where each variable
 * and size counts 1.  A remainder is less than its divisor, even of a number
 * that wrapped around; the divisor of a quotient must not wrap around. */
static double numbers_in(const ast_expr *e)
{
	if (e->kind == AST_INT)
		return fabs((double)e->i);
	if (e->kind == AST_UNARY)
		return numbers_in(e->args[0]);
	if (e->kind == AST_IF)
		return fmax(numbers_in(e->args[1]), numbers_in(e->args[2]));
	if (e->kind != AST_BINARY)
		return 1;
	double x = numbers_in(e->args[0]), y = numbers_in(e->args[1]);
	switch (e->op) {
	case OP_MUL:
		return x * y;
	case OP_DIV:
		return fmax(x, y);
	case OP_MOD:
		return y;
	default:
		return x + y;
	}
}

static bool are_small(const tree_terms *terms)
{
	double all = 0;
	for (int i = 0; i < terms->n; i++)
		all += fabs(terms->at[i].coef) * numbers_in(terms->at[i].of);
	return all < MOST_PROVEN;
}

/* Whether a sum is >= 0 even with each negative term at its greatest and each
 * positive one at its least. */
static bool is_nonnegative(const grad_facts *f, ast_expr *e, int depth)
{
	tree_terms terms = {0};
	if (depth > 8)
		return false;
	tree_collect(&f->g->t, &terms, e, 1);
	for (int i = 0; i < terms.n; i++) {
		double coef = terms.at[i].coef;
		ast_expr *of = terms.at[i].of, *most;
		if (coef >= 0)
			continue;
		most = most_of(f, of);
		if (!most)
			continue;
		terms.at[i].coef = 0;
		tree_collect(&f->g->t, &terms, most, coef);
	}
	if (!are_small(&terms))
		return false;
	for (int i = 0; i < terms.n; i++)
		if (terms.at[i].coef < 0 ||
		    (terms.at[i].coef > 0 &&
		     !is_natural(f, terms.at[i].of, depth + 1)))
			return false;
	return true;
}

/* Whether it is computed in i64.  Narrower integers wrap around, and floats
 * have values between these. */
static bool is_whole(const grad_facts *f, const ast_expr *e)
{
	return tree_is_whole(&f->g->t, e) ||
	       etype_is(grad_type(f->g, e), DT_I64);
}

/* Whether x op y holds for all values of the variables. */
bool grad_is_proven(const grad_facts *f, ast_operator op, ast_expr *x,
		    ast_expr *y)
{
	trees *t = &f->g->t;
	ast_expr *one = tree_int(t, 1);
	if (!is_whole(f, x) || !is_whole(f, y))
		return false;
	switch (op) {
	case OP_GE:
		return is_nonnegative(f, tree_sub(t, x, y), 0);
	case OP_LE:
		return is_nonnegative(f, tree_sub(t, y, x), 0);
	case OP_GT:
		return is_nonnegative(f, tree_sub(t, tree_sub(t, x, y), one),
				      0);
	case OP_LT:
		return is_nonnegative(f, tree_sub(t, tree_sub(t, y, x), one),
				      0);
	case OP_NE:
		return grad_is_proven(f, OP_GT, x, y) ||
		       grad_is_proven(f, OP_LT, x, y);
	default:
		return false;
	}
}

/* ---- quotients --------------------------------------------------------- */

/* A sum as m * quotient + rest. */
static void split_multiples(trees *t, ast_expr *e, const ast_expr *m,
			    ast_expr **quotient, ast_expr **rest)
{
	tree_terms terms = {0};
	tree_collect(t, &terms, e, 1);
	*quotient = *rest = tree_int(t, 0);
	for (int i = 0; i < terms.n && are_small(&terms); i++) {
		double coef = terms.at[i].coef;
		ast_expr *of = terms.at[i].of, *without = NULL;
		if (!coef)
			continue;
		if (ast_same(of, m))
			without = tree_int(t, 1);
		for (int j = 0; j < 2 && of->kind == AST_BINARY &&
				of->op == OP_MUL && !without;
		     j++)
			if (ast_same(of->args[j], m))
				without = of->args[1 - j];
		ast_expr **to = without ? quotient : rest;
		ast_expr *k = tree_int(t, (int64_t)coef);
		*to = tree_add(t, *to, tree_mul(t, k, without ? without : of));
	}
}

static ast_expr *divide(void *arg, const ast_expr *e)
{
	const grad_facts *f = arg;
	trees *t = &f->g->t;
	ast_expr *quotient, *rest;
	if (e->kind != AST_BINARY || (e->op != OP_DIV && e->op != OP_MOD))
		return NULL;
	if (!etype_is(grad_type(f->g, e->args[0]), DT_I64) ||
	    grad_has_read(f->g, e))
		return NULL;
	split_multiples(t, e->args[0], e->args[1], &quotient, &rest);
	if (tree_is_zero(quotient) ||
	    !grad_is_proven(f, OP_GE, rest, tree_int(t, 0)) ||
	    !grad_is_proven(f, OP_LT, rest, e->args[1]))
		return NULL;
	return e->op == OP_DIV ? quotient : rest;
}

ast_expr *grad_divided(const grad_facts *f, ast_expr *e)
{
	return tree_map(&f->g->t, e, divide, (void *)f);
}

/* ---- conditions --------------------------------------------------------- */

/* A condition without those of its parts that always hold; NULL where nothing
 * is left. */
ast_expr *grad_without_proven(const grad_facts *f, ast_expr *e)
{
	if (!e || e->kind != AST_BINARY)
		return e;
	if (e->op == OP_AND) {
		ast_expr *x = grad_without_proven(f, e->args[0]);
		ast_expr *y = grad_without_proven(f, e->args[1]);
		return x && y ? tree_binary(&f->g->t, OP_AND, x, y) : x ? x : y;
	}
	if (grad_has_read(f->g, e))
		return e;
	return grad_is_proven(f, e->op, e->args[0], e->args[1]) ? NULL : e;
}
