/* Text with places where it may be broken: a document in the sense of Wadler,
 * "A prettier printer" (2003).  A group is set on one line where it fits,
 * else its own lines (not those of groups inside) are broken. */
#ifndef TDL_DSL_DOC_H
#define TDL_DSL_DOC_H

#include <stddef.h>

#include "base/arena.h"

typedef struct doc doc;

/* Text without line ends; n < 0: zero-terminated. Not copied. */
doc *doc_text(arena *a, const char *s, int n);
/* A blank, or nothing, or a line end. */
doc *doc_line(arena *a);
doc *doc_soft(arena *a);
/* A line end always; blank: with an empty line before what follows. */
doc *doc_hard(arena *a);
doc *doc_blank(arena *a);
/* A comment: it ends its line, and begins one if it did in the source. */
doc *doc_comment(arena *a, const char *s, int n, int own_line);

/* A sequence, empty at first. */
doc *doc_seq(arena *a);
void doc_add(arena *a, doc *seq, doc *d);

doc *doc_group(arena *a, doc *d);
/* Lines broken inside are indented by n more columns. */
doc *doc_nest(arena *a, int n, doc *d);
/* The same, up to the column where d begins. */
doc *doc_align(arena *a, doc *d);

/* The text, in lines of at most width columns where that is possible,
 * zero-terminated. */
char *doc_layout(arena *a, const doc *d, int width);

#endif
