/* Copies of expression trees in which some nodes are replaced. */
#include "config.h"

#include "compiler/gradient/tree_node.h"

typedef struct mapping {
	trees *t;
	tree_change *change;
	void *arg;
} mapping;

static ast_expr *map(const mapping *m, const ast_expr *e);

static ast_pack *map_pack(const mapping *m, const ast_pack *p)
{
	ast_pack *q = ARENA_COPY(m->t->a, p, 1);
	if (q->sel)
		q->sel = map(m, q->sel);
	return q;
}

static ast_var *map_vars(const mapping *m, const ast_expr *e)
{
	ast_var *vars = ARENA_COPY(m->t->a, e->vars, e->nvars);
	for (int i = 0; i < e->nvars; i++) {
		if (vars[i].extent)
			vars[i].extent = map(m, vars[i].extent);
		if (vars[i].pack)
			vars[i].pack = map_pack(m, vars[i].pack);
	}
	return vars;
}

/* Whether e is a tensor that the operator or the derivation computes, as
 * opposed to a parameter. */
static bool is_computed(const ast_expr *e)
{
	const ast_symbol *s = e->kind == AST_NAME ? e->symbol : NULL;
	return s && s->kind == SYMBOL_TENSOR && s->index < 0;
}

/* Whether an expression of finite parameters may be infinite or NaN.  That
 * holds for a function on floats, infinity, a quotient, and a computed
 * tensor. */
static bool may_be_none(const ast_expr *e)
{
	const builtin *f = e->kind == AST_CALL ? e->calls.function : NULL;
	if ((f && f->rule == RULE_FLOAT) || is_computed(e) ||
	    (e->kind == AST_FLOAT && isinf(e->f)) ||
	    (is_op(e, OP_DIV) && !is_number(e->args[1])))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (may_be_none(e->args[i]))
			return true;
	return false;
}

/* The node e with new operands, simplified. */
static ast_expr *remake(const mapping *m, const ast_expr *e, ast_expr **args)
{
	trees *t = m->t;
	ast_expr *x;
	switch (e->kind) {
	case AST_UNARY:
		return e->op == OP_NEG ? tree_neg(t, args[0])
				       : tree_not(t, args[0]);
	case AST_BINARY:
		if (has_zero(e) && may_be_none(e))
			return tree_plain(t, OP_MUL, args[0], args[1]);
		return tree_binary(t, e->op, args[0], args[1]);
	case AST_IF:
		return tree_if(t, args[0], args[1], args[2]);
	case AST_INDEX:
		return tree_index(t, args[0], e->nargs - 1, args + 1);
	case AST_GUARD:
		return tree_guard(t, args[0], args[1]);
	case AST_CALL:
		x = tree_call(t, e->name, e->calls, e->nargs, args);
		x->nnamed = e->nnamed;
		x->named = ARENA_COPY(t->a, e->named, e->nnamed);
		for (int i = 0; i < e->nnamed; i++)
			x->named[i].value = map(m, e->named[i].value);
		return x;
	case AST_LAMBDA:
		return tree_lambda(t, e->nvars, map_vars(m, e), args[0]);
	case AST_PACK:
		return tree_pack(t, map_pack(m, e->pack));
	case AST_LIST:
		return tree_list(t, AST_LIST, NULL, e->nargs, args);
	default:
		x = ARENA_COPY(t->a, e, 1);
		x->parens = false;
		x->at = NOWHERE;
		return x;
	}
}

static ast_expr *map(const mapping *m, const ast_expr *e)
{
	ast_expr **args = ARENA_ARRAY(m->t->a, ast_expr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		args[i] = map(m, e->args[i]);
	ast_expr *x = remake(m, e, args);
	ast_expr *y = m->change ? m->change(m->arg, x) : NULL;
	return y ? y : x;
}

ast_expr *tree_map(trees *t, const ast_expr *e, tree_change *change, void *arg)
{
	mapping m = {t, change, arg};
	return map(&m, e);
}

ast_expr *tree_with(trees *t, const ast_expr *e, tree_change *change,
		    void *arg)
{
	mapping m = {t, NULL, NULL};
	ast_expr **args = ARENA_ARRAY(t->a, ast_expr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		args[i] = change(arg, e->args[i]);
	return remake(&m, e, args);
}

typedef struct replacement {
	const ast_symbol *symbol;
	ast_expr *by;
} replacement;

static ast_expr *replace(void *arg, const ast_expr *e)
{
	const replacement *r = arg;
	return e->kind == AST_NAME && e->symbol == r->symbol ? r->by : NULL;
}

ast_expr *tree_replace(trees *t, const ast_expr *e, const ast_symbol *s,
		       ast_expr *by)
{
	replacement r = {s, by};
	return tree_map(t, e, replace, &r);
}
