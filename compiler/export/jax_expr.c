#include "config.h"

#include "compiler/export/jax_expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *jax_type(dtype t)
{
	static const char *const names[DT_COUNT] = {
		[DT_F64] = "jnp.float64", [DT_F32] = "jnp.float32",
		[DT_F16] = "jnp.float16", [DT_BF16] = "jnp.bfloat16",
		[DT_I64] = "jnp.int64",	  [DT_I32] = "jnp.int32",
		[DT_I16] = "jnp.int16",	  [DT_I8] = "jnp.int8",
		[DT_U64] = "jnp.uint64",  [DT_U32] = "jnp.uint32",
		[DT_U16] = "jnp.uint16",  [DT_U8] = "jnp.uint8",
		[DT_BOOL] = "jnp.bool_",
		[DT_F8E4M3FN] = "jnp.float8_e4m3fn",
		[DT_F8E4M3FNUZ] = "jnp.float8_e4m3fnuz",
		[DT_F8E5M2] = "jnp.float8_e5m2",
		[DT_F8E5M2FNUZ] = "jnp.float8_e5m2fnuz",
	};
	return names[t];
}

dtype jax_compute_type(dtype t)
{
	return dtype_is_small_float(t) ? DT_F32 : t;
}

uint32_t jax_vars(const kexpr *e)
{
	uint32_t vars = e->kind == KX_VAR ? UINT32_C(1) << e->var : 0;
	for (int i = 0; i < e->nargs; i++)
		vars |= jax_vars(e->args[i]);
	return vars;
}

jax_axes jax_axes_of(uint32_t vars)
{
	jax_axes x = { 0 };
	for (; vars; vars &= vars - 1)
		x.var[x.n++] = __builtin_ctz(vars);
	return x;
}

bool jax_is_typed(const kexpr *e)
{
	switch (e->kind) {
	case KX_FLOAT:
		return false;
	case KX_INT:
		return e->type != DT_I64;
	case KX_SELECT:
		return jax_is_typed(e->args[1]) || jax_is_typed(e->args[2]);
	case KX_FN:
		if (fn_gives_bool(e->fn))
			return true;
		return jax_is_typed(e->args[0]) ||
		       (e->nargs > 1 && jax_is_typed(e->args[1]));
	case KX_CAST:
		return e->type != e->args[0]->type ||
		       jax_is_typed(e->args[0]);
	case KX_VAR:
	case KX_READ:
	case KX_BITCAST:
	default:
		return true;
	}
}

const char *jax_tuple(arena *a, int n, const int64_t *x)
{
	const char *s = "(";
	for (int i = 0; i < n; i++)
		s = arena_printf(a, "%s%s%" PRId64, s, i ? ", " : "", x[i]);
	return arena_printf(a, n == 1 ? "%s,)" : "%s)", s);
}

/* ---- numbers ----------------------------------------------------------- */

static jax_piece literal(const char *s, bool negative)
{
	return (jax_piece){ .s = s, .literal = true,
			    .bind = negative ? BIND_UNARY : BIND_ATOM };
}

/* The shortest text that is read back as v. */
static const char *print_double(arena *a, double v)
{
	if (isnan(v))
		return "jnp.nan";
	if (isinf(v))
		return v < 0 ? "-jnp.inf" : "jnp.inf";
	for (int n = 1;; n++) {
		const char *s = arena_printf(a, "%.*g", n, v);
		if (n == 17 || strtod(s, NULL) == v)
			return strpbrk(s, ".en") ? s
						 : arena_printf(a, "%s.0", s);
	}
}

/* A number of a type to which Python's numbers are not converted beside an
 * array. */
static jax_piece typed(arena *a, const char *s, dtype t)
{
	return (jax_piece){ .s = arena_printf(a, "%s(%s)", jax_type(t), s),
			    .bind = BIND_ATOM };
}

static jax_piece print_number(arena *a, const kexpr *e)
{
	if (e->kind == KX_FLOAT)
		return literal(print_double(a, e->f), signbit(e->f));
	if (e->type == DT_BOOL)
		return typed(a, e->i ? "True" : "False", DT_BOOL);
	if (e->type == DT_U64)
		return typed(a, arena_printf(a, "%" PRIu64, (uint64_t)e->i),
			     DT_U64);
	const char *s = arena_printf(a, "%" PRId64, e->i);
	if (e->type == DT_I64)
		return literal(s, e->i < 0);
	return typed(a, s, e->type);
}

