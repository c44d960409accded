#include "config.h"

#include "kernel/eval.h"

#include <assert.h>
#include <math.h>

#include "include/tdl/kernel.h"
#include "kernel/elem.h"
#include "kernel/scalar.h"

_Static_assert((int)TDL_BOOL == (int)DT_BOOL && (int)TDL_I64 == (int)DT_I64 &&
	       (int)TDL_F8E4M3FN == (int)DT_F8E4M3FN &&
	       (int)TDL_U2 + 1 == (int)DT_COUNT, "types have one numbering");

/* An expression, with what evaluating it at many points needs looked up. */
typedef struct node node;
struct node {
	kexpr_kind kind;
	dtype type; /* of the value */
	dtype of;   /* of the arguments */
	fn fn;
	int var, input, ndim;
	int64_t i;
	double f;
	node **args;
	const struct place *at; /* KX_READ: per dimension */
	const view *view;
	bool guarded;
};

/* A dimension of a view that is read. */
typedef struct place {
	int64_t size;	/* of the input */
	int64_t lo, hi; /* what the view holds */
	int64_t stride;
	bool masked; /* a derived variable runs over [from, to) */
	int64_t from, to;
} place;

typedef struct run {
	const kernel *k;
	const view *inputs;
	const box *space;
	arena *work;
	int64_t point[MAX_NVARS];
	eval_status status;
	eval_fault fault;
} run;

view view_dense(void *data, dtype type, const box *at)
{
	view v = { .data = data, .type = type, .at = *at };
	int64_t stride = 1;
	assert(at->n <= MAX_NDIM);
	for (int d = at->n; d-- > 0;) {
		v.stride[d] = stride;
		stride *= at->hi[d] - at->lo[d];
	}
	return v;
}

/* ---- preparing --------------------------------------------------------- */

static const box *derived_range(const run *r, int input, int dim, int *var)
{
	for (int i = 0; i < r->k->nderived; i++) {
		const kderived *d = &r->k->derived[i];
		*var = d->var;
		if (d->input == input && d->dim == dim)
			return r->space;
	}
	return NULL;
}

