/* Element types.  Nothing converts by itself but constants: numbers, sizes,
 * attributes.  Types that only expansion knows (behind an attribute or `int')
 * pass here. */
#include "config.h"

#include <string.h>

#include "dsl/checker.h"

static etype type_of(checker *c, const ast_expr *e);

static etype exact(dtype t)
{
	return (etype){ .kind = TY_EXACT, .exact = t };
}

static const etype unknown = { .kind = TY_UNKNOWN };
static const etype faulty = { .kind = TY_FAULTY };

/* A noun phrase for messages, to follow "this is". */
static const char *type_text(checker *c, etype t)
{
	switch (t.kind) {
	case TY_INT:
		return "a whole number";
	case TY_FLOAT:
		return "a fraction";
	case TY_STRING:
		return "a string";
	case TY_SHARED:
		return "of the type that tensors without one share";
	case TY_ANY_INT:
		return "of type int";
	case TY_ANY_FLOAT:
		return "of type float";
	case TY_EXACT:
		return arena_printf(c->tmp, "of type %s", dtype_name(t.exact));
	case TY_ATTR:
		return arena_printf(c->tmp, "of type %s", t.name);
	case TY_UNKNOWN:
	case TY_FAULTY:
		break;
	}
	return "of an unknown type";
}

/* ---- kinds -------------------------------------------------------------- */

static bool is_bool(etype t)
{
	return t.kind == TY_EXACT && t.exact == DT_BOOL;
}

/* Whether a value of the type can be a float, an integer, a number. */
static bool may_be_float(etype t)
{
	return t.kind == TY_EXACT ? dtype_is_float(t.exact)
				  : t.kind != TY_ANY_INT && t.kind != TY_STRING;
}

static bool may_be_int(etype t)
{
	return t.kind == TY_EXACT ? dtype_is_int(t.exact)
				  : t.kind != TY_ANY_FLOAT &&
					    t.kind != TY_FLOAT &&
					    t.kind != TY_STRING;
}

static bool may_be_bool(etype t)
{
	return is_bool(t) || t.kind == TY_UNKNOWN || t.kind == TY_FAULTY ||
	       t.kind == TY_ATTR || t.kind == TY_SHARED;
}

static bool is_constant(etype t)
{
	return t.kind == TY_INT || t.kind == TY_FLOAT;
}

/* Whether only expansion can tell the type. */
static bool is_open(etype t)
{
	return t.kind == TY_UNKNOWN || t.kind == TY_ATTR;
}

/* The type that two values have in common; false if there is none. */
static bool unify(etype x, etype y, etype *r)
{
	*r = x;
	if (x.kind == TY_FAULTY || y.kind == TY_FAULTY) {
		*r = faulty;
		return true;
	}
	if (is_constant(x) && !is_constant(y)) {
		*r = y;
		return x.kind == TY_INT ? may_be_int(y) || may_be_float(y)
					: may_be_float(y);
	}
	if (is_constant(y))
		return is_constant(x) ? x.kind == TY_FLOAT ||
						((*r = y), true)
				      : unify(y, x, r);
	if (is_open(x) || is_open(y)) {
		if (is_open(x))
			*r = y;
		return true;
	}
	if (x.kind == y.kind)
		return x.kind != TY_EXACT || x.exact == y.exact;
	if (x.kind == TY_EXACT && y.kind != TY_SHARED)
		return unify(y, x, r);
	if (x.kind == TY_ANY_INT || x.kind == TY_ANY_FLOAT) {
		*r = y;
		return y.kind == TY_EXACT &&
		       (x.kind == TY_ANY_INT ? dtype_is_int(y.exact)
					     : dtype_is_float(y.exact));
	}
	return false;
}

static etype agree(checker *c, etype x, etype y, range at, const char *what)
{
	etype r;
	if (unify(x, y, &r))
		return r;
	check_error(c, DIAG_TYPE_MISMATCH, at,
		    "the %s have different types: one is %s, another %s; "
		    "cast(.., TYPE) converts",
		    what, type_text(c, x), type_text(c, y));
	return faulty;
}

/* t, if it fits. */
static etype want(checker *c, bool fits, range at, const char *what, etype t)
{
	if (fits || t.kind == TY_FAULTY)
		return t;
	check_error(c, DIAG_TYPE_MISMATCH, at,
		    "%s is expected here, this is %s", what, type_text(c, t));
	return faulty;
}

/* The type of an operation on x and y, or on x alone, if both are sound. */
static etype made_of(etype r, etype x, etype y)
{
	return x.kind == TY_FAULTY || y.kind == TY_FAULTY ? faulty : r;
}

static etype condition(checker *c, const ast_expr *e)
{
	etype t = type_of(c, e);
	bool number = e->kind == AST_BINARY && e->op <= OP_MOD;
	t = want(c, may_be_bool(t) && !number, e->at, "a condition", t);
	return made_of(exact(DT_BOOL), t, t);
}

