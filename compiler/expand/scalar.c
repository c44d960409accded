/* Scalar expressions: names are resolved and types checked. */
#include "config.h"

#include "compiler/expand/context.h"

#include <stdarg.h>

#include "base/checked.h"

void expand_error(context *cx, diag_id id, range at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(cx->tmp, fmt, ap);
	va_end(ap);
	cx->failed = true;
	diag_error(cx->sink, id, at, "%s", text);
	if (cx->site.at.beg)
		diag_note(cx->sink, cx->site.at, "in this call of '%s'",
			  cx->op->name);
	else if (cx->site.place)
		diag_note(cx->sink, NOWHERE, "'%s' is called by %s",
			  cx->op->name, cx->site.place);
}

/* ---- constants and types ------------------------------------------------ */

static bool is_constant(val v)
{
	return v.kind != VAL_EXPR;
}

val expand_typed(context *cx, const ast_expr *e, dtype type)
{
	dtype want = cx->want, around = cx->around;
	cx->want = type;
	if (type != DT_BOOL && type != DT_NONE)
		cx->around = type;
	val v = expand_scalar(cx, e);
	cx->want = want;
	cx->around = around;
	return v;
}

kexpr *expand_index(context *cx, const ast_expr *e)
{
	dtype around = cx->around;
	cx->around = DT_I64;
	dtype own = expand_type(cx, e);
	val v = expand_typed(cx, e, dtype_is_int(own) ? own : DT_I64);
	cx->around = around;
	if (v.kind == VAL_EXPR && dtype_is_int(v.e->type) &&
	    v.e->type != DT_I64)
		return kx_cast(cx->tmp, v.e, DT_I64);
	return expand_as(cx, v, DT_I64, e->at);
}

bool expand_constant(context *cx, const ast_expr *e, int64_t *r)
{
	val v = expand_scalar(cx, e);
	if (v.kind == VAL_INT) {
		*r = v.i;
		return true;
	}
	if (v.kind != VAL_BAD)
		expand_error(cx, DIAG_NOT_CONSTANT, e->at,
			     "a number that is known when planning is expected "
			     "here");
	return false;
}

/* ---- operators ---------------------------------------------------------- */

static const fn binary_fn[] = {
	[OP_ADD] = FN_ADD, [OP_SUB] = FN_SUB, [OP_MUL] = FN_MUL,
	[OP_DIV] = FN_DIV, [OP_MOD] = FN_MOD, [OP_LT] = FN_LT,
	[OP_LE] = FN_LE,   [OP_GT] = FN_GT,   [OP_GE] = FN_GE,
	[OP_EQ] = FN_EQ,   [OP_NE] = FN_NE,   [OP_AND] = FN_AND,
	[OP_OR] = FN_OR,
};

static bool wants_bool(fn f)
{
	return fn_table[f].rule == FN_LOGIC;
}

/* The type in which operands are computed: t; if they have no common type,
 * which is an error, the type of the first operand that has one. */
static dtype common_type(dtype t, val x, val y)
{
	return t != DT_NONE	     ? t
	       : x.kind == VAL_EXPR ? x.e->type
	       : y.kind == VAL_EXPR ? y.e->type
	       : x.kind == VAL_FLOAT || y.kind == VAL_FLOAT ? DT_F32
							    : DT_NONE;
}

/* Checks that a function is defined for the type that a type parameter stands
 * for. */
static bool check_takes(context *cx, fn f, dtype t, range at)
{
	if (fn_takes(f, t))
		return true;
	expand_error(cx, DIAG_TYPE_MISMATCH, at, "'%s' of %s", fn_name(f),
		     dtype_name(t));
	return false;
}

/* An operand and its place in the source. */
typedef struct operand {
	val v;
	range at;
} operand;

