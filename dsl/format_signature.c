/* Signatures: parameters, attributes and results. */
#include "config.h"

#include "dsl/format.h"

void put_type(formatter *f, doc *seq, const char *name, bool is_list,
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

void put_tensor(formatter *f, doc *seq, const ast_tensor *t)
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

void put_input(formatter *f, doc *seq, const ast_tensor *t)
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

/* (x[N], y[N]; a: int = 1); attributes go on a line of their own if one line is
 * too short for all. */
doc *format_signature(formatter *f, const ast_tensor *params, int nparams,
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

doc *format_results(formatter *f, const ast_tensor *r, int n)
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

char *dsl_signature_text(arena *a, const ast_op *o)
{
	formatter f = { .arena = arena_new() };
	layout *l = layout_new(f.arena, 1 << 20);
	doc *d = doc_seq(f.arena);
	put(&f, d, o->name);
	doc_add(f.arena, d,
		format_signature(&f, o->params, o->nparams, put_tensor,
				 o->attrs, o->nattrs));
	put(&f, d, " -> ");
	doc_add(f.arena, d, format_results(&f, o->results, o->nresults));
	layout_add(l, d);
	char *text = arena_strdup(a, layout_text(l));
	arena_free(f.arena);
	return text;
}
