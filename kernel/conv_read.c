#include "config.h"

#include "kernel/conv_read.h"

static bool is_const(const kexpr *e, int64_t value)
{
	return (e->kind == KX_INT && e->i == value) ||
	       (e->kind == KX_FLOAT && e->f == (double)value);
}

static bool is_divided_var(const kexpr *e, fn f)
{
	return e->kind == KX_FN && e->fn == f && e->args[0]->kind == KX_VAR &&
	       e->args[1]->kind == KX_INT && e->args[1]->i > 1;
}

static bool add_divided(const kexpr *e, int64_t times, conv_place *to)
{
	if (to->over_by || !is_divided_var(e, FN_DIV))
		return false;
	to->over = e->args[0]->var;
	to->over_coef = times;
	to->over_by = e->args[1]->i;
	return true;
}

/* Adds e, multiplied by `times', to an affine sum; false if e is not affine. */
static bool add_affine(const kexpr *e, int64_t times, conv_place *to)
{
	if (times > INT32_MAX || times < -INT32_MAX)
		return false;
	if (e->kind == KX_INT) {
		if (e->i > INT32_MAX || e->i < -INT32_MAX)
			return false;
		to->c += times * e->i;
		return true;
	}
	if (e->kind == KX_VAR) {
		to->coef[e->var] += times;
		return true;
	}
	if (e->kind != KX_FN)
		return false;
	const kexpr *x = e->args[0], *y = e->nargs > 1 ? e->args[1] : NULL;
	switch (e->fn) {
	case FN_ADD:
		return add_affine(x, times, to) && add_affine(y, times, to);
	case FN_SUB:
		return add_affine(x, times, to) && add_affine(y, -times, to);
	case FN_NEG:
		return add_affine(x, -times, to);
	case FN_MUL:
		if (x->kind == KX_INT && x->i <= INT32_MAX &&
		    x->i >= -INT32_MAX)
			return add_affine(y, times * x->i, to);
		return y->kind == KX_INT && y->i <= INT32_MAX &&
		       y->i >= -INT32_MAX && add_affine(x, times * y->i, to);
	case FN_DIV:
		return add_divided(e, times, to);
	default:
		return false;
	}
}

static bool place_of(const kexpr *e, conv_place *to)
{
	*to = (conv_place){ .divisor = 1, .of = e };
	if (e->kind == KX_FN && e->fn == FN_DIV &&
	    e->args[1]->kind == KX_INT && e->args[1]->i > 1) {
		to->divisor = e->args[1]->i;
		to->of = e->args[0];
	}
	if (is_divided_var(e, FN_MOD)) {
		to->modulus = e->args[1]->i;
		to->of = e->args[0];
	}
	if (!add_affine(to->of, 1, to))
		return false;
	for (int v = 0; v < MAX_NVARS; v++)
		to->vars |= (uint32_t)(to->coef[v] != 0) << v;
	return !to->over_by || to->divisor == 1;
}

conv_place conv_read_place(int v)
{
	conv_place p = { .divisor = 1, .vars = UINT32_C(1) << v };
	p.coef[v] = 1;
	return p;
}

int conv_read_var(const conv_place *p)
{
	int v = p->vars ? __builtin_ctz(p->vars) : 0;
	bool plain = p->vars && !(p->vars & (p->vars - 1)) && p->c == 0 &&
		     p->coef[v] == 1 && p->divisor == 1 && !p->over_by &&
		     !p->modulus;
	return plain ? v : -1;
}

/* Collects the divisions that a condition requires to be exact; false for any
 * other condition. */
static bool take_condition(const kexpr *e, const conv_reading *r,
			   uint32_t *divided)
{
	if (e->kind == KX_FN && e->fn == FN_AND)
		return take_condition(e->args[0], r, divided) &&
		       take_condition(e->args[1], r, divided);
	if (e->kind != KX_FN || e->fn != FN_EQ || !is_const(e->args[1], 0))
		return false;
	const kexpr *m = e->args[0];
	if (m->kind != KX_FN || m->fn != FN_MOD)
		return false;
	for (int d = 0; d < kx_ndim(r->read); d++)
		if (*divided >> d & 1 && is_const(m->args[1],
						  r->at[d].divisor) &&
		    kx_equal(m->args[0], r->at[d].of)) {
			*divided &= ~(1u << d);
			return true;
		}
	return false;
}

static bool is_widening(const kexpr *e)
{
	dtype from = e->kind == KX_CAST ? e->args[0]->type : e->type;
	return e->kind == KX_CAST && dtype_is_float(from) &&
	       dtype_size(e->type) > dtype_size(from) &&
	       (e->type == DT_F64 || e->type == DT_F32);
}

bool conv_read_of(const kexpr *e, conv_reading *r)
{
	const kexpr *when = NULL;
	uint32_t divided = 0;
	while (is_widening(e))
		e = e->args[0];
	if (e->kind == KX_SELECT && is_const(e->args[2], 0)) {
		when = e->args[0];
		e = e->args[1];
		while (is_widening(e))
			e = e->args[0];
	}
	if (e->kind != KX_READ ||
	    (e->guarded && !is_const(e->args[e->nargs - 1], 0)))
		return false;
	*r = (conv_reading){ .read = e };
	for (int d = 0; d < kx_ndim(e); d++) {
		if (!place_of(e->args[d], &r->at[d]))
			return false;
		divided |= (uint32_t)(r->at[d].divisor > 1) << d;
		r->nwindows += conv_read_var(&r->at[d]) < 0;
	}
	return (!when || take_condition(when, r, &divided)) && !divided;
}
