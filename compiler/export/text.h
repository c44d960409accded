/* Helpers shared by the targets' texts. */
#ifndef TDL_COMPILER_EXPORT_TEXT_H
#define TDL_COMPILER_EXPORT_TEXT_H

#include "compiler/export/rule.h"

/* s followed by formatted text, in a. */
char *text_append(arena *a, const char *s, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The operator with its shapes, and the rule's notes, as comment lines that
 * begin with mark. */
char *text_head(arena *a, const rule *r, const char *mark);

/* Prints a dimension of a tensor as the target writes it. */
typedef const char *dim_text(arena *a, const rule *r, const rule_dim *d,
			     void *more);

/* The tensors, each in `open' and `close', with between_dims between
 * dimensions. */
char *text_tensors(arena *a, const rule *r, const rule_tensor *t, int n,
		   const char *between_dims, const char *open,
		   const char *close, dim_text *dim, void *more);

#endif
