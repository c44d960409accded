/* Verification of an operator's strategies and gradients: the interpreter runs
 * it whole, and cut along each strategy, on many small shapes. tdlc verify
 * reports the findings.
 *
 * The whole result is compared with a reference that evaluates the operator's
 * text (compiler/verify/reference/): equal for integers, within the bound that
 * the reference derives for floats.
 *
 * A part is given only its regions; everything else of its inputs is poisoned.
 * The parts' results, put together as the strategy says, equal the whole result
 * bit for bit if nothing was reduced in parts.  Otherwise they are within u *
 * (8 + 2 log2 n) * sum |terms| of it (n terms, u the unit round-off of the
 * result's type; for Prod the sum is the result itself), and equal for reducers
 * that do not round.  Elements are ignored if a part of a sum or product is
 * infinite, or if the result is infinite and a derived variable is divided.
 *
 * The regions are compared with the reads actually made, found by visiting all
 * points; the descriptor, which is made before shapes are known, with the
 * analysis for the shapes at hand.  Cuts that are not offered are tried too, as
 * are sums of floats that are not said to pass.
 *
 * Partial values that pass a stage are tried by the interpreter; those that
 * pass from parameters to results, by the reference. */
#ifndef TDL_COMPILER_VERIFY_VERIFY_H
#define TDL_COMPILER_VERIFY_VERIFY_H

#include "compiler/expand/expand.h"

typedef struct verify_options {
	uint64_t seed; /* equal seeds give equal results */
	int trials;    /* shapes to try per operator */
	bool gradients; /* check derived gradients too */
} verify_options;

typedef enum verify_kind {
	/* the whole differs from the definition, the parts do not give the
	 * whole, a read is outside of its region, or the descriptor says
	 * otherwise */
	VERIFY_WRONG,
	VERIFY_MISSED, /* something that was not offered works */
	/* a region is larger than the box of the indices read, for no known
	 * reason */
	VERIFY_WIDE,
	VERIFY_KINDS
} verify_kind;

/* A finding about one stage, variable or input, with the first example. */
typedef struct verify_finding {
	verify_kind kind;
	const char *stage;    /* "" for the result's own */
	/* a variable, or an input; "d" for one of a pack */
	const char *about;
	const char *what;     /* a sentence without its full stop */
	const char *example;  /* "--shape x=3x4 -D axis=1 -k 2" */
	int times;
} verify_finding;

typedef struct verify_result {
	const char *name;
	int shapes;	  /* tried, with something to compute */
	int strategies;	  /* stages' variables divided */
	int whole;	  /* .. not offered, for a reason */
	/* sets of inputs through which partial values pass, by reducer */
	int partials;
	int64_t passed;	  /* elements of parts compared with the reference's */
	int symbolic;	  /* shapes on which the descriptor was compared */
	int defined;	  /* shapes on which the reference was compared */
	int64_t elements; /* of results, compared with it */
	int64_t doubtful; /* .. whose right value rounding leaves open */
	bool open;	  /* the descriptor depends on shapes */
	int gradients;	  /* derived, if they are checked */
	int unchecked;	  /* .. compared with no slope */
	int64_t slopes;	  /* of elements, compared with */
	/* elements of gradients that are infinite or NaN although the operator
	 * has a slope and finite results; they are not judged */
	int64_t infinite;
	int64_t rounded;  /* elements compared in shorter floats with f64 */
	int64_t parts;	  /* parts run */
	int64_t regions;  /* regions compared */
	/* .. larger than the reads: because of data, guards and strides */
	int64_t loose;
	int nfindings;
	verify_finding *findings;
} verify_result;

/* Verifies an operator without errors. shapes is 0 if none that suits it was
 * found.  With gradients, the operators that compute them are added to m. */
verify_result verify_op(arena *a, tdl_modules *m, const ast_op *op,
			const verify_options *options);

#endif