/* ---- operators ---------------------------------------------------------- */

static etype arithmetic(checker *c, const ast_expr *e)
{
	etype x = type_of(c, e->args[0]), y = type_of(c, e->args[1]);
	x = want(c, may_be_int(x) || may_be_float(x), e->args[0]->at,
		 "a number", x);
	y = want(c, may_be_int(y) || may_be_float(y), e->args[1]->at,
		 "a number", y);
	etype r = agree(c, x, y, e->at, "operands");
	const ast_expr *d = e->args[1];
	bool divides = e->op == OP_DIV || e->op == OP_MOD;
	bool negative = d->kind == AST_UNARY && d->op == OP_NEG &&
			d->args[0]->kind == AST_INT;
	if (divides && !may_be_float(r) &&
	    (negative || (d->kind == AST_INT && d->i == 0)))
		check_error(c, DIAG_BAD_DIVISOR, d->at,
			    "an integer is divided by a positive one only");
	return r;
}

static etype comparison(checker *c, const ast_expr *e)
{
	etype x = type_of(c, e->args[0]), y = type_of(c, e->args[1]);
	bool equality = e->op == OP_EQ || e->op == OP_NE;
	if (!equality && (is_bool(x) || x.kind == TY_STRING))
		x = want(c, false, e->args[0]->at, "a number", x);
	return made_of(exact(DT_BOOL), agree(c, x, y, e->at, "operands"), x);
}

static etype binary(checker *c, const ast_expr *e)
{
	if (e->op == OP_AND || e->op == OP_OR) {
		etype x = condition(c, e->args[0]);
		return made_of(exact(DT_BOOL), x, condition(c, e->args[1]));
	}
	return e->op >= OP_LT ? comparison(c, e) : arithmetic(c, e);
}

static etype unary(checker *c, const ast_expr *e)
{
	if (e->op == OP_NOT)
		return condition(c, e->args[0]);
	etype t = type_of(c, e->args[0]);
	return want(c, may_be_int(t) || may_be_float(t), e->args[0]->at,
		    "a number", t);
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
		return e->symbol && e->symbol->kind == SYM_VAR;
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
			    "in an index one divides by constants, sizes and "
			    "attributes only, not by what varies");
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
		bool fits = t.kind != TY_SHARED && may_be_int(t);
		if (fits)
			continue;
		check_error(c, DIAG_BAD_INDEX, item->at,
			    "an index is an integer, this is %s",
			    type_text(c, t));
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
		return exact(DT_BOOL);
	case ATTR_TYPE:
	case ATTR_GRAPH:
		break;
	}
	return unknown;
}

static etype symbol_type(const ast_symbol *s)
{
	switch (s->kind) {
	case SYM_SIZE:
		return (etype){ .kind = TY_INT };
	case SYM_ATTR:
		return attr_type_of(s->attr);
	case SYM_VAR:
		return exact(DT_I64);
	case SYM_TENSOR:
	case SYM_CONST:
		return s->type;
	}
	return unknown;
}

static etype name(checker *c, const ast_expr *e)
{
	if (!e->symbol)
		return unknown;
	if (e->symbol->kind != SYM_ATTR || e->symbol->attr->type != ATTR_TYPE)
		return symbol_type(e->symbol);
	check_error(c, DIAG_TYPE_MISMATCH, e->at,
		    "'%s' is an element type, not a value", e->name);
	return faulty;
}

/* The type of what an opaque function returns: a declared one, or that of the
 * first slice without a declared one. */
