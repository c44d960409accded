/* Calls of operators: the dimensions of their results in the caller's terms. */
#include "config.h"

#include "compiler/gradient/stage.h"

/* The meaning of a callee's symbol for the caller: a size, or the dimensions of
 * a pack. */
typedef struct meaning {
	bool bound;
	int n; /* 1 for a size */
	ast_expr **dims;
} meaning;

typedef struct calling {
	grad_op *g;
	const ast_op *callee;
	const ast_expr *call;
	ast_expr **args; /* arguments of the call, as uses of tensors */
	meaning *meanings; /* by symbol of the callee */
	bool failed;
} calling;

/* The meaning of a symbol; NULL if the symbol is not bound. */
static const meaning *find(const calling *c, const ast_symbol *s)
{
	const meaning *m = s ? &c->meanings[s->number] : NULL;
	return m && m->bound ? m : NULL;
}

/* Binds a symbol of the callee.  A pack into which several parameters are
 * broadcast is bound by each of them; the binding with most dimensions is
 * kept. */
static void bind(calling *c, const ast_symbol *s, ast_expr **dims, int n)
{
	meaning *m = &c->meanings[s->number];
	if (!m->bound || n > m->n)
		*m = (meaning){true, n, dims};
}

/* Binds the names in a parameter's dimensions to those of its argument.  A
 * single pack gets the dimensions that are left.  Of several packs each gets
 * one dimension, which is a pack of the caller. */
static void bind_argument(calling *c, const ast_tensor *p, const grad_tensor *x)
{
	int npacks = 0, left = x->ndims - p->ndims + 1;
	for (int i = 0; i < p->ndims; i++)
		npacks += p->dims[i]->kind == AST_PACK;
	if (npacks > 1)
		left = 1;
	if (npacks == 1 ? left < 0 : p->ndims != x->ndims) {
		c->failed = true;
		return;
	}
	for (int i = 0, at = 0; i < p->ndims; i++) {
		const ast_expr *d = p->dims[i];
		int n = d->kind == AST_PACK ? left : 1;
		if (d->kind == AST_PACK && d->pack->kind == PACK_ALL)
			bind(c, d->pack->symbol,
			     n > 0 ? x->dims + at : NULL, n);
		if (d->kind == AST_NAME && x->dims[at]->kind != AST_PACK)
			bind(c, d->symbol, x->dims + at, 1);
		at += n;
	}
}

/* The value of an attribute in the call, or its default; NULL if it has
 * neither. */
static const ast_expr *attribute_value(const calling *c, const ast_symbol *s)
{
	if (!s || s->kind != SYMBOL_ATTR)
		return NULL;
	for (int i = 0; i < c->call->nnamed; i++)
		if (c->call->named[i].index == s->index)
			return c->call->named[i].value;
	return c->callee->attrs[s->index].init;
}

static ast_expr *in_caller(void *arg, const ast_expr *e)
{
	calling *c = arg;
	if (e->kind != AST_NAME)
		return NULL;
	const meaning *m = find(c, e->symbol);
	const ast_expr *value = m ? m->dims[0] : attribute_value(c, e->symbol);
	c->failed |= !value;
	return value ? tree_map(&c->g->t, value, NULL, NULL) : NULL;
}

static void add_dim(calling *c, const ast_expr *d, grad_tensor *to)
{
	trees *t = &c->g->t;
	const meaning *m = d->kind == AST_PACK ? find(c, d->pack->symbol)
					       : NULL;
	if (d->kind != AST_PACK) {
		to->dims[to->ndims++] = tree_map(t, d, in_caller, c);
		return;
	}
	if (m && d->pack->kind == PACK_ALL) {
		for (int i = 0; i < m->n; i++)
			to->dims[to->ndims++] = m->dims[i];
		return;
	}
	/* ..(d \ axes), where ..d is a pack of the caller. */
	if (!m || m->n != 1 || m->dims[0]->kind != AST_PACK ||
	    m->dims[0]->pack->kind != PACK_ALL) {
		c->failed = true;
		return;
	}
	ast_pack p = *d->pack;
	p.name = m->dims[0]->pack->name;
	p.symbol = m->dims[0]->pack->symbol;
	p.sel = tree_map(t, p.sel, in_caller, c);
	to->dims[to->ndims++] = tree_pack(t, &p);
}

