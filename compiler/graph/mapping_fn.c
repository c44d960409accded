/* The functions that the bodies of entries and defs may call. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/graph/mapping_expr.h"
#include "plan/eval.h"

/* What a function is called with. */
typedef struct call {
	evaluator *ev;
	range at;
	const mvalue *args;
	int n;
} call;

typedef mvalue (*builtin)(const call *c);

typedef VEC(mvalue) mvalue_list;

/* What n elements cost that a call goes through, or makes. */
static void charge(const call *c, int64_t n)
{
	c->ev->steps -= (int)(n / 16);
}

static mvalue refuse(const call *c, int arg, const char *want)
{
	return mapping_error(c->ev, DIAG_MAPPING, c->at,
			     "%s where %s is expected",
			     mv_kind_name(c->args[arg].kind), want);
}

static bool is_list_of(const mvalue *v, mkind kind)
{
	if (v->kind != MV_LIST)
		return false;
	for (int i = 0; i < v->n; i++)
		if (v->items[i].kind != kind)
			return false;
	return true;
}

static mvalue ints_value(const call *c, const int64_t *v, int n)
{
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int i = 0; i < n; i++)
		items[i] = mv_int(v[i]);
	return mv_list(items, n);
}

/* ---- tensors ----------------------------------------------------------- */

static const tensor_type *type_of(const call *c)
{
	if (c->args[0].kind == MV_TENSOR)
		return graph_type(c->ev->b, (tensor_id)c->args[0].i);
	refuse(c, 0, "a tensor");
	return NULL;
}

/* An axis of n dimensions as 0 .. n - 1; negative ones count from the end. */
static mvalue fn_axis_of(const call *c)
{
	const mvalue *axis = &c->args[0], *n = &c->args[1];
	if (axis->kind != MV_INT || n->kind != MV_INT)
		return refuse(c, axis->kind != MV_INT ? 0 : 1, "an integer");
	if (axis->i >= -n->i && axis->i < n->i)
		return mv_int(axis->i < 0 ? axis->i + n->i : axis->i);
	return mapping_error(c->ev, DIAG_BAD_AXIS, c->at,
			     "axis %" PRId64 " of %" PRId64 " dimension%s",
			     axis->i, n->i, n->i == 1 ? "" : "s");
}

static mvalue fn_rank(const call *c)
{
	const tensor_type *t = type_of(c);
	return t ? mv_int(t->ndim) : (mvalue){ .kind = MV_BAD };
}

static mvalue fn_shape(const call *c)
{
	const tensor_type *t = type_of(c);
	return t ? ints_value(c, t->dims, t->ndim)
		 : (mvalue){ .kind = MV_BAD };
}

static mvalue fn_type(const call *c)
{
	const tensor_type *t = type_of(c);
	return t ? mv_type(t->type) : (mvalue){ .kind = MV_BAD };
}

static mvalue fn_known(const call *c)
{
	if (!type_of(c))
		return (mvalue){ .kind = MV_BAD };
	return mv_bool(graph_tensor(c->ev->b, (tensor_id)c->args[0].i)->kind ==
		       TENSOR_CONSTANT);
}

static mvalue element(dtype t, const void *p, int64_t i)
{
	if (dtype_is_float(t))
		return mv_float(elem_get_f64(t, p, i));
	int64_t v = elem_get_i64(t, p, i);
	return t == DT_BOOL ? mv_bool(v != 0) : mv_int(v);
}

/* The element of a tensor that is known and has just one. */
static mvalue fn_value(const call *c)
{
	const tensor_type *t = type_of(c);
	if (!t)
		return (mvalue){ .kind = MV_BAD };
	const void *p = graph_constant_data(c->ev->b, (tensor_id)c->args[0].i,
					    (int64_t)dtype_size(t->type));
	if (!p || tensor_nelem(t) != 1)
		return (mvalue){ .kind = MV_NULL };
	return element(t->type, p, 0);
}

