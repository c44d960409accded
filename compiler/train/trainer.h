/* The state of graph_train(), shared by the files train*.c, backward.c and
 * optimizer.c. */
#ifndef TDL_COMPILER_TRAIN_TRAINER_H
#define TDL_COMPILER_TRAIN_TRAINER_H

#include "compiler/graph/builder.h"
#include "compiler/graph/canonical.h"
#include "compiler/train/train.h"

/* The gradient of an operator by one of its parameters. */
typedef struct grad_rule {
	const ast_op *op;    /* NULL: none, because .. */
	const char *because; /* .. of this; NULL: it is 0 */
	/* by parameter of op: the operator's parameter, or ~r for the
	 * derivative by result r */
	const int *args;
	const int *attrs; /* by attribute of op: the operator's attribute */
} grad_rule;

/* An operator with attributes, read from a text such as
 * "adamw,weight_decay=0.1". */
typedef struct named_op {
	const char *option; /* the option with that text, for messages */
	const ast_op *op;
	const attr_value **attrs;
} named_op;

typedef struct optimizer optimizer; /* optimizer.c */

/* A term of the derivative by a tensor: the one through one of its readers. */
typedef struct grad_part {
	int call; /* on the tape; reads the tensor as parameter .. */
	int param;
	int reader, depth; /* .. ; its place and depth in trainer.order; NONE */
	uint64_t kernel;   /* what it computes, there; 0 */
	tensor_id value;
} grad_part;

/* By tensor that existed before the backward pass: */
typedef struct flow {
	bool moves;  /* depends on weights that may be trained */
	bool wanted; /* its derivative is needed */
	int first;   /* the first call on the tape that contributes to it */
	VEC(grad_part) parts; /* not yet summed */
	tensor_id adjoint;    /* the summed derivative; NONE */
} flow;

typedef struct trainer {
	graph_builder *b;
	const train_options *o;
	tensor_id loss;
	int ntensors;
	flow *flow;
	graph_numbers order; /* of the nodes and tensors of the forward pass */
	VEC(tensor_id) weights; /* trained weights */
	strmap *rules;		/* operator's name -> grad_rule ** */
	strmap *constants;	/* fills made so far */
	const ast_op *sum;	/* adds two tensors of one type */
	optimizer *optimizer;
} trainer;

/* Adds an error at a call, or at the model if site has no place; returns
 * false. */
bool train_error(trainer *t, diag_id id, call_site site, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

bool train_same_type(const tensor_type *x, const tensor_type *y);

/* An operator of the library; NULL, with an error, if there is none. */
const ast_op *train_library(trainer *t, const char *name);

/* A tensor with the same value everywhere. */
tensor_id train_fill(trainer *t, const tensor_type *type, double value);

/* The place of faults in an option, given by its name in base/options.def. */
call_site train_option_site(const trainer *t, const char *name);

/* train_option.c: reads the text of an option.  A key that gives the name of an
 * attribute when "default_" is put in front means that attribute: "sgd,lr=0.1".
 * Returns false after adding errors. */
bool train_read_option(trainer *t, const char *option, const char *text,
		       named_op *to);

/* train_order.c: computes trainer.order. */
void train_find_order(trainer *t);

/* train_terms.c: joins some of the n terms of a sum, if one kernel computes
 * them from different tensors, where that moves fewer bytes.  Returns the
 * number of terms that there are then. */
int train_join_terms(trainer *t, grad_part *parts, int n);

/* train_loss.c: adds the operator of --loss, and its label. */
bool train_add_loss(trainer *t);

/* train_doubt.c: warns of constants of an ONNX model that would be trained but
 * may not be weights. */
void train_doubt(trainer *t);

/* backward.c: marks the tensors that depend on weights and lead to the loss. */
void backward_plan(trainer *t);
/* Adds the backward pass; calls optimizer_step() when the derivative by a
 * weight is complete. */
bool backward_add(trainer *t);

/* optimizer.c: reads the option.  Returns false after adding errors. */
bool optimizer_open(trainer *t);
/* The state by which the loss is scaled, so that gradients stay in the range of
 * f16; NONE if it is not scaled. */
tensor_id optimizer_loss_scale(trainer *t);
/* Called when the derivative by a weight is known. */
bool optimizer_gradient(trainer *t, tensor_id weight, tensor_id gradient);
/* Called when all are known: clips, and removes states that no weight depends
 * on. */
bool optimizer_close(trainer *t);

/* recompute.c: makes the backward pass recompute the tensors that the option
 * selects.  The first nforward nodes are the forward pass.  Returns false after
 * adding errors. */
bool recompute(trainer *t, int nforward);

#endif
