/* The signature of a derived operator, with only the parameters and attributes
 * that it needs. */
#include "config.h"

#include "compiler/gradient/signature.h"

/* The candidates for parameters of the derived operator: the derivatives by the
 * results, then the parameters of the operator. */
typedef struct signature {
	/* parameters; derivatives among them, which come first */
	int n, nadjoints;
	ast_tensor *params;
	const ast_symbol **symbols; /* of these */
	int *of;		    /* their numbers as in gradient.params */
	bool *kept;
	ast_tensor result;
} signature;

static void add_parameter(signature *s, const ast_tensor *t,
			  const ast_symbol *symbol, int of)
{
	s->params[s->n] = *t;
	s->params[s->n].name = symbol->name;
	s->symbols[s->n] = symbol;
	s->of[s->n] = of;
	s->kept[s->n++] = true;
}

static signature all_parameters(grad_op *g, int input)
{
	const ast_op *op = g->op;
	int most = op->nresults + op->nparams;
	signature s = {.params = ARENA_ARRAY(g->t.a, ast_tensor, most),
		       .symbols = ARENA_ARRAY(g->t.a, const ast_symbol *,
					      most),
		       .of = ARENA_ARRAY(g->t.a, int, most),
		       .kept = ARENA_ARRAY(g->t.a, bool, most)};
	for (int i = 0; i < op->nresults; i++) {
		if (!g->tensors.at[g->results[i]].smooth)
			continue;
		add_parameter(&s, &op->results[i],
			      grad_adjoint(g, g->results[i]), ~i);
	}
	s.nadjoints = s.n;
	for (int i = 0; i < op->nparams; i++)
		add_parameter(&s, &op->params[i], op->symbols[i], i);
	s.result = op->params[input];
	s.result.name = grad_adjoint(g, input)->name;
	s.result.dims = ARENA_COPY(g->t.a, s.result.dims, s.result.ndims);
	ast_pack own = {.kind = PACK_ALL, .name = op->params[input].name,
			.symbol = op->symbols[input]};
	for (int i = 0; s.result.broadcast && i < s.result.ndims; i++)
		if (s.result.dims[i]->kind == AST_PACK)
			s.result.dims[i] = tree_pack(&g->t, &own);
	s.result.broadcast = false;
	return s;
}

/* ---- what is used ------------------------------------------------------ */

static bool tensor_mentions(const ast_tensor *x, const ast_symbol *symbol)
{
	if (x->type.symbol == symbol)
		return true;
	for (int i = 0; i < x->ndims; i++)
		if (tree_mentions(x->dims[i], symbol))
			return true;
	return false;
}

/* Whether a symbol is used anywhere except in parameter `but'. */
static bool is_used(const signature *s, const ast_op *op, int but,
		    const ast_symbol *symbol)
{
	for (int i = 0; i < op->nlets; i++)
		if (tree_mentions(op->lets[i].value, symbol))
			return true;
	if (tree_mentions(op->bodies[0], symbol) ||
	    tensor_mentions(&s->result, symbol))
		return true;
	for (int i = 0; i < s->n; i++)
		if (s->kept[i] && i != but &&
		    tensor_mentions(&s->params[i], symbol))
			return true;
	return false;
}

/* ---- which symbols are bound ------------------------------------------- */

static bool is_list_attribute(const grad_op *g, const ast_symbol *s)
{
	return s->kind == SYMBOL_ATTR && g->op->attrs[s->index].is_list;
}

/* The symbols that parameters bind: a size that is a whole dimension, and a
 * pack that is the only unbound one of its parameter. */
typedef struct bindings {
	grad_op *g;
	const signature *s;
	bool *bound; /* by symbol */
} bindings;

static bool is_bound(const bindings *b, const ast_symbol *s)
{
	return b->bound[s->number] || is_list_attribute(b->g, s);
}

static bool has_pack(const ast_tensor *t, const ast_symbol *pack)
{
	for (int i = 0; i < t->ndims; i++)
		if (t->dims[i]->kind == AST_PACK &&
		    t->dims[i]->pack->kind == PACK_ALL &&
		    t->dims[i]->pack->symbol == pack)
			return true;
	return false;
}

/* Whether the parameters broadcast into a pack determine it.  All of them
 * together do, unless a parameter of the operator has the pack itself. */
static bool broadcast_binds(const signature *s, const ast_symbol *pack)
{
	for (int i = s->nadjoints; i < s->n; i++)
		if (has_pack(&s->params[i], pack) &&
		    !(s->params[i].broadcast && s->kept[i]))
			return false;
	return true;
}

static bool bind_symbol(bindings *b, const ast_symbol *s)
{
	bool before = is_bound(b, s);
	b->bound[s->number] = true;
	return !before;
}

/* Adds the symbols that t binds.  Returns whether one of them is new. */
static bool bind(bindings *b, const ast_tensor *t)
{
	const ast_symbol *open = NULL;
	bool any = false;
	int nopen = 0;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *d = t->dims[i];
		if (d->kind == AST_NAME)
			any |= bind_symbol(b, d->symbol);
		if (d->kind != AST_PACK || !d->pack->symbol ||
		    is_bound(b, d->pack->symbol))
			continue;
		nopen++;
		open = d->pack->kind == PACK_ALL ? d->pack->symbol : open;
	}
	if (t->broadcast && open && !broadcast_binds(b->s, open))
		open = NULL;
	if (nopen == 1 && open)
		any |= bind_symbol(b, open);
	return any;
}

static bindings bind_all(grad_op *g, const signature *s)
{
	bindings b = {.g = g, .s = s,
		      .bound = ARENA_ARRAY(g->t.a, bool, g->symbols.n)};
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < s->n; i++)
			if (s->kept[i])
				more |= bind(&b, &s->params[i]);
	}
	return b;
}

/* Whether the remaining parameters give the same information without parameter
 * p. */
static bool can_drop(grad_op *g, signature *s, int p, const ast_op *op)
{
	bindings with = bind_all(g, s);
	s->kept[p] = false;
	bindings without = bind_all(g, s);
	s->kept[p] = true;
	if (is_used(s, op, p, s->symbols[p]))
		return false;
	for (int i = 0; i < g->symbols.n; i++)
		if (with.bound[i] && !is_bound(&without, g->symbols.at[i]) &&
		    is_used(s, op, p, g->symbols.at[i]))
			return false;
	return true;
}

/* ---- the head ---------------------------------------------------------- */

void grad_make_signature(grad_op *g, int input, ast_op *op, int *params,
			 int *attrs)
{
	const ast_op *of = g->op;
	signature s = all_parameters(g, input);
	for (int i = s.n - 1; i >= 0; i--)
		s.kept[i] = !can_drop(g, &s, i, op);
	op->params = ARENA_ARRAY(g->t.a, ast_tensor, s.n + 1);
	for (int i = 0; i < s.n; i++)
		if (s.kept[i]) {
			params[op->nparams] = s.of[i];
			op->params[op->nparams++] = s.params[i];
		}
	op->attrs = ARENA_ARRAY(g->t.a, ast_attr, of->nattrs + 1);
	for (int i = 0; i < of->nattrs; i++)
		if (is_used(&s, op, -1, of->symbols[of->nparams + i])) {
			attrs[op->nattrs] = i;
			op->attrs[op->nattrs++] = of->attrs[i];
		}
	op->nresults = 1;
	op->results = ARENA_COPY(g->t.a, &s.result, 1);
}
