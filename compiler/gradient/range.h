/* Facts that hold for all values of variables within their extents: proofs of
 * comparisons, and simplifications that need them.  Used when derivatives are
 * written down. */
#ifndef TDL_COMPILER_GRADIENT_RANGE_H
#define TDL_COMPILER_GRADIENT_RANGE_H

#include "compiler/gradient/stage.h"

typedef struct grad_facts {
	grad_op *g;
	VEC(ast_var) vars; /* each from 0 to its extent; sizes are natural */
} grad_facts;

/* Whether the comparison x op y is known to hold. */
bool grad_is_proven(const grad_facts *f, ast_operator op, ast_expr *x,
		    ast_expr *y);

/* Simplifies e: (m * q + r) / m becomes q, and its remainder r, if 0 <= r <
 * m. */
ast_expr *grad_divided(const grad_facts *f, ast_expr *e);

/* Removes the parts of a condition that always hold; NULL if none remain. */
ast_expr *grad_without_proven(const grad_facts *f, ast_expr *e);

#endif
