/* Reads of tensors in JAX.  Affine indices become slices, strides, shifts,
 * windows and reshaped dimensions; others become gathers. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/export/jax_expr.h"
#include "kernel/index_interval.h"

/* ---- affine indices ---------------------------------------------------- */

/* The value of elements outside an input; NULL if it is no number. */
static const char *fill_of(const jax_printer *p, const kexpr *read)
{
	const kexpr *e = read->guarded ? read->args[kx_ndim(read)] : NULL;
	if (!e)
		return "0";
	if (e->kind != KX_INT && e->kind != KX_FLOAT)
		return NULL;
	return jax_print(p, &(jax_axes){ 0 }, e).s;
}

static bool is_inside(const lin *i, int64_t dim)
{
	return i->all.lo >= 0 && i->all.hi < dim;
}

/* Whether an index runs over a whole dimension. */
static bool is_all(const jax_printer *p, const lin *i, int64_t dim)
{
	return i->n == 1 && i->c == 0 && i->t[0].coef == 1 &&
	       p->k->vars[i->t[0].var].extent == dim;
}

/* Compiles the indices of a read.  Returns false if one is not affine, is a
 * constant outside the input, or if two share a variable. */
static bool compile(const jax_printer *p, const kexpr *read, lin *at)
{
	const kinput *in = &p->k->inputs[read->input];
	uint32_t seen = 0;
	for (int d = 0; d < in->ndim; d++) {
		lin *i = &at[d];
		if (kx_has_read(read->args[d]) ||
		    !index_compile(p->a, p->k, read->args[d], i) ||
		    !i->affine || (!i->n && !is_inside(i, in->dims[d])))
			return false;
		if (!is_inside(i, in->dims[d]) && !fill_of(p, read))
			return false;
		for (int j = 0; j < i->n; j++) {
			if (seen >> i->t[j].var & 1 ||
			    p->k->vars[i->t[j].var].extent < 1)
				return false;
			seen |= UINT32_C(1) << i->t[j].var;
		}
	}
	return true;
}

/* The text in brackets for a dimension: a number or a slice, which may be
 * everything. */
static const char *bracket_of(const jax_printer *p, const lin *i, int64_t dim)
{
	if (i->n == 0)
		return arena_printf(p->a, "%" PRId64, i->c);
	if (i->n > 1 || i->t[0].coef < 1 || !is_inside(i, dim) ||
	    is_all(p, i, dim))
		return ":";
	const char *s = arena_printf(p->a, "%" PRId64 ":%" PRId64, i->all.lo,
				     i->all.hi + 1);
	return i->t[0].coef == 1 ? s
				 : arena_printf(p->a, "%s:%" PRId64, s,
						i->t[0].coef);
}

/* The elements of s for an index that is a sum of variables, along dimension d.
 * s has all dimensions up to d. */
static const char *print_along(const jax_printer *p, const char *s, int d,
			       const lin *i, int64_t dim, const char *fill)
{
	s = arena_printf(p->a, "along(%s, %d, %" PRId64, s, d, i->c);
	for (int j = 0; j < i->n; j++)
		s = arena_printf(p->a, "%s, (%" PRId64 ", %" PRId64 ")", s,
				 p->k->vars[i->t[j].var].extent, i->t[j].coef);
	if (!is_inside(i, dim) && strcmp(fill, "0") && strcmp(fill, "0.0"))
		s = arena_printf(p->a, "%s, fill=%s", s, fill);
	return arena_printf(p->a, "%s)", s);
}

/* s with brackets.  Brackets at the end that take everything are left out. */
static const char *print_brackets(arena *a, const char *s,
				  const char *const *in, int n)
{
	while (n > 0 && !strcmp(in[n - 1], ":"))
		n--;
	for (int d = 0; d < n; d++)
		s = arena_printf(a, "%s%s%s", s, d ? ", " : "[", in[d]);
	return n ? arena_printf(a, "%s]", s) : s;
}

bool jax_read_direct(const jax_printer *p, const kexpr *read, const char **s,
		     jax_axes *have)
{
	const kinput *in = &p->k->inputs[read->input];
	lin at[MAX_NDIM];
	const char *brackets[MAX_NDIM];
	int left = 0;
	if (!compile(p, read, at))
		return false;
	*have = (jax_axes){ 0 };
	for (int d = 0; d < in->ndim; d++) {
		brackets[d] = bracket_of(p, &at[d], in->dims[d]);
		left += at[d].n > 0;
		for (int j = 0; j < at[d].n; j++)
			have->var[have->n++] = at[d].t[j].var;
	}
	*s = print_brackets(p->a, p->inputs[read->input], brackets, in->ndim);
	for (int d = in->ndim - 1; d >= 0; d--) {
		if (at[d].n == 0)
			continue;
		left--;
		if (!strcmp(brackets[d], ":") &&
		    !is_all(p, &at[d], in->dims[d]))
			*s = print_along(p, *s, left, &at[d], in->dims[d],
					 fill_of(p, read));
	}
	return true;
}

