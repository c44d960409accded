/* The state of a graph being built, shared by build.c, fold.c and end.c. */
#ifndef TDL_COMPILER_GRAPH_BUILDER_H
#define TDL_COMPILER_GRAPH_BUILDER_H

#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"
#include "compiler/graph/graph.h"

/* A tensor; .t.name is NULL until it has one of the model's names. */
typedef struct built_tensor {
	tensor t;
	int node;	   /* that makes it, NONE */
	tensor_id next_of; /* the state that it becomes, NONE */
	/* The constant that it is equal to as long as no weight is trained,
	 * NONE. */
	tensor_id known;
	/* Of a weight in a shorter type: 1 + the tensor that is the same, made
	 * again for the backward pass; 0: none yet. */
	tensor_id again;
	bool recorded; /* a call on the tape has it as its result */
	/* Of a constant that was computed from weights, by this kernel (NULL:
	 * the same elements in another shape) from these; else NULL. */
	const kernel *folded;
	tensor_id *from;
	int nfrom;
	bool number; /* graph_add_number() */
	bool read;   /* its elements have gone into the graph itself */
} built_tensor;

typedef struct built_node {
	const char *base;  /* the name that the call was given */
	const char *op;	   /* the operator's */
	const char *label; /* the stage's, "" */
	int call;	   /* nodes of one call have one number */
	const kernel *kernel;
	tensor_id *inputs;
	tensor_id output;
	const char *origin;
	int forward, step, cell; /* as in node; forward is an index here */
	call_site site;
} built_node;

/* The result of a kernel on these inputs. */
typedef struct built_value {
	const kernel *kernel;
	tensor_id *inputs;
	tensor_id value;
} built_value;

/* A call of an operator, kept for the backward pass. */
typedef struct tape_call {
	const ast_op *op;
	const attr_value *const *attrs;
	const char *name;
	call_site site;
	tensor_id *args, *results;
	bool *own; /* by result: no earlier call on the tape has it; another
		    * operator may have computed it on its way */
} tape_call;

typedef struct built_expansion built_expansion; /* call.c */

struct graph_builder {
	arena *arena; /* of the graph */
	arena *tmp;   /* until graph_finish() */
	tdl_modules *modules;
	diag_sink *sink;
	const char *name;
	int nerrors; /* of the sink at graph_begin() */
	VEC(built_tensor *) tensors;
	VEC(built_node) nodes;
	VEC(tensor_id) inputs;
	VEC(tensor_id) outputs;
	VEC(tensor_id) sources; /* what outputs are, or are copies of */
	VEC(built_expansion *) expansions; /* of all calls so far */
	VEC(const kernel *) kernels;	   /* no two are equal */
	VEC(built_value) values;	   /* so that none is computed twice */
	hash_table by_call, by_kernel, by_inputs; /* of these three */
	int ncalls;
	call_site model; /* where it is */
	call_site site;	 /* of the nodes that are added */
	const char *origin; /* of the nodes that are added */
	int64_t fold_budget; /* points that may still be computed */
	int forward, step, cell; /* of the nodes that are added */
	const struct train_options *train; /* NULL: nothing is recorded */
	VEC(tape_call) tape;
	bool training; /* the backward pass is being added, or was */
	bool free_weights; /* graph_free_weights() */
	bool recompute_stages; /* of the graph */
	dtype precision; /* what is computed in beside f32, DT_NONE */
	const ast_op *converter; /* the operator that converts; NULL: not yet */
	tensor_id loss, learning_rate, loss_scale;
	int64_t length; /* of the graph, as the position */
	tensor_id position;
};

/* A new tensor of the graph without a name. */
tensor_id build_tensor(graph_builder *b, tensor_kind kind,
		       const tensor_type *t);
/* A kernel that equals k: k itself if it is the first of its kind. */
const kernel *build_share(graph_builder *b, const kernel *k);

tensor_type build_result_type(const kernel *k);
/* A node of a kernel, and its result. */
tensor_id build_node(graph_builder *b, const kernel *k, const char *base,
		     const char *op, const char *label,
		     const tensor_id *inputs);
/* A kernel that copies a tensor of a type. */
kernel *build_copy_kernel(arena *a, const tensor_type *t);
/* A node that gives tensor t as it is. */
tensor_id build_copy(graph_builder *b, tensor_id t, const char *name);
/* The constant that a tensor is, or is as long as no weight is trained; NONE
 * where it is not known. */
tensor_id build_known(const graph_builder *b, tensor_id t);

/* Makes to[t] stand for tensor t wherever it is read. */
void build_replace(graph_builder *b, const tensor_id *to);

/* A kernel in which constants of one value stand for the inputs that have it,
 * and operations that are trivial then are left out: x*1, x + 0, and as in
 * derivatives 0*x.  inputs[] are made to fit.  k itself where nothing
 * changes. */
const kernel *build_specialized(graph_builder *b, const kernel *k,
				tensor_id *inputs);

/* precision.c: converts the arguments of a call that is recorded to the type
 * that it computes in; false where errors were added. */
bool precision_arguments(graph_builder *b, const ast_op *op, const char *name,
			 call_site site, tensor_id *args);
/* Converts *t, of which `name` is made, where the type is a short one for
 * --precision alone. */
bool precision_restore(graph_builder *b, tensor_id *t, dtype to,
		       const char *name);

/* A kernel that reads, for inputs that are conversions of shorter floats with
 * --precision, these; inputs[] are made to fit.  k itself where nothing
 * changes.  In the backward pass weights in a shorter type are converted
 * again. */
const kernel *precision_widened(graph_builder *b, const kernel *k,
				tensor_id *inputs);

/* A tensor's name, or one made up; "_2", "_3", .. is added where one of `taken'
 * has it. */
const char *build_unique_name(graph_builder *b, strmap *taken,
			      const char *name);

/* The folds that live constants take.  build_find_folds() is called when it is
 * known which tensors nodes and outputs use, and turns weights into states if
 * they are to be; build_place_folds() when the tensors have their numbers and
 * names. */
typedef struct built_folds {
	bool *needed; /* by tensor: a fold reads or makes it */
	bool *varies; /* it is a state or follows from some */
} built_folds;
built_folds build_find_folds(graph_builder *b, const bool *live);
void build_place_folds(graph_builder *b, graph *g, const built_folds *f,
		       const tensor_id *number, strmap *taken);

/* A name as a plan can have it. */
const char *graph_presentable(arena *a, const char *name);

/* Computes a stage when planning, if its inputs are constants and that is
 * cheap.  FOLD_NOT: it has to be a node.  FOLD_FAILED: errors were added. */
typedef enum fold_result { FOLD_NOT, FOLD_DONE, FOLD_FAILED } fold_result;
fold_result fold_stage(graph_builder *b, const kernel *k,
		       const tensor_id *inputs, call_site site,
		       tensor_id *result);

#endif
