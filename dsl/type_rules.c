/* The rules for the element types of expressions. */
#include "config.h"

#include <math.h>

#include "dsl/builtins.h"
#include "dsl/element_type.h"
#include "kernel/functions.h"

/* ---- faults ------------------------------------------------------------- */

static void report(const etype_scope *s, diag_id id, range at, const char *text,
		   const char *note)
{
	etype_fault f = { .id = id, .at = at, .text = text, .note = note };
	s->fault(s->arg, &f);
}

static etype agree(const etype_scope *s, etype x, etype y, range at,
		   const char *what)
{
	etype r;
	if (etype_unify(x, y, &r))
		return r;
	if (s->fault)
		report(s, DIAG_TYPE_MISMATCH, at,
		       arena_printf(s->a,
				    "the %s have different types: one is %s, "
				    "another %s; cast(.., TYPE) converts",
				    what, etype_text(s->a, x),
				    etype_text(s->a, y)),
		       NULL);
	return etype_faulty;
}

/* t if it fits; otherwise reports a fault. */
static etype want(const etype_scope *s, bool fits, range at, const char *what,
		  etype t)
{
	if (fits || t.kind == TY_FAULTY)
		return t;
	if (s->fault)
		report(s, DIAG_TYPE_MISMATCH, at,
		       arena_printf(s->a, "%s is expected here, this is %s",
				    what, etype_text(s->a, t)),
		       NULL);
	return etype_faulty;
}

/* r, the type of an operation on x and y, or on x alone, if both are sound. */
static etype made_of(etype r, etype x, etype y)
{
	return x.kind == TY_FAULTY || y.kind == TY_FAULTY ? etype_faulty : r;
}

etype etype_of_condition(const etype_scope *s, const ast_expr *e)
{
	if (!s->fault)
		return etype_exact(DT_BOOL);
	etype t = etype_of(s, e);
	bool number = e->kind == AST_BINARY && e->op <= OP_MOD;
	t = want(s, etype_may_be_bool(t) && !number, e->at, "a condition", t);
	return made_of(etype_exact(DT_BOOL), t, t);
}

static etype number(const etype_scope *s, const ast_expr *e)
{
	etype t = etype_of(s, e);
	return want(s, etype_may_be_number(t), e->at, "a number", t);
}

/* ---- operators ---------------------------------------------------------- */

static etype arithmetic(const etype_scope *s, const ast_expr *e)
{
	etype x = etype_of(s, e->args[0]), y = etype_of(s, e->args[1]);
	x = want(s, etype_may_be_number(x), e->args[0]->at, "a number", x);
	y = want(s, etype_may_be_number(y), e->args[1]->at, "a number", y);
	etype r = agree(s, x, y, e->at, "operands");
	const ast_expr *d = e->args[1];
	bool divides = e->op == OP_DIV || e->op == OP_MOD;
	bool negative = d->kind == AST_UNARY && d->op == OP_NEG &&
			d->args[0]->kind == AST_INT;
	if (s->fault && divides && !etype_may_be_float(r) &&
	    (negative || (d->kind == AST_INT && d->i == 0)))
		report(s, DIAG_BAD_DIVISOR, d->at,
		       "an integer can only be divided by a positive one",
		       NULL);
	return r;
}

static etype comparison(const etype_scope *s, const ast_expr *e)
{
	if (!s->fault)
		return etype_exact(DT_BOOL);
	etype x = etype_of(s, e->args[0]), y = etype_of(s, e->args[1]);
	bool equality = e->op == OP_EQ || e->op == OP_NE;
	if (!equality && (etype_is_bool(x) || x.kind == TY_STRING))
		x = want(s, false, e->args[0]->at, "a number", x);
	return made_of(etype_exact(DT_BOOL), agree(s, x, y, e->at, "operands"),
		       x);
}

