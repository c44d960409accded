/* Trials of the analysis: an operator, drawn shapes and attributes, and what
 * the analysis says of them beside what expansion finds. */
#ifndef TDL_TESTS_UNIT_SYMBOLIC_TRIAL_H
#define TDL_TESTS_UNIT_SYMBOLIC_TRIAL_H

#include "compiler/analysis/descriptor.h"
#include "compiler/analysis/symbolic.h"
#include "compiler/expand/expand.h"

typedef struct trial {
	arena *a;
	diag_sink *sink;
	tdl_modules *m;
	const char *text;
	const ast_op *op;
	const desc_op *d;
	const sym_op *x;
	int64_t *values; /* by atom */
	const attr_value **attrs;
	tensor_type *types;
	int checked, exact;
} trial;

/* Seeds the draws, and draws a number from 0 up to limit. */
void seed_trials(unsigned start);
int below(int limit);

/* A trial with an arena of its own; the definitions of a text added to it. */
trial begin(void);
void load(trial *t, const char *text);

/* Draws attributes and the values of atoms; shapes, false if these do not
 * suit. */
void invent(trial *t);
bool invent_shapes(trial *t);

/* Compares t->op for so many draws.  Returns how many of them suited. */
int try_op(trial *t, int times);

#endif
