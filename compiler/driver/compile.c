/* tdlc compile: operators as descriptors, JSON, a syntax tree, a C header, or
 * those of their gradients; the kernels of one of them; for build steps. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "compiler/analysis/bounds.h"
#include "compiler/driver/emit.h"
#include "compiler/gradient/gradient.h"
#include "libtdl/describe.h"

enum { MAX_INPUT = 64 << 20 };

typedef enum emit { EMIT_DESCRIPTOR, EMIT_JSON, EMIT_AST, EMIT_HEADER, EMIT_C,
		    EMIT_CUDA } emit;
static const char *const emits[] = { "descriptor", "json", "ast", "header",
				     "c", "cuda", NULL };

typedef struct compile_options {
	const char *output, *dep_file;
	int emit;
	bool depends, gradients;
	kernel_request kernels; /* EMIT_C, EMIT_CUDA */
} compile_options;

static bool emits_kernels(const compile_options *o)
{
	return o->emit == EMIT_C || o->emit == EMIT_CUDA;
}

/* The input: the modules of .tdl files, or the operators of a .tdd. */
typedef struct compile_input {
	tdl_modules *modules;
	int n;
	const ast_module **own; /* the files named on the command line */
	descriptor *read;	/* of a .tdd; NULL */
} compile_input;

/* ---- input -------------------------------------------------------------- */

static void load_sources(driver *d, char **paths, int n, compile_input *in)
{
	in->modules = job_modules(d);
	in->own = ARENA_ARRAY(d->arena, const ast_module *, n);
	for (int i = 0; i < n; i++) {
		dsl_load(in->modules, paths[i]);
		const ast_module *m = job_module(in->modules, paths[i]);
		bool known = !m;
		for (int j = 0; j < in->n; j++)
			known |= in->own[j] == m;
		if (!known)
			in->own[in->n++] = m;
	}
	analysis_check(in->modules, d->sink);
}

static bool is_descriptor(const char *path)
{
	size_t n = strlen(path);
	return n > 4 && !strcmp(path + n - 4, ".tdd");
}

static void load_descriptor(driver *d, const char *path, compile_input *in)
{
	size_t len;
	char *data = file_read(d->arena, d->sink, path, MAX_INPUT, &len);
	in->modules = job_modules(d);
	if (data)
		in->read = descriptor_read(d->arena, d->sink, path, data, len);
}

/* The operators that the named files define, in their order. */
static descriptor *describe(driver *d, const compile_input *in)
{
	if (in->read)
		return in->read;
	int n = 0;
	descriptor *r = ARENA_NEW(d->arena, descriptor);
	for (int i = 0; i < in->n; i++)
		n += in->own[i]->ndefs;
	r->ops = ARENA_ARRAY(d->arena, desc_op *, n);
	for (int i = 0; i < in->n; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *def = &in->own[i]->defs[j];
			if (def->kind == DEF_OP)
				r->ops[r->nops++] = descriptor_of(
					d->arena, in->modules, def->op);
		}
	return r;
}

/* ---- output ------------------------------------------------------------- */

static char *emit_json(driver *d, const descriptor *desc)
{
	json_t *j = describe_json(desc);
	char *text = json_dumps(j, JSON_INDENT(2));
	char *copy = arena_printf(d->arena, "%s\n", text ? text : "");
	free(text);
	json_decref(j);
	return copy;
}

static char *emit_ast(driver *d, const compile_input *in)
{
	char *text = arena_strdup(d->arena, "");
	for (int i = 0; i < in->n; i++)
		text = arena_printf(d->arena, "%s%s", text,
				    dsl_dump(d->arena, in->own[i]));
	return text;
}

/* Gradients that are written, each once. */
typedef struct gradient_writer {
	driver *d;
	strmap *written; /* by name */
	char *text, *imports;
	const char *folder; /* of what is written */
} gradient_writer;

