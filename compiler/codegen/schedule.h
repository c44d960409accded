/* The schedule of a kernel: its innermost loop, the values in registers, the
 * packed operands.  It follows from the structure of the body alone. */
#ifndef TDL_COMPILER_CODEGEN_SCHEDULE_H
#define TDL_COMPILER_CODEGEN_SCHEDULE_H

#include "compiler/codegen/nest.h"
#include "plan/kept.h"

typedef enum nest_kind {
	SCHEDULE_MAP,	  /* no reduction: a nest of loops */
	/* an accumulator for each element of a strip of the result; the
	 * reducing loops are around the strip */
	SCHEDULE_STRIP,
	/* the reducing loops are inside those of the result, with one
	 * accumulator, or lanes of them */
	SCHEDULE_SINGLE,
	SCHEDULE_PRODUCT, /* a sum of products as matrices, tdl/product.h */
	/* terms under a condition that determines their elements: each is added
	 * to its element in memory */
	SCHEDULE_SCATTER,
	/* a running reduction: over the terms up to, or from, the result's own
	 * index */
	SCHEDULE_SCAN,
} nest_kind;

enum { MAX_WHERES = 8, MAX_TURNS = 4 };

/* A condition on a term.  If loop is -1: `e' holds.  Otherwise: the loop's
 * variable is sign * (e - rest), where rest is an affine sum without the
 * loop. */
typedef struct where {
	const kexpr *e;
	int loop, sign;
	linear rest;
} where;

/* A condition on the terms of a product: `sum' is a multiple of `by'.  The
 * elements whose row variable has one remainder by `by' have terms with one
 * remainder of the term variable by `step', or none; without such a variable,
 * all terms or none.  The rest of the sum depends only on loops around the
 * product. */
typedef struct turn {
	int row, term; /* loops, of the result and of the depth; -1: none */
	int64_t by, step;
	linear sum;
} turn;

typedef struct schedule {
	nest_kind kind;
	nest nest;
	int inner; /* the innermost loop; -1 where there is none */

	/* SCHEDULE_SINGLE: the innermost loop is long; its terms are divided
	 * among several accumulators. */
	bool lanes;

	/* SCHEDULE_MAP, across: a loop along which memory is read in order if
	 * the innermost is not one; the two are walked in squares.  Else -1.
	 * SCHEDULE_STRIP, narrow: the strip is short, because each of its
	 * elements reads memory of its own. */
	int across;
	bool narrow;

	/* SCHEDULE_PRODUCT: the body is the product of left and right, in
	 * either order.  `left' does not depend on columns, `right' not on
	 * rows. */
	const kexpr *left, *right;
	bool left_first; /* the body is left * right */
	loop_set outer, rows, cols, depth;

	/* SCHEDULE_PRODUCT: conditions under which one factor is not 0.  If the
	 * other factor, `finite', has no infinity or NaN, only the terms that
	 * meet them matter for each class of elements. */
	int nturns;
	turn turns[MAX_TURNS];
	const kexpr *finite;

	/* The reduced term: the body, or, for a scatter or a scan, its value
	 * where its condition holds.  Elsewhere the value is `otherwise': the
	 * reducer's identity, or a constant that no term is changed by. */
	const kexpr *term, *otherwise; /* NULL for the identity */

	/* SCHEDULE_SCATTER: the conditions, in order; the loops around them.
	 * Variables that a condition determines have no loop. */
	int nwheres;
	where wheres[MAX_WHERES];
	loop_set given, around;

	/* SCHEDULE_SCAN: the terms run over loop `step' up to the value of the
	 * result's loop `along' plus `shift'; with `down', from there on. */
	int along, step;
	int64_t shift;
	bool down;
} schedule;

schedule schedule_of(const kernel *k);
/* The same for the CPU: with schedule_fill() and schedule_turn().  There a
 * product of two rows reads a matrix once; plain loops would for each row. */
schedule schedule_on_cpu(const kernel *k);
/* A schedule of plain loops, whatever the body is. */
schedule schedule_of_loops(const kernel *k);

/* For a long product on the CPU: swaps rows and columns if the rows fill tiles
 * of whole vectors and the columns do not. */
void schedule_fill(schedule *s);

/* For a product on the CPU in which one factor is 0 for most terms, as in
 * strided transposed convolutions: makes its terms go in turns.
 * (schedule_turn.c) */
void schedule_turn(schedule *s);

/* The factors of a kernel's product that can be kept packed (plan/kept.h); none
 * for other schedules.  (kept.c) */
void schedule_keeps(const schedule *s, const kernel *k,
		    kept_factor to[KEPT_SIDES]);

/* Whether a term e leaves every reduction by r unchanged.
 * (schedule_where.c) */
bool adds_nothing(reducer r, const kexpr *e);

/* Makes a reduction under a condition a scatter or a scan, if its condition
 * allows it; returns whether it did.  (schedule_where.c) */
bool as_scatter(schedule *s, const kernel *k);
bool as_scan(schedule *s, const kernel *k);

/* Whether kernel_in_place() allows the result to be in the place of some input.
 * (schedule_where.c) */
bool any_in_place(const kernel *k);

/* The distance of reads along a loop: the sum over the reads of e of the number
 * of elements that one step moves; FAR_STEP if it leaves the innermost
 * dimension. */
enum { FAR_STEP = 1 << 16 };
int64_t step_of(const nest *n, const kexpr *e, int l);

/* The loops of the result. */
loop_set output_loops(const nest *n);

/* The last loop of a set, the first one; -1 for an empty set. */
static inline int set_last(loop_set s)
{
	return s ? 63 - __builtin_clzll(s) : -1;
}

static inline int set_first(loop_set s)
{
	return s ? __builtin_ctzll(s) : -1;
}

#endif
