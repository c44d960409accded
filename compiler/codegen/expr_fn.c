/* Functions of kernel/functions.def in C. */
#include "config.h"

#include "compiler/codegen/expr_piece.h"

#include <string.h>

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

/* x op y; the right operand binds tighter, for C groups to the left, and && and
 * || get the parentheses whose absence compilers warn of. */
static expr_piece print_infix(printer *p, const kexpr *e, infix o)
{
	int left = o.bind <= BIND_LESS ? BIND_ADD : o.bind;
	return (expr_piece){arena_printf(p->a, "%s %s %s",
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
static expr_piece print_float_fn(printer *p, fn f, bool wide,
				 const char *const *x)
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
		return (expr_piece){s, BIND_MUL};
	case FN_ISNAN:
	case FN_ISINF:
		s = arena_printf(p->a, "(bool)%s(%s)", fn_name(f), x[0]);
		return (expr_piece){s, BIND_UNARY};
	default:
		s = !wide && is_ours(f)
			    ? arena_printf(p->a, "tdl_%s_f32(%s)", fn_name(f),
					   x[0])
			    : print_template(p, fn_c(f), wide, x);
		break;
	}
	return (expr_piece){s, BIND_ATOM};
}

/* x / y or x % y where y is a positive constant. */
static expr_piece print_by_constant(printer *p, const kexpr *e)
{
	int64_t lo, hi;
	bool div = e->fn == FN_DIV;
	linear x = linear_of(&p->nest, e->args[0]);
	const char *y = print_piece(p, e->args[1]).s;
	if (!dtype_is_signed(e->type) ||
	    (x.affine && linear_range(&p->nest, &x, &lo, &hi) && lo >= 0))
		return (expr_piece){
			arena_printf(
				p->a, "%s %c %s",
				wrap(p, print_index(p, e->args[0]), BIND_MUL),
				div ? '/' : '%', y),
			BIND_MUL};
	return (expr_piece){arena_printf(p->a, "%s(%s, %s)",
					 div ? "tdl_div" : "tdl_mod",
					 print_index(p, e->args[0]).s, y),
			    BIND_ATOM};
}

/* A function of integers that C has no operator for. */
static expr_piece print_int_fn(printer *p, const kexpr *e, const char *const *x)
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
	return (expr_piece){s, BIND_ATOM};
}

/* Functions of integers that C's own operators express. */
static expr_piece print_int_operator(printer *p, const kexpr *e)
{
	const char *x = print_at(p, e->args[0], BIND_UNARY);
	const char *y =
		e->nargs > 1 ? print_at(p, e->args[1], BIND_UNARY) : NULL;
	dtype t = e->args[0]->type;
	bool is_signed = dtype_is_signed(t);
	switch (e->fn) {
	case FN_NEG:
		return (expr_piece){
			arena_printf(p->a, "-%s", print_operand(p, e->args[0])),
			BIND_UNARY};
	case FN_MIN:
	case FN_MAX:
		return (expr_piece){arena_printf(p->a, "%s %c %s ? %s : %s", y,
						 e->fn == FN_MIN ? '<' : '>', x,
						 y, x),
				    BIND_SELECT};
	case FN_ABS:
		return is_signed ? (expr_piece){arena_printf(
						   p->a, "%s < 0 ? -%s : %s", x,
						   print_operand(p, e->args[0]),
						   x),
						BIND_SELECT}
				 : print_piece(p, e->args[0]);
	case FN_SIGN:
		return (expr_piece){
			is_signed ? arena_printf(p->a, "(%s > 0) - (%s < 0)", x,
						 x)
				  : arena_printf(p->a, "(%s > 0) - 0", x),
			BIND_ADD};
	case FN_FLOOR:
	case FN_CEIL:
	case FN_ROUND:
		return print_piece(p, e->args[0]);
	case FN_BIT_NOT:
		return (expr_piece){arena_printf(p->a, "%c%s",
						 t == DT_BOOL ? '!' : '~',
						 print_operand(p, e->args[0])),
				    BIND_UNARY};
	default:
		return (expr_piece){NULL, 0};
	}
}

static bool is_positive_constant(const kexpr *e)
{
	return e->kind == KX_INT && e->type != DT_BOOL && e->i > 0;
}

static expr_piece print_integer(printer *p, const kexpr *e)
{
	const char *x[2] = {NULL, NULL};
	dtype t = e->args[0]->type;
	if ((e->fn == FN_DIV || e->fn == FN_MOD) && t != DT_BOOL &&
	    is_positive_constant(e->args[1]))
		return print_by_constant(p, e);
	if (e->fn == FN_ISNAN || e->fn == FN_ISINF)
		return print_int(p, 0, DT_BOOL);
	expr_piece s = print_int_operator(p, e);
	if (s.s)
		return s;
	for (int i = 0; i < e->nargs; i++)
		x[i] = print_piece(p, e->args[i]).s;
	return print_int_fn(p, e, x);
}

/* Whether C may give a value of another type than t for a function of integers
 * of t: the functions of tdl/scalar.h give 64 bits, a sign is an int. */
static bool gives_another_type(fn f, dtype t)
{
	if (is_narrow(t) || t == DT_BOOL)
		return true;
	bool ours = !infix_of(f).op && f != FN_NEG && f != FN_MIN &&
		    f != FN_MAX && f != FN_ABS && f != FN_BIT_NOT;
	return dtype_is_int(t) && ours &&
	       (dtype_size(t) == 4 || f == FN_SIGN);
}

expr_piece print_fn(printer *p, const kexpr *e)
{
	infix o = infix_of(e->fn);
	dtype t = e->args[0]->type;
	bool is_float = dtype_is_float(t);
	const char *x[2] = {NULL, NULL};
	expr_piece s;
	int l = nest_part(&p->nest, e);
	if (l >= 0 && p->wide)
		return (expr_piece){arena_printf(p->a, "(int64_t)%s",
						 p->nest.loops[l].name),
				    BIND_UNARY};
	if (l >= 0)
		return (expr_piece){p->nest.loops[l].name, BIND_ATOM};
	if (e->fn == FN_DIV && is_float)
		o = (infix){"/", BIND_MUL};
	if (o.op) {
		s = print_infix(p, e, o);
	} else if (e->fn == FN_NOT) {
		s = (expr_piece){
			arena_printf(p->a, "!%s", print_operand(p, e->args[0])),
			BIND_UNARY};
	} else if (e->fn == FN_NEG && is_float) {
		s = (expr_piece){
			arena_printf(p->a, "-%s", print_operand(p, e->args[0])),
			BIND_UNARY};
	} else if (is_float) {
		for (int i = 0; i < e->nargs; i++)
			x[i] = print_piece(p, e->args[i]).s;
		s = print_float_fn(p, e->fn, t == DT_F64, x);
	} else {
		s = print_integer(p, e);
	}
	if (!fn_gives_bool(e->fn) && gives_another_type(e->fn, t))
		s = print_wrapped(p, s, t);
	return s;
}
