/* Expressions in entries and defs: numbers, lists, strings, calls. */
#include "config.h"

#include "compiler/graph/mapping_expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/checked.h"

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

static bool is_number(const mvalue *v)
{
	return v->kind == MV_INT || v->kind == MV_FLOAT;
}

static double as_double(const mvalue *v)
{
	return v->kind == MV_INT ? (double)v->i : v->f;
}

bool mv_equal(const mvalue *x, const mvalue *y)
{
	if (is_number(x) && is_number(y))
		return x->kind == MV_INT && y->kind == MV_INT
			       ? x->i == y->i
			       : as_double(x) == as_double(y);
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
		[MV_GRAPH] = "a graph", [MV_LIST] = "a list",
	};
	return names[k];
}

mvalue mapping_error(evaluator *ev, diag_id id, range at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(ev->tmp, fmt, ap);
	va_end(ap);
	ev->failed = true;
	diag_error(ev->sink, id, at, "%s", text);
	diag_note(ev->sink, NOWHERE, "this maps %s", ev->node->place);
	return (mvalue){ .kind = MV_BAD };
}

/* ---- names ------------------------------------------------------------- */

mvalue *mapping_find(evaluator *ev, const char *name)
{
	for (int i = ev->names.n - 1; i >= ev->first; i--)
		if (ev->names.at[i].name == name)
			return &ev->names.at[i].value;
	return NULL;
}

void mapping_set(evaluator *ev, const char *name, mvalue v)
{
	mvalue *old = mapping_find(ev, name);
	if (old)
		*old = v;
	else
		vec_push(ev->tmp, &ev->names, ((mname){ name, v }));
}

