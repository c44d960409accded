/* Infers extents: each index variable runs over the dimensions that it indexes.
 *
 * A read that is always made decides; a read under a condition decides only if
 * no other does, a guarded read never.  A written extent and a result's
 * dimension need no inference.  Extents here are expressions of the signature;
 * expansion compares those that cannot be distinguished here. */
#include "config.h"

#include <string.h>

#include "dsl/checker.h"

static void walk(checker *c, const ast_expr *e);

/* ---- comparing sizes ---------------------------------------------------- */

/* Compares at most *budget nodes; larger trees count as equal. */
static bool same_tree(const ast_expr *x, const ast_expr *y, int *budget)
{
	if (x == y || --*budget < 0)
		return true;
	if (x->kind != y->kind || x->nargs != y->nargs || x->nnamed ||
	    y->nnamed)
		return false;
	if (x->name != y->name || x->i != y->i || x->f != y->f ||
	    x->op != y->op || x->pack || y->pack)
		return false;
	for (int i = 0; i < x->nargs; i++)
		if (!same_tree(x->args[i], y->args[i], budget))
			return false;
	return true;
}

static bool same_size(const ast_expr *x, const ast_expr *y)
{
	int budget = 1000;
	return same_tree(x, y, &budget);
}

/* Whether two extents differ for most shapes, which makes them an error. */
static bool differ(const ast_expr *x, const ast_expr *y)
{
	if (!x || !y || same_size(x, y))
		return false;
	bool plain_x = x->kind == AST_NAME || x->kind == AST_INT;
	bool plain_y = y->kind == AST_NAME || y->kind == AST_INT;
	return plain_x && plain_y;
}

static const char *size_text(checker *c, const ast_expr *e)
{
	return e ? dsl_expr_text(c->tmp, e) : "?";
}

/* ---- extents by reads --------------------------------------------------- */

/* Notes that a variable indexes a dimension of that extent. */
static void indexes(checker *c, const ast_symbol *s, const ast_expr *extent,
		    range at)
{
	symbol_facts *var = check_facts(c, s);
	bool conditional = c->conditions > var->conditions;
	if (var->settled)
		return;
	if (!var->found || (var->tentative && !conditional)) {
		var->found = true;
		var->tentative = conditional;
		var->extent = extent;
		var->extent_at = at;
		return;
	}
	if (conditional)
		return;
	if (!differ(var->extent, extent)) {
		if (!var->extent)
			var->extent = extent;
		return;
	}
	check_error(c, DIAG_EXTENT_DISAGREES, at,
		    "the index '%s' runs over %s elements here", s->name,
		    size_text(c, extent));
	diag_note(c->sink, var->extent_at, "and over %s elements here",
		  size_text(c, var->extent));
	var->settled = true; /* once is enough */
}

static bool same_pack(const ast_expr *x, const ast_expr *y)
{
	const ast_pack *p = x->pack, *q = y->pack;
	if (p->kind == PACK_CALL || q->kind == PACK_CALL ||
	    p->name != q->name || p->kind != q->kind)
		return false;
	return p->sel == q->sel || (p->sel && same_size(p->sel, q->sel));
}

static bool matches(const ast_expr *item, const ast_expr *dim)
{
	bool pack = dim && dim->kind == AST_PACK;
	if (item->kind != AST_PACK || !pack)
		return item->kind != AST_PACK && !pack;
	return same_pack(item, dim);
}

/* Notes that a read has a variable as its operand i. */
static void note_read(checker *c, symbol_facts *var, const ast_expr *read,
		      int i)
{
	ast_indexing x = { read, i };
	if (c->conditions > var->conditions)
		vec_push(c->tmp, &var->conditional, x);
	else
		vec_push(c->tmp, &var->always, x);
}

/* An index and the dimension that it belongs to; dim is NULL if unknown. */
static void pair(checker *c, const ast_expr *item, const ast_expr *dim)
{
	if (item->kind != AST_NAME || !item->symbol ||
	    item->symbol->kind != SYMBOL_VAR)
		return;
	indexes(c, item->symbol, dim, item->at);
}

/* Pairs indices with dimensions from both ends, up to a pack that is not at the
 * same place on the other side. */
static void align(checker *c, ast_expr *const *items, int n,
		  const ast_expr *const *dims, int ndims)
{
	int first = 0, last = 0;
	if (ndims >= 0) {
		while (first < n && first < ndims &&
		       matches(items[first], dims[first])) {
			pair(c, items[first], dims[first]);
			first++;
		}
		while (last < n - first && last < ndims - first &&
		       matches(items[n - 1 - last], dims[ndims - 1 - last])) {
			pair(c, items[n - 1 - last], dims[ndims - 1 - last]);
			last++;
		}
	}
	for (int i = first; i < n - last; i++)
		pair(c, items[i], NULL);
}

/* ---- opaque functions --------------------------------------------------- */

/* The size of a dimension of an opaque function's result in a call: a bare name
 * is that of the slices' dimensions, or of an attribute. */
static const ast_expr *opaque_dim(const checker *c, const ast_expr *call,
				  const ast_opaque *f, const ast_expr *dim)
{
	if (dim->kind != AST_NAME)
		return NULL;
	for (int i = 0; i < call->nnamed; i++)
		if (call->named[i].name == dim->name)
			return call->named[i].value;
	for (int i = 0; i < call->nargs; i++) {
		const ast_expr *arg = call->args[i];
		const ast_symbol *s = arg->kind == AST_INDEX
					      ? arg->args[0]->symbol
					      : NULL;
		const symbol_facts *g = s ? check_facts(c, s) : NULL;
		if (!g || g->ndims != arg->nargs - 1)
			continue;
		for (int j = 1, k = 0; j < arg->nargs; j++) {
			if (arg->args[j]->kind != AST_SLICE)
				continue;
			const ast_expr *own = f->params[i].dims[k++];
			if (own->kind == AST_NAME && own->name == dim->name)
				return g->dims[j - 1];
		}
	}
	return NULL;
}

