/* Polynomials with integer coefficients over named sizes, attributes and
 * iteration variables, with floor divisions, remainders, minima and maxima as
 * atoms: the expressions of which index expressions and extents are made.
 *
 * A poly is immutable and in normal form: equal polynomials have equal terms in
 * equal order.  NULL stands for "not known": a number that does not fit 64
 * bits, a polynomial that grows too large, a data-dependent index.  Every
 * function takes NULL and hands it on, so that a chain of operations is checked
 * once, at its end. */
#ifndef TDL_COMPILER_ANALYSIS_POLY_H
#define TDL_COMPILER_ANALYSIS_POLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum {
	POLY_MAX_DEGREE = 10,
	POLY_MAX_TERMS = 200,
	POLY_MAX_ATOMS = 2000,
	POLY_MAX_WEIGHT = 400, /* named atoms in an atom, repeated ones too */
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

/* coefficient * atom[0] * .. * atom[n-1], atoms ascending, repeated for a
 * power. */
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

/* The atoms of one operator; a poly means something only with its space. */
typedef struct poly_space {
	arena *arena;
	int natoms, cap;
	poly_atom *atoms;
	int64_t *effort; /* remaining steps of proofs; NULL: no bound */
} poly_space;

poly_space *poly_space_new(arena *a);

/* A new named atom; two of one name are different.  -1 when there are too
 * many. */
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

/* These may make atoms, in s.  A divisor is positive by the language's rules;
 * a constant one that is not gives NULL. */
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

/* Whether an atom, or one of a kind, occurs in x, also inside an atom. */
bool poly_uses(const poly_space *s, const poly *x, int atom);
bool poly_uses_kind(const poly_space *s, const poly *x, atom_kind kind);

/* x = c * atom + rest, neither of which has the atom in it; false where x is
 * not of that form. */
bool poly_split(const poly_space *s, arena *a, const poly *x, int atom,
		const poly **c, const poly **rest);

/* x with by in place of the atom, everywhere. */
const poly *poly_subst(poly_space *s, const poly *x, int atom, const poly *by);

/* The value of x where values[i] is that of the named atom i.  False where it
 * does not fit, or a divisor is not positive. */
bool poly_eval(const poly_space *s, const poly *x, const int64_t *values,
	       int64_t *r);

/* The value of an atom of two operands that have these; false where a divisor
 * is not positive. */
bool poly_operation(atom_kind kind, int64_t x, int64_t y, int64_t *r);

/* Canonical text: "X - DX + 1", "(H - R) / strides[0] + 1". */
char *poly_text(arena *a, const poly_space *s, const poly *x);

/* ---- proofs ------------------------------------------------------------ */

/* Facts besides the ranges of the atoms: each is >= 0. */
typedef struct poly_facts {
	int n;
	const poly *const *at;
} poly_facts;

/* Whether x >= 0 follows; f may be NULL.  Sound, not complete: false means
 * "not shown". */
bool poly_nonneg(const poly_space *s, const poly_facts *f, const poly *x);

/* Whether some point was found where x < 0 and all that is known holds, so that
 * there is no proof; x is not NULL. */
bool poly_refuted(const poly_space *s, const poly_facts *f, const poly *x);

#endif