/* A function of two operands of type t; DT_NONE if they have no common type. */
static val apply2(context *cx, fn f, operand x, operand y, dtype t, range at)
{
	if (x.v.kind == VAL_BAD || y.v.kind == VAL_BAD)
		return val_bad;
	if (is_constant(x.v) && is_constant(y.v)) {
		val v = fold_binary(cx, f, x.v, y.v, at);
		if (v.kind != VAL_EXPR)
			return v;
	}
	t = common_type(t, x.v, y.v);
	kexpr *a = expand_as(cx, x.v, t, x.at);
	kexpr *b = expand_as(cx, y.v, t, y.at);
	if (cx->failed || !check_takes(cx, f, a->type, at))
		return val_bad;
	bool divides = (f == FN_DIV || f == FN_MOD) && dtype_is_int(a->type);
	if (divides && b->kind == KX_INT && b->i == 0 && cx->nowhere)
		return val_expr(kx_int(cx->tmp, 0, a->type));
	if (divides && b->kind == KX_INT && b->i <= 0) {
		expand_error(cx, DIAG_BAD_DIVISOR, y.at,
			     "the divisor is %lld here, it has to be positive",
			     (long long)b->i);
		return val_bad;
	}
	return val_expr(kx_fn2(cx->tmp, f, a, b));
}

static val apply1(context *cx, fn f, operand x, dtype t, range at)
{
	if (x.v.kind == VAL_BAD)
		return x.v;
	if (f == FN_NEG && x.v.kind == VAL_INT)
		return fold_int(cx, FN_SUB, 0, x.v.i, at);
	if (f == FN_NEG && x.v.kind == VAL_FLOAT)
		return val_float(-x.v.f);
	if (f == FN_NOT && x.v.kind == VAL_BOOL) {
		x.v.i = !x.v.i;
		return x.v;
	}
	if (x.v.kind == VAL_INT || x.v.kind == VAL_FLOAT) {
		val v = fold_function(f, x.v, x.v);
		if (v.kind != VAL_EXPR)
			return v;
	}
	kexpr *e = expand_as(cx, x.v, t, at);
	if (cx->failed || !check_takes(cx, f, e->type, at))
		return val_bad;
	return val_expr(kx_fn1(cx->tmp, f, e));
}

/* Evaluates an operand as a given type. */
static operand operand_of(context *cx, const ast_expr *e, dtype t)
{
	return (operand){ expand_typed(cx, e, t), e->at };
}

static val condition(context *cx, const ast_expr *e)
{
	return expand_typed(cx, e, DT_BOOL);
}

/* Evaluates e under a condition that reductions in it may use. */
static val under(context *cx, kexpr *condition, const ast_expr *e, dtype t)
{
	vec_push(cx->tmp, &cx->conditions, condition);
	val v = expand_typed(cx, e, t);
	cx->conditions.n--;
	return v;
}

/* The alternative chosen by a known condition.  A constant beside an expression
 * with elements takes the type of its context. */
static val chosen(context *cx, val c, const ast_expr *x, const ast_expr *y)
{
	range at = (c.i ? x : y)->at;
	val v = expand_chosen(cx, x, y, expand_scalar(cx, c.i ? x : y), at);
	bool number = v.kind == VAL_INT || v.kind == VAL_FLOAT;
	v.beside_data |= v.kind == VAL_BOOL && c.beside_data;
	if (!number || !c.beside_data)
		return v;
	kexpr *e = expand_as(cx, v, common_type(cx->want, v, v), at);
	return cx->failed ? val_bad : val_expr(e);
}

static val choose(context *cx, const ast_expr *c, const ast_expr *x,
		  const ast_expr *y)
{
	val vc = condition(cx, c);
	if (vc.kind == VAL_BOOL)
		return chosen(cx, vc, x, y);
	kexpr *cond = expand_as(cx, vc, DT_BOOL, c->at);
	if (cx->failed)
		return val_bad;
	val vx = under(cx, cond, x, cx->want);
	val vy = under(cx, kx_fn1(cx->tmp, FN_NOT, cond), y, cx->want);
	if (vx.kind == VAL_BAD || vy.kind == VAL_BAD)
		return val_bad;
	dtype t = common_type(cx->want, vx, vy);
	kexpr *a = expand_as(cx, vx, t, x->at);
	kexpr *b = expand_as(cx, vy, t, y->at);
	return cx->failed ? val_bad : val_expr(kx_select(cx->tmp, cond, a, b));
}

/* `a and b', `a or b': b is evaluated under the facts of a.  Either operand
 * alone may decide the result; the other need not be valid then. */
