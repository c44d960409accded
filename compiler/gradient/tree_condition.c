/* Conditions, decided where their value is known. */
#include "config.h"

#include "compiler/gradient/tree_node.h"

static bool is_bool(const ast_expr *e, bool value)
{
	return e->kind == AST_BOOL && e->i == value;
}

static ast_expr *both(trees *t, ast_expr *x, ast_expr *y)
{
	if (is_bool(x, true) || is_bool(y, false))
		return y;
	if (is_bool(y, true) || is_bool(x, false))
		return x;
	if (is_op(y, OP_AND))
		return both(t, both(t, x, y->args[0]), y->args[1]);
	return ast_same(x, y) ? x : tree_plain(t, OP_AND, x, y);
}

static const ast_attr *find_attr(const ast_op *op, const ast_symbol *s)
{
	return s && s->kind == SYMBOL_ATTR ? &op->attrs[s->index] : NULL;
}

bool tree_is_whole(const trees *t, const ast_expr *e)
{
	const ast_expr *base = e->kind == AST_INDEX ? e->args[0] : e;
	const ast_attr *attr = base->kind == AST_NAME ?
			       find_attr(t->op, base->symbol) : NULL;
	switch (e->kind) {
	case AST_INT:
		return true;
	case AST_NAME:
		return attr ? attr->type == ATTR_INT
			    : e->symbol && e->symbol->kind != SYMBOL_TENSOR;
	case AST_INDEX:
		return attr && attr->type == ATTR_INT;
	case AST_UNARY:
	case AST_BINARY:
		for (int i = 0; i < e->nargs; i++)
			if (!tree_is_whole(t, e->args[i]))
				return false;
		return true;
	case AST_CALL:
		return e->calls.function &&
		       (e->calls.function->rule == RULE_POSITION ||
			e->calls.function->rule == RULE_POINTS);
	default:
		return false;
	}
}

/* ---- numbers that do not wrap around ------------------------------------ */

/* Below this bound a number times a place in a tensor, or times the product of
 * two such places, does not wrap around in i64. */
#define MOST_PROVEN 0x1p31

/* Each factor of a power after the first counts as this number.  So a square
 * times a few thousand does not wrap around, a cube may. */
#define MOST_POWER 0x1p16

/* The attributes that count as sizes. */
typedef struct counting {
	tree_counts *counts;
	const void *arg;
} counting;

bool tree_is_choice(const ast_expr *e)
{
	return e->kind == AST_IF ||
	       (e->kind == AST_CALL && e->calls.function &&
		e->calls.function->rule == RULE_SELECT);
}

bool tree_is_planned(const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
	case AST_FLOAT:
	case AST_BOOL:
	case AST_STRING:
		return true;
	case AST_NAME:
		return e->symbol && (e->symbol->kind == SYMBOL_ATTR ||
				     e->symbol->kind == SYMBOL_SIZE ||
				     e->symbol->kind == SYMBOL_CONST);
	case AST_UNARY:
	case AST_BINARY:
	case AST_INDEX:
		break;
	default:
		return false;
	}
	for (int i = 0; i < e->nargs; i++)
		if (!tree_is_planned(e->args[i]))
			return false;
	return true;
}

/* Whether e is a variable, a size, or an attribute that counts as one. */
static bool is_count(const counting *c, const ast_expr *e)
{
	const ast_symbol *s = e->kind == AST_NAME ? e->symbol : NULL;
	return s && (s->kind == SYMBOL_VAR || s->kind == SYMBOL_SIZE ||
		     (c->counts && c->counts(c->arg, s)));
}

/* Whether e is negative for no values of variables and sizes, provided that it
 * does not wrap around. */
