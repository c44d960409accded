/* Values, conditions, reductions. */
#include "config.h"

#include "tests/random/generator.h"

#include <string.h>

/* ---- classes ------------------------------------------------------------ */

value_class any_class(generator *g)
{
	if (g->tensors.n && percent(g, 75))
		return g->tensors.at[below(g, g->tensors.n)].c;
	return exact((dtype)below(g, DT_COUNT));
}

const char *class_name(const generator *g, value_class c)
{
	for (int i = 0; i < g->tensors.n; i++)
		if (c.kind != OF_EXACT && same_class(g->tensors.at[i].c, c))
			return g->tensors.at[i].name;
	return dtype_name(c.type);
}

const char *converted(generator *g, const char *text, value_class from,
		      value_class to)
{
	if (same_class(from, to))
		return text;
	return TEXT(g, "cast(%s, %s)", text, class_name(g, to));
}

const tensor *tensor_of(generator *g, value_class c)
{
	const tensor *fits[32];
	int n = 0;
	for (int i = 0; i < g->tensors.n && n < 32; i++) {
		const tensor *t = &g->tensors.at[i];
		if (same_class(t->c, c) && (!t->pack || g->nbound))
			fits[n++] = t;
	}
	return n ? fits[below(g, n)] : NULL;
}

/* ---- leaves ------------------------------------------------------------- */

const char *literal(generator *g, value_class c)
{
	static const char *const whole[] = { "0", "1", "2", "3", "5", "7" };
	static const char *const floats[] = { "0.5", "0.25", "1.5", "0.1",
					      "1e-3", "2.75" };
	if (c.type == DT_BOOL)
		return percent(g, 50) ? "true" : "false";
	const char *s = whole[below(g, 6)];
	if (g->numbers.n && percent(g, 10))
		return g->numbers.at[below(g, g->numbers.n)].name;
	if (g->sizes.n && percent(g, 10))
		return g->sizes.at[below(g, g->sizes.n)].name;
	if (dtype_is_float(c.type) && percent(g, 40))
		s = floats[below(g, 6)];
	if (percent(g, 4))
		s = "inf";
	bool sign = dtype_is_float(c.type) || dtype_is_signed(c.type);
	return sign && percent(g, 20) ? TEXT(g, "(-%s)", s) : s;
}

/* An i64 without a tensor. */
static const char *position(generator *g)
{
	if (g->nbound && percent(g, 30))
		return "ravel(..d)";
	if (g->vars.n > 1 && percent(g, 15)) {
		int x = below(g, g->vars.n), y = below(g, g->vars.n);
		return TEXT(g, "ravel(%s, %s)", g->vars.at[x].name,
			    g->vars.at[y].name);
	}
	if (!g->vars.n)
		return "cast(3, i64)";
	return percent(g, 40) ? g->vars.at[below(g, g->vars.n)].name
			      : TEXT(g, "cast(%s, i64)", affine(g).text);
}

static const char *leaf(generator *g, value_class c)
{
	const tensor *t = tensor_of(g, c);
	const char *s = t && percent(g, 85) ? read_of(g, t) : NULL;
	if (s)
		return s;
	if (same_class(c, exact(DT_I64)))
		return position(g);
	if (c.type == DT_BOOL)
		return condition(g);
	/* Converted from something that is there, or a constant. */
	t = g->tensors.n ? &g->tensors.at[below(g, g->tensors.n)] : NULL;
	if (t && !same_class(t->c, c) && percent(g, 70)) {
		s = read_of(g, t);
		if (s)
			return converted(g, s, t->c, c);
	}
	return TEXT(g, "cast(%s, %s)", percent(g, 50) ? position(g)
						     : literal(g, c),
		    class_name(g, c));
}

/* ---- conditions --------------------------------------------------------- */

/* Made of constants alone, which elements choose between or which are reduced:
 * it has the type of what is around it. */
static const char *open_value(generator *g, value_class c)
{
	static const char *const reducers[] = { "Sum", "Max", "Min", "Prod" };
	static const char *const ops[] = { "+", "-", "*" };
	const char *x = literal(g, c), *y, *vars, *must;
	if (g->room-- <= 0 || c.type == DT_BOOL)
		return x;
	if (percent(g, 25)) {
		y = open_value(g, c);
		return TEXT(g, "(%s %s %s)", x, ops[below(g, 3)], y);
	}
	if (percent(g, 50)) {
		y = percent(g, 60) ? literal(g, c) : open_value(g, c);
		return TEXT(g, "(if %s then %s else %s)", condition(g), x, y);
	}
	int first = g->vars.n;
	vars = open_vars(g, 1, &must, NULL);
	y = percent(g, 70) ? x : open_value(g, c);
	g->vars.n = first;
	return TEXT(g, "%s(lambda %s: %s)", reducers[below(g, 4)], vars, y);
}

