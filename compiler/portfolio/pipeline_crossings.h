/* Bytes that go between stages of layers, of a micro-batch: a device has a part
 * of them. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_CROSSINGS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_CROSSINGS_H

#include "compiler/portfolio/pipeline_layers.h"

/* Of a stage of layers [i, j) each table has the bytes at i (n + 1) + j.  A
 * stage keeps a result that its backward pass reads. */
typedef struct pipeline_crossings {
	const double *given; /* from outside, the batch included */
	const double *again; /* kept, and by a layer before i, too */
	/* Messages that are not kept, from and to stages before it, and from
	 * and to those behind it: results, and their gradients. */
	const double *before, *behind;
	/* Tensors that several layers read in all turns: each reading stage has
	 * them. */
	const double *shared;
	const bool *is_shared; /* by tensor */
	/* Of them, the number and bytes that come from stages before it. */
	const double *nreceived, *received;
} pipeline_crossings;

/* In a; d: each layer is a stage. */
const pipeline_crossings *pipeline_crossings_new(arena *a,
						 const pipeline_layers *l,
						 const stage_division *d);

/* Whether node n of a layer reads tensor t as one that a micro-batch brings
 * from outside: of another layer, or of the batch. */
bool pipeline_is_given(const pipeline_layers *l, tensor_id t, node_id n);

#endif
