/* The state of one expansion, shared by the files of compiler/expand alone.
 *
 * During expansion, variables and tensors have numbers that hold for the whole
 * expansion: KX_VAR.var indexes context.vars and KX_READ.input indexes
 * context.values. stage.c renumbers them when it makes a kernel. */
#ifndef TDL_COMPILER_EXPAND_CONTEXT_H
#define TDL_COMPILER_EXPAND_CONTEXT_H

#include "base/vec.h"
#include "compiler/expand/expand.h"
#include "dsl/builtins.h"
#include "dsl/element_type.h"

/* A compiled scalar: a constant, which takes the type of the other operand, or
 * an expression with a type. */
typedef enum val_kind {
	VAL_BAD, /* an error was added */
	VAL_INT,
	VAL_FLOAT,
	VAL_BOOL,
	VAL_STRING,
	VAL_EXPR,
} val_kind;

typedef struct val {
	val_kind kind;
	int64_t i; /* VAL_INT, VAL_BOOL */
	/* VAL_BOOL: known whatever the elements of data beside it are, and so
	 * not a constant as written */
	bool beside_data;
	double f;
	const char *s;
	kexpr *e;
} val;

/* An iteration variable of the expansion. */
typedef struct xvar {
	const char *name;
	int64_t extent;
} xvar;

/* A tensor: a parameter, or the result of a stage. */
typedef struct xvalue {
	const char *name;
	tensor_type type;
	int rank; /* as declared; above type.ndim if it is broadcast */
	/* A broadcast parameter: its declared dimensions from pack_at on are
	 * those of the pack; leading ones may be missing, and one of extent 1
	 * is repeated.  NULL for others. */
	const struct xpack *broadcast;
	int pack_at;
} xvalue;

/* A pack: its extents and, while a lambda is compiled, its index variables. */
typedef struct xpack {
	const char *name;
	int rank;
	int64_t extents[MAX_NDIM];
	kexpr *index[MAX_NDIM]; /* NULL if no lambda binds the position */
	/* A broadcast parameter's own dimensions: dimension d is dimension d +
	 * missing of the pack `within' if the extents are equal. */
	struct xpack *within;
	int missing;
} xpack;

/* The value of a symbol of the operator. */
typedef enum name_kind {
	NAME_UNBOUND,
	NAME_SIZE,   /* .v */
	NAME_CONST,  /* .v, a let that is a constant */
	NAME_ATTR,   /* .attr, an index */
	NAME_VAR,    /* .var */
	NAME_TENSOR, /* .value */
	NAME_BROKEN, /* .broken */
} name_kind;

/* A let that has no value here, and the reason.  It is an error only if it is
 * used: a condition known when planning may leave it out. */
typedef struct broken_let {
	const diag_sink *why;
	etype type; /* as far as it is known */
	int ndim;   /* of a tensor whose shape is known; else -1 */
	int64_t dims[MAX_NDIM];
} broken_let;

typedef struct xname {
	name_kind kind;
	val v;
	int index;
	const broken_let *broken;
	range at;
} xname;

typedef struct read_place {
	int value;
	range at;
} read_place;

typedef struct context {
	arena *arena; /* of the result */
	arena *tmp;   /* for temporaries of the expansion */
	const tdl_modules *modules;
	diag_sink *sink;
	const ast_op *op;
	const attr_value *const *attrs; /* by op->attrs; defaults filled in */
	call_site site;
	int depth;	  /* of operators that call operators */
	const char *top;   /* name of the operator at the top of the calls */
	const char *label; /* prefix of stages' labels, "" at the top */
	bool failed;
	/* the common type of tensors without a declared one; DT_NONE: open */
	dtype shared;
	/* the type of the current expression, which its constants take; DT_NONE
	 * if there is none */
	dtype want;
	/* the last numeric type of `want': that of constants without a typed
	 * operand */
	dtype around;

	xname *names;	 /* by the operator's symbols */
	xpack **pack_of; /* by symbol; NULL if it is no pack */
	VEC(xpack *) packs;
	VEC(xvar) vars;
	VEC(xvalue) values;
	VEC(stage) stages;
	VEC(read_place) reads;

	/* The conditions under which the current expression is evaluated. */
	VEC(kexpr *) conditions;
	/* The expression is never evaluated: a variable in scope has an empty
	 * range.  Division by 0 there gives 0, as it does with a 0 from
	 * data. */
	bool nowhere;
	int nextracted; /* reductions that became stages, for their labels */
	int nparams;
} context;

