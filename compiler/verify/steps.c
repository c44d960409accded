/* Steps between two points at which an operator is run: where a remainder's
 * quotient, a number without its fraction, a comparison or an index found by
 * comparing is another one, or a conversion overflows.
 *
 * Each kernel that has any is evaluated once more with another body, a sum of
 * all these numbers, which is another where one of them is. */
#include "config.h"

#include <string.h>

#include "compiler/verify/gradients.h"

typedef struct finder {
	arena *arena;
	int n; /* that were found: each has a weight of its own */
} finder;

static kexpr *f64(arena *a, kexpr *e)
{
	return e->type == DT_F64 ? e : kx_cast(a, e, DT_F64);
}

static kexpr *sum(arena *a, kexpr *x, kexpr *y)
{
	return !x ? y : !y ? x : kx_fn2(a, FN_ADD, x, y);
}

/* The number that a step of e itself changes; NULL for none. */
static kexpr *own_step(arena *a, const kexpr *e)
{
	bool of_floats = e->nargs > 0 && dtype_is_float(e->args[0]->type);
	bool to_float = dtype_is_float(e->type);
	if (e->kind == KX_BITCAST && of_floats && !to_float)
		return f64(a, (kexpr *)e);
	if (e->kind == KX_CAST && (of_floats || to_float))
		return f64(a, to_float ? kx_fn1(a, FN_ISINF, (kexpr *)e)
				       : (kexpr *)e);
	if (e->kind != KX_FN || !of_floats)
		return NULL;
	if (fn_is_comparison(e->fn))
		return f64(a, (kexpr *)e);
	switch (e->fn) {
	case FN_MOD:
	case FN_FMOD:
		return kx_fn1(a, FN_FLOOR, kx_fn2(a, FN_DIV, f64(a, e->args[0]),
						   f64(a, e->args[1])));
	case FN_FLOOR:
	case FN_CEIL:
	case FN_ROUND:
	case FN_SIGN:
		return f64(a, (kexpr *)e);
	default:
		return NULL;
	}
}

static kexpr *steps_in(finder *f, const kexpr *e);

/* Those of c, and those of x or y as it says. */
static kexpr *chosen(finder *f, const kexpr *c, const kexpr *x, const kexpr *y)
{
	arena *a = f->arena;
	kexpr *of_c = steps_in(f, c), *none = kx_float(a, 0, DT_F64);
	kexpr *of_x = x ? steps_in(f, x) : NULL;
	kexpr *of_y = y ? steps_in(f, y) : NULL;
	if (!of_x && !of_y)
		return of_c;
	return sum(a, of_c, kx_select(a, (kexpr *)c, of_x ? of_x : none,
				      of_y ? of_y : none));
}

/* A sum over all that e evaluates; NULL where no step is in it. */
static kexpr *steps_in(finder *f, const kexpr *e)
{
	arena *a = f->arena;
	kexpr *own = own_step(a, e), *all = NULL;
	if (e->kind == KX_SELECT)
		return chosen(f, e->args[0], e->args[1], e->args[2]);
	if (e->kind == KX_FN && e->fn == FN_AND)
		return chosen(f, e->args[0], e->args[1], NULL);
	if (e->kind == KX_FN && e->fn == FN_OR)
		return chosen(f, e->args[0], NULL, e->args[1]);
	if (own)
		all = kx_fn2(a, FN_MUL, own,
			     kx_float(a, 1 + 0.7310585 * f->n++, DT_F64));
	for (int i = 0; i < e->nargs; i++)
		all = sum(a, all, steps_in(f, e->args[i]));
	return all;
}

/* The sums at the points of a stage, or what it finds by comparing; no data
 * where it has no steps. */
static view steps_of_stage(const run *r, int i)
{
	const stage *st = &r->x->stages[i];
	finder f = { .arena = r->t->arena };
	kernel k = *st->kernel;
	view in[MAX_NINPUTS], out;
	box all = kernel_space(&k);
	k.body = k.nslices ? NULL : steps_in(&f, k.body);
	if (!k.body)
		return dtype_is_float(k.type)
			       ? (view){ 0 }
			       : copy_view(f.arena,
					   &r->values[r->x->nparams + i]);
	k.type = DT_F64;
	k.reducer = k.reducer == RED_NONE ? RED_NONE : RED_SUM;
	for (int j = 0; j < k.ninputs; j++)
		in[j] = r->values[st->inputs[j]];
	out = new_result(f.arena, &k);
	if (kernel_eval(&k, &all, in, &out, NULL, NULL) != EVAL_OK)
		return (view){ 0 };
	return out;
}

view *steps_of(const run *r)
{
	view *all = ARENA_ARRAY(r->t->arena, view, r->x->nstages + 1);
	for (int i = 0; i < r->x->nstages; i++)
		all[i] = steps_of_stage(r, i);
	return all;
}

bool are_same_steps(const run *r, const view *x, const view *y)
{
	for (int i = 0; i < r->x->nstages; i++) {
		if (!x[i].data || !y[i].data)
			continue;
		size_t n = (size_t)view_count(&x[i]) * dtype_size(x[i].type);
		if (memcmp(x[i].data, y[i].data, n) != 0)
			return false;
	}
	return true;
}
