/* Modules: files, what they import, and what they define. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "dsl/check.h"
#include "dsl/parse.h"

/* Limits the nesting of imports. */
enum { MAX_IMPORT_DEPTH = 64 };

/* The entries of one ONNX operator. */
typedef struct onnx_chain {
	const ast_onnx *entry;
	struct onnx_chain *next;
} onnx_chain;

/* A file of the set. */
typedef struct loaded {
	const char *path; /* the path by which it was found */
	bool done;	  /* false while it is being read */
	const ast_module *module; /* NULL if it did not parse */
	/* the import; NOWHERE for a file given by the caller */
	range imported;
} loaded;

tdl_modules *dsl_new(arena *a, diag_sink *s, const char *const *folders,
		     int nfolders)
{
	tdl_modules *m = ARENA_NEW(a, tdl_modules);
	m->arena = a;
	m->sink = s;
	m->names = interner_new(a);
	m->ops = strmap_new(a);
	m->opaques = strmap_new(a);
	m->blocks = strmap_new(a);
	m->models = strmap_new(a);
	m->broken = strmap_new(a);
	m->entries = strmap_new(a);
	m->loaded = strmap_new(a);
	m->nfolders = nfolders;
	m->folders = ARENA_ARRAY(a, const char *, nfolders);
	for (int i = 0; i < nfolders; i++)
		m->folders[i] = arena_strdup(a, folders[i]);
	return m;
}

void dsl_set_library(tdl_modules *m, const char *const *paths, int n)
{
	m->nlibrary = n;
	m->library = ARENA_ARRAY(m->arena, const char *, n);
	for (int i = 0; i < n; i++)
		m->library[i] = arena_strdup(m->arena, paths[i]);
}

/* Makes room in one of the set's arrays, whose capacity is a power of two. */
static void *grown(arena *a, const void *at, int n, size_t size)
{
	if (n & (n - 1))
		return (void *)at;
	void *to = arena_calloc(a, (size_t)n * 2 + 1, size);
	if (n)
		memcpy(to, at, (size_t)n * size);
	return to;
}

#define APPEND(m, list, n, x)                                         \
	do {                                                          \
		(m)->list = grown((m)->arena, (m)->list, (m)->n,      \
				  sizeof(*(m)->list));                \
		(m)->list[(m)->n++] = (x);                            \
	} while (0)

/* ---- definitions -------------------------------------------------------- */

/* The place of the operator, opaque function or def that already has a name;
 * NOWHERE if there is none. */
static range defined_at(const tdl_modules *m, const char *name)
{
	const ast_op *op = strmap_get(m->ops, name);
	const ast_opaque *f = strmap_get(m->opaques, name);
	const ast_block *b = strmap_get(m->blocks, name);
	return op ? op->name_at : f ? f->name_at : b ? b->name_at : NOWHERE;
}

static void say_defined(tdl_modules *m, const char *name, range at,
			range first)
{
	diag_error(m->sink, DIAG_DUPLICATE_NAME, at,
		   "'%s' is already defined", name);
	diag_note(m->sink, first, "the first definition is here");
}

/* Adds a named definition to a map, unless the name is taken. */
static bool define(tdl_modules *m, strmap *to, const char *name, range at,
		   void *def)
{
	range first = defined_at(m, name);
	if (!first.beg) {
		strmap_put(to, name, def);
		return true;
	}
	say_defined(m, name, at, first);
	return false;
}

/* Models are not called, so their names are separate. */
static void add_model(tdl_modules *m, ast_model *model)
{
	const ast_model *first = strmap_get(m->models, model->name);
	if (first) {
		model->faulty = true;
		say_defined(m, model->name, model->name_at, first->name_at);
		return;
	}
	strmap_put(m->models, model->name, model);
}

static const char *entry_key(arena *a, const char *domain, const char *op_type)
{
	return arena_printf(a, "%s:%s", domain, op_type);
}

