#include "config.h"

#include "kernel/abstract.h"

#include <math.h>
#include <string.h>

#include "kernel/eval.h"

/* ---- types -------------------------------------------------------------- */

_Static_assert(DT_COUNT <= 32, "a type_set has a bit per type");

type_set types_where(bool (*holds)(dtype))
{
	type_set s = 0;
	for (int t = 0; t < DT_COUNT; t++)
		if (holds((dtype)t))
			s |= type_only((dtype)t);
	return s;
}

/* Removes the first type from a set that is not empty. */
static dtype take_type(type_set *s)
{
	dtype t = (dtype)__builtin_ctz(*s);
	*s &= *s - 1;
	return t;
}

bool types_all(type_set s, bool (*holds)(dtype))
{
	while (s)
		if (!holds(take_type(&s)))
			return false;
	return true;
}

type_set types_meet(type_set x, type_set y)
{
	type_set both = x & y;
	return both ? both : x ? x : y;
}

bool dtype_keeps_sums(dtype t)
{
	return dtype_is_float(t) && dtype_bits(t) >= 16;
}

static bool is_without_sign(dtype t)
{
	return t == DT_BOOL || (dtype_is_int(t) && !dtype_is_signed(t));
}

static bool is_not_float(dtype t)
{
	return !dtype_is_float(t);
}

/* Whether the type has inf, or inf stands for its greatest number. */
static bool has_limits(dtype t)
{
	return dtype_is_int(t) || elem_has_infinity(t);
}

/* Whether the conversion is monotone.  Conversions from floats to integers do
 * not keep NaN. */
static bool conversion_rises(dtype from, dtype to)
{
	bool wide = dtype_is_float(to) && dtype_bits(to) >= 16;
	if (from == to || wide)
		return true;
	if (from == DT_BOOL)
		return elem_has_zero(to);
	if (to == DT_BOOL)
		return is_without_sign(from);
	if (!dtype_is_int(to) || dtype_is_float(from))
		return false;
	if (dtype_is_signed(from) == dtype_is_signed(to))
		return dtype_bits(to) >= dtype_bits(from);
	return dtype_is_signed(to) && dtype_bits(to) > dtype_bits(from);
}

/* Whether the conversion is additive, apart from rounding. */
static bool conversion_adds(dtype from, dtype to)
{
	return from == to || (dtype_keeps_sums(from) && dtype_keeps_sums(to));
}

static bool all_conversions(type_set from, type_set to,
			    bool (*holds)(dtype, dtype))
{
	while (from) {
		dtype f = take_type(&from);
		for (type_set left = to; left;)
			if (!holds(f, take_type(&left)))
				return false;
	}
	return true;
}

/* ---- facts -------------------------------------------------------------- */

value_facts facts_of_constant(type_set types, double x)
{
	value_facts r = { .types = types, .sign = sign_of_constant(x),
			  .zero = x == 0 };
	if (isinf(x))
		r.limit = x > 0 ? SIGN_PLUS : SIGN_MINUS;
	return r;
}

value_facts facts_of_element(type_set types)
{
	value_facts r = { .types = types };
	if (types && types_all(types, is_without_sign))
		r.sign.sign = SIGN_PLUS;
	return r;
}

/* Whether f is 0: for x times 0, 0 by anything, and the sum of zeros. */
static bool is_zero(fn f, const value_facts *is)
{
	switch (fn_table[f].linear) {
	case FN_LINEAR_SAME:
	case FN_LINEAR_QUOTIENT:
		return is[0].zero;
	case FN_LINEAR_SUM:
		return is[0].zero && is[1].zero;
	case FN_LINEAR_PRODUCT:
		return is[0].zero || is[1].zero;
	case FN_NOT_LINEAR:
		break;
	}
	return false;
}

/* The sign of a value.  For a value known to be 0 its sign matters only in a
 * division; it is kept, so that x / 0 has the sign it has for any divisor known
 * to be not below 0. */
static sign_facts sign_of(const value_facts *x)
{
	return x->zero ? (sign_facts){ SIGN_BOTH, false } : x->sign;
}

/* Integers wrap around and lose their sign, unless they count; their quotient
 * may be rounded to 0. */
value_facts facts_of_fn(fn f, const value_facts *is, bool equal)
{
	static const value_facts none;
	bool two = fn_nargs(f) > 1;
	const value_facts *y = two ? &is[1] : &none;
	type_set types = two ? types_meet(is[0].types, y->types) : is[0].types;
	value_facts r = facts_of_element(
		fn_gives_bool(f) ? type_only(DT_BOOL) : types);
	r.zero = is_zero(f, is);
	r.counts = is[0].counts && (!two || y->counts) && !fn_gives_bool(f);
	if (fn_gives_bool(f) || !(r.counts || types_all(types, dtype_is_float)))
		return r;
	bool divides = fn_table[f].sign == FN_SIGN_QUOTIENT;
	r.sign = r.zero ? sign_fn(f, is[0].sign, y->sign, equal)
			: sign_fn(f, sign_of(&is[0]),
				  divides ? y->sign : sign_of(y), equal);
	r.sign.nonzero &= !r.zero;
	r.sign.nonzero &= !(r.counts && divides);
	if (divides && is[0].zero && y->zero)
		r.sign = sign_of_constant(NAN);
	if (fn_table[f].sign == FN_SIGN_TURNED)
		r.limit = sign_negated(is[0].limit);
	return r;
}

