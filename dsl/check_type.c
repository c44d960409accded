/* Element types.  Nothing converts by itself but constants: numbers, sizes,
 * attributes.  Types that only expansion knows (behind an attribute or `int')
 * pass here. */
#include "config.h"

#include "dsl/checker.h"

static etype type_of(checker *c, const ast_expr *e);

static etype agree(checker *c, etype x, etype y, range at, const char *what)
{
	etype r;
	if (etype_unify(x, y, &r))
		return r;
	check_error(c, DIAG_TYPE_MISMATCH, at,
		    "the %s have different types: one is %s, another %s; "
		    "cast(.., TYPE) converts",
		    what, etype_text(c, x), etype_text(c, y));
	return etype_faulty;
}

/* t, if it fits. */
static etype want(checker *c, bool fits, range at, const char *what, etype t)
{
	if (fits || t.kind == TY_FAULTY)
		return t;
	check_error(c, DIAG_TYPE_MISMATCH, at,
		    "%s is expected here, this is %s", what, etype_text(c, t));
	return etype_faulty;
}

/* The type of an operation on x and y, or on x alone, if both are sound. */
static etype made_of(etype r, etype x, etype y)
{
	return x.kind == TY_FAULTY || y.kind == TY_FAULTY ? etype_faulty : r;
}

static etype condition(checker *c, const ast_expr *e)
{
	etype t = type_of(c, e);
	bool number = e->kind == AST_BINARY && e->op <= OP_MOD;
	t = want(c, etype_may_be_bool(t) && !number, e->at, "a condition", t);
	return made_of(etype_exact(DT_BOOL), t, t);
}

/* ---- operators ---------------------------------------------------------- */

static etype arithmetic(checker *c, const ast_expr *e)
{
	etype x = type_of(c, e->args[0]), y = type_of(c, e->args[1]);
	x = want(c, etype_may_be_int(x) || etype_may_be_float(x),
		 e->args[0]->at, "a number", x);
	y = want(c, etype_may_be_int(y) || etype_may_be_float(y),
		 e->args[1]->at, "a number", y);
	etype r = agree(c, x, y, e->at, "operands");
	const ast_expr *d = e->args[1];
	bool divides = e->op == OP_DIV || e->op == OP_MOD;
	bool negative = d->kind == AST_UNARY && d->op == OP_NEG &&
			d->args[0]->kind == AST_INT;
	if (divides && !etype_may_be_float(r) &&
	    (negative || (d->kind == AST_INT && d->i == 0)))
		check_error(c, DIAG_BAD_DIVISOR, d->at,
			    "an integer can only be divided by a positive one");
	return r;
}

static etype comparison(checker *c, const ast_expr *e)
{
	etype x = type_of(c, e->args[0]), y = type_of(c, e->args[1]);
	bool equality = e->op == OP_EQ || e->op == OP_NE;
	if (!equality && (etype_is_bool(x) || x.kind == TY_STRING))
		x = want(c, false, e->args[0]->at, "a number", x);
	return made_of(etype_exact(DT_BOOL), agree(c, x, y, e->at, "operands"),
		       x);
}

static etype binary(checker *c, const ast_expr *e)
{
	if (e->op == OP_AND || e->op == OP_OR) {
		etype x = condition(c, e->args[0]);
		return made_of(etype_exact(DT_BOOL), x,
			       condition(c, e->args[1]));
	}
	return e->op >= OP_LT ? comparison(c, e) : arithmetic(c, e);
}

static etype unary(checker *c, const ast_expr *e)
{
	if (e->op == OP_NOT)
		return condition(c, e->args[0]);
	etype t = type_of(c, e->args[0]);
	return want(c, etype_may_be_int(t) || etype_may_be_float(t),
		    e->args[0]->at, "a number", t);
}

static etype choice(checker *c, const ast_expr *e)
{
	condition(c, e->args[0]);
	etype x = type_of(c, e->args[1]);
	return agree(c, x, type_of(c, e->args[2]), e->at, "alternatives");
}

/* ---- reads -------------------------------------------------------------- */

/* Whether an index variable occurs in e outside of reads. */
static bool varies(const ast_expr *e)
{
	if (e->kind == AST_NAME)
		return e->symbol && e->symbol->kind == SYMBOL_VAR;
	for (int i = 0; i < e->nargs && e->kind != AST_INDEX; i++)
		if (varies(e->args[i]))
			return true;
	return false;
}

