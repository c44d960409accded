/* Indices and reads. */
#include "config.h"

#include "tests/random/generator.h"

#include <string.h>

#include "base/checked.h"

/* ---- indices ------------------------------------------------------------ */

static index_text plus(generator *g, index_text x, index_text y)
{
	return (index_text){ TEXT(g, "%s + %s", x.text, y.text), x.lo + y.lo,
			     x.hi + y.hi };
}

static index_text constant(generator *g)
{
	if (g->numbers.n && percent(g, 25)) {
		const known *k = &g->numbers.at[below(g, g->numbers.n)];
		return (index_text){ k->name, k->n, k->n };
	}
	int64_t n = rng_in(&g->r, -2, 3);
	return (index_text){ n < 0 ? TEXT(g, "(%d)", (int)n)
				   : TEXT(g, "%d", (int)n), n, n };
}

static index_text scaled_var(generator *g)
{
	const variable *v = &g->vars.at[below(g, g->vars.n)];
	int64_t last = v->n > 0 ? v->n - 1 : 0;
	int by = percent(g, 60) ? 1 : (int)rng_in(&g->r, -2, 3);
	if (by == 1)
		return (index_text){ v->name, 0, last };
	return (index_text){ TEXT(g, by < 0 ? "(%d)*%s" : "%d*%s", by,
				  v->name),
			     by < 0 ? by * last : 0, by < 0 ? 0 : by * last };
}

index_text affine(generator *g)
{
	index_text x = g->vars.n ? scaled_var(g) : constant(g);
	if (g->vars.n && percent(g, 35))
		x = plus(g, x, scaled_var(g));
	if (percent(g, 35))
		x = plus(g, x, constant(g));
	return x;
}

/* By a size: of a multiple of it and a rest, which may be beyond it. */
static index_text of_multiple(generator *g)
{
	known by = g->sizes.at[below(g, g->sizes.n)];
	index_text x = scaled_var(g), y = affine(g);
	if (by.n < 1)
		return x;
	const char *sum = TEXT(g, "%s*(%s) + %s", by.name, x.text, y.text);
	if (percent(g, 25))
		return (index_text){ TEXT(g, "(%s) %% %s", sum, by.name), 0,
				     by.n - 1 };
	return (index_text){ TEXT(g, "(%s) / %s", sum, by.name),
			     x.lo + floor_div(y.lo, by.n),
			     x.hi + floor_div(y.hi, by.n) };
}

/* Quotients and remainders of sums, and sums of these, which may make one
 * another up again. */
static index_text composed(generator *g, int depth)
{
	index_text x = depth > 0 && percent(g, 60) ? composed(g, depth - 1)
						   : affine(g);
	int d = (int)rng_in(&g->r, 2, 6);
	index_text below_d = { NULL, 0, d - 1 };
	switch (below(g, 6)) {
	case 0:
	case 1:
		return (index_text){ TEXT(g, "(%s) / %d", x.text, d),
				     floor_div(x.lo, d), floor_div(x.hi, d) };
	case 2:
		below_d.text = TEXT(g, "(%s) %% %d", x.text, d);
		return below_d;
	case 3:
		below_d.text = TEXT(g, "%s - %d*((%s) / %d)", x.text, d,
				    x.text, d);
		return below_d;
	case 4:
		return (index_text){ TEXT(g, "%d*((%s) / %d) + (%s) %% %d", d,
					  x.text, d, x.text, d), x.lo, x.hi };
	default:
		return x;
	}
}

/* Something that is looked up. */
static const char *looked_up(generator *g)
{
	static const dtype types[] = { DT_I64, DT_I64, DT_I32, DT_U8, DT_I8 };
	value_class c = exact(types[below(g, 5)]);
	for (int i = 0; i < g->tensors.n && percent(g, 70); i++)
		if (g->tensors.at[i].c.kind != OF_SHARED &&
		    dtype_is_int(g->tensors.at[i].c.type))
			c = g->tensors.at[i].c;
	return value(g, c);
}

/* Whether what is written here is evaluated at no point. */
static bool is_nowhere(const generator *g)
{
	for (int i = 0; i < g->vars.n; i++)
		if (g->vars.at[i].n == 0)
			return true;
	return false;
}

/* By a size, which may be 0 where nothing is evaluated. */
static index_text divided(generator *g, index_text x)
{
	if (g->sizes.n == 0)
		return x;
	const known *by = &g->sizes.at[below(g, g->sizes.n)];
	if (by->n < 1 && !is_nowhere(g))
		return x;
	return (index_text){ percent(g, 50) ?
			     TEXT(g, "(%s) / %s", x.text, by->name) :
			     TEXT(g, "(%s) %% %s", x.text, by->name), -99, 99 };
}

