/* Functions on tensors, for the bodies of entries and defs. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/model/eval_fn.h"
#include "kernel/eval.h"

static mvalue ints_value(const mapping_call *c, const int64_t *v, int n)
{
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int i = 0; i < n; i++)
		items[i] = mv_int(v[i]);
	return mv_list(items, n);
}

/* ---- tensors ----------------------------------------------------------- */

static const tensor_type *type_of(const mapping_call *c)
{
	if (c->args[0].kind == MV_TENSOR)
		return graph_type(c->ev->b, (tensor_id)c->args[0].i);
	mapping_refuse(c, 0, "a tensor");
	return NULL;
}

/* axis_of(): an axis of n dimensions as 0 .. n - 1; negative ones count from
 * the end. */
mvalue fn_axis_of(const mapping_call *c)
{
	const mvalue *axis = &c->args[0], *n = &c->args[1];
	if (axis->kind != MV_INT || n->kind != MV_INT)
		return mapping_refuse(c, axis->kind != MV_INT ? 0 : 1,
				      "an integer");
	if (axis->i >= -n->i && axis->i < n->i)
		return mv_int(axis->i < 0 ? axis->i + n->i : axis->i);
	return mapping_error(c->ev, DIAG_BAD_AXIS, c->at,
			     "axis %" PRId64 " of %" PRId64 " dimension%s",
			     axis->i, n->i, n->i == 1 ? "" : "s");
}

mvalue fn_rank(const mapping_call *c)
{
	const tensor_type *t = type_of(c);
	return t ? mv_int(t->ndim) : (mvalue){ .kind = MV_BAD };
}

mvalue fn_shape(const mapping_call *c)
{
	const tensor_type *t = type_of(c);
	return t ? ints_value(c, t->dims, t->ndim)
		 : (mvalue){ .kind = MV_BAD };
}

mvalue fn_type(const mapping_call *c)
{
	const tensor_type *t = type_of(c);
	return t ? mv_type(t->type) : (mvalue){ .kind = MV_BAD };
}

mvalue fn_known(const mapping_call *c)
{
	if (!type_of(c))
		return (mvalue){ .kind = MV_BAD };
	return mv_bool(graph_is_known(c->ev->b, (tensor_id)c->args[0].i));
}

/* state_of(): in a model that is trained, a state that is x before the first
 * step. */
mvalue fn_state_of(const mapping_call *c)
{
	if (!type_of(c))
		return (mvalue){ .kind = MV_BAD };
	return mv_tensor(graph_keep(c->ev->b, (tensor_id)c->args[0].i));
}

/* becomes(): sets the next value of such a state; returns it. */
mvalue fn_becomes(const mapping_call *c)
{
	const tensor_type *t = type_of(c);
	if (!t)
		return (mvalue){ .kind = MV_BAD };
	tensor_id state = (tensor_id)c->args[0].i;
	if (c->args[1].kind != MV_TENSOR)
		return mapping_refuse(c, 1, "a tensor");
	tensor_id next = (tensor_id)c->args[1].i;
	if (graph_tensor(c->ev->b, state)->kind != TENSOR_STATE)
		return c->args[1];
	const tensor_type *u = graph_type(c->ev->b, next);
	if (t->type != u->type || t->ndim != u->ndim ||
	    memcmp(t->dims, u->dims, (size_t)t->ndim * sizeof(*t->dims)))
		return mapping_refuse(c, 1, "a tensor of the state's type");
	graph_set_next(c->ev->b, state, next);
	return c->args[1];
}

static mvalue element(dtype t, const void *p, int64_t i)
{
	if (dtype_is_float(t))
		return mv_float(elem_get_f64(t, p, i));
	int64_t v = elem_get_i64(t, p, i);
	return t == DT_BOOL ? mv_bool(v != 0) : mv_int(v);
}

/* value(): the element of a known tensor with one element. */
mvalue fn_value(const mapping_call *c)
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

/* values(): all elements of a known tensor. */
mvalue fn_values(const mapping_call *c)
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
	mapping_charge(c, n);
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int64_t i = 0; i < n; i++)
		items[i] = element(t->type, p, i);
	return mv_list(items, (int)n);
}

/* Stores an element of a tensor made by tensor().  Returns false if v is no
 * element. */
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

/* tensor(v, t): a known tensor of type t with the value v or the elements of
 * list v */
mvalue fn_tensor(const mapping_call *c)
{
	const mvalue *v = &c->args[0], *type = &c->args[1];
	if (type->kind != MV_TYPE)
		return mapping_refuse(c, 1, "a type");
	bool is_list = v->kind == MV_LIST;
	int n = is_list ? v->n : 1;
	tensor_type t = { .type = (dtype)type->i, .ndim = is_list,
			  .dims = { n } };
	void *data = graph_alloc(c->ev->b, (size_t)tensor_nbytes(&t) + 1);
	for (int i = 0; i < n; i++)
		if (!put_element(is_list ? &v->items[i] : v, t.type, data, i))
			return mapping_refuse(c, 0,
					      "a number or a list of numbers");
	return mv_tensor(graph_add_constant(c->ev->b, NULL, &t,
					    &(constant){ .data = data }));
}

/* ---- rebatched --------------------------------------------------------- */

/* Whether a target of Reshape, with 0 and -1, fits the elements of t. */
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

/* The tensor's type under the shapes that the model declares. */
static const tensor_type *type_before(const mapping_call *c)
{
	const mapping_node *n = c->ev->node;
	for (int i = 0; n && n->before && i < n->ninputs; i++)
		if (n->inputs[i].kind == MV_TENSOR &&
		    n->inputs[i].i == c->args[0].i)
			return n->before[i];
	return NULL;
}

/* rebatched(x, target): exporters write the batch into the targets of reshapes.
 * Suppose that --shape changed only the first dimension of x.  If the target
 * keeps the elements of x as declared, and its first entry is the old first
 * dimension, that entry is the batch and is replaced by the new one. */
mvalue fn_rebatched(const mapping_call *c)
{
	const tensor_type *now = type_of(c), *old = now ? type_before(c) : NULL;
	const mvalue *target = &c->args[1];
	if (!now)
		return (mvalue){ .kind = MV_BAD };
	if (!mv_is_list_of(target, MV_INT))
		return mapping_refuse(c, 1, "a list of integers");
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
