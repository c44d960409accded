/* Verification of an operator's strategies and gradients: it is run whole, by
 * the interpreter, and cut along each strategy, on many small shapes.  tdlc
 * verify reports the findings.
 *
 * The whole is compared with a reference that evaluates the operator's text
 * (compiler/verify/reference/): equal for integers, within the bound that the
 * reference derives for floats.
 *
 * A part is given nothing but its regions: all else of its inputs is poisoned.
 * The parts' results, put together as the strategy says, are the whole one's
 * bit for bit where nothing was reduced in parts; else within u * (8 + 2 log2
 * n) * sum |terms| of it (n terms, u the unit round-off of the result's type;
 * for Prod the sum is the result itself), and equal for reducers that do not
 * round.  Elements do not count where a part of a sum or product is infinite,
 * or where the result is and a derived variable is divided.
 *
 * The regions are compared with the reads that are made, found by walking all
 * points; the descriptor, which is made before shapes are known, with the
 * analysis of the shapes at hand.  Cuts that are not offered are tried, too,
 * and sums of floats that are not said to pass.
 *
 * Partial values that pass a stage are tried by the interpreter; those that
 * pass from parameters to results by the reference. */
#ifndef TDL_COMPILER_VERIFY_VERIFY_H
#define TDL_COMPILER_VERIFY_VERIFY_H

#include "compiler/expand/expand.h"

typedef struct verify_options {
	uint64_t seed; /* the same numbers give the same result */
	int trials;    /* shapes to try of each operator */
	bool gradients; /* check those that are derived, too */
} verify_options;

typedef enum verify_kind {
	VERIFY_WRONG,  /* the whole is not what the definition says, the parts
			  do not give the whole, a read is outside its region,
			  or the descriptor says something else */
	VERIFY_MISSED, /* what was not offered works */
	VERIFY_WIDE,   /* a region is larger than the box of the indices that
			  are read, for no reason that is known */
	VERIFY_KINDS
} verify_kind;

/* A finding on one stage, variable or input, with the first example. */
typedef struct verify_finding {
	verify_kind kind;
	const char *stage;    /* "" for the result's own */
	const char *about;    /* a variable, or an input; "d" out of a pack */
	const char *what;     /* a sentence without its full stop */
	const char *example;  /* "--shape x=3x4 -D axis=1 -k 2" */
	int times;
} verify_finding;

typedef struct verify_result {
	const char *name;
	int shapes;	  /* that were tried, of which something is computed */
	int strategies;	  /* stages' variables that were divided */
	int whole;	  /* those that are not offered, for a reason */
	int partials;	  /* sets of inputs that partial values pass, by
			     reducer */
	int64_t passed;	  /* elements that were compared with the reference's
			     of parts */
	int symbolic;	  /* shapes on which the descriptor was compared */
	int defined;	  /* shapes on which the reference was compared */
	int64_t elements; /* of results, that were compared with it */
	int64_t doubtful; /* elements, of them, whose right value rounding
			     leaves open */
	bool open;	  /* the descriptor follows only from shapes */
	int gradients;	  /* that were derived, where these are checked */
	int unchecked;	  /* of them, compared with no slope */
	int64_t slopes;	  /* of elements, that they were compared with */
	int64_t infinite; /* elements of theirs that are infinite or NaN where
			     the operator has a slope and its results are
			     finite; they are not judged */
	int64_t rounded;  /* of elements, in shorter floats beside f64 */
	int64_t parts;	  /* that were run */
	int64_t regions;  /* that were compared */
	int64_t loose;	  /* regions, of them, larger than the reads: by data,
			     by guards and strides */
	int nfindings;
	verify_finding *findings;
} verify_result;

/* Verifies an operator without errors.  shapes is 0 where none that suits it
 * was found.  With gradients, the operators that compute them are added to
 * m. */
verify_result verify_op(arena *a, tdl_modules *m, const ast_op *op,
			const verify_options *options);

#endif
