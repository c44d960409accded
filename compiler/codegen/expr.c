#include "config.h"

#include "compiler/codegen/expr_piece.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static expr_piece print_raw(printer *p, const kexpr *e);

const char *wrap(printer *p, expr_piece x, int bind)
{
	return x.bind >= bind ? x.s : arena_printf(p->a, "(%s)", x.s);
}

const char *print_at(printer *p, const kexpr *e, int bind)
{
	return wrap(p, print_piece(p, e), bind);
}

const char *print_expr(printer *p, const kexpr *e)
{
	return print_piece(p, e).s;
}

const char *print_operand(printer *p, const kexpr *e)
{
	return print_at(p, e, BIND_ATOM);
}

/* ---- the size of indices ----------------------------------------------- */

/* Whether an integer expression of variables, and every part of it, is within
 * [*lo, *hi], near 0. */
static bool is_small(const printer *p, const kexpr *e, int64_t *lo, int64_t *hi)
{
	const int64_t limit = INT64_C(1) << 30;
	int64_t a, b, c, d;
	if (e->kind == KX_INT)
		*lo = *hi = e->i;
	else if (e->kind == KX_VAR)
		*lo = 0, *hi = p->nest.k->vars[e->var].extent;
	else if (e->kind != KX_FN || e->nargs > 2 ||
		 !is_small(p, e->args[0], &a, &b) ||
		 (e->nargs == 2 && !is_small(p, e->args[1], &c, &d)))
		return false;
	else if (e->fn == FN_ADD)
		*lo = a + c, *hi = b + d;
	else if (e->fn == FN_SUB)
		*lo = a - d, *hi = b - c;
	else if (e->fn == FN_NEG)
		*lo = -b, *hi = -a;
	else if (e->fn == FN_MIN || e->fn == FN_MAX)
		*lo = a < c ? a : c, *hi = b > d ? b : d;
	else if (e->fn == FN_DIV && c == d && c > 0)
		*lo = a / c - 1, *hi = b / c;
	else if (e->fn == FN_MOD && c == d && c > 0)
		*lo = 0, *hi = c;
	else if (e->fn == FN_MUL) {
		*hi = (-a > b ? -a : b) * (-c > d ? -c : d);
		*lo = -*hi;
	} else {
		return false;
	}
	return *lo > -limit && *hi < limit;
}

static bool is_wide(const printer *p, const kexpr *e)
{
	int64_t lo, hi;
	return p->cuda && e->type == DT_I64 && !is_small(p, e, &lo, &hi);
}

/* The same for an affine sum. */
static bool is_wide_linear(const printer *p, const linear *x)
{
	double most = fabs((double)x->c);
	for (int l = 0; l < p->nest.n; l++)
		most += fabs((double)x->coef[l]) *
			(double)p->nest.loops[l].extent;
	return p->cuda && most >= 1 << 30;
}

const char *print_bound(printer *p, int var, bool end)
{
	return arena_printf(p->a, p->cuda ? (end ? "TDL_HI(%d)" : "TDL_LO(%d)")
				  : end	  ? "args->hi[%d]"
					  : "args->lo[%d]",
			    var);
}

/* ---- indices ----------------------------------------------------------- */

const char *print_linear(printer *p, const linear *x, int skip)
{
	const char *s = "", *cast = is_wide_linear(p, x) ? "(int64_t)" : "";
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
		s = arena_printf(p->a, "%s%s%s%s%s", s, sign, times, cast,
				 p->nest.loops[l].name);
	}
	if (!*s)
		return print_int(p, x->c, DT_I64).s;
	if (!x->c)
		return s;
	return arena_printf(p->a, "%s %c %" PRIu64, s, x->c < 0 ? '-' : '+',
			    x->c < 0 ? 0 - (uint64_t)x->c : (uint64_t)x->c);
}

/* The precedence of a printed affine sum. */
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