/* All elements of a tensor that is known. */
static mvalue fn_values(const call *c)
{
	const tensor_type *t = type_of(c);
	if (!t)
		return (mvalue){ .kind = MV_BAD };
	int64_t n = tensor_nelem(t);
	const void *p = n > MAPPING_MAX_LIST
				? NULL
				: graph_constant_data(
					  c->ev->b, (tensor_id)c->args[0].i,
					  8 * (int64_t)MAPPING_MAX_LIST);
	if (!p)
		return (mvalue){ .kind = MV_NULL };
	charge(c, n);
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int64_t i = 0; i < n; i++)
		items[i] = element(t->type, p, i);
	return mv_list(items, (int)n);
}

/* An element of a tensor that tensor() makes; false if v is none. */
static bool put_element(const mvalue *v, dtype t, void *data, int i)
{
	if (v->kind == MV_FLOAT)
		elem_set_f64(t, data, i, v->f);
	else if (v->kind == MV_INT && dtype_is_float(t))
		elem_set_f64(t, data, i, (double)v->i);
	else if (v->kind == MV_INT || v->kind == MV_BOOL)
		elem_set_i64(t, data, i, v->i);
	else
		return false;
	return true;
}

/* tensor(v, t): a tensor of type t that is known, of v or of the list v. */
static mvalue fn_tensor(const call *c)
{
	const mvalue *v = &c->args[0], *type = &c->args[1];
	if (type->kind != MV_TYPE)
		return refuse(c, 1, "a type");
	bool is_list = v->kind == MV_LIST;
	int n = is_list ? v->n : 1;
	tensor_type t = { .type = (dtype)type->i, .ndim = is_list,
			  .dims = { n } };
	void *data = graph_alloc(c->ev->b, (size_t)tensor_nbytes(&t) + 1);
	for (int i = 0; i < n; i++)
		if (!put_element(is_list ? &v->items[i] : v, t.type, data, i))
			return refuse(c, 0, "a number or a list of numbers");
	return mv_tensor(graph_add_constant(c->ev->b, NULL, &t,
					    &(constant){ .data = data }));
}

/* ---- rebatched --------------------------------------------------------- */

/* Whether a target of Reshape, with 0 and -1, keeps the elements of t. */
static bool target_fits(const mvalue *target, const tensor_type *t)
{
	int64_t product = 1, nelem = tensor_nelem(t);
	bool open = false;
	for (int i = 0; i < target->n; i++) {
		int64_t v = target->items[i].i;
		if (v == 0 && i < t->ndim)
			v = t->dims[i];
		if (v == -1 && !open)
			open = true;
		else if (v < 0 || !ck_mul(product, v, &product))
			return false;
	}
	return open ? product > 0 && nelem % product == 0 : product == nelem;
}

/* What the tensor was with the shapes that the model declares. */
static const tensor_type *type_before(const call *c)
{
	const mapping_node *n = c->ev->node;
	for (int i = 0; n->before && i < n->ninputs; i++)
		if (n->inputs[i].kind == MV_TENSOR &&
		    n->inputs[i].i == c->args[0].i)
			return n->before[i];
	return NULL;
}

/* rebatched(x, target): exporters write the batch into the targets of
 * reshapes.  Where --shape changed the first dimension of x and no other, the
 * target keeps the elements of x as the model declares it, and its first
 * entry is the old first dimension, that entry is the batch, and becomes the
 * new one. */
static mvalue fn_rebatched(const call *c)
{
	const tensor_type *now = type_of(c), *old = now ? type_before(c) : NULL;
	const mvalue *target = &c->args[1];
	if (!now)
		return (mvalue){ .kind = MV_BAD };
	if (!is_list_of(target, MV_INT))
		return refuse(c, 1, "a list of integers");
	if (!old || now->ndim == 0 || old->ndim != now->ndim ||
	    target->n == 0 || old->dims[0] == now->dims[0] ||
	    target->items[0].i != old->dims[0] || !target_fits(target, old) ||
	    memcmp(old->dims + 1, now->dims + 1,
		   (size_t)(now->ndim - 1) * sizeof(now->dims[0])) != 0)
		return *target;
	mvalue *items = ARENA_COPY(c->ev->tmp, target->items, target->n);
	items[0] = mv_int(now->dims[0]);
	return mv_list(items, target->n);
}

/* ---- what is given ----------------------------------------------------- */