/* Notes the variables among the indices of a read. */
static void note_items(checker *c, const ast_expr *read)
{
	for (int i = 1; i < read->nargs; i++) {
		const ast_symbol *s = read->args[i]->symbol;
		if (s && s->kind == SYMBOL_VAR)
			note_read(c, check_facts(c, s), read, i);
	}
}

static void read_opaque(checker *c, const ast_expr *e, const ast_opaque *f)
{
	const ast_tensor *r = &f->results[0];
	note_items(c, e);
	for (int i = 1; i < e->nargs && i <= r->ndims; i++)
		if (e->args[i]->kind != AST_PACK)
			pair(c, e->args[i],
			     opaque_dim(c, e->args[0], f, r->dims[i - 1]));
	for (int i = 0; i < e->args[0]->nargs; i++)
		walk(c, e->args[0]->args[i]);
}

/* ---- expressions -------------------------------------------------------- */

/* A broadcast tensor's own dimensions may be 1 or missing within its pack. */
static void read_tensor(checker *c, const ast_expr *e, const symbol_facts *s)
{
	note_items(c, e);
	align(c, e->args + 1, e->nargs - 1, s->dims, s->ndims);
}

/* The variables of a result's lambda run over its dimensions. */
static void run_over(checker *c, const ast_expr *e, const ast_tensor *result)
{
	ast_expr **items = ARENA_ARRAY(c->tmp, ast_expr *, e->nvars + 1);
	for (int i = 0; i < e->nvars; i++) {
		const ast_var *v = &e->vars[i];
		items[i] = ARENA_NEW(c->tmp, ast_expr);
		*items[i] = (ast_expr){ .kind = v->pack ? AST_PACK : AST_NAME,
					.pack = v->pack, .symbol = v->symbol,
					.at = v->at };
	}
	align(c, items, e->nvars, (const ast_expr *const *)result->dims,
	      result->ndims);
}

/* A declared extent needs no reads. */
static void settle(symbol_facts *var)
{
	var->settled = var->found;
}

static void hand_on_reads(checker *c, ast_var *v)
{
	symbol_facts *f = check_facts(c, v->symbol);
	v->nalways = f->always.n;
	v->nindexings = f->always.n + f->conditional.n;
	for (int i = 0; i < f->conditional.n; i++)
		vec_push(c->tmp, &f->always, f->conditional.at[i]);
	v->indexings = ARENA_COPY(c->modules->arena, f->always.at,
				  v->nindexings);
}

static void walk_lambda(checker *c, const ast_expr *e,
			const ast_tensor *result)
{
	for (int i = 0; i < e->nvars; i++)
		if (e->vars[i].symbol)
			check_facts(c, e->vars[i].symbol)->conditions =
				c->conditions;
	if (result)
		run_over(c, e, result);
	for (int i = 0; i < e->nvars; i++)
		if (e->vars[i].symbol)
			settle(check_facts(c, e->vars[i].symbol));
	walk(c, e->args[0]);
	for (int i = 0; i < e->nvars; i++) {
		ast_var *v = &e->vars[i];
		if (v->symbol)
			hand_on_reads(c, v);
		if (v->symbol && !check_facts(c, v->symbol)->found)
			check_error(c, DIAG_EXTENT_UNKNOWN, v->at,
				    "the extent of the index '%s' cannot be "
				    "inferred; write '%s < ..'",
				    v->name, v->name);
	}
}

static void walk(checker *c, const ast_expr *e)
{
	if (e->kind == AST_GUARD) {
		/* The guard does not cover the reads inside the indices. */
		for (int i = 1; i < e->args[0]->nargs; i++)
			walk(c, e->args[0]->args[i]);
		return;
	}
	if (e->kind == AST_LAMBDA) {
		walk_lambda(c, e, NULL);
		return;
	}
	if (e->kind == AST_INDEX && e->args[0]->kind == AST_CALL) {
		const ast_opaque *f = strmap_get(c->modules->opaques,
						 e->args[0]->name);
		if (f)
			read_opaque(c, e, f);
	} else if (e->kind == AST_INDEX && e->args[0]->symbol &&
		   e->args[0]->symbol->kind == SYMBOL_TENSOR) {
		read_tensor(c, e, check_facts(c, e->args[0]->symbol));
	}
	if (e->kind == AST_PACK && e->pack->kind == PACK_CALL)
		walk(c, e->pack->sel);
	for (int i = 0; i < e->nargs; i++) {
		bool branch = e->kind == AST_IF && i > 0;
		c->conditions += branch;
		if (e->kind != AST_INDEX || i > 0)
			walk(c, e->args[i]);
		c->conditions -= branch;
	}
}

/* ---- lets and results --------------------------------------------------- */

static void walk_let(checker *c, const ast_let *let)
{
	const ast_expr *e = let->value;
	if (e->kind != AST_LAMBDA)
		return;
	walk_lambda(c, e, NULL);
	symbol_facts *f = check_facts(c, let->symbols[0]);
	for (int i = 0; i < e->nvars; i++)
		if (e->vars[i].symbol)
			f->dims[i] = check_facts(c, e->vars[i].symbol)->extent;
}

void check_extents(checker *c)
{
	const ast_op *op = c->op;
	for (int i = 0; i < op->nlets; i++)
		walk_let(c, &op->lets[i]);
	for (int i = 0; i < op->nbodies; i++)
		walk_lambda(c, op->bodies[i], &op->results[i]);
}
