/* Signatures, lets and results of random operators. */
#include "config.h"

#include "tests/random/generate.h"

#include <string.h>

#include "base/checked.h"
#include "tests/random/generator.h"


/* Operators that others call. */
static const char prelude[] =
	"op sum_last(x[..b, N]) -> y[..b] =\n"
	"    lambda ..b: Sum(lambda i: x[..b, i])\n"
	"op soft(x[..d]; axis: axis = -1) -> y[..d] =\n"
	"    let m = lambda ..(d \\ axis): Max(lambda ..(d & axis): x[..d])\n"
	"    lambda ..d: x[..d] - m[..(d \\ axis)]\n"
	"op both(broadcast a[..d], broadcast b[..d]) -> y[..d] =\n"
	"    lambda ..d: a[..d] * b[..d] - a[..d]\n"
	"op turned(x[M, N]; by: int = 1) -> (y[N, M], at[N]: i64) =\n"
	"    lambda j, i: x[i, j] * by\n"
	"    lambda j: ArgMax(lambda i: x[i, j])\n";

/* ---- types -------------------------------------------------------------- */

static dtype some_type(generator *g)
{
	if (percent(g, 40))
		return DT_F32;
	dtype t = (dtype)below(g, DT_COUNT);
	return t == DT_BOOL ? DT_I64 : t;
}

static value_class param_class(generator *g, bool first)
{
	if (first || percent(g, 45))
		return g->shared;
	if (percent(g, 15))
		return exact(DT_BOOL);
	if (percent(g, 20))
		return percent(g, 60) ? g->some_int : g->some_float;
	return exact(percent(g, 40) ? DT_I64 : some_type(g));
}

static const char *type_text(generator *g, value_class c)
{
	static const char *const classes[] = {
		[OF_SHARED] = "", [OF_INT] = ": int", [OF_FLOAT] = ": float",
	};
	return c.kind == OF_EXACT ? TEXT(g, ": %s", dtype_name(c.type))
				  : classes[c.kind];
}

/* ---- parameters --------------------------------------------------------- */

static int64_t some_extent(generator *g)
{
	if (percent(g, 6))
		return 0;
	return percent(g, 15) ? 1 : rng_in(&g->r, 2, 5);
}

/* A size that has a name, or a number. */
static known some_dim(generator *g)
{
	static const char *const names[] = { "N", "M", "K" };
	if (percent(g, 25)) {
		int64_t n = some_extent(g);
		return (known){ TEXT(g, "%d", (int)n), n };
	}
	const char *name = names[below(g, 3)];
	for (int i = 0; i < g->sizes.n; i++)
		if (!strcmp(g->sizes.at[i].name, name))
			return g->sizes.at[i];
	known made = { name, some_extent(g) };
	vec_push(g->arena, &g->sizes, made);
	return made;
}

static tensor plain_param(generator *g, int i, value_class c)
{
	tensor t = { .name = TEXT(g, "x%d", i), .c = c,
		     .ndim = below(g, 10) < 2 ? below(g, 4)
					      : 1 + below(g, 2) };
	for (int d = 0; d < t.ndim; d++)
		t.dims[d] = some_dim(g);
	return t;
}

static void add_param(generator *g, random_operator *o, const tensor *t,
		      const char **text)
{
	random_param *p = &o->params[o->nparams++];
	const char *dims = t->pack ? "..d" : "";
	*p = (random_param){ .name = t->name, .type = t->c.type,
			     .ndim = t->ndim };
	for (int d = 0; d < t->ndim; d++) {
		p->dims[d] = t->dims[d].n;
		if (!t->pack)
			dims = TEXT(g, "%s%s%s", dims, d ? ", " : "",
				    t->dims[d].name);
	}
	*text = TEXT(g, "%s%s%s%s[%s]%s", *text, **text ? ", " : "",
		     t->repeated ? "broadcast " : "", t->name, dims,
		     type_text(g, t->c));
	vec_push(g->arena, &g->tensors, *t);
}

