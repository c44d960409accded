#include "config.h"

#include "libtdl/doc.h"

#include <stdlib.h>
#include <string.h>

#include "libtdl/doc_output.h"
#include "libtdl/onnx_uses.h"

const char *const doc_formats[] = { "markdown", "html", "json", NULL };
static const page_format *const pages[] = { &page_markdown, &page_html, NULL };

/* The documented definitions in one file. */
typedef struct section {
	const char *file, *about;
	VEC(const ast_def *) defs; /* in the order of the file */
} section;

typedef VEC(section) sections;

static const char how_to_read[] =
	"How an operator can be divided over devices is not written down "
	"anywhere: it follows from its definition. Each row of a table is one "
	"way: the variable that is divided, the elements that it runs over, "
	"and whether each part computes a block of the result (split) or a "
	"partial result of all of it, to be combined with the others (reduce)."
	"\n\n"
	"The other columns say what a part needs of each input and has of the "
	"result. `split 1` is its block of dimension 1, scaled where it says "
	"so; a halo `[a, b]` is a elements more before the block and b behind "
	"it; a window moves with the block in another way; `all` is needed "
	"whole by every part. Where partial values pass, an input may be a "
	"partial result itself, to be combined later.";

/* ---- what there is ------------------------------------------------------ */

static const char *name_of(const ast_def *def)
{
	return def->kind == DEF_OP	 ? def->op->name
	       : def->kind == DEF_OPAQUE ? def->opaque->name
	       : def->kind == DEF_BLOCK	 ? def->block->name
					 : def->model->name;
}

static const char *doc_of(const ast_def *def)
{
	const char *doc = def->kind == DEF_OP	    ? def->op->doc
			  : def->kind == DEF_OPAQUE ? def->opaque->doc
			  : def->kind == DEF_BLOCK  ? def->block->doc
						    : def->model->doc;
	return doc ? doc : "";
}

/* The comment at the beginning of a file, without the slashes; "" if there is
 * none. */
static const char *about_file(arena *a, const ast_module *m)
{
	const char *about = "";
	uint32_t end = 0;
	for (int i = 0; i < m->ncomments; i++) {
		const range at = m->comments[i].at;
		uint32_t from = at.beg - m->base, to = at.end - m->base;
		const char *gap = m->text + end;
		bool next = memchr(gap, '\n', from - end) ==
			    m->text + from - 1;
		if (!m->comments[i].own_line || (i ? !next : from > 0))
			break;
		const char *line = arena_strndup(a, m->text + from + 2,
						 to - from - 2);
		size_t n;
		line = page_line(&line, &n);
		about = arena_printf(a, "%s%s%.*s", about, i ? "\n" : "",
				     (int)n, line);
		end = to;
	}
	return about;
}

/* Whether a definition is documented.  Operators and opaque functions always
 * are; models and defs only for the user's files, as those of the library are
 * for its own use. */
static bool is_wanted(const doc_request *r, const ast_def *def)
{
	bool model = def->kind == DEF_MODEL || def->kind == DEF_BLOCK;
	if (def->kind != DEF_OP && def->kind != DEF_OPAQUE &&
	    !(model && r->files))
		return false;
	for (int i = 0; i < r->names.n; i++)
		if (!strcmp(r->names.at[i], name_of(def)))
			return true;
	return r->names.n == 0;
}

static sections collect(const doc_request *r)
{
	arena *a = r->arena;
	sections all = { 0 };
	for (int i = 0; i < r->modules->nmodules; i++) {
		const ast_module *m = r->modules->modules[i];
		const char *slash = strrchr(m->path, '/');
		section s = { .file = slash ? slash + 1 : m->path,
			      .about = about_file(a, m) };
		for (int j = 0; j < m->ndefs && r->is_own(r->of, m); j++)
			if (is_wanted(r, &m->defs[j]))
				vec_push(a, &s.defs, &m->defs[j]);
		if (s.defs.n)
			vec_push(a, &all, s);
	}
	return all;
}

/* ---- as a page ---------------------------------------------------------- */

typedef struct writer {
	const doc_request *request;
	const page_format *page;
	FILE *to;
} writer;

/* A fact with its value as code, if the value is a formula. */
static const char *as_formula(arena *a, const char *fact)
{
	const char *says = strstr(fact, ": ");
	if (!says || !page_is_code(says + 2))
		return fact;
	return arena_printf(a, "%.*s: `%s`", (int)(says - fact), fact,
			    says + 2);
}