/* ---- read.c: reads of tensors ------------------------------------------ */

/* A read x[i, ..d]; `otherwise' is the value after else, or NULL. */
val expand_read(context *cx, const ast_expr *e, int value,
		const ast_expr *otherwise);
/* ravel(..d, i): the row-major position of index variables. */
val expand_ravel(context *cx, const ast_expr *e);
/* The index list e, of something with these dimensions, as one expression per
 * dimension.  Returns their number, -1 after an error. */
int item_index(context *cx, const ast_expr *e, int rank, const int64_t *dims,
	       kexpr *out[MAX_NDIM]);
/* The index variables that a pack item stands for. */
int pack_index(context *cx, const ast_expr *item, kexpr **out);
/* The number of dimensions that an index item stands for; -2 for ..unravel(),
 * which takes all that remain; -1 after an error. */
int item_width(context *cx, const ast_expr *e);

/* ---- scalar.c: expressions --------------------------------------------- */

/* Adds an error at a place in the operator, with a note at the call. */
void expand_error(context *cx, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Compiles a scalar expression with type cx->want. */
val expand_scalar(context *cx, const ast_expr *e);
/* The same with another type. */
val expand_typed(context *cx, const ast_expr *e, dtype type);
/* Compiles an index: an i64 expression; other integer types are cast. */
kexpr *expand_index(context *cx, const ast_expr *e);
/* Evaluates a constant integer: an extent, an attribute's element. */
bool expand_constant(context *cx, const ast_expr *e, int64_t *r);

/* ---- type.c: element types ----------------------------------------------- */

/* The value v, of whichever of x or y a condition known when planning selects,
 * in the common type of both: a constant becomes a number of that type, or a
 * fraction if the other alternative is one. */
val expand_chosen(context *cx, const ast_expr *x, const ast_expr *y, val v,
		  range at);

/* The type of an expression for these arguments, by the rules of
 * dsl/element_type.h.  An expression of constants alone takes the type of the
 * numbers around it; else the type that tensors without one share; else i64 or
 * f32.  DT_NONE if it has no type. */
dtype expand_type(const context *cx, const ast_expr *e);
/* The same; a constant may still take several types. */
etype expand_etype(const context *cx, const ast_expr *e);
/* The common type of the operands of a function with that rule. */
dtype expand_operand_type(const context *cx, ast_expr *const *e, int n,
			  builtin_rule rule);

/* ---- constant.c: values ------------------------------------------------- */

val val_int(int64_t i);
val val_float(double f);
val val_bool(bool b);
val val_expr(kexpr *e);
extern const val val_bad;

/* A value as an expression of type `want': a constant is converted, anything
 * else must have that type. want == DT_NONE: the value's own type; f32 or i64
 * for a constant. */
kexpr *expand_as(context *cx, val v, dtype want, range at);

/* A function of two integers; VAL_BAD, with an error, if the result does not
 * fit 64 bits. */
val fold_int(context *cx, fn f, int64_t x, int64_t y, range at);
/* A binary function of two constants; its kind is VAL_EXPR if it was not
 * folded. */
val fold_binary(context *cx, fn f, val x, val y, range at);
/* A function of numbers: an integer if all are integers and it takes them.  Its
 * kind is VAL_EXPR if it was not folded. */
val fold_function(fn f, val x, val y);

/* ---- convert.c --------------------------------------------------------- */

/* Expands a call of cast, bitcast or saturate, by the rule. */
val expand_conversion(context *cx, const ast_expr *e, builtin_rule rule);

/* ---- names.c: names, packs, attributes --------------------------------- */

/* Makes room for the values of the symbols of cx->op, all unbound. */
void begin_names(context *cx);
/* The value of a symbol; NULL if it has none yet. */
const xname *find_name(const context *cx, const ast_symbol *s);
void bind_name(context *cx, const ast_symbol *s, xname n);
/* If n is a let without a value, reports the reason and returns true. */
bool expand_broken(context *cx, const xname *n);
/* bind_name() for parameter, or attribute, i: these are the first symbols. */
void bind_param_name(context *cx, int i, xname n);
void bind_attr_name(context *cx, int i, xname n);
/* The pack of a symbol; NULL if it is not bound yet. */
xpack *find_pack(const context *cx, const ast_symbol *s);
xpack *add_pack(context *cx, const ast_symbol *s, xpack p);
/* The pack of a symbol, made from an attribute's list if there is none yet.
 * NULL, with an error, if there is neither. */
xpack *need_pack(context *cx, const ast_symbol *s, range at);

/* The positions of a pack that ..d, ..(d \ s), ..(d & s), ..d[s] select, in
 * order.  Returns their number, -1 after an error. */
int pack_positions(context *cx, const ast_pack *p, range at, xpack **pack,
		   int positions[MAX_NDIM]);

/* The value of an attribute; NULL for any other symbol. */
const attr_value *find_attr(const context *cx, const ast_symbol *s);

/* ---- lambda.c: variables and reductions -------------------------------- */

/* Binds the variables of a lambda. extents, unless NULL, are those of the
 * result's n dimensions; else they are inferred.  Writes the numbers of the
 * variables to vars and returns their number, -1 after an error. scope_pop()
 * unbinds them. */
typedef struct scope {
	int npacks;
	kexpr **saved; /* index variables of the packs at scope_push() */
	bool nowhere;
} scope;
scope scope_push(context *cx);
void scope_pop(context *cx, const scope *s);
int bind_vars(context *cx, const ast_expr *lambda, const int64_t *extents,
	      int n, int vars[MAX_NVARS]);

/* Makes a reduction inside an expression a stage, and returns a read of it. */
val expand_reduction(context *cx, const ast_expr *e);

/* Expands a lambda to a tensor. type: the declared element type, DT_NONE for
 * none; extents as in bind_vars().  Returns the tensor's value, -1 after an
 * error. */
int expand_lambda(context *cx, const ast_expr *lambda, const int64_t *extents,
		  int n, dtype type, const char *label);

/* ---- stage.c: kernels -------------------------------------------------- */

/* Makes the kernel out[outs] = r over reds of body, and returns a value for its
 * result. */
int add_stage(context *cx, const char *label, const int *outs, int nouts,
	      const int *reds, int nreds, reducer r, dtype type, kexpr *body);

/* Whether the stage that computes a value has a derived variable. */
bool stage_is_derived(const context *cx, int value);
/* Removes the stage made last. */
void drop_stage(context *cx);
/* Gives the stage that computes a value another label. */
void relabel_stage(context *cx, int value, const char *label);

/* Lists the variables that e uses, ascending, without those in `without';
 * returns their number. */
int used_vars(const context *cx, kexpr *const *e, int ne, const int *without,
	      int nwithout, int vars[MAX_NVARS]);

/* f(slices..)[indices..] of an opaque function. */
val expand_opaque(context *cx, const ast_expr *call, const ast_expr *index);
/* The type of the result of an opaque call, for the slices that it is given,
 * and the values of the function's attributes; attrs may be NULL. */
bool opaque_result_type(context *cx, const ast_expr *call, tensor_type *t,
			const attr_value *const **attrs);

/* ---- gather.c: data-dependent reads ------------------------------------ */

/* Whether e has an unguarded read at a data-dependent index; e with a stage for
 * each such read that is always made. */
bool has_gather(const kexpr *e);
kexpr *extract_gathers(context *cx, kexpr *e);

/* ---- expand.c ---------------------------------------------------------- */

/* The element type that t stands for in this expansion. */
dtype type_said(const context *cx, const ast_type *t);

/* Binds the sizes and packs of a declared tensor to a shape. */
bool bind_dims(context *cx, const ast_tensor *t, const tensor_type *type);
/* The shape of a declared tensor; its sizes and packs are bound. */
bool eval_dims(context *cx, const ast_tensor *t, tensor_type *type);

/* The attributes of a call, ordered by the callee's declarations, as
 * expand_op() takes them.  NULL after an error. */
const attr_value **call_attrs(context *cx, const ast_expr *call,
			      const ast_op *callee);
/* Binds the names of cx->op's attributes to their values, or defaults. */
bool bind_attrs(context *cx, const attr_value *const *given);

/* let y = f(x, a = 1) */
bool expand_call(context *cx, const ast_let *let, const ast_op *callee);

#endif
