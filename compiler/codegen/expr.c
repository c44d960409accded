#include "config.h"

#include "compiler/codegen/expr.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* How tightly C binds an expression's outermost operator. */
enum {
	BIND_SELECT,
	BIND_OR,
	BIND_AND,
	BIND_BIT_OR,
	BIND_BIT_XOR,
	BIND_BIT_AND,
	BIND_EQUAL,
	BIND_LESS,
	BIND_ADD,
	BIND_MUL,
	BIND_UNARY,
	BIND_ATOM,
};

typedef struct piece {
	const char *s;
	int bind;
} piece;

static piece print(printer *p, const kexpr *e);
static piece print_raw(printer *p, const kexpr *e);

static const char *wrap(printer *p, piece x, int bind)
{
	return x.bind >= bind ? x.s : arena_printf(p->a, "(%s)", x.s);
}

static const char *print_at(printer *p, const kexpr *e, int bind)
{
	return wrap(p, print(p, e), bind);
}

const char *print_expr(printer *p, const kexpr *e)
{
	return print(p, e).s;
}

const char *print_operand(printer *p, const kexpr *e)
{
	return print_at(p, e, BIND_ATOM);
}

/* ---- types ------------------------------------------------------------- */

static const struct {
	const char *value, *element, *suffix, *least, *largest;
} types[DT_COUNT] = {
	[DT_F64] = {"double", "double", "f64", "-INFINITY", "INFINITY"},
	[DT_F32] = {"float", "float", "f32", "-INFINITY", "INFINITY"},
	[DT_F16] = {"float", "uint16_t", "f32", "-INFINITY", "INFINITY"},
	[DT_BF16] = {"float", "uint16_t", "f32", "-INFINITY", "INFINITY"},
	[DT_I64] = {"int64_t", "int64_t", "i64", "INT64_MIN", "INT64_MAX"},
	[DT_I32] = {"int32_t", "int32_t", "i64", "INT32_MIN", "INT32_MAX"},
	[DT_I16] = {"int16_t", "int16_t", "i64", "INT16_MIN", "INT16_MAX"},
	[DT_I8] = {"int8_t", "int8_t", "i64", "INT8_MIN", "INT8_MAX"},
	[DT_U64] = {"uint64_t", "uint64_t", "u64", "0", "UINT64_MAX"},
	[DT_U32] = {"uint32_t", "uint32_t", "u64", "0", "UINT32_MAX"},
	[DT_U16] = {"uint16_t", "uint16_t", "u64", "0", "UINT16_MAX"},
	[DT_U8] = {"uint8_t", "uint8_t", "u64", "0", "UINT8_MAX"},
	[DT_BOOL] = {"bool", "uint8_t", "bool", "false", "true"},
	[DT_F8E4M3FN] = {"float", "uint8_t", "f32", "-448.0f", "448.0f"},
	[DT_F8E4M3FNUZ] = {"float", "uint8_t", "f32", "-240.0f", "240.0f"},
	[DT_F8E5M2] = {"float", "uint8_t", "f32", "-INFINITY", "INFINITY"},
	[DT_F8E5M2FNUZ] = {"float", "uint8_t", "f32", "-57344.0f", "57344.0f"},
	[DT_F8E8M0] = {"float", "uint8_t", "f32", "0x1p-127f", "0x1p127f"},
	[DT_F6E2M3] = {"float", "uint8_t", "f32", "-7.5f", "7.5f"},
	[DT_F6E3M2] = {"float", "uint8_t", "f32", "-28.0f", "28.0f"},
	[DT_F4E2M1] = {"float", "uint8_t", "f32", "-6.0f", "6.0f"},
	[DT_I4] = {"int8_t", "int8_t", "i64", "-8", "7"},
	[DT_U4] = {"uint8_t", "uint8_t", "u64", "0", "15"},
	[DT_I2] = {"int8_t", "int8_t", "i64", "-2", "1"},
	[DT_U2] = {"uint8_t", "uint8_t", "u64", "0", "3"},
};

const char *type_of_value(dtype t)
{
	return types[t].value;
}

const char *type_of_element(dtype t)
{
	return types[t].element;
}

const char *type_suffix(dtype t)
{
	return types[t].suffix;
}

