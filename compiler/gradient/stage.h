/* An operator as a chain of stages, each of which is a plain expression, the
 * reduction of one, or a call of an operator. */
#ifndef TDL_COMPILER_GRADIENT_STAGE_H
#define TDL_COMPILER_GRADIENT_STAGE_H

#include "base/vec.h"
#include "compiler/gradient/tree.h"
#include "dsl/dsl.h"
#include "dsl/element_type.h"

typedef struct grad_tensor {
	const char *name;
	int ndims;
	ast_expr **dims; /* sizes, or AST_PACK */
	etype type;	 /* of its elements */
	bool broadcast;	 /* a parameter that is */
	bool smooth;	 /* may have float elements */
	int param;	 /* -1 for what a stage computes */
} grad_tensor;

typedef struct grad_stage {
	int tensor; /* the result */
	int nvars;  /* of the result, each with its extent */
	ast_var *vars;
	const builtin *reducer; /* NULL for none */
	int nreduced;
	ast_var *reduced;
	ast_expr *body;
	/* Of a call, whose results are tensors `tensor` and those behind it;
	 * the rest is NULL. */
	const ast_op *callee;
	ast_expr *call; /* its arguments are names of tensors */
} grad_stage;

/* let c = 1.5 */
typedef struct grad_constant {
	const char *name;
	ast_expr *value;
} grad_constant;

typedef struct grad_op {
	trees t;
	tdl_modules *modules;
	const ast_op *op;
	VEC(grad_tensor) tensors; /* parameters first */
	VEC(grad_stage *) stages; /* results last, in order */
	VEC(grad_constant) constants;
	int *results;		  /* tensors, as many as the operator has */
	VEC(const char *) taken;  /* names that were made */
	VEC(const char *) renamed; /* those of variables that hid a name */
	int nmade;		  /* variables that were made */
	VEC(const char *) adjoints; /* of tensors, by number; NULL: not yet */
	const bool *varying; /* by tensor: it follows from a parameter of
				floats */
	const char *because; /* why it has no stages; NULL where it has */
} grad_op;

/* The stages of op.  If they are not found, because is set. */
void grad_stages(grad_op *g);

/* Adds a stage; its result gets the name and the extents of its variables.
 * Returns the tensor. */
int grad_add_stage(grad_op *g, const char *name, grad_stage s);

/* The variables of a lambda, all of which need an extent. */
ast_var *grad_lambda_vars(grad_op *g, const ast_expr *lambda);

/* An expression of stage s, of which the variables are known, without
 * reductions: these become stages of their own, computed at all values of their
 * variables.  What reads outside under the condition that an expression stood
 * under gives 0 there.  (hoist.c) */
ast_expr *grad_hoist(grad_op *g, const ast_expr *e, const grad_stage *s);

/* Whether a declared tensor may have float elements. */
bool grad_has_floats(const ast_tensor *t);

/* The element type of an expression, by the rules of the language. (type.c) */
etype grad_type(const grad_op *g, const ast_expr *e);

/* The one that operands have in common. */
etype grad_common_type(const grad_op *g, ast_expr *const *e, int n);

/* The type that constants among the operands of e take, where e stands in an
 * expression of the type `around'; unknown where nothing says. (constants.c) */
etype grad_operands_type(const grad_op *g, const ast_expr *e, etype around);

/* A lambda's body that simplifying may have left without its type. */
ast_expr *grad_still_typed(grad_op *g, ast_expr *body, const ast_expr *before);

/* inf or -inf as a number of an integer type; NULL where e is none. */
ast_expr *grad_typed_infinity(grad_op *g, const ast_expr *e, etype type);

/* e, a conversion of an argument that simplifying may have left without its
 * type. */
ast_expr *grad_typed_argument(grad_op *g, ast_expr *e, const ast_expr *before);

/* e; a reduction of constants as one of numbers of the type. */
ast_expr *grad_typed_reduction(grad_op *g, ast_expr *e, etype type);

/* Whether it has one: it is no constant, which takes that of what it meets. */
bool grad_has_type(const grad_op *g, const ast_expr *e);

/* The type of a parameter or result, and of what is written in a conversion. */
etype grad_declared_type(const ast_tensor *t);
etype grad_said_type(const grad_op *g, const ast_type *t);

/* Whether an expression has floats, whatever the types that are left open. */
bool grad_is_surely_float(const grad_op *g, const ast_expr *e);

/* e as a value of that type; e where that is none. */
ast_expr *grad_cast(grad_op *g, ast_expr *e, etype type);

/* e with 0 for what is divided by an integer that has become 0: a text cannot
 * say that. */
ast_expr *grad_divided_by_none(grad_op *g, ast_expr *e);

/* The tensor of that name; -1 for none. */
int grad_find_tensor(const grad_op *g, const char *name);

/* Whether a name has a meaning in all of the operator, or was made: it is not
 * just a variable's. */
bool grad_is_global(const grad_op *g, const char *name);

/* The name of the derivative by a tensor: "dx". */
const char *grad_adjoint_name(grad_op *g, int tensor);

/* Whether a name is that of a tensor, or of the derivative by one. */
bool grad_is_tensor(const grad_op *g, const char *name);

/* Whether e reads a tensor, or one of these; whether it does so anywhere. */
bool grad_is_read(const grad_op *g, const ast_expr *e);
bool grad_has_read(const grad_op *g, const ast_expr *e);

/* A name that stands nowhere in the operator and is no word of the language:
 * the stem, or it and a number. */
const char *grad_fresh(grad_op *g, const char *stem);

/* A variable of its own, whose name is that of nothing else; the operator is
 * written with the stem, or it and a number, in its place (written.h).  Nothing
 * that is put under its lambda can be captured. */
const char *grad_new_variable(grad_op *g, const char *stem);

/* Whether a name is that of such a variable, and its stem. */
bool grad_is_made(const char *name);
const char *grad_stem(const char *made);

/* The variables as the items of an index. */
void grad_items(grad_op *g, const ast_var *vars, int n, ast_expr **items);

/* let a, b = f(x, k = 1): a stage, and one more for each call among the
 * arguments.  (call.c) */
void grad_add_call(grad_op *g, const char *const *names, int n,
		   const ast_expr *call);

/* The size of the dimension that operand i of a read indexes, of a tensor or
 * the derivative by one; NULL where a pack is in between. */
ast_expr *grad_read_size(const grad_op *g, const ast_expr *read, int i);

/* The size of the dimension that v indexes by itself, without a guard, in e;
 * NULL for none. */
ast_expr *grad_indexed_size(const grad_op *g, const ast_expr *e, const char *v);

/* Whether every dimension that v indexes by itself, without a guard, in e, of a
 * tensor or the derivative by one, has this size. */
bool grad_agree_on_size(const grad_op *g, const ast_expr *e, const char *v,
			const ast_expr *size);

#endif