static void write_stage(const writer *w, const desc_op *op,
			const desc_stage *s)
{
	arena *a = w->request->arena;
	if (op->nstages > 1)
		w->page->text(w->to, arena_printf(
			a, "Stage `%s`",
			describe_stage_signature(a, op, s)));
	if (s->open_because) {
		w->page->text(w->to, arena_printf(
			a, "Its strategies are known once shapes are: %s.",
			s->open_because));
		return;
	}
	text_table t = describe_strategies(a, op, s);
	if (s->nstrategies)
		w->page->table(w->to, &t);
	text_lines facts = describe_facts(a, op, s);
	for (int i = 0; i < facts.n; i++)
		facts.at[i] = as_formula(a, facts.at[i]);
	if (facts.n)
		w->page->list(w->to, &facts);
}

/* Writes the assumptions about attributes, and the ONNX operators mapped to the
 * operator. */
static void write_rest(const writer *w, const desc_op *op,
		       const mapped_names *from)
{
	arena *a = w->request->arena;
	const char *assumed = "", *names = "";
	for (int i = 0; i < op->nassumed; i++)
		assumed = arena_printf(a, "%s%s`%s >= 0`", assumed,
				       i ? ", " : "Assuming ",
				       op->space->atoms[op->assumed[i]].name);
	if (*assumed)
		w->page->text(w->to, arena_printf(a, "%s.", assumed));
	for (int i = 0; from && i < from->n; i++)
		names = arena_printf(a, "%s%s%s", names, i ? ", " : "",
				     from->at[i]);
	if (*names)
		w->page->text(w->to, arena_printf(a, "ONNX: %s.", names));
}

static void write_op(const writer *w, const ast_op *o)
{
	arena *a = w->request->arena;
	desc_op *op = descriptor_of(a, w->request->modules, o);
	if (op->open_because)
		w->page->text(w->to, arena_printf(
			a, "Its stages are known once shapes are: %s.",
			op->open_because));
	for (int i = 0; i < op->noutputs && !op->open_because; i++)
		if (op->outputs[i] < op->ninputs)
			w->page->text(w->to, arena_printf(
				a, "`%s` is `%s`, unchanged.",
				op->output_names[i],
				op->tensors[op->outputs[i]].name));
	for (int i = 0; i < op->nstages; i++)
		write_stage(w, op, &op->stages[i]);
	write_rest(w, op, strmap_get(w->request->mapped, o->name));
}

static void write_def(const writer *w, const ast_def *def)
{
	arena *a = w->request->arena;
	w->page->heading(w->to, 3, name_of(def));
	if (*doc_of(def))
		w->page->text(w->to, doc_of(def));
	w->page->code(w->to, dsl_header_text(a, def));
	if (def->kind == DEF_OP)
		write_op(w, def->op);
	else if (def->kind == DEF_OPAQUE)
		w->page->text(w->to, arena_printf(
			a, "An opaque function; its kernel is `%s`.",
			def->opaque->symbol));
}

static void write_index(const writer *w, const sections *all)
{
	arena *a = w->request->arena;
	page_index index = { 0 };
	for (int i = 0; i < all->n; i++) {
		page_entry e = { .label = all->at[i].file };
		for (int j = 0; j < all->at[i].defs.n; j++)
			vec_push(a, &e.words, name_of(all->at[i].defs.at[j]));
		vec_push(a, &index, e);
	}
	w->page->index(w->to, &index);
}

static int by_label(const void *x, const void *y)
{
	return strcmp(((const page_entry *)x)->label,
		      ((const page_entry *)y)->label);
}

/* Writes the reverse table: ONNX operators, and what they are mapped to. */
static void write_mapped(const writer *w, const sections *all)
{
	arena *a = w->request->arena;
	strmap *entries = strmap_new(a);
	page_index index = { 0 };
	for (int i = 0; i < all->n; i++)
		for (int j = 0; j < all->at[i].defs.n; j++) {
			const char *name = name_of(all->at[i].defs.at[j]);
			const mapped_names *from =
				strmap_get(w->request->mapped, name);
			for (int k = 0; from && k < from->n; k++) {
				page_entry *e = strmap_get(entries,
							   from->at[k]);
				if (!e) {
					e = ARENA_NEW(a, page_entry);
					e->label = from->at[k];
					strmap_put(entries, e->label, e);
				}
				vec_push(a, &e->words, name);
			}
		}
	for (int i = 0; i < strmap_count(entries); i++)
		vec_push(a, &index, *(page_entry *)strmap_value(entries, i));
	if (!index.n)
		return;
	qsort(index.at, (size_t)index.n, sizeof(*index.at), by_label);
	w->page->heading(w->to, 2, "From ONNX");
	w->page->text(w->to, "The operators of ONNX, and those that their "
			     "nodes are mapped to.");
	w->page->index(w->to, &index);
}

