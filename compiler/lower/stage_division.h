/* Divisions of the nodes of a graph in turns among the stages of a pipeline.
 *
 * Each stage has as many chunks; part q = chunk * nstages + stage is chunk
 * `chunk' of stage `stage'.  In a turn the forward passes of all parts come in
 * their order, then their backward passes, backwards. */
#ifndef TDL_COMPILER_LOWER_STAGE_DIVISION_H
#define TDL_COMPILER_LOWER_STAGE_DIVISION_H

#include "compiler/graph/graph.h"
#include "compiler/graph/turns.h"
#include "plan/plan.h"

/* By node; chunks and passes count for those of the body alone. */
typedef struct stage_division {
	int nstages, nchunks;
	const int *stage, *chunk;
	const plan_pass *pass;
} stage_division;

static inline int stage_part_of(const stage_division *d, node_id n)
{
	return d->chunk[n] * d->nstages + d->stage[n];
}

/* By node, in a: whether it is a layer, whose part is to be chosen: of the
 * forward pass in the body, and computed with a weight, or from what is.  Any
 * choice is good for which no layer reads one of a later part. */
bool *stage_layers(arena *a, const graph *g);

/* The division, in a, of all nodes of a graph whose layers are divided:
 * parts[n] is the part of layer n; others are not read.
 *
 * - Other nodes of the forward pass go with the first of their readers, and so
 *   does what is once per run, before the turns: casts of weights.
 * - A node of the backward pass goes with the node of the forward pass that it
 *   is there for (graph_passes); but where it reads what the backward pass of
 *   an earlier part computes, there.
 * - What is behind the turns goes with the state that it makes, which lies with
 *   its first reader, and else to where the largest of its inputs is; of
 *   several such places to that of the state whose update reads it.
 * - PASS_WEIGHT is what only leads to gradients of what is the same in all
 *   turns: it may be computed when there is time. */
stage_division stage_division_new(arena *a, const graph *g, int nstages,
				  int nchunks, const int *parts);

/* The reason why a division is no pipeline, in a; NULL if it may be one:
 * nothing is read before it is computed, in the order above; what PASS_WEIGHT
 * computes, that pass of its part alone reads in the body; the parts of a sum
 * over the turns are one stage's, and a state and its next value, which no
 * other reads. */
const char *stage_division_refused(arena *a, const graph *g,
				   const stage_division *d);

#endif
