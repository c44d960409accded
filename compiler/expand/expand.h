/* From an operator and the shapes of its arguments to kernels.
 *
 * Packs become dimensions, attributes and sizes become integers, calls are
 * inlined, element types are resolved, and reductions that are not outermost
 * get a kernel of their own.  Errors (shapes that disagree, a read that leaves
 * its tensor for these shapes, a negative extent) name the operator's source
 * and the place of the call. */
#ifndef TDL_COMPILER_EXPAND_EXPAND_H
#define TDL_COMPILER_EXPAND_EXPAND_H

#include "dsl/dsl.h"
#include "kernel/kernel.h"

/* Element type and shape of a tensor. */
typedef struct tensor_type {
	dtype type;
	int ndim;
	int64_t dims[MAX_NDIM];
} tensor_type;

/* The value of an attribute.  A list has n values, else n is 1.  Integers,
 * booleans, axes and types (a dtype) are in ints. */
typedef struct attr_value {
	attr_type type;
	bool is_list;
	int n;
	const int64_t *ints;
	const double *floats;
	const char *const *strings;
} attr_value;

/* One kernel of an expansion.  inputs[i] is the value of the kernel's input i:
 * a parameter of the operator, 0 <= v < nparams, or the result of an earlier
 * stage s, v = nparams + s. */
typedef struct stage {
	kernel *kernel;
	const char *label; /* "" for the operator's result itself, "m" for the
			      intermediate m */
	int inputs[MAX_NINPUTS];
} stage;

typedef struct expansion {
	int nparams;
	int nstages;
	stage *stages;
	int nresults;
	/* values, as in stage.inputs; a parameter if the operator returns it
	 * unchanged */
	int *results;
	tensor_type *result_types;
} expansion;

/* The place of a call, for messages: a range in a source, or a text. */
typedef struct call_site {
	range at;
	const char *place;
} call_site;

/* Adds an error at the place of the call; if it has none, `model' is the
 * place. */
void call_error(diag_sink *s, diag_id id, call_site site, const char *model,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Expands op for parameters of the given types. attrs[i] is the value of the
 * operator's attribute i, or NULL for its default; an attribute without either
 * is an error.  Returns the expansion, in a; NULL after adding errors. */
expansion *expand_op(arena *a, const tdl_modules *m, diag_sink *s,
		     const ast_op *op, const tensor_type *params,
		     const attr_value *const *attrs, call_site site);

#endif
