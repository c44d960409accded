#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/vec.h"

enum {
	WIDEST_COLUMN = 24, /* a wider cell only shifts its own row */
	LEAST_WRAPPED = 30, /* least columns for wrapped text */
	CONTINUED = 4,      /* indent of continuation lines */
};

/* ---- paragraphs --------------------------------------------------------- */

static int width_of(const char *s, size_t nbytes)
{
	int n = 0;
	for (size_t i = 0; i < nbytes; i++)
		n += (s[i] & 0xc0) != 0x80;
	return n;
}

int text_width(const char *s)
{
	return width_of(s, strlen(s));
}

void text_wrap(FILE *to, const char *text, int at, int indent)
{
	int gap = 0;	    /* blanks before the next word */
	bool begun = false; /* the line has a word */
	for (;;) {
		size_t blanks = strspn(text, " ");
		const char *word = text + blanks;
		size_t n = strcspn(word, " \n");
		int width = width_of(word, n);
		if (begun)
			gap = (int)blanks;
		if (begun && n > 0 && at + gap + width > TEXT_COLUMNS) {
			fputc('\n', to);
			at = 0;
			gap = indent;
		}
		if (n > 0)
			fprintf(to, "%*s%.*s", gap, "", (int)n, word);
		at += gap + width;
		begun = begun || n > 0;
		text = word + n;
		if (!*text)
			break;
		if (*text == '\n') {
			text++;
			fputc('\n', to);
			at = 0;
			gap = indent;
			begun = false;
		}
	}
	fputc('\n', to);
}

void text_indented(FILE *to, const char *text, int indent)
{
	fprintf(to, "%*s", indent, "");
	text_wrap(to, text, indent, indent);
}

/* ---- tables ------------------------------------------------------------- */

text_table table_new(arena *a, int ncolumns)
{
	return (text_table){ .arena = a, .ncolumns = ncolumns };
}

void table_add(text_table *t, const char *cell)
{
	if (t->n == t->cap)
		t->cells = vec_grow(t->arena, t->cells, &t->cap,
				    sizeof(*t->cells));
	t->cells[t->n++] = cell;
}

/* The column at which each cell begins, and at last the column at which the
 * last one ends plus 2.  Cells wider than `widest' do not count. */
static int *column_starts(const text_table *t, int indent, int widest)
{
	int *starts = ARENA_ARRAY(t->arena, int, t->ncolumns + 1);
	starts[0] = indent;
	for (int c = 0; c < t->ncolumns; c++) {
		int most = 0;
		for (int i = c; i < t->n; i += t->ncolumns) {
			int width = text_width(t->cells[i]);
			if (width > most && width <= widest)
				most = width;
		}
		starts[c + 1] = starts[c] + most + 2;
	}
	return starts;
}

/* The columns of a table if it fits; otherwise NULL. */
static int *fitting_starts(const text_table *t, int indent)
{
	int *starts = column_starts(t, indent, INT_MAX);
	return starts[t->ncolumns] - 2 <= TEXT_COLUMNS ? starts : NULL;
}

static void print_row(const char *const *cells, int n, const int *starts,
		      FILE *to)
{
	int col = 0, last = n - 1;
	bool continued = false;
	while (last > 0 && !*cells[last])
		last--;
	for (int i = 0; i <= last; i++) {
		bool shifted = continued || (i > 0 && col + 2 > starts[i]);
		int at = shifted ? col + 2 : starts[i];
		int width = text_width(cells[i]);
		bool wraps = i == last && TEXT_COLUMNS - at >= LEAST_WRAPPED;
		if (i > 0 && at + width > TEXT_COLUMNS && !wraps) {
			fputc('\n', to);
			col = 0;
			at = starts[0] + CONTINUED;
			continued = true;
		}
		fprintf(to, "%*s", at - col, "");
		if (i == last)
			text_wrap(to, cells[i], at, at);
		else
			fputs(cells[i], to);
		col = at + width;
	}
}

static void print_rows(const text_table *t, const int *starts, FILE *to)
{
	for (int row = 0; row < t->n; row += t->ncolumns)
		print_row(t->cells + row, t->ncolumns, starts, to);
}

void table_print(const text_table *t, FILE *to, int indent)
{
	const int *starts = fitting_starts(t, indent);
	if (!starts)
		starts = column_starts(t, indent, WIDEST_COLUMN);
	print_rows(t, starts, to);
}

/* Prints each row after the first as a paragraph.  The first row has the names
 * of the columns. */
static void print_paragraphs(const text_table *t, FILE *to, int indent,
			     int own)
{
	int width = 0;
	for (int i = own; i < t->ncolumns; i++)
		if (text_width(t->cells[i]) > width)
			width = text_width(t->cells[i]);
	for (int row = t->ncolumns; row < t->n; row += t->ncolumns) {
		const char *head = "";
		for (int i = 0; i < own; i++)
			head = arena_printf(t->arena, "%s%s%s", head,
					    i ? ", " : "", t->cells[row + i]);
		fprintf(to, "%*s", indent, "");
		text_wrap(to, head, indent, indent + CONTINUED);
		for (int i = own; i < t->ncolumns; i++) {
			int at = indent + CONTINUED + width + 2;
			fprintf(to, "%*s%-*s", indent + CONTINUED, "",
				width + 2, t->cells[i]);
			text_wrap(to, t->cells[row + i], at, at);
		}
	}
}

void table_print_fitted(const text_table *t, FILE *to, int indent, int own)
{
	const int *starts = fitting_starts(t, indent);
	if (starts)
		print_rows(t, starts, to);
	else
		print_paragraphs(t, to, indent, own);
}
