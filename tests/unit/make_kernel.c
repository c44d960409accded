#include "config.h"

#include "tests/unit/make_kernel.h"

#include <stdarg.h>

/* ---- random numbers ---------------------------------------------------- */

uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* lo <= result < hi */
int64_t pick(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(draw() % (uint64_t)(hi - lo));
}

/* ---- making kernels ---------------------------------------------------- */

arena *mem;

kernel *begin(const char *name, reducer r, dtype t)
{
	kernel *k = ARENA_NEW(mem, kernel);
	k->name = name;
	k->reducer = r;
	k->type = t;
	k->vars = ARENA_ARRAY(mem, kvar, MAX_NVARS);
	k->inputs = ARENA_ARRAY(mem, kinput, MAX_NINPUTS);
	k->derived = ARENA_ARRAY(mem, kderived, MAX_NVARS);
	return k;
}

kexpr *add_var(kernel *k, const char *name, kvar_kind kind, int64_t n)
{
	k->vars[k->nvars] = (kvar){name, kind, n, NULL};
	k->nout += kind == KVAR_OUTPUT;
	return kx_var(mem, k->nvars++);
}

int add_input(kernel *k, const char *name, dtype t, int ndim, ...)
{
	kinput *in = &k->inputs[k->ninputs];
	va_list ap;
	va_start(ap, ndim);
	*in = (kinput){.name = name, .type = t, .ndim = ndim};
	for (int d = 0; d < ndim; d++)
		in->dims[d] = va_arg(ap, int);
	va_end(ap);
	return k->ninputs++;
}

kexpr *num(int64_t i)
{
	return kx_int(mem, i, DT_I64);
}

kexpr *add(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_ADD, x, y);
}

kexpr *sub(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_SUB, x, y);
}

kexpr *mul(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_MUL, x, y);
}

kexpr *constant(dtype t, double f)
{
	return dtype_is_float(t) ? kx_float(mem, f, t)
				 : kx_int(mem, (int64_t)f, t);
}
