#include "config.h"

#include "compiler/gradient/tree.h"

#include "compiler/gradient/tree_node.h"

/* ---- nodes ------------------------------------------------------------- */

ast_expr *tree_node(trees *t, ast_kind kind, int n, ast_expr *const *args)
{
	ast_expr *e = ARENA_NEW(t->a, ast_expr);
	e->kind = kind;
	e->at = NOWHERE;
	e->nargs = n;
	e->args = ARENA_COPY(t->a, args, n);
	e->depth = 1;
	for (int i = 0; i < n; i++)
		if (args[i]->depth >= e->depth)
			e->depth = args[i]->depth + 1;
	return e;
}

ast_expr *tree_operand(trees *t, ast_expr *x, ast_precedence least)
{
	bool needed = ast_precedence_of(x) < least;
	if (x->parens == needed)
		return x;
	x = ARENA_COPY(t->a, x, 1);
	x->parens = needed;
	return x;
}

ast_expr *tree_alone(trees *t, ast_expr *x)
{
	return tree_operand(t, x, BINDS_IF);
}

ast_expr *tree_int(trees *t, int64_t i)
{
	ast_expr *e;
	if (i < 0) {
		ast_expr *x = tree_int(t, -i);
		e = tree_node(t, AST_UNARY, 1, &x);
		e->op = OP_NEG;
		return e;
	}
	e = tree_node(t, AST_INT, 0, NULL);
	e->i = i;
	return e;
}

ast_expr *tree_float(trees *t, double f)
{
	ast_expr *e = tree_node(t, AST_FLOAT, 0, NULL);
	e->f = f;
	return e;
}

ast_expr *tree_bool(trees *t, bool value)
{
	ast_expr *e = tree_node(t, AST_BOOL, 0, NULL);
	e->i = value;
	return e;
}

ast_expr *tree_use(trees *t, const ast_symbol *s)
{
	ast_expr *e = tree_node(t, AST_NAME, 0, NULL);
	e->name = s->name;
	e->symbol = s;
	return e;
}

ast_expr *tree_pack(trees *t, const ast_pack *p)
{
	ast_expr *e = tree_node(t, AST_PACK, 0, NULL);
	e->pack = ARENA_COPY(t->a, p, 1);
	return e;
}

ast_expr *tree_list(trees *t, ast_kind kind, ast_expr *first, int n,
		    ast_expr *const *items)
{
	ast_expr **args = ARENA_ARRAY(t->a, ast_expr *, n + 1);
	int m = 0;
	if (first)
		args[m++] = first;
	for (int i = 0; i < n; i++)
		args[m++] = tree_alone(t, items[i]);
	return tree_node(t, kind, m, args);
}

ast_expr *tree_index(trees *t, ast_expr *base, int n, ast_expr *const *items)
{
	return tree_list(t, AST_INDEX, base, n, items);
}

ast_expr *tree_call(trees *t, const char *name, ast_callee calls, int n,
		    ast_expr *const *args)
{
	ast_expr *e = tree_list(t, AST_CALL, NULL, n, args);
	e->name = intern(t->names, name);
	e->calls = calls;
	return e;
}

ast_expr *tree_function(trees *t, builtin_id id, int n, ast_expr *const *args)
{
	const builtin *f = &builtin_table[id];
	return tree_call(t, f->name, (ast_callee){.function = f}, n, args);
}

ast_expr *tree_guard(trees *t, ast_expr *read, ast_expr *value)
{
	ast_expr *args[] = {tree_alone(t, read), tree_alone(t, value)};
	return tree_node(t, AST_GUARD, 2, args);
}

ast_expr *tree_lambda(trees *t, int nvars, const ast_var *vars,
		      ast_expr *body)
{
	body = tree_alone(t, body);
	ast_expr *e = tree_node(t, AST_LAMBDA, 1, &body);
	e->nvars = nvars;
	e->vars = ARENA_COPY(t->a, vars, nvars);
	return e;
}

ast_expr *tree_plain(trees *t, ast_operator op, ast_expr *x, ast_expr *y)
{
	ast_precedence own = ast_precedence_of_operator(op);
	ast_precedence left = own + (own == BINDS_COMPARISON);
	ast_expr *args[] = {tree_operand(t, x, left),
			    tree_operand(t, y, own + 1)};
	ast_expr *e = tree_node(t, AST_BINARY, 2, args);
	e->op = op;
	return e;
}

/* ---- looking ----------------------------------------------------------- */

bool tree_is_int(const ast_expr *e, int64_t i)
{
	return e->kind == AST_INT && e->i == i;
}

bool tree_is_zero(const ast_expr *e)
{
	return is_number(e) && number(e) == 0;
}

static bool pack_mentions(const ast_pack *p, const ast_symbol *s)
{
	return p && (p->symbol == s || (p->sel && tree_mentions(p->sel, s)));
}

bool tree_mentions(const ast_expr *e, const ast_symbol *s)
{
	if ((e->kind == AST_NAME && e->symbol == s) ||
	    pack_mentions(e->pack, s))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (tree_mentions(e->args[i], s))
			return true;
	for (int i = 0; i < e->nnamed; i++)
		if (tree_mentions(e->named[i].value, s))
			return true;
	for (int i = 0; i < e->nvars; i++)
		if (pack_mentions(e->vars[i].pack, s) ||
		    (e->vars[i].extent &&
		     tree_mentions(e->vars[i].extent, s)))
			return true;
	return false;
}
