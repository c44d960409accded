/* The state of graph_train(), shared by the files train*.c, backward.c and
 * optimizer.c. */
#ifndef TDL_COMPILER_TRAIN_TRAINER_H
#define TDL_COMPILER_TRAIN_TRAINER_H

#include "compiler/graph/builder.h"
#include "compiler/graph/canonical.h"
#include "compiler/train/train.h"

/* The gradient of an operator by one of its parameters. */
typedef struct grad_rule {
	const ast_op *op;    /* NULL where there is none, because .. */
	const char *because; /* .. of this; NULL: it is 0 */
	const int *args;  /* by parameter of op: that of the operator, or ~r for
			     the derivative by the result r */
	const int *attrs; /* by attribute of op: that of the operator */
} grad_rule;

/* An operator with attributes out of a text as in "adamw,weight_decay=0.1". */
typedef struct named_op {
	const char *option; /* that the text was given with, for messages */
	const ast_op *op;
	const attr_value **attrs;
} named_op;

typedef struct optimizer optimizer; /* optimizer.c */

/* A part of the derivative by a tensor: that through one of its readers. */
typedef struct grad_part {
	int call; /* on the tape, that reads the tensor as parameter .. */
	int param;
	int reader, depth; /* .. and its place and depth in trainer.order;
			      NONE */
	tensor_id value;
} grad_part;

/* By tensor, of those that there were before the backward pass: */
typedef struct flow {
	bool moves;  /* it depends on weights that may be trained */
	bool wanted; /* its derivative is needed */
	int first;   /* the first call on the tape that adds to it */
	VEC(grad_part) parts; /* that are not summed up yet */
	tensor_id adjoint;    /* the derivative, summed up; NONE */
} flow;

typedef struct trainer {
	graph_builder *b;
	const train_options *o;
	tensor_id loss;
	int ntensors;
	flow *flow;
	graph_numbers order; /* of the nodes and tensors of the forward pass */
	VEC(tensor_id) weights; /* those that are trained */
	strmap *rules;		/* of an operator's name: grad_rule ** */
	strmap *constants;	/* fills that were made */
	const ast_op *sum;	/* adds two tensors of one type */
	optimizer *optimizer;
} trainer;

/* Adds an error at a call, or at the model if site has no place; returns
 * false. */
bool train_error(trainer *t, diag_id id, call_site site, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

bool train_same_type(const tensor_type *x, const tensor_type *y);

/* An operator of the library; NULL, with an error, where there is none. */
const ast_op *train_library(trainer *t, const char *name);

/* A tensor that is one value everywhere. */
tensor_id train_fill(trainer *t, const tensor_type *type, double value);

/* The place of faults in an option, by its name in base/options.def. */
call_site train_option_site(const trainer *t, const char *name);

/* train_option.c: reads the text of an option.  False where errors were
 * added.  A key that with "default_" in front is the name of an attribute means
 * that: "sgd,lr=0.1". */
bool train_read_option(trainer *t, const char *option, const char *text,
		       named_op *to);

/* train_order.c: finds trainer.order. */
void train_find_order(trainer *t);

/* train_loss.c: adds the operator of --loss, and its label. */
bool train_add_loss(trainer *t);

/* train_doubt.c: warns of constants of an ONNX model that are to be trained
 * and may be no weights. */
void train_doubt(trainer *t);

/* backward.c: marks the tensors that depend on weights and lead to the loss. */
void backward_plan(trainer *t);
/* Adds the backward pass; calls optimizer_step() when the derivative by a
 * weight is complete. */
bool backward_add(trainer *t);

/* optimizer.c: reads the option; false where errors were added. */
bool optimizer_open(trainer *t);
/* The state that the loss is scaled by, so that gradients stay in the range of
 * f16; NONE where it is not. */
tensor_id optimizer_loss_scale(trainer *t);
/* The derivative by a weight is known. */
bool optimizer_gradient(trainer *t, tensor_id weight, tensor_id gradient);
/* All are: clips, and drops states that no weight depends on. */
bool optimizer_close(trainer *t);

/* recompute.c: makes the tensors that the option selects computed again; the
 * first nforward nodes are the forward pass.  False where errors were added. */
bool recompute(trainer *t, int nforward);

#endif
