/* Abstract interpretation of expressions: facts about a value that hold
 * whatever the elements are, and how the value depends on the elements.
 *
 * Two interpreters share the transfer functions below, which read the columns
 * of functions.def: kernel/abstract_kernel.c for kernels, and compiler/analysis
 * for operators before their shapes are known.  Each walks its own tree and
 * supplies the facts of the leaves. */
#ifndef TDL_KERNEL_ABSTRACT_H
#define TDL_KERNEL_ABSTRACT_H

#include <stdint.h>

#include "kernel/kernel.h"
#include "kernel/sign.h"

/* ---- types -------------------------------------------------------------- */

/* The element types that a value may have, dtype t as bit t.  Empty for a
 * literal, which takes the type of its context. */
typedef uint32_t type_set;

static inline type_set type_only(dtype t)
{
	return (type_set)1 << t;
}

type_set types_where(bool (*holds)(dtype));
/* Whether `holds' is true for all types of s; true for a literal. */
bool types_all(type_set s, bool (*holds)(dtype));
/* The types of an operation whose operands have one type. */
type_set types_meet(type_set x, type_set y);

/* Floats precise enough that partial sums may be rounded before they are added:
 * not those of few bits, nor those without 0. */
bool dtype_keeps_sums(dtype t);

/* ---- facts -------------------------------------------------------------- */

typedef struct value_facts {
	type_set types;
	sign_facts sign;
	/* it is 0, where 0 times anything and 0 by anything count as 0 */
	bool zero;
	/* an integer of variables and sizes, which does not overflow */
	bool counts;
	/* The constant that is an upper, or a lower, bound of all values of the
	 * type: inf, or -inf. */
	value_sign limit;
} value_facts;

value_facts facts_of_constant(type_set types, double x);
/* Any element of the types. */
value_facts facts_of_element(type_set types);
/* The facts of f(is[0], is[1]), or f(is[0]); `equal': both arguments are the
 * same expression. */
value_facts facts_of_fn(fn f, const value_facts *is, bool equal);
/* The facts that hold for both is[0] and is[1]. */
value_facts facts_of_choice(const value_facts *is);
value_facts facts_of_cast(value_facts x, type_set to);

/* ---- dependence on reads ------------------------------------------------ */

enum { BY_MAX, BY_MIN, NCHOICES };

/* The reads on which a value depends; bit i stands for the reads to which the
 * interpreter gave slot i.  In the reads of a slot the value is
 *	linear	if it is a sum of terms, each of which has exactly one of them
 *		as a factor: it is additive in them, and 0 where they are 0
 *	monotone[i][j]	if it maps the maximum (i = BY_MAX) or minimum
 *		(BY_MIN) of two values for all of them to the maximum (j =
 *		BY_MAX) or minimum of the two results */
typedef struct dependence {
	uint64_t uses, linear;
	uint64_t monotone[NCHOICES][NCHOICES];
} dependence;

/* Depends in any way on all that x and y depend on. */
dependence depend_any(const dependence *x, const dependence *y);
/* An element read for the slots in bits, at an index. */
dependence depend_on_read(uint64_t bits, const dependence *index);
/* f of one or two arguments, with facts is[] and dependences on[]. */
dependence depend_on_fn(fn f, const value_facts *is, const dependence *on);
/* c ? on[0] : on[1]. */
dependence depend_on_choice(const dependence *c, const value_facts *is,
			    const dependence *on);
/* A read on[0] at an index; outside of the input the value is on[1]. */
dependence depend_on_guarded(const dependence *index, const value_facts *is,
			     const dependence *on);
dependence depend_on_cast(dependence x, type_set from, type_set to);

/* ---- kernels (abstract_kernel.c) ---------------------------------------- */

/* The dependence of a kernel's body on the reads of some inputs, a bit each.
 * All are slot SLOT_INPUT.  Those whose index in dimension d depends on
 * elements are also slot SLOT_LOOKUP + d. */
enum { SLOT_INPUT, SLOT_LOOKUP };

dependence kernel_dependence(const kernel *k, uint32_t inputs);

#endif