static mvalue fn_given(const call *c)
{
	return mv_bool(c->args[0].kind != MV_NULL);
}

static mvalue fn_is_list(const call *c)
{
	return mv_bool(c->args[0].kind == MV_LIST);
}

static mvalue fn_default(const call *c)
{
	return c->args[c->args[0].kind == MV_NULL];
}

/* outputs(): how many the node has */
static mvalue fn_outputs(const call *c)
{
	return mv_int(c->ev->node->noutputs);
}

/* node_seed(s): where the stream of random numbers of this node starts.  Nodes
 * with the same s have the same one; a node where s is not given has its own,
 * the same whenever the model is read. */
static mvalue fn_node_seed(const call *c)
{
	const mvalue *s = &c->args[0];
	struct { int64_t kind, i; double f; } key = { s->kind, 0, 0 };
	switch (s->kind) {
	case MV_NULL:
		key.i = c->ev->node->number;
		break;
	case MV_INT:
		key.i = s->i;
		break;
	case MV_FLOAT:
		key.f = s->f;
		break;
	default:
		return refuse(c, 0, "a number");
	}
	return mv_int((int64_t)(hash_bytes(HASH_SEED, &key, sizeof(key)) >> 1));
}

/* ---- lists ------------------------------------------------------------- */

static mvalue fn_len(const call *c)
{
	if (c->args[0].kind == MV_STRING)
		return mv_int((int64_t)strlen(c->args[0].s));
	if (c->args[0].kind != MV_LIST)
		return refuse(c, 0, "a list");
	return mv_int(c->args[0].n);
}

/* A number of elements, from 0 to the most that a list may have. */
static bool count_of(const call *c, int arg, int64_t *n)
{
	const mvalue *v = &c->args[arg];
	*n = v->i;
	if (v->kind == MV_INT && *n <= MAPPING_MAX_LIST) {
		*n = *n < 0 ? 0 : *n;
		charge(c, *n);
		return true;
	}
	refuse(c, arg, "a number of elements");
	return false;
}

/* range(n), range(first, end) */
static mvalue fn_range(const call *c)
{
	int64_t first = c->n > 1 ? c->args[0].i : 0, n;
	call count = *c;
	mvalue v[2] = { c->args[c->n - 1], c->args[0] };
	if (c->args[0].kind != MV_INT || v[0].kind != MV_INT)
		return refuse(c, 0, "an integer");
	if (!ck_sub(v[0].i, first, &v[0].i))
		return refuse(c, 0, "a number of elements");
	count.args = v;
	if (!count_of(&count, 0, &n))
		return (mvalue){ .kind = MV_BAD };
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int64_t i = 0; i < n; i++)
		items[i] = mv_int(first + i);
	return mv_list(items, (int)n);
}

/* fill(n, v): v n times */
static mvalue fn_fill(const call *c)
{
	int64_t n;
	if (!count_of(c, 0, &n))
		return (mvalue){ .kind = MV_BAD };
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int64_t i = 0; i < n; i++)
		items[i] = c->args[1];
	return mv_list(items, (int)n);
}

/* Where a list is cut: n elements from the front; negative, from the end. */
static bool cut_of(const call *c, int *at)
{
	const mvalue *l = &c->args[0], *n = &c->args[1];
	if (l->kind != MV_LIST || n->kind != MV_INT) {
		refuse(c, l->kind != MV_LIST ? 0 : 1,
		       l->kind != MV_LIST ? "a list" : "an integer");
		return false;
	}
	int64_t i = n->i < 0 ? n->i + l->n : n->i;
	*at = (int)(i < 0 ? 0 : i > l->n ? l->n : i);
	return true;
}

static mvalue fn_take(const call *c)
{
	int at;
	return cut_of(c, &at) ? mv_list(c->args[0].items, at)
			      : (mvalue){ .kind = MV_BAD };
}

static mvalue fn_drop(const call *c)
{
	int at;
	return cut_of(c, &at)
		       ? mv_list(c->args[0].items + at, c->args[0].n - at)
		       : (mvalue){ .kind = MV_BAD };
}

