/* Operators of one expression, of which much follows: functions that rise and
 * fall, products with factors that have a sign, choices, conversions. */
#include "config.h"

#include "tests/random/generate_facts.h"

#include <string.h>

#include "kernel/functions.h"
#include "tests/random/generator.h"

/* The classes of an operator: floats of one type, integers of one, bool. */
typedef enum value_kind { FLOATS, INTS, BOOLS } value_kind;

typedef struct maker {
	generator g;
	const char *type[2]; /* as casts spell it: a type, or a tensor of it */
	dtype exact[3];
	bool plain;
} maker;

static const char *expr(maker *m, value_kind k, int depth);

static const char *pick(maker *m, const char *const *all, int n)
{
	return all[below(&m->g, n)];
}

#define PICK(m, all) pick(m, all, (int)(sizeof(all) / sizeof(*(all))))

bool random_facts_are_plain(uint64_t seed)
{
	return seed % 4 == 0;
}

/* ---- leaves ------------------------------------------------------------- */

static const char *literal_of(maker *m, value_kind k)
{
	static const char *const whole[] = { "0", "1", "2", "3", "inf", "a",
					     "N", "2" };
	static const char *const parts[] = { "0.5", "2.0", "1.5" };
	static const char *const bools[] = { "true", "false" };
	if (k == BOOLS)
		return m->plain ? "(x[i] > y[i])" : PICK(m, bools);
	if (m->plain)
		return k == INTS	       ? "3"
		       : percent(&m->g, 50) ? PICK(m, parts)
					       : TEXT(&m->g, "(-%s)",
						      PICK(m, parts));
	const char *s = k == FLOATS && percent(&m->g, 40) ? PICK(m, parts)
							  : PICK(m, whole);
	bool sign = k == FLOATS || dtype_is_signed(m->exact[INTS]);
	return sign && percent(&m->g, 40) ? TEXT(&m->g, "(-%s)", s) : s;
}

static const char *index_of(maker *m)
{
	static const char *const all[] = { "0", "N - 1 - i", "(i + 1) % N",
					   "k[i] % N" };
	return percent(&m->g, 70) ? "i" : pick(m, all, m->plain ? 3 : 4);
}

static const char *read_leaf(maker *m, value_kind k)
{
	static const char *const names[][2] = {
		[FLOATS] = { "x", "y" }, [INTS] = { "k", "l" },
		[BOOLS] = { "on", "on" },
	};
	const char *name = PICK(m, names[k]);
	if (k != BOOLS && percent(&m->g, 12))
		return TEXT(&m->g, "(%s[i - 1] else %s)", name,
			    literal_of(m, k));
	return TEXT(&m->g, "%s[%s]", name, index_of(m));
}

static const char *total(maker *m, value_kind k)
{
	static const char *const all[] = { "Sum", "Max", "Min", "Mean" };
	static const char *const both[] = { "And", "Or" };
	const char *by = k == BOOLS ? PICK(m, both)
				    : pick(m, all, k == FLOATS ? 4 : 3);
	const char *name = k == BOOLS ? "on" : k == INTS ? "k" : "y";
	return TEXT(&m->g, "%s(lambda j: %s[j])", by, name);
}

static const char *counted(maker *m)
{
	static const char *const all[] = { "i", "i + 1", "2*i", "i - 1",
					   "i % 2", "N - i", "i / 2",
					   "min(i, 2)" };
	return PICK(m, all);
}

static const char *leaf_of(maker *m, value_kind k)
{
	int at = m->plain ? 2 : below(&m->g, 20);
	if (at == 0)
		return total(m, k);
	if (at == 1 && k != BOOLS)
		return TEXT(&m->g, "cast(%s, %s)", counted(m), m->type[k]);
	return at < 16 ? read_leaf(m, k)
		       : TEXT(&m->g, "cast(%s, %s)", literal_of(m, k),
			      k == BOOLS ? "bool" : m->type[k]);
}

/* ---- functions ---------------------------------------------------------- */

/* One that takes numbers of the kind and gives them. */
static fn some_fn(maker *m, value_kind k)
{
	for (;;) {
		fn f = (fn)below(&m->g, FN_COUNT);
		fn_rule r = fn_table[f].rule;
		bool one = k == FLOATS && r == FN_FLOAT;
		if (one || r == FN_NUMBER)
			return f;
	}
}

