/* The semantics of a checked operator, written down once more: straight from
 * the syntax tree, every element by its definition.
 *
 * It judges expansion, simplification, the interpreter and generated code, and
 * shares nothing with them: it knows the tree (dsl/) and numbers of its own
 * (number.h).  Nothing is merged, moved or rewritten; a reduction is evaluated
 * wherever it stands, as often as it is reached; only the tensors of a `let`
 * are kept, element by element, and a fault in one for those who use it.  So it
 * is slow, and for small shapes only.
 */
#ifndef TDL_COMPILER_VERIFY_REFERENCE_REFERENCE_H
#define TDL_COMPILER_VERIFY_REFERENCE_REFERENCE_H

#include "compiler/verify/reference/number.h"
#include "dsl/dsl.h"

enum { REF_MAX_NDIM = 12, REF_MAX_VARS = 64 };

/* Elements in row-major order. */
typedef struct ref_tensor {
	dtype type;
	int ndim;
	int64_t dims[REF_MAX_NDIM];
	ref_number *at;
} ref_tensor;

/* The value of an attribute, n of a list, else 1: integers, bools, axes and
 * element types are in ints. */
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
	REF_OUTSIDE,  /* a read without a guard leaves its tensor */
	REF_TOO_LONG, /* it takes more steps than allowed */
	REF_REFUSED,  /* the operator cannot be evaluated; .why is the reason */
} ref_status;

/* Stands for an opaque function: fills result, whose type and dimensions are
 * set, for slices of tensors. */
typedef void (*ref_opaque)(const ast_opaque *f, int nslices,
			   const ref_tensor *slices, ref_tensor *result);

typedef struct ref_outcome {
	ref_status status;
	const char *why; /* of REF_REFUSED */
	range at;	 /* of REF_OUTSIDE and REF_REFUSED */
	/* Some condition or index was in doubt, so that another course of
	 * events, an error among them, may be right, too. */
	bool doubtful;
	bool infinite; /* a value on the way was */
	int nresults;
	ref_tensor *results; /* of REF_DONE, in arena a */
} ref_outcome;

/* Evaluates op, which the checker accepted, for parameters of shapes and
 * attributes that suit it.  attrs[i] is NULL for a default.  steps bounds the
 * expressions that are evaluated. */
ref_outcome reference_run(arena *a, const tdl_modules *m, const ast_op *op,
			  const ref_tensor *params,
			  const ref_attr *const *attrs, ref_opaque opaque,
			  int64_t steps);

/* The number of elements. */
int64_t ref_count(const ref_tensor *t);

#endif
