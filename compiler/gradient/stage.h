/* An operator as a chain of stages.  A stage is a plain expression, the
 * reduction of one, or a call of an operator. */
#ifndef TDL_COMPILER_GRADIENT_STAGE_H
#define TDL_COMPILER_GRADIENT_STAGE_H

#include <limits.h>

#include "base/vec.h"
#include "compiler/gradient/tree.h"
#include "dsl/dsl.h"
#include "dsl/element_type.h"

typedef struct grad_tensor {
	const ast_symbol *symbol;
	int ndims;
	ast_expr **dims; /* sizes, or AST_PACK */
	etype type;	 /* of its elements */
	bool broadcast;	 /* a broadcast parameter */
	bool smooth;	 /* may have float elements */
	int param;	 /* -1 if a stage computes it */
} grad_tensor;

typedef struct grad_stage {
	int tensor; /* the result */
	int nvars;  /* of the result, each with its extent */
	ast_var *vars;
	const builtin *reducer; /* NULL for none */
	int nreduced;
	ast_var *reduced;
	ast_expr *body;
	/* For a call, whose results are tensors `tensor' and following; the
	 * members above are NULL then. */
	const ast_op *callee;
	ast_expr *call; /* its arguments are tensors */
} grad_stage;

/* let c = 1.5 */
typedef struct grad_constant {
	const ast_symbol *symbol;
	ast_expr *value;
} grad_constant;

enum { NO_TENSOR = INT_MAX };

typedef struct grad_op {
	trees t;
	tdl_modules *modules;
	const ast_op *op;
	VEC(grad_tensor) tensors; /* parameters first */
	VEC(const ast_symbol *) symbols; /* of op, then those that are made */
	/* by symbol: a tensor, ~t for the derivative by tensor t, NO_TENSOR for
	 * others */
	VEC(int) tensor_of;
	VEC(grad_stage *) stages; /* in order, results last */
	VEC(grad_constant) constants;
	int *results;		  /* tensors, as many as the operator has */
	VEC(const char *) taken;  /* names given to new symbols */
	VEC(const char *) renamed; /* new names of variables that hid a name */
	int nmade;		  /* number of variables made */
	/* the derivatives by tensors, by number; NULL: not yet */
	VEC(const ast_symbol *) adjoints;
	const bool *varying; /* by tensor: it depends on a float parameter */
	bool complete; /* the stages have all of the operator */
	const char *because; /* why it has no stages; NULL if it has */
} grad_op;

/* Finds the stages of op; sets because if that fails. */
void grad_stages(grad_op *g);

/* Adds a tensor; returns its number. */
int grad_add_tensor(grad_op *g, grad_tensor t);

/* Adds a stage that computes a new tensor with that symbol, whose extents are
 * those of the stage's variables.  Returns the tensor. */
int grad_add_stage(grad_op *g, const ast_symbol *computed, grad_stage s);

/* The variables of a lambda, each of which must have an extent. */
ast_var *grad_lambda_vars(grad_op *g, const ast_expr *lambda);

/* An expression of stage s with its reductions removed: these become stages of
 * their own, computed at all values of their variables.  A read that is outside
 * of its tensor unless a condition on the expression holds gives 0 there.
 * (hoist.c) */
ast_expr *grad_hoist(grad_op *g, const ast_expr *e, const grad_stage *s);

/* Whether a declared tensor may have float elements. */
bool grad_has_floats(const ast_tensor *t);

/* The element type of an expression by the rules of the language.  (type.c) */
etype grad_type(const grad_op *g, const ast_expr *e);

/* The common type of operands. */
etype grad_common_type(const grad_op *g, ast_expr *const *e, int n);

/* The type that constants among the operands of e take if e stands in an
 * expression of type `around'; unknown if nothing determines it.
 * (constants.c) */
etype grad_operands_type(const grad_op *g, const ast_expr *e, etype around);

/* body, given again the type of `before' if simplifying it has left it without
 * one. */
ast_expr *grad_still_typed(grad_op *g, ast_expr *body, const ast_expr *before);

/* inf or -inf as a number of an integer type; NULL if e is neither. */
ast_expr *grad_typed_infinity(grad_op *g, const ast_expr *e, etype type);

/* Whether e is a sum or product, in which a 0 needs no type of its own. */
bool grad_absorbs_zero(const ast_expr *e);

/* x, the simplified form of e, with e's type if x has lost it. */
ast_expr *grad_typed_number(grad_op *g, ast_expr *x, const ast_expr *e);

