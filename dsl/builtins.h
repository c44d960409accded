/* The built-in functions of TDL: scalar functions, reducers and the functions
 * of bodies, as a table made of builtins.def, kernel/functions.def and
 * kernel/reducers.def.  Only the checker looks names up here; later stages find
 * the row in the tree (ast_callee). */
#ifndef TDL_DSL_BUILTINS_H
#define TDL_DSL_BUILTINS_H

#include <stdbool.h>

#include "dsl/ast.h"

/* The rows: SCALAR_exp, MAPPING_len. */
typedef enum builtin_id {
#define ID_SCALAR(id)	SCALAR_##id,
#define ID_OPERATOR(id)
#define FN(id, name, kind, ...) ID_##kind(FN_##id)
#include "kernel/functions.def"
#undef FN
#undef ID_OPERATOR
#undef ID_SCALAR
#define REDUCER(id, ...)       REDUCER_##id,
#define AVERAGE(name, id, ...) AVERAGE_##id,
#include "kernel/reducers.def"
#undef AVERAGE
#undef REDUCER
#define SCALAR(name, ...)  SCALAR_##name,
#define MAPPING(name, ...) MAPPING_##name,
#define OVERLOAD(op, name)
#include "dsl/builtins.def"
#undef OVERLOAD
#undef MAPPING
#undef SCALAR
	BUILTIN_COUNT
} builtin_id;

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
	builtin_id id;
	builtin_kind kind;
	builtin_rule rule;
	int least, most; /* arguments */
	/* the kernel function (kernel/functions.h) that it is, or -1 */
	int fn;
	const struct reducer_facts *reducer; /* kernel/reducers.h; or NULL */
} builtin;

extern const builtin builtin_table[BUILTIN_COUNT];

/* NULL if there is none of that kind and name. */
const builtin *builtin_find(builtin_kind kind, const char *name);

/* The library operator, such as "add", that the token `op' stands for between
 * tensors; NULL if there is none. */
const char *builtin_overload(ast_operator op);

#endif