static const char *comparison(generator *g)
{
	static const char *const ops[] = { "<", "<=", ">", ">=", "==", "!=" };
	value_class c = g->vars.n && percent(g, 40) ? exact(DT_I64)
						    : any_class(g);
	int op = below(g, 6);
	if (c.type == DT_BOOL)
		op = 4 + below(g, 2);
	const char *x = percent(g, 10) ? open_value(g, c) : value(g, c);
	return TEXT(g, "(%s %s %s)", x, ops[op], operand(g, c));
}

const char *condition(generator *g)
{
	const tensor *t;
	const char *x, *y;
	if (g->room-- < 0)
		return g->vars.n ? TEXT(g, "(%s < 1)", g->vars.at[0].name)
				 : "true";
	switch (below(g, 12)) {
	case 0:
		x = condition(g), y = condition(g);
		return TEXT(g, "(%s and %s)", x, y);
	case 1:
		x = condition(g), y = condition(g);
		return TEXT(g, "(%s or %s)", x, y);
	case 2:
		return TEXT(g, "(not %s)", condition(g));
	case 3: {
		dtype t4[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };
		value_class c = dtype_is_float(g->shared.type)
					? g->shared
					: exact(t4[below(g, 4)]);
		x = percent(g, 50) ? "isnan" : "isinf";
		return TEXT(g, "%s(%s)", x, value(g, c));
	}
	case 4:
		t = tensor_of(g, exact(DT_BOOL));
		return t ? leaf(g, exact(DT_BOOL)) : comparison(g);
	case 5:
		return TEXT(g, "cast(%s, bool)", value(g, any_class(g)));
	case 6: {
		const char *s = reduction(g, exact(DT_BOOL));
		return s ? s : comparison(g);
	}
	case 7:
		if (g->flags && percent(g, 50))
			return percent(g, 50) ? "flag" : "(mode == \"b\")";
		/* fall through */
	default:
		return comparison(g);
	}
}

/* ---- reductions --------------------------------------------------------- */

static const char *new_var(generator *g)
{
	return TEXT(g, "v%d", g->nvars++);
}

/* A dimension along which a variable can run by being its index. */
static const tensor *with_dims(generator *g, int *dim)
{
	for (int i = 0; i < 4; i++) {
		const tensor *t = &g->tensors.at[below(g, g->tensors.n)];
		if (t->pack || t->ndim == 0)
			continue;
		*dim = below(g, t->ndim);
		return t;
	}
	return NULL;
}

/* The expression of an extent, whose value may be below 0: none, then. */
static known computed_extent(generator *g)
{
	if (g->numbers.n && percent(g, 50)) {
		known k = g->numbers.at[below(g, g->numbers.n)];
		return (known){ k.name, k.n > 0 ? k.n : 0 };
	}
	known size = g->sizes.at[below(g, g->sizes.n)];
	int64_t less = rng_in(&g->r, 1, 3);
	int64_t n = size.n > less ? size.n - less : 0;
	return (known){ TEXT(g, "(%s - %d)", size.name, (int)less), n };
}

/* A written extent. */
static known extent(generator *g)
{
	if (g->sizes.n && percent(g, 10))
		return computed_extent(g);
	if (g->sizes.n && percent(g, 40))
		return g->sizes.at[below(g, g->sizes.n)];
	int64_t n = percent(g, 8) ? 0 : rng_in(&g->r, 1, 3);
	return (known){ TEXT(g, "%d", (int)n), n };
}

const char *open_vars(generator *g, int n, const char **must, value_class *of)
{
	const char *s = "";
	bool written = !of;
	*must = NULL;
	for (int i = 0; i < n; i++) {
		int dim = 0;
		const char *name = new_var(g);
		const tensor *t = !*must && !written && g->tensors.n &&
						  percent(g, 60)
					  ? with_dims(g, &dim) : NULL;
		known e = t ? t->dims[dim] : extent(g);
		vec_push(g->arena, &g->vars,
			 ((variable){ name, e.name, e.n, !t }));
		if (t)
			*must = read_along(g, t, dim, g->vars.n - 1);
		if (t && *must) {
			*of = t->c;
		} else if (t) {
			t = NULL;
			g->vars.at[g->vars.n - 1].settled = true;
		}
		s = t ? TEXT(g, "%s%s%s", s, i ? ", " : "", name)
		      : TEXT(g, "%s%s%s < %s", s, i ? ", " : "", name, e.name);
	}
	return s;
}

