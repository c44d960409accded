/* The head of a derived operator: the parameters and attributes that it needs,
 * and no more. */
#include "config.h"

#include "compiler/gradient/signature.h"

#include <ctype.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------- */

static void add_text(grad_op *g, char **to, const char *text)
{
	*to = arena_printf(g->t.a, "%s%s", *to, text);
}

static bool is_word_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether a name stands in a text. */
bool grad_has_word(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = text; (p = strstr(p, name)); p += n)
		if ((p == text || !is_word_character(p[-1])) &&
		    !is_word_character(p[n]))
			return true;
	return false;
}

static const char *tensor_text(grad_op *g, const ast_tensor *t)
{
	char *s = arena_printf(g->t.a, "%s%s[",
			       t->broadcast ? "broadcast " : "", t->name);
	for (int i = 0; i < t->ndims; i++)
		add_text(g, &s,
			 arena_printf(g->t.a, "%s%s", i ? ", " : "",
				      dsl_expr_text(g->t.a, t->dims[i])));
	add_text(g, &s, "]");
	if (t->type.name)
		add_text(g, &s, arena_printf(g->t.a, ": %s", t->type.name));
	return s;
}

static const char *attribute_text(grad_op *g, const ast_attr *a)
{
	char *s = arena_printf(g->t.a, "%s: %s", a->name,
			       ast_attr_type_text(a->type));
	if (a->is_list && a->length >= 0)
		add_text(g, &s, arena_printf(g->t.a, "[%d]", a->length));
	else if (a->is_list)
		add_text(g, &s, "[]");
	if (a->init)
		add_text(g, &s,
			 arena_printf(g->t.a, " = %s",
				      dsl_expr_text(g->t.a, a->init)));
	return s;
}

/* The parameters that the derived operator may have: the derivatives by the
 * results, and those of the operator. */
typedef struct signature {
	int n;
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

/* All that is written but parameter `but`. */
static const char *text_without(grad_op *g, const signature *s, int but,
				const char *body)
{
	char *all = arena_printf(g->t.a, "%s %s", body,
				 tensor_text(g, &s->result));
	for (int i = 0; i < s->n; i++)
		if (s->kept[i] && i != but)
			add_text(g, &all,
				 arena_printf(g->t.a, " %s",
					      tensor_text(g, &s->params[i])));
	return all;
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
	VEC(const char *) names;
} bindings;

static bool is_bound(const bindings *b, const char *name)
{
	for (int i = 0; i < b->names.n; i++)
		if (b->names.at[i] == name)
			return true;
	return is_list_attribute(b->g, name);
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
	if (nopen == 1 && open)
		vec_push(b->g->t.a, &b->names, open);
	return b->names.n > before;
}

static bindings bind_all(grad_op *g, const signature *s)
{
	bindings b = {.g = g};
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < s->n; i++)
			if (s->kept[i])
				more |= bind(&b, &s->params[i]);
	}
	return b;
}

/* Whether the rest says the same without the parameter. */
static bool can_drop(grad_op *g, signature *s, int p, const char *body)
{
	bindings with = bind_all(g, s);
	s->kept[p] = false;
	bindings without = bind_all(g, s);
	s->kept[p] = true;
	const char *rest = text_without(g, s, p, body);
	if (grad_has_word(rest, s->params[p].name))
		return false;
	for (int i = 0; i < with.names.n; i++)
		if (!is_bound(&without, with.names.at[i]) &&
		    grad_has_word(rest, with.names.at[i]))
			return false;
	return true;
}

/* ---- the head ---------------------------------------------------------- */

/* The head with the parameters and attributes that the body needs, and no
 * others. */
const char *grad_header(grad_op *g, int input, const char *name,
			const char *body)
{
	const ast_op *op = g->op;
	signature s = all_parameters(g, input);
	char *text = arena_printf(g->t.a,
				  "/// The derivative of %s by %s.\nop %s(",
				  op->name, op->params[input].name, name);
	for (int i = s.n - 1; i >= 0; i--)
		s.kept[i] = !can_drop(g, &s, i, body);
	bool any = false;
	for (int i = 0; i < s.n; i++) {
		if (!s.kept[i])
			continue;
		add_text(g, &text, any ? ", " : "");
		add_text(g, &text, tensor_text(g, &s.params[i]));
		any = true;
	}
	const char *used = text_without(g, &s, -1, body);
	any = false;
	for (int i = 0; i < op->nattrs; i++) {
		if (!grad_has_word(used, op->attrs[i].name))
			continue;
		add_text(g, &text, any ? ", " : "; ");
		add_text(g, &text, attribute_text(g, &op->attrs[i]));
		any = true;
	}
	return arena_printf(g->t.a, "%s) -> %s =\n", text,
			    tensor_text(g, &s.result));
}
