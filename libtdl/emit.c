#include "config.h"

#include "libtdl/emit.h"

#include <string.h>

#include "base/file.h"
#include "compiler/gradient/gradient.h"
#include "libtdl/describe.h"

const char *const emit_names[] = {
	[EMIT_DESCRIPTOR] = "descriptor", [EMIT_JSON] = "json",
	[EMIT_AST] = "ast", [EMIT_HEADER] = "header", [EMIT_C] = "c",
	[EMIT_CUDA] = "cuda", NULL
};

bool emits_kernels(const emit_request *r)
{
	return r->emit == EMIT_C || r->emit == EMIT_CUDA;
}

static bool is_wanted(const emit_request *r, const ast_def *def)
{
	return def->kind == DEF_OP &&
	       (!r->op || !strcmp(r->op, def->op->name));
}

/* The operators defined in the named files, in order. */
static descriptor *describe(job *d, const emit_request *r,
			    const emit_input *in)
{
	if (in->read)
		return in->read;
	int n = 0;
	descriptor *all = ARENA_NEW(d->arena, descriptor);
	for (int i = 0; i < in->n; i++)
		n += in->own[i]->ndefs;
	all->ops = ARENA_ARRAY(d->arena, desc_op *, n);
	for (int i = 0; i < in->n; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *def = &in->own[i]->defs[j];
			if (is_wanted(r, def))
				all->ops[all->nops++] = descriptor_of(
					d->arena, in->modules, def->op);
		}
	return all;
}

static char *emit_json(job *d, const descriptor *desc)
{
	json_t *j = describe_json(desc);
	const char *text = json_text(d->arena, j, JSON_INDENT(2));
	json_decref(j);
	return arena_printf(d->arena, "%s\n", text);
}

static char *emit_ast(job *d, const emit_input *in)
{
	char *text = arena_strdup(d->arena, "");
	for (int i = 0; i < in->n; i++)
		text = arena_printf(d->arena, "%s%s", text,
				    dsl_dump(d->arena, in->own[i]));
	return text;
}

/* Writes gradients, each once. */
typedef struct gradient_writer {
	job *d;
	strmap *written; /* names that are written */
	char *text, *imports;
	const char *folder; /* of the file being written */
} gradient_writer;

static const char *gradient_text(job *d, const gradient *g)
{
	if (g->own)
		return arena_printf(d->arena, "// %s is defined by 'grad %s "
				    "%s'.\n", g->name, g->own->grad_of,
				    g->own->grad_by);
	if (g->because)
		return arena_printf(d->arena, "// No %s: %s.\n", g->name,
				    g->because);
	return dsl_op_text(d->arena, g->op);
}

/* The path for an import: the name of a file of the library, or the path of
 * another file relative to the file being written. */
static const char *import_path(const gradient_writer *w, const char *path)
{
	arena *a = w->d->arena;
	const char *library = path_seen_from(a, job_opdefs(w->d), path);
	if (*library != '/' && strncmp(library, "../", 3))
		return library;
	return path_seen_from(a, w->folder, path);
}

/* Writes a gradient after those that it calls. */
static void write_gradient(gradient_writer *w, const gradient *g)
{
	if (strmap_get(w->written, g->name))
		return;
	strmap_put(w->written, g->name, w);
	for (int i = 0; i < g->nneeds; i++)
		if (!g->needs[i].own)
			write_gradient(w, &g->needs[i]);
	for (int i = 0; i < g->nfiles; i++) {
		const char *line =
			arena_printf(w->d->arena, "import \"%s\"\n",
				     import_path(w, g->files[i]));
		if (!strstr(w->imports, line))
			w->imports = arena_printf(w->d->arena, "%s%s",
						  w->imports, line);
	}
	w->text = arena_printf(w->d->arena, "%s%s%s", w->text,
			       *w->text ? "\n" : "", gradient_text(w->d, g));
}

/* The operators that compute the gradients of those in the named files.  If
 * there is none, a comment gives the reason.  The files of called operators are
 * imported. */
static char *emit_gradients(job *d, const emit_request *r,
			    const emit_input *in)
{
	gradient_writer w = { d, strmap_new(d->arena),
			      arena_strdup(d->arena, ""),
			      arena_strdup(d->arena, ""),
			      path_folder(d->arena, r->output) };
	for (int i = 0; i < in->n; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *def = &in->own[i]->defs[j];
			gradient *g;
			bool has = is_wanted(r, def) && !def->op->grad_of;
			int n = has ? gradient_derive(d->arena, in->modules,
						      def->op, &g)
				    : 0;
			for (int k = 0; k < n; k++)
				write_gradient(&w, &g[k]);
		}
	return arena_printf(d->arena, "%s%s%s", w.imports,
			    *w.imports ? "\n" : "", w.text);
}

const void *emit_text(job *d, const emit_request *r, const emit_input *in,
		      size_t *len, cli_status *status)
{
	char *text;
	*status = CLI_OK;
	if (r->emit == EMIT_DESCRIPTOR && !r->gradients)
		return descriptor_write(d->arena, describe(d, r, in), len);
	if (emits_kernels(r))
		text = emit_kernels(d, r, in, status);
	else if (r->gradients)
		text = emit_gradients(d, r, in);
	else if (r->emit == EMIT_JSON)
		text = emit_json(d, describe(d, r, in));
	else if (r->emit == EMIT_AST)
		text = emit_ast(d, in);
	else
		text = emit_header(d->arena, r->output, describe(d, r, in), in);
	*len = text ? strlen(text) : 0;
	return text;
}
