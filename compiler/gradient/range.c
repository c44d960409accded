#include "config.h"

#include "compiler/gradient/range.h"

#include "compiler/gradient/tree_node.h"

static bool is_nonnegative(const grad_facts *f, ast_expr *e, int depth);

/* The extent of a variable; NULL for another symbol. */
static ast_expr *extent_of(const grad_facts *f, const ast_symbol *s)
{
	for (int i = 0; i < f->vars.n; i++)
		if (!f->vars.at[i].pack && f->vars.at[i].symbol == s)
			return f->vars.at[i].extent;
	return NULL;
}

/* Whether an attribute is the extent of a variable. */
static bool is_extent(const void *arg, const ast_symbol *s)
{
	const grad_facts *f = arg;
	for (int i = 0; i < f->vars.n; i++) {
		const ast_expr *n = f->vars.at[i].extent;
		if (n && n->kind == AST_NAME && n->symbol == s)
			return s->kind == SYMBOL_ATTR;
	}
	return false;
}

/* Whether no operation in e wraps around. */
static bool is_safe(const grad_facts *f, const ast_expr *e)
{
	return tree_is_safe(e, is_extent, f);
}

/* Whether e is a variable or a size. */
static bool is_count(const grad_facts *f, const ast_expr *e)
{
	const ast_symbol *s = e->kind == AST_NAME ? e->symbol : NULL;
	return s && (s->kind == SYMBOL_VAR || s->kind == SYMBOL_SIZE ||
		     is_extent(f, s));
}

/* Whether an atom of a sum is known never to be negative.  A remainder has the
 * sign of its divisor; divisors known when planning are positive. */
static bool is_natural(const grad_facts *f, const ast_expr *e, int depth)
{
	if (e->kind == AST_INT)
		return e->i >= 0;
	if (e->kind != AST_BINARY)
		return is_count(f, e);
	if (e->op != OP_DIV && e->op != OP_MUL && e->op != OP_MOD)
		return false;
	if (e->op != OP_MOD && !is_nonnegative(f, e->args[0], depth))
		return false;
	return (e->op != OP_MUL && tree_is_planned(e->args[1])) ||
	       is_nonnegative(f, e->args[1], depth);
}

/* Whether a divisor is known to be positive. */
static bool is_positive(const grad_facts *f, ast_expr *e, int depth)
{
	trees *t = &f->g->t;
	return tree_is_planned(e) ||
	       is_nonnegative(f, tree_sub(t, e, tree_int(t, 1)), depth);
}

/* The upper bound of an atom; NULL if it is not known. */
static ast_expr *most_of(const grad_facts *f, const ast_expr *e, int depth)
{
	ast_expr *n = NULL;
	if (e->kind == AST_NAME)
		n = extent_of(f, e->symbol);
	else if (e->kind == AST_BINARY && e->op == OP_MOD &&
		 is_positive(f, e->args[1], depth))
		n = e->args[1];
	return n ? tree_sub(&f->g->t, n, tree_int(&f->g->t, 1)) : NULL;
}

/* Whether a sum, which does not wrap around, is >= 0 when each negative term is
 * at its greatest and each positive term at its least. */
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
		most = most_of(f, of, depth + 1);
		if (!most)
			continue;
		terms.at[i].coef = 0;
		tree_collect(&f->g->t, &terms, most, coef);
	}
	if (!tree_is_exact(&terms))
		return false;
	for (int i = 0; i < terms.n; i++)
		if (terms.at[i].coef < 0 ||
		    (terms.at[i].coef > 0 &&
		     !is_natural(f, terms.at[i].of, depth + 1)))
			return false;
	return true;
}

/* Whether e is computed in i64.  Narrower integers wrap around, and floats have
 * fractions. */
static bool is_whole(const grad_facts *f, const ast_expr *e)
{
	return tree_is_whole(&f->g->t, e) ||
	       etype_is(grad_type(f->g, e), DT_I64);
}

/* Whether x op y is proved for all values of the variables. */
bool grad_is_proven(const grad_facts *f, ast_operator op, ast_expr *x,
		    ast_expr *y)
{
	trees *t = &f->g->t;
	ast_expr *one = tree_int(t, 1);
	if (!is_whole(f, x) || !is_whole(f, y) || !is_safe(f, x) ||
	    !is_safe(f, y))
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

/* Splits a sum into m * quotient + rest. */
static void split_multiples(trees *t, ast_expr *e, const ast_expr *m,
			    ast_expr **quotient, ast_expr **rest)
{
	tree_terms terms = {0};
	tree_collect(t, &terms, e, 1);
	*quotient = *rest = tree_int(t, 0);
	for (int i = 0; i < terms.n && tree_is_exact(&terms); i++) {
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
	    grad_has_read(f->g, e) || !is_safe(f, e->args[0]))
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

/* A condition without the parts that always hold; NULL if no part is left. */
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
