/* Expressions in canonical layout.
 *
 * Chains of one precedence are broken before their operators; products of short
 * factors are set tight inside of sums, 2*i + 1. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dsl/format.h"

/* ---- literals ----------------------------------------------------------- */

/* A literal as written, if there is a source. */
static doc *literal(formatter *f, const ast_expr *e)
{
	if (f->module && e->at.beg)
		return doc_text(f->arena,
				f->module->text + (e->at.beg - f->module->base),
				(int)(e->at.end - e->at.beg));
	if (e->kind == AST_INT)
		return doc_text(f->arena,
				arena_printf(f->arena, "%lld", (long long)e->i),
				-1);
	if (isinf(e->f))
		return doc_text(f->arena, e->f > 0 ? "inf" : "-inf", -1);
	if (e->f == AST_PI)
		return doc_text(f->arena, "pi", -1);
	char *text = arena_printf(f->arena, "%.15g", e->f);
	if (strtod(text, NULL) != e->f)
		text = arena_printf(f->arena, "%.17g", e->f);
	bool whole = true;
	for (const char *p = text; *p; p++)
		whole &= *p != '.' && *p != 'e';
	return doc_text(f->arena,
			whole ? arena_printf(f->arena, "%s.0", text) : text,
			-1);
}

/* ---- lists -------------------------------------------------------------- */

doc *format_items(formatter *f, ast_expr *const *items, int n)
{
	doc *all = doc_seq(f->arena);
	for (int i = 0; i < n; i++) {
		doc *item = doc_seq(f->arena);
		if (i)
			put_comma(f, item, items[i]->at.beg);
		doc_add(f->arena, item, format_expr(f, items[i]));
		doc_add(f->arena, all, doc_group(f->arena, item));
	}
	return doc_align(f->arena, all);
}

static doc *bracketed(formatter *f, const char *open, doc *inside,
		      const char *close)
{
	doc *d = doc_seq(f->arena);
	put(f, d, open);
	doc_add(f->arena, d, inside);
	put(f, d, close);
	return d;
}

/* ---- packs -------------------------------------------------------------- */

doc *format_pack(formatter *f, const ast_pack *p)
{
	doc *d = doc_seq(f->arena);
	switch (p->kind) {
	case PACK_ALL:
		put(f, d, "..");
		put(f, d, p->name);
		return d;
	case PACK_MINUS:
	case PACK_AND:
		put(f, d, "..(");
		put(f, d, p->name);
		put(f, d, p->kind == PACK_AND ? " & " : " \\ ");
		doc_add(f->arena, d, format_expr(f, p->sel));
		put(f, d, ")");
		return d;
	case PACK_PERM:
		put(f, d, "..");
		put(f, d, p->name);
		put(f, d, "[");
		doc_add(f->arena, d, format_expr(f, p->sel));
		put(f, d, "]");
		return d;
	case PACK_CALL:
		put(f, d, "..");
		doc_add(f->arena, d, format_expr(f, p->sel));
		return d;
	}
	return d;
}

/* ---- calls and lambdas -------------------------------------------------- */

static doc *vars(formatter *f, const ast_expr *e)
{
	doc *all = doc_seq(f->arena);
	for (int i = 0; i < e->nvars; i++) {
		const ast_var *v = &e->vars[i];
		doc *d = doc_seq(f->arena);
		if (i)
			put_comma(f, d, v->at.beg);
		else
			put(f, d, " ");
		if (v->pack)
			doc_add(f->arena, d, format_pack(f, v->pack));
		else
			put(f, d, v->name);
		if (v->extent) {
			put(f, d, " < ");
			doc_add(f->arena, d, format_expr(f, v->extent));
		}
		doc_add(f->arena, all, doc_group(f->arena, d));
	}
	return doc_nest(f->arena, 2 * INDENT, all);
}

static doc *lambda(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena), *body = doc_seq(f->arena);
	put(f, d, "lambda");
	doc_add(f->arena, d, vars(f, e));
	put(f, d, ":");
	put_comments(f, d, e->args[0]->at.beg);
	doc_add(f->arena, body, &doc_line);
	doc_add(f->arena, body, format_expr(f, e->args[0]));
	doc_add(f->arena, d, doc_nest(f->arena, INDENT, body));
	return doc_group(f->arena, d);
}

