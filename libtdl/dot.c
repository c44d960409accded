#include "config.h"

#include "libtdl/dot.h"

#include <stdio.h>

void dot_quoted(FILE *to, const char *s)
{
	fputc('"', to);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\' || *s == '\n')
			fputc('\\', to);
		fputc(*s == '\n' ? 'n' : *s, to);
	}
	fputc('"', to);
}

void dot_begin(FILE *to, const char *name)
{
	fprintf(to, "digraph ");
	dot_quoted(to, name);
	fprintf(to, " {\n  node [fontname=\"sans-serif\"];\n");
}

void dot_vertex(FILE *to, const char *id, int number, const char *label,
		const char *style)
{
	fprintf(to, "  %s%d [%s, label=", id, number, style);
	dot_quoted(to, label);
	fprintf(to, "];\n");
}