static mvalue fn_reverse(const call *c)
{
	const mvalue *l = &c->args[0];
	if (l->kind != MV_LIST)
		return refuse(c, 0, "a list");
	charge(c, l->n);
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, l->n + 1);
	for (int i = 0; i < l->n; i++)
		items[i] = l->items[l->n - 1 - i];
	return mv_list(items, l->n);
}

/* find(l, v): where v comes first, -1 if it does not. */
static mvalue fn_find(const call *c)
{
	const mvalue *l = &c->args[0];
	if (l->kind != MV_LIST)
		return refuse(c, 0, "a list");
	for (int i = 0; i < l->n; i++)
		if (mv_equal(&l->items[i], &c->args[1])) {
			charge(c, i);
			return mv_int(i);
		}
	charge(c, l->n);
	return mv_int(-1);
}

/* contains(l, v) */
static mvalue fn_contains(const call *c)
{
	mvalue at = fn_find(c);
	return at.kind == MV_INT ? mv_bool(at.i >= 0) : at;
}

static mvalue accumulate(const call *c, bool times)
{
	const mvalue *l = &c->args[0];
	int64_t r = times;
	if (!is_list_of(l, MV_INT))
		return refuse(c, 0, "a list of integers");
	charge(c, l->n);
	for (int i = 0; i < l->n; i++)
		if (times ? !ck_mul(r, l->items[i].i, &r)
			  : !ck_add(r, l->items[i].i, &r))
			return mapping_error(c->ev, DIAG_OVERFLOW, c->at,
					     "this number does not fit "
					     "64 bits");
	return mv_int(r);
}

static mvalue fn_product(const call *c)
{
	return accumulate(c, true);
}

static mvalue fn_total(const call *c)
{
	return accumulate(c, false);
}

/* ---- strings ----------------------------------------------------------- */

/* Appends the n bytes at s to a list; false when it is too long. */
static bool push_string(const call *c, mvalue_list *l, const char *s, size_t n)
{
	if (l->n == MAPPING_MAX_LIST) {
		mapping_error(c->ev, DIAG_MAPPING, c->at,
			      "a list has more than %d elements",
			      MAPPING_MAX_LIST);
		return false;
	}
	vec_push(c->ev->tmp, l, mv_string(arena_strndup(c->ev->tmp, s, n)));
	return true;
}

/* characters("ab") is ["a", "b"]; of UTF-8, bytes. */
static mvalue fn_characters(const call *c)
{
	mvalue_list l = { 0 };
	if (c->args[0].kind != MV_STRING)
		return refuse(c, 0, "a string");
	for (const char *s = c->args[0].s; *s; s++)
		if (!push_string(c, &l, s, 1))
			return (mvalue){ .kind = MV_BAD };
	charge(c, l.n);
	return mv_list(l.at, l.n);
}

/* split("a,b", ",") is ["a", "b"]. */
static mvalue fn_split(const call *c)
{
	mvalue_list l = { 0 };
	if (c->args[0].kind != MV_STRING || c->args[1].kind != MV_STRING ||
	    !*c->args[1].s)
		return refuse(c, c->args[0].kind == MV_STRING,
			      "a string that is not empty");
	const char *s = c->args[0].s, *at, *separator = c->args[1].s;
	for (; (at = strstr(s, separator)); s = at + strlen(separator))
		if (!push_string(c, &l, s, (size_t)(at - s)))
			return (mvalue){ .kind = MV_BAD };
	if (!push_string(c, &l, s, strlen(s)))
		return (mvalue){ .kind = MV_BAD };
	charge(c, l.n);
	return mv_list(l.at, l.n);
}

/* ---- graphs ------------------------------------------------------------ */

/* apply(g, inputs): the outputs of a graph of the node, a list. */
static mvalue fn_apply(const call *c)
{
	const mvalue *g = &c->args[0], *inputs = &c->args[1], *outputs;
	const mapping_node *m = c->ev->node;
	int n;
	if (g->kind != MV_GRAPH)
		return refuse(c, 0, "a graph");
	if (inputs->kind != MV_LIST)
		return refuse(c, 1, "a list");
	if (m->run_graph(m->context, g->graph, inputs->items, inputs->n,
			 &outputs, &n))
		return mv_list(outputs, n);
	c->ev->failed = true;
	return (mvalue){ .kind = MV_BAD };
}

