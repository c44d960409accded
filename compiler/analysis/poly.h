/* Polynomials with integer coefficients over named sizes, attributes and
 * iteration variables.  Floor divisions, remainders, minima and maxima are
 * atoms.  Index expressions and extents are polynomials.
 *
 * A poly is immutable and in normal form: equal polynomials have equal terms in
 * equal order.  NULL stands for "not known": a number that does not fit 64
 * bits, a polynomial that grows too large, a data-dependent index.  Every
 * function accepts NULL and returns NULL for it, so that a chain of operations
 * needs one check at its end. */
#ifndef TDL_COMPILER_ANALYSIS_POLY_H
#define TDL_COMPILER_ANALYSIS_POLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum {
	POLY_MAX_DEGREE = 10,
	POLY_MAX_TERMS = 200,
	POLY_MAX_ATOMS = 2000,
	/* named atoms in an atom, counting repetitions */
	POLY_MAX_WEIGHT = 400,
	POLY_NO_MIN = INT32_MIN, /* of an atom: it may be negative */
};

typedef enum atom_kind {
	ATOM_SIZE,
	ATOM_ATTR, /* an attribute, or an element of one: "pads[0]" */
	ATOM_VAR,  /* an iteration variable, or an end of its block */
	ATOM_DIV,  /* floor(x / y), y > 0 */
	ATOM_MOD,  /* x - y * floor(x / y), y > 0 */
	ATOM_MIN,
	ATOM_MAX,
} atom_kind;

/* coefficient * atom[0] * .. * atom[n-1]; atoms ascend, and are repeated for
 * powers. */
typedef struct term {
	int64_t coefficient; /* not 0 */
	int16_t n;
	int16_t atom[POLY_MAX_DEGREE]; /* below POLY_MAX_ATOMS */
} term;

typedef struct poly {
	int n;
	term *terms; /* constant term last */
} poly;

typedef struct poly_atom {
	atom_kind kind;
	const char *name;	/* of the first three kinds */
	const poly *x, *y;	/* of the others */
	int weight;
	/* The range of an atom: min <= atom, and atom <= max where max is not
	 * NULL. */
	int64_t min;
	const poly *max;
} poly_atom;

/* The atoms of one operator.  A poly has a meaning only in its space. */
typedef struct poly_space {
	arena *arena;
	int natoms, cap;
	poly_atom *atoms;
	int64_t *effort; /* remaining steps of proofs; NULL: no bound */
} poly_space;

poly_space *poly_space_new(arena *a);

/* Adds a named atom and returns its number; each call makes a new one, even for
 * a name in use. -1 if there are too many. */
int poly_new_atom(poly_space *s, atom_kind kind, const char *name,
		  int64_t min);

const poly *poly_int(arena *a, int64_t i);
const poly *poly_of(arena *a, int atom); /* NULL for -1 */
const poly *poly_add(arena *a, const poly *x, const poly *y);
const poly *poly_sub(arena *a, const poly *x, const poly *y);
const poly *poly_mul(arena *a, const poly *x, const poly *y);
const poly *poly_scale(arena *a, const poly *x, int64_t by);
/* x + i */
const poly *poly_shift(arena *a, const poly *x, int64_t i);

/* These may add atoms to s.  Divisors are positive by the rules of the
 * language; a constant divisor that is not gives NULL. */
const poly *poly_div(poly_space *s, const poly *x, const poly *y);
const poly *poly_mod(poly_space *s, const poly *x, const poly *y);
const poly *poly_min(poly_space *s, const poly *x, const poly *y);
const poly *poly_max(poly_space *s, const poly *x, const poly *y);

bool poly_equal(const poly *x, const poly *y);
bool poly_is_constant(const poly *x, int64_t *value);
static inline bool poly_is_zero(const poly *x)
{
	return x && x->n == 0;
}

/* Whether an atom, or any of a kind, occurs in x, including inside other
 * atoms. */
bool poly_uses(const poly_space *s, const poly *x, int atom);
bool poly_uses_kind(const poly_space *s, const poly *x, atom_kind kind);

/* Splits x = c * atom + rest, with c and rest free of the atom.  Returns false
 * if x is not of that form. */
bool poly_split(const poly_space *s, arena *a, const poly *x, int atom,
		const poly **c, const poly **rest);

/* x with every occurrence of the atom replaced by `by'. */
const poly *poly_subst(poly_space *s, const poly *x, int atom, const poly *by);

/* The value of x if the named atom i has the value values[i].  Returns false if
 * it does not fit, or a divisor is not positive. */
bool poly_eval(const poly_space *s, const poly *x, const int64_t *values,
	       int64_t *r);

/* The value of an atom with these two operands; false if a divisor is not
 * positive. */
bool poly_operation(atom_kind kind, int64_t x, int64_t y, int64_t *r);

/* Canonical text: "X - DX + 1", "(H - R) / strides[0] + 1". */
char *poly_text(arena *a, const poly_space *s, const poly *x);

/* ---- proofs ------------------------------------------------------------ */

/* Facts in addition to the ranges of the atoms: each polynomial is >= 0. */
typedef struct poly_facts {
	int n;
	const poly *const *at;
} poly_facts;

/* Whether x >= 0 follows from the ranges and from f, which may be NULL.  Sound
 * but incomplete: false means "not shown". */
bool poly_nonneg(const poly_space *s, const poly_facts *f, const poly *x);

/* Whether a point was found at which x < 0 and all known facts hold, so that
 * there is no proof. x is not NULL. */
bool poly_refuted(const poly_space *s, const poly_facts *f, const poly *x);

#endif