expr_piece print_index(printer *p, const kexpr *e)
{
	const char *name = find_named(p, e);
	if (name)
		return (expr_piece){name, BIND_ATOM};
	linear x = linear_of(&p->nest, e);
	if (x.affine)
		return (expr_piece){print_linear(p, &x, -1),
				    bind_linear(p, &x)};
	bool raw = p->raw, wide = p->wide;
	p->raw = p->wide = false;
	expr_piece s = print_piece(p, e);
	p->raw = raw;
	p->wide = wide;
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
	return arena_printf(p->a, "tdl_index(%s, %d, %d, %s, %" PRId64 ")",
			    p->cuda ? "TDL_FAULT" : "args", read->input, d, at,
			    p->nest.k->inputs[read->input].dims[d]);
}

/* "a + b"; a may still be empty. */
static const char *print_sum(printer *p, const char *a, const char *b)
{
	return *a ? arena_printf(p->a, "%s + %s", a, b) : b;
}

/* The term of an element's offset for index x in dimension d of n. */
static const char *print_offset(printer *p, const char *name, expr_piece x,
				int d, int n)
{
	if (d == n - 1)
		return wrap(p, x, BIND_ADD);
	return arena_printf(p->a, "%s * %s_%d", wrap(p, x, BIND_MUL),
			    name, d);
}

/* The offset of element 0, 0, ..; in CUDA there is none, as pointers lead to
 * it. */
static const char *print_start(printer *p, const char *name, int ndim)
{
	return p->cuda || !ndim ? "" : arena_printf(p->a, "%s_at", name);
}

const char *print_element_at(printer *p, const kexpr *read)
{
	const char *name = p->input[read->input];
	int n = kx_ndim(read);
	const char *at = print_start(p, name, n);
	for (int d = 0; d < n; d++) {
		expr_piece x = print_index(p, read->args[d]);
		if (strcmp(x.s, "0") != 0)
			at = print_sum(p, at, print_offset(p, name, x, d, n));
	}
	return arena_printf(p->a, "%s[%s]", name, *at ? at : "0");
}

static const char *find_loaded(const printer *p, const kexpr *e)
{
	for (int i = 0; i < p->loaded.n; i++)
		if (kx_equal(p->loaded.at[i].e, e))
			return p->loaded.at[i].name;
	return NULL;
}

/* The value of input[offset of the indices]. */
static expr_piece print_load(printer *p, const kexpr *read)
{
	const char *s = find_loaded(p, read);
	if (!s)
		s = print_element_at(p, read);
	if (dtype_is_small_float(read->type) && !p->raw)
		return (expr_piece){arena_printf(p->a, "tdl_from_%s(%s)",
						 dtype_name(read->type), s),
				    BIND_ATOM};
	if (read->type == DT_BOOL)
		return (expr_piece){arena_printf(p->a, "%s != 0", s),
				    BIND_EQUAL};
	return (expr_piece){s, BIND_ATOM};
}

/* The value of a guarded read outside its input. */
static expr_piece print_otherwise(printer *p, const kexpr *read)
{
	const kexpr *e = read->args[read->nargs - 1];
	return p->raw ? print_raw(p, e) : print_piece(p, e);
}

/* The variable that stands for dimension d of an input read at a data-dependent
 * index; -1 if there is none. */
static int derived_var(const kernel *k, const kexpr *read, int d)
{
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].input == read->input &&
		    k->derived[i].dim == d)
			return k->derived[i].var;
	return -1;
}

/* The condition under which a data-dependent index is read, without a guard's;
 * NULL if there is none. */
static const char *print_data_condition(printer *p, const kexpr *read, int d,
					const char *index)
{
	int v = derived_var(p->nest.k, read, d);
	if (v >= 0)
		return arena_printf(p->a, "%s <= %s && %s < %s",
				    print_bound(p, v, false), index, index,
				    print_bound(p, v, true));
	return read->guarded ? NULL : arena_printf(p->a, "%s >= 0", index);
}

static const char *both_conditions(printer *p, const char *x, const char *y)
{
	return x && y ? arena_printf(p->a, "%s && %s", x, y) : x ? x : y;
}

/* A read with data-dependent indices.  Indices without names get names in a
 * statement expression. */
