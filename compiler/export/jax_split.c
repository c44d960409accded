/* Splits the variables of a kernel until no index has a quotient or remainder
 * of one.  For example t / 8 and t % 8 become two variables, and the dimension
 * of the result is made of both. */
#include "config.h"

#include <string.h>

#include "compiler/export/jax_kernel.h"

/* A divisor of a variable in e that divides the variable's extent; 0 if there
 * is none. */
static int64_t find_divisor(const kernel *k, const kexpr *e, int *var)
{
	if (e->kind == KX_FN && (e->fn == FN_DIV || e->fn == FN_MOD) &&
	    e->args[0]->kind == KX_VAR && e->args[1]->kind == KX_INT) {
		int64_t n = k->vars[e->args[0]->var].extent, d = e->args[1]->i;
		*var = e->args[0]->var;
		if (d > 1 && d < n && n % d == 0)
			return d;
	}
	for (int i = 0; i < e->nargs; i++) {
		int64_t d = find_divisor(k, e->args[i], var);
		if (d)
			return d;
	}
	return 0;
}

kexpr *jax_replace(arena *a, const kexpr *e, kexpr *const *to)
{
	if (e->kind == KX_VAR)
		return to[e->var];
	kexpr *copy = ARENA_NEW(a, kexpr);
	*copy = *e;
	copy->args = ARENA_ARRAY(a, kexpr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		copy->args[i] = jax_replace(a, e->args[i], to);
	return copy;
}

static void set_body(arena *a, kernel *k, kexpr *const *to)
{
	k->body = kx_simplify(a, jax_replace(a, k->body, to), k->vars);
}

/* Splits variable v into variables v, the quotient by d, and v + 1, the
 * remainder. */
static void divide(arena *a, jax_split *s, int v, int64_t d)
{
	kernel *k = &s->kernel;
	kvar *vars = ARENA_ARRAY(a, kvar, k->nvars + 1);
	kexpr *to[MAX_NVARS] = { 0 };
	for (int i = 0; i < k->nvars; i++)
		to[i] = kx_var(a, i + (i > v));
	to[v] = kx_fn2(a, FN_ADD,
		       kx_fn2(a, FN_MUL, kx_int(a, d, DT_I64), kx_var(a, v)),
		       kx_var(a, v + 1));
	memcpy(vars, k->vars, (size_t)(v + 1) * sizeof(*vars));
	memcpy(vars + v + 1, k->vars + v,
	       (size_t)(k->nvars - v) * sizeof(*vars));
	vars[v].extent /= d;
	vars[v + 1].extent = d;
	k->vars = vars;
	k->nvars++;
	k->nout += v < k->nout;
	set_body(a, k, to);
}

/* Replaces variables that have one value by it. */
static void set_single(arena *a, kernel *k)
{
	kexpr *to[MAX_NVARS] = { 0 };
	bool any = false;
	for (int i = 0; i < k->nvars; i++) {
		bool single = k->vars[i].extent == 1;
		to[i] = single ? kx_int(a, 0, DT_I64) : kx_var(a, i);
		any = any || single;
	}
	if (any)
		set_body(a, k, to);
}

jax_split jax_split_of(arena *a, const kernel *k)
{
	jax_split s = { .kernel = *k };
	int64_t d;
	int var;
	s.kernel.nvars -= k->nderived;
	s.kernel.nderived = 0;
	if (!k->body)
		return s;
	set_single(a, &s.kernel);
	while (s.kernel.nvars < MAX_NVARS - 1 &&
	       (d = find_divisor(&s.kernel, s.kernel.body, &var)) > 0)
		divide(a, &s, var, d);
	s.divided = s.kernel.nout != k->nout;
	return s;
}