static void put_named(formatter *f, doc *all, const ast_expr *e, bool *any)
{
	for (int i = 0; i < e->nnamed; i++) {
		doc *d = doc_seq(f->arena);
		if (*any)
			put_comma(f, d, e->named[i].at.beg);
		put(f, d, e->named[i].name);
		put(f, d, " = ");
		doc_add(f->arena, d, format_expr(f, e->named[i].value));
		doc_add(f->arena, all, doc_group(f->arena, d));
		*any = true;
	}
	if (e->open_named)
		put(f, all, *any ? ", .." : "..");
}

static doc *call(formatter *f, const ast_expr *e)
{
	doc *args = doc_seq(f->arena), *d = doc_seq(f->arena);
	put(f, d, e->name);
	if (e->nargs == 1 && e->args[0]->kind == AST_LAMBDA && !e->nnamed &&
	    !e->open_named) {
		doc_add(f->arena, d,
			bracketed(f, "(", format_expr(f, e->args[0]), ")"));
		return d;
	}
	bool any = e->nargs > 0;
	doc_add(f->arena, args, format_items(f, e->args, e->nargs));
	put_named(f, args, e, &any);
	doc_add(f->arena, d,
		bracketed(f, "(", doc_align(f->arena, args), ")"));
	return d;
}

static doc *indexed(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena);
	doc_add(f->arena, d, format_expr(f, e->args[0]));
	doc_add(f->arena, d,
		bracketed(f, "[", format_items(f, e->args + 1, e->nargs - 1),
			  "]"));
	return d;
}

static doc *guard(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena);
	put(f, d, "(");
	doc_add(f->arena, d, format_expr(f, e->args[0]));
	put_comments(f, d, e->args[1]->at.beg);
	put(f, d, " else ");
	doc_add(f->arena, d, format_expr(f, e->args[1]));
	put(f, d, ")");
	return doc_align(f->arena, d);
}

/* ---- operators ---------------------------------------------------------- */

static bool is_sum(const ast_expr *e)
{
	return e->kind == AST_BINARY && ast_precedence_of(e) == BINDS_SUM;
}

static bool is_product(const ast_expr *e)
{
	return e->kind == AST_BINARY && e->op == OP_MUL && !e->parens;
}

/* A name, a number, pads[0]. */
static bool is_word(const ast_expr *e)
{
	return e->kind == AST_NAME || e->kind == AST_INT ||
	       e->kind == AST_FLOAT ||
	       (e->kind == AST_INDEX && e->nargs == 2 &&
		e->args[0]->kind == AST_NAME && e->args[1]->kind == AST_INT);
}

/* A word, or (R - 1). */
static bool is_short(const ast_expr *e)
{
	return is_word(e) || (is_sum(e) && e->parens && is_word(e->args[0]) &&
			      is_word(e->args[1]));
}

static bool is_tight(const ast_expr *e)
{
	return is_product(e) && is_short(e->args[1]) &&
	       (is_short(e->args[0]) || is_tight(e->args[0]));
}

/* Without blanks and possible breaks. */
static void put_tight(formatter *f, doc *seq, const ast_expr *e)
{
	if (e->kind != AST_BINARY) {
		doc_add(f->arena, seq, format_expr(f, e));
		return;
	}
	if (e->parens)
		put(f, seq, "(");
	put_tight(f, seq, e->args[0]);
	put_comments(f, seq, e->args[1]->at.beg);
	put(f, seq, ast_operator_text(e->op));
	put_tight(f, seq, e->args[1]);
	if (e->parens)
		put(f, seq, ")");
}

static void put_operand(formatter *f, doc *seq, const ast_expr *e,
			ast_precedence outer)
{
	if (outer == BINDS_SUM && is_tight(e))
		put_tight(f, seq, e);
	else
		doc_add(f->arena, seq, format_expr(f, e));
}

/* a + b - c as one chain: its left operands are chains of the same precedence.
 * Iterates over them, because their nesting is bounded. */
static void put_chain(formatter *f, doc *seq, const ast_expr *e)
{
	const ast_expr *left[AST_MAX_DEPTH];
	int n = 0;
	ast_precedence own = ast_precedence_of(e);
	const ast_expr *first = e;
	do {
		left[n++] = first;
		first = first->args[0];
	} while (first->kind == AST_BINARY && !first->parens &&
		 ast_precedence_of(first) == own);
	put_operand(f, seq, first, own);
	while (n-- > 0) {
		doc *part = doc_seq(f->arena);
		put_comments(f, part, left[n]->args[1]->at.beg);
		doc_add(f->arena, part, &doc_line);
		put(f, part, ast_operator_text(left[n]->op));
		put(f, part, " ");
		put_operand(f, part, left[n]->args[1], own);
		doc_add(f->arena, seq, doc_group(f->arena, part));
	}
}

