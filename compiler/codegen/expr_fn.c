/* The functions of kernel/functions.def in C. */
#include "config.h"

#include "compiler/codegen/expr_piece.h"

#include <string.h>

/* x op y.  The right operand needs higher precedence, as C groups to the left.
 * && and || get the parentheses whose absence compilers warn about. */
static const char *print_infix(printer *p, const kexpr *e, fn_text c)
{
	c_binding left = c.bind <= BIND_LESS ? BIND_ADD : c.bind;
	return arena_printf(p->a, "%s %s %s", print_at(p, e->args[0], left),
			    c.c, print_at(p, e->args[1], left + 1));
}

/* The C type in which integers of type t are computed. */
static const char *name_in_c(dtype t)
{
	return dtype_name(is_narrow(t) ? DT_I32 : t);
}

/* A template with its arguments of type t filled in. */
static const char *print_template(printer *p, const char *c, dtype t,
				  const char *const args[2])
{
	const char *s = "";
	while (*c) {
		size_t n = strcspn(c, "$");
		s = arena_printf(p->a, "%s%.*s", s, (int)n, c);
		c += n;
		if (*c == '\0')
			break;
		if (c[1] == 'b')
			s = arena_printf(p->a, "%s%d", s, dtype_bits(t));
		else
			s = arena_printf(p->a, "%s%s", s,
					 c[1] == 't' ? name_in_c(t)
						     : args[c[1] - '0']);
		c += 2;
	}
	return s;
}

static void print_arguments(printer *p, const kexpr *e, const char *args[2])
{
	for (int i = 0; i < e->nargs; i++)
		args[i] = print_piece(p, e->args[i]).s;
}

/* A function of integers that is computed in floats. */
static expr_piece print_as_floats(printer *p, const kexpr *e)
{
	const char *args[2];
	dtype t = e->args[0]->type;
	print_arguments(p, e, args);
	for (int i = 0; i < e->nargs; i++)
		args[i] = arena_printf(p->a, "(double)(%s)", args[i]);
	const char *s = print_template(p, fn_text_of(e->fn, DT_F64).c, t, args);
	return (expr_piece){print_to_int(p, s, t), BIND_ATOM};
}

static expr_piece print_text(printer *p, const kexpr *e, fn_text c)
{
	const char *s = NULL, *args[2];
	switch (c.form) {
	case TEXT_NONE:
		return print_as_floats(p, e);
	case TEXT_SAME:
		return print_piece(p, e->args[0]);
	case TEXT_INFIX:
		s = print_infix(p, e, c);
		break;
	case TEXT_PREFIX:
		s = arena_printf(p->a, "%s%s", c.c,
				 print_operand(p, e->args[0]));
		break;
	case TEXT_CALL:
	case TEXT_TYPED:
		print_arguments(p, e, args);
		s = print_template(p, c.c, e->args[0]->type, args);
		break;
	}
	return (expr_piece){s, c.bind};
}

/* x / y or x % y for a positive constant y. */
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

static bool is_positive_constant(const kexpr *e)
{
	return e->kind == KX_INT && e->type != DT_BOOL && e->i > 0;
}

/* Whether e, such as an index, is divided by a constant. */
static bool is_by_constant(const kexpr *e)
{
	return (e->fn == FN_DIV || e->fn == FN_MOD) &&
	       dtype_is_int(e->type) && is_positive_constant(e->args[1]);
}

/* Whether C may give a result of another type than t for a function of integers
 * of t.  Except for the type-specific ones, the functions of tdl/scalar.h give
 * 64 bits. */
static bool gives_another_type(fn_text c, dtype t)
{
	bool wide = c.form == TEXT_NONE || c.form == TEXT_CALL;
	if (is_narrow(t) || t == DT_BOOL)
		return true;
	return dtype_is_int(t) && wide && dtype_size(t) == 4;
}

expr_piece print_fn(printer *p, const kexpr *e)
{
	dtype t = e->args[0]->type;
	fn_text c = fn_text_of(e->fn, t);
	int l = nest_part(&p->nest, e);
	if (l >= 0 && p->wide)
		return (expr_piece){arena_printf(p->a, "(int64_t)%s",
						 p->nest.loops[l].name),
				    BIND_UNARY};
	if (l >= 0)
		return (expr_piece){p->nest.loops[l].name, BIND_ATOM};
	expr_piece s = is_by_constant(e) ? print_by_constant(p, e)
					 : print_text(p, e, c);
	if (!fn_gives_bool(e->fn) && gives_another_type(c, t))
		s = print_wrapped(p, s, t);
	return s;
}