const char *print_limit(printer *p, dtype t, bool largest)
{
	(void)p;
	return largest ? types[t].largest : types[t].least;
}

/* Whether C computes in a wider type, so that a result has to be cut. */
static bool is_narrow(dtype t)
{
	return dtype_is_int(t) && dtype_size(t) < 4;
}

/* Whether C has no type of as many bits. */
static bool is_part_of_byte(dtype t)
{
	return dtype_is_int(t) && dtype_bits(t) < 8;
}

/* ---- constants --------------------------------------------------------- */

static piece print_int(printer *p, int64_t i, dtype t)
{
	int bind = i < 0 ? BIND_UNARY : BIND_ATOM;
	if (t == DT_BOOL)
		return (piece){i ? "true" : "false", BIND_ATOM};
	if (t == DT_U64)
		return (piece){
			arena_printf(p->a, "%" PRIu64 "ULL", (uint64_t)i),
			BIND_ATOM};
	if (i == INT64_MIN)
		return (piece){"INT64_MIN", BIND_ATOM};
	if (t == DT_U32)
		return (piece){arena_printf(p->a, "%" PRId64 "U", i), bind};
	bool small = i > -(1 << 15) && i < 1 << 15;
	return (piece){arena_printf(p->a, "%" PRId64 "%s", i,
				    small || dtype_size(t) < 8 ? "" : "LL"),
		       bind};
}

static piece print_float(printer *p, double f, dtype t)
{
	bool wide = t == DT_F64;
	int bind = signbit(f) ? BIND_UNARY : BIND_ATOM;
	if (isnan(f))
		return (piece){"NAN", BIND_ATOM};
	if (isinf(f))
		return (piece){f < 0 ? "-INFINITY" : "INFINITY", bind};
	const char *s = arena_printf(p->a, wide ? "%.17g" : "%.9g",
				     wide ? f : (double)(float)f);
	if (isinf((float)f) && !wide)
		return (piece){f < 0 ? "-INFINITY" : "INFINITY", bind};
	return (piece){arena_printf(p->a, "%s%s%s", s,
				    strpbrk(s, ".e") ? "" : ".0",
				    wide ? "" : "f"),
		       bind};
}

/* ---- indices ----------------------------------------------------------- */

const char *print_linear(printer *p, const linear *x, int skip)
{
	const char *s = "";
	for (int l = 0; l < p->nest.n; l++) {
		int64_t coef = x->coef[l];
		if (!coef || l == skip)
			continue;
		const char *sign = coef < 0 ? (*s ? " - " : "-")
				   : *s	    ? " + "
					    : "";
		const char *times =
			coef == 1 || coef == -1
				? ""
				: arena_printf(p->a, "%" PRIu64 " * ",
					       coef < 0 ? 0 - (uint64_t)coef
							: (uint64_t)coef);
		s = arena_printf(p->a, "%s%s%s%s", s, sign, times,
				 p->nest.loops[l].name);
	}
	if (!*s)
		return print_int(p, x->c, DT_I64).s;
	if (!x->c)
		return s;
	return arena_printf(p->a, "%s %c %" PRIu64, s, x->c < 0 ? '-' : '+',
			    x->c < 0 ? 0 - (uint64_t)x->c : (uint64_t)x->c);
}

/* How an affine sum binds when printed. */
static int bind_linear(const printer *p, const linear *x)
{
	int nterms = x->c != 0, bind = x->c < 0 ? BIND_UNARY : BIND_ATOM;
	for (int l = 0; l < p->nest.n; l++) {
		if (!x->coef[l])
			continue;
		nterms++;
		bind = x->coef[l] == 1 ? BIND_ATOM : BIND_MUL;
	}
	return nterms > 1 ? BIND_ADD : bind;
}

static const char *find_named(const printer *p, const kexpr *e)
{
	for (int i = p->named.n - 1; i >= 0; i--)
		if (p->named.at[i].e == e)
			return p->named.at[i].name;
	return NULL;
}

