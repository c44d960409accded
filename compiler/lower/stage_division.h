/* Divisions of the nodes of a graph in turns among the stages of a pipeline.
 *
 * All stages have the same number of chunks; part q = chunk * nstages + stage
 * is chunk `chunk' of stage `stage'.  In a turn the forward passes of all parts
 * come in order, then their backward passes in reverse order. */
#ifndef TDL_COMPILER_LOWER_STAGE_DIVISION_H
#define TDL_COMPILER_LOWER_STAGE_DIVISION_H

#include "compiler/graph/graph.h"
#include "compiler/graph/turns.h"
#include "plan/plan.h"

/* By node; chunk and pass are only for nodes of the body. */
typedef struct stage_division {
	int nstages, nchunks;
	const int *stage, *chunk;
	const plan_pass *pass;
} stage_division;

static inline int stage_part_of(const stage_division *d, node_id n)
{
	return d->chunk[n] * d->nstages + d->stage[n];
}

/* By node, in a: whether it is a layer, whose part is to be chosen.  Layers are
 * nodes of the forward pass in the body that are computed with a weight, or
 * from one that is.  Any choice is valid in which no layer reads one of a later
 * part. */
bool *stage_layers(arena *a, const graph *g);

/* The division, in a, of all nodes of a graph whose layers are divided:
 * parts[n] is the part of layer n; other elements are not read.
 *
 * - Other nodes of the forward pass, and nodes that run once before the turns
 *   (casts of weights), go with the first of their readers.
 * - A node of the backward pass goes with the forward node that it serves
 *   (graph_passes); if it reads what the backward pass of an earlier part
 *   computes, it goes there.
 * - A node after the turns goes with the state that it computes, which lies
 *   with its first reader; else with the largest of its inputs; if there are
 *   several such places, with the state whose update reads it.
 * - Nodes that only lead to gradients of what is the same in all turns are
 *   PASS_WEIGHT: they may be computed when there is time. */
stage_division stage_division_new(arena *a, const graph *g, int nstages,
				  int nchunks, const int *parts);

/* The reason why a division is not a pipeline, in a; NULL if it is one.
 * Conditions: nothing is read before it is computed, in the order above; what
 * PASS_WEIGHT computes is read in the body only by that pass of its part; the
 * parts of a sum over the turns belong to one stage; so do a state and its next
 * value, which no other stage reads. */
const char *stage_division_refused(arena *a, const graph *g,
				   const stage_division *d);

#endif
