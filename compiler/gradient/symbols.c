/* Symbols of a derivation: those of the operator and new ones, with their
 * names. */
#include "config.h"

#include "compiler/gradient/stage.h"

#include <string.h>

/* ---- symbols ----------------------------------------------------------- */

/* The tensor that an expression means, as in grad_op.tensor_of. */
static int meaning_of(const grad_op *g, const ast_expr *e)
{
	return e->kind == AST_NAME && e->symbol
		       ? g->tensor_of.at[e->symbol->number] : NO_TENSOR;
}

int grad_tensor_of(const grad_op *g, const ast_expr *e)
{
	int t = meaning_of(g, e);
	return t >= 0 && t != NO_TENSOR ? t : -1;
}

int grad_tensor_like(const grad_op *g, const ast_expr *e)
{
	int t = meaning_of(g, e);
	return t == NO_TENSOR ? -1 : t >= 0 ? t : ~t;
}

int grad_read_of(const grad_op *g, const ast_expr *e)
{
	return e->kind == AST_INDEX ? grad_tensor_of(g, e->args[0]) : -1;
}

void grad_add_symbol(grad_op *g, const ast_symbol *s)
{
	vec_push(g->t.a, &g->symbols, s);
	vec_push(g->t.a, &g->tensor_of, NO_TENSOR);
}

const ast_symbol *grad_symbol(grad_op *g, ast_symbol_kind kind,
			      const char *name)
{
	ast_symbol s = {.name = name, .kind = kind, .at = NOWHERE,
			.number = g->symbols.n, .index = -1};
	grad_add_symbol(g, ARENA_COPY(g->t.a, &s, 1));
	return g->symbols.at[s.number];
}

/* ---- names that are made ------------------------------------------------ */

static bool is_name_of_tensor(const grad_op *g, const char *name)
{
	for (int i = 0; i < g->tensors.n; i++)
		if (g->tensors.at[i].symbol->name == name)
			return true;
	return false;
}

static bool is_name_of_attr(const ast_op *op, const char *name)
{
	for (int i = 0; i < op->nattrs; i++)
		if (op->attrs[i].name == name)
			return true;
	return false;
}

static bool expr_uses(const ast_expr *e, const char *name)
{
	if (e->name == name || (e->pack && e->pack->name == name))
		return true;
	for (int i = 0; i < e->nvars; i++)
		if (e->vars[i].name == name)
			return true;
	for (int i = 0; i < e->nargs; i++)
		if (expr_uses(e->args[i], name))
			return true;
	return false;
}

static bool list_uses(const ast_tensor *list, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (list[i].name == name)
			return true;
		for (int d = 0; d < list[i].ndims; d++)
			if (expr_uses(list[i].dims[d], name))
				return true;
	}
	return false;
}

static bool is_name_of_let(const grad_op *g, const char *name)
{
	for (int i = 0; i < g->op->nlets; i++)
		for (int j = 0; j < g->op->lets[i].nnames; j++)
			if (g->op->lets[i].names[j] == name)
				return true;
	return false;
}

bool grad_is_global(const grad_op *g, const char *name)
{
	const ast_op *op = g->op;
	if (list_uses(op->params, op->nparams, name) ||
	    list_uses(op->results, op->nresults, name) ||
	    is_name_of_tensor(g, name) || is_name_of_attr(op, name))
		return true;
	for (int i = 0; i < g->taken.n; i++)
		if (g->taken.at[i] == name)
			return true;
	return is_name_of_let(g, name);
}

static bool is_used(const grad_op *g, const char *name)
{
	const ast_op *op = g->op;
	if (dsl_is_word(name))
		return true;
	for (int i = 0; i < g->renamed.n; i++)
		if (g->renamed.at[i] == name)
			return true;
	for (int i = 0; i < op->nlets; i++)
		if (expr_uses(op->lets[i].value, name))
			return true;
	for (int i = 0; i < op->nbodies; i++)
		if (expr_uses(op->bodies[i], name))
			return true;
	return grad_is_global(g, name);
}

static const char *unused_name(const grad_op *g, const char *stem)
{
	const char *name = intern(g->t.names, stem);
	for (int i = 2; is_used(g, name); i++)
		name = intern(g->t.names,
			      arena_printf(g->t.a, "%s%d", stem, i));
	return name;
}

const ast_symbol *grad_fresh(grad_op *g, const char *stem)
{
	const char *name = unused_name(g, stem);
	vec_push(g->t.a, &g->taken, name);
	return grad_symbol(g, SYMBOL_TENSOR, name);
}

const ast_symbol *grad_renamed(grad_op *g, const char *stem)
{
	const char *name = unused_name(g, stem);
	vec_push(g->t.a, &g->renamed, name);
	return grad_symbol(g, SYMBOL_VAR, name);
}

const ast_symbol *grad_result(grad_op *g, int i)
{
	const char *name = g->op->results[i].name;
	return is_name_of_let(g, name)
		       ? grad_fresh(g, name)
		       : grad_symbol(g, SYMBOL_TENSOR, name);
}

/* Of the form "?3:i": no name in a source text has these characters. */
const ast_symbol *grad_new_variable(grad_op *g, const char *stem)
{
	const char *name = intern(g->t.names, arena_printf(g->t.a, "?%d:%s",
							   g->nmade++, stem));
	return grad_symbol(g, SYMBOL_VAR, name);
}

bool grad_is_made(const char *name)
{
	return *name == '?';
}

const char *grad_stem(const char *made)
{
	return strchr(made, ':') + 1;
}

/* ---- tensors ------------------------------------------------------------ */

void grad_set_adjoint(grad_op *g, int tensor, const ast_symbol *s)
{
	while (g->adjoints.n <= tensor)
		vec_push(g->t.a, &g->adjoints, NULL);
	g->adjoints.at[tensor] = s;
	g->tensor_of.at[s->number] = ~tensor;
}

/* The name of a tensor in the operator's text. */
static const char *name_of(const grad_op *g, int tensor)
{
	for (int i = 0; i < g->op->nresults; i++)
		if (g->results[i] == tensor)
			return g->op->results[i].name;
	return g->tensors.at[tensor].symbol->name;
}

const ast_symbol *grad_adjoint(grad_op *g, int tensor)
{
	if (tensor < g->adjoints.n && g->adjoints.at[tensor])
		return g->adjoints.at[tensor];
	const char *stem = arena_printf(g->t.a, "d%s", name_of(g, tensor));
	grad_set_adjoint(g, tensor, grad_fresh(g, stem));
	return g->adjoints.at[tensor];
}

bool grad_is_read(const grad_op *g, const ast_expr *e)
{
	return e->kind == AST_INDEX && grad_tensor_like(g, e->args[0]) >= 0;
}

bool grad_has_read(const grad_op *g, const ast_expr *e)
{
	if (grad_is_read(g, e))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (grad_has_read(g, e->args[i]))
			return true;
	return false;
}
