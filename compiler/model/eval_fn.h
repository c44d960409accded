/* The functions that bodies may call, and their helpers.  Each function is a
 * row of dsl/builtins.def, and fn_NAME() here.  Shared by the files mapping_*.c
 * alone. */
#ifndef TDL_COMPILER_MODEL_EVAL_FN_H
#define TDL_COMPILER_MODEL_EVAL_FN_H

#include "compiler/model/eval_expr.h"

/* A call of a function: the arguments and the place. */
typedef struct mapping_call {
	evaluator *ev;
	range at;
	const mvalue *args;
	int n;
} mapping_call;

#define SCALAR(name, least, most, rule)
#define MAPPING(name, least, most) mvalue fn_##name(const mapping_call *c);
#define OVERLOAD(op, name)
#include "dsl/builtins.def"
#undef OVERLOAD
#undef MAPPING
#undef SCALAR

/* Charges the cost of n elements that a call reads or makes. */
void mapping_charge(const mapping_call *c, int64_t n);
/* Adds an error: the argument is not of the required kind. */
mvalue mapping_refuse(const mapping_call *c, int arg, const char *want);
/* Whether v is a list of values of one kind. */
bool mv_is_list_of(const mvalue *v, mkind kind);

#endif