static val logical(context *cx, const ast_expr *e)
{
	fn f = binary_fn[e->op];
	val x = condition(cx, e->args[0]);
	if (x.kind == VAL_BOOL && (bool)x.i == (f == FN_OR))
		return x;
	val y;
	if (x.kind == VAL_EXPR && x.e->type == DT_BOOL) {
		kexpr *c = f == FN_AND ? x.e : kx_fn1(cx->tmp, FN_NOT, x.e);
		y = under(cx, c, e->args[1], DT_BOOL);
	} else {
		y = condition(cx, e->args[1]);
	}
	if (x.kind == VAL_BOOL && y.kind != VAL_BAD) {
		y.beside_data |= x.beside_data;
		return y;
	}
	if (y.kind == VAL_BOOL && (bool)y.i == (f == FN_OR) &&
	    x.kind == VAL_EXPR && x.e->type == DT_BOOL) {
		y.beside_data = true;
		return y;
	}
	return apply2(cx, f, (operand){ x, e->args[0]->at },
		      (operand){ y, e->args[1]->at }, DT_BOOL, e->at);
}

/* Arguments are evaluated from left to right, so that the stages of operands
 * are in that order. */
static val binary(context *cx, const ast_expr *e)
{
	fn f = binary_fn[e->op];
	dtype t = fn_is_comparison(f)
			  ? expand_operand_type(cx, e->args, 2, RULE_NONE)
			  : cx->want;
	operand x = operand_of(cx, e->args[0], t);
	return apply2(cx, f, x, operand_of(cx, e->args[1], t), t, e->at);
}

static val unary(context *cx, const ast_expr *e)
{
	fn f = e->op == OP_NEG ? FN_NEG : FN_NOT;
	dtype t = wants_bool(f) ? DT_BOOL : cx->want;
	return apply1(cx, f, operand_of(cx, e->args[0], t), t, e->at);
}

/* ---- calls -------------------------------------------------------------- */

/* If there are more arguments than the kernel function has, as in max(x, y, z),
 * the first two are combined first. */
static val call_fn(context *cx, const ast_expr *e, fn f)
{
	if (e->nargs < fn_nargs(f) || e->nargs > fn_table[f].most) {
		expand_error(cx, DIAG_BAD_CALL, e->at,
			     "'%s' takes %d argument%s, not %d", e->name,
			     fn_nargs(f), fn_nargs(f) == 1 ? "" : "s",
			     e->nargs);
		return val_bad;
	}
	if (fn_table[f].of_indices) {
		kexpr *seed = expand_index(cx, e->args[0]);
		return val_expr(kx_fn2(cx->tmp, f, seed,
				       expand_index(cx, e->args[1])));
	}
	dtype t = fn_gives_bool(f)
			  ? expand_operand_type(cx, e->args, e->nargs,
						e->calls.function->rule)
			  : cx->want;
	operand x = operand_of(cx, e->args[0], t);
	if (fn_nargs(f) == 1)
		return apply1(cx, f, x, t, e->at);
	for (int i = 1; i < e->nargs; i++)
		x.v = apply2(cx, f, x, operand_of(cx, e->args[i], t), t, e->at);
	return x.v;
}

/* The number of points in the dimensions of a pack item. */
static val pack_size(context *cx, const ast_expr *item)
{
	xpack *p;
	int positions[MAX_NDIM];
	int64_t points = 1;
	int n = item->kind == AST_PACK && item->pack->kind != PACK_CALL
			? pack_positions(cx, item->pack, item->at, &p,
					 positions)
			: -1;
	for (int i = 0; i < n; i++)
		if (!ck_mul(points, p->extents[positions[i]], &points))
			points = INT64_MAX;
	return n < 0 ? val_bad : val_int(points);
}

static val expand_call_scalar(context *cx, const ast_expr *e)
{
	const builtin *b = e->calls.function;
	if (b && b->reducer)
		return expand_reduction(cx, e);
	switch (b ? b->rule : RULE_NONE) {
	case RULE_NONE:
		expand_error(cx, DIAG_BAD_CALL, e->at,
			     "'%s' is not a scalar function; an operator is "
			     "called in a 'let'",
			     e->name);
		return val_bad;
	case RULE_CAST:
	case RULE_BITCAST:
	case RULE_SATURATE:
		return expand_conversion(cx, e, b->rule);
	case RULE_SELECT:
		return choose(cx, e->args[0], e->args[1], e->args[2]);
	case RULE_POSITION:
		return expand_ravel(cx, e);
	case RULE_POINTS:
		return pack_size(cx, e->args[0]);
	case RULE_LENGTH:
		return val_int(find_attr(cx, e->args[0]->symbol)->n);
	default:
		return call_fn(cx, e, (fn)b->fn);
	}
}

