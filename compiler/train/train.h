/* From a model to a step of its training.
 *
 * An importer of a model to be trained calls graph_record() before the first
 * call of an operator, and graph_train() once the model's outputs are set:
 *
 *	b = graph_begin(..);
 *	if (o->train)
 *		graph_record(b, o->train);
 *	..
 *	if (o->train)
 *		graph_train(b);
 *	g = graph_finish(b); */
#ifndef TDL_COMPILER_TRAIN_TRAIN_H
#define TDL_COMPILER_TRAIN_TRAIN_H

#include "compiler/graph/graph.h"

/* The value of recompute that leaves the choice to a plan of several stages: it
 * only sets the graph's recompute_stages. */
#define TRAIN_BY_STAGE "stage"

/* fnmatch() patterns for names of weights. */
typedef struct weight_globs {
	const char *const *at;
	int n;
	bool *used; /* receives which of them match a weight */
} weight_globs;

typedef struct train_options {
	/* An operator on the model's first output and a label, with attributes,
	 * as in "softmax_cross_entropy,ignore_index=0"; NULL: the output called
	 * "loss". */
	const char *loss;
	/* An operator of opdefs/optimizer.tdl with attributes, as in
	 * "adamw,weight_decay=0.1"; see docs/training.md. */
	const char *optimizer;
	double clip_norm;	/* of all gradients together; 0: no clipping */
	/* "bf16" or "f16" for computing; NULL: the model's own */
	const char *precision;
	/* what the backward pass recomputes; NULL: nothing */
	const char *recompute;
	weight_globs freeze; /* not trained */
	/* If there are any, only these are trained; they may name single
	 * numbers of an ONNX model too. */
	weight_globs only;
	/* Evaluate the weights instead of training them: those that would be
	 * trained are states that do not change. */
	bool evaluate;
} train_options;

/* Whether a pattern matches the name of a weight; marks those that do as
 * used. */
bool weight_globs_match(const weight_globs *g, const char *name);

/* Starts recording what graph_train() needs: calls, and constants folded from
 * weights. */
void graph_record(graph_builder *b, const train_options *o);

/* Adds the backward pass and the optimizer: weights become states with a next
 * value; for evaluation, states without one.  Returns false after adding
 * errors. */
bool graph_train(graph_builder *b);

#endif
