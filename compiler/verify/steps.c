/* Finds steps between two points at which an operator is run.  There is a step
 * if between the points the quotient of a remainder, the integer part of a
 * number, a condition or an index changes, or if a conversion overflows.  As
 * long as all of these stay the same, the results have slopes.  So it does not
 * matter from what an integer is computed.  An integer may be the same for many
 * floats, such as the sign bit.
 *
 * Each kernel with such numbers is evaluated once more with another body: a
 * weighted sum of them, which changes if one of them changes. */
#include "config.h"

#include <string.h>

#include "compiler/verify/gradients.h"

typedef struct finder {
	arena *arena;
	int nsteps, noverflows; /* numbers found; each gets a weight */
	bool overflows_alone;
} finder;

static kexpr *f64(arena *a, const kexpr *e)
{
	return e->type == DT_F64 ? (kexpr *)e : kx_cast(a, (kexpr *)e, DT_F64);
}

static kexpr *sum(arena *a, kexpr *x, kexpr *y)
{
	return !x ? y : !y ? x : kx_fn2(a, FN_ADD, x, y);
}

static kexpr *product(arena *a, kexpr *x, double weight)
{
	return kx_fn2(a, FN_MUL, x, kx_float(a, weight, DT_F64));
}

static kexpr *step_of(finder *f, const kexpr *e)
{
	if (f->overflows_alone)
		return NULL;
	return product(f->arena, f64(f->arena, e), 1 + 0.7310585 * f->nsteps++);
}

/* One of the two types may have no conversion here.  The weights of other
 * numbers stay the same. */
static kexpr *overflow_of(finder *f, const kexpr *e)
{
	kexpr *inf = kx_fn1(f->arena, FN_ISINF, (kexpr *)e);
	return product(f->arena, f64(f->arena, inf),
		       -1 - 0.5772157 * f->noverflows++);
}

static bool has_floats(const kexpr *e)
{
	bool has = dtype_is_float(e->type);
	for (int i = 0; i < e->nargs && !has; i++)
		has = has_floats(e->args[i]);
	return has;
}

/* Whether e, a float computed from a float, changes only in steps. */
static bool is_stepped(const kexpr *e)
{
	if (e->kind == KX_BITCAST)
		return dtype_is_float(e->args[0]->type);
	return e->kind == KX_FN && (e->fn == FN_FLOOR || e->fn == FN_CEIL ||
				    e->fn == FN_ROUND || e->fn == FN_SIGN);
}

/* The step of a float expression itself; NULL if it has none. */
static kexpr *own_step(finder *f, const kexpr *e)
{
	arena *a = f->arena;
	if (e->kind == KX_CAST)
		return overflow_of(f, e);
	if (e->kind != KX_FN || (e->fn != FN_MOD && e->fn != FN_FMOD))
		return NULL;
	kexpr *quotient =
		kx_fn2(a, FN_DIV, f64(a, e->args[0]), f64(a, e->args[1]));
	return step_of(f, kx_fn1(a, FN_FLOOR, quotient));
}

static kexpr *steps_in(finder *f, const kexpr *e);

/* The steps of a condition, and those of x or y, whichever it chooses. */
static kexpr *chosen(finder *f, const kexpr *c, const kexpr *x, const kexpr *y)
{
	arena *a = f->arena;
	kexpr *of_c = steps_in(f, c), *none = kx_float(a, 0, DT_F64);
	kexpr *of_x = steps_in(f, x), *of_y = steps_in(f, y);
	if (!of_x && !of_y)
		return of_c;
	return sum(a, of_c,
		   kx_select(a, (kexpr *)c, of_x ? of_x : none,
			     of_y ? of_y : none));
}

/* The sum of steps over everything that e evaluates; NULL if there is none. */
static kexpr *steps_in(finder *f, const kexpr *e)
{
	if (!dtype_is_float(e->type) || is_stepped(e))
		return has_floats(e) ? step_of(f, e) : NULL;
	if (e->kind == KX_SELECT)
		return chosen(f, e->args[0], e->args[1], e->args[2]);
	kexpr *all = own_step(f, e);
	for (int i = 0; i < e->nargs; i++)
		all = sum(f->arena, all, steps_in(f, e->args[i]));
	return all;
}

/* The sums at the points of a stage.  The view has no data if the stage has no
 * steps. */
static view sums_of_stage(const run *r, int i, bool overflows_alone)
{
	const stage *st = &r->x->stages[i];
	finder f = {.arena = r->t->arena, .overflows_alone = overflows_alone};
	kernel k = *st->kernel;
	view in[MAX_NINPUTS], out;
	box all = kernel_space(&k);
	k.body = k.nslices ? NULL : steps_in(&f, k.body);
	if (!k.body)
		return (view){0};
	k.type = DT_F64;
	k.reducer = k.reducer == RED_NONE ? RED_NONE : RED_SUM;
	for (int j = 0; j < k.ninputs; j++)
		in[j] = r->values[st->inputs[j]];
	out = new_result(f.arena, &k);
	if (kernel_eval(&k, &all, in, &out, NULL, NULL) != EVAL_OK)
		return (view){0};
	return out;
}

/* A stage of integers counts by its results. */
view *steps_of(const run *r)
{
	view *all = ARENA_ARRAY(r->t->arena, view, r->x->nstages + 1);
	for (int i = 0; i < r->x->nstages; i++)
		all[i] = dtype_is_float(r->x->stages[i].kernel->type)
				 ? sums_of_stage(r, i, false)
				 : copy_view(r->t->arena,
					     &r->values[r->x->nparams + i]);
	return all;
}

bool has_overflow(const run *r)
{
	for (int i = 0; i < r->x->nstages; i++) {
		view sums = sums_of_stage(r, i, true);
		for (int64_t e = 0; sums.data && e < view_count(&sums); e++)
			if (elem_get_f64(sums.type, sums.data, e) != 0)
				return true;
	}
	return false;
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
