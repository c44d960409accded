/* The command tdlc compile, for build steps.  It writes operators as
 * descriptors, JSON, a syntax tree or a C header, their gradients, or the
 * kernels of one operator. */
#include "config.h"

#include "compiler/driver/commands.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

typedef struct compile_options {
	int emit;
	bool gradients;
	const char *dep_file;
	cli_words targets; /* of the rule; none: the output file */
	bool depends;
} compile_options;

static const char *const emit_names[] = { "descriptor", "json", "ast",
					  "header", "c", "cuda", NULL };

/* ---- the files that were read ------------------------------------------- */

/* Escapes a name for a makefile: blanks, '#' and '$'.  A name with a line break
 * cannot be written. */
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

/* The path given with -MF, or the output file with the suffix .d. */
static const char *dep_path(const page *p, const compile_options *o)
{
	if (o->dep_file)
		return o->dep_file;
	const char *dot = strrchr(p->output, '.');
	const char *slash = strrchr(p->output, '/');
	int stem = dot && (!slash || dot > slash + 1)
			   ? (int)(dot - p->output)
			   : (int)strlen(p->output);
	return arena_printf(p->arena, "%.*s.d", stem, p->output);
}

/* The targets of the rule, with a colon.  Targets given by the user are not
 * changed, so they may be several or contain variables. */
static char *targets_of(page *p, const compile_options *o)
{
	char *text = o->targets.n ? arena_strdup(p->arena, "") :
				    make_name(p->arena, p->output);
	for (int i = 0; i < o->targets.n; i++)
		text = arena_printf(p->arena, "%s%s%s", text, i ? " " : "",
				    o->targets.at[i]);
	return arena_printf(p->arena, "%s:", text);
}

/* Writes "OUT: FILES", and a rule for each file without prerequisites, so that
 * make does not stop if a file is removed. */
static cli_status write_depends(page *p, const compile_options *o,
				tdl_module *m)
{
	arena *a = p->arena;
	char *rule = targets_of(p, o);
	char *phony = arena_strdup(a, "");
	char *files = tdl_module_files(m);
	if (page_failed(p))
		return p->status;
	json_t *j = json_loads(files, 0, NULL);
	const json_t *list = json_object_get(j, "files");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *path = json_string_value(json_array_get(list, i));
		char *name = make_name(a, path);
		if (strchr(name, '\n'))
			continue;
		rule = arena_printf(a, "%s \\\n  %s", rule, name);
		phony = arena_printf(a, "%s\n%s:\n", phony, name);
	}
	json_decref(j);
	tdl_text_free(files);
	char *text = arena_printf(a, "%s\n%s", rule, phony);
	return page_write(p, dep_path(p, o), text, strlen(text));
}

/* Removes the first file if the second could not be written. */
static void remove_depends(const char *path)
{
	if (file_is_regular(path))
		unlink(path);
}

/* ---- the command -------------------------------------------------------- */

/* The reason why options conflict; NULL if they do not. */
static const char *misfit(page *p, const compile_options *o, int n)
{
	bool kernels = !strcmp(emit_names[o->emit], "c") ||
		       !strcmp(emit_names[o->emit], "cuda");
	if (n == 0)
		return "a file is missing";
	if (!p->output)
		return "-o FILE is missing";
	if (!kernels && page_has(p, "tdl_module_export", NULL))
		return "--op, --shape and -D go with --emit=c and --emit=cuda";
	if (o->gradients && o->emit)
		return arena_printf(p->arena, "--gradients writes TDL, "
				    "--emit=%s does not", emit_names[o->emit]);
	if ((o->dep_file || o->targets.n) && !o->depends)
		return "-MF and -MT need -MD";
	for (int i = 0; i < o->targets.n; i++)
		if (!*o->targets.at[i] || strchr(o->targets.at[i], '\n'))
			return "-MT takes a target, on one line";
	if (o->depends && !strcmp(p->output, "-") && !o->dep_file)
		return "-MD without -MF needs -o FILE, not -o -";
	return NULL;
}

static cli_status run(page *p, const compile_options *o, char **paths, int n)
{
	size_t len;
	if (n == 1 && o->depends && path_ends_in(paths[0], ".tdd"))
		return cli_usage(&p->program, "a .tdd file has no source");
	if (!page_can_write(p, p->output) ||
	    (o->depends && !page_can_write(p, dep_path(p, o))))
		return p->status;
	tdl_module *m = tdl_module_load_all(
		p->context, (const char *const *)paths, (size_t)n);
	if (page_failed(p))
		return p->status;
	page_give(p, "tdl_module_export", "output", p->output);
	char *text = tdl_module_export(
		m, NULL, o->gradients ? "gradients" : emit_names[o->emit],
		page_given(p, "tdl_module_export"), &len);
	if (page_failed(p))
		return p->status;
	if (o->depends)
		write_depends(p, o, m);
	if (p->status != CLI_OK)
		return p->status;
	page_write(p, p->output, text, len);
	if (p->status != CLI_OK && o->depends)
		remove_depends(dep_path(p, o));
	return p->status;
}

cli_status command_compile(page *p, int argc, char **argv)
{
	compile_options o = { 0 };
	const cli_option output[] = { PAGE_OPTION_OUTPUT(p), { CLI_END } };
	const cli_option options[] = {
		{ CLI_CHOICE, 0, "emit", "WHAT",
		  "the output: descriptor (.tdd; the default), json, ast, "
		  "header (a C header), c or cuda (an operator's kernels)",
		  &o.emit, .choices = emit_names },
		{ CLI_FLAG, 0, "gradients", NULL,
		  "write the operators that compute the gradients, as TDL",
		  &o.gradients },
		{ CLI_FLAG, 0, "-MD", NULL,
		  "also write a make rule that names the files read",
		  &o.depends },
		{ CLI_TEXT, 0, "-MF", "DEP",
		  "write that rule to DEP, not beside the output",
		  &o.dep_file },
		{ CLI_REPEAT, 0, "-MT", "TARGET",
		  "the target of that rule, unchanged, instead of the output; "
		  "may be repeated",
		  &o.targets },
		PAGE_OPTION_STRICT(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, output);
	page_function(p, "tdl_module_export", "output");
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	const char *why = misfit(p, &o, argc - first);
	if (why)
		return cli_usage(&p->program, "%s", why);
	return run(p, &o, argv + first, argc - first);
}