/* In an index it is constants, sizes and attributes that divide. */
static void divisors(checker *c, const ast_expr *e)
{
	if (e->kind == AST_INDEX)
		return; /* has its own indices */
	bool divides = e->kind == AST_BINARY &&
		       (e->op == OP_DIV || e->op == OP_MOD);
	if (divides && varies(e->args[1]))
		check_error(c, DIAG_BAD_DIVISOR, e->args[1]->at,
			    "the divisor in an index can only be made of "
			    "constants, sizes and attributes");
	for (int i = 0; i < e->nargs; i++)
		divisors(c, e->args[i]);
}

static void indices(checker *c, const ast_expr *e)
{
	for (int i = 1; i < e->nargs; i++) {
		const ast_expr *item = e->args[i];
		if (item->kind == AST_SLICE)
			continue;
		if (item->kind == AST_PACK) {
			if (item->pack->kind != PACK_CALL)
				continue;
			item = item->pack->sel->args[0];
		}
		etype t = type_of(c, item);
		divisors(c, item);
		bool fits = t.kind != TY_SHARED && etype_may_be_int(t);
		if (fits)
			continue;
		check_error(c, DIAG_BAD_INDEX, item->at,
			    "an index is an integer, this is %s",
			    etype_text(c, t));
		if (t.kind == TY_SHARED)
			diag_note(c->sink, NOWHERE,
				  "a tensor of indices is declared with "
				  "': int' or ': i64'");
	}
}

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

static etype name(checker *c, const ast_expr *e)
{
	if (!e->symbol)
		return etype_unknown;
	if (e->symbol->kind != SYMBOL_ATTR ||
	    check_facts(c, e->symbol)->attr->type != ATTR_TYPE)
		return symbol_type(c, e->symbol);
	check_error(c, DIAG_TYPE_MISMATCH, e->at,
		    "'%s' is an element type, not a value", e->name);
	return etype_faulty;
}

/* The type of what an opaque function returns: a declared one, or that of the
 * first slice without a declared one. */
static etype opaque_type(checker *c, const ast_expr *call)
{
	const ast_opaque *f = call->calls.opaque;
	etype shared = etype_unknown,
	      r = check_declared_type(&f->results[0].type);
	for (int i = 0; i < call->nargs; i++) {
		const ast_expr *arg = call->args[i];
		const ast_expr *base = arg->kind == AST_INDEX ? arg->args[0]
							      : arg;
		if (arg->kind == AST_INDEX)
			indices(c, arg);
		etype own = symbol_type(c, base->symbol);
		etype declared = check_declared_type(&f->params[i].type);
		if (declared.kind == TY_SHARED)
			shared = agree(c, shared, own, arg->at, "slices");
		else
			agree(c, declared, own, arg->at,
			      "slice and its parameter");
	}
	return r.kind == TY_SHARED ? shared : r;
}

static etype indexed(checker *c, const ast_expr *e)
{
	const ast_expr *base = e->args[0];
	indices(c, e);
	return base->kind == AST_CALL ? opaque_type(c, base)
	       : base->symbol	      ? symbol_type(c, base->symbol)
				      : etype_unknown;
}

static etype guard(checker *c, const ast_expr *e)
{
	etype x = type_of(c, e->args[0]);
	return agree(c, x, type_of(c, e->args[1]), e->args[1]->at,
		     "read and what stands for it");
}

/* ---- calls -------------------------------------------------------------- */

static etype reduction(checker *c, const ast_expr *e, const builtin *r)
{
	const ast_expr *body = e->args[0]->args[0];
	if (r->rule == RULE_LOGIC)
		return condition(c, body);
	etype t = type_of(c, body);
	bool number = etype_may_be_int(t) || etype_may_be_float(t);
	t = want(c, r->rule == RULE_FLOAT ? etype_may_be_float(t) : number,
		 body->at, r->rule == RULE_FLOAT ? "a float" : "a number", t);
	return r->rule == RULE_WHERE ? made_of(etype_exact(DT_I64), t, t) : t;
}

static etype cast(checker *c, const ast_expr *e)
{
	const ast_type *to = e->args[1]->type;
	type_of(c, e->args[0]);
	return to->kind == TYPE_TENSOR ? symbol_type(c, to->symbol)
				       : check_declared_type(to);
}

