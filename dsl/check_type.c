/* Checks the element types of an operator's body.  Types that only expansion
 * knows (from an attribute, or `int') pass here. */
#include "config.h"

#include "dsl/checker.h"

/* ---- names -------------------------------------------------------------- */

static etype attr_type_of(const ast_attr *a)
{
	switch (a->type) {
	case ATTR_INT:
	case ATTR_AXIS:
		return (etype){ .kind = TY_INT };
	case ATTR_FLOAT:
		return (etype){ .kind = TY_FLOAT };
	case ATTR_STRING:
		return (etype){ .kind = TY_STRING };
	case ATTR_BOOL:
		return etype_exact(DT_BOOL);
	case ATTR_TYPE:
	case ATTR_GRAPH:
		break;
	}
	return etype_unknown;
}

static etype symbol_type(const checker *c, const ast_symbol *s)
{
	switch (s->kind) {
	case SYMBOL_SIZE:
		return (etype){ .kind = TY_INT };
	case SYMBOL_ATTR:
		return attr_type_of(check_facts(c, s)->attr);
	case SYMBOL_VAR:
		return etype_exact(DT_I64);
	case SYMBOL_TENSOR:
	case SYMBOL_CONST:
		return check_facts(c, s)->type;
	case SYMBOL_PACK:
		break;
	}
	return etype_unknown;
}

static etype of_name(void *arg, const ast_expr *e)
{
	checker *c = arg;
	if (!e->symbol)
		return etype_unknown;
	if (e->symbol->kind != SYMBOL_ATTR ||
	    check_facts(c, e->symbol)->attr->type != ATTR_TYPE)
		return symbol_type(c, e->symbol);
	check_error(c, DIAG_TYPE_MISMATCH, e->at,
		    "'%s' is an element type, not a value", e->name);
	return etype_faulty;
}

static etype said(void *arg, const ast_type *t)
{
	return t->kind == TYPE_TENSOR ? symbol_type(arg, t->symbol)
				      : etype_declared(t);
}

static void fault(void *arg, const etype_fault *f)
{
	checker *c = arg;
	check_error(c, f->id, f->at, "%s", f->text);
	if (f->note)
		diag_note(c->sink, NOWHERE, "%s", f->note);
}

static etype type_of(checker *c, const ast_expr *e)
{
	etype_scope s = { .of_name = of_name, .said = said, .fault = fault,
			  .a = c->tmp, .arg = c };
	return etype_of(&s, e);
}

/* ---- calls of operators ------------------------------------------------- */

static etype tensor_type(checker *c, const ast_expr *arg);

/* The common type of a call's argument and its parameter. */
static etype agree(checker *c, etype x, etype y, range at, const char *what)
{
	etype r;
	if (etype_unify(x, y, &r))
		return r;
	check_error(c, DIAG_TYPE_MISMATCH, at,
		    "the %s have different types: one is %s, another %s; "
		    "cast(.., TYPE) converts",
		    what, etype_text(c->tmp, x), etype_text(c->tmp, y));
	return etype_faulty;
}

/* The types of an operator's results in a call, from those of its arguments:
 * types[i] for result i. */
static void call_types(checker *c, const ast_expr *e, const ast_op *op,
		       etype *types)
{
	etype shared = etype_unknown;
	for (int i = 0; i < e->nargs; i++) {
		etype own = tensor_type(c, e->args[i]);
		etype declared = etype_declared(&op->params[i].type);
		if (declared.kind == TY_SHARED)
			shared = agree(c, shared, own, e->args[i]->at,
				       "arguments");
		else if (declared.kind != TY_ATTR)
			agree(c, declared, own, e->args[i]->at,
			      "argument and its parameter");
	}
	for (int i = 0; i < op->nresults; i++) {
		etype t = etype_declared(&op->results[i].type);
		types[i] = t.kind == TY_SHARED ? shared
			   : t.kind == TY_ATTR ? etype_unknown
					       : t;
	}
}

static etype tensor_type(checker *c, const ast_expr *arg)
{
	if (arg->kind != AST_CALL)
		return arg->symbol ? symbol_type(c, arg->symbol)
				   : etype_unknown;
	const ast_op *op = arg->calls.op;
	etype t;
	if (!op || op->nresults != 1)
		return etype_unknown;
	call_types(c, arg, op, &t);
	return t;
}

static void type_let(checker *c, const ast_let *let)
{
	const ast_expr *e = let->value;
	symbol_facts *f = check_facts(c, let->symbols[0]);
	const ast_op *op = e->kind == AST_CALL ? e->calls.op : NULL;
	if (op) {
		etype *types = ARENA_ARRAY(c->tmp, etype, op->nresults);
		call_types(c, e, op, types);
		for (int i = 0; i < let->nnames; i++)
			check_facts(c, let->symbols[i])->type = types[i];
		return;
	}
	f->type = type_of(c, e->kind == AST_LAMBDA ? e->args[0] : e);
	/* A tensor of nothing but constants has the type of the others. */
	if (e->kind == AST_LAMBDA && etype_is_constant(f->type))
		f->type = (etype){ .kind = TY_SHARED };
}

static void type_result(checker *c, const ast_tensor *r, const ast_expr *body)
{
	etype t = type_of(c, body), to = etype_declared(&r->type), both;
	if (etype_is_bool(to) ? etype_may_be_bool(t)
			      : etype_unify(to, t, &both))
		return;
	check_error(c, DIAG_TYPE_MISMATCH, body->at,
		    "this is %s, the result '%s' %s", etype_text(c->tmp, t),
		    r->name, etype_text(c->tmp, to));
	diag_note(c->sink, r->type.at.beg ? r->type.at : r->at,
		  r->type.name ? "the type is declared here"
			       : "a type is declared here with ': TYPE'");
}

void check_types(checker *c)
{
	const ast_op *op = c->op;
	for (int i = 0; i < op->nlets; i++)
		type_let(c, &op->lets[i]);
	for (int i = 0; i < op->nbodies; i++)
		type_result(c, &op->results[i], op->bodies[i]->args[0]);
}