static expr_piece print_data_read(printer *p, const kexpr *read)
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
		const char *one = print_data_condition(p, read, d, name);
		when = both_conditions(p, when, one);
	}
	if (read->guarded)
		when = both_conditions(p, print_inside(p, read, -1), when);
	const char *load = wrap(p, print_load(p, read), BIND_OR);
	const char *other =
		read->guarded
			? wrap(p, print_otherwise(p, read), BIND_OR)
			: "0";
	p->named.n = known;
	const char *s = arena_printf(p->a, "%s ? %s : %s", when ? when : "1",
				     load, other);
	if (!*lets)
		return (expr_piece){s, BIND_SELECT};
	return (expr_piece){arena_printf(p->a,
					 p->cuda ? "[&] { %sreturn %s; }()"
					    : "({ %s%s; })",
					 lets, s),
			    BIND_ATOM};
}

static expr_piece print_read(printer *p, const kexpr *e)
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
	return (expr_piece){
		arena_printf(p->a, "%s ? %s : %s", when,
			     wrap(p, print_load(p, e), BIND_OR),
			     wrap(p, print_otherwise(p, e), BIND_OR)),
		BIND_SELECT};
}

const char *print_result(printer *p)
{
	const kernel *k = p->nest.k;
	const char *at = print_start(p, p->out, k->nout);
	for (int v = 0; v < k->nout; v++) {
		linear x = {.affine = true, .c = p->more[v]};
		int64_t by = p->by[v] ? p->by[v] : 1;
		int l = p->nest.first[v];
		if (l < 0 && !x.c)
			continue;
		if (l >= 0 && p->nest.loops[l].part == LOOP_QUOTIENT) {
			x.coef[l] = by * p->nest.loops[l].divisor;
			x.coef[l + 1] = by;
		} else if (l >= 0) {
			x.coef[l] = by;
		}
		expr_piece i = {print_linear(p, &x, -1), bind_linear(p, &x)};
		if (l >= 0 && p->nest.loops[l].part == LOOP_TURN)
			i = (expr_piece){p->var[v], BIND_ATOM};
		at = print_sum(p, at,
			       print_offset(p, p->out, i, v, k->nout));
	}
	return arena_printf(p->a, "%s[%s]", p->out, *at ? at : "0");
}

/* ---- conversions ------------------------------------------------------- */

/* The bits of x as a small float.  A number that a C float cannot represent is
 * first rounded to one so that the second rounding is correct. */
static const char *print_encoded(printer *p, const char *x, dtype from,
				 dtype to)
{
	bool wide = from == DT_F64 ||
		    (dtype_is_int(from) && dtype_size(from) >= 4);
	return arena_printf(p->a, wide ? "tdl_to_%s(tdl_round_odd(%s))"
				       : "tdl_to_%s(%s)",
			    dtype_name(to), x);
}

static expr_piece print_cast(printer *p, const kexpr *e)
{
	const kexpr *x = e->args[0];
	dtype from = x->type, to = e->type;
	if (from == to)
		return print_piece(p, x);
	if (to == DT_BOOL)
		return (expr_piece){arena_printf(p->a, "%s != 0",
						 print_at(p, x, BIND_LESS)),
				    BIND_EQUAL};
	if (dtype_is_float(from) && dtype_is_int(to))
		return (expr_piece){print_to_int(p, print_piece(p, x).s, to),
				    BIND_UNARY};
	if (dtype_is_small_float(to))
		return (expr_piece){
			arena_printf(
				p->a, "tdl_from_%s(%s)", dtype_name(to),
				print_encoded(p, print_expr(p, x), from, to)),
			BIND_ATOM};
	if (is_part_of_byte(to))
		return print_wrapped(p, print_piece(p, x), to);
	return (expr_piece){arena_printf(p->a, "(%s)%s", type_of_value(to),
					 print_at(p, x, BIND_UNARY)),
			    BIND_UNARY};
}

/* e as a value, whatever form its context asks for. */
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

