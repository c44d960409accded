/* The canonical layout of a module: its definitions, and the comments between
 * them. */
#include "config.h"

#include <string.h>

#include "dsl/format.h"

/* ---- pieces ------------------------------------------------------------- */

void put(formatter *f, doc *seq, const char *text)
{
	doc_add(f->arena, seq, doc_text(f->arena, text, -1));
}

void put_quoted(formatter *f, doc *seq, const char *text)
{
	char *out = ARENA_ARRAY(f->arena, char, 2 * strlen(text) + 3), *p = out;
	*p++ = '"';
	for (; *text; text++) {
		bool plain = *text != '"' && *text != '\\' && *text != '\n' &&
			     *text != '\t';
		if (!plain)
			*p++ = '\\';
		*p++ = *text == '\n' ? 'n' : *text == '\t' ? 't' : *text;
	}
	*p = '"';
	put(f, seq, out);
}

const char *source_at(const formatter *f, uint32_t at)
{
	return f->module->text + (at - f->module->base);
}

/* Whether an empty line follows the offset, blanks aside. */
static bool blank_after(const formatter *f, uint32_t at)
{
	const char *end = f->module->text + f->module->len;
	int lines = 0;
	for (const char *p = source_at(f, at);
	     p < end && strchr(" \t\r\n\f", *p); p++)
		lines += *p == '\n';
	return lines > 1;
}

static void put_comment(formatter *f, doc *seq)
{
	const ast_comment *c = &f->module->comments[f->next++];
	doc_add(f->arena, seq,
		doc_comment(f->arena, source_at(f, c->at.beg),
			    (int)(c->at.end - c->at.beg), c->own_line));
	if (c->own_line && blank_after(f, c->at.end))
		doc_add(f->arena, seq, &doc_blank);
}

bool comment_before(const formatter *f, uint32_t before)
{
	return f->module && f->next < f->module->ncomments &&
	       f->module->comments[f->next].at.beg < before;
}

void put_comments(formatter *f, doc *seq, uint32_t before)
{
	while (comment_before(f, before))
		put_comment(f, seq);
}

void put_comma(formatter *f, doc *seq, uint32_t next)
{
	put(f, seq, ",");
	put_comments(f, seq, next);
	doc_add(f->arena, seq, &doc_line);
}

/* Finishes the construct that ends at `end': a comment after it on the same
 * line belongs to it, and an empty line after it is kept. */
void put_end(formatter *f, doc *seq, uint32_t end)
{
	if (!f->module) {
		doc_add(f->arena, seq, &doc_hard);
		return;
	}
	if (f->next < f->module->ncomments) {
		const ast_comment *c = &f->module->comments[f->next];
		const char *p = source_at(f, end);
		while (*p == ' ' || *p == '\t')
			p++;
		if (p == source_at(f, c->at.beg)) {
			put_comment(f, seq);
			end = c->at.end;
		}
	}
	doc_add(f->arena, seq,
		blank_after(f, end) ? &doc_blank
				    : &doc_hard);
}

/* ---- operators ---------------------------------------------------------- */

/* NAME(..) -> out[..], on one line, or with the result on the next. */
static doc *header(formatter *f, const char *word, const char *name,
		   doc *params, doc *result)
{
	doc *d = doc_seq(f->arena), *to = doc_seq(f->arena);
	put(f, d, word);
	put(f, d, name);
	doc_add(f->arena, d, params);
	doc_add(f->arena, to, &doc_line);
	put(f, to, "-> ");
	doc_add(f->arena, to, result);
	doc_add(f->arena, d, doc_nest(f->arena, INDENT, to));
	return doc_group(f->arena, d);
}

static doc *op_header(formatter *f, const ast_op *o)
{
	doc *params = format_signature(f, o->params, o->nparams, put_tensor,
				       o->attrs, o->nattrs);
	const char *name =
		o->grad_of ? arena_printf(f->arena, "%s %s", o->grad_of,
					  o->grad_by)
			   : o->name;
	return header(f, o->grad_of ? "grad " : "op ", name, params,
		      format_results(f, o->results, o->nresults));
}