static bool any_operator(const sections *all)
{
	for (int i = 0; i < all->n; i++)
		for (int j = 0; j < all->at[i].defs.n; j++)
			if (all->at[i].defs.at[j]->kind == DEF_OP)
				return true;
	return false;
}

static void write_page(const writer *w, const sections *all)
{
	bool whole = !w->request->names.n;
	w->page->begin(w->to, whole && !w->request->files
				      ? "The operator library"
			      : any_operator(all) ? "Operators"
						  : "Models");
	if (any_operator(all))
		w->page->text(w->to, how_to_read);
	if (whole)
		write_index(w, all);
	for (int i = 0; i < all->n; i++) {
		const section *s = &all->at[i];
		w->page->heading(w->to, 2, s->file);
		if (*s->about)
			w->page->text(w->to, s->about);
		for (int j = 0; j < s->defs.n; j++)
			write_def(w, s->defs.at[j]);
	}
	if (whole)
		write_mapped(w, all);
	w->page->end(w->to);
}

/* ---- as JSON ------------------------------------------------------------ */

static json_t *op_json(const doc_request *r, const ast_def *def)
{
	arena *a = r->arena;
	desc_op *op = descriptor_of(a, r->modules, def->op);
	json_t *all = describe_json(&(descriptor){ 1, &op });
	json_t *j = json_incref(json_array_get(json_object_get(all,
							       "operators"),
					       0));
	json_decref(all);
	const mapped_names *from = strmap_get(r->mapped, def->op->name);
	json_t *onnx = json_array();
	for (int i = 0; from && i < from->n; i++)
		json_array_append_new(onnx, json_string(from->at[i]));
	json_object_set_new(j, "signature",
			    json_string(dsl_signature_text(a, def->op)));
	json_object_set_new(j, "onnx", onnx);
	return j;
}

static json_t *def_json(const doc_request *r, const ast_def *def)
{
	if (def->kind == DEF_OP)
		return op_json(r, def);
	json_t *j = json_pack("{s:s, s:s}", "name", name_of(def), "doc",
			      doc_of(def));
	if (def->kind == DEF_OPAQUE)
		json_object_set_new(j, "kernel",
				    json_string(def->opaque->symbol));
	else
		json_object_set_new(j, "header",
				    json_string(dsl_header_text(r->arena,
								def)));
	return j;
}

/* The definitions of one kind in a file. */
static json_t *defs_json(const doc_request *r, const section *s, def_kind kind)
{
	json_t *list = json_array();
	for (int i = 0; i < s->defs.n; i++)
		if (s->defs.at[i]->kind == kind)
			json_array_append_new(list,
					      def_json(r, s->defs.at[i]));
	return list;
}

static json_t *section_json(const doc_request *r, const section *s)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "file", s->file,
			 "about", s->about, "operators",
			 defs_json(r, s, DEF_OP), "opaque",
			 defs_json(r, s, DEF_OPAQUE), "models",
			 defs_json(r, s, DEF_MODEL), "blocks",
			 defs_json(r, s, DEF_BLOCK));
}

static void write_json(const doc_request *r, FILE *to, const sections *all)
{
	json_t *files = json_array();
	for (int i = 0; i < all->n; i++)
		json_array_append_new(files, section_json(r, &all->at[i]));
	json_t *j = json_pack("{s:o}", "files", files);
	fputs(json_text(r->arena, j, JSON_INDENT(2)), to);
	json_decref(j);
}

bool doc_is_known(const doc_request *r, const char *name)
{
	const tdl_modules *m = r->modules;
	return dsl_op(m, name) || dsl_opaque(m, name) ||
	       (r->files && (dsl_block(m, name) ||
			     strmap_get(m->models, name)));
}

void doc_write(FILE *to, const doc_request *given)
{
	doc_request r = *given;
	r.mapped = mapped_from(r.arena, r.modules);
	sections all = collect(&r);
	writer w = { &r, pages[r.format], to };
	if (w.page)
		write_page(&w, &all);
	else
		write_json(&r, to, &all);
}
