/* Documents with optional line breaks, after Wadler, "A prettier printer"
 * (2003).  A group is set on one line if it fits; otherwise the breaks directly
 * in the group, not those of inner groups, become line ends. */
#ifndef TDL_DSL_DOC_H
#define TDL_DSL_DOC_H

#include <stddef.h>

#include "base/arena.h"

typedef struct doc doc;

/* Text without line ends, not copied; n < 0: zero-terminated. */
doc *doc_text(arena *a, const char *s, int n);
/* A blank, or a line end. */
extern const doc doc_line;
/* Always a line end; doc_blank: followed by an empty line. */
extern const doc doc_hard, doc_blank;
/* A comment.  It ends its line; with own_line it also begins one. */
doc *doc_comment(arena *a, const char *s, int n, int own_line);

/* A sequence, empty at first. */
doc *doc_seq(arena *a);
void doc_add(arena *a, doc *seq, const doc *d);

doc *doc_group(arena *a, doc *d);
/* Indents the lines broken inside d by n more columns. */
doc *doc_nest(arena *a, int n, doc *d);
/* Indents them to the column at which d begins. */
doc *doc_align(arena *a, doc *d);

/* Sets documents one after the other, in lines of at most width columns where
 * possible.  A document may be freed once it is set. */
typedef struct layout layout;
layout *layout_new(arena *a, int width);
void layout_add(layout *l, const doc *d);
/* The text so far, zero-terminated, its last line ended. */
const char *layout_text(layout *l);

#endif