/* ---- numbers ----------------------------------------------------------- */

/* min and max of two numbers, or of a list. */
static mvalue extreme(const call *c, int sign)
{
	const mvalue *v = c->args;
	int n = c->n;
	if (n == 1 && v[0].kind == MV_LIST) {
		n = v[0].n;
		v = v[0].items;
	}
	if (n == 0)
		return refuse(c, 0, "a list that is not empty");
	charge(c, n);
	const mvalue *best = &v[0];
	for (int i = 0; i < n; i++) {
		double x = v[i].kind == MV_INT ? (double)v[i].i : v[i].f;
		double y = best->kind == MV_INT ? (double)best->i : best->f;
		if (v[i].kind != MV_INT && v[i].kind != MV_FLOAT)
			return refuse(c, 0, "a number");
		if (sign * x > sign * y)
			best = &v[i];
	}
	return *best;
}

static mvalue fn_min(const call *c)
{
	return extreme(c, -1);
}

static mvalue fn_max(const call *c)
{
	return extreme(c, 1);
}

/* A number as an integer: truncated, as C converts. */
static mvalue fn_int(const call *c)
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_INT || v->kind == MV_BOOL)
		return mv_int(v->i);
	if (v->kind != MV_FLOAT || !(fabs(v->f) < 9e18))
		return refuse(c, 0, "a number that is not too large");
	return mv_int((int64_t)v->f);
}

static mvalue rounded(const call *c, double (*f)(double))
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_INT)
		return *v;
	if (v->kind != MV_FLOAT || !(fabs(v->f) < 9e18))
		return refuse(c, 0, "a number that is not too large");
	return mv_int((int64_t)f(v->f));
}

static mvalue fn_floor(const call *c)
{
	return rounded(c, floor);
}

static mvalue fn_ceil(const call *c)
{
	return rounded(c, ceil);
}

static mvalue fn_float(const call *c)
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_FLOAT)
		return *v;
	if (v->kind != MV_INT && v->kind != MV_BOOL)
		return refuse(c, 0, "a number");
	return mv_float((double)v->i);
}

static mvalue fn_abs(const call *c)
{
	const mvalue *v = &c->args[0];
	if (v->kind == MV_FLOAT)
		return mv_float(fabs(v->f));
	if (v->kind != MV_INT || v->i == INT64_MIN)
		return refuse(c, 0, "a number");
	return mv_int(v->i < 0 ? -v->i : v->i);
}

/* ---- types ------------------------------------------------------------- */

static mvalue is_type(const call *c, bool (*f)(dtype))
{
	const mvalue *v = &c->args[0];
	if (v->kind != MV_TYPE)
		return refuse(c, 0, "a type");
	return mv_bool(f((dtype)v->i));
}

static mvalue fn_is_float(const call *c)
{
	return is_type(c, dtype_is_float);
}

static mvalue fn_is_int(const call *c)
{
	return is_type(c, dtype_is_int);
}

static mvalue fn_is_signed(const call *c)
{
	return is_type(c, dtype_is_signed);
}

bool mapping_builtin(evaluator *ev, const ast_expr *e, const mvalue *args,
		     int nargs, mvalue *result)
{
	static const struct {
		const char *name;
		int least, most; /* arguments */
		builtin run;
	} table[] = {
#define SCALAR(name, least, most, rule, derivative)
#define REDUCER(name, rule)
#define MAPPING(name, least, most) { #name, least, most, fn_##name },
#include "dsl/builtins.def"
#undef MAPPING
#undef REDUCER
#undef SCALAR
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, e->name))
			continue;
		call c = { ev, e->at, args, nargs };
		if (nargs < table[i].least || nargs > table[i].most ||
		    e->nnamed || e->open_named)
			*result = mapping_error(
				ev, DIAG_BAD_CALL, e->at,
				"'%s' takes %d argument%s here", e->name,
				table[i].most, table[i].most > 1 ? "s" : "");
		else
			*result = table[i].run(&c);
		return true;
	}
	return false;
}
