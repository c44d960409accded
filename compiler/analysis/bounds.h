/* The check that every read of an operator is inside its tensor for all sizes,
 * or guarded (diagnostic read-outside).
 *
 * A read that depends on attributes and cannot be decided is left to
 * compiler/expand, which checks again when they are known. */
#ifndef TDL_COMPILER_ANALYSIS_BOUNDS_H
#define TDL_COMPILER_ANALYSIS_BOUNDS_H

#include "compiler/analysis/symbolic.h"

/* Checks the operators of m that passed the front end.  Returns false after
 * adding errors. */
bool analysis_check(const tdl_modules *m, diag_sink *sink);

/* The same for one operator; effort bounds the work, see poly_space. */
bool analysis_check_op(const tdl_modules *m, diag_sink *sink, const ast_op *op,
		       int64_t *effort);

/* The side on which an index leaves its tensor. */
typedef enum bounds_end {
	BOUNDS_INSIDE,
	BOUNDS_BELOW,
	BOUNDS_ABOVE,
} bounds_end;

typedef struct bounds_verdict {
	bounds_end end;	   /* the side on which it may leave the tensor */
	bool known;	   /* some sizes are known for which it is outside */
	bool deferred;	   /* it depends on attributes */
	const int64_t *at; /* by atom: these sizes, if known */
} bounds_verdict;

/* Whether index d of a read is inside its tensor for all sizes.  In a. */
bounds_verdict bounds_of(arena *a, const sym_op *op, const sym_stage *s,
			 const sym_read *r, int d);

#endif