/* ---- other orders of dimensions ---------------------------------------- */

static int place_in(const jax_axes *x, int var)
{
	int i = 0;
	while (i < x->n && x->var[i] != var)
		i++;
	return i;
}

/* s, whose dimensions are `have', transposed to the order of the axes. */
static const char *transpose(const jax_printer *p, const jax_axes *x,
			     const char *s, jax_axes *have)
{
	jax_axes sorted = { 0 };
	const char *order = "";
	bool same = true;
	for (int i = 0; i < x->n; i++) {
		int from = place_in(have, x->var[i]);
		if (from == have->n)
			continue;
		same = same && from == sorted.n;
		order = arena_printf(p->a, "%s%s%d", order,
				     sorted.n ? ", " : "", from);
		sorted.var[sorted.n++] = x->var[i];
	}
	*have = sorted;
	return same ? s : arena_printf(p->a, "%s.transpose(%s)", s, order);
}

/* s, whose dimensions are in the order of the axes, with dimensions of size 1
 * inserted for missing axes after its first one. */
static const char *insert(const jax_printer *p, const jax_axes *x,
			  const char *s, const jax_axes *have)
{
	const char *in[2 * MAX_NVARS];
	int n = 0, added = 0;
	for (int i = 0; i < x->n; i++) {
		bool has = place_in(have, x->var[i]) < have->n;
		if (!has && n == 0)
			continue;
		in[n++] = has ? ":" : "None";
		added += !has;
	}
	return added ? print_brackets(p->a, s, in, n) : s;
}

/* ---- gathers ----------------------------------------------------------- */

/* The number of the axis that goes along dimension d; -1 if there is none. */
static int axis_along(const jax_printer *p, const jax_axes *x,
		      const kexpr *read, int d, uint32_t taken)
{
	const kexpr *e = read->args[d];
	const kinput *in = &p->k->inputs[read->input];
	if (e->kind != KX_VAR || taken >> e->var & 1 ||
	    p->k->vars[e->var].extent != in->dims[d])
		return -1;
	return place_in(x, e->var);
}

static const char *print_index(const jax_printer *p, const jax_axes *x,
			       const kexpr *e)
{
	jax_piece q = jax_print(p, x, e);
	return q.literal ? arena_printf(p->a, "jnp.int64(%s)", q.s) : q.s;
}

static const char *print_gather(const jax_printer *p, const jax_axes *x,
				const kexpr *read)
{
	const char *s = arena_printf(p->a, "gather(%s, %d, (",
				     p->inputs[read->input], x->n);
	int n = kx_ndim(read), arrays = 0;
	uint32_t taken = 0;
	for (int d = 0; d < n; d++) {
		int axis = axis_along(p, x, read, d, taken);
		/* gather() needs at least one array. */
		if (axis >= 0 && d == n - 1 && !arrays)
			axis = -1;
		arrays += axis < 0;
		if (axis >= 0)
			taken |= UINT32_C(1) << read->args[d]->var;
		s = arena_printf(p->a, axis < 0 ? "%s%s%s" : "%s%s%s", s,
				 d ? ", " : "",
				 axis < 0 ? print_index(p, x, read->args[d]) :
					    arena_printf(p->a, "%d", axis));
	}
	s = arena_printf(p->a, "%s%s)", s, n == 1 ? "," : "");
	if (read->guarded)
		s = arena_printf(p->a, "%s, fill=%s", s,
				 jax_print(p, x, read->args[n]).s);
	return arena_printf(p->a, "%s)", s);
}

jax_piece jax_read(const jax_printer *p, const jax_axes *x, const kexpr *read)
{
	jax_piece q = { .bind = BIND_ATOM, .vars = jax_vars(read) };
	jax_axes have;
	if (jax_read_direct(p, read, &q.s, &have)) {
		q.s = transpose(p, x, q.s, &have);
		q.s = insert(p, x, q.s, &have);
	} else {
		q.s = print_gather(p, x, read);
	}
	if (dtype_is_small_float(p->k->inputs[read->input].type))
		q.s = arena_printf(p->a, "%s.astype(jnp.float32)", q.s);
	return q;
}
