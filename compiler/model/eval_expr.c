/* Expressions in models, onnx entries and defs: numbers, lists, strings. */
#include "config.h"

#include "compiler/model/eval_expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/graph/builder.h"
#include "compiler/train/train.h"

/* ---- values ------------------------------------------------------------ */

mvalue mv_int(int64_t i)
{
	return (mvalue){ .kind = MV_INT, .i = i };
}

mvalue mv_bool(bool b)
{
	return (mvalue){ .kind = MV_BOOL, .i = b };
}

mvalue mv_float(double f)
{
	return (mvalue){ .kind = MV_FLOAT, .f = f };
}

mvalue mv_string(const char *s)
{
	return (mvalue){ .kind = MV_STRING, .s = s };
}

mvalue mv_type(dtype t)
{
	return (mvalue){ .kind = MV_TYPE, .i = t };
}

mvalue mv_tensor(tensor_id t)
{
	if (t == NONE)
		return (mvalue){ .kind = MV_NULL };
	return (mvalue){ .kind = MV_TENSOR, .i = t };
}

mvalue mv_list(const mvalue *items, int n)
{
	return (mvalue){ .kind = MV_LIST, .n = n, .items = items };
}

bool mv_is_number(const mvalue *v)
{
	return v->kind == MV_INT || v->kind == MV_FLOAT;
}

double mv_double(const mvalue *v)
{
	return v->kind == MV_INT ? (double)v->i : v->f;
}

bool mv_equal(const mvalue *x, const mvalue *y)
{
	if (mv_is_number(x) && mv_is_number(y))
		return x->kind == MV_INT && y->kind == MV_INT
			       ? x->i == y->i
			       : mv_double(x) == mv_double(y);
	if ((x->kind == MV_BOOL && y->kind == MV_INT) ||
	    (x->kind == MV_INT && y->kind == MV_BOOL))
		return x->i == y->i;
	if (x->kind != y->kind)
		return false;
	if (x->kind == MV_STRING)
		return !strcmp(x->s, y->s);
	if (x->kind == MV_GRAPH)
		return x->graph == y->graph;
	if (x->kind != MV_LIST)
		return x->i == y->i;
	for (int i = 0; i < x->n; i++)
		if (x->n != y->n || !mv_equal(&x->items[i], &y->items[i]))
			return false;
	return x->n == y->n;
}

const char *mv_kind_name(mkind k)
{
	static const char *const names[] = {
		[MV_BAD] = "an error",	  [MV_NULL] = "nothing",
		[MV_INT] = "an integer",  [MV_BOOL] = "a truth value",
		[MV_TYPE] = "a type",	  [MV_FLOAT] = "a number",
		[MV_STRING] = "a string", [MV_TENSOR] = "a tensor",
		[MV_GRAPH] = "a graph",	  [MV_LIST] = "a list",
		[MV_INIT] = "a distribution",
	};
	return names[k];
}

/* ---- errors ------------------------------------------------------------ */

/* Notes the calls or the node for which the body is evaluated. */
void mapping_say_where(evaluator *ev)
{
	for (const mscope *s = ev->scope; s; s = s->outer)
		if (s->def && ev->model)
			diag_note(ev->sink, s->call, "in this call of '%s'",
				  s->def->name);
	if (!ev->model)
		diag_note(ev->sink, NOWHERE, "this maps %s", ev->node->place);
}

mvalue mapping_error(evaluator *ev, diag_id id, range at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(ev->tmp, fmt, ap);
	va_end(ap);
	ev->failed = true;
	diag_error(ev->sink, id, at, "%s", text);
	mapping_say_where(ev);
	return (mvalue){ .kind = MV_BAD };
}

mvalue mapping_refuse_node(evaluator *ev, diag_id id, range at,
			   const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(ev->tmp, fmt, ap);
	va_end(ap);
	if (ev->model)
		return mapping_error(ev, id, at, "%s", text);
	ev->failed = true;
	diag_error_in(ev->sink, id, ev->node->place, "%s", text);
	if (at.beg)
		diag_note(ev->sink, at, "the entry says so here");
	return (mvalue){ .kind = MV_BAD };
}

/* ---- names ------------------------------------------------------------- */

static mvalue eval_name(evaluator *ev, const ast_expr *e)
{
	const char *name = mapping_target(ev, e);
	if (!name)
		return (mvalue){ .kind = MV_BAD };
	const mvalue *v = mapping_find(ev, name);
	if (v)
		return *v;
	if (!strcmp(name, "none"))
		return (mvalue){ .kind = MV_NULL };
	if (ev->model && !strcmp(name, "training"))
		return mv_bool(ev->options->train &&
			       !ev->options->train->evaluate);
	if (e->type)
		return mv_type(e->type->exact);
	return mapping_error(ev, DIAG_MAPPING, e->at, "'%s' has no value here",
			     name);
}

/* ---- operators --------------------------------------------------------- */