/* A value made of one that has to be read and another. */
static const char *joined(generator *g, const char *must, value_class of,
			  value_class c)
{
	static const char *const ops[] = { "*", "+", "-" };
	if (c.type == DT_BOOL && of.type != DT_BOOL)
		must = TEXT(g, "(%s > %s)", must, literal(g, of));
	else
		must = converted(g, must, of, c);
	if (g->room <= 0 || percent(g, 35))
		return must;
	const char *op = c.type != DT_BOOL ? ops[below(g, 3)]
			 : percent(g, 50)  ? "and"
					   : "or";
	return TEXT(g, "(%s %s %s)", must, op, operand(g, c));
}

/* Sum(lambda ..(d & axes): ..) inside of what binds the others, and so all. */
static const char *body_of(generator *g, value_class c, const char *must,
			   value_class of)
{
	return must ? joined(g, must, of, c) : value(g, c);
}

/* The positions where a condition holds, of which there may be none. */
static const char *positions(generator *g, value_class c)
{
	const char *at = affine(g).text;
	return TEXT(g, "(if %s then cast(%s, i64) else %s)", condition(g), at,
		    literal(g, c));
}

const char *reduction(generator *g, value_class c)
{
	static const char *const reducers[] = { "Sum", "Max", "Min", "Prod",
						"Mean" };
	const char *name = reducers[below(g, dtype_is_float(c.type) ? 5 : 4)];
	bool logic = c.type == DT_BOOL;
	if (g->reductions >= 3 || g->room < 0)
		return NULL;
	if (logic)
		name = percent(g, 50) ? "And" : "Or";
	int first = g->vars.n, n = percent(g, 80) ? 1 : 2;
	bool where = same_class(c, exact(DT_I64)) && percent(g, 40);
	if (where) {
		name = percent(g, 50) ? "ArgMax" : "ArgMin";
		c = any_class(g);
		n = 1;
		if (c.type == DT_BOOL)
			c = exact(DT_F32);
	}
	const char *must, *body = NULL;
	value_class of = c;
	/* One reduction right in another. */
	bool nested = !where && percent(g, 25);
	g->reductions++;
	const char *vars = open_vars(g, n, &must, nested ? NULL : &of);
	if (nested)
		body = reduction(g, c);
	if (!body && !where && !must && same_class(c, exact(DT_I64)) &&
	    percent(g, 25))
		body = positions(g, c);
	if (!body)
		body = where && !must && percent(g, 15)
			       ? open_value(g, c)
			       : body_of(g, c, must, of);
	g->vars.n = first;
	g->reductions--;
	return TEXT(g, "%s(lambda %s: %s)", name, vars, body);
}

/* ---- values ------------------------------------------------------------- */

static const char *float_value(generator *g, value_class c)
{
	static const char *const fns[] = {
		"exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos",
		"tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
		"acosh", "atanh", "erf", "sigmoid", "softplus", "floor", "ceil",
		"round", "abs", "sign", "log2", "sinpi",
	};
	const int n = sizeof(fns) / sizeof(*fns);
	const char *x = value(g, c);
	switch (below(g, 11)) {
	case 0:
		return TEXT(g, "(%s / %s)", x, operand(g, c));
	case 1:
		return TEXT(g, "(%s %% %s)", x, operand(g, c));
	case 2:
		return TEXT(g, "fmod(%s, %s)", x, operand(g, c));
	case 3:
		return TEXT(g, "pow(%s, %s)", x, operand(g, c));
	case 4:
		return TEXT(g, "hypot(%s, %s)", x, operand(g, c));
	default:
		return TEXT(g, "%s(%s)", fns[below(g, n)], x);
	}
}

static const char *int_value(generator *g, value_class c)
{
	static const char *const fns[] = { "bit_and", "bit_or", "bit_xor",
					   "shift_left", "shift_right", "pow",
					   "fmod" };
	const char *x = value(g, c);
	const char *name = fns[below(g, 7)];
	int d = (int)rng_in(&g->r, 1, 4);
	switch (below(g, 9)) {
	case 0:
		return TEXT(g, "(%s / %d)", x, d);
	case 1:
		return TEXT(g, "(%s %% %d)", x, d);
	case 2:
		return TEXT(g, "(%s / %s)", x, value(g, c));
	case 3:
		return TEXT(g, "(%s %% %s)", x, value(g, c));
	case 4:
		return TEXT(g, "bit_not(%s)", x);
	case 5:
		if (same_class(c, exact(DT_I64)))
			return TEXT(g, "random(%s, %s)", x, value(g, c));
		return TEXT(g, "%s(%s)", percent(g, 50) ? "abs" : "sign", x);
	default:
		return TEXT(g, "%s(%s, %s)", name, x, operand(g, c));
	}
}

static dtype same_bits(generator *g, dtype t)
{
	for (int i = 0; i < 30; i++) {
		dtype u = (dtype)below(g, DT_COUNT);
		if (dtype_bits(u) == dtype_bits(t) && u != DT_BOOL)
			return u;
	}
	return t;
}

