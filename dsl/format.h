/* The state of one run of the formatter, shared by the files dsl/format*.c
 * alone.  They turn a tree into a document (dsl/doc.h) and place the comments
 * of the source, which are not in the tree, by their offsets. */
#ifndef TDL_DSL_FORMAT_H
#define TDL_DSL_FORMAT_H

#include "dsl/doc.h"
#include "dsl/dsl.h"

typedef struct formatter {
	arena *arena;		  /* of the document */
	const ast_module *module; /* NULL for an expression alone */
	int next;		  /* comment */
} formatter;

enum { INDENT = 4, WIDTH = 80 };

/* ---- format_expr.c ------------------------------------------------------ */

doc *format_expr(formatter *f, const ast_expr *e);
doc *format_pack(formatter *f, const ast_pack *p);
/* Names and numbers between commas, broken where the line is full. */
doc *format_items(formatter *f, ast_expr *const *items, int n);

/* ---- what both add ------------------------------------------------------ */

void put(formatter *f, doc *seq, const char *text);
void put_quoted(formatter *f, doc *seq, const char *text);
/* Whether there are comments before an offset that have not been written yet;
 * writes them. */
bool comment_before(const formatter *f, uint32_t before);
void put_comments(formatter *f, doc *seq, uint32_t before);
/* A comma, the comments before the next item, and a place to break. */
void put_comma(formatter *f, doc *seq, uint32_t next);

#endif
