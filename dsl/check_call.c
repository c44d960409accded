/* Checks calls of operators against the callee's signature. */
#include "config.h"

#include "dsl/checker.h"

static void check_argument(checker *c, ast_expr *arg, const ast_tensor *param)
{
	if (arg->kind == AST_CALL) {
		const ast_op *inner = check_callee(c, arg);
		if (!inner)
			return;
		check_operator_call(c, arg, inner);
		if (inner->nresults != 1)
			check_error(c, DIAG_BAD_CALL, check_call_at(arg),
				    "'%s' has %d results; a 'let' takes them "
				    "apart",
				    inner->name, inner->nresults);
		return;
	}
	arg->symbol = arg->kind == AST_NAME ? strmap_get(c->names, arg->name)
					    : NULL;
	const ast_symbol *s = arg->symbol;
	if (!s && arg->kind == AST_NAME) {
		check_error(c, DIAG_UNBOUND_INDEX, arg->at,
			    "nothing binds '%s' here", arg->name);
		return;
	}
	if (!s || s->kind != SYMBOL_TENSOR) {
		check_error(c, DIAG_BAD_CALL, arg->at,
			    "a tensor is expected here for '%s'", param->name);
		return;
	}
	symbol_facts *f = check_facts(c, s);
	f->used = true;
	bool packs = f->ndims < 0 || param->broadcast;
	for (int i = 0; i < f->ndims; i++)
		packs |= f->dims[i] && f->dims[i]->kind == AST_PACK;
	for (int i = 0; i < param->ndims; i++)
		packs |= param->dims[i]->kind == AST_PACK;
	if (!packs && f->ndims != param->ndims)
		check_error(c, DIAG_WRONG_RANK, arg->at,
			    "'%s' has %d dimension%s, the parameter '%s' has "
			    "%d",
			    arg->name, f->ndims, f->ndims == 1 ? "" : "s",
			    param->name, param->ndims);
}

/* Checks the value of an attribute: constants, or an attribute passed on. */
static void check_value(checker *c, const ast_attr *a, ast_expr *e)
{
	int before = diag_errors(c->sink);
	check_attr_value(c, a, e);
	if (diag_errors(c->sink) > before || a->type == ATTR_TYPE)
		return;
	const ast_symbol *s = e->kind == AST_NAME
				      ? strmap_get(c->names, e->name)
				      : NULL;
	if (s && s->kind == SYMBOL_ATTR) {
		e->symbol = s;
		check_facts(c, s)->used = true;
		return;
	}
	if (e->kind != AST_LIST) {
		check_constant(c, e);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		check_constant(c, e->args[i]);
}

void check_call_attrs(checker *c, const ast_expr *call, const char *name,
		      const ast_attr *attrs, int nattrs)
{
	bool *given = ARENA_ARRAY(c->tmp, bool, nattrs + 1);
	for (int i = 0; i < call->nnamed; i++) {
		ast_named *n = &call->named[i];
		int a = ast_find_attr(attrs, nattrs, n->name);
		if (a < 0) {
			check_error(c, DIAG_BAD_ATTRIBUTE, n->at,
				    "'%s' has no attribute '%s'", name,
				    n->name);
			check_suggest_attr(c, attrs, nattrs, n->name);
			continue;
		}
		if (given[a])
			check_error(c, DIAG_BAD_ATTRIBUTE, n->at,
				    "the attribute '%s' is given twice",
				    n->name);
		given[a] = true;
		n->index = a;
		check_value(c, &attrs[a], n->value);
	}
	for (int i = 0; i < nattrs; i++) {
		if (given[i] || attrs[i].init)
			continue;
		check_error(c, DIAG_BAD_ATTRIBUTE, check_call_at(call),
			    "'%s' needs the attribute '%s'", name,
			    attrs[i].name);
		diag_note(c->sink, attrs[i].at, "it has no default");
	}
}

void check_operator_call(checker *c, const ast_expr *call, const ast_op *op)
{
	if (call->open_named)
		check_error(c, DIAG_BAD_CALL, check_call_at(call),
			    "'..' passes attributes on, in an onnx entry only");
	if (call->nargs != op->nparams) {
		check_error(c, DIAG_BAD_CALL, check_call_at(call),
			    "'%s' takes %d tensor%s, not %d", op->name,
			    op->nparams, op->nparams == 1 ? "" : "s",
			    call->nargs);
		diag_note(c->sink, op->name_at, "it is defined here");
		return;
	}
	for (int i = 0; i < call->nargs; i++)
		check_argument(c, call->args[i], &op->params[i]);
	check_call_attrs(c, call, op->name, op->attrs, op->nattrs);
}
