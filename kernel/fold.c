#include "config.h"

#include "kernel/fold.h"

#include <math.h>

#include "kernel/elem.h"
#include "kernel/scalar.h"

/* Below this limit the error of a product may underflow. */
#define TINY 1e-280

static bool is_const(const kexpr *e)
{
	return e->kind == KX_INT || e->kind == KX_FLOAT;
}

static bool is_value(const kexpr *e, int64_t v)
{
	return (e->kind == KX_INT && e->i == v) ||
	       (e->kind == KX_FLOAT && e->f == (double)v &&
		!(v == 0 && signbit(e->f)));
}

/* Whether f of x and y is r without rounding, in any float type that holds
 * all three. */
static bool is_exact(fn f, double x, double y, double r)
{
	if (!isfinite(x) || !isfinite(y) || !isfinite(r))
		return false;
	switch (f) {
	case FN_ADD:
		return r - x == y && r - y == x;
	case FN_SUB:
		return x - r == y && r + y == x;
	case FN_MUL:
		return r == 0 ? x == 0 || y == 0 :
				fabs(r) > TINY && fma(x, y, -r) == 0;
	case FN_DIV:
		return r == 0 ? x == 0 :
				fabs(x) > TINY && fma(r, y, -x) == 0;
	case FN_SQRT:
		return fma(r, r, -x) == 0;
	default:
		return fn_table[f].exact;
	}
}

/* Folds f of constants; NULL if the result is not exact. */
static kexpr *fold_constants(arena *a, fn f, dtype result, kexpr *x, kexpr *y)
{
	if (x->kind == KX_INT) {
		if (fn_text_of(f, x->type).form == TEXT_NONE)
			return NULL; /* it is computed as a float */
		return kx_int(a, scalar_int(f, x->type, x->i,
					       y ? y->i : 0), result);
	}
	double yf = y ? y->f : 0;
	if (fn_gives_bool(f))
		return kx_int(a, scalar_test(f, x->f, yf), DT_BOOL);
	double r = scalar_float(f, x->f, yf);
	if (!is_exact(f, x->f, yf, r) || scalar_round(result, r) != r)
		return NULL;
	return kx_float(a, r, result);
}

/* Removes identities: x + 0 for integers, x - 0, x * 1, x / 1; and, or with a
 * constant.  Not x + 0.0, which would lose the sign of -0.0. */
static kexpr *identity(fn f, kexpr *x, kexpr *y)
{
	bool whole = !dtype_is_float(x->type);
	switch (f) {
	case FN_ADD:
		return whole && is_value(y, 0) ? x :
		       whole && is_value(x, 0) ? y : NULL;
	case FN_SUB:
		return is_value(y, 0) ? x : NULL;
	case FN_MUL:
		return is_value(y, 1) ? x : is_value(x, 1) ? y : NULL;
	case FN_DIV:
		return is_value(y, 1) ? x : NULL;
	case FN_AND:
		return is_value(x, 1) || is_value(y, 0) ? y :
		       is_value(y, 1) || is_value(x, 0) ? x : NULL;
	case FN_OR:
		return is_value(x, 0) || is_value(y, 1) ? y :
		       is_value(y, 0) || is_value(x, 1) ? x : NULL;
	default:
		return NULL;
	}
}

kexpr *fold_fn(arena *a, const kexpr *e, kexpr **args)
{
	kexpr *x = args[0], *y = e->nargs > 1 ? args[1] : NULL;
	kexpr *r = NULL;
	if (is_const(x) && (!y || (is_const(y) && y->kind == x->kind)))
		r = fold_constants(a, e->fn, e->type, x, y);
	if (!r && y)
		r = identity(e->fn, x, y);
	if (!r && e->fn == FN_NOT && x->kind == KX_FN && x->fn == FN_NOT)
		r = x->args[0];
	return r;
}

kexpr *fold_cast(arena *a, dtype t, kexpr *x)
{
	bool to_float = dtype_is_float(t);
	if (x->type == t)
		return x;
	if (x->kind == KX_INT && !to_float)
		return kx_int(a, scalar_wrap(t, x->i), t);
	if (x->kind == KX_INT) {
		double f = scalar_to_float(x->type, x->i);
		return kx_float(a, scalar_round(t, f), t);
	}
	if (x->kind == KX_FLOAT)
		return to_float ?
			kx_float(a, scalar_round(t, x->f), t) :
			kx_int(a, scalar_to_int(t, x->f), t);
	return NULL;
}

kexpr *fold_bitcast(arena *a, dtype t, kexpr *x)
{
	if (x->type == t)
		return x;
	if (x->kind != KX_INT && x->kind != KX_FLOAT)
		return NULL;
	uint64_t bits = x->kind == KX_INT ? (uint64_t)x->i :
					    elem_encode(x->type, x->f);
	if (!dtype_is_float(t))
		return kx_int(a, scalar_wrap(t, (int64_t)bits), t);
	double f = elem_decode(t, bits);
	return isnan(f) ? NULL : kx_float(a, f, t);
}
