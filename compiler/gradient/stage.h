/* An operator as a chain of stages, each of which is a plain expression, the
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
	VEC(int) tensor_of; /* by symbol: a tensor, ~t for the derivative by
			       tensor t, NO_TENSOR for others */
	VEC(grad_stage *) stages; /* results last, in order */
	VEC(grad_constant) constants;
	int *results;		  /* tensors, as many as the operator has */
	VEC(const char *) taken;  /* names that were made */
	VEC(const char *) renamed; /* those of variables that hid a name */
	int nmade;		  /* variables that were made */
	VEC(const ast_symbol *) adjoints; /* the derivatives by tensors, by
					     number; NULL: not yet */
	const bool *varying; /* by tensor: it follows from a parameter of
				floats */
	bool complete; /* all of the operator is in the stages */
	const char *because; /* why it has no stages; NULL where it has */
} grad_op;

/* The stages of op.  If they are not found, because is set. */
void grad_stages(grad_op *g);

/* Adds a tensor; returns its number. */
int grad_add_tensor(grad_op *g, grad_tensor t);

/* Adds a stage, which computes the tensor of that symbol; that has the extents
 * of its variables.  Returns the tensor. */
int grad_add_stage(grad_op *g, const ast_symbol *computed, grad_stage s);

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

/* Whether e is a sum or product, in which a 0 does without its type. */
bool grad_absorbs_zero(const ast_expr *e);

/* x, which e was simplified to, with the type that it may have lost by that. */
ast_expr *grad_typed_number(grad_op *g, ast_expr *x, const ast_expr *e);

/* e; a reduction of constants as one of numbers of the type. */
ast_expr *grad_typed_reduction(grad_op *g, ast_expr *e, etype type);

/* A decided choice's alternative x as a value of the type that it has in common
 * with the other: trees.chosen. */
ast_expr *grad_chosen(void *arg, ast_expr *x, const ast_expr *other);

/* Whether it has one: it is no constant, which takes that of what it meets. */
bool grad_has_type(const grad_op *g, const ast_expr *e);

/* The type of a parameter or result, whose symbol is s, and of what is written
 * in a conversion. */
etype grad_declared_type(const ast_tensor *t, const ast_symbol *s);
etype grad_said_type(const grad_op *g, const ast_type *t);

/* Whether an expression has floats, whatever the types that are left open. */
bool grad_is_surely_float(const grad_op *g, const ast_expr *e);

/* e as a value of that type; e where that is none. */
ast_expr *grad_cast(grad_op *g, ast_expr *e, etype type);

/* e with 0 for what is divided by an integer that has become 0: a text cannot
 * say that. */
ast_expr *grad_divided_by_none(grad_op *g, ast_expr *e);

/* ---- symbols (symbols.c) ------------------------------------------------ */

/* Adds one of the operator, in the order of their numbers. */
void grad_add_symbol(grad_op *g, const ast_symbol *s);

/* The tensor that an expression is a use of; -1 for none. */
int grad_tensor_of(const grad_op *g, const ast_expr *e);

/* The same, or the tensor by which it is the derivative: either has that one's
 * dimensions and type. */
int grad_tensor_like(const grad_op *g, const ast_expr *e);

/* The same of what an expression reads, where it reads a tensor. */
int grad_read_of(const grad_op *g, const ast_expr *e);

/* A symbol of its own, of a tensor, or of a variable, with the name. */
const ast_symbol *grad_symbol(grad_op *g, ast_symbol_kind kind,
			      const char *name);

/* The same of a tensor, or of a variable that hid a name, with a name that
 * stands nowhere: the stem, or it and a number. */
const ast_symbol *grad_fresh(grad_op *g, const char *stem);
const ast_symbol *grad_renamed(grad_op *g, const char *stem);

/* The symbol of result i, with its name, unless a let has that, which results
 * do not hide. */
const ast_symbol *grad_result(grad_op *g, int i);

/* Whether a name has a meaning in all of the operator, or was made: it is not
 * just a variable's. */
bool grad_is_global(const grad_op *g, const char *name);

/* The derivative by a tensor, called "dx"; and another symbol for it. */
const ast_symbol *grad_adjoint(grad_op *g, int tensor);
void grad_set_adjoint(grad_op *g, int tensor, const ast_symbol *s);

/* Whether e reads a tensor, or the derivative by one; whether it does so
 * anywhere. */
bool grad_is_read(const grad_op *g, const ast_expr *e);
bool grad_has_read(const grad_op *g, const ast_expr *e);

/* A variable of its own, whose name is that of nothing else; the operator is
 * written with the stem, or it and a number, in its place (written.h).  Nothing
 * that is put under its lambda can be captured. */
const ast_symbol *grad_new_variable(grad_op *g, const char *stem);

/* Whether a name is that of such a variable, and its stem. */
bool grad_is_made(const char *name);
const char *grad_stem(const char *made);

/* ---- reads --------------------------------------------------------------- */

/* The variables as the items of an index. */
void grad_items(grad_op *g, const ast_var *vars, int n, ast_expr **items);

/* let a, b = f(x, k = 1): a stage, and one more for each call among the
 * arguments.  (call.c) */
void grad_add_call(grad_op *g, const ast_symbol *const *results, int n,
		   const ast_expr *call);

/* The size of the dimension that operand i of a read indexes, of a tensor or
 * the derivative by one; NULL where a pack is in between. */
ast_expr *grad_read_size(const grad_op *g, const ast_expr *read, int i);

/* The size of the dimension that v indexes by itself, without a guard, in e;
 * NULL for none. */
ast_expr *grad_indexed_size(const grad_op *g, const ast_expr *e,
			    const ast_symbol *v);

/* Whether every dimension that v indexes by itself, without a guard, in e, of a
 * tensor or the derivative by one, has this size. */
bool grad_agree_on_size(const grad_op *g, const ast_expr *e,
			const ast_symbol *v, const ast_expr *size);

#endif
