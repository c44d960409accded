/* Constant folding: values that depend on constants only are computed when
 * planning.
 *
 * Shape arithmetic is evaluated by the interpreter, so no operator has to be
 * known by name.  Two more rules keep weights out of the run.  If a kernel
 * reads only fills (constants of one value) and its value is the same at every
 * point, its result is a fill.  If a kernel only reads a constant in the order
 * of its elements, its result is the constant with another shape.
 *
 * What was computed from weights is noted, so that it can be computed again
 * (folds.c). */
#include "config.h"

#include "compiler/graph/builder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "compiler/graph/order.h"
#include "kernel/eval.h"

enum {
	FOLD_MAX_NELEM = 65536,	   /* elements of a result */
	FOLD_MAX_NBYTES = 1 << 20, /* bytes of an input */
	FOLD_MAX_POINTS = 1 << 20, /* iteration points of a kernel */
};

/* ---- the elements of a constant ---------------------------------------- */

static bool read_file(const char *path, int64_t offset, void *to, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0;
	while (fd >= 0 && at < n) {
		ssize_t got = pread(fd, (char *)to + at, n - at,
				    offset + (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		at += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	return at == n && fd >= 0;
}

static void *spread(arena *a, const void *element, size_t size, int64_t n)
{
	char *p = arena_alloc(a, size * (size_t)n + 1);
	for (int64_t i = 0; i < n; i++)
		memcpy(p + size * (size_t)i, element, size);
	return p;
}

/* Like graph_constant_data(), for values that may be computed again. */
static const void *data_of(graph_builder *b, tensor_id id, int64_t limit)
{
	id = build_known(b, id);
	if (id == NONE || tensor_nbytes(graph_type(b, id)) > limit)
		return NULL;
	const tensor *t = &b->tensors.at[id]->t;
	const constant *c = &t->constant;
	if (c->fill)
		return spread(b->tmp, c->data, dtype_size(t->type.type),
			      tensor_nelem(&t->type));
	if (c->data)
		return c->data;
	size_t n = (size_t)tensor_nbytes(&t->type);
	void *p = arena_alloc(b->tmp, n + 1);
	if (read_file(c->path, c->offset, p, n))
		return p;
	diag_error_in(b->sink, DIAG_CANNOT_READ, c->path, "cannot read '%s'",
		      t->name ? t->name : "a constant");
	return NULL;
}

/* Notes that the graph now depends on the values of a tensor's elements. */
static void note_read(graph_builder *b, tensor_id id)
{
	built_tensor *x = b->tensors.at[id];
	if (x->read)
		return;
	x->read = true;
	for (int i = 0; i < x->nfrom; i++)
		note_read(b, x->from[i]);
}

const void *graph_constant_data(graph_builder *b, tensor_id id, int64_t limit)
{
	const void *data = data_of(b, id, limit);
	if (data)
		note_read(b, build_known(b, id));
	return data;
}

/* ---- evaluation -------------------------------------------------------- */

static bool all_constant(const graph_builder *b, const kernel *k,
			 const tensor_id *inputs)
{
	for (int i = 0; i < k->ninputs; i++)
		if (graph_tensor(b, inputs[i])->kind != TENSOR_CONSTANT)
			return false;
	return !k->opaque;
}

static void say_outside(graph_builder *b, const kernel *k,
			const eval_fault *f, call_site site)
{
	call_error(b->sink, DIAG_INDEX_OUTSIDE, site, b->name,
		   "index %" PRId64 " for dimension %d of '%s' is outside its "
		   "size, %" PRId64,
		   f->value, f->dim, k->inputs[f->input].name,
		   k->inputs[f->input].dims[f->dim]);
}

/* Evaluates the part `space' of k's iteration space.  Writes that part of the
 * result densely to out. */
static fold_result evaluate(graph_builder *b, const kernel *k,
			    const void *const *data, const box *space,
			    void *out, call_site site)
{
	view views[MAX_NINPUTS], result;
	eval_fault fault;
	for (int i = 0; i < k->ninputs; i++) {
		box whole = box_whole(k->inputs[i].dims, k->inputs[i].ndim);
		views[i] = view_dense((void *)(uintptr_t)data[i],
				      k->inputs[i].type, &whole);
	}
	box at = kernel_produces(k, space);
	result = view_dense(out, k->type, &at);
	switch (kernel_eval(k, space, views, &result, NULL, &fault)) {
	case EVAL_OK:
		return FOLD_DONE;
	case EVAL_INDEX_OUTSIDE:
		say_outside(b, k, &fault, site);
		return FOLD_FAILED;
	default:
		return FOLD_NOT;
	}
}

static tensor_type type_of(const kernel *k)
{
	tensor_type t = { .type = k->type, .ndim = k->nout };
	for (int d = 0; d < k->nout; d++)
		t.dims[d] = kernel_dim(k, d);
	return t;
}

static fold_result fold_small(graph_builder *b, const kernel *k,
			      const tensor_id *inputs, call_site site,
			      tensor_id *result)
{
	tensor_type type = type_of(k);
	int64_t n = tensor_nelem(&type), points = kernel_points(k);
	const void *data[MAX_NINPUTS];
	if (n > FOLD_MAX_NELEM || points < 0 || points > FOLD_MAX_POINTS ||
	    points > b->fold_budget)
		return FOLD_NOT;
	for (int i = 0; i < k->ninputs; i++) {
		int nerrors = diag_errors(b->sink);
		data[i] = data_of(b, inputs[i], FOLD_MAX_NBYTES);
		if (!data[i])
			return diag_errors(b->sink) > nerrors ? FOLD_FAILED
							      : FOLD_NOT;
	}
	b->fold_budget -= points;
	void *out = arena_alloc(b->arena, (size_t)tensor_nbytes(&type) + 1);
	box space = kernel_space(k);
	fold_result r = evaluate(b, k, data, &space, out, site);
	if (r == FOLD_DONE)
		*result = graph_add_constant(b, NULL, &type,
					     &(constant){ .data = out });
	return r;
}

/* ---- fills ------------------------------------------------------------- */

/* Whether an expression has the same value at all points if each input has only
 * one value.  It must not have variables outside indices, or guarded reads. */
static bool is_uniform(const kexpr *e)
{
	if (e->kind == KX_VAR)
		return false;
	if (e->kind == KX_READ) {
		for (int i = 0; i < e->nargs; i++)
			if (kx_has_read(e->args[i]))
				return false;
		return !e->guarded;
	}
	for (int i = 0; i < e->nargs; i++)
		if (!is_uniform(e->args[i]))
			return false;
	return true;
}

/* Evaluates the first point only.  Each input is one element, viewed with
 * strides of zero. */
static fold_result fold_fills(graph_builder *b, const kernel *k,
			      const tensor_id *inputs, tensor_id *result)
{
	tensor_type type = type_of(k);
	if (k->reducer != RED_NONE || k->nderived > 0 ||
	    tensor_nelem(&type) == 0 || !is_uniform(k->body))
		return FOLD_NOT;
	view views[MAX_NINPUTS], out;
	for (int i = 0; i < k->ninputs; i++) {
		const constant *c = &graph_tensor(b, inputs[i])->constant;
		if (!c->fill)
			return FOLD_NOT;
		box whole = box_whole(k->inputs[i].dims, k->inputs[i].ndim);
		views[i] = view_dense((void *)(uintptr_t)c->data,
				      k->inputs[i].type, &whole);
		memset(views[i].stride, 0, sizeof(views[i].stride));
	}
	box space = kernel_space(k);
	for (int d = 0; d < space.n; d++)
		space.hi[d] = 1;
	box at = kernel_produces(k, &space);
	void *data = arena_alloc(b->arena, 16);
	eval_fault fault;
	out = view_dense(data, k->type, &at);
	if (kernel_eval(k, &space, views, &out, NULL, &fault) != EVAL_OK)
		return FOLD_NOT;
	*result = graph_add_constant(
		b, NULL, &type, &(constant){ .data = data, .fill = true });
	return FOLD_DONE;
}

/* ---- the same elements in another shape -------------------------------- */

static fold_result fold_order(graph_builder *b, const kernel *k,
			      const tensor_id *inputs, tensor_id *result)
{
	if (k->reducer != RED_NONE || k->body->kind != KX_READ ||
	    !order_is_kept(b->tmp, k))
		return FOLD_NOT;
	tensor_type type = type_of(k);
	const constant *c = &graph_tensor(b, inputs[k->body->input])->constant;
	*result = graph_add_constant(b, NULL, &type, c);
	return FOLD_DONE;
}

static bool any_weight(const graph_builder *b, const tensor_id *t, int n)
{
	bool any = false;
	for (int i = 0; i < n; i++) {
		const built_tensor *x = b->tensors.at[t[i]];
		any |= x->t.parameter || x->from;
	}
	return any;
}

/* Notes the inputs of a constant if they depend on weights.  k is NULL if the
 * constant has the same elements as its only input. */
static void note_source(graph_builder *b, const kernel *k,
			const tensor_id *inputs, int ninputs, tensor_id result)
{
	built_tensor *x = b->tensors.at[result];
	if (!any_weight(b, inputs, ninputs))
		return;
	x->folded = k;
	x->from = ARENA_COPY(b->tmp, inputs, ninputs);
	x->nfrom = ninputs;
}

fold_result fold_stage(graph_builder *b, const kernel *k,
		       const tensor_id *inputs, call_site site,
		       tensor_id *result)
{
	if (!all_constant(b, k, inputs))
		return FOLD_NOT;
	fold_result r = fold_order(b, k, inputs, result);
	if (r == FOLD_DONE) {
		note_source(b, NULL, &inputs[k->body->input], 1, *result);
		return r;
	}
	if (!any_weight(b, inputs, k->ninputs))
		r = fold_fills(b, k, inputs, result);
	if (r == FOLD_NOT)
		r = fold_small(b, k, inputs, site, result);
	if (r == FOLD_DONE)
		note_source(b, k, inputs, k->ninputs, *result);
	return r;
}