/* e; a reduction of constants becomes one of numbers of the type. */
ast_expr *grad_typed_reduction(grad_op *g, ast_expr *e, etype type);

/* The alternative x of a decided choice as a value of the type common to both
 * alternatives: trees.chosen. */
ast_expr *grad_chosen(void *arg, ast_expr *x, const ast_expr *other);

/* Whether e has a type of its own, unlike a constant, which takes that of its
 * context. */
bool grad_has_type(const grad_op *g, const ast_expr *e);

/* The type of a parameter or result with symbol s; the type that a conversion
 * names. */
etype grad_declared_type(const ast_tensor *t, const ast_symbol *s);
etype grad_said_type(const grad_op *g, const ast_type *t);

/* Whether an expression is of floats for all types that are left open. */
bool grad_is_surely_float(const grad_op *g, const ast_expr *e);

/* e converted to that type; e itself if the type is not a definite one. */
ast_expr *grad_cast(grad_op *g, ast_expr *e, etype type);

/* e with 0 in place of quotients by integers that have become 0, which a text
 * cannot express. */
ast_expr *grad_divided_by_none(grad_op *g, ast_expr *e);

/* ---- symbols (symbols.c) ------------------------------------------------ */

/* Adds a symbol of the operator; called in the order of their numbers. */
void grad_add_symbol(grad_op *g, const ast_symbol *s);

/* The tensor that an expression uses; -1 if none. */
int grad_tensor_of(const grad_op *g, const ast_expr *e);

/* The tensor that an expression uses, or by which it is the derivative: both
 * have that tensor's dimensions and type. */
int grad_tensor_like(const grad_op *g, const ast_expr *e);

/* The same for the tensor that an expression reads. */
int grad_read_of(const grad_op *g, const ast_expr *e);

/* A new symbol, for a tensor or a variable, with this name. */
const ast_symbol *grad_symbol(grad_op *g, ast_symbol_kind kind,
			      const char *name);

/* A new symbol for a tensor, or for a variable that hid a name, with an unused
 * name: the stem, or the stem and a number. */
const ast_symbol *grad_fresh(grad_op *g, const char *stem);
const ast_symbol *grad_renamed(grad_op *g, const char *stem);

/* The symbol of result i.  It has the result's name unless a let has that:
 * results do not hide lets. */
const ast_symbol *grad_result(grad_op *g, int i);

/* Whether a name has a meaning in the whole operator, or was made; false for a
 * variable's name. */
bool grad_is_global(const grad_op *g, const char *name);

/* The derivative by a tensor, called "dx"; sets another symbol for it. */
const ast_symbol *grad_adjoint(grad_op *g, int tensor);
void grad_set_adjoint(grad_op *g, int tensor, const ast_symbol *s);

/* Whether e is a read of a tensor, or of the derivative by one; whether it
 * contains one. */
bool grad_is_read(const grad_op *g, const ast_expr *e);
bool grad_has_read(const grad_op *g, const ast_expr *e);

/* A new variable with a unique name.  When the operator is written, the stem,
 * or the stem and a number, replaces the name (written.h).  No expression that
 * is put under its lambda can be captured. */
const ast_symbol *grad_new_variable(grad_op *g, const char *stem);

/* Whether a name is that of such a variable; its stem. */
bool grad_is_made(const char *name);
const char *grad_stem(const char *made);

/* ---- reads --------------------------------------------------------------- */

/* The variables as the items of an index. */
void grad_items(grad_op *g, const ast_var *vars, int n, ast_expr **items);

/* Adds let a, b = f(x, k = 1): a stage, and one more for each call among the
 * arguments.  (call.c) */
void grad_add_call(grad_op *g, const ast_symbol *const *results, int n,
		   const ast_expr *call);

/* The size of the dimension that item i of a read indexes, in a tensor or the
 * derivative by one; NULL if a pack is before it. */
ast_expr *grad_read_size(const grad_op *g, const ast_expr *read, int i);

/* The size of a dimension that v alone indexes, without a guard, in e; NULL if
 * there is none. */
ast_expr *grad_indexed_size(const grad_op *g, const ast_expr *e,
			    const ast_symbol *v);

/* Whether every dimension that v alone indexes, without a guard, in e has this
 * size. */
bool grad_agree_on_size(const grad_op *g, const ast_expr *e,
			const ast_symbol *v, const ast_expr *size);

#endif