static const char *conversion(generator *g, value_class c)
{
	value_class from = any_class(g);
	const char *to = class_name(g, c);
	switch (below(g, 4)) {
	case 0:
		from = exact(same_bits(g, c.type));
		return TEXT(g, "bitcast(%s, %s)", value(g, from), to);
	case 1:
		if (from.type == DT_BOOL)
			from = exact(DT_I32);
		return TEXT(g, "cast(saturate(%s, %s), %s)", value(g, from), to,
			    to);
	case 2:
		from.type = (dtype)below(g, DT_BOOL);
		return TEXT(g, "saturate(%s, %s)", value(g, c),
			    dtype_name(from.type));
	default:
		return TEXT(g, "cast(%s, %s)", value(g, from), to);
	}
}

/* An expression that is evaluated for the first values of a variable alone may
 * read elements that are inside for these. */
static const char *for_first(generator *g, value_class c)
{
	int at = below(g, g->vars.n);
	const variable v = g->vars.at[at];
	if (!v.settled || v.n < 2)
		return NULL;
	int n = 1 + below(g, (int)v.n - 1);
	g->vars.at[at].n = n;
	g->vars.at[at].extent = "";
	const char *x = percent(g, 50) ? reduction(g, c) : NULL;
	if (!x)
		x = value(g, c);
	g->vars.at[at] = v;
	return percent(g, 50) ? TEXT(g, "(if %s < %d then %s else %s)", v.name,
				     n, x, operand(g, c))
			      : TEXT(g, "(if %s >= %d then %s else %s)",
				     v.name, n, operand(g, c), x);
}

/* A value of a let that only the flag allows to use. */
static const char *flagged(generator *g, value_class c)
{
	const tensor *t = &g->dubious.at[below(g, g->dubious.n)];
	const char *x = converted(g, read_of(g, t), t->c, c);
	const char *y = operand(g, c);
	return percent(g, 50) ? TEXT(g, "(if flag then %s else %s)", x, y)
			      : TEXT(g, "select(not flag, %s, %s)", y, x);
}

static const char *choice(generator *g, value_class c)
{
	if (g->dubious.n && percent(g, 40))
		return flagged(g, c);
	const char *s = g->vars.n && percent(g, 45) ? for_first(g, c) : NULL;
	if (s)
		return s;
	const char *test = condition(g);
	const char *x = value(g, c), *y = operand(g, c);
	if (percent(g, 20))
		return TEXT(g, "select(%s, %s, %s)", test, x, y);
	return percent(g, 50) ? TEXT(g, "(if %s then %s else %s)", test, x, y)
			      : TEXT(g, "(if %s then %s else %s)", test, y, x);
}

/* Times a position, which a gradient has to write of other variables. */
static const char *positioned(generator *g, const char *x, value_class c)
{
	int v = below(g, g->vars.n), w = below(g, g->vars.n);
	return TEXT(g, "(%s * cast(ravel(%s, %s), %s))", x,
		    g->vars.at[v].name, g->vars.at[w].name, class_name(g, c));
}

static const char *arithmetic(generator *g, value_class c)
{
	static const char *const ops[] = { "+", "-", "*" };
	const char *x = value(g, c);
	if (percent(g, 12))
		return TEXT(g, "(-%s)", x);
	if (g->vars.n > 1 && percent(g, 5))
		return positioned(g, x, c);
	const char *y = operand(g, c);
	if (percent(g, 15)) {
		/* Equal ones share a derivative. */
		y = percent(g, 15) ? x : y;
		return TEXT(g, "%s(%s, %s)", percent(g, 50) ? "min" : "max", x,
			    y);
	}
	if (percent(g, 5))
		return TEXT(g, "max(%s, %s, %s)", x, y, value(g, c));
	return percent(g, 80) ? TEXT(g, "(%s %s %s)", x, ops[below(g, 3)], y)
			      : TEXT(g, "(%s %s %s)", y, ops[below(g, 3)], x);
}

const char *value(generator *g, value_class c)
{
	const char *s = NULL;
	if (g->room-- <= 0 || percent(g, 15))
		return leaf(g, c);
	if (c.type == DT_BOOL)
		return condition(g);
	int k = below(g, 100);
	if (k < 30)
		return arithmetic(g, c);
	if (k < 45)
		return dtype_is_float(c.type) ? float_value(g, c)
					      : int_value(g, c);
	if (k < 60)
		s = reduction(g, c);
	else if (k < 70)
		return choice(g, c);
	else if (k < 78)
		return conversion(g, c);
	return s ? s : leaf(g, c);
}

const char *operand(generator *g, value_class c)
{
	if (c.type == DT_BOOL)
		return condition(g);
	if (percent(g, 30))
		return literal(g, c);
	return percent(g, 8) ? open_value(g, c) : value(g, c);
}