/* ---- axes -------------------------------------------------------------- */

static int axis_of(const jax_axes *x, int var)
{
	for (int i = 0; i < x->n; i++)
		if (x->var[i] == var)
			return i;
	return -1;
}

static jax_piece print_var(const jax_printer *p, const jax_axes *x, int var)
{
	const char *s = arena_printf(p->a, "jnp.arange(%" PRId64 ")",
				     p->k->vars[var].extent);
	int behind = x->n - 1 - axis_of(x, var);
	if (behind > 0)
		s = arena_printf(p->a, "%s[:", s);
	for (int i = 0; i < behind; i++)
		s = arena_printf(p->a, "%s, None", s);
	return (jax_piece){ .s = behind > 0 ? arena_printf(p->a, "%s]", s) : s,
			    .bind = BIND_ATOM, .vars = UINT32_C(1) << var };
}

const char *jax_spread(const jax_printer *p, const jax_axes *x,
		       const jax_piece *e)
{
	int64_t dims[MAX_NVARS];
	bool all = !e->literal;
	for (int i = 0; i < x->n; i++) {
		dims[i] = p->k->vars[x->var[i]].extent;
		all = all && e->vars >> x->var[i] & 1;
	}
	return all ? e->s :
		     arena_printf(p->a, "jnp.broadcast_to(%s, %s)", e->s,
				  jax_tuple(p->a, x->n, dims));
}

/* ---- functions --------------------------------------------------------- */

const char *jax_print_at(const jax_printer *p, const jax_axes *x,
			 const kexpr *e, c_binding least)
{
	jax_piece q = jax_print(p, x, e);
	return q.bind >= least ? q.s : arena_printf(p->a, "(%s)", q.s);
}

/* A template with its arguments filled in. */
static const char *fill_in(arena *a, const char *c, dtype t,
			   const char *const *args)
{
	const char *s = "";
	while (*c) {
		size_t n = strcspn(c, "$");
		s = arena_printf(a, "%s%.*s", s, (int)n, c);
		c += n;
		if (*c == '\0')
			break;
		if (c[1] == 'b')
			s = arena_printf(a, "%s%d", s, dtype_bits(t));
		else
			s = arena_printf(a, "%s%s", s, args[c[1] - '0']);
		c += 2;
	}
	return s;
}

/* x op y.  C groups to the left, and comparisons may not be chained in
 * Python. */
static jax_piece print_operator(const jax_printer *p, const jax_axes *x,
				const kexpr *e, fn_text c)
{
	c_binding left = c.bind <= BIND_LESS ? BIND_ADD : c.bind;
	jax_piece q = { .bind = c.bind, .literal = true };
	for (int i = 0; i < e->nargs; i++)
		q.literal = q.literal && jax_print(p, x, e->args[i]).literal;
	if (c.form == TEXT_PREFIX)
		q.s = arena_printf(p->a, "%s%s", c.c,
				   jax_print_at(p, x, e->args[0], BIND_ATOM));
	else
		q.s = arena_printf(p->a, "%s %s %s",
				   jax_print_at(p, x, e->args[0], left), c.c,
				   jax_print_at(p, x, e->args[1],
						(c_binding)(left + 1)));
	return q;
}

/* A function of integers that is computed in floats. */
static jax_piece print_as_floats(const jax_printer *p, const kexpr *e,
				 const char **args)
{
	for (int i = 0; i < e->nargs; i++)
		args[i] = arena_printf(p->a, "jnp.float64(%s)", args[i]);
	const char *s = fill_in(p->a, fn_table[e->fn].jax, DT_F64, args);
	return (jax_piece){ .s = arena_printf(p->a, "to_integer(%s, %s)", s,
					      jax_type(e->type)),
			    .bind = BIND_ATOM };
}

/* Whether e is an index divided by a number; it is rounded down as in
 * Python. */