value_facts facts_of_choice(const value_facts *is)
{
	value_facts r = { .types = types_meet(is[0].types, is[1].types),
			  .zero = is[0].zero && is[1].zero,
			  .counts = is[0].counts && is[1].counts };
	r.sign = r.zero ? sign_either(is[0].sign, is[1].sign)
			: sign_either(sign_of(&is[0]), sign_of(&is[1]));
	return r;
}

/* Whether NaN, which may have been taken for 0, may be among the values: as a
 * condition it is true. */
static bool may_be_nan(const value_facts *x)
{
	return !x->types || !types_all(x->types, is_not_float);
}

value_facts facts_of_cast(value_facts x, type_set to)
{
	value_facts r = facts_of_element(to);
	if (to && types_all(to, dtype_is_float) &&
	    (x.limit == SIGN_ANY || types_all(to, elem_has_infinity)))
		r.sign = x.sign; /* inf may become NaN, which has none */
	r.zero = x.zero && types_all(to, elem_has_zero) &&
		 !((to & type_only(DT_BOOL)) && may_be_nan(&x));
	if (types_all(x.types, dtype_is_float) && types_all(to, has_limits))
		r.limit = x.limit;
	r.counts = x.counts && to == type_only(DT_I64);
	if (r.counts)
		r.sign = x.sign;
	else if (x.counts && x.sign.sign == SIGN_MINUS && !x.sign.nonzero)
		r.sign.sign = SIGN_ANY; /* it may be +0 */
	return r;
}

/* ---- linearity ---------------------------------------------------------- */

/* x + y, or a choice of both: linear in reads in which both are linear, or in
 * which one is and the other is 0. */
static uint64_t linear_sum(const value_facts *is, const dependence *on)
{
	return (on[0].linear & on[1].linear) |
	       (is[0].zero ? on[1].linear & ~on[0].uses : 0) |
	       (is[1].zero ? on[0].linear & ~on[1].uses : 0);
}

/* As facts_of_fn(), but a quotient of integers is rounded. */
static uint64_t linear_fn(fn f, const value_facts *is, const dependence *on)
{
	switch (fn_table[f].linear) {
	case FN_LINEAR_SAME:
		return on[0].linear;
	case FN_LINEAR_SUM:
		return linear_sum(is, on);
	case FN_LINEAR_PRODUCT:
		return (on[0].linear & ~on[1].uses) |
		       (on[1].linear & ~on[0].uses);
	case FN_LINEAR_QUOTIENT:
		return types_all(is[0].types, dtype_is_float)
			       ? on[0].linear & ~on[1].uses
			       : 0;
	case FN_NOT_LINEAR:
		break;
	}
	return 0;
}

/* ---- monotonicity ------------------------------------------------------- */

#define FOR_CHOICES(i, j)                  \
	for (int i = 0; i < NCHOICES; i++) \
		for (int j = 0; j < NCHOICES; j++)

static dependence turned(const dependence *x)
{
	dependence r = *x;
	FOR_CHOICES(i, j)
		r.monotone[i][j] = x->monotone[i][!j];
	return r;
}

/* Marks r as rising in the slots that only x, or only y, uses. */
static void rising(dependence *r, const dependence *x, const dependence *y)
{
	FOR_CHOICES(i, j)
		r->monotone[i][j] = (x->monotone[i][j] & ~y->uses) |
				    (y->monotone[i][j] & ~x->uses);
}

/* The same; in slots that both use, also for the choice that is made. */
static void extreme(dependence *r, const dependence *on, int choice)
{
	rising(r, &on[0], &on[1]);
	for (int i = 0; i < NCHOICES; i++)
		r->monotone[i][choice] |= on[0].monotone[i][choice] &
					  on[1].monotone[i][choice];
}

/* Multiplied by 0 or NaN, it neither rises nor falls. */
static dependence scaled(const dependence *x, value_sign factor)
{
	dependence r = { .uses = x->uses };
	switch (factor) {
	case SIGN_ANY:
		break;
	case SIGN_PLUS:
		return *x;
	case SIGN_MINUS:
		return turned(x);
	case SIGN_BOTH:
		FOR_CHOICES(i, j)
			r.monotone[i][j] = x->monotone[i][j] |
					   x->monotone[i][!j];
		break;
	}
	return r;
}

/* x times a factor. */
static dependence times(const dependence *x, const value_facts *factor)
{
	return scaled(x, factor->zero ? SIGN_BOTH : factor->sign.sign);
}

/* x * y: each factor is scaled by the sign of the other in the reads that only
 * it uses. */
static void multiplied(dependence *r, const value_facts *is,
		       const dependence *on)
{
	dependence x = times(&on[0], &is[1]), y = times(&on[1], &is[0]);
	rising(r, &x, &y);
}

