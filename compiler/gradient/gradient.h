/* The operators that compute an operator's gradients, derived from its tree.
 *
 * Of an operator f(x, ..) -> y and a parameter x with float elements it makes
 * the operator
 *
 *	f_grad_x(dy, x, ..) -> dx
 *
 * whose parameters are the derivatives of a scalar by the results, called as
 * the results with a d before, and those parameters of f, by their names, that
 * it needs; so are its attributes.  Intermediates that it needs are computed
 * again, which costs nothing in a graph that shares equal nodes.  A definition
 * "grad f x(..)" replaces the derived one.  The backward pass and verification
 * use them; tdlc shows their text (dsl_op_text()). */
#ifndef TDL_COMPILER_GRADIENT_GRADIENT_H
#define TDL_COMPILER_GRADIENT_GRADIENT_H

#include "dsl/dsl.h"

typedef struct gradient {
	const char *input;   /* the parameter x */
	const char *name;    /* of the operator, "f_grad_x" */
	/* The operator, built but not checked, or that of own, if there is;
	 * NULL where there is none, and then */
	const ast_op *op;
	const char *because; /* says why, as in "No f_grad_x: .." */
	bool zero; /* it is 0 wherever it is defined: none is needed; also
		      where a grad definition's body is just 0 */
	const ast_op *own;   /* the one that a grad definition gives; then
				nothing is derived */
	int nneeds; /* gradients of operators that f calls, which this one
		     * calls */
	struct gradient *needs;
	int nfiles; /* the files that define what the operator calls */
	const char **files;
	/* The origin of each parameter of op: a parameter of the operator, by
	 * its number, or ~r for the derivative by its result r; and the number
	 * of each attribute of op among those of the operator. */
	const int *params, *attrs;
} gradient;

/* The gradients of op, which has no errors and is none itself, by each of its
 * parameters, in that order.  Returns their number; *out is in arena a. */
int gradient_derive(arena *a, tdl_modules *m, const ast_op *op,
		    gradient **out);

/* The same by one parameter. */
gradient gradient_by(arena *a, tdl_modules *m, const ast_op *op, int input);

/* Adds the operator's tree to the set, and those of operators that it calls;
 * false where one has faults, or the set has another operator of its name. */
bool gradient_load(tdl_modules *m, const gradient *g);

#endif