/* An index that is anything. */
static index_text free_index(generator *g)
{
	index_text x = affine(g), y;
	switch (below(g, 9)) {
	case 8:
		return divided(g, x);
	case 0:
	case 1:
		return composed(g, 2);
	case 2:
		return (index_text){ TEXT(g, "abs(%s)", x.text), 0, 99 };
	case 3:
		return (index_text){ looked_up(g), -99, 99 };
	case 4:
		y = affine(g);
		return (index_text){ TEXT(g, "(if %s then %s else %s)",
					  condition(g), x.text, y.text),
				     -99, 99 };
	default:
		return x;
	}
}

static const char *bare_var(generator *g, known dim)
{
	int fits[64], n = 0;
	for (int i = 0; i < g->vars.n && n < 64; i++) {
		const variable *v = &g->vars.at[i];
		if (!strcmp(v->extent, dim.name) ||
		    (v->settled && v->n <= dim.n))
			fits[n++] = i;
	}
	return n ? g->vars.at[fits[below(g, n)]].name : NULL;
}

/* An index that is inside of n elements; NULL where there is none. */
static const char *inside(generator *g, known dim)
{
	const char *var = percent(g, 65) ? bare_var(g, dim) : NULL;
	if (var)
		return var;
	if (dim.n < 1 && is_nowhere(g) && percent(g, 80))
		return TEXT(g, "(%s) %% (%s)", affine(g).text, dim.name);
	if (dim.n < 1)
		return bare_var(g, dim);
	for (int i = 0; i < 6; i++) {
		bool of_size = i > 0 && g->vars.n && g->sizes.n &&
			       percent(g, 15);
		index_text x = of_size ? of_multiple(g)
			       : i < 3 ? affine(g) : composed(g, 2);
		if (x.lo >= 0 && x.hi < dim.n)
			return x.text;
	}
	index_text x = free_index(g);
	switch (below(g, 5)) {
	case 0:
	case 1:
		return TEXT(g, "(%s) %% (%s)", x.text, dim.name);
	case 2:
		return TEXT(g, "min(max(%s, 0), %s - 1)", affine(g).text,
			    dim.name);
	case 3:
		x = affine(g);
		if (x.lo >= 0 && x.hi / 2 < dim.n)
			return TEXT(g, "(%s) / 2", x.text);
		/* fall through */
	default:
		return TEXT(g, "%d", below(g, (int)dim.n));
	}
}

/* ---- reads -------------------------------------------------------------- */

static const char *pack_read(generator *g, const tensor *t)
{
	if (g->nbound == 0)
		return NULL;
	if (!t->repeated && percent(g, 15))
		return TEXT(g, "%s[..unravel(ravel(..d))]", t->name);
	return TEXT(g, "%s[..d]", t->name);
}

static const char *with_indices(generator *g, const tensor *t,
				const char *const *index)
{
	const char *s = TEXT(g, "%s[", t->name);
	for (int d = 0; d < t->ndim; d++)
		s = TEXT(g, "%s%s%s", s, d ? ", " : "", index[d]);
	return TEXT(g, "%s]", s);
}

/* if i < N then x[i] else .. */
static const char *under_condition(generator *g, const tensor *t)
{
	const char *index[MAX_DIMS];
	const char *test = NULL;
	for (int d = 0; d < t->ndim; d++) {
		index[d] = !test && g->vars.n ? NULL : inside(g, t->dims[d]);
		if (index[d])
			continue;
		if (test)
			return NULL;
		index_text x = affine(g);
		index[d] = x.text;
		test = x.lo < 0 ? TEXT(g, "%s >= 0 and %s < %s", x.text, x.text,
				       t->dims[d].name)
				: TEXT(g, "%s < %s", x.text, t->dims[d].name);
	}
	if (!test)
		return NULL;
	return TEXT(g, "(if %s then %s else %s)", test,
		    with_indices(g, t, index), operand(g, t->c));
}

static const char *guarded(generator *g, const tensor *t)
{
	const char *index[MAX_DIMS];
	for (int d = 0; d < t->ndim; d++)
		index[d] = free_index(g).text;
	return TEXT(g, "(%s else %s)", with_indices(g, t, index),
		    literal(g, t->c));
}

const char *read_of(generator *g, const tensor *t)
{
	const char *index[MAX_DIMS];
	if (t->pack)
		return pack_read(g, t);
	if (t->ndim == 0)
		return TEXT(g, "%s[]", t->name);
	if (percent(g, 15))
		return guarded(g, t);
	if (percent(g, 10)) {
		const char *s = under_condition(g, t);
		if (s)
			return s;
	}
	for (int d = 0; d < t->ndim; d++) {
		index[d] = inside(g, t->dims[d]);
		if (!index[d])
			return guarded(g, t);
	}
	return with_indices(g, t, index);
}

const char *read_along(generator *g, const tensor *t, int d, int v)
{
	const char *index[MAX_DIMS];
	for (int i = 0; i < t->ndim; i++) {
		index[i] = i == d ? g->vars.at[v].name
				  : inside(g, t->dims[i]);
		if (!index[i])
			return NULL;
	}
	return with_indices(g, t, index);
}
