#include "config.h"

#include "compiler/codegen/nest.h"

#include "base/checked.h"

/* ---- loops ------------------------------------------------------------- */

static bool is_division(const kexpr *e)
{
	return e->kind == KX_FN && (e->fn == FN_DIV || e->fn == FN_MOD) &&
	       e->type == DT_I64 && e->args[0]->kind == KX_VAR &&
	       e->args[1]->kind == KX_INT && e->args[1]->i > 1;
}

/* Notes the divisor of each variable: 0 none yet, -1 several. */
static void find_divisors(const kexpr *e, int64_t *divisor)
{
	if (is_division(e)) {
		int64_t *d = &divisor[e->args[0]->var];
		*d = *d == 0 || *d == e->args[1]->i ? e->args[1]->i : -1;
	}
	for (int i = 0; i < e->nargs; i++)
		find_divisors(e->args[i], divisor);
}

static void add_loop(nest *n, int var, loop_part part, int64_t divisor,
		     int64_t extent)
{
	n->loops[n->n++] = (loop){
		.var = var,
		.part = part,
		.divisor = divisor,
		.extent = extent,
		.reduced = n->k->vars[var].kind == KVAR_REDUCE,
	};
}

nest nest_of(const kernel *k, uint32_t whole)
{
	nest n = {.k = k};
	int64_t divisor[MAX_NVARS] = {0};
	if (k->body)
		find_divisors(k->body, divisor);
	for (int v = 0; v < k->nvars; v++) {
		int64_t extent = k->vars[v].extent, d = divisor[v];
		n.first[v] = -1;
		if (extent == 1 || k->vars[v].kind == KVAR_DERIVED)
			continue;
		n.first[v] = n.n;
		if (d > 1 && d < extent && !(whole >> v & 1)) {
			add_loop(&n, v, LOOP_QUOTIENT, d, (extent - 1) / d + 1);
			add_loop(&n, v, LOOP_REMAINDER, d, d);
		} else {
			add_loop(&n, v, LOOP_WHOLE, 1, extent);
		}
	}
	return n;
}

int nest_part(const nest *n, const kexpr *e)
{
	if (!is_division(e))
		return -1;
	int l = n->first[e->args[0]->var];
	if (l < 0 || n->loops[l].part != LOOP_QUOTIENT ||
	    n->loops[l].divisor != e->args[1]->i)
		return -1;
	return e->fn == FN_DIV ? l : l + 1;
}

loop_set loops_of(const nest *n, const kexpr *e)
{
	loop_set s = 0;
	int part = nest_part(n, e);
	if (part >= 0)
		return loop_bit(part);
	if (e->kind == KX_VAR && n->first[e->var] >= 0) {
		int l = n->first[e->var];
		s = loop_bit(l);
		if (n->loops[l].part == LOOP_QUOTIENT)
			s |= loop_bit(l + 1);
	}
	for (int i = 0; i < e->nargs; i++)
		s |= loops_of(n, e->args[i]);
	return s;
}

/* ---- sums -------------------------------------------------------------- */

static const linear not_affine = {.affine = false};

static linear constant(int64_t c)
{
	return (linear){.affine = true, .c = c};
}

static linear scaled(const nest *n, linear x, int64_t by)
{
	x.affine = x.affine && ck_mul(x.c, by, &x.c);
	for (int l = 0; x.affine && l < n->n; l++)
		x.affine = ck_mul(x.coef[l], by, &x.coef[l]);
	return x;
}

static linear sum(const nest *n, linear x, linear y)
{
	x.affine = x.affine && y.affine && ck_add(x.c, y.c, &x.c);
	for (int l = 0; x.affine && l < n->n; l++)
		x.affine = ck_add(x.coef[l], y.coef[l], &x.coef[l]);
	return x;
}

linear linear_minus(const nest *n, linear x, linear y)
{
	return sum(n, x, scaled(n, y, -1));
}

linear linear_plus(const nest *n, linear x, linear y, int64_t by)
{
	return sum(n, x, scaled(n, y, by));
}

static bool is_constant(const nest *n, const linear *x)
{
	for (int l = 0; l < n->n; l++)
		if (x->coef[l])
			return false;
	return x->affine;
}

static linear variable(const nest *n, int var)
{
	linear x = constant(0);
	int l = n->first[var];
	if (n->k->vars[var].kind == KVAR_DERIVED)
		return not_affine;
	if (l < 0)
		return x;
	if (n->loops[l].part == LOOP_TURN)
		return not_affine;
	if (n->loops[l].part == LOOP_QUOTIENT) {
		x.coef[l] = n->loops[l].divisor;
		x.coef[l + 1] = 1;
	} else {
		x.coef[l] = 1;
	}
	return x;
}

static linear function(const nest *n, const kexpr *e)
{
	linear x, y;
	switch (e->fn) {
	case FN_NEG:
		return scaled(n, linear_of(n, e->args[0]), -1);
	case FN_ADD:
		return sum(n, linear_of(n, e->args[0]),
			   linear_of(n, e->args[1]));
	case FN_SUB:
		return linear_minus(n, linear_of(n, e->args[0]),
				    linear_of(n, e->args[1]));
	case FN_MUL:
		x = linear_of(n, e->args[0]);
		y = linear_of(n, e->args[1]);
		if (x.affine && is_constant(n, &y))
			return scaled(n, x, y.c);
		if (y.affine && is_constant(n, &x))
			return scaled(n, y, x.c);
		return not_affine;
	case FN_DIV:
	case FN_MOD:
		x = linear_of(n, e->args[0]);
		y = linear_of(n, e->args[1]);
		if (!is_constant(n, &x) || !is_constant(n, &y) || y.c <= 0)
			return not_affine;
		return constant(e->fn == FN_DIV ? floor_div(x.c, y.c)
						: floor_mod(x.c, y.c));
	default:
		return not_affine;
	}
}

linear linear_of(const nest *n, const kexpr *e)
{
	if (e->type != DT_I64)
		return not_affine;
	int part = nest_part(n, e);
	if (part >= 0) {
		linear x = constant(0);
		x.coef[part] = 1;
		return x;
	}
	switch (e->kind) {
	case KX_INT:
		return constant(e->i);
	case KX_VAR:
		return variable(n, e->var);
	case KX_FN:
		return function(n, e);
	default:
		return not_affine;
	}
}

bool linear_range(const nest *n, const linear *x, int64_t *lo, int64_t *hi)
{
	*lo = *hi = x->c;
	for (int l = 0; l < n->n; l++) {
		int64_t last, end = n->loops[l].extent - 1;
		if (!ck_mul(x->coef[l], end > 0 ? end : 0, &last) ||
		    !ck_add(last < 0 ? *lo : *hi, last, last < 0 ? lo : hi))
			return false;
	}
	return x->affine;
}