/* x[..d], and as often as not one that is broadcast to it. */
static void add_packs(generator *g, random_operator *o, const char **text)
{
	tensor t = { .name = "p", .c = g->shared, .pack = true,
		     .ndim = below(g, 4) };
	for (int d = 0; d < t.ndim; d++)
		t.dims[d].n = some_extent(g);
	g->has_pack = true;
	add_param(g, o, &t, text);
	if (percent(g, 50))
		return;
	tensor b = { .name = "b", .c = param_class(g, false), .pack = true,
		     .repeated = true };
	int missing = below(g, t.ndim + 1);
	b.ndim = t.ndim - missing;
	for (int d = 0; d < b.ndim; d++)
		b.dims[d].n = percent(g, 35) ? 1 : t.dims[d + missing].n;
	add_param(g, o, &b, text);
}

static const char *add_attrs(generator *g)
{
	const char *s = "";
	if (percent(g, 25)) {
		int64_t n = rng_in(&g->r, -1, 3);
		vec_push(g->arena, &g->numbers, ((known){ "k", n }));
		s = TEXT(g, "%s%sk: int = %d", s, *s ? ", " : "; ", (int)n);
	}
	if (percent(g, 15)) {
		int64_t n = rng_in(&g->r, 0, 3);
		vec_push(g->arena, &g->numbers, ((known){ "l[1]", n }));
		s = TEXT(g, "%s%sl: int[2] = [1, %d]", s, *s ? ", " : "; ",
			 (int)n);
	}
	if (percent(g, 15)) {
		const char *flag = percent(g, 50) ? "true" : "false";
		g->flags = "";
		s = TEXT(g, "%s%sflag: bool = %s, mode: string = \"%c\"", s,
			 *s ? ", " : "; ", flag, 'a' + below(g, 2));
	}
	if (g->has_pack) {
		int n = g->tensors.at[0].ndim;
		s = TEXT(g, "%s%saxes: axis[] = [", s, *s ? ", " : "; ");
		for (int d = 0, any = 0; d < n; d++)
			if (percent(g, 50))
				s = TEXT(g, "%s%s%d", s, any++ ? ", " : "",
					 percent(g, 30) ? d - n : d);
		s = TEXT(g, "%s]", s);
	}
	return s;
}

/* ---- lambdas ------------------------------------------------------------ */

/* A body under what binds all of the pack: lambda ..d, or a reduction over the
 * axes inside of a lambda over the others. */
static const char *pack_lambda(generator *g, value_class c, bool reduced)
{
	g->nbound++;
	const char *body = value(g, c);
	g->nbound--;
	if (!reduced)
		return TEXT(g, "lambda ..d: %s", body);
	const char *by = c.type == DT_BOOL		   ? "And"
			      : percent(g, 50)		   ? "Sum"
			      : percent(g, 50)		   ? "Max"
			      : dtype_is_float(c.type)	   ? "Mean"
							   : "Min";
	return TEXT(g, "lambda ..(d \\ axes): %s(lambda ..(d & axes): %s)",
		    by, body);
}

/* ---- lets --------------------------------------------------------------- */

static const char *let_constant(generator *g)
{
	if (!g->sizes.n)
		return "";
	int i = below(g, g->sizes.n + g->numbers.n);
	known k = i < g->sizes.n ? g->sizes.at[i]
				 : g->numbers.at[i - g->sizes.n];
	const char *name = TEXT(g, "c%d", g->nlets++);
	known half = { name, floor_div(k.n, 2) + 1 };
	vec_push(g->arena, &g->numbers, half);
	return TEXT(g, "    let %s = %s / 2 + 1\n", name, k.name);
}

