/* What the files of the functions that bodies may call share.  Each function
 * is a row of dsl/builtins.def, and fn_NAME() here. */
#ifndef TDL_COMPILER_GRAPH_MAPPING_FN_H
#define TDL_COMPILER_GRAPH_MAPPING_FN_H

#include "compiler/graph/mapping_expr.h"

/* What a function is called with. */
typedef struct mapping_call {
	evaluator *ev;
	range at;
	const mvalue *args;
	int n;
} mapping_call;

#define SCALAR(name, least, most, rule, derivative)
#define REDUCER(name, rule)
#define MAPPING(name, least, most) mvalue fn_##name(const mapping_call *c);
#define OVERLOAD(op, name)
#include "dsl/builtins.def"
#undef OVERLOAD
#undef MAPPING
#undef REDUCER
#undef SCALAR

/* What n elements cost that a call goes through, or makes. */
void mapping_charge(const mapping_call *c, int64_t n);
/* An error: the argument is not what is wanted. */
mvalue mapping_refuse(const mapping_call *c, int arg, const char *want);
/* Whether v is a list of values of one kind. */
bool mv_is_list_of(const mvalue *v, mkind kind);

#endif
