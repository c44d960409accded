#include "config.h"

#include "kernel/eval.h"

#include <assert.h>
#include <math.h>

#include "kernel/elem.h"
#include "kernel/eval_expr.h"
#include "kernel/scalar.h"

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

/* ---- reductions -------------------------------------------------------- */

/* A reduction in progress, in the type of the body. */
typedef struct tally {
	bool some;
	double f;
	int64_t i;
	int64_t at; /* for ArgMax and ArgMin */
} tally;

static tally identity_of(reducer red, dtype t)
{
	tally y = { 0 };
	bool least = reducer_table[red].neutral == NEUTRAL_LEAST;
	if (reducer_is_where(red))
		return y;
	switch (reducer_table[red].neutral) {
	case NEUTRAL_ZERO:
		break;
	case NEUTRAL_ONE:
		y.f = y.i = 1;
		break;
	case NEUTRAL_LEAST:
	case NEUTRAL_GREATEST:
		y.f = least ? -INFINITY : INFINITY;
		if (t == DT_BOOL)
			y.i = !least;
		else if (!dtype_is_float(t))
			y.i = scalar_to_int(t, y.f);
		else if (!elem_has_infinity(t))
			y.f = least ? elem_least(t) : elem_greatest(t);
		break;
	}
	return y;
}

/* Innermost loop: the operations of most reducers are inlined. */
static inline void add_float(const reducer_facts *by, tally *y, double v)
{
	if (by->combine == FN_ADD)
		y->f += v;
	else if (by->combine == FN_MUL)
		y->f *= v;
	else
		y->f = scalar_float(by->combine, y->f, v);
}

/* Sums and products of small integers are kept in 64 bits, the low bits of
 * which are those of the sum in the type itself. */
static inline void add_int(const reducer_facts *by, dtype t, tally *y,
			   int64_t v)
{
	dtype in = by->choice == FN_NO_CHOICE ? DT_I64 : t;
	if (by->combine == FN_AND)
		y->i = y->i && v;
	else if (by->combine == FN_OR)
		y->i = y->i || v;
	else
		y->i = scalar_int(by->combine, in, y->i, v);
}

static void add_arg(evaluation *r, const reducer_facts *by,
		    const eval_node *body, tally *y)
{
	bool better;
	double f = 0;
	int64_t i = 0;
	if (dtype_is_float(body->type)) {
		f = eval_float(r, body);
		better = by->choice == FN_GREATEST ? f > y->f : f < y->f;
		better = (better && !isnan(y->f)) ||
			 (isnan(f) && !isnan(y->f));
	} else {
		i = eval_int(r, body);
		better = scalar_int(by->combine, body->type, i, y->i);
	}
	if (y->some && !better)
		return;
	*y = (tally){ true, f, i, r->point[r->k->nout] };
}

/* Reduces at the output point over the reduction variables from nout to end. */
static tally reduce(evaluation *r, const eval_node *body, int end)
{
	const kernel *k = r->k;
	bool is_float = dtype_is_float(body->type);
	const reducer_facts *by = &reducer_table[k->reducer];
	bool arg = reducer_is_where(k->reducer);
	tally y = identity_of(k->reducer, body->type);
	if (!eval_first(r, k->nout, end))
		return y;
	do {
		if (arg)
			add_arg(r, by, body, &y);
		else if (is_float)
			add_float(by, &y, eval_float(r, body));
		else
			add_int(by, body->type, &y, eval_int(r, body));
	} while (r->status == EVAL_OK && eval_next(r, k->nout, end));
	if (arg)
		y.i = y.at;
	return y;
}

/* ---- results ----------------------------------------------------------- */

/* Whether the value of n is an element as read, or bits that do not change. */
static bool moves_bits(const eval_node *n)
{
	return n->kind == KX_READ || n->kind == KX_BITCAST ||
	       (n->kind == KX_SELECT && moves_bits(n->args[1]) &&
		moves_bits(n->args[2]));
}

static tally evaluate(evaluation *r, const eval_node *body, int end)
{
	if (r->k->reducer != RED_NONE)
		return reduce(r, body, end);
	if (dtype_is_float(body->type))
		return (tally){ .f = eval_float(r, body) };
	return (tally){ .i = eval_int(r, body) };
}

/* The end of the reduction variables with loops: derived variables add none. */
static int loops_end(const kernel *k)
{
	int end = k->nvars;
	while (end > k->nout && k->vars[end - 1].kind == KVAR_DERIVED)
		end--;
	return end;
}

static void eval_body(evaluation *r, view *out)
{
	const kernel *k = r->k;
	int end = loops_end(k);
	if (!eval_first(r, 0, k->nout))
		return;
	const eval_node *body = eval_prepare(r, k->body);
	bool is_float = dtype_is_float(body->type) &&
			!reducer_is_where(k->reducer);
	bool moves = is_float && k->reducer == RED_NONE && moves_bits(body);
	do {
		tally y = { 0 };
		uint64_t bits = moves ? eval_bits(r, body) : 0;
		if (!moves)
			y = evaluate(r, body, end);
		int64_t at = eval_out_offset(r, out, k->nout);
		if (moves)
			elem_set_bits(out->type, out->data, at, bits);
		else if (is_float)
			elem_set_f64(out->type, out->data, at, y.f);
		else
			elem_set_i64(out->type, out->data, at, y.i);
	} while (r->status == EVAL_OK && eval_next(r, 0, k->nout));
}

/* ---- kernels ----------------------------------------------------------- */

eval_status kernel_eval(const kernel *k, const box *space, const view *inputs,
			view *out, opaque_fn opaque, eval_fault *fault)
{
	if (k->opaque && !opaque)
		return EVAL_NO_KERNEL;
	evaluation r = { .k = k, .inputs = inputs, .space = space,
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