/* The bits of a small float.  A number that is only moved is not converted. */
static expr_piece print_raw(printer *p, const kexpr *e)
{
	bool raw = p->raw;
	expr_piece s;
	switch (e->kind) {
	case KX_READ:
		p->raw = true;
		s = print_read(p, e);
		p->raw = raw;
		return s;
	case KX_SELECT:
		return (expr_piece){
			arena_printf(p->a, "%s ? %s : %s",
				     print_cooked(p, e->args[0], BIND_OR),
				     wrap(p, print_raw(p, e->args[1]), BIND_OR),
				     wrap(p, print_raw(p, e->args[2]),
					  BIND_OR)),
			BIND_SELECT};
	case KX_BITCAST:
		return (expr_piece){
			arena_printf(p->a, "(%s)((%s) & %d)",
				     type_of_element(e->type),
				     print_bits(p, e->args[0]),
				     (1 << dtype_bits(e->type)) - 1),
			BIND_UNARY};
	default:
		return (expr_piece){
			print_encoded(p, print_cooked(p, e, BIND_SELECT),
				      e->type, e->type),
			BIND_ATOM};
	}
}

static expr_piece print_bitcast(printer *p, const kexpr *e)
{
	dtype to = e->type;
	const char *s = print_bits(p, e->args[0]);
	if (dtype_is_int(to))
		return print_wrapped(p, (expr_piece){s, BIND_SELECT}, to);
	if (to == DT_BOOL)
		s = arena_printf(p->a, "(bool)(%s)", s);
	else if (to == DT_F64)
		s = arena_printf(p->a, "tdl_double_of_bits((uint64_t)(%s))", s);
	else if (to == DT_F32)
		s = arena_printf(p->a, "tdl_float_of_bits((uint32_t)(%s))", s);
	else
		s = arena_printf(p->a, "tdl_from_%s((%s)(%s))", dtype_name(to),
				 type_of_element(to), s);
	return (expr_piece){s, to == DT_BOOL ? BIND_UNARY : BIND_ATOM};
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
		return print_wrapped(p, (expr_piece){value, BIND_SELECT}, to).s;
	return value;
}

const char *print_stored(printer *p, const kexpr *e, dtype to)
{
	return e->type == to && dtype_is_small_float(to)
		       ? print_raw(p, e).s
		       : print_element(p, print_expr(p, e), e->type, to);
}

/* ---- all expressions --------------------------------------------------- */

/* A number of 64 bits, by name.  So kernels that differ only in such numbers,
 * such as seeds, have the same text. */
static expr_piece print_number(printer *p, int64_t x)
{
	int i = 0;
	while (i < p->numbers.n && p->numbers.at[i] != x)
		i++;
	if (i == p->numbers.n)
		vec_push(p->a, &p->numbers, x);
	return (expr_piece){arena_printf(p->a, "TDL_NUMBER_%d", i), BIND_ATOM};
}

const char *print_numbers(printer *p, bool defined)
{
	const char *s = "";
	for (int i = 0; i < p->numbers.n; i++)
		s = defined ? arena_printf(
			p->a, "%s#define TDL_NUMBER_%d (%s)\n", s, i,
			print_int(p, p->numbers.at[i], DT_I64).s) :
			arena_printf(p->a, "%s#undef TDL_NUMBER_%d\n", s, i);
	return s;
}

static expr_piece print_any(printer *p, const kexpr *e)
{
	switch (e->kind) {
	case KX_INT:
		if (!p->cuda && e->type == DT_I64 && e->i != (int32_t)e->i)
			return print_number(p, e->i);
		return print_int(p, e->i, e->type);
	case KX_FLOAT:
		return print_float(p, e->f, e->type);
	case KX_VAR:
		if (p->wide)
			return (expr_piece){arena_printf(p->a, "(int64_t)%s",
							 p->var[e->var]),
					    BIND_UNARY};
		return (expr_piece){p->var[e->var], BIND_ATOM};
	case KX_READ:
		return print_read(p, e);
	case KX_FN:
		return print_fn(p, e);
	case KX_SELECT:
		return print_select(p, e);
	case KX_CAST:
		return print_cast(p, e);
	case KX_BITCAST:
		return print_bitcast(p, e);
	}
	return (expr_piece){"0", BIND_ATOM};
}

expr_piece print_piece(printer *p, const kexpr *e)
{
	bool wide = p->wide;
	p->wide |= is_wide(p, e);
	expr_piece s = print_any(p, e);
	p->wide = wide;
	return s;
}