/* x / y.  Divided by 0, x / y is infinite with the sign of that 0, or NaN;
 * where y may be 0 at some points it may have another sign there. */
static void divided(dependence *r, const dependence *on, const value_facts *by)
{
	const dependence y = { .uses = on[1].uses };
	bool signed_zero = by->zero && by->sign.sign != SIGN_BOTH;
	if (by->sign.nonzero || signed_zero) {
		dependence x = scaled(&on[0], by->sign.sign);
		rising(r, &x, &y);
	}
}

/* Removes passing of Or by a comparison.  Comparisons with NaN are false, and
 * NaN is the maximum and minimum where it occurs: the parts' conditions combine
 * by And, which one NaN makes false, but not by Or. */
static void forget_or(dependence *r)
{
	for (int i = 0; i < NCHOICES; i++)
		r->monotone[i][BY_MAX] = 0;
}

static void monotone_fn(dependence *r, fn f, const value_facts *is,
			const dependence *on)
{
	dependence x = turned(&on[0]), y = turned(&on[1]);
	switch (fn_table[f].monotone) {
	case FN_RISES:
		rising(r, &on[0], &on[1]);
		break;
	case FN_FALLS:
		rising(r, &x, &y);
		break;
	case FN_RISES_FALLS:
		rising(r, &on[0], &y);
		break;
	case FN_FALLS_RISES:
		rising(r, &x, &on[1]);
		break;
	case FN_SCALED:
		multiplied(r, is, on);
		break;
	case FN_DIVIDED:
		divided(r, on, &is[1]);
		break;
	case FN_NOT_MONOTONE:
		break;
	}
}

/* ---- dependence on reads ------------------------------------------------ */

dependence depend_any(const dependence *x, const dependence *y)
{
	return (dependence){ .uses = x->uses | y->uses };
}

dependence depend_on_read(uint64_t bits, const dependence *index)
{
	dependence r = { .uses = index->uses | bits,
			 .linear = bits & ~index->uses };
	for (int i = 0; i < NCHOICES; i++)
		r.monotone[i][i] = r.linear;
	return r;
}

/* Arithmetic on integers wraps around. */
dependence depend_on_fn(fn f, const value_facts *is, const dependence *on)
{
	static const value_facts any;
	static const dependence none;
	bool two = fn_nargs(f) > 1;
	const value_facts of[2] = { is[0], two ? is[1] : any };
	const dependence by[2] = { on[0], two ? on[1] : none };
	dependence r = depend_any(&by[0], &by[1]);
	bool real = types_all(types_meet(of[0].types, of[1].types),
			      dtype_is_float);
	fn_choice choice = fn_table[f].choice;
	r.linear = linear_fn(f, of, by);
	if (choice != FN_NO_CHOICE)
		extreme(&r, by, choice == FN_GREATEST ? BY_MAX : BY_MIN);
	else if (real || fn_gives_bool(f))
		monotone_fn(&r, f, of, by);
	if (real && fn_is_comparison(f))
		forget_or(&r);
	return r;
}

/* Whether a true condition gives the greater value (SIGN_PLUS) or the lesser
 * one, because one of both is the limit of their type.  If both are, the
 * condition decides nothing. */
static value_sign decided(const value_facts *is)
{
	type_set types = types_meet(is[0].types, is[1].types);
	if (!types || !types_all(types, has_limits))
		return SIGN_ANY;
	if (is[0].limit != SIGN_ANY && is[0].limit == is[1].limit)
		return SIGN_BOTH;
	if (is[1].limit == SIGN_MINUS || is[0].limit == SIGN_PLUS)
		return SIGN_PLUS;
	return is[0].limit == SIGN_MINUS || is[1].limit == SIGN_PLUS
		       ? SIGN_MINUS
		       : SIGN_ANY;
}

dependence depend_on_choice(const dependence *c, const value_facts *is,
			    const dependence *on)
{
	dependence r = depend_any(&on[0], &on[1]);
	dependence by_test = scaled(c, decided(is));
	uint64_t branches = r.uses;
	rising(&r, &on[0], &on[1]);
	FOR_CHOICES(i, j) {
		r.monotone[i][j] |= on[0].monotone[i][j] &
				    on[1].monotone[i][j];
		r.monotone[i][j] &= ~c->uses;
		r.monotone[i][j] |= by_test.monotone[i][j] & ~branches;
	}
	r.linear = linear_sum(is, on) & ~c->uses;
	r.uses |= c->uses;
	return r;
}

/* For a divided input each part adds the value outside, so this must be 0. */
dependence depend_on_guarded(const dependence *index, const value_facts *is,
			     const dependence *on)
{
	const dependence inside = { .uses = index->uses };
	dependence r = depend_on_choice(&inside, is, on);
	if (!is[1].zero)
		r.linear = 0;
	return r;
}

dependence depend_on_cast(dependence x, type_set from, type_set to)
{
	if (!all_conversions(from, to, conversion_adds))
		x.linear = 0;
	if (!all_conversions(from, to, conversion_rises))
		memset(x.monotone, 0, sizeof(x.monotone));
	return x;
}
