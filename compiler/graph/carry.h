/* Outputs that become inputs of the next run: caches of decoders, states of
 * recurrent networks (docs/generation.md). */
#ifndef TDL_COMPILER_GRAPH_CARRY_H
#define TDL_COMPILER_GRAPH_CARRY_H

#include "compiler/graph/graph.h"

/* An output and the input that it becomes.  Each has at most one '*', which
 * stands for the same text in both. */
typedef struct carry_pair {
	const char *output, *input;
} carry_pair;

typedef struct carry_options {
	int npairs;
	const carry_pair *pairs;
	int64_t length; /* of the dimension that grows; 0: none */
	/* Inputs that are computed from the position, and the input that is the
	 * position; NULL: none, or a new input. */
	const char *mask, *positions, *position;
} carry_options;

/* Whether an input becomes a state. */
bool carry_takes(const carry_options *o, const char *input);

/* Makes states of these inputs, with the outputs as their next values.  Call it
 * after the model's outputs are set.  Returns false after adding errors. */
bool graph_carry(graph_builder *b, const carry_options *o);

#endif