static place *prepare_places(run *r, const kexpr *e)
{
	int ndim = kx_ndim(e), var = 0;
	const view *v = &r->inputs[e->input];
	place *at = ARENA_ARRAY(r->work, place, ndim);
	for (int d = 0; d < ndim; d++) {
		const box *b = NULL;
		if (kx_has_read(e->args[d]))
			b = derived_range(r, e->input, d, &var);
		at[d] = (place){
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

static node *prepare(run *r, const kexpr *e)
{
	node *n = ARENA_NEW(r->work, node);
	*n = (node){ .kind = e->kind, .type = e->type, .fn = e->fn,
		     .var = e->var, .input = e->input, .i = e->i, .f = e->f,
		     .of = e->nargs ? e->args[0]->type : DT_NONE };
	n->args = ARENA_ARRAY(r->work, node *, e->nargs);
	for (int i = 0; i < e->nargs; i++)
		n->args[i] = prepare(r, e->args[i]);
	if (e->kind == KX_READ) {
		n->ndim = kx_ndim(e);
		n->guarded = e->guarded;
		n->view = &r->inputs[e->input];
		n->at = prepare_places(r, e);
	}
	return n;
}

/* ---- evaluating -------------------------------------------------------- */

static int64_t eval_int(run *r, const node *n);
static double eval_float(run *r, const node *n);

static void index_fault(run *r, int input, int dim, int64_t value)
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
	FOUND_ZERO,    /* outside the derived variable's part, or a fault */
} found;

/* Finds the element of a read.  One that is outside of the input counts as that
 * even if it is outside of a derived variable's part, too.  All indices are
 * evaluated, also those after one that is outside. */
static found find(run *r, const node *n, int64_t *offset)
{
	found result = FOUND;
	bool held = true;
	*offset = 0;
	for (int d = 0; d < n->ndim; d++) {
		const place *p = &n->at[d];
		const node *index = n->args[d];
		int64_t i = index->kind == KX_VAR ? r->point[index->var] :
						    eval_int(r, index);
		if (i < 0 || i >= p->size) {
			if (!n->guarded)
				index_fault(r, n->input, d, i);
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

static double read_float(run *r, const node *n)
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

static int64_t read_int(run *r, const node *n)
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

static double fn_float(run *r, const node *n)
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
		return scalar_float(n->fn, x, fn_nargs(n->fn) > 1 ?
				    eval_float(r, n->args[1]) : 0);
	}
}

static int64_t fn_int(run *r, const node *n)
{
	bool two = fn_nargs(n->fn) > 1;
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

/* The bits of n's value.  An element that is read has its own, which a detour
 * over a double may change where it is a NaN. */
static uint64_t eval_bits(run *r, const node *n)
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

/* The value of n, of a float type. */
static double eval_float(run *r, const node *n)
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

/* The value of n, of an integer type or bool. */
static int64_t eval_int(run *r, const node *n)
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

/* ---- points ------------------------------------------------------------ */

/* Goes on to the next point of dimensions [from, to) of the space, the last
 * one fastest; false after the last. */
static bool advance(run *r, int from, int to)
{
	for (int v = to; v-- > from;) {
		if (++r->point[v] < r->space->hi[v])
			return true;
		r->point[v] = r->space->lo[v];
	}
	return false;
}

/* Sets the point to the first one; false where there is none. */
static bool start(run *r, int from, int to)
{
	bool some = true;
	for (int v = from; v < to; v++) {
		r->point[v] = r->space->lo[v];
		some &= r->space->lo[v] < r->space->hi[v];
	}
	return some;
}

/* A reduction under way, in the type of the body. */
typedef struct tally {
	bool some;
	double f;
	int64_t i;
	int64_t at; /* ArgMax, ArgMin */
} tally;

static tally identity_of(reducer red, dtype t)
{
	tally y = { 0 };
	switch (red) {
	case RED_PROD:
	case RED_AND:
		y.f = y.i = 1;
		break;
	case RED_MAX:
	case RED_MIN:
		y.f = red == RED_MAX ? -INFINITY : INFINITY;
		if (t == DT_BOOL)
			y.i = red == RED_MIN;
		else if (!dtype_is_float(t))
			y.i = scalar_to_int(t, y.f);
		else if (!elem_has_infinity(t))
			y.f = red == RED_MAX ? elem_least(t) :
					       elem_greatest(t);
		break;
	default:
		break;
	}
	return y;
}

static void add_float(reducer red, tally *y, double v)
{
	switch (red) {
	case RED_SUM:
		y->f += v;
		break;
	case RED_PROD:
		y->f *= v;
		break;
	case RED_MAX:
		y->f = scalar_float(FN_MAX, y->f, v);
		break;
	case RED_MIN:
		y->f = scalar_float(FN_MIN, y->f, v);
		break;
	case RED_AND:
		y->f = y->f != 0 && v != 0;
		break;
	case RED_OR:
		y->f = y->f != 0 || v != 0;
		break;
	default:
		break;
	}
}

/* Sums and products of small integers are kept in 64 bits, whose low bits are
 * those of the sum in the type itself. */
static void add_int(reducer red, dtype t, tally *y, int64_t v)
{
	switch (red) {
	case RED_SUM:
		y->i = scalar_int(FN_ADD, DT_I64, y->i, v);
		break;
	case RED_PROD:
		y->i = scalar_int(FN_MUL, DT_I64, y->i, v);
		break;
	case RED_MAX:
		y->i = scalar_int(FN_MAX, t, y->i, v);
		break;
	case RED_MIN:
		y->i = scalar_int(FN_MIN, t, y->i, v);
		break;
	case RED_AND:
		y->i = y->i && v;
		break;
	case RED_OR:
		y->i = y->i || v;
		break;
	default:
		break;
	}
}

static void add_arg(run *r, const node *body, int var, tally *y)
{
	bool max = r->k->reducer == RED_ARGMAX, better;
	double f = 0;
	int64_t i = 0;
	if (dtype_is_float(body->type)) {
		f = eval_float(r, body);
		better = max ? f > y->f : f < y->f;
		better = (better && !isnan(y->f)) ||
			 (isnan(f) && !isnan(y->f));
	} else {
		i = eval_int(r, body);
		better = scalar_int(max ? FN_GT : FN_LT, body->type, i, y->i);
	}
	if (y->some && !better)
		return;
	*y = (tally){ true, f, i, r->point[var] };
}

/* The result at the output point, over the reduction variables from nout to
 * end. */
static tally reduce(run *r, const node *body, int end)
{
	const kernel *k = r->k;
	bool is_float = dtype_is_float(body->type);
	bool arg = k->reducer == RED_ARGMAX || k->reducer == RED_ARGMIN;
	tally y = identity_of(k->reducer, body->type);
	if (!start(r, k->nout, end))
		return y;
	do {
		if (arg)
			add_arg(r, body, k->nout, &y);
		else if (is_float)
			add_float(k->reducer, &y, eval_float(r, body));
		else
			add_int(k->reducer, body->type, &y,
				eval_int(r, body));
	} while (r->status == EVAL_OK && advance(r, k->nout, end));
	if (arg)
		y.i = y.at;
	return y;
}

/* Whether what n gives is an element as it was read, or bits as they are. */
static bool moves_bits(const node *n)
{
	return n->kind == KX_READ || n->kind == KX_BITCAST ||
	       (n->kind == KX_SELECT && moves_bits(n->args[1]) &&
		moves_bits(n->args[2]));
}

static tally evaluate(run *r, const node *body, int end)
{
	if (r->k->reducer != RED_NONE)
		return reduce(r, body, end);
	if (dtype_is_float(body->type))
		return (tally){ .f = eval_float(r, body) };
	return (tally){ .i = eval_int(r, body) };
}

static int64_t out_offset(const run *r, const view *out, int n)
{
	int64_t at = 0;
	for (int d = 0; d < n; d++) {
		assert(r->point[d] >= out->at.lo[d] &&
		       r->point[d] < out->at.hi[d]);
		at += (r->point[d] - out->at.lo[d]) * out->stride[d];
	}
	return at;
}

/* The end of the reduction variables that are loops: derived ones add none. */
static int loops_end(const kernel *k)
{
	int end = k->nvars;
	while (end > k->nout && k->vars[end - 1].kind == KVAR_DERIVED)
		end--;
	return end;
}

static void eval_body(run *r, view *out)
{
	const kernel *k = r->k;
	int end = loops_end(k);
	if (!start(r, 0, k->nout))
		return;
	const node *body = prepare(r, k->body);
	bool is_float = dtype_is_float(body->type) &&
			k->reducer != RED_ARGMAX && k->reducer != RED_ARGMIN;
	bool moves = is_float && k->reducer == RED_NONE && moves_bits(body);
	do {
		tally y = { 0 };
		uint64_t bits = moves ? eval_bits(r, body) : 0;
		if (!moves)
			y = evaluate(r, body, end);
		int64_t at = out_offset(r, out, k->nout);
		if (moves)
			elem_set_bits(out->type, out->data, at, bits);
		else if (is_float)
			elem_set_f64(out->type, out->data, at, y.f);
		else
			elem_set_i64(out->type, out->data, at, y.i);
	} while (r->status == EVAL_OK && advance(r, 0, k->nout));
}

/* ---- opaque functions -------------------------------------------------- */

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

static void slice_argument(run *r, const kslice *s, node *const *at,
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
			index_fault(r, s->input, d, i);
		offset += (i - v->at.lo[d]) * v->stride[d];
	}
	if (r->status == EVAL_OK)
		a->view.data = advance_data(v, offset);
}

static void result_argument(run *r, const view *out, argument *a)
{
	const kernel *k = r->k;
	int nbatch = k->nout - k->nhidden;
	int64_t offset = out_offset(r, out, nbatch);
	begin_argument(a, out->type);
	for (int d = nbatch; d < k->nout; d++) {
		assert(r->space->lo[d] == 0 &&
		       r->space->hi[d] == k->vars[d].extent);
		add_dim(a, k->vars[d].extent, out->stride[d]);
		offset -= out->at.lo[d] * out->stride[d];
	}
	a->view.data = advance_data(out, offset);
}

/* The index expressions of all slices. */
static node ***prepare_slices(run *r)
{
	node ***at = ARENA_ARRAY(r->work, node **, r->k->nslices);
	for (int s = 0; s < r->k->nslices; s++) {
		const kslice *slice = &r->k->slices[s];
		at[s] = ARENA_ARRAY(r->work, node *, slice->ndim);
		for (int d = 0; d < slice->ndim; d++)
			if (slice->at[d])
				at[s][d] = prepare(r, slice->at[d]);
	}
	return at;
}

static void eval_opaque(run *r, view *out, opaque_fn f)
{
	const kernel *k = r->k;
	if (!start(r, 0, k->nout))
		return;
	node ***at = prepare_slices(r);
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
	} while (r->status == EVAL_OK && advance(r, 0, k->nout - k->nhidden));
}

eval_status kernel_eval(const kernel *k, const box *space, const view *inputs,
			view *out, opaque_fn opaque, eval_fault *fault)
{
	if (k->opaque && !opaque)
		return EVAL_NO_KERNEL;
	run r = { .k = k, .inputs = inputs, .space = space,
		  .work = arena_new() };
	if (k->opaque)
		eval_opaque(&r, out, opaque);
	else
		eval_body(&r, out);
	if (fault)
		*fault = r.fault;
	arena_free(r.work);
	return r.status;
}