static bool is_natural(const counting *c, const ast_expr *e)
{
	if (e->kind == AST_INT)
		return e->i >= 0;
	if (e->kind != AST_BINARY)
		return is_count(c, e);
	const ast_expr *x = e->args[0], *y = e->args[1];
	switch (e->op) {
	case OP_ADD:
	case OP_MUL:
		return is_natural(c, x) && is_natural(c, y);
	case OP_DIV:
		return is_natural(c, x) &&
		       (tree_is_planned(y) || is_natural(c, y));
	case OP_MOD:
		return tree_is_planned(y) || is_natural(c, y);
	default:
		return false;
	}
}

static double greatest(const counting *c, const ast_expr *e);

/* greatest() for a call.  A position and a number of points count 1.  The
 * result of min or max counts as its greatest argument.  Any other call may be
 * any number, as cast(1e30, i64). */
static double greatest_call(const counting *c, const ast_expr *e)
{
	const builtin *f = e->calls.function;
	double most = 0;
	if (f && (f->rule == RULE_POSITION || f->rule == RULE_POINTS))
		return 1;
	if (!f || (f->id != SCALAR_FN_MIN && f->id != SCALAR_FN_MAX))
		return INFINITY;
	for (int i = 0; i < e->nargs; i++)
		most = fmax(most, greatest(c, e->args[i]));
	return most;
}

/* Whether two factors have a symbol in common.  A product of different symbols
 * is at most a place in a tensor or its number of elements; a product of equal
 * ones is not bounded by these. */
static bool shares(const ast_expr *x, const ast_expr *y)
{
	if (x->kind == AST_NAME && x->symbol && tree_mentions(y, x->symbol))
		return true;
	for (int i = 0; i < x->nargs; i++)
		if (shares(x->args[i], y))
			return true;
	return false;
}

/* An upper bound of |e| and of the numbers that it is computed from, if each
 * variable and size counts 1; infinite if unknown.  A remainder is less than
 * its divisor, even if the dividend wrapped around.  The divisor of a quotient
 * must not wrap around: one known when planning does not, and expansion refuses
 * negative ones. */
static double greatest(const counting *c, const ast_expr *e)
{
	if (e->kind == AST_INT)
		return fabs((double)e->i);
	if (e->kind == AST_UNARY)
		return greatest(c, e->args[0]);
	if (e->kind == AST_IF)
		return fmax(greatest(c, e->args[1]), greatest(c, e->args[2]));
	if (e->kind == AST_CALL)
		return greatest_call(c, e);
	if (e->kind != AST_BINARY)
		return is_count(c, e) ? 1 : INFINITY;
	const ast_expr *of = e->args[0];
	double x = greatest(c, of), y = greatest(c, e->args[1]);
	switch (e->op) {
	case OP_MUL: /* x / m * m is at most x */
		return is_op(of, OP_DIV) && ast_same(of->args[1], e->args[1]) &&
				       is_natural(c, of->args[0])
			       ? x : x * y * (shares(of, e->args[1])
						      ? MOST_POWER : 1);
	case OP_DIV:
		return tree_is_planned(e->args[1]) ? x : fmax(x, y);
	case OP_MOD:
		if (!tree_is_planned(e->args[1]) && !(y < MOST_PROVEN))
			return INFINITY;
		return is_natural(c, of) ? fmin(x, y) : y;
	default:
		return x + y;
	}
}

bool tree_is_safe(const ast_expr *e, tree_counts *counts, const void *arg)
{
	const counting c = {counts, arg};
	return tree_is_planned(e) || greatest(&c, e) < MOST_PROVEN;
}

/* ---- comparisons -------------------------------------------------------- */

/* The constant of a sum that has nothing else. */
static double sum_number(const tree_terms *terms)
{
	double x = 0;
	for (int i = 0; i < terms->n; i++)
		x += is_number(terms->at[i].of) ? terms->at[i].coef : 0;
	return x;
}

static bool holds(ast_operator op, double x)
{
	switch (op) {
	case OP_LT:
		return x < 0;
	case OP_LE:
		return x <= 0;
	case OP_GT:
		return x > 0;
	case OP_GE:
		return x >= 0;
	case OP_EQ:
		return x == 0;
	default:
		return x != 0;
	}
}