static const char *gradient_text(driver *d, const gradient *g)
{
	if (g->own)
		return arena_printf(d->arena, "// %s is defined by 'grad %s "
				    "%s'.\n", g->name, g->own->grad_of,
				    g->own->grad_by);
	if (g->because)
		return arena_printf(d->arena, "// No %s: %s.\n", g->name,
				    g->because);
	return g->text;
}

/* A file of the library is found by its name, others from where the text is
 * written. */
static const char *import_path(const gradient_writer *w, const char *path)
{
	arena *a = w->d->arena;
	const char *library = path_seen_from(a, job_opdefs(w->d), path);
	if (*library != '/' && strncmp(library, "../", 3))
		return library;
	return path_seen_from(a, w->folder, path);
}

/* Those that it calls come first. */
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

/* The operators that compute the gradients of those in the named files; a
 * comment says why there is none.  The files of what they call are imported. */
static char *emit_gradients(driver *d, const compile_options *o,
			    const compile_input *in)
{
	gradient_writer w = { d, strmap_new(d->arena),
			      arena_strdup(d->arena, ""),
			      arena_strdup(d->arena, ""),
			      path_folder(d->arena, o->output) };
	for (int i = 0; i < in->n; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *def = &in->own[i]->defs[j];
			gradient *g;
			bool has = def->kind == DEF_OP && !def->op->grad_of;
			int n = has ? gradient_derive(d->arena, in->modules,
						      def->op, &g)
				    : 0;
			for (int k = 0; k < n; k++)
				write_gradient(&w, &g[k]);
		}
	return arena_printf(d->arena, "%s%s%s", w.imports,
			    *w.imports ? "\n" : "", w.text);
}

/* The text of the output, *len bytes; NULL, with *status, where there is
 * none. */
static const void *emit_output(driver *d, const compile_options *o,
			       const compile_input *in, size_t *len,
			       cli_status *status)
{
	char *text = NULL;
	if (emits_kernels(o)) {
		text = emit_kernels(d, &o->kernels, in->modules, in->own,
				    in->n, status);
		*len = text ? strlen(text) : 0;
		return text;
	}
	if (o->gradients) {
		text = emit_gradients(d, o, in);
		*len = strlen(text);
		return text;
	}
	if (o->emit == EMIT_DESCRIPTOR)
		return descriptor_write(d->arena, describe(d, in), len);
	if (o->emit == EMIT_JSON)
		text = emit_json(d, describe(d, in));
	else if (o->emit == EMIT_AST)
		text = emit_ast(d, in);
	else
		text = emit_header(d->arena, o->output, describe(d, in),
				   in->own, in->n);
	*len = strlen(text);
	return text;
}

/* A name in a makefile: blanks, '#' and '$' are escaped.  One with a line
 * break cannot be written. */
static char *make_name(arena *a, const char *s)
{
	size_t n = strlen(s);
	char *r = arena_alloc(a, 2 * n + 1), *p = r;
	for (; *s; s++) {
		if (*s == ' ' || *s == '#' || *s == '\t')
			*p++ = '\\';
		else if (*s == '$')
			*p++ = '$';
		*p++ = *s;
	}
	*p = '\0';
	return r;
}

/* DEP of -MF, or the output with the suffix .d. */
static const char *dep_path(arena *a, const compile_options *o)
{
	if (o->dep_file)
		return o->dep_file;
	const char *dot = strrchr(o->output, '.');
	const char *slash = strrchr(o->output, '/');
	int stem = dot && (!slash || dot > slash + 1)
			   ? (int)(dot - o->output)
			   : (int)strlen(o->output);
	return arena_printf(a, "%.*s.d", stem, o->output);
}

/* OUT: FILES, and a target for each file, so that one that is gone does not
 * stop make. */
