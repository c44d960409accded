#include "config.h"

#include "compiler/driver/dot.h"

#include <stdio.h>

void dot_quoted(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\' || *s == '\n')
			putchar('\\');
		putchar(*s == '\n' ? 'n' : *s);
	}
	putchar('"');
}

void dot_begin(const char *name)
{
	printf("digraph ");
	dot_quoted(name);
	printf(" {\n  node [fontname=\"sans-serif\"];\n");
}

void dot_vertex(const char *id, int number, const char *label,
		const char *style)
{
	printf("  %s%d [%s, label=", id, number, style);
	dot_quoted(label);
	printf("];\n");
}
