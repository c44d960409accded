#include "config.h"

#include "dsl/builtins.h"

#include <string.h>

/* A row of kernel/functions.def by its kind: operators have no name here. */
#define ROW_SCALAR(name, least, most, rule) \
	{ name, BUILTIN_SCALAR, RULE_##rule, least, most },
#define ROW_OPERATOR(name, least, most, rule)

static const builtin table[] = {
#define FN(id, name, kind, least, most, rule, ...) \
	ROW_##kind(name, least, most, rule)
#include "kernel/functions.def"
#undef FN
#define SCALAR(name, least, most, rule) ROW_SCALAR(#name, least, most, rule)
#define REDUCER(name, rule) { #name, BUILTIN_REDUCER, RULE_##rule, 1, 1 },
#define MAPPING(name, least, most) \
	{ #name, BUILTIN_MAPPING, RULE_NONE, least, most },
#define OVERLOAD(op, name)
#include "dsl/builtins.def"
#undef SCALAR
#undef REDUCER
#undef MAPPING
#undef OVERLOAD
};

enum { NBUILTINS = sizeof(table) / sizeof(table[0]) };

const builtin *builtin_find(builtin_kind kind, const char *name)
{
	for (int i = 0; i < NBUILTINS; i++)
		if (table[i].kind == kind && !strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

const builtin *builtin_table(int *n)
{
	*n = NBUILTINS;
	return table;
}

const char *builtin_overload(ast_operator op)
{
	static const char *const names[OP_OR + 1] = {
#define SCALAR(name, least, most, rule)
#define REDUCER(name, rule)
#define MAPPING(name, least, most)
#define OVERLOAD(op, name) [OP_##op] = #name,
#include "dsl/builtins.def"
#undef SCALAR
#undef REDUCER
#undef MAPPING
#undef OVERLOAD
	};
	return names[op];
}
