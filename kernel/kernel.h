/* A kernel: one lambda of an operator, made concrete.
 *
 *	out[v0, .., v(nout-1)] = reducer over v(nout) .. v(nvars-1) of body
 *
 * Shapes, attributes and element types are known, packs are expanded, and all
 * names are resolved; only integers, iteration variables and reads of inputs
 * are left.  The analysis asks it about regions, the interpreter evaluates it,
 * code is generated from it, and plan files contain it. compiler/expand makes
 * it from an operator, plan/read.c from a file.
 *
 * A reduction is always outermost; an operator with more than one lambda gives
 * several kernels. */
#ifndef TDL_KERNEL_KERNEL_H
#define TDL_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "kernel/reducers.h"

enum {
	MAX_NDIM = 12,	  /* dimensions of a tensor */
	MAX_NVARS = 24,	  /* iteration variables of a kernel */
	MAX_NINPUTS = 24, /* inputs of a kernel */
	MAX_KEXPR_DEPTH = 400,
	MAX_PASSINGS = 32, /* of a kernel */
};

typedef enum kexpr_kind {
	KX_INT,	   /* .i, of an integer type or bool */
	KX_FLOAT,  /* .f, of a float type; may be infinite */
	KX_VAR,	   /* the iteration variable .var, i64 */
	/* .input at args[0..ndim); with .guarded, args[ndim] is the value where
	 * an index is outside the input */
	KX_READ,
	KX_FN,	   /* .fn of args; arguments have one type, converted before */
	KX_SELECT, /* args[0] ? args[1] : args[2]; only one is evaluated */
	KX_CAST,   /* args[0] as .type: C's conversion; to bool is != 0 */
	KX_BITCAST, /* the bits of args[0], as many, as .type; to bool != 0 */
} kexpr_kind;

typedef struct kexpr kexpr;
struct kexpr {
	kexpr_kind kind;
	dtype type;
	fn fn;
	int var, input;
	bool guarded;
	int64_t i;
	double f;
	int nargs;
	kexpr **args;
};

typedef enum kvar_kind {
	KVAR_OUTPUT,
	KVAR_REDUCE,
	KVAR_DERIVED, /* see kderived */
} kvar_kind;

typedef struct kvar {
	const char *name; /* as in the operator; "d.0" out of a pack */
	kvar_kind kind;
	int64_t extent;
	/* The reason why it cannot be divided ("hidden by the opaque function
	 * 'f'"); NULL if it can. */
	const char *indivisible_reason;
} kvar;

typedef struct kinput {
	const char *name; /* of the operator's parameter or intermediate */
	dtype type;
	int ndim;
	int64_t dims[MAX_NDIM];
} kinput;

/* A variable that no lambda binds: dimension `dim' of an input that is read at
 * a data-dependent index, in a body linear in that read.  The read equals a Sum
 * over v of (index == v ? input[.., v, ..] : 0), so v may be divided like a
 * reduction variable: if v runs over [lo, hi) only, a read whose index is
 * outside [lo, hi) gives 0.  It adds no loop. */
typedef struct kderived {
	int var, input, dim;
} kderived;

/* A slice passed to an opaque function: for each dimension of the input an
 * index expression, or NULL for the whole dimension. */
typedef struct kslice {
	int input;
	int ndim;
	kexpr *at[MAX_NDIM];
} kslice;

/* The value of an opaque function's attribute: n values in one of the arrays;
 * the others are NULL. */
typedef struct kattr {
	const char *name;
	int n;
	const int64_t *ints;
	const double *floats;
	const char *const *strings;
} kattr;

/* Partial values that pass through the kernel (kernel/monotone.h): if exactly
 * these inputs, a bit each, are partial by the reducer `by', the results are
 * partial by `to'. */
typedef struct kpassing {
	uint32_t inputs;
	reducer by, to;
} kpassing;

typedef struct kaccess kaccess; /* kernel/region.c */

