/* From a model to a step of its training.
 *
 * An importer that is to train calls graph_record() before the first call of
 * an operator, and graph_train() when the model's outputs are set:
 *
 *	b = graph_begin(..);
 *	if (o->train)
 *		graph_record(b, o->train);
 *	..
 *	if (o->train)
 *		graph_train(b);
 *	g = graph_finish(b);
 */
#ifndef TDL_COMPILER_TRAIN_TRAIN_H
#define TDL_COMPILER_TRAIN_TRAIN_H

#include "compiler/graph/graph.h"

/* To recompute what a plan of several stages decides: the graph is as without
 * it, but for recompute_stages. */
#define TRAIN_BY_STAGE "stage"

/* Patterns of fnmatch() for names of weights. */
typedef struct weight_globs {
	const char *const *at;
	int n;
	bool *used; /* set: which ones name a weight */
} weight_globs;

typedef struct train_options {
	/* An operator of the model's first output and a label, and attributes
	 * as in "softmax_cross_entropy,ignore_index=0"; NULL: the output that
	 * is called "loss". */
	const char *loss;
	/* An operator of opdefs/optimizer.tdl and its attributes, as in
	 * "adamw,weight_decay=0.1"; see docs/training.md. */
	const char *optimizer;
	double clip_norm;	/* of all gradients together; 0: as they are */
	const char *precision;	/* "bf16", "f16" to compute in; NULL: as is */
	const char *recompute;	/* by the backward pass; NULL: nothing */
	weight_globs freeze; /* these are not trained */
	/* Only these are, where there are any; of an ONNX model single numbers
	 * that it names, too. */
	weight_globs only;
	/* Not a step of training but an evaluation of its weights: those that
	 * would be trained are states, and stay as they are. */
	bool evaluate;
} train_options;

/* Whether a pattern matches the name of a weight; notes which ones do. */
bool weight_globs_match(const weight_globs *g, const char *name);

/* Keeps the records that graph_train() needs: the calls, and the constants
 * folded out of weights. */
void graph_record(graph_builder *b, const train_options *o);

/* Adds the backward pass, and the optimizer: weights become states with a
 * next; to evaluate, states without one.  False when errors were added. */
bool graph_train(graph_builder *b);

#endif
