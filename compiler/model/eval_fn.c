/* Functions on any values, graphs, numbers and types, for the bodies of models,
 * entries and defs. */
#include "config.h"

#include <math.h>

#include "base/checked.h"
#include "base/hash.h"
#include "compiler/model/eval_fn.h"
#include "dsl/builtins.h"

void mapping_charge(const mapping_call *c, int64_t n)
{
	c->ev->steps -= (int)(n / 16);
	if (n > 1024)
		c->ev->evaluated = 0; /* memory is checked next */
}

mvalue mapping_refuse(const mapping_call *c, int arg, const char *want)
{
	return mapping_error(c->ev, DIAG_MAPPING, c->at,
			     "%s is expected, not %s", want,
			     mv_kind_name(c->args[arg].kind));
}

bool mv_is_list_of(const mvalue *v, mkind kind)
{
	if (v->kind != MV_LIST)
		return false;
	for (int i = 0; i < v->n; i++)
		if (v->items[i].kind != kind)
			return false;
	return true;
}

/* ---- arguments and nodes ----------------------------------------------- */

mvalue fn_given(const mapping_call *c)
{
	return mv_bool(c->args[0].kind != MV_NULL);
}

mvalue fn_is_list(const mapping_call *c)
{
	return mv_bool(c->args[0].kind == MV_LIST);
}

mvalue fn_default(const mapping_call *c)
{
	return c->args[c->args[0].kind == MV_NULL];
}

/* Whether there is a node.  Adds an error if not, which means in a model. */
static bool has_node(const mapping_call *c)
{
	if (c->ev->node)
		return true;
	mapping_error(c->ev, DIAG_BAD_CALL, c->at,
		      "only the entry of a node can ask for this");
	return false;
}

/* outputs(): the number of the node's outputs */
mvalue fn_outputs(const mapping_call *c)
{
	if (!has_node(c))
		return (mvalue){ .kind = MV_BAD };
	return mv_int(c->ev->node->noutputs);
}

/* node_seed(s): the start of this node's stream of random numbers.  Nodes with
 * the same s have the same stream.  A node without s has its own stream, which
 * is the same each time the model is read. */
mvalue fn_node_seed(const mapping_call *c)
{
	const mvalue *s = &c->args[0];
	struct { int64_t kind, i; double f; } key = { s->kind, 0, 0 };
	switch (s->kind) {
	case MV_NULL:
		key.i = c->ev->node ? c->ev->node->number : c->ev->seeds++;
		break;
	case MV_INT:
		key.i = s->i;
		break;
	case MV_FLOAT:
		key.f = s->f;
		break;
	default:
		return mapping_refuse(c, 0, "a number");
	}
	return mv_int((int64_t)(hash_bytes(HASH_SEED, &key, sizeof(key)) >> 1));
}

/* ---- graphs ------------------------------------------------------------ */

/* apply(g, inputs): the outputs of the node's graph g, as a list */
mvalue fn_apply(const mapping_call *c)
{
	const mvalue *g = &c->args[0], *inputs = &c->args[1], *outputs;
	const mapping_node *m = c->ev->node;
	int n;
	if (g->kind != MV_GRAPH)
		return mapping_refuse(c, 0, "a graph");
	if (inputs->kind != MV_LIST)
		return mapping_refuse(c, 1, "a list");
	if (m->run_graph(m->context, g->graph, inputs->items, inputs->n,
			 &outputs, &n))
		return mv_list(outputs, n);
	c->ev->failed = true;
	return (mvalue){ .kind = MV_BAD };
}

/* ---- numbers ----------------------------------------------------------- */

/* min and max of two numbers or of a list. */
static mvalue extreme(const mapping_call *c, int sign)
{
	const mvalue *v = c->args;
	int n = c->n;
	if (n == 1 && v[0].kind == MV_LIST) {
		n = v[0].n;
		v = v[0].items;
	}
	if (n == 0)
		return mapping_refuse(c, 0, "a list that is not empty");
	mapping_charge(c, n);
	const mvalue *best = &v[0];
	for (int i = 0; i < n; i++) {
		double x = v[i].kind == MV_INT ? (double)v[i].i : v[i].f;
		double y = best->kind == MV_INT ? (double)best->i : best->f;
		if (v[i].kind != MV_INT && v[i].kind != MV_FLOAT)
			return mapping_refuse(c, 0, "a number");
		if (sign * x > sign * y)
			best = &v[i];
	}
	return *best;
}

mvalue fn_min(const mapping_call *c)
{
	return extreme(c, -1);
}

mvalue fn_max(const mapping_call *c)
{
	return extreme(c, 1);
}

/* A number as an integer, truncated like a conversion in C. */
mvalue fn_int(const mapping_call *c)
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_INT || v->kind == MV_BOOL)
		return mv_int(v->i);
	if (v->kind != MV_FLOAT || !(fabs(v->f) < 9e18))
		return mapping_refuse(c, 0, "a number that is not too large");
	return mv_int((int64_t)v->f);
}

static mvalue rounded(const mapping_call *c, double (*f)(double))
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_INT)
		return *v;
	if (v->kind != MV_FLOAT || !(fabs(v->f) < 9e18))
		return mapping_refuse(c, 0, "a number that is not too large");
	return mv_int((int64_t)f(v->f));
}

mvalue fn_floor(const mapping_call *c)
{
	return rounded(c, floor);
}