static etype binary(const etype_scope *s, const ast_expr *e)
{
	if (e->op == OP_AND || e->op == OP_OR) {
		etype x = etype_of_condition(s, e->args[0]);
		return made_of(etype_exact(DT_BOOL), x,
			       etype_of_condition(s, e->args[1]));
	}
	return e->op >= OP_LT ? comparison(s, e) : arithmetic(s, e);
}

static etype unary(const etype_scope *s, const ast_expr *e)
{
	if (e->op == OP_NOT)
		return etype_of_condition(s, e->args[0]);
	return number(s, e->args[0]);
}

static etype choice(const etype_scope *s, const ast_expr *e)
{
	etype_of_condition(s, e->args[0]);
	etype x = etype_of(s, e->args[1]);
	return agree(s, x, etype_of(s, e->args[2]), e->at, "alternatives");
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

/* In an index only constants, sizes and attributes may be divisors. */
static void divisors(const etype_scope *s, const ast_expr *e)
{
	if (e->kind == AST_INDEX)
		return; /* it has its own indices */
	bool divides = e->kind == AST_BINARY &&
		       (e->op == OP_DIV || e->op == OP_MOD);
	if (divides && varies(e->args[1]))
		report(s, DIAG_BAD_DIVISOR, e->args[1]->at,
		       "the divisor in an index can only be made of "
		       "constants, sizes and attributes",
		       NULL);
	for (int i = 0; i < e->nargs; i++)
		divisors(s, e->args[i]);
}

static void index_item(const etype_scope *s, const ast_expr *item)
{
	etype t = etype_of(s, item);
	divisors(s, item);
	if (t.kind != TY_SHARED && etype_may_be_int(t))
		return;
	report(s, DIAG_BAD_INDEX, item->at,
	       arena_printf(s->a, "an index is an integer, this is %s",
			    etype_text(s->a, t)),
	       t.kind == TY_SHARED ? "a tensor of indices is declared with "
				     "': int' or ': i64'"
				   : NULL);
}

/* Looks for faults in the indices of a read. */
static void indices(const etype_scope *s, const ast_expr *e)
{
	for (int i = 1; s->fault && i < e->nargs; i++) {
		const ast_expr *item = e->args[i];
		if (item->kind == AST_SLICE)
			continue;
		if (item->kind == AST_PACK) {
			if (item->pack->kind != PACK_CALL)
				continue;
			item = item->pack->sel->args[0];
		}
		index_item(s, item);
	}
}

/* The type of an opaque function's result: the declared one; for `int' or
 * `float', that of the first slice declared so; otherwise that of the first
 * slice without a declared type. */
static etype opaque_type(const etype_scope *s, const ast_expr *call)
{
	const ast_opaque *f = call->calls.opaque;
	etype shared = etype_unknown,
	      r = etype_declared(&f->results[0].type), of_class = r;
	for (int i = 0; i < call->nargs; i++) {
		const ast_expr *arg = call->args[i];
		const ast_expr *base = arg->kind == AST_INDEX ? arg->args[0]
							      : arg;
		if (arg->kind == AST_INDEX)
			indices(s, arg);
		etype own = s->of_name(s->arg, base);
		etype declared = etype_declared(&f->params[i].type);
		if (declared.kind == r.kind && of_class.kind == r.kind)
			of_class = own;
		if (declared.kind == TY_SHARED)
			shared = agree(s, shared, own, arg->at, "slices");
		else
			agree(s, declared, own, arg->at,
			      "slice and its parameter");
	}
	bool class = r.kind == TY_ANY_INT || r.kind == TY_ANY_FLOAT;
	return r.kind == TY_SHARED ? shared : class ? of_class : r;
}

static etype indexed(const etype_scope *s, const ast_expr *e)
{
	const ast_expr *base = e->args[0];
	indices(s, e);
	return base->kind == AST_CALL ? opaque_type(s, base)
				      : s->of_name(s->arg, base);
}

static etype guard(const etype_scope *s, const ast_expr *e)
{
	etype x = etype_of(s, e->args[0]);
	return agree(s, x, etype_of(s, e->args[1]), e->args[1]->at,
		     "read and what stands for it");
}

/* ---- calls -------------------------------------------------------------- */

static etype reduction(const etype_scope *s, const ast_expr *e,
		       const builtin *r)
{
	const ast_expr *body = e->args[0]->args[0];
	if (r->rule == RULE_LOGIC)
		return etype_of_condition(s, body);
	etype t = etype_of(s, body);
	bool is_float = r->rule == RULE_FLOAT;
	t = want(s, is_float ? etype_may_be_float(t) : etype_may_be_number(t),
		 body->at, is_float ? "a float" : "a number", t);
	return r->rule == RULE_WHERE ? made_of(etype_exact(DT_I64), t, t) : t;
}

static etype cast(const etype_scope *s, const ast_expr *e)
{
	if (s->fault)
		etype_of(s, e->args[0]);
	return s->said(s->arg, e->args[1]->type);
}

static etype function(const etype_scope *s, const ast_expr *e, const builtin *f)
{
	etype r = { .kind = TY_INT };
	for (int i = 0; i < e->nargs; i++) {
		etype t = etype_of(s, e->args[i]);
		bool is_float = f->rule == RULE_FLOAT || f->rule == RULE_TEST;
		bool fits = is_float		     ? etype_may_be_float(t)
			    : f->rule == RULE_INTEGER ? etype_may_be_int(t)
						      : etype_may_be_number(t);
		t = want(s, fits, e->args[i]->at,
			 is_float		   ? "a float"
			 : f->rule == RULE_INTEGER ? "an integer"
						   : "a number",
			 t);
		r = i ? agree(s, r, t, e->at, "arguments") : t;
	}
	if (f->rule == RULE_FLOAT && r.kind == TY_INT)
		r.kind = TY_FLOAT;
	if (fn_table[f->fn].of_indices)
		return made_of(etype_exact(DT_I64), r, r);
	return f->rule == RULE_TEST ? made_of(etype_exact(DT_BOOL), r, r) : r;
}

static etype call(const etype_scope *s, const ast_expr *e)
{
	const builtin *f = e->calls.function;
	if (f && f->reducer)
		return reduction(s, e, f);
	switch (f ? f->rule : RULE_NONE) {
	case RULE_NONE:
		return etype_unknown;
	case RULE_CAST:
	case RULE_BITCAST:
		return cast(s, e);
	case RULE_SATURATE:
		return number(s, e->args[0]);
	case RULE_SELECT:
		return choice(s, e);
	case RULE_LENGTH:
	case RULE_POINTS:
		return (etype){ .kind = TY_INT };
	case RULE_POSITION:
		return etype_exact(DT_I64);
	default:
		return function(s, e, f);
	}
}

etype etype_of(const etype_scope *s, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
		return (etype){ .kind = TY_INT };
	case AST_FLOAT:
		/* inf is the greatest number of any type. */
		return (etype){ .kind = isinf(e->f) ? TY_INT : TY_FLOAT };
	case AST_STRING:
		return (etype){ .kind = TY_STRING };
	case AST_BOOL:
		return etype_exact(DT_BOOL);
	case AST_NAME:
		return s->of_name(s->arg, e);
	case AST_INDEX:
		return indexed(s, e);
	case AST_GUARD:
		return guard(s, e);
	case AST_CALL:
		return call(s, e);
	case AST_UNARY:
		return unary(s, e);
	case AST_BINARY:
		return binary(s, e);
	case AST_IF:
		return choice(s, e);
	case AST_FAMILY:
	case AST_LAMBDA:
	case AST_LIST:
	case AST_SLICE:
	case AST_PACK:
		break;
	}
	return etype_unknown;
}


etype etype_of_operands(const etype_scope *s, ast_expr *const *e, int n)
{
	etype r = n > 0 ? etype_of(s, e[0]) : etype_unknown;
	for (int i = 1; i < n; i++)
		r = agree(s, r, etype_of(s, e[i]), e[i]->at, "operands");
	return r;
}
