/* Compares an operator's results, given by expansion and the interpreter, with
 * the reference, which evaluates the definition. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <math.h>
#include <string.h>

#include "include/tdl/kernel.h"

enum { MAX_STEPS = 3000000 }; /* evaluation steps for a shape */

/* ---- between views and the reference's tensors -------------------------- */

static ref_number number_at(const view *v, int64_t i)
{
	return dtype_is_float(v->type)
		       ? ref_float(v->type, elem_get_f64(v->type, v->data, i))
		       : ref_int(v->type, elem_get_i64(v->type, v->data, i));
}

/* An empty view has no shape, so `type' gives it. */
static ref_tensor tensor_of_view(arena *a, const view *v,
				 const tensor_type *type)
{
	int64_t n = view_count(v);
	ref_tensor t = { .type = v->type, .ndim = type->ndim,
			 .at = ARENA_ARRAY(a, ref_number, n + 1) };
	memcpy(t.dims, type->dims, sizeof(t.dims));
	for (int64_t i = 0; i < n; i++)
		t.at[i] = number_at(v, i);
	return t;
}

static view view_of_tensor(arena *a, const ref_tensor *t)
{
	view v = new_view(a, t->type, t->ndim, t->dims);
	int64_t n = view_count(&v);
	for (int64_t i = 0; i < n; i++)
		if (dtype_is_float(t->type))
			elem_set_f64(t->type, v.data, i, t->at[i].f);
		else
			elem_set_i64(t->type, v.data, i, t->at[i].i);
	return v;
}

static tdl_view argument(view *v, const int64_t *dims)
{
	return (tdl_view){ .data = v->data, .dtype = (int)v->type,
			   .ndim = v->at.n, .dims = dims,
			   .strides = v->stride };
}

/* stand_in() in the form that the reference calls. */
static void opaque(const ast_opaque *f, int n, const ref_tensor *slices,
		   ref_tensor *result)
{
	arena *a = arena_new();
	view *views = ARENA_ARRAY(a, view, n + 1);
	tdl_view *in = ARENA_ARRAY(a, tdl_view, n + 1), out;
	(void)f;
	for (int i = 0; i < n; i++) {
		views[i] = view_of_tensor(a, &slices[i]);
		in[i] = argument(&views[i], slices[i].dims);
	}
	views[n] = new_view(a, result->type, result->ndim, result->dims);
	out = argument(&views[n], result->dims);
	tdl_kernel_call call = { n, in, 1, &out, 0, NULL };
	stand_in(&call);
	int64_t count = view_count(&views[n]);
	for (int64_t i = 0; i < count; i++)
		result->at[i] = number_at(&views[n], i);
	arena_free(a);
}

static const ref_attr *const *attrs_of(const trial *t)
{
	const ast_op *op = t->v->op;
	const ref_attr **all = ARENA_ARRAY(t->arena, const ref_attr *,
					   op->nattrs + 1);
	for (int i = 0; i < op->nattrs; i++) {
		const attr_value *v = t->drawn->attrs[i];
		if (!v)
			continue;
		ref_attr *made = ARENA_NEW(t->arena, ref_attr);
		*made = (ref_attr){ v->type, v->is_list, v->n, v->ints,
				    v->floats, v->strings };
		all[i] = made;
	}
	return all;
}

/* ---- comparing ---------------------------------------------------------- */

/* Whether element i of a result is within the bounds of the reference. */
static bool agrees(const view *got, int64_t i, const ref_number *want)
{
	if (!dtype_is_float(got->type))
		return elem_get_i64(got->type, got->data, i) == want->i;
	double x = elem_get_f64(got->type, got->data, i);
	if (isnan(want->f) || isinf(want->f))
		return isnan(want->f) ? isnan(x) : x == want->f;
	return fabs(x - want->f) <= want->error;
}

static const char *text_of(arena *a, const ref_number *x)
{
	if (!dtype_is_float(x->type))
		return arena_printf(a, "%lld", (long long)x->i);
	return arena_printf(a, x->error > 0 ? "%.9g within %.2g" : "%.9g",
			    x->f, x->error);
}

const char *differs_from(arena *a, const view *got, const ref_tensor *want,
			 agreement *count)
{
	int64_t n = view_count(got);
	if (got->type != want->type || ref_count(want) != n)
		return "it has another type or shape than by its definition";
	for (int64_t i = 0; i < n; i++) {
		if (want->at[i].doubt) {
			count->doubtful++;
			continue;
		}
		count->elements++;
		if (!agrees(got, i, &want->at[i]))
			return arena_printf(a, "it differs from its definition "
					    "(element %lld is %s, by the "
					    "definition %s)", (long long)i,
					    value_text(a, got, i),
					    text_of(a, &want->at[i]));
	}
	return NULL;
}

ref_tensor *definition_params(const trial *t)
{
	int n = t->v->op->nparams;
	ref_tensor *params = ARENA_ARRAY(t->arena, ref_tensor, n + 1);
	for (int i = 0; i < n; i++)
		params[i] = tensor_of_view(t->arena, &t->values[i],
					   &t->drawn->types[i]);
	return params;
}

ref_outcome define_for(const trial *t, const ref_tensor *params)
{
	return reference_run(t->arena, t->v->modules, t->v->op, params,
			     attrs_of(t), opaque, MAX_STEPS);
}

ref_outcome define(const trial *t)
{
	return define_for(t, definition_params(t));
}

static void compare(trial *t, const ref_outcome *r)
{
	verify_result *to = t->v->result;
	agreement count = { 0 };
	for (int i = 0; i < r->nresults; i++) {
		const view *got = &t->values[t->x->results[i]];
		const char *why = differs_from(t->arena, got, &r->results[i],
					       &count);
		if (why)
			note(t, VERIFY_WRONG, "", t->v->op->results[i].name, 0,
			     "%s", why);
	}
	to->elements += count.elements;
	to->doubtful += count.doubtful;
}

bool check_reference(trial *t)
{
	ref_outcome r = define(t);
	switch (r.status) {
	case REF_TOO_LONG:
		return false;
	case REF_OUTSIDE:
		if (!r.doubtful)
			note(t, VERIFY_WRONG, "", "", 0,
			     "by its definition it reads outside a tensor");
		return false;
	case REF_REFUSED:
		note(t, VERIFY_WRONG, "", "", 0,
		     "it has no value by its definition: %s", r.why);
		return false;
	case REF_DONE:
		break;
	}
	compare(t, &r);
	return true;
}
