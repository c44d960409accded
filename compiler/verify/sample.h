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
	int64_t max;	 /* greatest extent */
	int rank;	 /* greatest rank of a pack */
	bool empty;	 /* draw extents of 0 too */
	bool repeats;	 /* broadcast operands */
	bool defaults;	 /* prefer defaults */
	/* packs have one dimension, or two if axes are selected, namely the
	 * last */
	bool plain;
	dtype shared, of_float, of_int;
} drawer;

/* ---- sample_signature.c ------------------------------------------------- */

draw_pack *sample_find_pack(draw *d, const char *name);
int64_t sample_extent(drawer *w);
/* The element `at' of attribute i, or of its default.  Returns false if there
 * is none, or i is -1. */
bool sample_eval_attr(const drawer *w, int i, int64_t at, int64_t *v);

/* ---- sample_attribute.c ------------------------------------------------- */

dtype sample_float_type(drawer *w);
dtype sample_int_type(drawer *w);
/* Draws attribute i.  Returns false if there is nothing to draw from.  An
 * attribute that is to have its default is left without a value. */
bool sample_attribute(drawer *w, int i, bool shapes_known);

#endif