static doc *opaque_header(formatter *f, const ast_opaque *o)
{
	doc *params = format_signature(f, o->params, o->nparams, put_tensor,
				       o->attrs, o->nattrs);
	return header(f, "opaque ", o->name, params,
		      format_results(f, o->results, o->nresults));
}

static doc *let(formatter *f, const ast_let *l)
{
	doc *d = doc_seq(f->arena);
	put(f, d, "let ");
	for (int i = 0; i < l->nnames; i++) {
		put(f, d, i ? ", " : "");
		put(f, d, l->names[i]);
	}
	put(f, d, " = ");
	doc_add(f->arena, d, format_expr(f, l->value));
	return d;
}

static doc *op(formatter *f, const ast_op *o)
{
	doc *d = doc_seq(f->arena), *body = doc_seq(f->arena);
	doc_add(f->arena, d, op_header(f, o));
	put(f, d, " =");
	for (int i = 0; i < o->nlets; i++) {
		if (i == 0)
			put_comments(f, body, o->lets[i].at.beg);
		doc_add(f->arena, body, &doc_hard);
		put_comments(f, body, o->lets[i].at.beg);
		doc_add(f->arena, body, let(f, &o->lets[i]));
		put_end(f, body, o->lets[i].at.end);
	}
	for (int i = 0; i < o->nbodies; i++) {
		const ast_expr *e = o->bodies[i];
		if (i == 0 && !o->nlets)
			put_comments(f, body, e->at.beg);
		doc_add(f->arena, body, &doc_hard);
		put_comments(f, body, e->at.beg);
		doc_add(f->arena, body, format_expr(f, e));
		if (i < o->nbodies - 1)
			put_end(f, body, e->at.end);
	}
	doc_add(f->arena, d, doc_nest(f->arena, INDENT, body));
	return d;
}

static doc *opaque(formatter *f, const ast_opaque *o)
{
	doc *d = doc_seq(f->arena);
	doc_add(f->arena, d, opaque_header(f, o));
	put(f, d, " = ");
	put_quoted(f, d, o->symbol);
	return d;
}

/* ---- models, defs and onnx entries -------------------------------------- */

/* def name(x, n = 1) */
static doc *head(formatter *f, const char *word, const char *name,
		 const ast_named *named, int n)
{
	doc *d = doc_seq(f->arena), *params = doc_seq(f->arena);
	put(f, d, word);
	put(f, d, name);
	put(f, d, "(");
	for (int i = 0; i < n; i++) {
		const ast_named *p = &named[i];
		doc *one = doc_seq(f->arena);
		if (i)
			put_comma(f, one, p->at.beg);
		put_comments(f, one, p->at.beg);
		put(f, one, p->name);
		if (p->value) {
			put(f, one, " = ");
			doc_add(f->arena, one, format_expr(f, p->value));
		}
		doc_add(f->arena, params, doc_group(f->arena, one));
	}
	doc_add(f->arena, d, doc_align(f->arena, params));
	put(f, d, ")");
	return d;
}

static doc *def_header(formatter *f, const ast_block *b)
{
	return head(f, "def ", b->name, b->params, b->nparams);
}

static doc *model_header(formatter *f, const ast_model *m)
{
	return head(f, "model ", m->name, m->params, m->nparams);
}

/* A header and the block that follows it. */
static doc *with_block(formatter *f, doc *d, ast_stmt *const *body, int n,
		       range at)
{
	put(f, d, " ");
	doc_add(f->arena, d, format_block(f, body, n, at, true));
	return d;
}

static doc *def(formatter *f, const ast_block *b)
{
	return with_block(f, def_header(f, b), b->body, b->nbody, b->body_at);
}

static doc *model(formatter *f, const ast_model *m)
{
	return with_block(f, model_header(f, m), m->body, m->nbody,
			  m->body_at);
}

char *dsl_header_text(arena *a, const ast_def *def)
{
	formatter f = { .arena = arena_new() };
	layout *l = layout_new(f.arena, WIDTH);
	layout_add(l, def->kind == DEF_OP	? op_header(&f, def->op)
		      : def->kind == DEF_OPAQUE ? opaque_header(&f, def->opaque)
		      : def->kind == DEF_BLOCK	? def_header(&f, def->block)
						: model_header(&f, def->model));
	char *text = arena_strdup(a, layout_text(l));
	arena_free(f.arena);
	return text;
}

