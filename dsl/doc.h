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
/* A blank, or a line end. */
extern const doc doc_line;
/* A line end always; doc_blank: with an empty line before what follows. */
extern const doc doc_hard, doc_blank;
/* A comment: it ends its line, and begins one if it did in the source. */
doc *doc_comment(arena *a, const char *s, int n, int own_line);

/* A sequence, empty at first. */
doc *doc_seq(arena *a);
void doc_add(arena *a, doc *seq, const doc *d);

doc *doc_group(arena *a, doc *d);
/* Lines broken inside are indented by n more columns. */
doc *doc_nest(arena *a, int n, doc *d);
/* The same, up to the column where d begins. */
doc *doc_align(arena *a, doc *d);

/* Documents are set one after the other, in lines of at most width columns
 * where that is possible; each may be freed when it is set. */
typedef struct layout layout;
layout *layout_new(arena *a, int width);
void layout_add(layout *l, const doc *d);
/* The text so far, zero-terminated, its last line ended. */
const char *layout_text(layout *l);

#endif
