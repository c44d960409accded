#include "config.h"

#include "compiler/export/jax_kernel.h"

#include <string.h>

/* The axes of the iteration space: those of the result, then reduced ones that
 * do not have exactly one value. */
static jax_axes space_of(const kernel *k)
{
	jax_axes x = { 0 };
	for (int v = 0; v < k->nvars; v++)
		if (v < k->nout || k->vars[v].extent != 1)
			x.var[x.n++] = v;
	return x;
}

static uint32_t reduced_of(const kernel *k, const jax_axes *x)
{
	uint32_t vars = 0;
	for (int i = k->nout; i < x->n; i++)
		vars |= UINT32_C(1) << x->var[i];
	return vars;
}

/* The reduced axes, counted from the end because they are last.  A body that
 * does not depend on the first axes has fewer axes. */
static const char *axes_text(arena *a, const kernel *k, const jax_axes *x)
{
	int64_t at[MAX_NVARS];
	int n = x->n - k->nout;
	for (int i = 0; i < n; i++)
		at[i] = i - n;
	return n == 1 ? "-1" : jax_tuple(a, n, at);
}

/* The result of a reduction without terms, which the function gives. */
static const char *initial_of(arena *a, const kernel *k)
{
	const reducer_facts *f = &reducer_table[k->reducer];
	const char *kind = jax_type(jax_compute_type(k->type));
	bool least = f->neutral == NEUTRAL_LEAST;
	if (f->choice == FN_NO_CHOICE || reducer_is_logic(k->reducer) ||
	    reducer_is_where(k->reducer))
		return "";
	if (dtype_is_float(k->type))
		return least ? ", initial=-jnp.inf" : ", initial=jnp.inf";
	return arena_printf(a, ", initial=jnp.iinfo(%s).%s", kind,
			    least ? "min" : "max");
}

/* Prints the body, reduced.  *q says on which axes it depends. */
static void print_reduced(const jax_printer *p, const jax_axes *x,
			  jax_piece *q)
{
	const kernel *k = p->k;
	uint32_t over = reduced_of(k, x), missing = over & ~q->vars;
	bool empty = false;
	if (k->reducer == RED_NONE || !over)
		return;
	for (int i = k->nout; i < x->n; i++)
		empty = empty || k->vars[x->var[i]].extent == 0;
	const char *s = missing || q->literal || !q->vars ?
		jax_spread(p, x, q) : q->s;
	uint32_t vars = missing || q->literal ? UINT32_MAX : q->vars;
	q->s = arena_printf(p->a, "%s(%s, %s%s)",
			    reducer_table[k->reducer].jax, s,
			    axes_text(p->a, k, x),
			    empty ? initial_of(p->a, k) : "");
	q->vars = vars & ~over;
	q->bind = BIND_ATOM;
	q->literal = false;
}

static jax_piece print_body(const jax_printer *p)
{
	jax_axes x = space_of(p->k);
	jax_piece q = jax_print(p, &x, p->k->body);
	print_reduced(p, &x, &q);
	return q;
}

/* A piece extended to all axes of the result. */
static const char *spread(const jax_printer *p, jax_piece q)
{
	jax_axes x = { .n = p->k->nout };
	for (int v = 0; v < x.n; v++) {
		x.var[v] = v;
		if (p->k->vars[v].extent == 1)
			q.vars &= ~(UINT32_C(1) << v);
	}
	return x.n ? jax_spread(p, &x, &q) : q.s;
}

/* Whether the body's text has the elements' type.  Sums of short integers have
 * a longer one. */
static bool has_type(const kernel *k)
{
	return jax_is_typed(k->body) && !dtype_is_small_float(k->type) &&
	       (k->reducer == RED_NONE || dtype_is_float(k->type));
}

static const char *convert(const jax_printer *p, const char *s, bool has)
{
	if (has)
		return s;
	return arena_printf(p->a, "jnp.asarray(%s, %s)", s,
			    jax_type(p->k->type));
}

static const char *reshape(const jax_printer *p, const kernel *k,
			   const char *s)
{
	int64_t dims[MAX_NDIM];
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	return arena_printf(p->a, "jnp.reshape(%s, %s)", s,
			    jax_tuple(p->a, k->nout, dims));
}

/* A call of the library gives f32 or f64. */
static const char *print_call(const jax_printer *p)
{
	const char *s = jax_product(p);
	if (!s)
		s = jax_scatter(p);
	return s && dtype_is_small_float(p->k->type) ? convert(p, s, false) : s;
}

const char *jax_kernel_text(arena *a, const kernel *k,
			    const char *const *inputs)
{
	jax_printer whole = { .a = a, .k = k, .inputs = inputs };
	if (!k->body)
		return convert(&whole, jax_opaque(&whole), false);
	const char *s = jax_convolution(&whole);
	if (s)
		return convert(&whole, s, !dtype_is_small_float(k->type));
	jax_split split = jax_split_of(a, k);
	jax_printer p = { .a = a, .k = &split.kernel, .inputs = inputs };
	s = print_call(&p);
	if (!s)
		s = convert(&p, spread(&p, print_body(&p)),
			    has_type(&split.kernel));
	return split.divided ? reshape(&p, k, s) : s;
}
