/* Prints expressions as C, and names variables in the text.  Shared by the
 * files of compiler/codegen alone. */
#ifndef TDL_COMPILER_CODEGEN_EXPR_H
#define TDL_COMPILER_CODEGEN_EXPR_H

#include "base/vec.h"
#include "compiler/codegen/nest.h"

/* The state, at the current place in the text, of the guarded reads with affine
 * indices. */
typedef enum guard_state {
	GUARD_CHECK,   /* unknown: each read checks its own guard */
	GUARD_INSIDE,  /* all are inside their inputs */
	GUARD_OUTSIDE, /* all are outside */
} guard_state;

/* An expression whose value is in a variable of the C text. */
typedef struct named {
	const kexpr *e;
	const char *name;
} named;

typedef struct settled {
	const kexpr *e;
	bool holds;
} settled;

typedef struct printer {
	arena *a;
	nest nest; /* with names */
	const char *var[MAX_NVARS];
	const char *input[MAX_NINPUTS];
	const char *out;
	/* The result's index of variable v is by[v] * v + more[v], or v if
	 * by[v] is 0. */
	int64_t by[MAX_NVARS], more[MAX_NVARS];
	guard_state guard;
	bool raw;  /* small floats are printed as their bits */
	bool cuda; /* for tdl/cuda.h; else for tdl/kernels.h */
	bool wide; /* CUDA: indices need more than 32 bits */
	VEC(named) named;
	VEC(named) loaded; /* elements loaded before their use */
	VEC(settled) settled; /* conditions whose value is known */
	int nnames; /* index0, index1, .. so far */
	/* TDL_NUMBER_0, .. in C: numbers that are neither extents nor strides,
	 * so that compilers gain nothing from knowing them */
	VEC(int64_t) numbers;
} printer;

/* Whether e calls a function of tdl/functions.h. */
bool calls_function(const kexpr *e);

/* Chooses names that are C identifiers and unique in the text. */
void printer_init(printer *p, arena *a, const nest *n, bool cuda);

/* The first value of a variable in the part to compute, or the end of its
 * values. */
const char *print_bound(printer *p, int var, bool end);

/* The C type of a value, and of an element in memory. */
const char *type_of_value(dtype t);
const char *type_of_element(dtype t);

/* The suffix of tdl_fma_*() and the like for values of type t: "f32". */
const char *type_suffix(dtype t);

const char *print_expr(printer *p, const kexpr *e);

/* The lines that define the names of numbers, or undefine them. */
const char *print_numbers(printer *p, bool defined);

/* The expression as an operand: in parentheses unless it is a name or the
 * like. */
const char *print_operand(printer *p, const kexpr *e);

/* An affine sum without loop `skip', which may be -1. */
const char *print_linear(printer *p, const linear *x, int skip);

/* The value of C type `from`, written as text, as an element of type `to`. */
const char *print_element(printer *p, const char *value, dtype from, dtype to);

/* An expression as an element of type `to`. */
const char *print_stored(printer *p, const kexpr *e, dtype to);

/* The least or largest value of a type, as C. */
const char *print_limit(printer *p, dtype t, bool largest);

/* input[..] at the indices of a read. */
const char *print_element_at(printer *p, const kexpr *read);

/* out[..] at the variables' own index. */
const char *print_result(printer *p);

/* Whether index d of a guarded read can be outside and has to be compared with
 * the input's extent. */
bool needs_check(const printer *p, const kexpr *read, int d);

/* Whether a read's guard depends only on affine indices. */
bool is_affine_guard(const printer *p, const kexpr *e);

/* "0 <= index && index < extent" for the indices that need it, except those
 * that depend on loop `skip'.  NULL if none remain. */
const char *print_inside(printer *p, const kexpr *read, int skip);

/* Whether an index must be computed and checked at run time. */
bool is_data_index(const kexpr *read, int d);

/* The checked value of a data-dependent index: -1 if it is outside. */
const char *print_data_index(printer *p, const kexpr *read, int d);

#endif
