/* Warnings about names that nothing uses. */
#include "config.h"

#include <string.h>

#include "dsl/checker.h"

static void unused_vars(checker *c, const ast_expr *e)
{
	if (e->kind == AST_LAMBDA)
		for (int i = 0; i < e->nvars; i++) {
			const ast_symbol *s = e->vars[i].symbol;
			if (s && !check_facts(c, s)->used)
				check_warning(c, DIAG_UNUSED_NAME, s->at,
					      "the variable '%s' is not used",
					      s->name);
		}
	for (int i = 0; i < e->nargs; i++)
		unused_vars(c, e->args[i]);
}

/* Whether an attribute is the default of a parameter that nobody gives, as in
 * an optimizer: "default_lr" of lr. */
static bool is_default(const ast_op *op, const char *name)
{
	static const char prefix[] = "default_";
	size_t n = sizeof(prefix) - 1;
	if (strncmp(name, prefix, n))
		return false;
	for (int i = 0; i < op->nparams; i++)
		if (!strcmp(op->params[i].name, name + n))
			return true;
	return false;
}

/* Variables of results need not be used: a result may be constant along a
 * dimension.  A tensor need not be read: its sizes may be what matters. */
void check_unused(checker *c)
{
	const ast_op *op = c->op;
	for (int i = 0; i < op->nattrs; i++) {
		const ast_symbol *s = strmap_get(c->names, op->attrs[i].name);
		if (!check_facts(c, s)->used && !is_default(op, s->name))
			check_warning(c, DIAG_UNUSED_NAME, s->at,
				      "the attribute '%s' is not used",
				      s->name);
	}
	for (int i = 0; i < op->nlets; i++) {
		const ast_let *let = &op->lets[i];
		bool used = false;
		for (int j = 0; j < let->nnames; j++)
			used |= check_facts(c, let->symbols[j])->used;
		if (!used)
			check_warning(c, DIAG_UNUSED_NAME, let->names_at[0],
				      "'%s' is not used", let->names[0]);
		if (let->value->kind == AST_LAMBDA)
			unused_vars(c, let->value->args[0]);
	}
	for (int i = 0; i < op->nbodies; i++)
		unused_vars(c, op->bodies[i]->args[0]);
}