mvalue fn_ceil(const mapping_call *c)
{
	return rounded(c, ceil);
}

mvalue fn_float(const mapping_call *c)
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_FLOAT)
		return *v;
	if (v->kind != MV_INT && v->kind != MV_BOOL)
		return mapping_refuse(c, 0, "a number");
	return mv_float((double)v->i);
}

mvalue fn_abs(const mapping_call *c)
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_FLOAT)
		return mv_float(fabs(v->f));
	if (v->kind != MV_INT || v->i == INT64_MIN)
		return mapping_refuse(c, 0, "a number");
	return mv_int(v->i < 0 ? -v->i : v->i);
}

/* ---- functions of numbers ---------------------------------------------- */

static mvalue of_number(const mapping_call *c, double (*f)(double))
{
	if (!mv_is_number(&c->args[0]))
		return mapping_refuse(c, 0, "a number");
	return mv_float(f(mv_double(&c->args[0])));
}

mvalue fn_sqrt(const mapping_call *c)
{
	return of_number(c, sqrt);
}

mvalue fn_exp(const mapping_call *c)
{
	return of_number(c, exp);
}

mvalue fn_log(const mapping_call *c)
{
	return of_number(c, log);
}

/* Rounds to the nearest integer, ties to even. */
mvalue fn_round(const mapping_call *c)
{
	return rounded(c, nearbyint);
}

/* The result is an integer if both arguments are and the exponent is not
 * negative.  Adds an error if it overflows. */
mvalue fn_pow(const mapping_call *c)
{
	const mvalue *x = &c->args[0], *y = &c->args[1];
	int64_t r = 1;
	if (!mv_is_number(x) || !mv_is_number(y))
		return mapping_refuse(c, mv_is_number(x), "a number");
	if (x->kind != MV_INT || y->kind != MV_INT || y->i < 0)
		return mv_float(pow(mv_double(x), mv_double(y)));
	if (y->i > 64 && (x->i < -1 || x->i > 1))
		return mapping_error(c->ev, DIAG_OVERFLOW, c->at,
				     "this number does not fit 64 bits");
	int64_t n = y->i > 64 ? 2 + y->i % 2 : y->i;
	for (int64_t i = 0; i < n; i++)
		if (!ck_mul(r, x->i, &r))
			return mapping_error(c->ev, DIAG_OVERFLOW, c->at,
					     "this number does not fit "
					     "64 bits");
	return mv_int(r);
}

/* The distribution of a parameter's initial values. */
static mvalue distribution(const mapping_call *c, constant_init init)
{
	if (!mv_is_number(&c->args[0]) || !mv_is_number(&c->args[1]))
		return mapping_refuse(c, mv_is_number(&c->args[0]),
				      "a number");
	double x = mv_double(&c->args[0]), y = mv_double(&c->args[1]);
	bool fits = init == INIT_NORMAL ? y >= 0 : x <= y;
	if (!isfinite(x) || !isfinite(y) || !fits)
		return mapping_error(c->ev, DIAG_MAPPING, c->at,
				     "there is no such distribution: %s",
				     fits ? "the numbers are not finite"
				     : init == INIT_NORMAL
					     ? "the deviation is negative"
					     : "the bounds are not in order");
	constant *k = ARENA_NEW(c->ev->tmp, constant);
	k->init = init;
	k->lo = k->mean = x;
	k->hi = k->std = y;
	return (mvalue){ .kind = MV_INIT, .init = k };
}

/* normal(mean, deviation) */
mvalue fn_normal(const mapping_call *c)
{
	return distribution(c, INIT_NORMAL);
}

/* uniform(low, high) */
mvalue fn_uniform(const mapping_call *c)
{
	return distribution(c, INIT_UNIFORM);
}

/* ---- types ------------------------------------------------------------- */

static mvalue is_type(const mapping_call *c, bool (*f)(dtype))
{
	const mvalue *v = &c->args[0];
	if (v->kind != MV_TYPE)
		return mapping_refuse(c, 0, "a type");
	return mv_bool(f((dtype)v->i));
}

mvalue fn_is_float(const mapping_call *c)
{
	return is_type(c, dtype_is_float);
}

mvalue fn_is_int(const mapping_call *c)
{
	return is_type(c, dtype_is_int);
}

mvalue fn_is_signed(const mapping_call *c)
{
	return is_type(c, dtype_is_signed);
}

bool mapping_builtin(evaluator *ev, const ast_expr *e, const mvalue *args,
		     int nargs, mvalue *result)
{
	static mvalue (*const run[BUILTIN_COUNT])(const mapping_call *) = {
#define SCALAR(...)
#define MAPPING(name, ...) [MAPPING_##name] = fn_##name,
#define OVERLOAD(...)
#include "dsl/builtins.def"
#undef OVERLOAD
#undef MAPPING
#undef SCALAR
	};
	const builtin *f = e->calls.function;
	mapping_call c = { ev, e->at, args, nargs };
	if (!f)
		return false;
	if (nargs < f->least || nargs > f->most || e->nnamed || e->open_named)
		*result = mapping_error(ev, DIAG_BAD_CALL, e->at,
					"'%s' takes %d argument%s here",
					f->name, f->most,
					f->most > 1 ? "s" : "");
	else
		*result = run[f->id](&c);
	return true;
}
