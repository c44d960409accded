#include "config.h"

#include "tests/random/same_tree.h"

#include <string.h>

static bool same(const ast_expr *x, const ast_expr *y);

static bool same_or_none(const ast_expr *x, const ast_expr *y)
{
	return x && y ? same(x, y) : x == y;
}

static bool same_pack(const ast_pack *x, const ast_pack *y)
{
	if (!x || !y)
		return x == y;
	return x->kind == y->kind && x->name == y->name &&
	       same_or_none(x->sel, y->sel);
}

static bool same_vars(const ast_expr *x, const ast_expr *y)
{
	for (int i = 0; i < x->nvars; i++)
		if (x->vars[i].name != y->vars[i].name ||
		    !same_or_none(x->vars[i].extent, y->vars[i].extent) ||
		    !same_pack(x->vars[i].pack, y->vars[i].pack))
			return false;
	return true;
}

static bool same(const ast_expr *x, const ast_expr *y)
{
	if (x->kind != y->kind || x->op != y->op || x->parens != y->parens ||
	    x->i != y->i || x->f != y->f || x->name != y->name ||
	    x->nargs != y->nargs || x->nnamed != y->nnamed ||
	    x->open_named != y->open_named || x->nvars != y->nvars ||
	    !same_pack(x->pack, y->pack) || !same_vars(x, y))
		return false;
	for (int i = 0; i < x->nargs; i++)
		if (!same(x->args[i], y->args[i]))
			return false;
	for (int i = 0; i < x->nnamed; i++)
		if (x->named[i].name != y->named[i].name ||
		    !same(x->named[i].value, y->named[i].value))
			return false;
	return true;
}

static bool same_tensors(const ast_tensor *x, const ast_tensor *y, int n)
{
	for (int i = 0; i < n; i++) {
		if (x[i].name != y[i].name || x[i].ndims != y[i].ndims ||
		    x[i].broadcast != y[i].broadcast ||
		    x[i].type.name != y[i].type.name ||
		    x[i].type.kind != y[i].type.kind)
			return false;
		for (int d = 0; d < x[i].ndims; d++)
			if (!same(x[i].dims[d], y[i].dims[d]))
				return false;
	}
	return true;
}

static bool same_attrs(const ast_attr *x, const ast_attr *y, int n)
{
	for (int i = 0; i < n; i++)
		if (x[i].name != y[i].name || x[i].type != y[i].type ||
		    x[i].is_list != y[i].is_list ||
		    x[i].optional != y[i].optional ||
		    x[i].length != y[i].length ||
		    !same_or_none(x[i].init, y[i].init))
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
	return same(x->value, y->value);
}

const char *tree_difference(const ast_op *x, const ast_op *y)
{
	if (x->name != y->name)
		return "the name";
	if (!x->doc || !y->doc ? x->doc != y->doc : strcmp(x->doc, y->doc) != 0)
		return "the doc comment";
	if (x->nparams != y->nparams ||
	    !same_tensors(x->params, y->params, x->nparams))
		return "a parameter";
	if (x->nattrs != y->nattrs || !same_attrs(x->attrs, y->attrs,
						  x->nattrs))
		return "an attribute";
	if (x->nresults != y->nresults ||
	    !same_tensors(x->results, y->results, x->nresults))
		return "a result";
	if (x->nlets != y->nlets)
		return "the number of lets";
	for (int i = 0; i < x->nlets; i++)
		if (!same_let(&x->lets[i], &y->lets[i]))
			return "a let";
	if (x->nbodies != y->nbodies)
		return "the number of bodies";
	for (int i = 0; i < x->nbodies; i++)
		if (!same(x->bodies[i], y->bodies[i]))
			return "a body";
	return NULL;
}
