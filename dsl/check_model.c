/* Checks of models and defs. */
#include "config.h"

#include "dsl/checker.h"

static bool few_enough(checker *c, range at, int nparams)
{
	if (nparams <= MAX_SIGNATURE)
		return true;
	check_error(c, DIAG_TOO_MANY_DIMENSIONS, at,
		    "%d parameters, at most %d are possible", nparams,
		    MAX_SIGNATURE);
	return false;
}

/* ---- defs ---------------------------------------------------------------- */

/* Checks parameters; defaults consist of constants. */
static void check_block_params(checker *c, const ast_block *b)
{
	for (int i = 0; i < b->nparams; i++)
		if (b->params[i].value)
			check_body_value(c, b->params[i].value);
	for (int i = 0; i < b->nparams; i++)
		check_declare(c, check_symbol(c, SYMBOL_CONST,
					      b->params[i].name,
					      b->params[i].at));
	if (builtin_find(BUILTIN_MAPPING, b->name))
		check_error(c, DIAG_DUPLICATE_NAME, b->name_at,
			    "'%s' is a function of the language", b->name);
}

void check_block(tdl_modules *m, ast_block *b)
{
	checker c = check_begin_body(m, BODY_DEF);
	b->height = -1;
	m->calls++;
	if (few_enough(&c, b->name_at, b->nparams))
		check_block_params(&c, b);
	if (!c.failed && !check_statements(&c, b->body, b->nbody))
		check_error(&c, DIAG_NO_RETURN, b->name_at,
			    "'%s' can end without a 'return'", b->name);
	b->height = c.height + 1;
	if (b->height > MAX_CALL_HEIGHT)
		check_error(&c, DIAG_TOO_DEEP, b->name_at,
			    "defs call each other more than %d deep",
			    MAX_CALL_HEIGHT);
	m->calls--;
	b->faulty |= c.failed;
	arena_free(c.tmp);
}

/* ---- models -------------------------------------------------------------- */

/* An argument's default may use the arguments before it. */
static void check_arguments(checker *c, const ast_model *m)
{
	for (int i = 0; i < m->nparams; i++) {
		const ast_named *p = &m->params[i];
		if (p->value)
			check_body_value(c, p->value);
		check_declare(c, check_symbol(c, SYMBOL_CONST, p->name, p->at));
	}
}

void check_model(tdl_modules *m, ast_model *model)
{
	checker c = check_begin_body(m, BODY_MODEL);
	if (few_enough(&c, model->name_at, model->nparams))
		check_arguments(&c, model);
	check_statements(&c, model->body, model->nbody);
	if (!c.failed && !c.has_output)
		check_error(&c, DIAG_NO_OUTPUT, model->name_at,
			    "the model '%s' has no output", model->name);
	model->faulty |= c.failed;
	arena_free(c.tmp);
}
