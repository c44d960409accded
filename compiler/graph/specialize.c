/* Specialises kernels of derivatives to known inputs: the derivative of the
 * loss by itself is 1, that by an unused result is 0. */
#include "config.h"

#include "compiler/graph/builder.h"

#include <string.h>

#include "kernel/eval.h"

typedef struct rewriting {
	arena *a;
	const kernel *k;
	kexpr *literals[MAX_NINPUTS]; /* NULL: the input stays */
	bool refused[MAX_NINPUTS];
	int number[MAX_NINPUTS];
} rewriting;

/* ---- looking ----------------------------------------------------------- */

static bool is_literal(const kexpr *e)
{
	return e->kind == KX_INT || e->kind == KX_FLOAT;
}

static bool is_value(const kexpr *e, double v)
{
	return (e->kind == KX_INT && (double)e->i == v) ||
	       (e->kind == KX_FLOAT && e->f == v);
}

/* The value of a constant's elements if all are equal, as a literal; otherwise
 * NULL. */
static kexpr *only_value(graph_builder *b, tensor_id t)
{
	const tensor *x = graph_tensor(b, t);
	const constant *c = &x->constant;
	dtype type = x->type.type;
	if (x->kind != TENSOR_CONSTANT || !c->data ||
	    (!c->fill && tensor_nelem(&x->type) != 1))
		return NULL;
	return dtype_is_float(type)
		       ? kx_float(b->arena, elem_get_f64(type, c->data, 0),
				  type)
		       : kx_int(b->arena, elem_get_i64(type, c->data, 0), type);
}

/* Refuses inputs whose reads are checked, or have another value outside. */
static void find_refused(rewriting *r, const kexpr *e)
{
	if (e->kind == KX_READ) {
		const kexpr *literal = r->literals[e->input];
		for (int i = 0; i < kx_ndim(e); i++)
			if (kx_has_read(e->args[i]))
				r->refused[e->input] = true;
		if (literal && e->guarded &&
		    !kx_equal(literal, e->args[kx_ndim(e)]))
			r->refused[e->input] = true;
	}
	for (int i = 0; i < e->nargs; i++)
		find_refused(r, e->args[i]);
}

/* ---- rewriting --------------------------------------------------------- */

static kexpr *number_of(rewriting *r, double v, dtype t)
{
	return dtype_is_float(t) ? kx_float(r->a, v, t)
				 : kx_int(r->a, (int64_t)v, t);
}

/* e simplified by what its arguments became. */
static kexpr *reduced(rewriting *r, kexpr *e)
{
	kexpr *x = e->nargs > 0 ? e->args[0] : NULL;
	kexpr *y = e->nargs > 1 ? e->args[1] : NULL;
	if (e->kind == KX_CAST && is_literal(x) &&
	    (is_value(x, 0) || is_value(x, 1)))
		return number_of(r, is_value(x, 1), e->type);
	if (e->kind == KX_SELECT && is_literal(y) && kx_equal(y, e->args[2]))
		return y;
	if (e->kind != KX_FN)
		return e;
	switch (e->fn) {
	case FN_MUL:
		if (is_value(x, 0) || is_value(y, 1))
			return x;
		return is_value(y, 0) || is_value(x, 1) ? y : e;
	case FN_ADD:
		return is_value(y, 0) ? x : is_value(x, 0) ? y : e;
	case FN_SUB:
		return is_value(y, 0) ? x : e;
	case FN_DIV:
		return is_value(x, 0) || is_value(y, 1) ? x : e;
	case FN_NEG:
		return is_value(x, 0) ? x : e;
	default:
		return e;
	}
}

static kexpr *rewrite(rewriting *r, const kexpr *e)
{
	if (e->kind == KX_READ && r->literals[e->input])
		return r->literals[e->input];
	kexpr *to = ARENA_COPY(r->a, e, 1);
	if (e->kind == KX_READ)
		to->input = r->number[e->input];
	to->args = ARENA_ARRAY(r->a, kexpr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		to->args[i] = rewrite(r, e->args[i]);
	return reduced(r, to);
}

static void find_read(const kexpr *e, bool *read)
{
	if (e->kind == KX_READ)
		read[e->input] = true;
	for (int i = 0; i < e->nargs; i++)
		find_read(e->args[i], read);
}

/* Removes the inputs that are not read. */
static void drop_inputs(rewriting *r, kernel *to, tensor_id *inputs)
{
	bool read[MAX_NINPUTS] = { false };
	kinput *all = ARENA_ARRAY(r->a, kinput, to->ninputs + 1);
	int n = 0;
	find_read(to->body, read);
	for (int i = 0; i < to->nderived; i++)
		read[to->derived[i].input] = true;
	for (int i = 0; i < to->ninputs; i++) {
		r->number[i] = n;
		if (!read[i])
			continue;
		all[n] = to->inputs[i];
		inputs[n++] = inputs[i];
	}
	to->inputs = all;
	to->ninputs = n;
	to->derived = ARENA_COPY(r->a, to->derived, to->nderived);
	for (int i = 0; i < to->nderived; i++)
		to->derived[i].input = r->number[to->derived[i].input];
	memset(r->literals, 0, sizeof(r->literals));
	to->body = rewrite(r, to->body);
}

const kernel *build_specialized(graph_builder *b, const kernel *k,
				tensor_id *inputs)
{
	rewriting r = { .a = b->arena, .k = k };
	bool any = false;
	if (k->opaque)
		return k;
	for (int i = 0; i < k->ninputs; i++) {
		r.number[i] = i;
		r.literals[i] = only_value(b, inputs[i]);
		any |= r.literals[i] != NULL;
	}
	if (!any)
		return k;
	find_refused(&r, k->body);
	for (int i = 0; i < k->nderived; i++)
		r.refused[k->derived[i].input] = true;
	for (int i = 0; i < k->ninputs; i++)
		if (r.refused[i])
			r.literals[i] = NULL;
	kernel *to = ARENA_COPY(b->arena, k, 1);
	to->body = rewrite(&r, k->body);
	if (is_value(to->body, 0) &&
	    (to->reducer == RED_SUM || to->reducer == RED_NONE)) {
		to->reducer = RED_NONE;
		to->nvars = to->nout;
		to->nderived = 0;
		to->body = number_of(&r, 0, to->type);
	}
	drop_inputs(&r, to, inputs);
	to->naccesses = 0;
	kernel_finish(b->arena, to);
	return build_share(b, to);
}
