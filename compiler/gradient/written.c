#include "config.h"

#include "compiler/gradient/written.h"

#include <math.h>
#include <string.h>

/* A variable that is bound at an expression. */
typedef struct binding {
	const ast_symbol *symbol;
	const char *written; /* name in the text */
} binding;

typedef struct writer {
	grad_op *g;
	VEC(binding) around; /* innermost last */
} writer;

/* ---- names -------------------------------------------------------------- */

static bool stands_in(const ast_expr *e, const char *name);

static bool stands_in_pack(const ast_pack *p, const char *name)
{
	return p && (p->name == name || (p->sel && stands_in(p->sel, name)));
}

static bool stands_in_var(const ast_var *v, const char *name)
{
	return v->name == name || stands_in_pack(v->pack, name) ||
	       (v->extent && stands_in(v->extent, name));
}

/* Whether a name is bound or used in e. */
static bool stands_in(const ast_expr *e, const char *name)
{
	if ((e->kind == AST_NAME && e->name == name) ||
	    stands_in_pack(e->pack, name))
		return true;
	for (int i = 0; i < e->nvars; i++)
		if (stands_in_var(&e->vars[i], name))
			return true;
	for (int i = 0; i < e->nargs; i++)
		if (stands_in(e->args[i], name))
			return true;
	for (int i = 0; i < e->nnamed; i++)
		if (stands_in(e->named[i].value, name))
			return true;
	return false;
}

static bool is_free(const writer *w, const ast_expr *body, const char *name)
{
	for (int i = 0; i < w->around.n; i++)
		if (w->around.at[i].written == name)
			return false;
	return !dsl_is_word(name) && !grad_is_global(w->g, name) &&
	       !stands_in(body, name);
}

/* The stem of a new variable's name, with a number if the stem is taken. */
static const char *free_name(const writer *w, const char *made,
			     const ast_expr *body)
{
	trees *t = &w->g->t;
	const char *stem = grad_stem(made);
	const char *name = intern(t->names, stem);
	for (int i = 2; !is_free(w, body, name); i++)
		name = intern(t->names, arena_printf(t->a, "%s%d", stem, i));
	return name;
}

static const char *written_name(const writer *w, const ast_expr *name)
{
	for (int i = w->around.n - 1; i >= 0; i--)
		if (w->around.at[i].symbol == name->symbol)
			return w->around.at[i].written;
	return name->name;
}

/* ---- signs -------------------------------------------------------------- */

static bool is_product(const ast_expr *e)
{
	return e->kind == AST_BINARY &&
	       ast_precedence_of(e) == BINDS_PRODUCT;
}

/* Whether the sign of a product can be taken from its first factor.  It cannot
 * if a quotient is rounded down. */
static bool has_sign_of_first(const grad_op *g, const ast_expr *e)
{
	for (; is_product(e); e = e->args[0]) {
		if (e->op == OP_MOD ||
		    (e->op == OP_DIV && !grad_is_surely_float(g, e)))
			return false;
		if (e->args[0]->parens)
			return true;
	}
	return true;
}

static ast_expr *negative(const writer *w, ast_expr *x)
{
	ast_expr *e = ARENA_NEW(w->g->t.a, ast_expr);
	e->kind = AST_UNARY;
	e->op = OP_NEG;
	e->at = x->at;
	e->depth = x->depth + 1;
	e->nargs = 1;
	e->args = ARENA_COPY(w->g->t.a, &x, 1);
	return e;
}

/* Rewrites -(x * y), which the grammar would read as (-x) * y where a product
 * may stand. */
static void move_sign(const writer *w, ast_expr *e, bool may_be_product)
{
	ast_expr whole = *e, *product = e->args[0], *first = e;
	if (product->parens || !is_product(product))
		return;
	if (!may_be_product || !has_sign_of_first(w->g, product)) {
		product->parens = true;
		return;
	}
	*e = *product;
	e->parens = whole.parens;
	e->depth = whole.depth;
	while (is_product(first->args[0]) && !first->args[0]->parens)
		first = first->args[0];
	first->args[0] = negative(w, first->args[0]);
}

/* Writes a negative number as the opposite of a positive one, as the grammar
 * has no negative numbers. */
static void split_sign(const writer *w, ast_expr *e)
{
	ast_expr *x = ARENA_COPY(w->g->t.a, e, 1);
	x->f = -x->f;
	x->parens = false;
	bool parens = e->parens;
	*e = *negative(w, x);
	e->parens = parens;
}

/* ---- the tree ----------------------------------------------------------- */

static void write_expr(writer *w, ast_expr *e, ast_precedence least);

static void write_alone(writer *w, ast_expr *e)
{
	write_expr(w, e, BINDS_IF);
}

static void write_pack(writer *w, ast_pack *p)
{
	if (p && p->sel)
		write_alone(w, p->sel);
}

static void write_lambda(writer *w, ast_expr *e)
{
	int before = w->around.n;
	for (int i = 0; i < e->nvars; i++) {
		ast_var *v = &e->vars[i];
		write_pack(w, v->pack);
		if (v->extent)
			write_alone(w, v->extent);
	}
	for (int i = 0; i < e->nvars; i++) {
		ast_var *v = &e->vars[i];
		if (v->pack)
			continue;
		binding b = {v->symbol, v->name};
		if (grad_is_made(v->name))
			v->name = b.written =
				free_name(w, v->name, e->args[0]);
		vec_push(w->g->t.a, &w->around, b);
	}
	write_alone(w, e->args[0]);
	w->around.n = before;
}

/* The precedence that operand i needs to be written without parentheses. */
static ast_precedence least_of(const ast_expr *e, int i)
{
	if (e->kind == AST_UNARY)
		return ast_precedence_of(e);
	if (e->kind == AST_BINARY)
		return ast_precedence_of(e) + (i > 0);
	return BINDS_IF;
}

static void write_expr(writer *w, ast_expr *e, ast_precedence least)
{
	if (e->kind == AST_LAMBDA) {
		write_lambda(w, e);
		return;
	}
	if (e->kind == AST_UNARY && e->op == OP_NEG)
		move_sign(w, e, e->parens || least <= BINDS_PRODUCT);
	for (int i = 0; i < e->nargs; i++)
		write_expr(w, e->args[i], least_of(e, i));
	for (int i = 0; i < e->nnamed; i++)
		write_alone(w, e->named[i].value);
	write_pack(w, e->pack);
	if (e->kind == AST_NAME)
		e->name = written_name(w, e);
	if (e->kind == AST_FLOAT && signbit(e->f))
		split_sign(w, e);
}

void grad_write_op(grad_op *g, ast_op *op)
{
	writer w = {.g = g};
	for (int i = 0; i < op->nlets; i++)
		write_alone(&w, op->lets[i].value);
	for (int i = 0; i < op->nbodies; i++)
		write_alone(&w, op->bodies[i]);
}
