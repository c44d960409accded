/* Statements and blocks, of models, defs and onnx entries. */
#include "config.h"

#include <string.h>

#include "dsl/format.h"

static void put_targets(formatter *f, doc *seq, const ast_stmt *s)
{
	doc_add(f->arena, seq, format_items(f, s->targets, s->ntargets));
}

/* param w[M, N]: f32 = 0 */
static doc *declaration(formatter *f, const char *word, const ast_stmt *s)
{
	doc *d = doc_seq(f->arena);
	put(f, d, word);
	put_targets(f, d, s);
	put(f, d, "[");
	doc_add(f->arena, d, format_items(f, s->values, s->nvalues));
	put(f, d, "]");
	if (s->type.name)
		put_type(f, d, s->type.name, false, 0, false);
	if (s->value) {
		put(f, d, " = ");
		doc_add(f->arena, d, format_expr(f, s->value));
	}
	return d;
}

/* if c { .. } else if d { .. } else { .. } */
static doc *branch(formatter *f, const ast_stmt *s)
{
	doc *d = doc_seq(f->arena);
	bool alone = !s->other_at.beg;
	for (;;) {
		put(f, d, "if ");
		doc_add(f->arena, d, format_expr(f, s->value));
		put(f, d, " ");
		doc_add(f->arena, d,
			format_block(f, s->body, s->nbody, s->body_at, alone));
		if (!s->other_at.beg)
			return d;
		put_comments(f, d, s->other_at.beg);
		put(f, d, " else ");
		bool chain = s->nother == 1 && s->other[0]->kind == STMT_IF;
		if (!chain)
			break;
		s = s->other[0];
		put_comments(f, d, s->at.beg);
	}
	doc_add(f->arena, d,
		format_block(f, s->other, s->nother, s->other_at, false));
	return d;
}

static doc *stmt(formatter *f, const ast_stmt *s)
{
	doc *d = doc_seq(f->arena);
	switch (s->kind) {
	case STMT_NEXT:
		put(f, d, "next ");
		/* fall through */
	case STMT_ASSIGN:
		put_targets(f, d, s);
		put(f, d, " = ");
		doc_add(f->arena, d, format_expr(f, s->value));
		return d;
	case STMT_INPUT:
		return declaration(f, "input ", s);
	case STMT_PARAM:
		return declaration(f, "param ", s);
	case STMT_STATE:
		return declaration(f, "state ", s);
	case STMT_OUTPUT:
		put(f, d, "output ");
		put_targets(f, d, s);
		return d;
	case STMT_IF:
		return branch(f, s);
	case STMT_FOR:
		put(f, d, "for ");
		put(f, d, s->var);
		put(f, d, s->each ? " in " : " < ");
		doc_add(f->arena, d, format_expr(f, s->value));
		put(f, d, " ");
		doc_add(f->arena, d,
			format_block(f, s->body, s->nbody, s->body_at, true));
		return d;
	case STMT_RETURN:
		put(f, d, "return ");
		doc_add(f->arena, d, format_items(f, s->values, s->nvalues));
		return d;
	case STMT_CALL:
		put(f, d, s->var);
		put(f, d, " ");
		doc_add(f->arena, d, format_expr(f, s->value));
		return d;
	}
	return d;
}

/* A block of one simple statement stays on one line if it was written so and
 * has no else. */
static bool on_one_line(const formatter *f, ast_stmt *const *body, int n,
			range at)
{
	if (n != 1 || body[0]->kind == STMT_IF || body[0]->kind == STMT_FOR)
		return false;
	return !memchr(source_at(f, at.beg), '\n', at.end - at.beg);
}

doc *format_block(formatter *f, ast_stmt *const *body, int n, range at,
		  bool may_join)
{
	doc *d = doc_seq(f->arena), *inside = doc_seq(f->arena);
	bool one_line = may_join && on_one_line(f, body, n, at);
	put(f, d, "{");
	if (n == 0 && !comment_before(f, at.end)) {
		put(f, d, " }");
		return d;
	}
	for (int i = 0; i < n; i++) {
		if (i == 0 && comment_before(f, body[0]->at.beg))
			put_comments(f, inside, body[0]->at.beg);
		if (i == 0)
			doc_add(f->arena, inside,
				one_line ? &doc_line
					 : &doc_hard);
		put_comments(f, inside, body[i]->at.beg);
		doc_add(f->arena, inside, stmt(f, body[i]));
		if (i < n - 1)
			put_end(f, inside, body[i]->at.end);
	}
	put_comments(f, inside, at.end);
	doc_add(f->arena, d, doc_nest(f->arena, INDENT, inside));
	doc_add(f->arena, d,
		one_line ? &doc_line : &doc_hard);
	put(f, d, "}");
	return doc_group(f->arena, d);
}
