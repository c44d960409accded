/* Checks of onnx entries: inputs and attributes have types, and every path
 * through the body ends. */
#include "config.h"

#include "dsl/checker.h"

static void check_params(checker *c, const ast_onnx *e)
{
	for (int i = 0; i < e->nparams; i++) {
		const ast_tensor *p = &e->params[i];
		check_declare(c, check_symbol(c, SYMBOL_TENSOR, p->name,
					      p->at));
		if (p->variadic && i < e->nparams - 1)
			check_error(c, DIAG_BAD_SIGNATURE, p->at,
				    "only the last input can stand for "
				    "several");
		if (p->constant && p->type.kind == TYPE_NAMED)
			check_error(c, DIAG_UNKNOWN_TYPE, p->type.at,
				    "'%s' is not a type of constant inputs; "
				    "these are int, float and bool",
				    p->type.name);
	}
	for (int i = 0; i < e->nattrs; i++) {
		ast_symbol *s = check_symbol(c, SYMBOL_ATTR, e->attrs[i].name,
					     e->attrs[i].at);
		s->index = i;
		check_facts(c, s)->attr = &e->attrs[i];
		check_declare(c, s);
	}
}

void check_onnx(tdl_modules *m, ast_onnx *e)
{
	checker c = check_begin_body(m, BODY_ONNX);
	if (e->nparams + e->nattrs > MAX_SIGNATURE)
		check_error(&c, DIAG_TOO_MANY_DIMENSIONS, e->name_at,
			    "%d inputs and attributes, at most %d are possible",
			    e->nparams + e->nattrs, MAX_SIGNATURE);
	else
		check_params(&c, e);
	if (!c.failed)
		check_attr_list(&c, e->attrs, e->nattrs, true);
	if (!c.failed && !check_statements(&c, e->body, e->nbody))
		check_error(&c, DIAG_NO_RETURN, e->name_at,
			    "the entry of '%s' can end without a 'return'",
			    e->op_type);
	e->faulty |= c.failed;
	arena_free(c.tmp);
}
