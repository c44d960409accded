/* The schedule of a kernel: the innermost loop, the values in registers, the
 * operands that are packed.  It follows from the structure of the body
 * alone. */
#ifndef TDL_COMPILER_CODEGEN_SCHEDULE_H
#define TDL_COMPILER_CODEGEN_SCHEDULE_H

#include "compiler/codegen/nest.h"
#include "plan/kept.h"

typedef enum nest_kind {
	SCHEDULE_MAP,	  /* nothing is reduced: a nest of loops */
	SCHEDULE_STRIP,	  /* an accumulator for each element of a strip of the
			     result, the loops that reduce around the strip */
	SCHEDULE_SINGLE,  /* the loops that reduce inside those of the result,
			     one accumulator, or lanes of them */
	SCHEDULE_PRODUCT, /* a sum of products as matrices, tdl/product.h */
	SCHEDULE_SCATTER, /* terms under a condition that determines their
			     elements: each is added to its element, in
			     memory */
	SCHEDULE_SCAN,	  /* a running reduction: of the terms up to, or from,
			     the result's own index */
} nest_kind;

enum { MAX_WHERES = 8, MAX_TURNS = 4 };

/* A condition on a term: that `e` holds; or, where `loop` is not -1, that the
 * loop's variable is sign * (e - rest), in which rest is an affine sum that
 * leaves the loop out. */
typedef struct where {
	const kexpr *e;
	int loop, sign;
	linear rest;
} where;

/* A condition on terms of a product, that `sum` is a multiple of `by`: those of
 * elements whose variable is `row` more than a multiple of `by` are terms whose
 * variable is so much more than a multiple of `step`, or none are.  The rest of
 * the sum moves with loops around the product alone. */
typedef struct turn {
	int row, term; /* loops, of the result and of the depth */
	int64_t by, step;
	linear sum;
} turn;

typedef struct schedule {
	nest_kind kind;
	nest nest;
	int inner; /* the innermost loop; -1 where there is none */

	/* SCHEDULE_SINGLE: the innermost loop is long, and its terms are
	 * divided among accumulators. */
	bool lanes;

	/* SCHEDULE_MAP: a loop along which memory is read in order, where it
	 * is not along the innermost: the two are walked in squares. Else -1.
	 * SCHEDULE_STRIP: the strip is short, for each of its elements is read
	 * from memory of its own. */
	int across;
	bool narrow;

	/* SCHEDULE_PRODUCT: the body is the product of left and right, in one
	 * order or the other.  `left` does not depend on columns, `right` not
	 * on rows. */
	const kexpr *left, *right;
	bool left_first; /* the body is left * right */
	loop_set outer, rows, cols, depth;

	/* SCHEDULE_PRODUCT: the conditions under which one factor is not 0.
	 * For each class of elements the product has no other terms, if the
	 * other factor, `finite`, has no infinite elements or NaN. */
	int nturns;
	turn turns[MAX_TURNS];
	const kexpr *finite;

	/* The reduced term: the body, or, for a scatter or a scan, its value
	 * where its condition holds.  Elsewhere it is the reducer's identity,
	 * or a constant that changes nothing beside any term. */
	const kexpr *term, *otherwise; /* NULL for the identity */

	/* SCHEDULE_SCATTER: the conditions, in order; the loops around them.
	 * Variables that a condition determines have no loop. */
	int nwheres;
	where wheres[MAX_WHERES];
	loop_set given, around;

	/* SCHEDULE_SCAN: the terms are those of loop `step` up to `shift` more
	 * than the result's loop `along`; or, where `down`, from there on. */
	int along, step;
	int64_t shift;
	bool down;
} schedule;

schedule schedule_of(const kernel *k);
/* The same of plain loops, whatever the body is. */
schedule schedule_of_loops(const kernel *k);

/* Of a long product on the CPU, the side that fills tiles of whole vectors
 * becomes the columns, where the other one does not. */
void schedule_fill(schedule *s);

/* Has the terms of a product on the CPU go in turns where one factor is 0 for
 * most of them, as those of transposed convolutions in steps are.
 * (schedule_turn.c) */
void schedule_turn(schedule *s);

/* The factors of a kernel's product that can be kept in packed form; none of
 * other schedules.  (kept.c) */
void schedule_keeps(const schedule *s, const kernel *k,
		    kept_factor to[KEPT_SIDES]);

/* Whether a term that is e changes no reduction.  (schedule_where.c) */
bool adds_nothing(reducer r, const kexpr *e);

/* A reduction under a condition as a scatter or as a scan, if its condition
 * allows it.  (schedule_where.c) */
bool as_scatter(schedule *s, const kernel *k);
bool as_scan(schedule *s, const kernel *k);

/* Whether the result may lie where an input lies, kernel_in_place().
 * (schedule_where.c) */
bool any_in_place(const kernel *k);

/* The distance of reads along a loop: the sum over the reads of e of the number
 * of elements that one step goes, FAR_STEP if it leaves the innermost
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
