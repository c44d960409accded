/* The loops of a kernel, and its indices as sums over them.
 *
 * A variable is one loop, or two if the kernel divides it by a constant: v = d
 * * (v / d) + v % d makes v / d and v % d loops of their own, so that both are
 * affine.  A variable with a single value has no loop. */
#ifndef TDL_COMPILER_CODEGEN_NEST_H
#define TDL_COMPILER_CODEGEN_NEST_H

#include "kernel/kernel.h"

enum { MAX_LOOPS = 2 * MAX_NVARS };

typedef enum loop_part {
	LOOP_WHOLE,	/* the variable */
	LOOP_QUOTIENT,	/* variable / divisor */
	LOOP_REMAINDER, /* variable % divisor; follows its quotient */
	/* every divisor-th value of the variable, from the first of a class on;
	 * only in products (schedule_turn.c) */
	LOOP_TURN,
} loop_part;

typedef struct loop {
	int var;
	loop_part part;
	int64_t divisor;
	int64_t extent; /* an upper bound; >= 0 */
	bool reduced;
	const char *name; /* in C */
} loop;

typedef struct nest {
	const kernel *k;
	int n;
	loop loops[MAX_LOOPS]; /* in the order of the variables */
	int first[MAX_NVARS];  /* loop of a variable; -1 if it has none */
} nest;

/* A set of loops, a bit for each. */
typedef uint64_t loop_set;

static inline loop_set loop_bit(int l)
{
	return (loop_set)1 << l;
}

static inline loop_set all_loops(const nest *n)
{
	return n->n ? ~(loop_set)0 >> (64 - n->n) : 0;
}

/* The loops of k.  `whole' has a bit for each variable that must not be
 * divided. */
nest nest_of(const kernel *k, uint32_t whole);

/* c + sum of coef[l] * loop l, where `affine`. */
typedef struct linear {
	bool affine;
	int64_t c;
	int64_t coef[MAX_LOOPS];
} linear;

/* An integer expression as a sum over the loops.  Not affine if it reads a
 * tensor, divides in another way than the loops do, or could overflow. */
linear linear_of(const nest *n, const kexpr *e);

linear linear_minus(const nest *n, linear x, linear y);
/* x + by * y */
linear linear_plus(const nest *n, linear x, linear y, int64_t by);

/* Whether the offset of a read's element is an affine sum if the input, whole
 * or a part along its first dimension, is in row-major order.  The indices
 * themselves need not be affine.  (flat.c) */
bool linear_offset(const nest *n, const kexpr *read, linear *x);

/* The least and largest value of an affine sum; false if they are too large. */
bool linear_range(const nest *n, const linear *x, int64_t *lo, int64_t *hi);

/* The loops that an expression depends on. */
loop_set loops_of(const nest *n, const kexpr *e);

/* The loop of e if e is variable / d or variable % d of a divided variable;
 * else -1. */
int nest_part(const nest *n, const kexpr *e);

#endif