static doc *unary(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena);
	put(f, d, e->op == OP_NOT ? "not " : "-");
	doc_add(f->arena, d, format_expr(f, e->args[0]));
	return d;
}

/* "if a then x", on a line or two. */
static doc *condition(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena);
	put(f, d, "if ");
	doc_add(f->arena, d, format_expr(f, e->args[0]));
	doc_add(f->arena, d, &doc_line);
	put(f, d, "then ");
	doc_add(f->arena, d, format_expr(f, e->args[1]));
	return doc_group(f->arena, d);
}

/* if a then x / else if b then y / else z, one line or one each. */
static doc *choice(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena);
	for (;;) {
		doc_add(f->arena, d, condition(f, e));
		const ast_expr *other = e->args[2];
		put_comments(f, d, other->at.beg);
		doc_add(f->arena, d, &doc_line);
		put(f, d, "else ");
		if (other->kind != AST_IF || other->parens) {
			doc_add(f->arena, d, format_expr(f, other));
			break;
		}
		e = other;
	}
	return doc_align(f->arena, doc_group(f->arena, d));
}

/* ---- families of names -------------------------------------------------- */

/* h_{i+1}: a sum of words is set tight. */
static doc *format_family(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena);
	for (int i = 0; i < e->nargs; i++) {
		const ast_expr *x = e->args[i];
		put(f, d, e->texts[i]);
		put(f, d, "{");
		if (is_sum(x) && is_word(x->args[0]) && is_word(x->args[1]) &&
		    !comment_before(f, x->at.end))
			put_tight(f, d, x);
		else
			doc_add(f->arena, d, format_expr(f, x));
		put_comments(f, d, i < e->nargs - 1 ? e->args[i + 1]->at.beg
						    : e->at.end);
		put(f, d, "}");
	}
	put(f, d, e->texts[e->nargs]);
	return d;
}

/* ---- all of them -------------------------------------------------------- */

static doc *word(formatter *f, const char *text)
{
	return doc_text(f->arena, text, -1);
}

static doc *string(formatter *f, const char *text)
{
	doc *d = doc_seq(f->arena);
	put_quoted(f, d, text);
	return d;
}

static doc *binary(formatter *f, const ast_expr *e)
{
	doc *d = doc_seq(f->arena);
	put_chain(f, d, e);
	return doc_align(f->arena, d);
}

static doc *bare(formatter *f, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
	case AST_FLOAT:
		return literal(f, e);
	case AST_STRING:
		return string(f, e->name);
	case AST_BOOL:
		return word(f, e->i ? "true" : "false");
	case AST_NAME:
		return word(f, e->name);
	case AST_FAMILY:
		return format_family(f, e);
	case AST_SLICE:
		return word(f, ":");
	case AST_LIST:
		return bracketed(f, "[", format_items(f, e->args, e->nargs),
				 "]");
	case AST_PACK:
		return format_pack(f, e->pack);
	case AST_INDEX:
		return indexed(f, e);
	case AST_GUARD:
		return guard(f, e);
	case AST_CALL:
		return call(f, e);
	case AST_UNARY:
		return unary(f, e);
	case AST_BINARY:
		return binary(f, e);
	case AST_IF:
		return choice(f, e);
	case AST_LAMBDA:
		return lambda(f, e);
	}
	return word(f, "");
}

static doc *with_parens(formatter *f, const ast_expr *e)
{
	doc *inner = bare(f, e);
	return e->parens ? bracketed(f, "(", doc_align(f->arena, inner), ")")
			 : inner;
}

doc *format_expr(formatter *f, const ast_expr *e)
{
	if (!comment_before(f, e->at.beg))
		return with_parens(f, e);
	doc *d = doc_seq(f->arena);
	put_comments(f, d, e->at.beg);
	doc_add(f->arena, d, with_parens(f, e));
	return d;
}

char *dsl_expr_text(arena *a, const ast_expr *e)
{
	formatter f = { .arena = arena_new() };
	layout *l = layout_new(f.arena, 1 << 20);
	layout_add(l, format_expr(&f, e));
	char *text = arena_strdup(a, layout_text(l));
	arena_free(f.arena);
	return text;
}