static bool divides_by_number(const kexpr *e)
{
	return (e->fn == FN_DIV || e->fn == FN_MOD) &&
	       e->args[0]->type == DT_I64 && e->args[1]->kind == KX_INT &&
	       e->args[1]->i > 0;
}

static jax_piece print_call(const jax_printer *p, const jax_axes *x,
			    const kexpr *e)
{
	const fn_facts *f = &fn_table[e->fn];
	dtype t = e->args[0]->type;
	bool ints = !dtype_is_float(t);
	const char *c = ints && f->jax_i ? f->jax_i : f->jax, *args[2];
	if (divides_by_number(e)) {
		fn_text infix = { TEXT_INFIX, e->fn == FN_DIV ? "//" : "%",
				  BIND_MUL };
		return print_operator(p, x, e, infix);
	}
	if (!c)
		return print_operator(p, x, e, ints ? f->i : f->f64);
	for (int i = 0; i < e->nargs; i++)
		args[i] = jax_print(p, x, e->args[i]).s;
	if (ints && !fn_gives_bool(e->fn) && f->i.form == TEXT_NONE)
		return print_as_floats(p, e, args);
	return (jax_piece){ .s = fill_in(p->a, c, t, args),
			    .bind = strcmp(c, "$0") ? BIND_ATOM :
				    jax_print(p, x, e->args[0]).bind };
}

static jax_piece print_select(const jax_printer *p, const jax_axes *x,
			      const kexpr *e)
{
	const char *s[3];
	for (int i = 0; i < 3; i++)
		s[i] = jax_print(p, x, e->args[i]).s;
	return (jax_piece){ .s = arena_printf(p->a, "jnp.where(%s, %s, %s)",
					      s[0], s[1], s[2]),
			    .bind = BIND_ATOM };
}

/* ---- conversions ------------------------------------------------------- */

static jax_piece print_cast(const jax_printer *p, const jax_axes *x,
			    const kexpr *e)
{
	dtype to = e->type, from = e->args[0]->type;
	jax_piece q = jax_print(p, x, e->args[0]);
	if (to == from && !dtype_is_small_float(to))
		return q;
	const char *s = q.literal || q.bind < BIND_ATOM ?
		arena_printf(p->a, q.literal ? "jnp.asarray(%s)" : "(%s)", q.s)
		: q.s;
	if (to == DT_BOOL)
		s = arena_printf(p->a, "%s != 0", s);
	else if (dtype_is_float(from) && !dtype_is_float(to))
		s = arena_printf(p->a, "to_integer(%s, %s)", q.s, jax_type(to));
	else
		s = arena_printf(p->a, "%s.astype(%s)", s, jax_type(to));
	if (dtype_is_small_float(to))
		s = arena_printf(p->a, "%s.astype(jnp.float32)", s);
	return (jax_piece){ .s = s, .bind = to == DT_BOOL ? BIND_EQUAL
							   : BIND_ATOM };
}

/* The bits of a small float are those of its own type, not of f32. */
static jax_piece print_bits(const jax_printer *p, const jax_axes *x,
			    const kexpr *e)
{
	dtype from = e->args[0]->type;
	const char *s = jax_print(p, x, e->args[0]).s;
	s = arena_printf(p->a, "bits(jnp.asarray(%s, %s), %s)", s,
			 jax_type(from), jax_type(e->type));
	if (dtype_is_small_float(e->type))
		s = arena_printf(p->a, "%s.astype(jnp.float32)", s);
	return (jax_piece){ .s = s, .bind = BIND_ATOM };
}

jax_piece jax_print(const jax_printer *p, const jax_axes *x, const kexpr *e)
{
	jax_piece q;
	switch (e->kind) {
	case KX_INT:
	case KX_FLOAT:
		return print_number(p->a, e);
	case KX_VAR:
		return print_var(p, x, e->var);
	case KX_READ:
		return jax_read(p, x, e);
	case KX_FN:
		q = print_call(p, x, e);
		break;
	case KX_SELECT:
		q = print_select(p, x, e);
		break;
	case KX_CAST:
		q = print_cast(p, x, e);
		break;
	case KX_BITCAST:
	default:
		q = print_bits(p, x, e);
		break;
	}
	q.vars = jax_vars(e);
	return q;
}