typedef struct kernel {
	const char *name; /* "matmul", "softmax.m": operator and stage */
	int nvars, nout;  /* output variables first, in the order of the
			     result's dimensions; then reduced, then derived */
	kvar *vars;
	reducer reducer;
	dtype type; /* of the result's elements */
	int ninputs;
	kinput *inputs;
	kexpr *body; /* NULL for an opaque kernel */
	int nderived;
	kderived *derived;
	/* An opaque kernel fills out[batch vars.., result dims..] by calling
	 * the function on slices and storing its result number opaque_result.
	 * The last nhidden output variables are the dimensions of that
	 * result. */
	const char *opaque;	 /* name in TDL, NULL if not opaque */
	const char *opaque_symbol; /* "tdl_cholesky" */
	int nhidden, opaque_result;
	int nslices;
	kslice *slices;
	int nattrs;
	kattr *attrs;

	int naccesses; /* filled by kernel_finish() */
	kaccess *accesses;
	int npassings; /* likewise */
	const kpassing *passings;
} kernel;

/* The extent of the result's dimension d: that of output variable d. */
static inline int64_t kernel_dim(const kernel *k, int d)
{
	return k->vars[d].extent;
}

/* ---- making expressions; everything in arena a ------------------------- */

kexpr *kx_int(arena *a, int64_t i, dtype t);
kexpr *kx_float(arena *a, double f, dtype t);
kexpr *kx_var(arena *a, int var);
kexpr *kx_read(arena *a, int input, dtype t, int ndim, kexpr **index,
	       kexpr *otherwise);
/* Comparisons, and, or, not, isnan, isinf give bool; the others give the type
 * of their arguments. */
kexpr *kx_fn(arena *a, fn f, int nargs, kexpr **args);
kexpr *kx_fn1(arena *a, fn f, kexpr *x);
kexpr *kx_fn2(arena *a, fn f, kexpr *x, kexpr *y);
kexpr *kx_select(arena *a, kexpr *c, kexpr *x, kexpr *y);
kexpr *kx_cast(arena *a, kexpr *x, dtype t);
kexpr *kx_bitcast(arena *a, kexpr *x, dtype t);

/* The number of indices of a KX_READ. */
static inline int kx_ndim(const kexpr *read)
{
	return read->nargs - read->guarded;
}

/* The number of e's leading arguments, indices included, that are evaluated
 * whenever e is. */
static inline int kx_nalways(const kexpr *e)
{
	if (e->kind == KX_SELECT ||
	    (e->kind == KX_FN && (e->fn == FN_AND || e->fn == FN_OR)))
		return 1;
	return e->kind == KX_READ ? kx_ndim(e) : e->nargs;
}

/* Whether e reads a tensor anywhere, indices included. */
bool kx_has_read(const kexpr *e);

/* The same expression with index sums of products in normal form, and without
 * divisions and remainders that intervals decide: (16*i + j) / 16 with 0 <= j <
 * 16 becomes i. vars gives the extents. */
kexpr *kx_simplify(arena *a, const kexpr *e, const kvar *vars);

/* A total order on expressions: < 0, 0 or > 0.  Floats compare by their
 * bits. */
int kx_compare(const kexpr *x, const kexpr *y);
bool kx_equal(const kexpr *x, const kexpr *y);
uint64_t kx_hash(uint64_t seed, const kexpr *e);

/* Whether two kernels compute the same: all but the names is equal. */
bool kernel_equal(const kernel *x, const kernel *y);
uint64_t kernel_hash(const kernel *k);

/* A hash that ignores constants outside of indices, such as seeds of random
 * numbers: kernels with equal hashes take the same time and memory. */
uint64_t kernel_form_hash(const kernel *k);

/* A hash that ignores extents as well. */
uint64_t kernel_structure_hash(const kernel *k);

/* Whether a kernel's result is its first input, unchanged. */
bool kernel_is_copy(const kernel *k);

/* Whether the result may overwrite an input: the input has the result's type
 * and shape and is read at the result's own index and nowhere else (along an
 * extent of 1, index 0 counts as its own).  A derived variable adds no loop,
 * and so no second write. */
bool kernel_in_place(const kernel *k, int input);

/* A readable line: "out[i, j] = Sum(k) a[i, k] * b[k, j]". */
char *kx_text(arena *a, const kernel *k, const kexpr *e);
char *kernel_text(arena *a, const kernel *k);

/* Prepares accesses (kernel/region.h) and passings.  Whoever makes a kernel
 * calls it once. */
void kernel_finish(arena *a, kernel *k);

/* Arithmetic operations per point of the iteration space, including the
 * reducer's; index arithmetic is not counted. */
int64_t kernel_flops_per_point(const kernel *k);

/* Points of the iteration space; -1 where it does not fit 63 bits. */
int64_t kernel_points(const kernel *k);

#endif
