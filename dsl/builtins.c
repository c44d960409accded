#include "config.h"

#include "dsl/builtins.h"

#include <string.h>

#include "kernel/reducers.h"

/* The rows of reducer_table: the averages come after the others. */
enum {
	ROW_NONE,
#define REDUCER(id, ...)       ROW_##id,
#define AVERAGE(name, id, ...) ROW_AVERAGE_##id,
#include "kernel/reducers.def"
#undef AVERAGE
#undef REDUCER
};

/* A row of kernel/functions.def by its kind: operators have no name here. */
#define ROW_SCALAR(id, name, least, most, rule)                            \
	[SCALAR_FN_##id] = { name, SCALAR_FN_##id, BUILTIN_SCALAR,         \
			     RULE_##rule, least, most, FN_##id, NULL },
#define ROW_OPERATOR(id, name, least, most, rule)
#define ROW_REDUCER(id, row, name, rule)                                   \
	[id] = { name, id, BUILTIN_REDUCER, RULE_##rule, 1, 1, -1,         \
		 &reducer_table[row] },

const builtin builtin_table[BUILTIN_COUNT] = {
#define FN(id, name, kind, least, most, rule, ...) \
	ROW_##kind(id, name, least, most, rule)
#include "kernel/functions.def"
#undef FN
#define REDUCER(id, name, rule, ...) \
	ROW_REDUCER(REDUCER_##id, ROW_##id, name, rule)
#define AVERAGE(name, id, rule, ...) \
	ROW_REDUCER(AVERAGE_##id, ROW_AVERAGE_##id, name, rule)
#include "kernel/reducers.def"
#undef AVERAGE
#undef REDUCER
#define SCALAR(name, least, most, rule)                                    \
	[SCALAR_##name] = { #name, SCALAR_##name, BUILTIN_SCALAR,          \
			    RULE_##rule, least, most, -1, NULL },
#define MAPPING(name, least, most)                                         \
	[MAPPING_##name] = { #name, MAPPING_##name, BUILTIN_MAPPING,       \
			     RULE_NONE, least, most, -1, NULL },
#define OVERLOAD(op, name)
#include "dsl/builtins.def"
#undef OVERLOAD
#undef MAPPING
#undef SCALAR
};

const builtin *builtin_find(builtin_kind kind, const char *name)
{
	for (int i = 0; i < BUILTIN_COUNT; i++)
		if (builtin_table[i].kind == kind &&
		    !strcmp(builtin_table[i].name, name))
			return &builtin_table[i];
	return NULL;
}

const reducer_facts *ast_reducer(const ast_expr *e)
{
	const builtin *f = e->kind == AST_CALL ? e->calls.function : NULL;
	return f ? f->reducer : NULL;
}

const ast_opaque *ast_opaque_of(const ast_expr *e)
{
	return e->kind == AST_CALL ? e->calls.opaque : NULL;
}

const ast_op *ast_op_of(const ast_expr *e)
{
	return e->kind == AST_CALL ? e->calls.op : NULL;
}

const char *builtin_overload(ast_operator op)
{
	static const char *const names[OP_OR + 1] = {
#define SCALAR(...)
#define MAPPING(...)
#define OVERLOAD(op, name) [OP_##op] = #name,
#include "dsl/builtins.def"
#undef OVERLOAD
#undef MAPPING
#undef SCALAR
	};
	return names[op];
}
