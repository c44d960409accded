/* Equality of expressions and of operators. */
#include "config.h"

#include "dsl/ast.h"

/* The enclosing lambdas of two expressions being compared, the innermost
 * first. */
typedef struct lambdas {
	const ast_expr *x, *y;
	const struct lambdas *around;
} lambdas;

static bool same(const lambdas *around, const ast_expr *x, const ast_expr *y);

/* The index of a lambda's variable with this name or symbol; -1 for none. */
static int find_var(const ast_expr *lambda, const char *name,
		    const ast_symbol *s)
{
	for (int i = 0; name && i < lambda->nvars; i++)
		if (s ? lambda->vars[i].symbol == s
		      : lambda->vars[i].name == name)
			return i;
	return -1;
}

/* Whether two names mean the same: if variables, they have the same position.
 * Element types, and all names that are not bound, have no symbol. */
static bool same_name(const lambdas *around, const ast_expr *x,
		      const ast_expr *y)
{
	for (; around; around = around->around) {
		int i = find_var(around->x, x->name, x->symbol);
		int j = find_var(around->y, y->name, y->symbol);
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
	       (x->symbol || x->name == y->name) &&
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

/* ---- operators ---------------------------------------------------------- */

static bool same_tensors(const ast_tensor *x, const ast_tensor *y, int n)
{
	for (int i = 0; i < n; i++) {
		if (x[i].name != y[i].name ||
		    x[i].broadcast != y[i].broadcast ||
		    x[i].ndims != y[i].ndims ||
		    x[i].type.kind != y[i].type.kind ||
		    x[i].type.name != y[i].type.name)
			return false;
		for (int d = 0; d < x[i].ndims; d++)
			if (!same(NULL, x[i].dims[d], y[i].dims[d]))
				return false;
	}
	return true;
}

static bool same_attrs(const ast_attr *x, const ast_attr *y, int n)
{
	for (int i = 0; i < n; i++)
		if (x[i].name != y[i].name || x[i].type != y[i].type ||
		    x[i].is_list != y[i].is_list ||
		    x[i].length != y[i].length ||
		    !same_or_none(NULL, x[i].init, y[i].init))
			return false;
	return true;
}

static bool same_let(const ast_let *x, const ast_let *y)
{
	if (x->nnames != y->nnames)
		return false;
	for (int i = 0; i < x->nnames; i++)
		if (x->names[i] != y->names[i])
			return false;
	return same(NULL, x->value, y->value);
}

static bool same_bodies(const ast_op *x, const ast_op *y)
{
	for (int i = 0; i < x->nlets; i++)
		if (!same_let(&x->lets[i], &y->lets[i]))
			return false;
	for (int i = 0; i < x->nbodies; i++)
		if (!same(NULL, x->bodies[i], y->bodies[i]))
			return false;
	return true;
}

bool ast_same_op(const ast_op *x, const ast_op *y)
{
	return x->name == y->name && x->nparams == y->nparams &&
	       x->nattrs == y->nattrs && x->nresults == y->nresults &&
	       x->nlets == y->nlets && x->nbodies == y->nbodies &&
	       same_tensors(x->params, y->params, x->nparams) &&
	       same_attrs(x->attrs, y->attrs, x->nattrs) &&
	       same_tensors(x->results, y->results, x->nresults) &&
	       same_bodies(x, y);
}