static cli_status write_depends(driver *d, const compile_options *o,
				const tdl_modules *m)
{
	arena *a = d->arena;
	char *rule = arena_printf(a, "%s:", make_name(a, o->output));
	char *phony = arena_strdup(a, "");
	for (int i = 0; i < m->nfiles; i++) {
		char *name = make_name(a, m->files[i]);
		if (strchr(name, '\n'))
			continue;
		rule = arena_printf(a, "%s \\\n  %s", rule, name);
		phony = arena_printf(a, "%s\n%s:\n", phony, name);
	}
	char *text = arena_printf(a, "%s\n%s", rule, phony);
	return driver_write(d, dep_path(a, o), text, strlen(text));
}

/* Of two files either both are written or none. */
static void remove_depends(const char *path)
{
	if (file_is_regular(path))
		unlink(path);
}

/* ---- the command -------------------------------------------------------- */

static cli_status check_options(driver *d, const compile_options *o, int n)
{
	if (n == 0)
		return cli_usage(&d->program, "a file is missing");
	if (!o->output)
		return cli_usage(&d->program, "-o FILE is missing");
	if (!emits_kernels(o) && (o->kernels.op || o->kernels.shapes.n ||
				  o->kernels.defines.n))
		return cli_usage(&d->program, "--op, --shape and -D go with "
				 "--emit=c and --emit=cuda");
	if (o->gradients && o->emit != EMIT_DESCRIPTOR)
		return cli_usage(&d->program,
				 "--gradients writes TDL, --emit=%s does not",
				 emits[o->emit]);
	if (o->dep_file && !o->depends)
		return cli_usage(&d->program, "-MF needs -MD");
	if (o->depends && !strcmp(o->output, "-") && !o->dep_file)
		return cli_usage(&d->program,
				 "-MD without -MF needs -o FILE, not -o -");
	return CLI_OK;
}

static cli_status run(driver *d, const compile_options *o, char **paths, int n)
{
	compile_input in = { 0 };
	if (n == 1 && is_descriptor(paths[0])) {
		if (o->emit == EMIT_AST || o->depends || o->gradients ||
		    emits_kernels(o))
			return cli_usage(&d->program,
					 "a .tdd file has no source");
		load_descriptor(d, paths[0], &in);
	} else {
		load_sources(d, paths, n, &in);
	}
	if (diag_errors(d->sink))
		return CLI_INPUT;
	size_t len;
	cli_status status = CLI_OK;
	const void *data = emit_output(d, o, &in, &len, &status);
	if (!data)
		return status;
	if (o->depends)
		status = write_depends(d, o, in.modules);
	if (status != CLI_OK)
		return status;
	status = driver_write(d, o->output, data, len);
	if (status != CLI_OK && o->depends)
		remove_depends(dep_path(d->arena, o));
	return status;
}

cli_status command_compile(driver *d, int argc, char **argv)
{
	compile_options o = { 0 };
	const cli_option options[] = {
		DRIVER_OPTION_OUTPUT(&o.output),
		{ CLI_CHOICE, 0, "emit", "WHAT",
		  "the output: descriptor (.tdd; the default), json, ast, "
		  "header (a C header), c or cuda (an operator's kernels)",
		  &o.emit, .choices = emits },
		{ CLI_TEXT, 0, "op", "NAME",
		  "kernels: the operator, if there are several",
		  &o.kernels.op },
		{ CLI_REPEAT, 0, "shape", "NAME=AxB",
		  "kernels: the shape of input NAME; once for each",
		  &o.kernels.shapes },
		{ CLI_REPEAT, 'D', NULL, "ATTR=V",
		  "kernels: the value of an attribute; a list is 1,2",
		  &o.kernels.defines },
		{ CLI_FLAG, 0, "gradients", NULL,
		  "write the operators that compute the gradients, as TDL",
		  &o.gradients },
		{ CLI_FLAG, 0, "-MD", NULL,
		  "write the files that were read as a rule for make",
		  &o.depends },
		{ CLI_TEXT, 0, "-MF", "DEP",
		  "write that rule to DEP, not beside the output",
		  &o.dep_file },
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	o.kernels.cuda = o.emit == EMIT_CUDA;
	status = check_options(d, &o, argc - first);
	return status == CLI_OK ? run(d, &o, argv + first, argc - first)
				: status;
}
