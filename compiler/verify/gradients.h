/* The checks of gradients, shared by gradients.c and rounded.c alone: operators
 * and their derived gradients are expanded and run on the same arguments. */
#ifndef TDL_COMPILER_VERIFY_GRADIENTS_H
#define TDL_COMPILER_VERIFY_GRADIENTS_H

#include "compiler/gradient/gradient.h"
#include "compiler/verify/trial.h"

/* An operator with everything needed to run it. */
typedef struct run {
	trial *t;
	const ast_op *op;
	const expansion *x;
	const tensor_type *types; /* of the parameters */
	view *values;		  /* as in struct trial */
	const char *because;	  /* why it could not be expanded */
} run;

/* Expands the operator for the run's types, and allocates its values.  Returns
 * false, with because set, if that fails. */
bool expand_run(run *r, const attr_value *const *attrs);

/* Computes all stages, or one.  Returns false if an index is outside of its
 * tensor. */
bool execute_run(run *r);
bool execute_stage(run *r, int i);

/* The parameters' types of a trial with `type' in place of all float types; the
 * same for attributes that are types. */
tensor_type *types_in(const trial *t, dtype type);
const attr_value **attrs_in(const trial *t, dtype type);

/* Sets to 0 the weights of elements of y that are not finite. */
void leave_infinite(const view *y, view *weights);

/* The weights, one view for each result of f, without those of results that a
 * grad definition does not take: no gradient flows back from these. */
const view *weights_asked(const run *f, const view *weights,
			  const gradient *d);

/* Whether the gradient takes the derivative by a result that has integers
 * here. */
bool asks_for_none(const view *weights, const gradient *d, const ast_op *op);

/* Expands the derived operator g->op, of the operator that f runs, for the
 * current arguments, and runs it.  Returns false, with a finding, if that
 * fails. */
bool run_gradient(run *g, const run *f, const view *weights,
		  const attr_value *const *attrs, const gradient *d);

/* The numbers, by stage, at which a step function in a run changes; whether two
 * runs of one operator, perhaps in two types, are on the same steps.
 * (steps.c) */
view *steps_of(const run *r);
bool are_same_steps(const run *r, const view *x, const view *y);
/* Whether a conversion overflows in a run's values. */
bool has_overflow(const run *r);

/* Compares derived gradients in shorter floats with f64 (rounded.c). */
void check_rounded_gradients(trial *t);

#endif
