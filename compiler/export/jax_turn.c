#include "config.h"

#include "compiler/export/jax_turn.h"

#include <string.h>

#include "compiler/export/jax_kernel.h"
#include "kernel/region.h"

typedef struct turning {
	arena *a;
	jax_turn *to;
	int var;	 /* divided by turns */
	int number;	 /* variable that stands for the turn's number */
	int64_t extent;	 /* of var in a turn */
	int64_t shift[MAX_NINPUTS]; /* a turn's elements in dim[] */
} turning;

static kexpr *scaled(const turning *w, int64_t n)
{
	return kx_fn2(w->a, FN_MUL, kx_int(w->a, n, DT_I64),
		      kx_var(w->a, w->number));
}

/* An index in dimension d of an input, relative to the part that is there. */
static kexpr *shifted(const turning *w, int input, int d, kexpr *index)
{
	if (w->to->dim[input] != d)
		return index;
	return kx_fn2(w->a, FN_SUB, index, scaled(w, w->shift[input]));
}

/* e with var counted from the turn's first value, and indices from the first
 * element that inputs have. */
static kexpr *turned(const turning *w, const kexpr *e)
{
	if (e->kind == KX_VAR && e->var == w->var)
		return kx_fn2(w->a, FN_ADD, kx_var(w->a, e->var),
			      scaled(w, w->extent));
	kexpr *copy = ARENA_NEW(w->a, kexpr);
	*copy = *e;
	copy->args = ARENA_ARRAY(w->a, kexpr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		copy->args[i] = turned(w, e->args[i]);
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++)
		copy->args[d] = shifted(w, e->input, d, copy->args[d]);
	return copy;
}

/* Finds the inputs that are parts for a turn: the plan's, and those that are
 * read only inside the turn's part. */
static void set_inputs(turning *w, const plan *p, const plan_node *n,
		       const kernel *k)
{
	kernel *to = &w->to->kernel;
	int64_t turns = p->loop.turns;
	for (int i = 0; i < k->ninputs; i++) {
		int d = p->tensors[n->inputs[i]].time, spans[MAX_NDIM];
		w->to->dim[i] = d == CUT_NONE ? -1 : d;
		if (d != CUT_NONE) {
			w->shift[i] = k->inputs[i].dims[d] / turns;
			to->inputs[i].dims[d] = w->shift[i];
			continue;
		}
		kernel_need_spans(k, i, spans);
		for (d = 0; d < k->inputs[i].ndim; d++)
			if (spans[d] == w->var)
				w->to->dim[i] = d;
		if ((d = w->to->dim[i]) < 0)
			continue;
		w->shift[i] = to->inputs[i].dims[d] = w->extent;
		w->to->cut |= UINT32_C(1) << i;
	}
}

/* Adds an input for the turn's number. */
static kexpr *add_number(turning *w)
{
	kernel *k = &w->to->kernel;
	k->inputs[k->ninputs] = (kinput){ .name = "turn", .type = DT_I64 };
	w->to->dim[k->ninputs] = -1;
	w->to->counts = true;
	return kx_read(w->a, k->ninputs++, DT_I64, 0, NULL, NULL);
}

/* A turn's expression with the number replaced by a read of an input if the
 * expression depends on it. */
static kexpr *numbered(turning *w, const kexpr *e, const kvar *vars,
		       kexpr **by)
{
	kexpr *x = kx_simplify(w->a, e, vars), *to[MAX_NVARS];
	if (!(jax_vars(x) >> w->number & 1))
		return x;
	if (!*by)
		*by = add_number(w);
	for (int v = 0; v < w->number; v++)
		to[v] = kx_var(w->a, v);
	to[w->number] = *by;
	return jax_replace(w->a, x, to);
}

static void set_expressions(turning *w, const kernel *k, const kvar *vars)
{
	kernel *to = &w->to->kernel;
	kexpr *number = NULL;
	if (k->body)
		to->body = numbered(w, turned(w, k->body), vars, &number);
	to->slices = ARENA_ARRAY(w->a, kslice, k->nslices + 1);
	for (int i = 0; i < k->nslices; i++) {
		kslice *s = &to->slices[i];
		*s = k->slices[i];
		for (int d = 0; d < s->ndim; d++)
			s->at[d] = !s->at[d] ? NULL : numbered(
				w, shifted(w, s->input, d,
					   turned(w, s->at[d])),
				vars, &number);
	}
}

bool jax_turn_of(arena *a, const plan *p, const plan_node *n, jax_turn *t)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	*t = (jax_turn){ .kernel = *k };
	turning w = { .a = a, .to = t, .var = n->time, .number = k->nvars };
	if (k->nvars == MAX_NVARS || k->ninputs == MAX_NINPUTS ||
	    k->vars[n->time].kind == KVAR_DERIVED)
		return false;
	kvar *vars = ARENA_ARRAY(a, kvar, k->nvars + 1);
	memcpy(vars, k->vars, (size_t)k->nvars * sizeof(*vars));
	w.extent = vars[n->time].extent /= p->loop.turns;
	vars[w.number] = (kvar){ .name = "turn", .kind = KVAR_REDUCE,
				 .extent = p->loop.turns };
	t->kernel.vars = vars;
	t->kernel.inputs = ARENA_ARRAY(a, kinput, k->ninputs + 1);
	memcpy(t->kernel.inputs, k->inputs,
	       (size_t)k->ninputs * sizeof(*k->inputs));
	set_inputs(&w, p, n, k);
	set_expressions(&w, k, vars);
	kernel_finish(a, &t->kernel);
	return true;
}
