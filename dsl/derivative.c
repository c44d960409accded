/* The derivatives of functions: rules of kernel/functions.def as trees. */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "dsl/dsl.h"
#include "kernel/functions.h"

/* A separate set whose operators are the rules; it shares the names of m. */
static tdl_modules *rules_of(tdl_modules *m)
{
	if (!m->rules) {
		m->rules = dsl_new(m->arena, diag_sink_new(m->arena), NULL, 0);
		m->rules->names = m->names;
	}
	return m->rules;
}

const ast_expr *dsl_derivative(tdl_modules *m, int function, int i)
{
	const char *rule = i < 2 ? fn_table[function].by[i] : NULL;
	if (!rule)
		return NULL;
	tdl_modules *rules = rules_of(m);
	char name[32];
	snprintf(name, sizeof(name), "by_%d_%d", function, i);
	const ast_op *op = dsl_op(rules, name);
	if (!op) {
		const char *text = arena_printf(
			m->arena, "op %s(x[], y[]) -> z[] = lambda: %s", name,
			rule);
		bool good = dsl_load_text(rules, "a derivative", text,
					  strlen(text));
		assert(good);
		op = good ? dsl_op(rules, name) : NULL;
	}
	return op ? op->bodies[0]->args[0] : NULL;
}
