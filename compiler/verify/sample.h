/* The state of one draw, shared by the files sample_*.c alone. */
#ifndef TDL_COMPILER_VERIFY_SAMPLE_H
#define TDL_COMPILER_VERIFY_SAMPLE_H

#include "compiler/verify/trial.h"

enum { MAX_RANK = 4 };

typedef struct drawer {
	arena *arena;
	rng *r;
	const ast_op *op;
	const role *roles;
	draw *d;
	int64_t max;	 /* of an extent */
	int rank;	 /* at most, of a pack */
	bool empty;	 /* extents of 0 are drawn, too */
	bool repeats;	 /* operands are broadcast */
	bool defaults;	 /* are preferred */
	bool plain;	 /* packs of one dimension, of two where axes are
			    selected, then the last */
	dtype shared, of_float, of_int;
} drawer;

/* ---- sample_signature.c ------------------------------------------------- */

draw_pack *sample_find_pack(draw *d, const char *name);
int64_t sample_extent(drawer *w);
/* The element `at` of attribute i, or of its default; false if there is none,
 * or i is -1. */
bool sample_eval_attr(const drawer *w, int i, int64_t at, int64_t *v);

/* ---- sample_attribute.c ------------------------------------------------- */

dtype sample_float_type(drawer *w);
dtype sample_int_type(drawer *w);
/* Draws the attribute i.  Returns false if there is nothing to draw from; an
 * attribute that is to have its default is left without a value. */
bool sample_attribute(drawer *w, int i, bool shapes_known);

#endif
