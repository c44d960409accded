/* Derives, from an operator's tree, the operators that compute its gradients.
 *
 * For an operator f(x, ..) -> y and a parameter x with float elements it makes
 * the operator
 *
 *	f_grad_x(dy, x, ..) -> dx
 *
 * Its parameters are the derivatives of a scalar by the results, named as the
 * results with a d in front, and those parameters of f that it needs, under
 * their own names; its attributes are those it needs.  Intermediates that it
 * needs are computed again, which costs nothing in a graph that shares equal
 * nodes.  A definition "grad f x(..)" replaces the derived operator.  The
 * backward pass and verification use them; tdlc shows their text
 * (dsl_op_text()). */
#ifndef TDL_COMPILER_GRADIENT_GRADIENT_H
#define TDL_COMPILER_GRADIENT_GRADIENT_H

#include "dsl/dsl.h"

typedef struct gradient {
	const char *input;   /* the parameter x */
	const char *name;    /* of the operator, "f_grad_x" */
	/* The operator, built but not checked; that of own if there is one;
	 * NULL if there is none. */
	const ast_op *op;
	/* if op is NULL, the reason, as in "No f_grad_x: .." */
	const char *because;
	/* it is 0 wherever it is defined, so that no operator is needed; also
	 * if a grad definition's body is just 0 */
	bool zero;
	/* the operator of a grad definition; nothing is derived then */
	const ast_op *own;
	/* gradients of operators that f calls and that this operator calls */
	int nneeds;
	struct gradient *needs;
	int nfiles; /* files that define operators called by op */
	const char **files;
	/* The origin of each parameter of op: the number of a parameter of the
	 * operator, or ~r for the derivative by its result r.  The origin of
	 * each attribute of op: its number among the operator's. */
	const int *params, *attrs;
} gradient;

/* Derives the gradients of op by each of its parameters, in order. op has no
 * errors and is not a gradient itself.  Returns their number; *out is in arena
 * a. */
int gradient_derive(arena *a, tdl_modules *m, const ast_op *op,
		    gradient **out);

/* The same by one parameter. */
gradient gradient_by(arena *a, tdl_modules *m, const ast_op *op, int input);

/* Adds the operator to the set, and those gradients that it calls.  Returns
 * false if one has faults, or the set has another operator of the same name. */
bool gradient_load(tdl_modules *m, const gradient *g);

#endif