static doc *onnx(formatter *f, const ast_onnx *o)
{
	doc *d = doc_seq(f->arena);
	put(f, d, "onnx ");
	if (*o->domain) {
		put_quoted(f, d, o->domain);
		put(f, d, " ");
	}
	put_quoted(f, d, o->op_type);
	put(f, d, arena_printf(f->arena, " %d", o->since));
	if (o->until == INT32_MAX)
		put(f, d, "..");
	else if (o->until != o->since)
		put(f, d, arena_printf(f->arena, "..%d", o->until));
	put(f, d, " ");
	doc_add(f->arena, d,
		format_signature(f, o->params, o->nparams, put_input, o->attrs,
			  o->nattrs));
	put(f, d, " ");
	doc_add(f->arena, d,
		format_block(f, o->body, o->nbody, o->body_at, true));
	return d;
}

/* ---- modules ------------------------------------------------------------ */

static void put_docs(formatter *f, doc *seq, const char *docs)
{
	while (docs) {
		const char *end = strchr(docs, '\n');
		int n = (int)(end ? end - docs : (long)strlen(docs));
		put(f, seq, n ? "/// " : "///");
		doc_add(f->arena, seq, doc_text(f->arena, docs, n));
		doc_add(f->arena, seq, &doc_hard);
		docs = end ? end + 1 : NULL;
	}
}

static void put_def(formatter *f, doc *seq, const ast_def *d)
{
	switch (d->kind) {
	case DEF_OP:
		put_docs(f, seq, d->op->doc);
		doc_add(f->arena, seq, op(f, d->op));
		return;
	case DEF_OPAQUE:
		put_docs(f, seq, d->opaque->doc);
		doc_add(f->arena, seq, opaque(f, d->opaque));
		return;
	case DEF_BLOCK:
		put_docs(f, seq, d->block->doc);
		doc_add(f->arena, seq, def(f, d->block));
		return;
	case DEF_ONNX:
		put_docs(f, seq, d->onnx->doc);
		doc_add(f->arena, seq, onnx(f, d->onnx));
		return;
	case DEF_MODEL:
		put_docs(f, seq, d->model->doc);
		doc_add(f->arena, seq, model(f, d->model));
		return;
	case DEF_IMPORT:
		put(f, seq, "import ");
		put_quoted(f, seq, d->import);
		return;
	}
}

/* The i-th definition, with the comments before and after it. */
static doc *definition(formatter *f, int i)
{
	const ast_module *m = f->module;
	const ast_def *def = &m->defs[i];
	doc *d = doc_seq(f->arena);
	put_comments(f, d, def->at.beg);
	put_def(f, d, def);
	put_comments(f, d, def->at.end);
	put_end(f, d, def->at.end);
	bool next = i < m->ndefs - 1 && !comment_before(f, def[1].at.beg);
	if (def->kind == DEF_OP && next)
		doc_add(f->arena, d, &doc_blank);
	return d;
}

char *dsl_format(arena *a, const ast_module *m)
{
	arena *tmp = arena_new();
	layout *l = layout_new(tmp, WIDTH);
	formatter f = { .module = m };
	for (int i = 0; i < m->ndefs; i++) {
		f.arena = arena_new();
		layout_add(l, definition(&f, i));
		arena_free(f.arena);
	}
	f.arena = tmp;
	doc *rest = doc_seq(tmp);
	put_comments(&f, rest, UINT32_MAX);
	layout_add(l, rest);
	char *text = arena_strdup(a, layout_text(l));
	arena_free(tmp);
	return text;
}

char *dsl_op_text(arena *a, const ast_op *o)
{
	formatter f = { .arena = arena_new() };
	layout *l = layout_new(f.arena, WIDTH);
	doc *d = doc_seq(f.arena);
	put_docs(&f, d, o->doc);
	doc_add(f.arena, d, op(&f, o));
	put_end(&f, d, 0);
	layout_add(l, d);
	char *text = arena_strdup(a, layout_text(l));
	arena_free(f.arena);
	return text;
}