static piece print_index(printer *p, const kexpr *e)
{
	const char *name = find_named(p, e);
	if (name)
		return (piece){name, BIND_ATOM};
	linear x = linear_of(&p->nest, e);
	if (x.affine)
		return (piece){print_linear(p, &x, -1), bind_linear(p, &x)};
	bool raw = p->raw;
	p->raw = false;
	piece s = print(p, e);
	p->raw = raw;
	return s;
}

bool is_data_index(const kexpr *read, int d)
{
	return kx_has_read(read->args[d]);
}

bool needs_check(const printer *p, const kexpr *read, int d)
{
	int64_t lo, hi, n = p->nest.k->inputs[read->input].dims[d];
	if (!read->guarded)
		return false;
	linear x = linear_of(&p->nest, read->args[d]);
	return !x.affine || !linear_range(&p->nest, &x, &lo, &hi) || lo < 0 ||
	       hi >= n;
}

bool is_affine_guard(const printer *p, const kexpr *e)
{
	if (e->kind != KX_READ || !e->guarded)
		return false;
	for (int d = 0; d < kx_ndim(e); d++)
		if (!linear_of(&p->nest, e->args[d]).affine)
			return false;
	return true;
}

const char *print_inside(printer *p, const kexpr *read, int skip)
{
	const char *s = NULL;
	for (int d = 0; d < kx_ndim(read); d++) {
		if (!needs_check(p, read, d))
			continue;
		if (skip >= 0 &&
		    loops_of(&p->nest, read->args[d]) & loop_bit(skip))
			continue;
		const char *one =
			arena_printf(p->a, "tdl_inside(%s, %" PRId64 ")",
				     print_index(p, read->args[d]).s,
				     p->nest.k->inputs[read->input].dims[d]);
		s = s ? arena_printf(p->a, "%s && %s", s, one) : one;
	}
	return s;
}

/* ---- reads ------------------------------------------------------------- */

const char *print_data_index(printer *p, const kexpr *read, int d)
{
	const char *at = print_index(p, read->args[d]).s;
	if (read->guarded)
		return at;
	return arena_printf(p->a, "tdl_index(args, %d, %d, %s, %" PRId64 ")",
			    read->input, d, at,
			    p->nest.k->inputs[read->input].dims[d]);
}

/* input[where the indices lead] as a value. */
static piece print_load(printer *p, const kexpr *read)
{
	const char *name = p->input[read->input];
	int n = kx_ndim(read);
	const char *at = n ? arena_printf(p->a, "%s_at", name) : "0";
	for (int d = 0; d < n; d++) {
		piece x = print_index(p, read->args[d]);
		if (!strcmp(x.s, "0"))
			continue;
		if (d == n - 1)
			at = arena_printf(p->a, "%s + %s", at,
					  wrap(p, x, BIND_ADD));
		else
			at = arena_printf(p->a, "%s + %s * %s_%d", at,
					  wrap(p, x, BIND_MUL), name, d);
	}
	const char *s = arena_printf(p->a, "%s[%s]", name, at);
	if (dtype_is_small_float(read->type) && !p->raw)
		return (piece){arena_printf(p->a, "tdl_from_%s(%s)",
					    dtype_name(read->type), s),
			       BIND_ATOM};
	if (read->type == DT_BOOL)
		return (piece){arena_printf(p->a, "%s != 0", s), BIND_EQUAL};
	return (piece){s, BIND_ATOM};
}

/* What stands for a guarded read outside. */
static piece print_otherwise(printer *p, const kexpr *read)
{
	const kexpr *e = read->args[read->nargs - 1];
	return p->raw ? print_raw(p, e) : print(p, e);
}

/* The variable that stands for dimension d of an input that is read at a
 * data-dependent index; -1 for none. */
static int derived_var(const kernel *k, const kexpr *read, int d)
{
	for (int i = 0; i < k->nderived && !read->guarded; i++)
		if (k->derived[i].input == read->input &&
		    k->derived[i].dim == d)
			return k->derived[i].var;
	return -1;
}

/* The condition under which an unguarded data-dependent index is read at. */
static const char *print_data_condition(printer *p, const kexpr *read, int d,
					const char *index)
{
	int v = derived_var(p->nest.k, read, d);
	if (v >= 0)
		return arena_printf(p->a,
				    "args->lo[%d] <= %s && %s < args->hi[%d]",
				    v, index, index, v);
	return arena_printf(p->a, "%s >= 0", index);
}

