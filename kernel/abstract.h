/* Abstract interpretation: the facts on a value that follow from the
 * expression that computes it, whatever the elements are, and how the value
 * depends on the elements.
 *
 * Two interpreters share the transfer functions below, which read the columns
 * of functions.def: kernel/abstract_kernel.c that of kernels, compiler/analysis
 * that of operators before shapes are known.  Each walks its own tree and says
 * what its leaves are. */
#ifndef TDL_KERNEL_ABSTRACT_H
#define TDL_KERNEL_ABSTRACT_H

#include <stdint.h>

#include "kernel/kernel.h"
#include "kernel/sign.h"

/* ---- types -------------------------------------------------------------- */

/* The element types that a value may have, dtype t as bit t; none of a literal,
 * which takes that of what it meets. */
typedef uint32_t type_set;

static inline type_set type_only(dtype t)
{
	return (type_set)1 << t;
}

type_set types_where(bool (*holds)(dtype));
/* Whether it holds of all; of a literal it does. */
bool types_all(type_set s, bool (*holds)(dtype));
/* Of an operation whose operands have one type. */
type_set types_meet(type_set x, type_set y);

/* Floats whose sum, rounded, is near enough to the sum of rounded ones: not
 * those of few bits, nor those without 0. */
bool dtype_keeps_sums(dtype t);

/* ---- facts -------------------------------------------------------------- */

typedef struct value_facts {
	type_set types;
	sign_facts sign;
	bool zero;   /* it is 0, 0 times or by anything being taken for 0 */
	bool counts; /* an integer of variables and sizes, which does not wrap
			around */
	/* The constant that no value of its type exceeds, or the one that none
	 * is less than: inf, or -inf. */
	value_sign limit;
} value_facts;

value_facts facts_of_constant(type_set types, double x);
/* Any element of the types. */
value_facts facts_of_element(type_set types);
/* Of f(is[0], is[1]), or f(is[0]); equal says that both are the same
 * expression. */
value_facts facts_of_fn(fn f, const value_facts *is, bool equal);
/* The facts that hold of both of is[2]. */
value_facts facts_of_choice(const value_facts *is);
value_facts facts_of_cast(value_facts x, type_set to);

/* ---- dependence on reads ------------------------------------------------ */

enum { BY_MAX, BY_MIN, NCHOICES };

/* The reads on which a value depends; bit i stands for those that the
 * interpreter has given slot i.  In the reads of a slot it is
 *
 *	linear	where it is a sum of terms each of which has exactly one of them
 *		as a factor, so that it is additive in them, and 0 where they
 *		are
 *	monotone[i][j]	where it maps the maximum (i = BY_MAX) or the minimum
 *		(BY_MIN) of two values for all of them to the maximum (j =
 *		BY_MAX) or the minimum of its own two values */
typedef struct dependence {
	uint64_t uses, linear;
	uint64_t monotone[NCHOICES][NCHOICES];
} dependence;

/* On what x and y do, in any way. */
dependence depend_any(const dependence *x, const dependence *y);
/* Of an element read for the slots in bits, at an index. */
dependence depend_on_read(uint64_t bits, const dependence *index);
/* Of f(..), of one or two arguments that is[] and on[] are about. */
dependence depend_on_fn(fn f, const value_facts *is, const dependence *on);
/* Of c ? on[0] : on[1]. */
dependence depend_on_choice(const dependence *c, const value_facts *is,
			    const dependence *on);
/* Of a read on[0] at an index whose value outside of the input is on[1]. */
dependence depend_on_guarded(const dependence *index, const value_facts *is,
			     const dependence *on);
dependence depend_on_cast(dependence x, type_set from, type_set to);

/* ---- kernels (abstract_kernel.c) ---------------------------------------- */

/* The dependence of a kernel's body on the reads of some inputs, a bit each:
 * all are slot SLOT_INPUT; those whose index in dimension d depends on elements
 * are slot SLOT_LOOKUP + d, too. */
enum { SLOT_INPUT, SLOT_LOOKUP };

dependence kernel_dependence(const kernel *k, uint32_t inputs);

#endif