/* By 0 a quotient is infinite or NaN, of which nothing is said. */
static const char *applied(maker *m, fn f, const char *x, const char *y)
{
	if (fn_table[f].monotone == FN_DIVIDED && !strcmp(y, "0"))
		y = "2";
	const char *name = fn_name(f);
	bool word = name[0] >= 'a' && name[0] <= 'z';
	if (f == FN_NEG)
		return TEXT(&m->g, "(-%s)", x);
	if (fn_nargs(f) == 1)
		return TEXT(&m->g, "%s(%s)", name, x);
	return word ? TEXT(&m->g, "%s(%s, %s)", name, x, y)
		    : TEXT(&m->g, "(%s %s %s)", x, name, y);
}

static const char *operand_of(maker *m, value_kind k, int depth)
{
	return percent(&m->g, 25) ? literal_of(m, k) : expr(m, k, depth);
}

static const char *function(maker *m, value_kind k, int depth)
{
	static const fn often[] = { FN_ADD, FN_SUB, FN_MUL, FN_MUL, FN_DIV,
				    FN_NEG, FN_MIN, FN_MAX, FN_EXP, FN_TANH };
	int n = k == FLOATS ? 10 : 8;
	fn f = percent(&m->g, 60) ? often[below(&m->g, n)] : some_fn(m, k);
	const char *x = expr(m, k, depth), *y;
	bool same = percent(&m->g, 12) && !(m->plain && f != FN_MUL);
	y = same ? x : operand_of(m, k, depth);
	return percent(&m->g, 50) || fn_nargs(f) == 1 ? applied(m, f, x, y)
						       : applied(m, f, y, x);
}

/* A factor whose sign follows from what it is. */
static const char *factor_of(maker *m, int depth)
{
	const char *x = expr(m, FLOATS, depth), *k, *c;
	switch (below(&m->g, 8)) {
	case 0:
		return TEXT(&m->g, "(%s * %s)", x, x);
	case 1:
		return TEXT(&m->g, "max(-exp(%s), -1.5)", x);
	case 2:
		return TEXT(&m->g, "(abs(%s) + 0.5)", x);
	case 3:
		return TEXT(&m->g, "(-sigmoid(%s) - exp(%s))", x, x);
	case 4:
		k = expr(m, INTS, depth);
		return TEXT(&m->g, "cast(%s * %s, %s)", k, k, m->type[FLOATS]);
	case 5:
		c = expr(m, BOOLS, depth);
		return TEXT(&m->g, "cast(%s, %s)", c, m->type[FLOATS]);
	case 6:
		return TEXT(&m->g, "(exp(%s) - 2.0)", x);
	default:
		return TEXT(&m->g, "exp(%s)", x);
	}
}

static const char *scaled(maker *m, int depth)
{
	const char *x = expr(m, FLOATS, depth);
	const char *by = factor_of(m, depth > 0 ? depth - 1 : 0);
	by = percent(&m->g, 30) ? TEXT(&m->g, "(-%s)", by) : by;
	return percent(&m->g, 50)   ? TEXT(&m->g, "(%s * %s)", x, by)
	       : percent(&m->g, 50) ? TEXT(&m->g, "(%s * %s)", by, x)
				    : TEXT(&m->g, "(%s / %s)", x, by);
}

static const char *chosen(maker *m, value_kind k, int depth)
{
	const char *c = expr(m, BOOLS, depth);
	const char *x = expr(m, k, depth), *y = operand_of(m, k, depth);
	if (k == FLOATS && percent(&m->g, 15))
		y = percent(&m->g, 50) ? "inf" : "(-inf)";
	if (m->plain && !strcmp(x, y))
		return x;
	return percent(&m->g, 50)
		       ? TEXT(&m->g, "(if %s then %s else %s)", c, x, y)
		       : TEXT(&m->g, "(if %s then %s else %s)", c, y, x);
}

/* Whether a conversion by way of a type is none to it, or none from it. */
static bool is_own_type(const maker *m, const char *over, value_kind from,
			value_kind to)
{
	return !strcmp(over, dtype_name(m->exact[from])) ||
	       !strcmp(over, dtype_name(m->exact[to]));
}

/* Of another kind, or there and back.  A plain one is not of the type that it
 * has. */
static const char *cast_of(maker *m, value_kind k, int depth)
{
	static const char *const overs[] = { "f64", "f32", "f8e5m2", "i64",
					     "i8", "u8", "f6e2m3" };
	value_kind from = (value_kind)below(&m->g, 3);
	const char *to = k == BOOLS ? "bool" : m->type[k];
	const char *x = expr(m, from, depth), *over = PICK(m, overs);
	bool same = m->plain && from == k;
	if (from != BOOLS && percent(&m->g, 30) &&
	    !(m->plain && is_own_type(m, over, from, k))) {
		x = TEXT(&m->g, "cast(%s, %s)", x, over);
		same = false;
	}
	return same ? x : TEXT(&m->g, "cast(%s, %s)", x, to);
}