/* A read with data-dependent indices.  Those that have no name yet get one, in
 * a statement expression. */
static piece print_data_read(printer *p, const kexpr *read)
{
	int known = p->named.n;
	const char *lets = "";
	const char *when = NULL;
	for (int d = 0; d < kx_ndim(read); d++) {
		const char *name;
		if (!is_data_index(read, d))
			continue;
		name = find_named(p, read->args[d]);
		if (!name) {
			name = arena_printf(p->a, "index%d", p->nnames++);
			lets = arena_printf(p->a, "%sconst int64_t %s = %s; ",
					    lets, name,
					    print_data_index(p, read, d));
			vec_push(p->a, &p->named,
				 ((named){read->args[d], name}));
		}
		if (read->guarded)
			continue;
		const char *one = print_data_condition(p, read, d, name);
		when = when ? arena_printf(p->a, "%s && %s", when, one) : one;
	}
	if (read->guarded)
		when = print_inside(p, read, -1);
	const char *load = wrap(p, print_load(p, read), BIND_OR);
	const char *other =
		read->guarded
			? wrap(p, print_otherwise(p, read), BIND_OR)
			: "0";
	p->named.n = known;
	const char *s = arena_printf(p->a, "%s ? %s : %s", when ? when : "1",
				     load, other);
	if (!*lets)
		return (piece){s, BIND_SELECT};
	return (piece){arena_printf(p->a, "({ %s%s; })", lets, s), BIND_ATOM};
}

static piece print_read(printer *p, const kexpr *e)
{
	for (int d = 0; d < kx_ndim(e); d++)
		if (is_data_index(e, d))
			return print_data_read(p, e);
	if (!e->guarded)
		return print_load(p, e);
	if (is_affine_guard(p, e) && p->guard == GUARD_INSIDE)
		return print_load(p, e);
	const char *when = print_inside(p, e, -1);
	if (!when)
		return print_load(p, e);
	if (is_affine_guard(p, e) && p->guard == GUARD_OUTSIDE)
		return print_otherwise(p, e);
	return (piece){arena_printf(p->a, "%s ? %s : %s", when,
				    wrap(p, print_load(p, e), BIND_OR),
				    wrap(p, print_otherwise(p, e), BIND_OR)),
		       BIND_SELECT};
}

const char *print_result(printer *p)
{
	const kernel *k = p->nest.k;
	const char *at = k->nout ? arena_printf(p->a, "%s_at", p->out) : "0";
	for (int v = 0; v < k->nout; v++) {
		linear x = {.affine = true};
		int l = p->nest.first[v];
		if (l < 0)
			continue;
		if (p->nest.loops[l].part == LOOP_QUOTIENT) {
			x.coef[l] = p->nest.loops[l].divisor;
			x.coef[l + 1] = 1;
		} else {
			x.coef[l] = 1;
		}
		piece i = {print_linear(p, &x, -1), bind_linear(p, &x)};
		if (v == k->nout - 1)
			at = arena_printf(p->a, "%s + %s", at, i.s);
		else
			at = arena_printf(p->a, "%s + %s * %s_%d", at,
					  wrap(p, i, BIND_MUL), p->out, v);
	}
	return arena_printf(p->a, "%s[%s]", p->out, at);
}

/* ---- conversions ------------------------------------------------------- */

/* A float value as an integer of type t. */
static const char *print_to_int(printer *p, const char *x, dtype t)
{
	if (t == DT_U64)
		return arena_printf(p->a, "tdl_to_u64(%s)", x);
	return arena_printf(p->a, "(%s)tdl_to_int(%s, %s, %s)", types[t].value,
			    x, types[t].least, types[t].largest);
}

/* An integer as one of the type t, which C computes in a wider one. */
static piece print_wrapped(printer *p, piece x, dtype t)
{
	if (is_part_of_byte(t))
		return (piece){arena_printf(p->a, "tdl_wrap_%s(%s)",
					    dtype_name(t), x.s),
			       BIND_ATOM};
	return (piece){arena_printf(p->a, "(%s)%s", types[t].value,
				    wrap(p, x, BIND_UNARY)),
		       BIND_UNARY};
}

