/* Expressions, evaluated point by point. */
#include "config.h"

#include "kernel/eval_expr.h"

#include <assert.h>

#include "kernel/elem.h"
#include "kernel/scalar.h"

/* ---- preparing --------------------------------------------------------- */

static const box *derived_range(const evaluation *r, int input, int dim,
				int *var)
{
	for (int i = 0; i < r->k->nderived; i++) {
		const kderived *d = &r->k->derived[i];
		*var = d->var;
		if (d->input == input && d->dim == dim)
			return r->space;
	}
	return NULL;
}

static eval_place *prepare_places(evaluation *r, const kexpr *e)
{
	int ndim = kx_ndim(e), var = 0;
	const view *v = &r->inputs[e->input];
	eval_place *at = ARENA_ARRAY(r->work, eval_place, ndim);
	for (int d = 0; d < ndim; d++) {
		const box *b = NULL;
		if (kx_has_read(e->args[d]))
			b = derived_range(r, e->input, d, &var);
		at[d] = (eval_place){
			.size = r->k->inputs[e->input].dims[d],
			.lo = v->at.lo[d],
			.hi = v->at.hi[d],
			.stride = v->stride[d],
			.masked = b != NULL,
			.from = b ? b->lo[var] : 0,
			.to = b ? b->hi[var] : 0,
		};
	}
	return at;
}

eval_node *eval_prepare(evaluation *r, const kexpr *e)
{
	eval_node *n = ARENA_NEW(r->work, eval_node);
	*n = (eval_node){ .kind = e->kind, .type = e->type, .fn = e->fn,
		     .var = e->var, .input = e->input, .nargs = e->nargs,
		     .i = e->i, .f = e->f,
		     .of = e->nargs ? e->args[0]->type : DT_NONE };
	n->args = ARENA_ARRAY(r->work, eval_node *, e->nargs);
	for (int i = 0; i < e->nargs; i++)
		n->args[i] = eval_prepare(r, e->args[i]);
	if (e->kind == KX_READ) {
		n->ndim = kx_ndim(e);
		n->guarded = e->guarded;
		n->view = &r->inputs[e->input];
		n->at = prepare_places(r, e);
	}
	return n;
}

/* ---- evaluating -------------------------------------------------------- */

void eval_index_fault(evaluation *r, int input, int dim, int64_t value)
{
	if (r->status != EVAL_OK)
		return;
	r->status = EVAL_INDEX_OUTSIDE;
	r->fault.input = input;
	r->fault.dim = dim;
	r->fault.value = value;
	for (int v = 0; v < r->k->nvars; v++)
		r->fault.position[v] = r->point[v];
}

typedef enum found {
	FOUND,
	FOUND_OUTSIDE, /* of the input, with a guard */
	FOUND_ZERO,    /* outside of the derived variable's part, or a fault */
} found;

/* Finds the element of a read.  If it is outside of the input, that takes
 * precedence over being outside of a derived variable's part.  Evaluates all
 * indices, also those after one that is outside. */
static found find(evaluation *r, const eval_node *n, int64_t *offset)
{
	found result = FOUND;
	bool held = true;
	*offset = 0;
	for (int d = 0; d < n->ndim; d++) {
		const eval_place *p = &n->at[d];
		const eval_node *index = n->args[d];
		int64_t i = index->kind == KX_VAR ? r->point[index->var] :
						    eval_int(r, index);
		if (i < 0 || i >= p->size) {
			if (!n->guarded)
				eval_index_fault(r, n->input, d, i);
			result = FOUND_OUTSIDE;
			continue;
		}
		if (p->masked && (i < p->from || i >= p->to)) {
			if (result == FOUND)
				result = FOUND_ZERO;
			continue;
		}
		held &= i >= p->lo && i < p->hi;
		*offset += (i - p->lo) * p->stride;
	}
	if (r->status != EVAL_OK)
		return FOUND_ZERO;
	assert(result != FOUND || held);
	return result;
}

static double read_float(evaluation *r, const eval_node *n)
{
	int64_t at;
	switch (find(r, n, &at)) {
	case FOUND_ZERO:
		return 0;
	case FOUND_OUTSIDE:
		return eval_float(r, n->args[n->ndim]);
	case FOUND:
		break;
	}
	if (n->view->type == DT_F32)
		return (double)((const float *)n->view->data)[at];
	return elem_get_f64(n->view->type, n->view->data, at);
}

