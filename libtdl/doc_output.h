/* A page of text in one of several formats.
 *
 * Texts are plain: words between backquotes are code; no other mark has a
 * meaning in a format. */
#ifndef TDL_LIBTDL_DOC_OUTPUT_H
#define TDL_LIBTDL_DOC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "libtdl/describe.h"

/* A line of an index: a label, and the headings to which it leads. */
typedef struct page_entry {
	const char *label;
	text_lines words;
} page_entry;

typedef VEC(page_entry) page_index;

typedef struct page_format {
	void (*begin)(FILE *to, const char *title);
	/* Level 2 is below the title. */
	void (*heading)(FILE *to, int level, const char *words);
	/* Paragraphs are separated by an empty line. */
	void (*text)(FILE *to, const char *text);
	/* TDL. */
	void (*code)(FILE *to, const char *text);
	void (*list)(FILE *to, const text_lines *items);
	/* The first row is the heading. */
	void (*table)(FILE *to, const text_table *t);
	void (*index)(FILE *to, const page_index *index);
	void (*end)(FILE *to);
} page_format;

extern const page_format page_markdown, page_html;

/* ---- for the formats ---------------------------------------------------- */

/* Writes n bytes of a text, escaped for the format. */
typedef void (*page_put)(FILE *to, const char *s, size_t n);

/* Writes a line: the parts between backquotes, without these, by `code', the
 * others by `plain'. */
void page_spans(FILE *to, const char *line, size_t n, page_put plain,
		page_put code);

/* The next line of *text without surrounding blanks, *n bytes; NULL after the
 * last. */
const char *page_line(const char **text, size_t *n);

/* Whether a table's cell should be set as code: it has marks that do not occur
 * in prose. */
bool page_is_code(const char *cell);

/* Writes the target of a link to a heading: its words in lower case, '-' for
 * blanks, without other marks, as git hosts form it. */
void page_anchor(FILE *to, const char *words);

#endif