/* The bits of x as a small float; what a C float does not hold is rounded to
 * it in a way that keeps what the second rounding has to know. */
static const char *print_encoded(printer *p, const char *x, dtype from,
				 dtype to)
{
	bool wide = from == DT_F64 ||
		    (dtype_is_int(from) && dtype_size(from) >= 4);
	return arena_printf(p->a, wide ? "tdl_to_%s(tdl_round_odd(%s))"
				       : "tdl_to_%s(%s)",
			    dtype_name(to), x);
}

static piece print_cast(printer *p, const kexpr *e)
{
	const kexpr *x = e->args[0];
	dtype from = x->type, to = e->type;
	if (from == to)
		return print(p, x);
	if (to == DT_BOOL)
		return (piece){arena_printf(p->a, "%s != 0",
					    print_at(p, x, BIND_LESS)),
			       BIND_EQUAL};
	if (dtype_is_float(from) && dtype_is_int(to))
		return (piece){print_to_int(p, print(p, x).s, to), BIND_UNARY};
	if (dtype_is_small_float(to))
		return (piece){arena_printf(p->a, "tdl_from_%s(%s)",
					    dtype_name(to),
					    print_encoded(p, print(p, x).s,
							  from, to)),
			       BIND_ATOM};
	if (is_part_of_byte(to))
		return print_wrapped(p, print(p, x), to);
	return (piece){arena_printf(p->a, "(%s)%s", types[to].value,
				    print_at(p, x, BIND_UNARY)),
		       BIND_UNARY};
}

/* e as a value, whatever is asked of what is around it. */
static const char *print_cooked(printer *p, const kexpr *e, int bind)
{
	bool raw = p->raw;
	p->raw = false;
	const char *s = print_at(p, e, bind);
	p->raw = raw;
	return s;
}

/* The bits of a value, as an integer at least as wide. */
static const char *print_bits(printer *p, const kexpr *x)
{
	if (dtype_is_small_float(x->type))
		return print_raw(p, x).s;
	const char *s = print_cooked(p, x, BIND_SELECT);
	if (x->type == DT_F64)
		return arena_printf(p->a, "tdl_bits_of_double(%s)", s);
	if (x->type == DT_F32)
		return arena_printf(p->a, "tdl_bits_of_float(%s)", s);
	return s;
}

/* A small float's bits; one that is only moved is not converted. */
static piece print_raw(printer *p, const kexpr *e)
{
	bool raw = p->raw;
	piece s;
	switch (e->kind) {
	case KX_READ:
		p->raw = true;
		s = print_read(p, e);
		p->raw = raw;
		return s;
	case KX_SELECT:
		return (piece){
			arena_printf(p->a, "%s ? %s : %s",
				     print_cooked(p, e->args[0], BIND_OR),
				     wrap(p, print_raw(p, e->args[1]), BIND_OR),
				     wrap(p, print_raw(p, e->args[2]),
					  BIND_OR)),
			BIND_SELECT};
	case KX_BITCAST:
		return (piece){arena_printf(p->a, "(%s)((%s) & %d)",
					    types[e->type].element,
					    print_bits(p, e->args[0]),
					    (1 << dtype_bits(e->type)) - 1),
			       BIND_UNARY};
	default:
		return (piece){print_encoded(p, print_cooked(p, e, BIND_SELECT),
					     e->type, e->type),
			       BIND_ATOM};
	}
}

static piece print_bitcast(printer *p, const kexpr *e)
{
	dtype to = e->type;
	const char *s = print_bits(p, e->args[0]);
	if (dtype_is_int(to))
		return print_wrapped(p, (piece){s, BIND_SELECT}, to);
	if (to == DT_BOOL)
		s = arena_printf(p->a, "(bool)(%s)", s);
	else if (to == DT_F64)
		s = arena_printf(p->a, "tdl_double_of_bits((uint64_t)(%s))", s);
	else if (to == DT_F32)
		s = arena_printf(p->a, "tdl_float_of_bits((uint32_t)(%s))", s);
	else
		s = arena_printf(p->a, "tdl_from_%s((%s)(%s))", dtype_name(to),
				 types[to].element, s);
	return (piece){s, to == DT_BOOL ? BIND_UNARY : BIND_ATOM};
}