/* An upper bound of the number of a result's dimensions. */
static int most_dims(const calling *c, const ast_tensor *r)
{
	int n = r->ndims;
	for (int i = 0; i < c->callee->nsymbols; i++)
		n += c->meanings[i].n * r->ndims;
	return n;
}

static bool same_type(const ast_type *x, const ast_type *y)
{
	return x->kind == y->kind && x->exact == y->exact &&
	       x->symbol == y->symbol;
}

/* The element type of a result in terms of the caller.  It is that of the first
 * argument with the same type, or given by an attribute's value. */
static etype result_type(const calling *c, const ast_tensor *r)
{
	for (int i = 0; i < c->call->nargs; i++)
		if (same_type(&c->callee->params[i].type, &r->type))
			return c->g->tensors.at[grad_tensor_of(
				c->g, c->args[i])].type;
	const ast_expr *value = r->type.kind == TYPE_NAMED
					? attribute_value(c, r->type.symbol)
					: NULL;
	return value && value->type ? grad_said_type(c->g, value->type)
				    : etype_declared(&r->type);
}

static void add_result(calling *c, const ast_tensor *r, const ast_symbol *s)
{
	grad_op *g = c->g;
	grad_tensor t = {.symbol = s, .param = -1,
			 .type = result_type(c, r)};
	t.smooth = grad_has_floats(r) && etype_may_be_float(t.type);
	t.dims = ARENA_ARRAY(g->t.a, ast_expr *, most_dims(c, r) + 1);
	for (int i = 0; i < r->ndims; i++)
		add_dim(c, r->dims[i], &t);
	grad_add_tensor(g, t);
}

/* An argument as the use of a tensor. */
static ast_expr *argument(grad_op *g, const ast_expr *e)
{
	if (e->kind == AST_NAME)
		return tree_use(&g->t, e->symbol);
	const ast_symbol *result = grad_fresh(g, "t");
	grad_add_call(g, &result, 1, e);
	return tree_use(&g->t, result);
}

void grad_add_call(grad_op *g, const ast_symbol *const *results, int n,
		   const ast_expr *call)
{
	const ast_op *callee = call->calls.op;
	ast_expr **args = ARENA_ARRAY(g->t.a, ast_expr *, call->nargs + 1);
	calling c = {.g = g, .callee = callee, .call = call, .args = args};
	if (!callee || call->nargs > callee->nparams || n > callee->nresults) {
		g->because = "it calls something that is not an operator";
		return;
	}
	c.meanings = ARENA_ARRAY(g->t.a, meaning, callee->nsymbols + 1);
	for (int i = 0; i < call->nargs && !g->because; i++) {
		args[i] = argument(g, call->args[i]);
		int t = grad_tensor_of(g, args[i]);
		if (t < 0)
			g->because = "an argument of a call is not a tensor";
		else
			bind_argument(&c, &callee->params[i],
				      &g->tensors.at[t]);
	}
	if (g->because)
		return;
	grad_stage s = {.tensor = g->tensors.n, .callee = callee};
	s.call = tree_call(&g->t, call->name, call->calls, call->nargs, args);
	s.call->nnamed = call->nnamed;
	s.call->named = call->named;
	for (int i = 0; i < n; i++)
		add_result(&c, &callee->results[i], results[i]);
	vec_push(g->t.a, &g->stages, ARENA_COPY(g->t.a, &s, 1));
	if (c.failed)
		g->because = "the dimensions of an operator that it calls "
			     "follow from attributes";
}
