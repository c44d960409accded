/* One evaluation by the reference: the operator, and the meanings of the names
 * in it.  Shared by the files of compiler/verify/reference alone. */
#ifndef TDL_COMPILER_VERIFY_REFERENCE_FRAME_H
#define TDL_COMPILER_VERIFY_REFERENCE_FRAME_H

#include "base/vec.h"
#include "compiler/verify/reference/reference.h"
#include "dsl/builtins.h"

/* One evaluation, calls of other operators included. */
typedef struct world {
	arena *arena;
	const tdl_modules *modules;
	ref_opaque opaque;
	int64_t steps; /* that are left */
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

/* The end of the evaluation of a let, of which others learn that use it. */
typedef struct ref_fault {
	ref_status status;
	const char *why;
	range at;
} ref_fault;

typedef struct ref_name {
	const char *name;
	meaning means;
	ref_number v;	/* MEANS_NUMBER, MEANS_VAR */
	int64_t extent; /* MEANS_VAR */
	const ref_attr *attr;
	const ref_tensor *tensor;
	const ref_fault *fault; /* NULL: it has its value */
	const ast_tensor *declared; /* of a parameter */
} ref_name;

/* A pack: extents, and while a lambda runs over it the indices. */
typedef struct ref_pack {
	const char *name;
	int rank;
	int64_t extents[REF_MAX_NDIM];
	int64_t index[REF_MAX_NDIM];
	/* Of a broadcast parameter's own dimensions: the pack that they are
	 * broadcast to, -1 for none, and how many are missing in front. */
	int within, missing;
} ref_pack;

/* An operator under evaluation. */
typedef struct frame {
	world *w;
	const ast_op *op;
	const ref_tensor *params;
	const ref_attr **attrs;
	VEC(ref_name) names; /* the innermost last */
	VEC(ref_pack) packs;
	int nfaults;  /* lets without a value */
	dtype shared; /* of the tensors without a type, DT_NONE if none */
	dtype want;   /* of the expression at hand, DT_NONE for none */
	dtype around; /* the last number's type that `want' was */
} frame;

/* ---- scope.c -------------------------------------------------- */

/* Ends the evaluation. */
void ref_refuse(frame *f, range at, const char *why);
static inline bool ref_failed(const frame *f)
{
	return f->w->status != REF_DONE;
}

/* Binds the attributes, sizes and packs of the operator. */
void ref_bind_signature(frame *f, const ref_attr *const *attrs);
/* The value of an attribute by an expression of the frame. */
const ref_attr *ref_attr_value(frame *f, const ast_attr *a, const ast_expr *e);

const ref_name *ref_find(const frame *f, const char *name);
const ref_attr *ref_find_attr(const frame *f, const char *name);
void ref_push(frame *f, ref_name n);

/* The positions of a pack, *pack in f->packs, that an item selects, in their
 * order; -1 after a refusal. */
int ref_positions(frame *f, const ast_pack *p, range at, int *pack,
		  int positions[REF_MAX_NDIM]);
/* The number of dimensions that an item of an index list stands for; -1 for
 * those that are left. */
int ref_width(frame *f, const ast_expr *item);
/* The pack over which a tensor is broadcast, and its position among the
 * dimensions; -1 for one that is not broadcast. */
int ref_broadcast(frame *f, const ref_name *n, int *at);
/* The number of indices that a tensor is read with. */
int ref_rank(frame *f, const ref_name *n);

/* The type that a signature's tensor has. */
dtype ref_declared(frame *f, const ast_type *t);
void ref_declared_dims(frame *f, const ast_tensor *t, ref_tensor *to);

/* ---- fault.c -------------------------------------------------- */

/* The reason why the evaluation has ended, for those who use the let that is
 * being evaluated; it goes on then.  NULL where it has not. */
const ref_fault *ref_take_fault(frame *f);
/* Ends the evaluation where the let has no value; whether it did. */
bool ref_uses_fault(frame *f, const ref_name *n);
/* The same where a let without one is used in an expression, whether or not
 * elements lead there. */
void ref_demand(frame *f, const ast_expr *e);

/* ---- type.c --------------------------------------------------- */

/* The type of an expression's value; DT_NONE for what is made of constants. */
dtype ref_type_of(frame *f, const ast_expr *e);
/* The type that the second argument of cast(), bitcast() or saturate()
 * names. */
dtype ref_type_named(frame *f, const ast_expr *e);
/* Whether all that decides the value is known when planning. */
bool ref_is_constant(frame *f, const ast_expr *e);
/* That of what is made of constants alone, though it may be reduced, or chosen
 * by elements: the type around it, or the one that tensors share, or f32 or
 * i64. */
dtype ref_open_type(frame *f, ast_expr *const *e, int n);
/* The alternative that a condition of constants leaves; NULL where the
 * condition is none. */
const ast_expr *ref_chosen(frame *f, ast_expr *const args[3]);
/* The value of that alternative in the type that both have in common. */
ref_number ref_chosen_value(frame *f, ast_expr *const args[3], ref_number x);
/* The opaque function that is called; NULL. */
const ast_opaque *ref_opaque_of(const frame *f, const ast_expr *e);

/* ---- lambda.c ------------------------------------------------- */

/* A variable of a lambda: a name, or a position of a pack. */
typedef struct axis {
	int64_t extent;
	int name;		/* in frame.names, -1 for a position */
	int pack, dim;		/* in frame.packs */
	int outer, outer_dim;	/* that pack's position that goes with it */
} axis;

/* The state that a lambda has to restore. */
typedef struct ref_scope {
	int nnames, npacks;
	ref_pack *packs; /* NULL where the lambda binds none */
} ref_scope;

/* Brings the variables of a lambda into scope; extents are those of a result's
 * dimensions, or NULL.  Returns how many, -1 after a refusal. */
int ref_open(frame *f, const ast_expr *lambda, const int64_t *extents,
	     axis axes[REF_MAX_VARS], ref_scope *saved);
void ref_close(frame *f, const ref_scope *saved);

/* The first point; false where there is none.  The next one; false after the
 * last. */
bool ref_first(frame *f, const axis *axes, int n, int64_t *at);
bool ref_next(frame *f, const axis *axes, int n, int64_t *at);

/* ---- reference.c -------------------------------------------------------- */

ref_number ref_eval(frame *f, const ast_expr *e);
/* The same where a number of a type is expected, DT_NONE for none: what is made
 * of constants has it; a constant stays one, or becomes a number of it. */
ref_number ref_eval_typed(frame *f, const ast_expr *e, dtype type);
ref_number ref_eval_as(frame *f, const ast_expr *e, dtype type);
/* A constant that has to be an integer. */
int64_t ref_eval_size(frame *f, const ast_expr *e);
/* A reduction; type is that of its constants, DT_NONE if nothing says. */
ref_number ref_reduce(frame *f, const ast_expr *e, dtype type);
/* f(slices)[index] */
ref_number ref_eval_opaque(frame *f, const ast_expr *e);
/* The element of a tensor at the indices of e. */
ref_number ref_read(frame *f, const ast_expr *e, const ref_name *n,
		    const ast_expr *otherwise);

#endif
