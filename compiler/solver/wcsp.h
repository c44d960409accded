/* Reads strategy problems in the WCSP text format of toulbar2:
 *
 *	name variables largest-domain functions top
 *	size of each variable's domain
 *	arity variables.. default-cost tuples	for each function
 *	value.. cost				for each of its tuples
 *
 * Functions have at most two variables and list their costs.  A function that
 * begins with a negative arity may be reused: -n in place of the number of
 * tuples refers to the n-th of these.  Costs of top or more all mean that an
 * assignment is not wanted. */
#ifndef TDL_COMPILER_SOLVER_WCSP_H
#define TDL_COMPILER_SOLVER_WCSP_H

#include "base/diag.h"
#include "compiler/solver/problem.h"

/* The problem in a file, in a; NULL, with an error in s, if it is malformed. */
problem *wcsp_read(arena *a, diag_sink *s, const char *path);

/* The same for text[0..len), which a zero byte ends. */
problem *wcsp_parse(arena *a, diag_sink *s, const char *path,
		    const char *text, size_t len);

#endif
