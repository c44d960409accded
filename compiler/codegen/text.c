#include "config.h"

#include "compiler/codegen/text.h"

#include <string.h>

static void add(text *t, const char *s)
{
	for (; *s; s++)
		vec_push(t->a, &t->s, *s);
}

static void add_line(text *t, const char *line, const char *end)
{
	for (int i = 0; i < t->depth && *line; i++)
		add(t, "\t");
	add(t, line);
	add(t, end);
}

void text_line(text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_line(t, arena_vprintf(t->a, fmt, ap), "\n");
	va_end(ap);
}

void text_open(text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_line(t, arena_vprintf(t->a, fmt, ap), " {\n");
	va_end(ap);
	t->depth++;
}

void text_block(text *t)
{
	add_line(t, "{", "\n");
	t->depth++;
}

void text_close(text *t)
{
	t->depth--;
	add_line(t, "}", "\n");
}

char *text_end(text *t)
{
	return arena_strndup(t->a, t->s.at ? t->s.at : "", (size_t)t->s.n);
}
