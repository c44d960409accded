/* The state of one evaluation by the reference: the operator, and the meanings
 * of its names.  Shared by the files of compiler/verify/reference only. */
#ifndef TDL_COMPILER_VERIFY_REFERENCE_FRAME_H
#define TDL_COMPILER_VERIFY_REFERENCE_FRAME_H

#include "base/vec.h"
#include "compiler/verify/reference/reference.h"
#include "dsl/builtins.h"

/* One evaluation, including calls of other operators. */
typedef struct world {
	arena *arena;
	const tdl_modules *modules;
	ref_opaque opaque;
	int64_t steps; /* steps that are left */
	ref_status status;
	const char *why;
	range at;
	bool doubtful, infinite;
} world;

typedef enum meaning {
	MEANS_NUMBER, /* a size, or a `let' that is a constant */
	MEANS_VAR,
	MEANS_ATTR,
	MEANS_TENSOR,
} meaning;

/* An error in a let.  It is reported to those that use the let. */
typedef struct ref_fault {
	ref_status status;
	const char *why;
	range at;
} ref_fault;

typedef struct ref_name {
	const char *name;
	meaning means;
	ref_number v;	/* for MEANS_NUMBER, MEANS_VAR */
	int64_t extent; /* for MEANS_VAR */
	const ref_attr *attr;
	const ref_tensor *tensor;
	const ref_fault *fault; /* NULL: the name has its value */
	const ast_tensor *declared; /* for a parameter */
} ref_name;

/* A pack: its extents and, while a lambda runs over it, the indices. */
typedef struct ref_pack {
	const char *name;
	int rank;
	int64_t extents[REF_MAX_NDIM];
	int64_t index[REF_MAX_NDIM];
	/* For the own dimensions of a broadcast parameter: the pack to which
	 * they are broadcast, and how many are missing at the front.  within is
	 * -1 for other packs. */
	int within, missing;
} ref_pack;

/* An operator that is being evaluated. */
typedef struct frame {
	world *w;
	const ast_op *op;
	const ref_tensor *params;
	const ref_attr **attrs;
	VEC(ref_name) names; /* innermost last */
	VEC(ref_pack) packs;
	int nfaults;  /* number of lets without a value */
	/* type of tensors without a declared one; DT_NONE: none */
	dtype shared;
	dtype want;   /* type wanted of the current expression; DT_NONE: none */
	dtype around; /* the last numeric type that `want' was */
} frame;

/* ---- scope.c -------------------------------------------------- */

/* Ends the evaluation with a refusal. */
void ref_refuse(frame *f, range at, const char *why);
static inline bool ref_failed(const frame *f)
{
	return f->w->status != REF_DONE;
}

/* Binds the attributes, sizes and packs of the operator. */
void ref_bind_signature(frame *f, const ref_attr *const *attrs);
/* The value of an attribute given by an expression of the frame. */
const ref_attr *ref_attr_value(frame *f, const ast_attr *a, const ast_expr *e);

const ref_name *ref_find(const frame *f, const char *name);
const ref_attr *ref_find_attr(const frame *f, const char *name);
void ref_push(frame *f, ref_name n);

/* The positions of a pack that an item selects, in order.  Sets *pack to the
 * pack's index in f->packs.  Returns the number of positions, -1 after a
 * refusal. */
int ref_positions(frame *f, const ast_pack *p, range at, int *pack,
		  int positions[REF_MAX_NDIM]);
/* The number of dimensions that an item of an index list stands for; -1 if it
 * takes all that are left. */
int ref_width(frame *f, const ast_expr *item);
/* The pack over which a tensor is broadcast, and in *at its position among the
 * dimensions; -1 if it is not broadcast. */
int ref_broadcast(frame *f, const ref_name *n, int *at);
/* The number of indices with which a tensor is read. */
int ref_rank(frame *f, const ref_name *n);

/* The type that a signature gives to a tensor. */
dtype ref_declared(frame *f, const ast_type *t);
void ref_declared_dims(frame *f, const ast_tensor *t, ref_tensor *to);