static mvalue bad_operands(evaluator *ev, const ast_expr *e, const mvalue *x,
			   const mvalue *y)
{
	return mapping_error(ev, DIAG_MAPPING, e->at,
			     "'%s' cannot be applied to %s and %s",
			     ast_operator_text(e->op), mv_kind_name(x->kind),
			     mv_kind_name(y->kind));
}

static mvalue int_arithmetic(evaluator *ev, const ast_expr *e, int64_t x,
			     int64_t y)
{
	int64_t r = 0;
	bool fits = true;
	switch (e->op) {
	case OP_ADD:
		fits = ck_add(x, y, &r);
		break;
	case OP_SUB:
		fits = ck_sub(x, y, &r);
		break;
	case OP_MUL:
		fits = ck_mul(x, y, &r);
		break;
	default:
		if (y <= 0)
			return mapping_error(ev, DIAG_BAD_DIVISOR, e->at,
					     "the divisor is %" PRId64
					     ", it has to be positive",
					     y);
		r = e->op == OP_DIV ? floor_div(x, y) : floor_mod(x, y);
	}
	if (!fits)
		return mapping_error(ev, DIAG_OVERFLOW, e->at,
				     "this number does not fit 64 bits");
	return mv_int(r);
}

static mvalue float_arithmetic(ast_operator op, double x, double y)
{
	switch (op) {
	case OP_ADD:
		return mv_float(x + y);
	case OP_SUB:
		return mv_float(x - y);
	case OP_MUL:
		return mv_float(x * y);
	case OP_DIV:
		return mv_float(x / y);
	default:
		return mv_float(x - y * floor(x / y));
	}
}

/* A store with the items of x and room for n more. */
static mstore *store_of(evaluator *ev, const mvalue *x, int n)
{
	mstore *s = x->store;
	if (s && x->items + x->n == s->at + s->used && s->size - s->used >= n)
		return s;
	s = ARENA_NEW(ev->tmp, mstore);
	s->used = x->n;
	s->size = 2 * (x->n + n) + 4;
	s->at = ARENA_ARRAY(ev->tmp, mvalue, s->size);
	for (int i = 0; i < x->n; i++)
		s->at[i] = x->items[i];
	ev->steps -= x->n / 16;
	return s;
}

static mvalue concatenate(evaluator *ev, const ast_expr *e, const mvalue *x,
			  const mvalue *y)
{
	if (x->n + y->n > MAPPING_MAX_LIST)
		return mapping_error(ev, DIAG_MAPPING, e->at,
				     "a list has more than %d elements",
				     MAPPING_MAX_LIST);
	mstore *s = store_of(ev, x, y->n);
	for (int i = 0; i < y->n; i++)
		s->at[s->used + i] = y->items[i];
	s->used += y->n;
	ev->steps -= y->n / 16;
	mvalue r = mv_list(s->at + s->used - y->n - x->n, x->n + y->n);
	r.store = s;
	return r;
}

static mvalue compare(evaluator *ev, const ast_expr *e, const mvalue *x,
		      const mvalue *y)
{
	if (e->op == OP_EQ || e->op == OP_NE)
		return mv_bool(mv_equal(x, y) == (e->op == OP_EQ));
	if (!mv_is_number(x) || !mv_is_number(y))
		return bad_operands(ev, e, x, y);
	double a = mv_double(x), b = mv_double(y);
	switch (e->op) {
	case OP_LT:
		return mv_bool(a < b);
	case OP_LE:
		return mv_bool(a <= b);
	case OP_GT:
		return mv_bool(a > b);
	default:
		return mv_bool(a >= b);
	}
}

static bool is_bool(evaluator *ev, const ast_expr *e, const mvalue *v)
{
	if (v->kind == MV_BOOL)
		return true;
	if (v->kind != MV_BAD)
		mapping_error(ev, DIAG_MAPPING, e->at,
			      "a condition is expected, not %s",
			      mv_kind_name(v->kind));
	return false;
}

static mvalue eval_logical(evaluator *ev, const ast_expr *e)
{
	mvalue x = mapping_eval(ev, e->args[0]);
	if (!is_bool(ev, e->args[0], &x))
		return (mvalue){ .kind = MV_BAD };
	if ((bool)x.i == (e->op == OP_OR))
		return x;
	mvalue y = mapping_eval(ev, e->args[1]);
	return is_bool(ev, e->args[1], &y) ? y : (mvalue){ .kind = MV_BAD };
}

/* Whether a value can be an operand of tensor operators. */
static bool is_operand(const mvalue *v)
{
	return v->kind == MV_TENSOR || mv_is_number(v);
}

