/* Kernels whose body is an opaque function that is called for slices of the
 * inputs. */
#include "config.h"

#include <assert.h>

#include "include/tdl/kernel.h"
#include "kernel/eval_expr.h"

_Static_assert((int)TDL_BOOL == (int)DT_BOOL && (int)TDL_I64 == (int)DT_I64 &&
	       (int)TDL_F8E4M3FN == (int)DT_F8E4M3FN &&
	       (int)TDL_U2 + 1 == (int)DT_COUNT, "types have one numbering");

/* An argument or a result, with room for its dimensions. */
typedef struct argument {
	tdl_view view;
	int64_t dims[MAX_NDIM], strides[MAX_NDIM];
} argument;

static void begin_argument(argument *a, dtype t)
{
	*a = (argument){ .view = { .dtype = (int)t, .dims = a->dims,
				   .strides = a->strides } };
}

static void add_dim(argument *a, int64_t dim, int64_t stride)
{
	a->dims[a->view.ndim] = dim;
	a->strides[a->view.ndim++] = stride;
}

static void *advance_data(const view *v, int64_t elements)
{
	return (char *)v->data + elements * (int64_t)dtype_size(v->type);
}

static void slice_argument(evaluation *r, const kslice *s, eval_node *const *at,
			   argument *a)
{
	const view *v = &r->inputs[s->input];
	int64_t offset = 0;
	begin_argument(a, v->type);
	for (int d = 0; d < s->ndim; d++) {
		int64_t size = r->k->inputs[s->input].dims[d], i = 0;
		if (at[d])
			i = eval_int(r, at[d]);
		else
			add_dim(a, size, v->stride[d]);
		if (at[d] && (i < 0 || i >= size))
			eval_index_fault(r, s->input, d, i);
		offset += (i - v->at.lo[d]) * v->stride[d];
	}
	if (r->status == EVAL_OK)
		a->view.data = advance_data(v, offset);
}

static void result_argument(evaluation *r, const view *out, argument *a)
{
	const kernel *k = r->k;
	int nbatch = k->nout - k->nhidden;
	int64_t offset = eval_out_offset(r, out, nbatch);
	begin_argument(a, out->type);
	for (int d = nbatch; d < k->nout; d++) {
		assert(r->space->lo[d] == 0 &&
		       r->space->hi[d] == k->vars[d].extent);
		add_dim(a, k->vars[d].extent, out->stride[d]);
		offset -= out->at.lo[d] * out->stride[d];
	}
	a->view.data = advance_data(out, offset);
}

/* Prepares the index expressions of all slices. */
static eval_node ***prepare_slices(evaluation *r)
{
	eval_node ***at = ARENA_ARRAY(r->work, eval_node **, r->k->nslices);
	for (int s = 0; s < r->k->nslices; s++) {
		const kslice *slice = &r->k->slices[s];
		at[s] = ARENA_ARRAY(r->work, eval_node *, slice->ndim);
		for (int d = 0; d < slice->ndim; d++)
			if (slice->at[d])
				at[s][d] = eval_prepare(r, slice->at[d]);
	}
	return at;
}

void eval_opaque(evaluation *r, view *out, opaque_fn f)
{
	const kernel *k = r->k;
	if (!eval_first(r, 0, k->nout))
		return;
	eval_node ***at = prepare_slices(r);
	argument *args = ARENA_ARRAY(r->work, argument, k->nslices), result;
	tdl_view *ins = ARENA_ARRAY(r->work, tdl_view, k->nslices);
	tdl_view *outs = ARENA_ARRAY(r->work, tdl_view, k->opaque_result + 1);
	tdl_attr *attrs = ARENA_ARRAY(r->work, tdl_attr, k->nattrs);
	for (int i = 0; i < k->nattrs; i++) {
		const kattr *x = &k->attrs[i];
		attrs[i] = (tdl_attr){ x->name, x->n, x->ints, x->floats,
				       x->strings };
	}
	tdl_kernel_call call = { k->nslices, ins,	k->opaque_result + 1,
				 outs,	     k->nattrs, attrs };
	do {
		for (int s = 0; s < k->nslices; s++) {
			slice_argument(r, &k->slices[s], at[s], &args[s]);
			ins[s] = args[s].view;
		}
		result_argument(r, out, &result);
		outs[k->opaque_result] = result.view;
		if (r->status == EVAL_OK && (r->fault.value = f(&call)))
			r->status = EVAL_KERNEL_FAILED;
	} while (r->status == EVAL_OK && eval_next(r, 0, k->nout - k->nhidden));
}
