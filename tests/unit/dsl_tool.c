/* The front end alone, for the golden tests:
 *
 *	dsl_tool check [-I FOLDER]... FILE...	diagnostics
 *	dsl_tool fmt FILE			the canonical layout
 *	dsl_tool dump FILE			the tree
 *
 * Diagnostics go to standard output, too.  Exit status 1 after errors. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "dsl/dsl.h"
#include "dsl/parse.h"

static bool check(tdl_modules *m, char **files, int n)
{
	bool ok = true;
	for (int i = 0; i < n; i++)
		ok &= dsl_load(m, files[i]);
	return ok;
}

static bool print(tdl_modules *m, const char *path,
		  char *(*text_of)(arena *, const ast_module *))
{
	size_t len;
	char *text = file_read(m->arena, m->sink, path, DSL_MAX_SOURCE, &len);
	const ast_module *module =
		text ? dsl_parse(m, path, text, len) : NULL;
	if (module)
		fputs(text_of(m->arena, module), stdout);
	return module;
}

int main(int argc, char **argv)
{
	const char *folders[8];
	int nfolders = 0, i = 2;
	if (argc < 3)
		return 2;
	for (; i + 1 < argc && !strcmp(argv[i], "-I") && nfolders < 8; i += 2)
		folders[nfolders++] = argv[i + 1];
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	tdl_modules *m = dsl_new(a, s, folders, nfolders);
	bool ok = !strcmp(argv[1], "check") ? check(m, argv + i, argc - i)
		  : !strcmp(argv[1], "fmt") ? print(m, argv[i], dsl_format)
					    : print(m, argv[i], dsl_dump);
	diag_print(s, stdout, false);
	arena_free(a);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
