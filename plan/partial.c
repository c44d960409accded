#include "config.h"

#include "plan/partial.h"

#include <math.h>

#include "plan/derive.h"

/* How an expression takes the maximum (or the minimum) of partial inputs: it
 * is a homomorphism, e(max(a, b)) is max(e(a), e(b)) or min(e(a), e(b)). */
typedef enum course {
	COURSE_FREE,  /* it does not depend on the input */
	COURSE_MAX,   /* its values combine by Max */
	COURSE_MIN,
	COURSE_OTHER,
} course;

/* The input in question, and how what it is read at combines. */
typedef struct target {
	int input;
	course read;
} target;

static course turned(course c)
{
	return c == COURSE_MAX ? COURSE_MIN : c == COURSE_MIN ? COURSE_MAX : c;
}

/* Of two values one of which is chosen by what does not depend on the input:
 * a constant is its own maximum and minimum. */
static course either(course x, course y)
{
	if (x == COURSE_FREE)
		return y;
	return y == COURSE_FREE || x == y ? x : COURSE_OTHER;
}

/* Of a function that rises in its one argument that is not free. */
static course rising(course x, course y)
{
	if (x == COURSE_FREE)
		return y;
	return y == COURSE_FREE ? x : COURSE_OTHER;
}

/* max or min of both. */
static course extreme(course x, course y, course of)
{
	if (x == COURSE_FREE || y == COURSE_FREE)
		return rising(x, y);
	return x == of && y == of ? of : COURSE_OTHER;
}

/* ---- signs -------------------------------------------------------------- */

typedef enum sign {
	SIGN_ANY,
	SIGN_PLUS,  /* >= 0 */
	SIGN_MINUS, /* <= 0 */
} sign;

static sign sign_of(const kexpr *e);

static sign sign_product(sign x, sign y)
{
	if (x == SIGN_ANY || y == SIGN_ANY)
		return SIGN_ANY;
	return x == y ? SIGN_PLUS : SIGN_MINUS;
}

static sign sign_negated(sign x)
{
	return x == SIGN_PLUS ? SIGN_MINUS : x == SIGN_MINUS ? SIGN_PLUS : x;
}

static sign sign_fn(const kexpr *e)
{
	sign x = sign_of(e->args[0]);
	sign y = e->nargs > 1 ? sign_of(e->args[1]) : SIGN_ANY;
	switch (e->fn) {
	case FN_ABS:
	case FN_EXP:
	case FN_SQRT:
	case FN_RSQRT:
	case FN_COSH:
	case FN_SIGMOID:
	case FN_SOFTPLUS:
		return SIGN_PLUS;
	case FN_NEG:
		return sign_negated(x);
	case FN_ADD:
		return x == y ? x : SIGN_ANY;
	case FN_MUL:
		return kx_equal(e->args[0], e->args[1]) ? SIGN_PLUS
							: sign_product(x, y);
	case FN_DIV:
		return sign_product(x, y);
	case FN_MAX:
		return x == SIGN_PLUS || y == SIGN_PLUS ? SIGN_PLUS
		       : x == y				? x
							: SIGN_ANY;
	case FN_MIN:
		return x == SIGN_MINUS || y == SIGN_MINUS ? SIGN_MINUS
		       : x == y				  ? x
							  : SIGN_ANY;
	default:
		return SIGN_ANY;
	}
}

/* The sign of a float that is not NaN. */
static sign sign_of(const kexpr *e)
{
	switch (e->kind) {
	case KX_INT:
		return e->i >= 0 ? SIGN_PLUS : SIGN_MINUS;
	case KX_FLOAT:
		return e->f < 0 ? SIGN_MINUS : SIGN_PLUS;
	case KX_VAR:
		return SIGN_PLUS;
	case KX_FN:
		return dtype_is_float(e->type) ? sign_fn(e) : SIGN_ANY;
	case KX_SELECT:
		return sign_of(e->args[1]) == sign_of(e->args[2])
			       ? sign_of(e->args[1])
			       : SIGN_ANY;
	case KX_CAST:
		return dtype_is_float(e->type) ? sign_of(e->args[0])
					       : SIGN_ANY;
	default:
		return SIGN_ANY;
	}
}

/* Whether a float is never 0: a constant, an exponential, or something more
 * than what has the same sign. */
static bool is_divisor(const kexpr *e)
{
	while (e->kind == KX_CAST && dtype_is_float(e->type))
		e = e->args[0];
	if (e->kind == KX_FN && e->fn == FN_ADD)
		return sign_of(e) != SIGN_ANY && (is_divisor(e->args[0]) ||
						  is_divisor(e->args[1]));
	return (e->kind == KX_INT && e->i != 0) ||
	       (e->kind == KX_FLOAT && e->f != 0) ||
	       (e->kind == KX_FN && e->fn == FN_EXP);
}

/* ---- courses ------------------------------------------------------------ */

static course course_of(const kexpr *e, target t);

static course course_read(const kexpr *e, target t)
{
	int ndim = kx_ndim(e);
	for (int d = 0; d < ndim; d++)
		if (course_of(e->args[d], t) != COURSE_FREE)
			return COURSE_OTHER;
	course own = e->input == t.input ? t.read : COURSE_FREE;
	return e->guarded ? either(own, course_of(e->args[ndim], t)) : own;
}

/* x * y of floats, where the factor that is free has a sign. */
static course course_product(const kexpr *e, course x, course y)
{
	const kexpr *factor = x == COURSE_FREE ? e->args[0] : e->args[1];
	course c = rising(x, y);
	switch (sign_of(factor)) {
	case SIGN_PLUS:
		return c;
	case SIGN_MINUS:
		return turned(c);
	case SIGN_ANY:
		break;
	}
	return COURSE_OTHER;
}

