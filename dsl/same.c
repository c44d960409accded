/* Expressions that are the same. */
#include "config.h"

#include "dsl/ast.h"

/* Lambdas around two expressions that are compared, the innermost first. */
typedef struct lambdas {
	const ast_expr *x, *y;
	const struct lambdas *around;
} lambdas;

static bool same(const lambdas *around, const ast_expr *x, const ast_expr *y);

/* The variable of a lambda that a symbol is; -1 for none. */
static int find_var(const ast_expr *lambda, const ast_symbol *s)
{
	for (int i = 0; s && i < lambda->nvars; i++)
		if (lambda->vars[i].symbol == s)
			return i;
	return -1;
}

/* Whether two names mean the same: variables of the same place, if any.  An
 * element type has no symbol. */
static bool same_name(const lambdas *around, const ast_expr *x,
		      const ast_expr *y)
{
	for (; around; around = around->around) {
		int i = find_var(around->x, x->symbol);
		int j = find_var(around->y, y->symbol);
		if (i >= 0 || j >= 0)
			return i == j;
	}
	return x->symbol == y->symbol && (x->symbol || x->name == y->name);
}

static bool same_or_none(const lambdas *around, const ast_expr *x,
			 const ast_expr *y)
{
	return !x || !y ? x == y : same(around, x, y);
}

static bool same_pack(const lambdas *around, const ast_pack *x,
		      const ast_pack *y)
{
	if (!x || !y)
		return x == y;
	return x->kind == y->kind && x->symbol == y->symbol &&
	       same_or_none(around, x->sel, y->sel);
}

static bool same_lambda(const lambdas *around, const ast_expr *x,
			const ast_expr *y)
{
	lambdas inside = {x, y, around};
	for (int i = 0; i < x->nvars; i++)
		if (!same_pack(around, x->vars[i].pack, y->vars[i].pack) ||
		    !same_or_none(around, x->vars[i].extent,
				  y->vars[i].extent))
			return false;
	return same(&inside, x->args[0], y->args[0]);
}

static bool same(const lambdas *around, const ast_expr *x, const ast_expr *y)
{
	if (x == y && !around)
		return true;
	if (x->kind != y->kind || x->nargs != y->nargs || x->op != y->op ||
	    x->i != y->i || x->f != y->f || x->nnamed != y->nnamed ||
	    x->nvars != y->nvars || !same_pack(around, x->pack, y->pack) ||
	    !(x->kind == AST_NAME ? same_name(around, x, y)
				  : x->name == y->name))
		return false;
	if (x->kind == AST_LAMBDA)
		return same_lambda(around, x, y);
	for (int i = 0; i < x->nargs; i++)
		if (!same(around, x->args[i], y->args[i]))
			return false;
	for (int i = 0; i < x->nnamed; i++)
		if (x->named[i].name != y->named[i].name ||
		    !same(around, x->named[i].value, y->named[i].value))
			return false;
	return true;
}

bool ast_same_pack(const ast_pack *x, const ast_pack *y)
{
	return same_pack(NULL, x, y);
}

bool ast_same(const ast_expr *x, const ast_expr *y)
{
	return same(NULL, x, y);
}