const char *print_element(printer *p, const char *value, dtype from, dtype to)
{
	if (dtype_is_small_float(to))
		return print_encoded(p, value, from, to);
	if (to == DT_BOOL)
		return from == DT_BOOL ? value
				       : arena_printf(p->a, "(%s) != 0", value);
	if (dtype_is_float(from) && dtype_is_int(to))
		return print_to_int(p, value, to);
	if (from != to && is_part_of_byte(to))
		return print_wrapped(p, (piece){value, BIND_SELECT}, to).s;
	return value;
}

const char *print_stored(printer *p, const kexpr *e, dtype to)
{
	return e->type == to && dtype_is_small_float(to)
		       ? print_raw(p, e).s
		       : print_element(p, print_expr(p, e), e->type, to);
}

/* ---- functions --------------------------------------------------------- */

typedef struct infix {
	const char *op;
	int bind;
} infix;

static infix infix_of(fn f)
{
	switch (f) {
	case FN_ADD:
		return (infix){"+", BIND_ADD};
	case FN_SUB:
		return (infix){"-", BIND_ADD};
	case FN_MUL:
		return (infix){"*", BIND_MUL};
	case FN_LT:
		return (infix){"<", BIND_LESS};
	case FN_LE:
		return (infix){"<=", BIND_LESS};
	case FN_GT:
		return (infix){">", BIND_LESS};
	case FN_GE:
		return (infix){">=", BIND_LESS};
	case FN_EQ:
		return (infix){"==", BIND_EQUAL};
	case FN_NE:
		return (infix){"!=", BIND_EQUAL};
	case FN_AND:
		return (infix){"&&", BIND_AND};
	case FN_OR:
		return (infix){"||", BIND_OR};
	case FN_BIT_AND:
		return (infix){"&", BIND_BIT_AND};
	case FN_BIT_OR:
		return (infix){"|", BIND_BIT_OR};
	case FN_BIT_XOR:
		return (infix){"^", BIND_BIT_XOR};
	default:
		return (infix){NULL, 0};
	}
}

/* x op y; the right operand binds tighter, for C groups to the left, and &&
 * and || are kept apart from what compilers warn of. */
static piece print_infix(printer *p, const kexpr *e, infix o)
{
	int left = o.bind <= BIND_LESS ? BIND_ADD : o.bind;
	return (piece){arena_printf(p->a, "%s %s %s",
				    print_at(p, e->args[0], left), o.op,
				    print_at(p, e->args[1], left + 1)),
		       o.bind};
}

/* An expression of functions.def, "pow($0, $1)", for doubles or floats. */
static const char *print_template(printer *p, const char *c, bool wide,
				  const char *const *x)
{
	size_t name = strcspn(c, "(");
	const char *s =
		arena_printf(p->a, "%.*s%s", (int)name, c, wide ? "" : "f");
	for (c += name; *c; c++)
		if (*c == '$')
			s = arena_printf(p->a, "%s%s", s, x[*++c - '0']);
		else
			s = arena_printf(p->a, "%s%c", s, *c);
	return s;
}

/* Whether tdl/functions.h has the function for f32. */
static bool is_ours(fn f)
{
	switch (f) {
	case FN_EXP:
	case FN_EXPM1:
	case FN_LOG:
	case FN_LOG1P:
	case FN_TANH:
	case FN_ERF:
		return true;
	default:
		return false;
	}
}

