/* The built-in functions of TDL: scalar functions, reducers and the functions
 * of bodies, as tables made of builtins.def and of kernel/functions.def.  The
 * checker, expansion and every analysis look functions up here. */
#ifndef TDL_DSL_BUILTINS_H
#define TDL_DSL_BUILTINS_H

#include <stdbool.h>

#include "dsl/ast.h"

typedef enum builtin_kind {
	BUILTIN_SCALAR,
	BUILTIN_REDUCER,
	BUILTIN_MAPPING,
} builtin_kind;

typedef enum builtin_rule {
	RULE_NONE,
	RULE_FLOAT,
	RULE_NUMBER,
	RULE_INTEGER,
	RULE_TEST,
	RULE_CAST,
	RULE_BITCAST,
	RULE_SATURATE,
	RULE_SELECT,
	RULE_LENGTH,
	RULE_POSITION,
	RULE_POINTS,
	RULE_LOGIC,
	RULE_WHERE,
} builtin_rule;

typedef struct builtin {
	const char *name;
	builtin_kind kind;
	builtin_rule rule;
	int least, most; /* arguments */
} builtin;

/* NULL if there is none of that kind and name. */
const builtin *builtin_find(builtin_kind kind, const char *name);

/* The library operator that `op' of tensors stands for, "add"; NULL if there is
 * none. */
const char *builtin_overload(ast_operator op);

/* All of them, n. */
const builtin *builtin_table(int *n);

#endif