/* ---- names and literals ------------------------------------------------- */

static val attr_element(context *cx, const attr_value *v, int i, range at)
{
	switch (v->type) {
	case ATTR_FLOAT:
		return val_float(v->floats[i]);
	case ATTR_STRING:
		return (val){ .kind = VAL_STRING, .s = v->strings[i] };
	case ATTR_BOOL:
		return val_bool(v->ints[i] != 0);
	case ATTR_TYPE:
		expand_error(cx, DIAG_TYPE_MISMATCH, at,
			     "an element type where a number is expected");
		return val_bad;
	default:
		return val_int(v->ints[i]);
	}
}

static val expand_name(context *cx, const ast_expr *e)
{
	const xname *n = find_name(cx, e->symbol);
	if (!n) {
		expand_error(cx, DIAG_UNBOUND_INDEX, e->at,
			     "the name '%s' is not bound here", e->name);
		return val_bad;
	}
	switch (n->kind) {
	case NAME_UNBOUND:
		break;
	case NAME_SIZE:
	case NAME_CONST:
		return n->v;
	case NAME_VAR:
		return val_expr(kx_var(cx->tmp, n->index));
	case NAME_ATTR: {
		const attr_value *v = cx->attrs[n->index];
		if (!v->is_list)
			return attr_element(cx, v, 0, e->at);
		expand_error(cx, DIAG_TYPE_MISMATCH, e->at,
			     "the list '%s' where a number is expected",
			     e->name);
		return val_bad;
	}
	case NAME_BROKEN:
		expand_broken(cx, n);
		break;
	case NAME_TENSOR: {
		ast_expr read = { .kind = AST_INDEX, .at = e->at, .nargs = 1,
				  .args = (ast_expr *[]){ (ast_expr *)e } };
		return expand_read(cx, &read, n->index, NULL);
	}
	}
	return val_bad;
}

/* x[i, j] for a tensor, pads[0] for an attribute, f(a[:])[i] for an opaque
 * function. */
static val expand_indexed(context *cx, const ast_expr *e,
			  const ast_expr *otherwise)
{
	const ast_expr *base = e->args[0];
	if (ast_opaque_of(base))
		return expand_opaque(cx, base, e);
	const xname *n = find_name(cx, base->symbol);
	if (n && n->kind == NAME_TENSOR)
		return expand_read(cx, e, n->index, otherwise);
	if (expand_broken(cx, n))
		return val_bad;
	if (!n || n->kind != NAME_ATTR || e->nargs != 2) {
		expand_error(cx, DIAG_BAD_INDEX, base->at,
			     "only a tensor or an attribute can be indexed");
		return val_bad;
	}
	int64_t i;
	if (!expand_constant(cx, e->args[1], &i))
		return val_bad;
	const attr_value *v = cx->attrs[n->index];
	if (i < 0 || i >= v->n) {
		expand_error(cx, DIAG_BAD_INDEX, e->args[1]->at,
			     "element %lld of '%s', which has %d",
			     (long long)i, base->name, v->n);
		return val_bad;
	}
	return attr_element(cx, v, (int)i, e->at);
}

val expand_scalar(context *cx, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
		return val_int(e->i);
	case AST_FLOAT:
		return val_float(e->f);
	case AST_BOOL:
		return val_bool(e->i != 0);
	case AST_STRING:
		return (val){ .kind = VAL_STRING, .s = e->name };
	case AST_NAME:
		return expand_name(cx, e);
	case AST_INDEX:
		return expand_indexed(cx, e, NULL);
	case AST_GUARD:
		return expand_indexed(cx, e->args[0], e->args[1]);
	case AST_CALL:
		return expand_call_scalar(cx, e);
	case AST_UNARY:
		return unary(cx, e);
	case AST_BINARY:
		if (e->op == OP_AND || e->op == OP_OR)
			return logical(cx, e);
		return binary(cx, e);
	case AST_IF:
		return choose(cx, e->args[0], e->args[1], e->args[2]);
	default:
		expand_error(cx, DIAG_BAD_INDEX, e->at,
			     "a number is expected here");
		return val_bad;
	}
}