/* A function of floats whose arguments are x[]. */
static piece print_float_fn(printer *p, fn f, bool wide, const char *const *x)
{
	const char *suffix = wide ? "" : "f", *of = wide ? "f64" : "f32", *s;
	switch (f) {
	case FN_MIN:
	case FN_MAX:
		s = arena_printf(p->a, "tdl_%s_%s(%s, %s)", fn_name(f), of,
				 x[0], x[1]);
		break;
	case FN_MOD:
		s = arena_printf(p->a, "tdl_mod_%s(%s, %s)", of, x[0], x[1]);
		break;
	case FN_ABS:
		s = arena_printf(p->a, "fabs%s(%s)", suffix, x[0]);
		break;
	case FN_SIGN:
	case FN_SIGMOID:
	case FN_SOFTPLUS:
		s = arena_printf(p->a, "tdl_%s_%s(%s)", fn_name(f), of, x[0]);
		break;
	case FN_RSQRT:
		s = arena_printf(p->a, "1 / sqrt%s(%s)", suffix, x[0]);
		return (piece){s, BIND_MUL};
	case FN_ISNAN:
	case FN_ISINF:
		s = arena_printf(p->a, "(bool)%s(%s)", fn_name(f), x[0]);
		return (piece){s, BIND_UNARY};
	default:
		s = !wide && is_ours(f)
			    ? arena_printf(p->a, "tdl_%s_f32(%s)", fn_name(f),
					   x[0])
			    : print_template(p, fn_c(f), wide, x);
		break;
	}
	return (piece){s, BIND_ATOM};
}

/* x / y or x % y where y is a positive constant. */
static piece print_by_constant(printer *p, const kexpr *e)
{
	int64_t lo, hi;
	bool div = e->fn == FN_DIV;
	linear x = linear_of(&p->nest, e->args[0]);
	const char *y = print(p, e->args[1]).s;
	if (!dtype_is_signed(e->type) ||
	    (x.affine && linear_range(&p->nest, &x, &lo, &hi) && lo >= 0))
		return (piece){arena_printf(p->a, "%s %c %s",
					    wrap(p, print_index(p, e->args[0]),
						 BIND_MUL),
					    div ? '/' : '%', y),
			       BIND_MUL};
	return (piece){arena_printf(p->a, "%s(%s, %s)",
				    div ? "tdl_div" : "tdl_mod",
				    print_index(p, e->args[0]).s, y),
		       BIND_ATOM};
}

/* A function of integers that C has no operator for. */
static piece print_int_fn(printer *p, const kexpr *e, const char *const *x)
{
	dtype t = e->args[0]->type;
	bool u = t == DT_U64;
	int bits = dtype_bits(t);
	const char *s;
	switch (e->fn) {
	case FN_RANDOM:
		s = arena_printf(p->a, "tdl_random(%s, %s)", x[0], x[1]);
		break;
	case FN_DIV:
		s = arena_printf(p->a, "%s(%s, %s)",
				 u ? "tdl_div_u64" : "tdl_floor_div", x[0],
				 x[1]);
		break;
	case FN_MOD:
	case FN_FMOD:
		s = arena_printf(p->a, "%s(%s, %s)",
				 u		   ? "tdl_mod_u64"
				 : e->fn == FN_MOD ? "tdl_floor_mod"
						   : "tdl_rem",
				 x[0], x[1]);
		break;
	case FN_POW:
		s = arena_printf(p->a, "%s(%s, %s)",
				 u ? "tdl_power_u64" : "tdl_power", x[0], x[1]);
		break;
	case FN_SHIFT_LEFT:
		s = arena_printf(p->a, "tdl_shift_left(%s, %s, %d)", x[0], x[1],
				 bits);
		break;
	case FN_SHIFT_RIGHT:
		s = arena_printf(p->a, "tdl_shift_right%s(%s, %s, %d)",
				 dtype_is_signed(t) ? "" : "_u", x[0], x[1],
				 bits);
		break;
	default: { /* through floats */
		const char *args[2] = {NULL, NULL};
		for (int i = 0; i < e->nargs; i++)
			args[i] = arena_printf(p->a, "(double)(%s)", x[i]);
		s = print_to_int(p, print_float_fn(p, e->fn, true, args).s, t);
		break;
	}
	}
	return (piece){s, BIND_ATOM};
}