static const char *test_of(maker *m, int depth)
{
	static const char *const ops[] = { "<", "<=", ">", ">=", "==", "!=" };
	value_kind k = percent(&m->g, 70) ? FLOATS : INTS;
	const char *x = expr(m, k, depth), *y = operand_of(m, k, depth);
	return TEXT(&m->g, "(%s %s %s)", x, PICK(m, ops), y);
}

/* A plain one is not negated twice. */
static const char *negated(maker *m, const char *x)
{
	static const char not[] = "(not ";
	size_t n = strlen(not);
	if (m->plain && !strncmp(x, not, n))
		return TEXT(&m->g, "%.*s", (int)(strlen(x) - n - 1), x + n);
	return TEXT(&m->g, "(not %s)", x);
}

static const char *logic(maker *m, int depth)
{
	const char *x = expr(m, BOOLS, depth), *y;
	if (percent(&m->g, 40))
		return negated(m, x);
	y = expr(m, BOOLS, depth);
	return TEXT(&m->g, "(%s %s %s)", x, percent(&m->g, 50) ? "and" : "or",
		    y);
}

static const char *expr(maker *m, value_kind k, int depth)
{
	int at = below(&m->g, 20);
	if (depth == 0 || at == 0)
		return leaf_of(m, k);
	if (at < 3)
		return cast_of(m, k, depth - 1);
	if (at < 6)
		return chosen(m, k, depth - 1);
	if (k == FLOATS && at < 10)
		return scaled(m, depth - 1);
	if (k != BOOLS)
		return function(m, k, depth - 1);
	return at < 14 ? test_of(m, depth - 1) : logic(m, depth - 1);
}

/* ---- operators ---------------------------------------------------------- */

/* The body, or a reduction of it. */
static const char *lambda_of(maker *m, value_kind k, const char **dims)
{
	static const char *const all[] = { "Sum", "Max", "Min", "Mean" };
	static const char *const both[] = { "And", "Or" };
	const char *body = expr(m, k, 1 + below(&m->g, 4));
	*dims = "N";
	if (percent(&m->g, 75))
		return TEXT(&m->g, "lambda i: %s", body);
	*dims = "";
	return TEXT(&m->g, "lambda: %s(lambda i < N: %s)",
		    k == BOOLS ? PICK(m, both)
			       : pick(m, all, k == FLOATS ? 4 : 3), body);
}

static void add_params(maker *m, random_operator *o, int64_t n)
{
	static const char *const names[] = { "x", "y", "k", "l", "on" };
	const dtype types[] = { m->exact[FLOATS], m->exact[FLOATS],
				m->exact[INTS], m->exact[INTS], DT_BOOL };
	for (int i = 0; i < 5; i++)
		o->params[o->nparams++] = (random_param){
			.name = names[i], .type = types[i], .ndim = 1,
			.dims = { n } };
}

random_operator random_facts_new(arena *a, uint64_t seed)
{
	static const dtype floats[] = { DT_F64, DT_F64, DT_F64, DT_F32,
					DT_F32, DT_F8E5M2, DT_F8E4M3FN };
	static const dtype ints[] = { DT_I64, DT_I32, DT_I8, DT_U8 };
	maker m = { .g = { .arena = a, .r = { seed } } };
	random_operator o = { .seed = seed };
	rng_next(&m.g.r);
	m.plain = random_facts_are_plain(seed);
	m.exact[FLOATS] = floats[below(&m.g, 7)];
	m.exact[INTS] = ints[below(&m.g, 4)];
	m.exact[BOOLS] = DT_BOOL;
	bool shared = m.exact[FLOATS] == DT_F32;
	m.type[FLOATS] = shared ? "x" : dtype_name(m.exact[FLOATS]);
	m.type[INTS] = dtype_name(m.exact[INTS]);
	const char *real = shared ? "" : TEXT(&m.g, ": %s", m.type[FLOATS]);
	const char *whole = TEXT(&m.g, ": %s", m.type[INTS]);
	value_kind k = percent(&m.g, 75) ? FLOATS : (value_kind)below(&m.g, 3);
	const char *dims, *body = lambda_of(&m, k, &dims);
	o.text = TEXT(&m.g, "op f(x[N]%s, y[N]%s, k[N]%s, l[N]%s, on[N]: bool;"
		      " a: int = 2) -> out[%s]%s =\n    %s\n", real, real,
		      whole, whole, dims,
		      k == FLOATS ? real : k == INTS ? whole : ": bool", body);
	add_params(&m, &o, m.plain		   ? 3
			       : percent(&m.g, 5) ? 0
						   : rng_in(&m.g.r, 1, 3));
	return o;
}
