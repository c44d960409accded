/* Documentation in HTML, as one file that needs no other. */
#include "config.h"

#include "libtdl/doc_output.h"

#include <string.h>

static const char style[] =
	":root { color-scheme: light dark }\n"
	"body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto;\n"
	"  max-width: 60em; padding: 0 1em }\n"
	"code, pre { font: 14px/1.4 ui-monospace, monospace }\n"
	"pre, table { overflow-x: auto }\n"
	"pre { background: #8881; border-radius: 4px; padding: .7em 1em }\n"
	"table { border-collapse: collapse; display: block }\n"
	"th, td { border: 1px solid #8886; padding: .2em .6em;\n"
	"  text-align: left; white-space: nowrap }\n"
	"h2 { border-bottom: 1px solid #8886; margin-top: 2.5em }\n"
	"h3 { margin-top: 2em }\n";

/* ---- texts -------------------------------------------------------------- */

static void put_plain(FILE *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		switch (s[i]) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			fputc(s[i], to);
		}
}

static void put_code(FILE *to, const char *s, size_t n)
{
	fputs("<code>", to);
	put_plain(to, s, n);
	fputs("</code>", to);
}

static void put_words(FILE *to, const char *s)
{
	put_plain(to, s, strlen(s));
}

static void html_text(FILE *to, const char *text)
{
	const char *line;
	size_t n;
	bool open = false;
	while ((line = page_line(&text, &n))) {
		if (!n && open)
			fputs("</p>\n", to);
		else if (n)
			fputs(open ? "\n" : "<p>", to);
		open = n > 0;
		page_spans(to, line, n, put_plain, put_code);
	}
	if (open)
		fputs("</p>\n", to);
}

/* ---- blocks ------------------------------------------------------------- */

static void html_begin(FILE *to, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<title>", to);
	put_words(to, title);
	fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>",
		style);
	put_words(to, title);
	fputs("</h1>\n", to);
}

static void html_heading(FILE *to, int level, const char *words)
{
	fprintf(to, "<h%d id=\"", level);
	page_anchor(to, words);
	fputs("\">", to);
	put_words(to, words);
	fprintf(to, "</h%d>\n", level);
}

static void html_code(FILE *to, const char *text)
{
	fputs("<pre>", to);
	put_words(to, text);
	fputs("</pre>\n", to);
}

static void html_list(FILE *to, const text_lines *items)
{
	fputs("<ul>\n", to);
	for (int i = 0; i < items->n; i++) {
		fputs("<li>", to);
		page_spans(to, items->at[i], strlen(items->at[i]), put_plain,
			   put_code);
		fputs("</li>\n", to);
	}
	fputs("</ul>\n", to);
}

static void put_cell(FILE *to, const char *cell, const char *tag)
{
	fprintf(to, "<%s>", tag);
	if (page_is_code(cell))
		put_code(to, cell, strlen(cell));
	else
		put_words(to, cell);
	fprintf(to, "</%s>", tag);
}

static void html_table(FILE *to, const text_table *t)
{
	fputs("<table>\n", to);
	for (int row = 0; row < t->n; row += t->ncolumns) {
		fputs("<tr>", to);
		for (int i = 0; i < t->ncolumns; i++)
			put_cell(to, t->cells[row + i], row ? "td" : "th");
		fputs("</tr>\n", to);
	}
	fputs("</table>\n", to);
}

static void html_index(FILE *to, const page_index *index)
{
	fputs("<ul>\n", to);
	for (int i = 0; i < index->n; i++) {
		const page_entry *e = &index->at[i];
		fputs("<li>", to);
		put_words(to, e->label);
		for (int j = 0; j < e->words.n; j++) {
			fputs(j ? ", <a href=\"#" : ": <a href=\"#", to);
			page_anchor(to, e->words.at[j]);
			fputs("\">", to);
			put_words(to, e->words.at[j]);
			fputs("</a>", to);
		}
		fputs("</li>\n", to);
	}
	fputs("</ul>\n", to);
}

static void html_end(FILE *to)
{
	fputs("</body>\n</html>\n", to);
}

const page_format page_html = {
	html_begin, html_heading, html_text,  html_code,
	html_list,  html_table,	  html_index, html_end,
};
