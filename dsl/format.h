/* The state of one run of the formatter, shared by the files dsl/format*.c
 * alone.  They turn a tree into a document (dsl/doc.h).  Comments are not in
 * the tree; the formatter places them by their offsets in the source. */
#ifndef TDL_DSL_FORMAT_H
#define TDL_DSL_FORMAT_H

#include "dsl/doc.h"
#include "dsl/dsl.h"

typedef struct formatter {
	arena *arena;		  /* owns the document */
	const ast_module *module; /* NULL for a lone expression */
	int next;		  /* index of the next comment */
} formatter;

enum { INDENT = 4, WIDTH = 80 };

/* ---- format_expr.c ------------------------------------------------------ */

doc *format_expr(formatter *f, const ast_expr *e);
doc *format_pack(formatter *f, const ast_pack *p);
/* Items between commas, broken where the line is full. */
doc *format_items(formatter *f, ast_expr *const *items, int n);

/* ---- format_signature.c ------------------------------------------------- */

/* ": int[2]?" */
void put_type(formatter *f, doc *seq, const char *name, bool is_list,
	      int length, bool optional);
/* A parameter or result of an operator; an input of an onnx entry. */
void put_tensor(formatter *f, doc *seq, const ast_tensor *t);
void put_input(formatter *f, doc *seq, const ast_tensor *t);
/* (x[N], y[N]; a: int = 1); attributes go on a line of their own if one line is
 * too short for all.  `one' adds a parameter. */
doc *format_signature(formatter *f, const ast_tensor *params, int nparams,
		      void (*one)(formatter *, doc *, const ast_tensor *),
		      const ast_attr *attr, int nattrs);
doc *format_results(formatter *f, const ast_tensor *r, int n);

/* ---- format_stmt.c ------------------------------------------------------ */

/* { .. }.  With may_join one simple statement may stay on the line. */
doc *format_block(formatter *f, ast_stmt *const *body, int n, range at,
		  bool may_join);

/* ---- format.c: text and comments ----------------------------------------- */

void put(formatter *f, doc *seq, const char *text);
void put_quoted(formatter *f, doc *seq, const char *text);
/* Whether there are unwritten comments before an offset; writes them. */
bool comment_before(const formatter *f, uint32_t before);
void put_comments(formatter *f, doc *seq, uint32_t before);
/* A comma, the comments before the next item, and a place to break. */
void put_comma(formatter *f, doc *seq, uint32_t next);
/* Called after the construct that ended at `end': adds a comment that follows
 * on its line, and keeps one empty line. */
void put_end(formatter *f, doc *seq, uint32_t end);
/* The text of the source from an offset on. */
const char *source_at(const formatter *f, uint32_t at);

#endif