static course course_float(const kexpr *e, course x, course y)
{
	switch (e->fn) {
	case FN_ADD:
		return rising(x, y);
	case FN_SUB:
		return rising(x, turned(y));
	case FN_MUL:
		return course_product(e, x, y);
	case FN_DIV:
		if (y != COURSE_FREE || !is_divisor(e->args[1]))
			return COURSE_OTHER;
		return sign_of(e->args[1]) == SIGN_PLUS ? x : turned(x);
	case FN_NEG:
		return turned(x);
	case FN_SIGN:
	case FN_FLOOR:
	case FN_CEIL:
	case FN_ROUND:
	case FN_EXP:
	case FN_EXPM1:
	case FN_TANH:
	case FN_SINH:
	case FN_ATAN:
	case FN_ASINH:
	case FN_ERF:
	case FN_SIGMOID:
	case FN_SOFTPLUS:
		return x;
	default:
		return COURSE_OTHER;
	}
}

/* What is defined for part of the numbers alone is not here: where a part is
 * NaN, so is the maximum.  Nor is arithmetic on integers, which wraps. */
static course course_fn(const kexpr *e, target t)
{
	course x = course_of(e->args[0], t);
	course y = e->nargs > 1 ? course_of(e->args[1], t) : COURSE_FREE;
	if (x == COURSE_FREE && y == COURSE_FREE)
		return COURSE_FREE;
	if (x == COURSE_OTHER || y == COURSE_OTHER)
		return COURSE_OTHER;
	switch (e->fn) {
	case FN_MAX:
	case FN_OR:
		return extreme(x, y, COURSE_MAX);
	case FN_MIN:
	case FN_AND:
		return extreme(x, y, COURSE_MIN);
	case FN_NOT:
		return turned(x);
	case FN_GT:
	case FN_GE:
		return rising(x, turned(y));
	case FN_LT:
	case FN_LE:
		return rising(turned(x), y);
	default:
		return dtype_is_float(e->type) ? course_float(e, x, y)
					       : COURSE_OTHER;
	}
}

/* Whether conversion never falls. */
static bool rises(dtype from, dtype to)
{
	bool wide = to == DT_F64 || to == DT_F32 || to == DT_F16 ||
		    to == DT_BF16;
	if (from == to || from == DT_BOOL || wide)
		return true;
	if (to == DT_BOOL)
		return dtype_is_int(from) && !dtype_is_signed(from);
	if (!dtype_is_int(to))
		return false;
	if (dtype_is_float(from))
		return true;
	if (dtype_is_signed(from) == dtype_is_signed(to))
		return dtype_size(to) >= dtype_size(from);
	return dtype_is_signed(to) && dtype_size(to) > dtype_size(from);
}

static bool is_infinite(const kexpr *e, bool minus)
{
	return e->kind == KX_FLOAT && isinf(e->f) && (e->f < 0) == minus;
}

/* A condition that depends on the input decides between two values that do
 * not, one of which is never the greater one. */
static course course_select(const kexpr *e, target t)
{
	course c = course_of(e->args[0], t);
	course x = course_of(e->args[1], t), y = course_of(e->args[2], t);
	if (c == COURSE_FREE)
		return either(x, y);
	if (x != COURSE_FREE || y != COURSE_FREE)
		return COURSE_OTHER;
	if (is_infinite(e->args[2], true) || is_infinite(e->args[1], false))
		return c;
	if (is_infinite(e->args[1], true) || is_infinite(e->args[2], false))
		return turned(c);
	return COURSE_OTHER;
}

static course course_of(const kexpr *e, target t)
{
	course x;
	switch (e->kind) {
	case KX_READ:
		return course_read(e, t);
	case KX_FN:
		return course_fn(e, t);
	case KX_SELECT:
		return course_select(e, t);
	case KX_CAST:
		x = course_of(e->args[0], t);
		return x == COURSE_FREE || rises(e->args[0]->type, e->type)
			       ? x
			       : COURSE_OTHER;
	default:
		for (int i = 0; i < e->nargs; i++)
			if (course_of(e->args[i], t) != COURSE_FREE)
				return COURSE_OTHER;
		return COURSE_FREE;
	}
}

/* ---- kernels ------------------------------------------------------------ */

static course course_by(reducer r)
{
	switch (r) {
	case RED_MAX:
	case RED_OR:
		return COURSE_MAX;
	case RED_MIN:
	case RED_AND:
		return COURSE_MIN;
	default:
		return COURSE_OTHER;
	}
}

static reducer reducer_for(const kernel *k, course c)
{
	bool logic = k->type == DT_BOOL;
	if (c == COURSE_MAX)
		return logic ? RED_OR : RED_MAX;
	return c == COURSE_MIN ? logic ? RED_AND : RED_MIN : RED_NONE;
}

reducer kernel_passes(const kernel *k, int input, reducer r)
{
	bool logic = r == RED_OR || r == RED_AND;
	if (!k->body || logic != (k->inputs[input].type == DT_BOOL))
		return RED_NONE;
	if (r == RED_SUM) {
		bool adds = k->reducer == RED_NONE || k->reducer == RED_SUM;
		return adds && kernel_body_linear(k, input) ? RED_SUM
							    : RED_NONE;
	}
	target t = { input, course_by(r) };
	if (t.read == COURSE_OTHER)
		return RED_NONE;
	course c = course_of(k->body, t);
	if (k->reducer != RED_NONE && course_by(k->reducer) != c)
		return RED_NONE;
	return reducer_for(k, c);
}