static void add_onnx(tdl_modules *m, ast_onnx *e)
{
	const char *key = entry_key(m->arena, e->domain, e->op_type);
	onnx_chain *first = strmap_get(m->entries, key);
	if (e->since > e->until) {
		diag_error(m->sink, DIAG_EMPTY_OPSETS, e->name_at,
			   "the opsets of '%s' run from %d to %d", e->op_type,
			   e->since, e->until);
		e->faulty = true;
	}
	for (onnx_chain *c = first; c && !e->faulty; c = c->next) {
		if (c->entry->since > e->until || e->since > c->entry->until)
			continue;
		diag_error(m->sink, DIAG_OPSETS_OVERLAP, e->name_at,
			   "opset %d of '%s' is already mapped",
			   e->since > c->entry->since ? e->since
						      : c->entry->since,
			   e->op_type);
		diag_note(m->sink, c->entry->name_at, "by the entry here");
		e->faulty = true;
	}
	APPEND(m, onnx, nonnx, e);
	if (e->faulty)
		return;
	onnx_chain *c = ARENA_NEW(m->arena, onnx_chain);
	*c = (onnx_chain){ e, first };
	strmap_put(m->entries, key, c);
}

static void add_definitions(tdl_modules *m, const ast_module *module)
{
	for (int i = 0; i < module->ndefs; i++) {
		const ast_def *d = &module->defs[i];
		switch (d->kind) {
		case DEF_OP:
			d->op->faulty = !define(m, m->ops, d->op->name,
						d->op->name_at, d->op);
			break;
		case DEF_OPAQUE:
			d->opaque->faulty =
				!define(m, m->opaques, d->opaque->name,
					d->opaque->name_at, d->opaque);
			break;
		case DEF_BLOCK:
			d->block->faulty =
				!define(m, m->blocks, d->block->name,
					d->block->name_at, d->block);
			break;
		case DEF_ONNX:
			add_onnx(m, d->onnx);
			break;
		case DEF_MODEL:
			add_model(m, d->model);
			break;
		case DEF_IMPORT:
			break;
		}
	}
}

void module_add(tdl_modules *m, const ast_module *module)
{
	add_definitions(m, module);
	check_module(m, module);
}

/* ---- files -------------------------------------------------------------- */

static void load_file(tdl_modules *m, const char *path, range imported);
/* The name that identifies a file, by whatever path it is reached. */
static const char *canonical(const tdl_modules *m, const char *path)
{
	arena *tmp = arena_new();
	const char *real = path_real(tmp, path);
	const char *name = intern(m->names, real ? real : path);
	arena_free(tmp);
	return name;
}

const dsl_text *dsl_text_of(const tdl_modules *m, const char *path)
{
	for (int i = 0; m->texts && i < m->texts->n; i++) {
		const dsl_text *t = &m->texts->at[i];
		if (!strcmp(t->path, path) ||
		    canonical(m, t->path) == canonical(m, path))
			return t;
	}
	return NULL;
}

static bool is_there(const tdl_modules *m, const char *path)
{
	return dsl_text_of(m, path) || file_exists(path);
}

static bool is_loaded(const tdl_modules *m, const char *path)
{
	return strmap_get(m->loaded, canonical(m, path));
}

/* The file that an import refers to: beside the importing file, else in the
 * folders in order; NULL if there is none. */
static const char *find_import(const tdl_modules *m, const char *importer,
			       const char *name)
{
	const char *folder = path_folder(m->arena, importer);
	for (int i = -1; i < m->nfolders; i++) {
		const char *path = path_join(
			m->arena, i < 0 ? folder : m->folders[i], name);
		if (is_there(m, path))
			return path;
	}
	return NULL;
}

static void load_imports(tdl_modules *m, const ast_module *module)
{
	for (int i = 0; i < module->ndefs; i++) {
		const ast_def *d = &module->defs[i];
		if (d->kind != DEF_IMPORT)
			continue;
		const char *path = find_import(m, module->path, d->import);
		if (path && (dsl_text_of(m, path) || file_is_regular(path))) {
			load_file(m, path, d->at);
			continue;
		}
		m->incomplete = true;
		if (path)
			diag_error(m->sink, DIAG_CANNOT_READ, d->at,
				   "'%s' is not a regular file", path);
		else
			diag_error(m->sink, DIAG_IMPORT_NOT_FOUND, d->at,
				   "there is no file '%s' beside this one, nor "
				   "in a folder given with %s",
				   d->import,
				   diag_option(m->sink, "include"));
	}
}