static mvalue eval_binary(evaluator *ev, const ast_expr *e)
{
	if (e->op == OP_AND || e->op == OP_OR)
		return eval_logical(ev, e);
	mvalue x = mapping_eval(ev, e->args[0]);
	mvalue y = mapping_eval(ev, e->args[1]);
	if (x.kind == MV_BAD || y.kind == MV_BAD)
		return (mvalue){ .kind = MV_BAD };
	bool tensors = x.kind == MV_TENSOR || y.kind == MV_TENSOR;
	if (tensors && is_operand(&x) && is_operand(&y))
		return mapping_overload(ev, e, (mvalue[]){ x, y });
	if (e->op >= OP_LT)
		return compare(ev, e, &x, &y);
	if (x.kind == MV_LIST && y.kind == MV_LIST && e->op == OP_ADD)
		return concatenate(ev, e, &x, &y);
	if (x.kind == MV_INT && y.kind == MV_INT)
		return int_arithmetic(ev, e, x.i, y.i);
	if (mv_is_number(&x) && mv_is_number(&y))
		return float_arithmetic(e->op, mv_double(&x), mv_double(&y));
	return bad_operands(ev, e, &x, &y);
}

static mvalue eval_unary(evaluator *ev, const ast_expr *e)
{
	mvalue x = mapping_eval(ev, e->args[0]);
	if (x.kind == MV_BAD)
		return x;
	if (e->op == OP_NOT)
		return is_bool(ev, e->args[0], &x)
			       ? mv_bool(!x.i)
			       : (mvalue){ .kind = MV_BAD };
	if (x.kind == MV_TENSOR)
		return mapping_overload(ev, e, &x);
	if (x.kind == MV_FLOAT)
		return mv_float(-x.f);
	if (x.kind == MV_INT && x.i != INT64_MIN)
		return mv_int(-x.i);
	return mapping_error(ev, DIAG_MAPPING, e->at,
			     "'-' cannot be applied to %s",
			     mv_kind_name(x.kind));
}

bool mapping_integer(evaluator *ev, range at, const mvalue *v)
{
	if (v->kind == MV_INT)
		return true;
	if (v->kind != MV_BAD)
		mapping_error(ev, DIAG_MAPPING, at,
			      "an integer is expected, not %s",
			      mv_kind_name(v->kind));
	return false;
}

/* list[i]; a negative i counts from the end. */
static mvalue eval_index(evaluator *ev, const ast_expr *e)
{
	mvalue l = mapping_eval(ev, e->args[0]);
	if (l.kind == MV_BAD)
		return l;
	if (l.kind != MV_LIST || e->nargs != 2)
		return mapping_error(ev, DIAG_MAPPING, e->at,
				     "%s cannot be indexed like this",
				     mv_kind_name(l.kind));
	mvalue i = mapping_eval(ev, e->args[1]);
	if (!mapping_integer(ev, e->args[1]->at, &i))
		return (mvalue){ .kind = MV_BAD };
	int64_t at = i.i < 0 ? i.i + l.n : i.i;
	if (at < 0 || at >= l.n)
		return mapping_error(ev, DIAG_MAPPING, e->args[1]->at,
				     "index %" PRId64 " of a list of %d", i.i,
				     l.n);
	return l.items[at];
}

static mvalue eval_list(evaluator *ev, const ast_expr *e)
{
	mvalue *items = ARENA_ARRAY(ev->tmp, mvalue, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++) {
		items[i] = mapping_eval(ev, e->args[i]);
		if (items[i].kind == MV_BAD)
			return items[i];
	}
	return mv_list(items, e->nargs);
}

/* Whether time or memory has run out.  Called for each expression. */
static bool is_exhausted(evaluator *ev, const ast_expr *e)
{
	if (ev->steps-- <= 0) {
		if (!ev->failed)
			mapping_error(ev, DIAG_MAPPING, e->at,
				      "this takes too many steps");
		return true;
	}
	if (ev->evaluated++ % 64)
		return false;
	size_t used = arena_used(ev->tmp);
	if (ev->model)
		used += arena_used(ev->b->arena) - ev->before +
			arena_used(ev->b->tmp);
	if (used <= MAPPING_MAX_MEMORY)
		return false;
	if (!ev->failed)
		mapping_error(ev, DIAG_MAPPING, e->at,
			      "this takes too much memory");
	return true;
}

mvalue mapping_eval(evaluator *ev, const ast_expr *e)
{
	if (is_exhausted(ev, e))
		return (mvalue){ .kind = MV_BAD };
	switch (e->kind) {
	case AST_INT:
		return mv_int(e->i);
	case AST_FLOAT:
		return mv_float(e->f);
	case AST_STRING:
		return mv_string(e->name);
	case AST_BOOL:
		return mv_bool(e->i);
	case AST_NAME:
	case AST_FAMILY:
		return eval_name(ev, e);
	case AST_LIST:
		return eval_list(ev, e);
	case AST_INDEX:
		return eval_index(ev, e);
	case AST_CALL:
		return mapping_eval_call(ev, e);
	case AST_UNARY:
		return eval_unary(ev, e);
	case AST_BINARY:
		return eval_binary(ev, e);
	case AST_IF: {
		mvalue c = mapping_eval(ev, e->args[0]);
		if (!is_bool(ev, e->args[0], &c))
			return (mvalue){ .kind = MV_BAD };
		return mapping_eval(ev, e->args[c.i ? 1 : 2]);
	}
	default:
		return mapping_error(ev, DIAG_MAPPING, e->at,
				     "this has no meaning here");
	}
}
