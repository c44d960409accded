/* The semantics of a checked operator, written a second time: directly from the
 * syntax tree, each element by its definition.
 *
 * It checks expansion, simplification, the interpreter and generated code, and
 * shares nothing with them.  It uses only the tree (dsl/) and its own numbers
 * (number.h).  Nothing is merged, moved or rewritten.  A reduction is evaluated
 * where it is written, each time it is reached.  Only the tensors of a `let'
 * are kept, element by element, with an error for those that use it.  So the
 * reference is slow, and only for small shapes. */
#ifndef TDL_COMPILER_VERIFY_REFERENCE_REFERENCE_H
#define TDL_COMPILER_VERIFY_REFERENCE_REFERENCE_H

#include "compiler/verify/reference/number.h"
#include "dsl/dsl.h"

enum { REF_MAX_NDIM = 12, REF_MAX_VARS = 64 };

/* A tensor, with its elements in row-major order. */
typedef struct ref_tensor {
	dtype type;
	int ndim;
	int64_t dims[REF_MAX_NDIM];
	ref_number *at;
} ref_tensor;

/* The value of an attribute: n values of a list, or one.  Integers, bools, axes
 * and element types are in ints. */
typedef struct ref_attr {
	attr_type type;
	bool is_list;
	int n;
	const int64_t *ints;
	const double *floats;
	const char *const *strings;
} ref_attr;

typedef enum ref_status {
	REF_DONE,
	REF_OUTSIDE,  /* an unguarded read is outside its tensor */
	REF_TOO_LONG, /* more steps than allowed */
	REF_REFUSED,  /* the operator cannot be evaluated; why has the reason */
} ref_status;

/* Stands in for an opaque function.  Fills result, whose type and dimensions
 * are set, from slices of tensors. */
typedef void (*ref_opaque)(const ast_opaque *f, int nslices,
			   const ref_tensor *slices, ref_tensor *result);

typedef struct ref_outcome {
	ref_status status;
	const char *why; /* for REF_REFUSED */
	range at;	 /* for REF_OUTSIDE and REF_REFUSED */
	/* A condition or index was in doubt, so that another outcome, even an
	 * error, may also be correct. */
	bool doubtful;
	bool infinite; /* an intermediate value was infinite */
	int nresults;
	ref_tensor *results; /* for REF_DONE, in arena a */
} ref_outcome;

/* Evaluates op, which the checker accepted.  Shapes of the parameters and
 * attributes have to suit it.  attrs[i] is NULL for a default.  steps limits
 * the number of evaluated expressions. */
ref_outcome reference_run(arena *a, const tdl_modules *m, const ast_op *op,
			  const ref_tensor *params,
			  const ref_attr *const *attrs, ref_opaque opaque,
			  int64_t steps);

/* The number of elements. */
int64_t ref_count(const ref_tensor *t);

#endif