static etype saturated(checker *c, const ast_expr *e)
{
	etype t = type_of(c, e->args[0]);
	return want(c, etype_may_be_int(t) || etype_may_be_float(t),
		    e->args[0]->at, "a number", t);
}

static etype function(checker *c, const ast_expr *e, const builtin *f)
{
	etype r = { .kind = TY_INT };
	for (int i = 0; i < e->nargs; i++) {
		etype t = type_of(c, e->args[i]);
		bool number = etype_may_be_int(t) || etype_may_be_float(t);
		bool is_float = f->rule == RULE_FLOAT || f->rule == RULE_TEST;
		bool fits = is_float		     ? etype_may_be_float(t)
			    : f->rule == RULE_INTEGER ? etype_may_be_int(t)
						      : number;
		t = want(c, fits, e->args[i]->at,
			 is_float		   ? "a float"
			 : f->rule == RULE_INTEGER ? "an integer"
						   : "a number",
			 t);
		r = i ? agree(c, r, t, e->at, "arguments") : t;
	}
	if (f->rule == RULE_FLOAT && r.kind == TY_INT)
		r.kind = TY_FLOAT;
	return f->rule == RULE_TEST ? made_of(etype_exact(DT_BOOL), r, r) : r;
}

static etype call(checker *c, const ast_expr *e)
{
	const builtin *f = e->calls.function;
	if (f && f->reducer)
		return reduction(c, e, f);
	switch (f ? f->rule : RULE_NONE) {
	case RULE_NONE:
		return etype_unknown;
	case RULE_CAST:
	case RULE_BITCAST:
		return cast(c, e);
	case RULE_SATURATE:
		return saturated(c, e);
	case RULE_SELECT:
		return choice(c, e);
	case RULE_LENGTH:
	case RULE_POINTS:
		return (etype){ .kind = TY_INT };
	case RULE_POSITION:
		return etype_exact(DT_I64);
	default:
		return function(c, e, f);
	}
}

static etype type_of(checker *c, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
		return (etype){ .kind = TY_INT };
	case AST_FLOAT:
		/* inf is the greatest number of any type. */
		return (etype){ .kind = e->f == e->f + 1 && e->f > 1e300
					? TY_INT : TY_FLOAT };
	case AST_STRING:
		return (etype){ .kind = TY_STRING };
	case AST_BOOL:
		return etype_exact(DT_BOOL);
	case AST_NAME:
		return name(c, e);
	case AST_INDEX:
		return indexed(c, e);
	case AST_GUARD:
		return guard(c, e);
	case AST_CALL:
		return call(c, e);
	case AST_UNARY:
		return unary(c, e);
	case AST_BINARY:
		return binary(c, e);
	case AST_IF:
		return choice(c, e);
	case AST_FAMILY:
	case AST_LAMBDA:
	case AST_LIST:
	case AST_SLICE:
	case AST_PACK:
		break;
	}
	return etype_unknown;
}

/* ---- calls of operators ------------------------------------------------- */

static etype tensor_type(checker *c, const ast_expr *arg);

/* The types of an operator's results in a call, by those of its arguments:
 * types[i] of result i. */
static void call_types(checker *c, const ast_expr *e, const ast_op *op,
		       etype *types)
{
	etype shared = etype_unknown;
	for (int i = 0; i < e->nargs; i++) {
		etype own = tensor_type(c, e->args[i]);
		etype declared = check_declared_type(&op->params[i].type);
		if (declared.kind == TY_SHARED)
			shared = agree(c, shared, own, e->args[i]->at,
				       "arguments");
		else if (declared.kind != TY_ATTR)
			agree(c, declared, own, e->args[i]->at,
			      "argument and its parameter");
	}
	for (int i = 0; i < op->nresults; i++) {
		etype t = check_declared_type(&op->results[i].type);
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
	etype t = type_of(c, body), to = check_declared_type(&r->type), both;
	if (etype_is_bool(to) ? etype_may_be_bool(t)
			      : etype_unify(to, t, &both))
		return;
	check_error(c, DIAG_TYPE_MISMATCH, body->at,
		    "this is %s, the result '%s' %s", etype_text(c, t), r->name,
		    etype_text(c, to));
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