static const char *let_lambda(generator *g)
{
	value_class c = any_class(g), of = c;
	const char *must, *name = TEXT(g, "t%d", g->nlets++);
	int first = g->vars.n, n = below(g, 3);
	tensor t = { .name = name, .c = c, .ndim = n };
	const char *vars = open_vars(g, n, &must, &of);
	for (int d = 0; d < n; d++)
		t.dims[d] = (known){ g->vars.at[first + d].extent,
				     g->vars.at[first + d].n };
	const char *body = must ? TEXT(g, "%s", converted(g, must, of, c))
				: value(g, c);
	if (must && c.type != DT_BOOL && percent(g, 60))
		body = TEXT(g, "%s + %s", body, operand(g, c));
	g->vars.n = first;
	vec_push(g->arena, &g->tensors, t);
	return TEXT(g, "    let %s = lambda %s: %s\n", name, vars, body);
}

static const char *let_pack(generator *g)
{
	value_class c = any_class(g);
	const char *name = TEXT(g, "t%d", g->nlets++);
	tensor t = { .name = name, .c = c, .pack = true };
	const char *lambda = pack_lambda(g, c, false);
	vec_push(g->arena, &g->tensors, t);
	return TEXT(g, "    let %s = %s\n", name, lambda);
}

static const char *let_call(generator *g)
{
	const char *name = TEXT(g, "t%d", g->nlets++);
	tensor x = g->tensors.at[below(g, g->tensors.n)];
	if (x.pack || x.c.type == DT_BOOL)
		return "";
	tensor t = x;
	t.name = name;
	if (x.ndim == 2 && percent(g, 40)) {
		tensor at = { .name = TEXT(g, "%si", name), .ndim = 1,
			      .c = exact(DT_I64) };
		t.dims[0] = x.dims[1];
		t.dims[1] = x.dims[0];
		at.dims[0] = x.dims[1];
		vec_push(g->arena, &g->tensors, t);
		vec_push(g->arena, &g->tensors, at);
		return TEXT(g, "    let %s, %s = turned(%s, by = 2)\n", name,
			    at.name, x.name);
	}
	if (x.ndim && percent(g, 40)) {
		t.ndim--;
		vec_push(g->arena, &g->tensors, t);
		return TEXT(g, "    let %s = sum_last(%s)\n", name, x.name);
	}
	vec_push(g->arena, &g->tensors, t);
	if (x.ndim && percent(g, 60))
		return TEXT(g, "    let %s = soft(%s, axis = %d)\n", name,
			    x.name, below(g, x.ndim));
	return TEXT(g, "    let %s = both(%s, soft(%s%s))\n", name, x.name,
		    x.name, x.ndim ? "" : ", axis = 0");
}

/* A let that reads outside, or divides by 0, or takes an axis that there is
 * not, unless it has no elements: what uses it asks for the flag before. */
static const char *let_dubious(generator *g)
{
	const tensor *x = &g->tensors.at[below(g, g->nparams)];
	const char *index = "", *name = TEXT(g, "t%d", g->nlets++);
	if (x->pack || x->ndim == 0)
		return "";
	tensor t = { .name = name, .c = x->c, .ndim = 1 };
	t.dims[0] = x->dims[0];
	for (int d = 1; d < x->ndim; d++)
		index = TEXT(g, "%s, 0", index);
	if (x->c.type != DT_BOOL && percent(g, 25)) {
		t.ndim = x->ndim;
		memcpy(t.dims, x->dims, sizeof(t.dims));
		vec_push(g->arena, &g->dubious, t);
		return TEXT(g, "    let %s = soft(%s, axis = %d)\n", name,
			    x->name, below(g, 2 * x->ndim));
	}
	vec_push(g->arena, &g->dubious, t);
	const char *factor = TEXT(g, "%d", below(g, 4));
	if (g->numbers.n && percent(g, 40))
		factor = g->numbers.at[below(g, g->numbers.n)].name;
	return TEXT(g, "    let %s = lambda v < %s: %s[v * %s%s]\n", name,
		    x->dims[0].name, x->name, factor, index);
}

static const char *let(generator *g)
{
	int k = below(g, 10);
	if (k < 2)
		return let_constant(g);
	if (k < 4)
		return let_call(g);
	return g->has_pack && k < 7 ? let_pack(g) : let_lambda(g);
}

/* ---- results ------------------------------------------------------------ */

