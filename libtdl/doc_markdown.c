/* Documentation in Markdown: CommonMark with the tables of GitHub's dialect. */
#include "config.h"

#include "libtdl/doc_output.h"

#include <ctype.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------- */

/* Whether s[i] would be markup.  The rules are those of CommonMark, limited to
 * what a plain line can contain. */
static bool is_mark(const char *s, size_t n, size_t i)
{
	char before = i ? s[i - 1] : ' ', after = i + 1 < n ? s[i + 1] : ' ';
	bool word = isalnum((unsigned char)before) &&
		    isalnum((unsigned char)after);
	switch (s[i]) {
	case '`':
	case '|':
		return true;
	case '\\':
		return ispunct((unsigned char)after);
	case '*':
		return before != ' ' || after != ' ';
	case '_':
		return !word;
	case '~':
		return before == '~' || after == '~';
	case ']':
		return after == '(' || after == '[' || after == ':';
	case '<':
		return isalpha((unsigned char)after) || strchr("/!?", after);
	case '&':
		return isalnum((unsigned char)after) || after == '#';
	case '!':
		return after == '[';
	}
	return false;
}

static void put_plain(FILE *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_mark(s, n, i))
			fputc('\\', to);
		fputc(s[i], to);
	}
}

/* Writes code.  Between backquotes nothing is markup. */
static void put_code(FILE *to, const char *s, size_t n)
{
	fprintf(to, "`%.*s`", (int)n, s);
}

/* Writes a line and escapes a beginning that would start a heading, a list, a
 * quotation .. */
static void put_line(FILE *to, const char *line, size_t n)
{
	size_t digits = 0;
	while (digits < n && isdigit((unsigned char)line[digits]))
		digits++;
	if (strchr("#+->=~", *line)) {
		fputc('\\', to);
	} else if (digits && digits < n && strchr(".)", line[digits])) {
		fprintf(to, "%.*s\\", (int)digits, line);
		line += digits;
		n -= digits;
	}
	page_spans(to, line, n, put_plain, put_code);
	fputc('\n', to);
}

static void markdown_text(FILE *to, const char *text)
{
	const char *line;
	size_t n;
	bool gap = false;
	while ((line = page_line(&text, &n))) {
		if (n && gap)
			fputc('\n', to);
		if (n)
			put_line(to, line, n);
		gap = !n;
	}
	fputc('\n', to);
}

/* ---- blocks ------------------------------------------------------------- */

static void markdown_begin(FILE *to, const char *title)
{
	fprintf(to, "# %s\n\n", title);
}

static void markdown_heading(FILE *to, int level, const char *words)
{
	fprintf(to, "%.*s ", level, "######");
	put_plain(to, words, strlen(words));
	fputs("\n\n", to);
}

static void markdown_code(FILE *to, const char *text)
{
	size_t n = strlen(text);
	fprintf(to, "```tdl\n%s%s```\n\n", text,
		n && text[n - 1] == '\n' ? "" : "\n");
}

static void markdown_list(FILE *to, const text_lines *items)
{
	for (int i = 0; i < items->n; i++) {
		fputs("- ", to);
		page_spans(to, items->at[i], strlen(items->at[i]), put_plain,
			   put_code);
		fputc('\n', to);
	}
	fputc('\n', to);
}

/* Writes a cell.  A bar is escaped even in code. */
static void put_cell(FILE *to, const char *cell)
{
	if (!page_is_code(cell)) {
		put_plain(to, cell, strlen(cell));
		return;
	}
	fputc('`', to);
	for (; *cell; cell++) {
		if (*cell == '|')
			fputc('\\', to);
		fputc(*cell, to);
	}
	fputc('`', to);
}

static void put_row(FILE *to, const text_table *t, int row)
{
	for (int i = 0; i < t->ncolumns; i++) {
		fputs(i ? " | " : "| ", to);
		put_cell(to, t->cells[row + i]);
	}
	fputs(" |\n", to);
}

static void markdown_table(FILE *to, const text_table *t)
{
	for (int row = 0; row < t->n; row += t->ncolumns) {
		put_row(to, t, row);
		for (int i = 0; i < t->ncolumns && row == 0; i++)
			fputs(i < t->ncolumns - 1 ? "|---" : "|---|\n", to);
	}
	fputc('\n', to);
}

static void markdown_index(FILE *to, const page_index *index)
{
	for (int i = 0; i < index->n; i++) {
		const page_entry *e = &index->at[i];
		fputs("- ", to);
		put_plain(to, e->label, strlen(e->label));
		for (int j = 0; j < e->words.n; j++) {
			fputs(j ? ", [" : ": [", to);
			put_plain(to, e->words.at[j], strlen(e->words.at[j]));
			fputs("](#", to);
			page_anchor(to, e->words.at[j]);
			fputc(')', to);
		}
		fputc('\n', to);
	}
	fputc('\n', to);
}

static void markdown_end(FILE *to)
{
	(void)to;
}

const page_format page_markdown = {
	markdown_begin, markdown_heading, markdown_text, markdown_code,
	markdown_list,	markdown_table,	  markdown_index, markdown_end,
};