/* Functions of integers that C's own operators express. */
static piece print_int_operator(printer *p, const kexpr *e)
{
	const char *x = print_at(p, e->args[0], BIND_UNARY);
	const char *y =
		e->nargs > 1 ? print_at(p, e->args[1], BIND_UNARY) : NULL;
	dtype t = e->args[0]->type;
	bool is_signed = dtype_is_signed(t);
	switch (e->fn) {
	case FN_NEG:
		return (piece){
			arena_printf(p->a, "-%s", print_operand(p, e->args[0])),
			BIND_UNARY};
	case FN_MIN:
	case FN_MAX:
		return (piece){arena_printf(p->a, "%s %c %s ? %s : %s", y,
					    e->fn == FN_MIN ? '<' : '>', x, y,
					    x),
			       BIND_SELECT};
	case FN_ABS:
		return is_signed ? (piece){arena_printf(
						   p->a, "%s < 0 ? -%s : %s", x,
						   print_operand(p, e->args[0]),
						   x),
					   BIND_SELECT}
				 : print(p, e->args[0]);
	case FN_SIGN:
		return (piece){
			is_signed ? arena_printf(p->a, "(%s > 0) - (%s < 0)", x,
						 x)
				  : arena_printf(p->a, "(%s > 0) - 0", x),
			BIND_ADD};
	case FN_FLOOR:
	case FN_CEIL:
	case FN_ROUND:
		return print(p, e->args[0]);
	case FN_BIT_NOT:
		return (piece){arena_printf(p->a, "%c%s",
					    t == DT_BOOL ? '!' : '~',
					    print_operand(p, e->args[0])),
			       BIND_UNARY};
	default:
		return (piece){NULL, 0};
	}
}

static bool is_positive_constant(const kexpr *e)
{
	return e->kind == KX_INT && e->type != DT_BOOL && e->i > 0;
}

static piece print_integer(printer *p, const kexpr *e)
{
	const char *x[2] = {NULL, NULL};
	dtype t = e->args[0]->type;
	if ((e->fn == FN_DIV || e->fn == FN_MOD) && t != DT_BOOL &&
	    is_positive_constant(e->args[1]))
		return print_by_constant(p, e);
	if (e->fn == FN_ISNAN || e->fn == FN_ISINF)
		return print_int(p, 0, DT_BOOL);
	piece s = print_int_operator(p, e);
	if (s.s)
		return s;
	for (int i = 0; i < e->nargs; i++)
		x[i] = print(p, e->args[i]).s;
	return print_int_fn(p, e, x);
}

static piece print_fn(printer *p, const kexpr *e)
{
	infix o = infix_of(e->fn);
	dtype t = e->args[0]->type;
	bool is_float = dtype_is_float(t);
	const char *x[2] = {NULL, NULL};
	piece s;
	int l = nest_part(&p->nest, e);
	if (l >= 0)
		return (piece){p->nest.loops[l].name, BIND_ATOM};
	if (e->fn == FN_DIV && is_float)
		o = (infix){"/", BIND_MUL};
	if (o.op) {
		s = print_infix(p, e, o);
	} else if (e->fn == FN_NOT) {
		s = (piece){
			arena_printf(p->a, "!%s", print_operand(p, e->args[0])),
			BIND_UNARY};
	} else if (e->fn == FN_NEG && is_float) {
		s = (piece){
			arena_printf(p->a, "-%s", print_operand(p, e->args[0])),
			BIND_UNARY};
	} else if (is_float) {
		for (int i = 0; i < e->nargs; i++)
			x[i] = print(p, e->args[i]).s;
		s = print_float_fn(p, e->fn, t == DT_F64, x);
	} else {
		s = print_integer(p, e);
	}
	if (!fn_gives_bool(e->fn) && (is_narrow(t) || t == DT_BOOL))
		s = print_wrapped(p, s, t);
	return s;
}

/* ---- all expressions --------------------------------------------------- */

static piece print(printer *p, const kexpr *e)
{
	switch (e->kind) {
	case KX_INT:
		return print_int(p, e->i, e->type);
	case KX_FLOAT:
		return print_float(p, e->f, e->type);
	case KX_VAR:
		return (piece){p->var[e->var], BIND_ATOM};
	case KX_READ:
		return print_read(p, e);
	case KX_FN:
		return print_fn(p, e);
	case KX_SELECT:
		return (piece){arena_printf(p->a, "%s ? %s : %s",
					    print_at(p, e->args[0], BIND_OR),
					    print_at(p, e->args[1], BIND_OR),
					    print_at(p, e->args[2], BIND_OR)),
			       BIND_SELECT};
	case KX_CAST:
		return print_cast(p, e);
	case KX_BITCAST:
		return print_bitcast(p, e);
	}
	return (piece){"0", BIND_ATOM};
}
