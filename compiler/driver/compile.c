/* tdlc compile: operators as descriptors, JSON, a syntax tree, a C header, or
 * those of their gradients; the kernels of one of them; for build steps. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "compiler/analysis/bounds.h"
#include "libtdl/emit.h"

enum { MAX_INPUT = 64 << 20 };

typedef struct compile_options {
	emit_request what; /* its output is that of -o */
	const char *dep_file;
	bool depends;
} compile_options;

/* ---- input -------------------------------------------------------------- */

static void load_sources(driver *d, char **paths, int n, emit_input *in)
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

static void load_descriptor(driver *d, const char *path, emit_input *in)
{
	size_t len;
	char *data = file_read(d->arena, d->sink, path, MAX_INPUT, &len);
	in->modules = job_modules(d);
	if (data)
		in->read = descriptor_read(d->arena, d->sink, path, data, len);
}

/* ---- output ------------------------------------------------------------- */

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
	const char *dot = strrchr(o->what.output, '.');
	const char *slash = strrchr(o->what.output, '/');
	int stem = dot && (!slash || dot > slash + 1)
			   ? (int)(dot - o->what.output)
			   : (int)strlen(o->what.output);
	return arena_printf(a, "%.*s.d", stem, o->what.output);
}

/* OUT: FILES, and a target for each file, so that one that is gone does not
 * stop make. */
static cli_status write_depends(driver *d, const compile_options *o,
				const tdl_modules *m)
{
	arena *a = d->arena;
	char *rule = arena_printf(a, "%s:", make_name(a, o->what.output));
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
	if (!o->what.output)
		return cli_usage(&d->program, "-o FILE is missing");
	if (!emits_kernels(&o->what) && (o->what.op || o->what.shapes.n ||
				  o->what.defines.n))
		return cli_usage(&d->program, "--op, --shape and -D go with "
				 "--emit=c and --emit=cuda");
	if (o->what.gradients && o->what.emit != EMIT_DESCRIPTOR)
		return cli_usage(&d->program,
				 "--gradients writes TDL, --emit=%s does not",
				 emit_names[o->what.emit]);
	if (o->dep_file && !o->depends)
		return cli_usage(&d->program, "-MF needs -MD");
	if (o->depends && !strcmp(o->what.output, "-") && !o->dep_file)
		return cli_usage(&d->program,
				 "-MD without -MF needs -o FILE, not -o -");
	return CLI_OK;
}

static cli_status run(driver *d, const compile_options *o, char **paths, int n)
{
	emit_input in = { 0 };
	if (n == 1 && is_descriptor(paths[0])) {
		if (o->what.emit == EMIT_AST || o->depends ||
		    o->what.gradients || emits_kernels(&o->what))
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
	const void *data = emit_text(d, &o->what, &in, &len, &status);
	if (!data)
		return status;
	if (o->depends)
		status = write_depends(d, o, in.modules);
	if (status != CLI_OK)
		return status;
	status = driver_write(d, o->what.output, data, len);
	if (status != CLI_OK && o->depends)
		remove_depends(dep_path(d->arena, o));
	return status;
}

cli_status command_compile(driver *d, int argc, char **argv)
{
	compile_options o = { 0 };
	const cli_option options[] = {
		DRIVER_OPTION_OUTPUT(&o.what.output),
		{ CLI_CHOICE, 0, "emit", "WHAT",
		  "the output: descriptor (.tdd; the default), json, ast, "
		  "header (a C header), c or cuda (an operator's kernels)",
		  &o.what.emit, .choices = emit_names },
		EMIT_OPTIONS_KERNELS(&o.what),
		{ CLI_FLAG, 0, "gradients", NULL,
		  "write the operators that compute the gradients, as TDL",
		  &o.what.gradients },
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
	status = check_options(d, &o, argc - first);
	return status == CLI_OK ? run(d, &o, argv + first, argc - first)
				: status;
}