static int64_t read_int(evaluation *r, const eval_node *n)
{
	int64_t at;
	switch (find(r, n, &at)) {
	case FOUND_ZERO:
		return 0;
	case FOUND_OUTSIDE:
		return eval_int(r, n->args[n->ndim]);
	case FOUND:
		break;
	}
	return elem_get_i64(n->view->type, n->view->data, at);
}

static double fn_float(evaluation *r, const eval_node *n)
{
	double x = eval_float(r, n->args[0]);
	switch (n->fn) {
	case FN_ADD:
		return x + eval_float(r, n->args[1]);
	case FN_SUB:
		return x - eval_float(r, n->args[1]);
	case FN_MUL:
		return x * eval_float(r, n->args[1]);
	case FN_DIV:
		return x / eval_float(r, n->args[1]);
	default:
		return scalar_float(n->fn, x, n->nargs > 1 ?
				    eval_float(r, n->args[1]) : 0);
	}
}

static int64_t fn_int(evaluation *r, const eval_node *n)
{
	bool two = n->nargs > 1;
	if (dtype_is_float(n->of)) {
		double x = eval_float(r, n->args[0]);
		return scalar_test(n->fn, x,
				   two ? eval_float(r, n->args[1]) : 0);
	}
	int64_t x = eval_int(r, n->args[0]);
	if ((n->fn == FN_AND && !x) || (n->fn == FN_OR && x))
		return x;
	int64_t y = two ? eval_int(r, n->args[1]) : 0;
	if (n->of == DT_I64 && n->fn == FN_ADD)
		return (int64_t)((uint64_t)x + (uint64_t)y);
	return scalar_int(n->fn, n->of, x, y);
}

uint64_t eval_bits(evaluation *r, const eval_node *n)
{
	int64_t at;
	if (!dtype_is_float(n->type))
		return (uint64_t)eval_int(r, n) &
		       (UINT64_MAX >> (64 - dtype_bits(n->type)));
	switch (n->kind) {
	case KX_BITCAST:
		return eval_bits(r, n->args[0]);
	case KX_SELECT:
		return eval_bits(r, n->args[eval_int(r, n->args[0]) ? 1 : 2]);
	case KX_READ:
		break;
	default:
		return elem_encode(n->type, eval_float(r, n));
	}
	switch (find(r, n, &at)) {
	case FOUND_ZERO:
		return 0;
	case FOUND_OUTSIDE:
		return eval_bits(r, n->args[n->ndim]);
	case FOUND:
		break;
	}
	return elem_get_bits(n->type, n->view->data, at);
}

double eval_float(evaluation *r, const eval_node *n)
{
	switch (n->kind) {
	case KX_FLOAT:
		return n->f;
	case KX_READ:
		return read_float(r, n);
	case KX_FN:
		return fn_float(r, n);
	case KX_SELECT:
		return eval_float(r, n->args[eval_int(r, n->args[0]) ? 1 : 2]);
	case KX_CAST:
		return scalar_round(n->type, dtype_is_float(n->of) ?
			eval_float(r, n->args[0]) :
			scalar_to_float(n->of, eval_int(r, n->args[0])));
	case KX_BITCAST:
		return elem_decode(n->type, eval_bits(r, n->args[0]));
	case KX_INT:
		return (double)n->i;
	case KX_VAR:
		break;
	}
	return (double)r->point[n->var];
}

int64_t eval_int(evaluation *r, const eval_node *n)
{
	switch (n->kind) {
	case KX_INT:
		return n->i;
	case KX_VAR:
		return r->point[n->var];
	case KX_READ:
		return read_int(r, n);
	case KX_FN:
		return fn_int(r, n);
	case KX_SELECT:
		return eval_int(r, n->args[eval_int(r, n->args[0]) ? 1 : 2]);
	case KX_CAST:
		return dtype_is_float(n->of) ?
			scalar_to_int(n->type, eval_float(r, n->args[0])) :
			scalar_wrap(n->type, eval_int(r, n->args[0]));
	case KX_BITCAST:
		return scalar_wrap(n->type,
				   (int64_t)eval_bits(r, n->args[0]));
	case KX_FLOAT:
		break;
	}
	return scalar_to_int(DT_I64, n->f);
}
