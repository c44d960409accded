/* Fuzz target: operators in TDL.  The front end, the formatter, the analysis
 * down to descriptors. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "compiler/analysis/bounds.h"
#include "compiler/analysis/descriptor.h"
#include "tests/fuzz/fuzz.h"

/* Beside the library's mappings, so that the imports of both kinds of files
 * are found. */
static tdl_modules *new_modules(arena *a, diag_sink *s, const char **path)
{
	const char *dir = fuzz_opdefs();
	*path = path_join(a, path_join(a, dir, "onnx"), "fuzz.tdl");
	return dsl_new(a, s, &dir, 1);
}

static ast_module *parse(arena *a, const char *text, size_t len)
{
	const char *path;
	diag_sink *s = diag_sink_new(a);
	tdl_modules *m = new_modules(a, s, &path);
	ast_module *module = dsl_parse(m, path, text, len);
	fuzz_print(s);
	FUZZ_CHECK(!module == (diag_errors(s) > 0));
	return module;
}

/* Formatted text means the same, and formatting it again changes nothing. */
static void check_format(const char *text, size_t len)
{
	arena *a = arena_new();
	ast_module *before = parse(a, text, len);
	if (before) {
		const char *once = dsl_format(a, before);
		ast_module *after = parse(a, once, strlen(once));
		FUZZ_CHECK(after);
		FUZZ_CHECK(!strcmp(dsl_dump(a, before), dsl_dump(a, after)));
		FUZZ_CHECK(!strcmp(once, dsl_format(a, after)));
	}
	arena_free(a);
}

static descriptor *describe(arena *a, const tdl_modules *m)
{
	const ast_module *own = m->modules[m->nmodules - 1];
	descriptor *d = ARENA_NEW(a, descriptor);
	d->ops = ARENA_ARRAY(a, desc_op *, own->ndefs);
	for (int i = 0; i < own->ndefs; i++)
		if (own->defs[i].kind == DEF_OP)
			d->ops[d->nops++] =
				descriptor_of(a, m, own->defs[i].op);
	return d;
}

/* The reader reads the same descriptor as was written. */
static void check_descriptor(arena *a, const tdl_modules *m)
{
	size_t n, again;
	diag_sink *s = diag_sink_new(a);
	void *data = descriptor_write(a, describe(a, m), &n);
	descriptor *d = descriptor_read(a, s, "fuzz.tdd", data, n);
	if (!d)
		diag_print(s, stderr, false);
	FUZZ_CHECK(d);
	void *copy = descriptor_write(a, d, &again);
	FUZZ_CHECK(n == again && !memcmp(data, copy, n));
}

static void check_operators(const char *text, size_t len)
{
	arena *a = arena_new();
	const char *path;
	diag_sink *s = diag_sink_new(a);
	tdl_modules *m = new_modules(a, s, &path);
	bool good = dsl_load_text(m, path, text, len);
	analysis_check(m, s);
	fuzz_print(s);
	if (good && !diag_errors(s))
		check_descriptor(a, m);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	const char *text = arena_strndup(a, (const char *)data, size);
	check_format(text, size);
	check_operators(text, size);
	arena_free(a);
	return 0;
}
