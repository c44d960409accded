#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/written.h"

arena *a;
diag_sink *sink;
tdl_modules *modules;

void set_up_modules(void)
{
	a = arena_new();
	sink = diag_sink_new(a);
	modules = dsl_new(a, sink, NULL, 0);
}

void tear_down_modules(void)
{
	arena_free(a);
}

bool load_text(const char *text)
{
	return dsl_load_text(modules, "test.tdl", text, strlen(text));
}

char *printed(void)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	diag_print(sink, f, false);
	fclose(f);
	char *copy = arena_strdup(a, text);
	free(text);
	return copy;
}