/* Loads the library's files, except one that is being read: it cannot need
 * itself. */
static void load_library(tdl_modules *m)
{
	for (int i = 0; i < m->nlibrary; i++)
		if (!is_loaded(m, m->library[i]))
			load_file(m, m->library[i], NOWHERE);
}

static const ast_module *load_source(tdl_modules *m, const char *path,
				     const char *text, size_t len)
{
	bool models = false;
	ast_module *module = parse_source(m, path, text, len, &models);
	m->incomplete |= !module;
	if (!module)
		return NULL;
	if (models)
		load_library(m);
	load_imports(m, module);
	APPEND(m, modules, nmodules, module);
	module_add(m, module);
	return module;
}

static void say_cycle(const tdl_modules *m, const char *path, range at)
{
	diag_error(m->sink, DIAG_IMPORT_CYCLE, at,
		   "'%s' is being read already; imports go in a circle", path);
	for (int i = strmap_count(m->loaded) - 1; i >= 0; i--) {
		const loaded *l = strmap_value(m->loaded, i);
		if (!l->done && l->imported.beg)
			diag_note(m->sink, l->imported,
				  "'%s' is imported here", l->path);
	}
}

static void load_file(tdl_modules *m, const char *path, range imported)
{
	const char *key = canonical(m, path);
	loaded *l = strmap_get(m->loaded, key);
	if (l) {
		if (!l->done)
			say_cycle(m, path, imported);
		m->incomplete |= !l->done;
		return;
	}
	if (m->depth == MAX_IMPORT_DEPTH) {
		m->incomplete = true;
		diag_error(m->sink, DIAG_TOO_DEEP, imported,
			   "imports are nested more than %d deep",
			   MAX_IMPORT_DEPTH);
		return;
	}
	l = ARENA_NEW(m->arena, loaded);
	l->path = arena_strdup(m->arena, path);
	l->imported = imported;
	strmap_put(m->loaded, key, l);
	const dsl_text *given = dsl_text_of(m, path);
	size_t len = given ? given->len : 0;
	const char *text = given ? given->text :
		file_read(m->arena, m->sink, path, DSL_MAX_SOURCE, &len);
	if (text) {
		APPEND(m, files, nfiles, arena_strdup(m->arena, path));
		m->depth++;
		l->module = load_source(m, path, text, len);
		m->depth--;
	} else if (imported.beg) {
		diag_note(m->sink, imported, "it is imported here");
		m->incomplete = true;
	}
	l->done = true;
}

bool dsl_load(tdl_modules *m, const char *path)
{
	int errors = diag_errors(m->sink);
	load_file(m, path, NOWHERE);
	return diag_errors(m->sink) == errors;
}

bool dsl_load_text(tdl_modules *m, const char *path, const char *text,
		   size_t len)
{
	int errors = diag_errors(m->sink);
	load_source(m, path, text, len);
	return diag_errors(m->sink) == errors;
}

const ast_module *dsl_module(const tdl_modules *m, const char *path)
{
	const loaded *l = strmap_get(m->loaded, canonical(m, path));
	return l ? l->module : NULL;
}

/* ---- look-up ------------------------------------------------------------ */

const ast_op *dsl_op(const tdl_modules *m, const char *name)
{
	const ast_op *op = strmap_get(m->ops, name);
	return op && !op->faulty ? op : NULL;
}

const ast_opaque *dsl_opaque(const tdl_modules *m, const char *name)
{
	const ast_opaque *f = strmap_get(m->opaques, name);
	return f && !f->faulty ? f : NULL;
}

const ast_block *dsl_block(const tdl_modules *m, const char *name)
{
	const ast_block *b = strmap_get(m->blocks, name);
	return b && !b->faulty ? b : NULL;
}

const ast_onnx *dsl_onnx(const tdl_modules *m, const char *domain,
			 const char *op_type, int opset)
{
	arena *tmp = arena_new();
	const char *key = entry_key(tmp, domain, op_type);
	const onnx_chain *c = strmap_get(m->entries, key);
	arena_free(tmp);
	for (; c; c = c->next)
		if (c->entry->since <= opset && opset <= c->entry->until &&
		    !c->entry->faulty)
			return c->entry;
	return NULL;
}
