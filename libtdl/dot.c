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

const char *dot_times(arena *a, const char *name, int n)
{
	return n == 1 ? name : arena_printf(a, "%d x %s", n, name);
}

void dot_block(FILE *to, arena *a, int number, const block_group *b,
	       const char *op, const char *more, bool output)
{
	const char *text = dot_times(a, b->name, b->nblocks);
	if (b->part > 1)
		text = arena_printf(a, "%s, part %d", text, b->part);
	text = b->n == 1 ? arena_printf(a, "%s: %s", text, op)
			 : arena_printf(a, "%s\n%d operators", text, b->n);
	dot_vertex(to, "n", number,
		   arena_printf(a, "%s%s%s", text, *more ? "\n" : "", more),
		   arena_printf(a, "shape=%s%s", b->n == 1 ? "box" : "box3d",
				output ? ", peripheries=2" : ""));
}