static etype opaque_type(checker *c, const ast_expr *call)
{
	const ast_opaque *f = strmap_get(c->modules->opaques, call->name);
	etype shared = unknown, r = check_declared_type(&f->results[0].type);
	for (int i = 0; i < call->nargs; i++) {
		const ast_expr *arg = call->args[i];
		const ast_expr *base = arg->kind == AST_INDEX ? arg->args[0]
							      : arg;
		if (arg->kind == AST_INDEX)
			indices(c, arg);
		etype own = symbol_type(base->symbol);
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
	       : base->symbol	      ? symbol_type(base->symbol)
				      : unknown;
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
	bool number = may_be_int(t) || may_be_float(t);
	t = want(c, r->rule == RULE_FLOAT ? may_be_float(t) : number, body->at,
		 r->rule == RULE_FLOAT ? "a float" : "a number", t);
	return r->rule == RULE_WHERE ? made_of(exact(DT_I64), t, t) : t;
}

static etype cast(checker *c, const ast_expr *e)
{
	const ast_type to = { .name = e->args[1]->name };
	const ast_symbol *s = e->args[1]->symbol;
	type_of(c, e->args[0]);
	return s && s->kind == SYM_TENSOR ? s->type : check_declared_type(&to);
}

static etype saturated(checker *c, const ast_expr *e)
{
	etype t = type_of(c, e->args[0]);
	return want(c, may_be_int(t) || may_be_float(t), e->args[0]->at,
		    "a number", t);
}

static etype function(checker *c, const ast_expr *e, const builtin *f)
{
	etype r = { .kind = TY_INT };
	for (int i = 0; i < e->nargs; i++) {
		etype t = type_of(c, e->args[i]);
		bool number = may_be_int(t) || may_be_float(t);
		bool is_float = f->rule == RULE_FLOAT || f->rule == RULE_TEST;
		bool fits = is_float		     ? may_be_float(t)
			    : f->rule == RULE_INTEGER ? may_be_int(t)
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
	return f->rule == RULE_TEST ? made_of(exact(DT_BOOL), r, r) : r;
}

static etype call(checker *c, const ast_expr *e)
{
	const builtin *f = builtin_find(BUILTIN_REDUCER, e->name);
	if (f)
		return reduction(c, e, f);
	f = builtin_find(BUILTIN_SCALAR, e->name);
	switch (f ? f->rule : RULE_NONE) {
	case RULE_NONE:
		return unknown;
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
		return exact(DT_I64);
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
		return exact(DT_BOOL);
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
	return unknown;
}

/* ---- calls of operators ------------------------------------------------- */

static etype tensor_type(checker *c, const ast_expr *arg);

/* The types of an operator's results in a call, by those of its arguments:
 * types[i] of result i. */
static void call_types(checker *c, const ast_expr *e, const ast_op *op,
		       etype *types)
{
	etype shared = unknown;
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
			   : t.kind == TY_ATTR ? unknown
					       : t;
	}
}

static etype tensor_type(checker *c, const ast_expr *arg)
{
	if (arg->kind != AST_CALL)
		return arg->symbol ? symbol_type(arg->symbol) : unknown;
	const ast_op *op = dsl_op(c->modules, arg->name);
	etype t;
	if (!op || op->nresults != 1)
		return unknown;
	call_types(c, arg, op, &t);
	return t;
}

static void type_let(checker *c, const ast_let *let)
{
	const ast_expr *e = let->value;
	ast_symbol *s = strmap_get(c->names, let->names[0]);
	const ast_op *op = e->kind == AST_CALL ? dsl_op(c->modules, e->name)
					       : NULL;
	if (op) {
		etype *types = ARENA_ARRAY(c->tmp, etype, op->nresults);
		call_types(c, e, op, types);
		for (int i = 0; i < let->nnames; i++) {
			s = strmap_get(c->names, let->names[i]);
			s->type = types[i];
		}
		return;
	}
	s->type = type_of(c, e->kind == AST_LAMBDA ? e->args[0] : e);
	/* A tensor of nothing but constants has the type of the others. */
	if (e->kind == AST_LAMBDA && is_constant(s->type))
		s->type = (etype){ .kind = TY_SHARED };
}

static void type_result(checker *c, const ast_tensor *r, const ast_expr *body)
{
	etype t = type_of(c, body), to = check_declared_type(&r->type), both;
	if (is_bool(to) ? may_be_bool(t) : unify(to, t, &both))
		return;
	check_error(c, DIAG_TYPE_MISMATCH, body->at,
		    "this is %s, the result '%s' %s", type_text(c, t), r->name,
		    type_text(c, to));
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

/* ---- what nothing uses -------------------------------------------------- */

static void unused_vars(checker *c, const ast_expr *e)
{
	if (e->kind == AST_LAMBDA)
		for (int i = 0; i < e->nvars; i++) {
			const ast_symbol *s = e->vars[i].symbol;
			if (s && !s->used)
				check_warning(c, DIAG_UNUSED_NAME, s->at,
					      "the variable '%s' is not used",
					      s->name);
		}
	for (int i = 0; i < e->nargs; i++)
		unused_vars(c, e->args[i]);
}

/* Whether an attribute says what a parameter is where nobody gives one, as of
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

/* Variables of results need not be used: a result may be the same along a
 * dimension; a tensor need not be read, its sizes may be what matters. */
void check_unused(checker *c)
{
	const ast_op *op = c->op;
	for (int i = 0; i < op->nattrs; i++) {
		const ast_symbol *s = strmap_get(c->names, op->attrs[i].name);
		if (!s->used && !is_default(op, s->name))
			check_warning(c, DIAG_UNUSED_NAME, s->at,
				      "the attribute '%s' is not used",
				      s->name);
	}
	for (int i = 0; i < op->nlets; i++) {
		const ast_let *let = &op->lets[i];
		bool used = false;
		for (int j = 0; j < let->nnames; j++) {
			const ast_symbol *s = strmap_get(c->names,
							 let->names[j]);
			used |= s->used;
		}
		if (!used)
			check_warning(c, DIAG_UNUSED_NAME, let->names_at[0],
				      "'%s' is not used", let->names[0]);
		if (let->value->kind == AST_LAMBDA)
			unused_vars(c, let->value->args[0]);
	}
	for (int i = 0; i < op->nbodies; i++)
		unused_vars(c, op->bodies[i]->args[0]);
}
