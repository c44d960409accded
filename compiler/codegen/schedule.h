/* How a kernel is computed: which loop is innermost, what is kept in
 * registers, what is packed.  Found in the structure of its body alone. */
#ifndef TDL_COMPILER_CODEGEN_SCHEDULE_H
#define TDL_COMPILER_CODEGEN_SCHEDULE_H

#include "compiler/codegen/nest.h"

typedef enum schedule_kind {
	SCHEDULE_MAP,	  /* nothing is reduced: a nest of loops */
	SCHEDULE_STRIP,	  /* an accumulator for each element of a strip of the
			     result, the loops that reduce around the strip */
	SCHEDULE_SINGLE,  /* one accumulator */
	SCHEDULE_PRODUCT, /* a sum of products as matrices, tdl/product.h */
} schedule_kind;

typedef struct schedule {
	schedule_kind kind;
	nest nest;
	int inner; /* the innermost loop; -1 where there is none */

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
} schedule;

schedule schedule_of(const kernel *k);

/* Where running along a loop reads memory: the sum over the reads of e of how
 * many elements one step goes, FAR_STEP where it leaves the innermost
 * dimension. */
enum { FAR_STEP = 1 << 16 };
int64_t step_of(const nest *n, const kexpr *e, int l);

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
