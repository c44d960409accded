/* A step of training of a plain network of many layers, for what depends on
 * the order of a program and on its size. */
#ifndef TDL_TESTS_UNIT_LADDER_H
#define TDL_TESTS_UNIT_LADDER_H

#include "compiler/planners/search.h"

typedef struct ladder {
	int layers;
	int64_t batch, width;
	bool shared;  /* one weight for all layers, as in an unrolled loop */
	bool clipped; /* gradients are scaled by the norm of all of them */
} ladder;

/* h = max(h . w, 0) for each layer, forwards and backwards; then, after all
 * gradients, as an importer writes it, w - rate * gradient for each weight.
 * The loss is the sum of the last h. */
graph *ladder_graph(arena *a, const ladder *l);

/* Activations cut along the batch on every axis, weights along their first
 * dimension, so that gradients are reduced and weights are fetched. */
assignment ladder_assignment(arena *a, const graph *g, const mesh *m);

#endif