/* The comparison x op y without terms common to both sides.  If a side may wrap
 * around, removing terms would change the order. */
static ast_expr *compare(trees *t, ast_operator op, ast_expr *x, ast_expr *y)
{
	tree_terms all = {0}, one = {0}, two = {0};
	if (!tree_is_whole(t, x) || !tree_is_whole(t, y))
		return tree_plain(t, op, x, y);
	tree_collect(t, &one, x, 1);
	tree_collect(t, &two, y, 1);
	tree_collect(t, &all, x, 1);
	tree_collect(t, &all, y, -1);
	int left = 0;
	bool constant = true;
	bool order = op != OP_EQ && op != OP_NE;
	if (!tree_is_exact(&all) ||
	    (order && (!tree_is_safe(x, NULL, NULL) ||
		       !tree_is_safe(y, NULL, NULL))))
		return tree_plain(t, op, x, y);
	for (int i = 0; i < all.n; i++) {
		left += all.at[i].coef != 0;
		constant &= !all.at[i].coef || is_number(all.at[i].of);
	}
	if (constant)
		return tree_bool(t, holds(op, all.n ? sum_number(&all) : 0));
	if (left >= one.n + two.n)
		return tree_plain(t, op, x, y);
	x = tree_sum_of(t, &all, 1);
	y = tree_sum_of(t, &all, -1);
	return tree_plain(t, op, x ? x : tree_int(t, 0),
			  y ? y : tree_int(t, 0));
}

ast_expr *tree_binary(trees *t, ast_operator op, ast_expr *x, ast_expr *y)
{
	switch (op) {
	case OP_ADD:
		return tree_add(t, x, y);
	case OP_SUB:
		return tree_sub(t, x, y);
	case OP_MUL:
		return tree_mul(t, x, y);
	case OP_AND:
		return both(t, x, y);
	default:
		break;
	}
	bool comparison = ast_precedence_of_operator(op) == BINDS_COMPARISON;
	return comparison ? compare(t, op, x, y) : tree_plain(t, op, x, y);
}

ast_expr *tree_not(trees *t, ast_expr *x)
{
	static const ast_operator opposite[] = {
		[OP_LT] = OP_GE, [OP_LE] = OP_GT, [OP_GT] = OP_LE,
		[OP_GE] = OP_LT, [OP_EQ] = OP_NE, [OP_NE] = OP_EQ,
	};
	if (x->kind == AST_BOOL)
		return tree_bool(t, !x->i);
	if (is_op(x, OP_NOT))
		return x->args[0];
	if (x->kind == AST_BINARY && ast_precedence_of(x) == BINDS_COMPARISON &&
	    (x->op == OP_EQ || x->op == OP_NE ||
	     (tree_is_whole(t, x->args[0]) && tree_is_whole(t, x->args[1]))))
		return tree_plain(t, opposite[x->op], x->args[0], x->args[1]);
	x = tree_operand(t, x, BINDS_NOT);
	ast_expr *e = tree_node(t, AST_UNARY, 1, &x);
	e->op = OP_NOT;
	return e;
}

static ast_expr *chosen(trees *t, ast_expr *x, const ast_expr *other)
{
	return t->chosen ? t->chosen(t->arg, x, other) : x;
}

ast_expr *tree_if(trees *t, ast_expr *c, ast_expr *x, ast_expr *y)
{
	if (ast_same(x, y))
		return x;
	if (is_bool(c, true))
		return chosen(t, x, y);
	if (is_bool(c, false))
		return chosen(t, y, x);
	/* if c then (if d then x else y) else y */
	if (x->kind == AST_IF && ast_same(x->args[2], y))
		return tree_if(t, both(t, c, x->args[0]), x->args[1], y);
	ast_expr *args[] = {tree_alone(t, c), tree_alone(t, x),
			    tree_alone(t, y)};
	return tree_node(t, AST_IF, 3, args);
}