static known result_dim(generator *g)
{
	known k = { "2", 2 };
	if (g->sizes.n)
		k = g->sizes.at[below(g, g->sizes.n)];
	switch (below(g, 8)) {
	case 0:
		return (known){ TEXT(g, "%s + 1", k.name), k.n + 1 };
	case 1:
		return (known){ TEXT(g, "2*%s", k.name), 2 * k.n };
	case 2:
		return (known){ TEXT(g, "(%s + 1) / 2", k.name),
				(k.n + 1) / 2 };
	case 3:
		return (known){ "3", 3 };
	default:
		return k;
	}
}

/* The name of result i: that of a let, which it does not hide, or a new one. */
static const char *result_name(generator *g, int i)
{
	int let = g->nparams + i;
	return let < g->tensors.n && percent(g, 20) ? g->tensors.at[let].name
						    : TEXT(g, "y%d", i);
}

/* Adds a result to the signature and returns its lambda. */
static const char *result(generator *g, int i, const char **signature)
{
	value_class c = percent(g, 55) ? g->shared : any_class(g);
	int first = g->vars.n, n = below(g, 3);
	const char *dims = "", *vars = "", *lambda;
	if (g->has_pack && percent(g, 60)) {
		bool reduced = percent(g, 50);
		dims = reduced ? "..(d \\ axes)" : "..d";
		lambda = pack_lambda(g, c, reduced);
	} else {
		for (int d = 0; d < n; d++) {
			known k = result_dim(g);
			const char *name = TEXT(g, "v%d", g->nvars++);
			vec_push(g->arena, &g->vars,
				 ((variable){ name, k.name, k.n, true }));
			dims = TEXT(g, "%s%s%s", dims, d ? ", " : "", k.name);
			vars = TEXT(g, "%s%s%s", vars, d ? ", " : "", name);
		}
		const char *body = percent(g, 35) ? reduction(g, c) : NULL;
		if (!body)
			body = percent(g, 10) ? operand(g, c) : value(g, c);
		lambda = TEXT(g, "lambda %s: %s", vars, body);
		g->vars.n = first;
	}
	*signature = TEXT(g, "%s%s%s[%s]%s", *signature,
			  **signature ? ", " : "", result_name(g, i), dims,
			  type_text(g, c));
	return lambda;
}

/* ---- operators ---------------------------------------------------------- */

random_operator random_operator_new(arena *a, uint64_t seed)
{
	generator g = { .arena = a, .r = { seed } };
	random_operator o = { .seed = seed };
	const char *params = "", *lets = "", *results = "", *bodies = "";
	rng_next(&g.r);
	g.shared = (value_class){ OF_SHARED, some_type(&g) };
	do
		g.some_int = (value_class){ OF_INT, some_type(&g) };
	while (!dtype_is_int(g.some_int.type));
	do
		g.some_float = (value_class){ OF_FLOAT, some_type(&g) };
	while (!dtype_is_float(g.some_float.type));
	if (percent(&g, 25))
		add_packs(&g, &o, &params);
	int n = 1 + below(&g, 3);
	for (int i = 0; i < n; i++) {
		tensor t = plain_param(&g, i, param_class(&g, o.nparams == 0));
		add_param(&g, &o, &t, &params);
	}
	g.nparams = g.tensors.n;
	const char *attrs = add_attrs(&g);
	for (int i = below(&g, 4); i > 1; i--) {
		g.room = 2 + below(&g, 8);
		lets = TEXT(&g, "%s%s", lets, let(&g));
	}
	if (g.flags && percent(&g, 60))
		lets = TEXT(&g, "%s%s", lets, let_dubious(&g));
	n = percent(&g, 85) ? 1 : 2;
	for (int i = 0; i < n; i++) {
		g.room = 2 + below(&g, 14);
		bodies = TEXT(&g, "%s    %s\n", bodies,
			      result(&g, i, &results));
	}
	o.text = TEXT(&g, "%s\nop f(%s%s) -> (%s) =\n%s%s", prelude, params,
		      attrs, results, lets, bodies);
	return o;
}
