#include "config.h"

#include "kernel/linearity.h"

#include "kernel/eval.h"

/* The dependence of an expression on the reads in question. */
typedef enum degree {
	DEGREE_NONE,  /* not at all */
	DEGREE_ZERO,  /* not at all: it is the constant 0 */
	DEGREE_ONE,   /* every term has exactly one of them as a factor */
	DEGREE_OTHER, /* in some other way */
} degree;

/* The reads in question: all of an input, or those whose index in a dimension
 * is data-dependent. */
typedef struct target {
	int input;
	int dim; /* -1 for all */
} target;

static bool is_target(const kexpr *e, target t)
{
	if (e->kind != KX_READ || e->input != t.input)
		return false;
	return t.dim < 0 || kx_has_read(e->args[t.dim]);
}

static bool is_free(degree d)
{
	return d == DEGREE_NONE || d == DEGREE_ZERO;
}

static degree degree_sum(degree x, degree y)
{
	if (x == DEGREE_OTHER || y == DEGREE_OTHER)
		return DEGREE_OTHER;
	if (x == y || y == DEGREE_ZERO)
		return x;
	return x == DEGREE_ZERO ? y : DEGREE_OTHER;
}

/* 0 times anything is taken for 0. */
static degree degree_product(degree x, degree y)
{
	if (x == DEGREE_ONE && is_free(y))
		return x;
	if (is_free(x))
		return x == DEGREE_ZERO && is_free(y) ? x : y;
	return DEGREE_OTHER;
}

static degree degree_of(const kexpr *e, target t);

static degree degree_read(const kexpr *e, target t)
{
	int ndim = kx_ndim(e);
	for (int d = 0; d < ndim; d++)
		if (!is_free(degree_of(e->args[d], t)))
			return DEGREE_OTHER;
	degree own = is_target(e, t) ? DEGREE_ONE : DEGREE_NONE;
	if (!e->guarded)
		return own;
	degree otherwise = degree_of(e->args[ndim], t);
	if (own == DEGREE_NONE)
		return is_free(otherwise) ? own : DEGREE_OTHER;
	if (t.dim >= 0 && otherwise != DEGREE_ZERO)
		return DEGREE_OTHER; /* every part would add it */
	return degree_sum(own, otherwise);
}

static degree degree_fn(const kexpr *e, target t)
{
	degree x = degree_of(e->args[0], t);
	degree y = e->nargs > 1 ? degree_of(e->args[1], t) : DEGREE_NONE;
	switch (fn_table[e->fn].linear) {
	case FN_LINEAR_SAME:
		return x;
	case FN_LINEAR_SUM:
		if (is_free(x) && is_free(y))
			return x == y ? x : DEGREE_NONE;
		return degree_sum(x, y);
	case FN_LINEAR_PRODUCT:
		return degree_product(x, y);
	case FN_LINEAR_QUOTIENT:
		if (x == DEGREE_ONE && is_free(y) && dtype_is_float(e->type))
			return x;
		break;
	case FN_NOT_LINEAR:
		break;
	}
	return is_free(x) && is_free(y) ? DEGREE_NONE : DEGREE_OTHER;
}

static degree degree_select(const kexpr *e, target t)
{
	degree x = degree_of(e->args[1], t), y = degree_of(e->args[2], t);
	if (!is_free(degree_of(e->args[0], t)))
		return DEGREE_OTHER;
	if (is_free(x) && is_free(y))
		return x == y ? x : DEGREE_NONE;
	return degree_sum(x, y);
}

/* Whether a sum of numbers cast to the type is near enough to the cast of their
 * sum: not for types of few bits, nor for those without 0. */
static bool keeps_sums(dtype t)
{
	return dtype_is_float(t) && dtype_bits(t) >= 16;
}

static degree degree_of(const kexpr *e, target t)
{
	degree x;
	switch (e->kind) {
	case KX_INT:
		return e->i == 0 ? DEGREE_ZERO : DEGREE_NONE;
	case KX_FLOAT:
		return e->f == 0 ? DEGREE_ZERO : DEGREE_NONE;
	case KX_VAR:
		return DEGREE_NONE;
	case KX_READ:
		return degree_read(e, t);
	case KX_FN:
		return degree_fn(e, t);
	case KX_SELECT:
		return degree_select(e, t);
	case KX_CAST:
	case KX_BITCAST:
		break;
	}
	x = degree_of(e->args[0], t);
	if (e->kind == KX_CAST && keeps_sums(e->type) &&
	    keeps_sums(e->args[0]->type))
		return x;
	return is_free(x) ? DEGREE_NONE : DEGREE_OTHER;
}

bool kernel_body_linear(const kernel *k, int input)
{
	return k->body &&
	       degree_of(k->body, (target){ input, -1 }) == DEGREE_ONE;
}

static void add_derived(arena *a, kernel *k, int input, int dim)
{
	const kinput *in = &k->inputs[input];
	kvar *vars = ARENA_ARRAY(a, kvar, k->nvars + 1);
	kderived *derived = ARENA_ARRAY(a, kderived, k->nderived + 1);
	for (int v = 0; v < k->nvars; v++)
		vars[v] = k->vars[v];
	for (int i = 0; i < k->nderived; i++)
		derived[i] = k->derived[i];
	vars[k->nvars] = (kvar){
		.name = arena_printf(a, "%s.%d", in->name, dim),
		.kind = KVAR_DERIVED,
		.extent = in->dims[dim],
	};
	derived[k->nderived] = (kderived){ k->nvars, input, dim };
	k->vars = vars;
	k->derived = derived;
	k->nvars++;
	k->nderived++;
}

void kernel_derive(arena *a, kernel *k)
{
	if (!k->body || k->type == DT_BOOL || !elem_has_zero(k->type) ||
	    (k->reducer != RED_NONE && k->reducer != RED_SUM))
		return;
	for (int i = 0; i < k->ninputs; i++)
		for (int d = 0; d < k->inputs[i].ndim; d++)
			if (k->nvars < MAX_NVARS && k->inputs[i].dims[d] > 0 &&
			    degree_of(k->body, (target){ i, d }) == DEGREE_ONE)
				add_derived(a, k, i, d);
}
