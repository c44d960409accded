/* The canonical layout of a module. */
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

static const char *source(const formatter *f, uint32_t at)
{
	return f->module->text + (at - f->module->base);
}

/* Whether an empty line follows the offset, blanks aside. */
static bool blank_after(const formatter *f, uint32_t at)
{
	const char *end = f->module->text + f->module->len;
	int lines = 0;
	for (const char *p = source(f, at);
	     p < end && strchr(" \t\r\n\f", *p); p++)
		lines += *p == '\n';
	return lines > 1;
}

static void put_comment(formatter *f, doc *seq)
{
	const ast_comment *c = &f->module->comments[f->next++];
	doc_add(f->arena, seq,
		doc_comment(f->arena, source(f, c->at.beg),
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

/* The construct that ended at `end` is over: a comment behind it on its line
 * belongs to it, and an empty line is kept. */
static void put_end(formatter *f, doc *seq, uint32_t end)
{
	if (f->next < f->module->ncomments) {
		const ast_comment *c = &f->module->comments[f->next];
		const char *p = source(f, end);
		while (*p == ' ' || *p == '\t')
			p++;
		if (p == source(f, c->at.beg)) {
			put_comment(f, seq);
			end = c->at.end;
		}
	}
	doc_add(f->arena, seq,
		blank_after(f, end) ? &doc_blank
				    : &doc_hard);
}

/* ---- signatures --------------------------------------------------------- */

static void put_type(formatter *f, doc *seq, const char *name, bool is_list,
		     int length, bool optional)
{
	put(f, seq, ": ");
	put(f, seq, name);
	if (is_list)
		put(f, seq, length < 0 ? "[]"
				       : arena_printf(f->arena, "[%d]",
						      length));
	if (optional)
		put(f, seq, "?");
}

static void put_tensor(formatter *f, doc *seq, const ast_tensor *t)
{
	put_comments(f, seq, t->at.beg);
	if (t->broadcast)
		put(f, seq, "broadcast ");
	put(f, seq, t->name);
	put(f, seq, "[");
	doc_add(f->arena, seq, format_items(f, t->dims, t->ndims));
	put(f, seq, "]");
	if (t->type.name)
		put_type(f, seq, t->type.name, false, 0, false);
}

static void put_input(formatter *f, doc *seq, const ast_tensor *t)
{
	put_comments(f, seq, t->at.beg);
	if (t->constant)
		put(f, seq, "const ");
	put(f, seq, t->name);
	if (t->constant)
		put_type(f, seq, t->type.name, t->is_list, -1, t->optional);
	else if (t->optional || t->variadic)
		put(f, seq, t->optional ? "?" : "...");
}

static doc *tensors(formatter *f, const ast_tensor *t, int n,
		    void (*one)(formatter *, doc *, const ast_tensor *))
{
	doc *all = doc_seq(f->arena);
	for (int i = 0; i < n; i++) {
		doc *d = doc_seq(f->arena);
		if (i)
			put_comma(f, d, t[i].at.beg);
		one(f, d, &t[i]);
		doc_add(f->arena, all, doc_group(f->arena, d));
	}
	return all;
}

static doc *attrs(formatter *f, const ast_attr *attr, int n)
{
	doc *all = doc_seq(f->arena);
	for (int i = 0; i < n; i++) {
		const ast_attr *a = &attr[i];
		doc *d = doc_seq(f->arena);
		if (i)
			put_comma(f, d, a->at.beg);
		put_comments(f, d, a->at.beg);
		put(f, d, a->name);
		put_type(f, d, ast_attr_type_text(a->type), a->is_list,
			 a->length, a->optional);
		if (a->init) {
			put(f, d, " = ");
			doc_add(f->arena, d, format_expr(f, a->init));
		}
		doc_add(f->arena, all, doc_group(f->arena, d));
	}
	return all;
}

/* (x[N], y[N]; a: int = 1), attributes on a line of their own where it is too
 * long for one. */
static doc *signature(formatter *f, const ast_tensor *params, int nparams,
		      void (*one)(formatter *, doc *, const ast_tensor *),
		      const ast_attr *attr, int nattrs)
{
	doc *d = doc_seq(f->arena), *inside = doc_seq(f->arena);
	put(f, d, "(");
	doc_add(f->arena, inside, tensors(f, params, nparams, one));
	if (nattrs) {
		put(f, inside, ";");
		put_comments(f, inside, attr[0].at.beg);
		doc_add(f->arena, inside, &doc_line);
		doc_add(f->arena, inside, attrs(f, attr, nattrs));
	}
	doc_add(f->arena, d, doc_align(f->arena, inside));
	put(f, d, ")");
	return doc_group(f->arena, d);
}

static doc *results(formatter *f, const ast_tensor *r, int n)
{
	doc *d = doc_seq(f->arena);
	if (n == 1) {
		put_tensor(f, d, r);
		return d;
	}
	put(f, d, "(");
	doc_add(f->arena, d,
		doc_align(f->arena, tensors(f, r, n, put_tensor)));
	put(f, d, ")");
	return d;
}

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

char *dsl_signature_text(arena *a, const ast_op *o)
{
	formatter f = { .arena = arena_new() };
	layout *l = layout_new(f.arena, 1 << 20);
	doc *d = doc_seq(f.arena);
	put(&f, d, o->name);
	doc_add(f.arena, d, signature(&f, o->params, o->nparams, put_tensor,
				      o->attrs, o->nattrs));
	put(&f, d, " -> ");
	doc_add(f.arena, d, results(&f, o->results, o->nresults));
	layout_add(l, d);
	char *text = arena_strdup(a, layout_text(l));
	arena_free(f.arena);
	return text;
}

/* ---- operators ---------------------------------------------------------- */

static doc *op_header(formatter *f, const ast_op *o)
{
	doc *params = signature(f, o->params, o->nparams, put_tensor, o->attrs,
				o->nattrs);
	const char *name =
		o->grad_of ? arena_printf(f->arena, "%s %s", o->grad_of,
					  o->grad_by)
			   : o->name;
	return header(f, o->grad_of ? "grad " : "op ", name, params,
		      results(f, o->results, o->nresults));
}

static doc *opaque_header(formatter *f, const ast_opaque *o)
{
	doc *params = signature(f, o->params, o->nparams, put_tensor, o->attrs,
				o->nattrs);
	return header(f, "opaque ", o->name, params,
		      results(f, o->results, o->nresults));
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

static doc *block(formatter *f, ast_stmt *const *body, int n, range at,
		  bool may_join);

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
			block(f, s->body, s->nbody, s->body_at, alone));
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
		block(f, s->other, s->nother, s->other_at, false));
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
			block(f, s->body, s->nbody, s->body_at, true));
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

/* A block of one simple statement stays on one line if it is written so, and
 * no else belongs to it. */
static bool on_one_line(const formatter *f, ast_stmt *const *body, int n,
			range at)
{
	if (n != 1 || body[0]->kind == STMT_IF || body[0]->kind == STMT_FOR)
		return false;
	return !memchr(source(f, at.beg), '\n', at.end - at.beg);
}

static doc *block(formatter *f, ast_stmt *const *body, int n, range at,
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
	doc_add(f->arena, d, block(f, body, n, at, true));
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
		signature(f, o->params, o->nparams, put_input, o->attrs,
			  o->nattrs));
	put(f, d, " ");
	doc_add(f->arena, d, block(f, o->body, o->nbody, o->body_at, true));
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

/* The i-th definition, with the comments before it and behind it. */
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