static mvalue eval_name(evaluator *ev, const ast_expr *e)
{
	const mvalue *v = mapping_find(ev, e->name);
	if (v)
		return *v;
	if (!strcmp(e->name, "none"))
		return (mvalue){ .kind = MV_NULL };
	dtype t = dtype_parse(e->name);
	if (t != DT_NONE)
		return mv_type(t);
	return mapping_error(ev, DIAG_MAPPING, e->at, "'%s' has no value here",
			     e->name);
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

/* A store that begins with the items of x and has room for n more. */
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
	if (!is_number(x) || !is_number(y))
		return bad_operands(ev, e, x, y);
	double a = as_double(x), b = as_double(y);
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
			      "%s where a condition is expected",
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

static mvalue eval_binary(evaluator *ev, const ast_expr *e)
{
	if (e->op == OP_AND || e->op == OP_OR)
		return eval_logical(ev, e);
	mvalue x = mapping_eval(ev, e->args[0]);
	mvalue y = mapping_eval(ev, e->args[1]);
	if (x.kind == MV_BAD || y.kind == MV_BAD)
		return (mvalue){ .kind = MV_BAD };
	if (e->op >= OP_LT)
		return compare(ev, e, &x, &y);
	if (x.kind == MV_LIST && y.kind == MV_LIST && e->op == OP_ADD)
		return concatenate(ev, e, &x, &y);
	if (x.kind == MV_INT && y.kind == MV_INT)
		return int_arithmetic(ev, e, x.i, y.i);
	if (is_number(&x) && is_number(&y))
		return float_arithmetic(e->op, as_double(&x), as_double(&y));
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
	if (x.kind == MV_FLOAT)
		return mv_float(-x.f);
	if (x.kind == MV_INT && x.i != INT64_MIN)
		return mv_int(-x.i);
	return mapping_error(ev, DIAG_MAPPING, e->at,
			     "'-' cannot be applied to %s",
			     mv_kind_name(x.kind));
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
	if (i.kind == MV_BAD)
		return i;
	if (i.kind != MV_INT)
		return mapping_error(ev, DIAG_MAPPING, e->args[1]->at,
				     "%s where an integer is expected",
				     mv_kind_name(i.kind));
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

/* ---- calls of operators ------------------------------------------------ */

/* One element of an attribute. */
static bool set_element(const mvalue *v, attr_type want, int64_t *i,
			double *f, const char **s)
{
	*i = v->kind == MV_FLOAT || v->kind == MV_STRING ? 0 : v->i;
	*s = v->kind == MV_STRING ? v->s : NULL;
	*f = is_number(v) ? as_double(v) : 0;
	switch (want) {
	case ATTR_INT:
	case ATTR_AXIS:
		return v->kind == MV_INT;
	case ATTR_FLOAT:
		return is_number(v);
	case ATTR_STRING:
		return v->kind == MV_STRING;
	case ATTR_BOOL:
		return v->kind == MV_BOOL;
	case ATTR_TYPE:
		return v->kind == MV_TYPE;
	case ATTR_GRAPH:
		break; /* operators have none */
	}
	return false;
}

/* A value as what an operator's attribute declares. */
static const attr_value *to_attr(evaluator *ev, const ast_attr *a,
				 const mvalue *v, range at)
{
	int n = a->is_list ? v->n : 1;
	bool ok = a->is_list == (v->kind == MV_LIST);
	int64_t *ints = ARENA_ARRAY(ev->tmp, int64_t, n + 1);
	double *floats = ARENA_ARRAY(ev->tmp, double, n + 1);
	const char **strings = ARENA_ARRAY(ev->tmp, const char *, n + 1);
	for (int i = 0; ok && i < n; i++)
		ok = set_element(a->is_list ? &v->items[i] : v, a->type,
				 &ints[i], &floats[i], &strings[i]);
	if (!ok) {
		mapping_error(ev, DIAG_BAD_ATTRIBUTE, at,
			      "the attribute '%s' of the operator cannot be %s",
			      a->name, mv_kind_name(v->kind));
		return NULL;
	}
	attr_value *r = ARENA_NEW(ev->tmp, attr_value);
	*r = (attr_value){ a->type, a->is_list, n, ints, floats, strings };
	return r;
}

/* What `, ..` gives an attribute or a parameter: the attribute of the entry,
 * or the parameter of the def, that has the name; NULL if it has none. */
static const mvalue *inherited(evaluator *ev, const char *name)
{
	bool has = false;
	if (ev->def)
		for (int i = 0; i < ev->def->nparams; i++)
			has |= ev->def->params[i].name == name;
	else
		for (int i = 0; i < ev->entry->nattrs; i++)
			has |= ev->entry->attrs[i].name == name;
	const mvalue *v = has ? mapping_find(ev, name) : NULL;
	return v && v->kind != MV_NULL ? v : NULL;
}

static const attr_value **call_attrs(evaluator *ev, const ast_expr *e,
				     const ast_op *op)
{
	const attr_value **attrs =
		ARENA_ARRAY(ev->tmp, const attr_value *, op->nattrs + 1);
	for (int i = 0; i < op->nattrs && e->open_named; i++) {
		const mvalue *v = inherited(ev, op->attrs[i].name);
		if (v && !(attrs[i] = to_attr(ev, &op->attrs[i], v, e->at)))
			return NULL;
	}
	for (int j = 0; j < e->nnamed; j++) {
		const ast_named *named = &e->named[j];
		int i = 0;
		while (i < op->nattrs && op->attrs[i].name != named->name)
			i++;
		if (i == op->nattrs) {
			mapping_error(ev, DIAG_BAD_ATTRIBUTE, named->at,
				      "'%s' has no attribute '%s'", op->name,
				      named->name);
			return NULL;
		}
		mvalue v = mapping_eval(ev, named->value);
		if (v.kind == MV_NULL)
			continue;
		if (v.kind == MV_BAD ||
		    !(attrs[i] = to_attr(ev, &op->attrs[i], &v, named->at)))
			return NULL;
	}
	return attrs;
}

static mvalue call_operator(evaluator *ev, const ast_expr *e,
			    const ast_op *op, const mvalue *args)
{
	tensor_id *ids = ARENA_ARRAY(ev->tmp, tensor_id, e->nargs + 1);
	tensor_id *results = ARENA_ARRAY(ev->tmp, tensor_id, op->nresults + 1);
	if (e->nargs != op->nparams)
		return mapping_error(ev, DIAG_BAD_CALL, e->at,
				     "'%s' takes %d tensor%s, not %d",
				     op->name, op->nparams,
				     op->nparams == 1 ? "" : "s", e->nargs);
	for (int i = 0; i < e->nargs; i++) {
		if (args[i].kind != MV_TENSOR)
			return mapping_error(ev, DIAG_BAD_CALL, e->args[i]->at,
					     "%s where a tensor is expected",
					     mv_kind_name(args[i].kind));
		ids[i] = (tensor_id)args[i].i;
	}
	const attr_value **attrs = call_attrs(ev, e, op);
	call_site site = { .place = ev->node->place };
	if (!attrs || !graph_call(ev->b, op, ev->node->name, ids, attrs, site,
				  results)) {
		ev->failed = true;
		return (mvalue){ .kind = MV_BAD };
	}
	if (op->nresults == 1)
		return mv_tensor(results[0]);
	mvalue *items = ARENA_ARRAY(ev->tmp, mvalue, op->nresults);
	for (int i = 0; i < op->nresults; i++)
		items[i] = mv_tensor(results[i]);
	return mv_list(items, op->nresults);
}

/* The value of a parameter of a def; with no error where there is none. */
static mvalue argument(evaluator *ev, const ast_expr *e, const ast_block *def,
		       int i, const mvalue *args)
{
	const char *name = def->params[i].name;
	if (i < e->nargs)
		return args[i];
	for (int j = 0; j < e->nnamed; j++)
		if (e->named[j].name == name)
			return mapping_eval(ev, e->named[j].value);
	const mvalue *v = e->open_named ? inherited(ev, name) : NULL;
	if (v)
		return *v;
	if (def->params[i].value)
		return mapping_eval(ev, def->params[i].value);
	return mapping_error(ev, DIAG_BAD_CALL, e->at,
			     "'%s' is called without its argument '%s'",
			     def->name, name);
}

/* A def sees its parameters and no other names. */
static mvalue call_def(evaluator *ev, const ast_expr *e, const ast_block *def,
		       const mvalue *args)
{
	mname *names = ARENA_ARRAY(ev->tmp, mname, def->nparams + 1);
	for (int i = 0; i < def->nparams; i++) {
		names[i].name = def->params[i].name;
		names[i].value = argument(ev, e, def, i, args);
		if (names[i].value.kind == MV_BAD)
			return names[i].value;
	}
	int first = ev->first;
	const ast_block *outer = ev->def;
	ev->first = ev->names.n;
	ev->def = def;
	for (int i = 0; i < def->nparams; i++)
		vec_push(ev->tmp, &ev->names, names[i]);
	mvalue r = mapping_run(ev, def);
	ev->names.n = ev->first;
	ev->first = first;
	ev->def = outer;
	return r;
}

/* An operator is meant before a function of that name if it is given a
 * tensor. */
static mvalue eval_call(evaluator *ev, const ast_expr *e)
{
	mvalue *args = ARENA_ARRAY(ev->tmp, mvalue, e->nargs + 1), r;
	bool tensors = false;
	for (int i = 0; i < e->nargs; i++) {
		args[i] = mapping_eval(ev, e->args[i]);
		if (args[i].kind == MV_BAD)
			return args[i];
		tensors |= args[i].kind == MV_TENSOR;
	}
	const ast_block *def = dsl_block(ev->modules, e->name);
	if (def)
		return call_def(ev, e, def, args);
	const ast_op *op = dsl_op(ev->modules, e->name);
	if (op && tensors)
		return call_operator(ev, e, op, args);
	if (mapping_builtin(ev, e, args, e->nargs, &r))
		return r;
	if (op)
		return call_operator(ev, e, op, args);
	return mapping_error(ev, DIAG_MAPPING, e->at,
			     "there is no operator, def or function '%s'",
			     e->name);
}

mvalue mapping_eval(evaluator *ev, const ast_expr *e)
{
	if (ev->steps-- <= 0)
		return ev->failed ? (mvalue){ .kind = MV_BAD }
				  : mapping_error(ev, DIAG_MAPPING, e->at,
						  "this takes too many steps");
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
		return eval_name(ev, e);
	case AST_LIST:
		return eval_list(ev, e);
	case AST_INDEX:
		return eval_index(ev, e);
	case AST_CALL:
		return eval_call(ev, e);
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
				     "this has no meaning in an entry or def");
	}
}
