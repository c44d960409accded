/* The head of a derived operator: the parameters and attributes that it needs,
 * and no more. */
#include "config.h"

#include "compiler/gradient/signature.h"

/* The parameters that the derived operator may have: the derivatives by the
 * results, and those of the operator. */
typedef struct signature {
	int n, nadjoints; /* these come first */
	ast_tensor *params;
	bool *kept;
	ast_tensor result;
} signature;

static signature all_parameters(grad_op *g, int input)
{
	const ast_op *op = g->op;
	int most = op->nresults + op->nparams;
	signature s = {.params = ARENA_ARRAY(g->t.a, ast_tensor, most),
		       .kept = ARENA_ARRAY(g->t.a, bool, most)};
	for (int i = 0; i < op->nresults; i++) {
		if (!g->tensors.at[g->results[i]].smooth)
			continue;
		s.params[s.n] = op->results[i];
		s.params[s.n].name = grad_adjoint_name(g, g->results[i]);
		s.kept[s.n++] = true;
	}
	s.nadjoints = s.n;
	for (int i = 0; i < op->nparams; i++) {
		s.params[s.n] = op->params[i];
		s.kept[s.n++] = true;
	}
	s.result = op->params[input];
	s.result.name = grad_adjoint_name(g, input);
	s.result.dims = ARENA_COPY(g->t.a, s.result.dims, s.result.ndims);
	ast_pack own = {.kind = PACK_ALL, .name = op->params[input].name};
	for (int i = 0; s.result.broadcast && i < s.result.ndims; i++)
		if (s.result.dims[i]->kind == AST_PACK)
			s.result.dims[i] = tree_pack(&g->t, &own);
	s.result.broadcast = false;
	return s;
}

/* ---- what is used ------------------------------------------------------ */

static bool tensor_mentions(const ast_tensor *x, const char *name)
{
	if (x->type.kind == TYPE_NAMED && x->type.name == name)
		return true;
	for (int i = 0; i < x->ndims; i++)
		if (tree_mentions(x->dims[i], name))
			return true;
	return false;
}

/* Whether a name is used by anything but parameter `but`. */
static bool is_used(const signature *s, const ast_op *op, int but,
		    const char *name)
{
	for (int i = 0; i < op->nlets; i++)
		if (tree_mentions(op->lets[i].value, name))
			return true;
	if (tree_mentions(op->bodies[0], name) ||
	    tensor_mentions(&s->result, name))
		return true;
	for (int i = 0; i < s->n; i++)
		if (s->kept[i] && i != but &&
		    tensor_mentions(&s->params[i], name))
			return true;
	return false;
}

/* ---- which names are bound --------------------------------------------- */

static bool is_list_attribute(const grad_op *g, const char *name)
{
	int i = ast_find_attr(g->op->attrs, g->op->nattrs, name);
	return i >= 0 && g->op->attrs[i].is_list;
}

/* Names that the parameters bind: sizes that are a whole dimension, and packs
 * that are the only one of a parameter that others do not bind. */
typedef struct bindings {
	grad_op *g;
	const signature *s;
	VEC(const char *) names;
} bindings;

static bool is_bound(const bindings *b, const char *name)
{
	for (int i = 0; i < b->names.n; i++)
		if (b->names.at[i] == name)
			return true;
	return is_list_attribute(b->g, name);
}

static bool has_pack(const ast_tensor *t, const char *name)
{
	for (int i = 0; i < t->ndims; i++)
		if (t->dims[i]->kind == AST_PACK &&
		    t->dims[i]->pack->kind == PACK_ALL &&
		    t->dims[i]->pack->name == name)
			return true;
	return false;
}

/* Whether parameters that are broadcast into a pack say what it is: all of them
 * do, unless one of the operator's parameters has the pack itself. */
static bool broadcast_binds(const signature *s, const char *pack)
{
	for (int i = s->nadjoints; i < s->n; i++)
		if (has_pack(&s->params[i], pack) &&
		    !(s->params[i].broadcast && s->kept[i]))
			return false;
	return true;
}

/* Adds the names that t binds; returns whether any of them is new. */
static bool bind(bindings *b, const ast_tensor *t)
{
	const char *open = NULL;
	int nopen = 0, before = b->names.n;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *d = t->dims[i];
		if (d->kind == AST_NAME && !is_bound(b, d->name))
			vec_push(b->g->t.a, &b->names, d->name);
		if (d->kind != AST_PACK || !d->pack->name ||
		    is_bound(b, d->pack->name))
			continue;
		nopen++;
		open = d->pack->kind == PACK_ALL ? d->pack->name : open;
	}
	if (t->broadcast && open && !broadcast_binds(b->s, open))
		open = NULL;
	if (nopen == 1 && open)
		vec_push(b->g->t.a, &b->names, open);
	return b->names.n > before;
}

static bindings bind_all(grad_op *g, const signature *s)
{
	bindings b = {.g = g, .s = s};
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < s->n; i++)
			if (s->kept[i])
				more |= bind(&b, &s->params[i]);
	}
	return b;
}

/* Whether the rest says the same without the parameter. */
static bool can_drop(grad_op *g, signature *s, int p, const ast_op *op)
{
	bindings with = bind_all(g, s);
	s->kept[p] = false;
	bindings without = bind_all(g, s);
	s->kept[p] = true;
	if (is_used(s, op, p, s->params[p].name))
		return false;
	for (int i = 0; i < with.names.n; i++)
		if (!is_bound(&without, with.names.at[i]) &&
		    is_used(s, op, p, with.names.at[i]))
			return false;
	return true;
}

/* ---- the head ---------------------------------------------------------- */

void grad_make_signature(grad_op *g, int input, ast_op *op)
{
	const ast_op *of = g->op;
	signature s = all_parameters(g, input);
	for (int i = s.n - 1; i >= 0; i--)
		s.kept[i] = !can_drop(g, &s, i, op);
	op->params = ARENA_ARRAY(g->t.a, ast_tensor, s.n + 1);
	for (int i = 0; i < s.n; i++)
		if (s.kept[i])
			op->params[op->nparams++] = s.params[i];
	op->attrs = ARENA_ARRAY(g->t.a, ast_attr, of->nattrs + 1);
	for (int i = 0; i < of->nattrs; i++)
		if (is_used(&s, op, -1, of->attrs[i].name))
			op->attrs[op->nattrs++] = of->attrs[i];
	op->nresults = 1;
	op->results = ARENA_COPY(g->t.a, &s.result, 1);
}