/* ---- fault.c -------------------------------------------------- */

/* The error that ended the evaluation of the current let, to be reported to its
 * users.  The evaluation then continues.  NULL if there was none. */
const ref_fault *ref_take_fault(frame *f);
/* Ends the evaluation if a used let has no value.  Returns whether it did. */
bool ref_uses_fault(frame *f, const ref_name *n);
/* The same if an expression uses such a let anywhere, whether or not an element
 * needs it. */
void ref_demand(frame *f, const ast_expr *e);

/* ---- type.c --------------------------------------------------- */

/* The type of an expression's value; DT_NONE for an expression of constants. */
dtype ref_type_of(frame *f, const ast_expr *e);
/* The type named by the second argument of cast(), bitcast() or saturate(). */
dtype ref_type_named(frame *f, const ast_expr *e);
/* Whether everything that decides the value is known when planning. */
bool ref_is_constant(frame *f, const ast_expr *e);
/* The type of expressions that consist of constants only, even if they are
 * reduced or chosen by elements.  It is the type around them, or the one that
 * tensors share, or f32 or i64. */
dtype ref_open_type(frame *f, ast_expr *const *e, int n);
/* The alternative chosen by a condition of constants; NULL if the condition is
 * none. */
const ast_expr *ref_chosen(frame *f, ast_expr *const args[3]);
/* The value of that alternative in the common type of both. */
ref_number ref_chosen_value(frame *f, ast_expr *const args[3], ref_number x);
/* The opaque function that is called; NULL if there is none. */
const ast_opaque *ref_opaque_of(const frame *f, const ast_expr *e);

/* ---- lambda.c ------------------------------------------------- */

/* A variable of a lambda: a name, or a position of a pack. */
typedef struct axis {
	int64_t extent;
	int name;		/* index in frame.names; -1 for a position */
	int pack, dim;		/* index in frame.packs, and dimension */
	/* the same for the corresponding position of an outer pack */
	int outer, outer_dim;
} axis;

/* The state that is restored when a lambda ends. */
typedef struct ref_scope {
	int nnames, npacks;
	ref_pack *packs; /* NULL: the lambda binds no packs */
} ref_scope;

/* Brings the variables of a lambda into scope.  extents: those of a result's
 * dimensions, or NULL.  Returns the number of variables, -1 after a refusal. */
int ref_open(frame *f, const ast_expr *lambda, const int64_t *extents,
	     axis axes[REF_MAX_VARS], ref_scope *saved);
void ref_close(frame *f, const ref_scope *saved);

/* ref_first() goes to the first point; it returns false if there is none.
 * ref_next() goes to the next one; it returns false after the last. */
bool ref_first(frame *f, const axis *axes, int n, int64_t *at);
bool ref_next(frame *f, const axis *axes, int n, int64_t *at);

/* ---- reference.c -------------------------------------------------------- */

ref_number ref_eval(frame *f, const ast_expr *e);
/* The same where a number of a given type is expected; DT_NONE if there is
 * none.  An expression of constants gets that type.  A single constant remains
 * one with ref_eval_typed(), and becomes a number of the type with
 * ref_eval_as(). */
ref_number ref_eval_typed(frame *f, const ast_expr *e, dtype type);
ref_number ref_eval_as(frame *f, const ast_expr *e, dtype type);
/* The value of a constant that has to be an integer. */
int64_t ref_eval_size(frame *f, const ast_expr *e);
/* The value of a reduction.  type: that of its constants; DT_NONE if nothing
 * determines it. */
ref_number ref_reduce(frame *f, const ast_expr *e, dtype type);
/* The value of f(slices)[index]. */
ref_number ref_eval_opaque(frame *f, const ast_expr *e);
/* The element of a tensor at the indices of e. */
ref_number ref_read(frame *f, const ast_expr *e, const ref_name *n,
		    const ast_expr *otherwise);

#endif
