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
	int node;	   /* that computes it, NONE */
	tensor_id next_of; /* the state whose next value it is, NONE */
	/* The constant that it equals as long as no weight is trained, NONE. */
	tensor_id known;
	/* For a weight in a shorter type: 1 + the number of the equal tensor
	 * that is converted again for the backward pass; 0: none yet. */
	tensor_id again;
	bool recorded; /* it is a result of a call on the tape */
	/* For a constant computed from weights: the kernel (NULL: the same
	 * elements in another shape) and the tensors it was computed from.
	 * Else from is NULL. */
	const kernel *folded;
	tensor_id *from;
	int nfrom;
	bool number; /* added by graph_add_number() */
	bool read;   /* the graph itself depends on its elements */
} built_tensor;

typedef struct built_node {
	const char *base;  /* the name that the call was given */
	const char *op;	   /* the operator's */
	const char *label; /* the stage's, "" */
	int call;	   /* the same for all nodes of one call */
	const kernel *kernel;
	tensor_id *inputs;
	tensor_id output;
	const char *origin;
	int forward, step, cell; /* as in node, but forward is an index here */
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
	/* by result: no earlier call on the tape has it.  Another operator may
	 * have computed it as an intermediate */
	bool *own;
} tape_call;

typedef struct built_expansion built_expansion; /* call.c */

struct graph_builder {
	arena *arena; /* of the graph */
	arena *tmp;   /* for temporaries, until graph_finish() */
	tdl_modules *modules;
	diag_sink *sink;
	const char *name;
	int nerrors; /* errors in the sink at graph_begin() */
	VEC(built_tensor *) tensors;
	VEC(built_node) nodes;
	VEC(tensor_id) inputs;
	VEC(tensor_id) outputs;
	/* by output: the tensor that it is, or is a copy of */
	VEC(tensor_id) sources;
	VEC(built_expansion *) expansions; /* of all calls so far */
	VEC(const kernel *) kernels;	   /* no two are equal */
	/* so that nothing is computed twice */
	VEC(built_value) values;
	/* look up the three tables above */
	hash_table by_call, by_kernel, by_inputs;
	int ncalls;
	call_site model; /* the place of the model */
	call_site site;	 /* for the nodes being added */
	const char *origin; /* for the nodes being added */
	int64_t fold_budget; /* points that folding may still compute */
	int forward, step, cell; /* for the nodes being added */
	const struct train_options *train; /* NULL: nothing is recorded */
	VEC(tape_call) tape;
	bool training; /* the backward pass is being added, or has been */
	bool free_weights; /* graph_free_weights() */
	bool recompute_stages; /* of the graph */
	dtype precision; /* the type for computing besides f32; DT_NONE */
	/* the operator for conversions; NULL: not yet */
	const ast_op *converter;
	tensor_id loss, learning_rate, loss_scale;
	int64_t length; /* of the graph, as the position */
	tensor_id position;
};

/* A new tensor of the graph without a name. */
tensor_id build_tensor(graph_builder *b, tensor_kind kind,
		       const tensor_type *t);
/* Returns a kernel that equals k: k itself if it is the first of its kind. */
const kernel *build_share(graph_builder *b, const kernel *k);

tensor_type build_result_type(const kernel *k);
/* Adds a node that runs a kernel; returns its result. */
tensor_id build_node(graph_builder *b, const kernel *k, const char *base,
		     const char *op, const char *label,
		     const tensor_id *inputs);
/* A kernel that copies a tensor of a type. */
kernel *build_copy_kernel(arena *a, const tensor_type *t);
/* Adds a node that copies tensor t; returns its result. */
tensor_id build_copy(graph_builder *b, tensor_id t, const char *name);
/* The constant that a tensor is, or equals as long as no weight is trained;
 * NONE if unknown. */
tensor_id build_known(const graph_builder *b, tensor_id t);

/* Replaces each tensor t by to[t] wherever it is read. */
void build_replace(graph_builder *b, const tensor_id *to);

/* k with inputs that have one constant value replaced by it, and without the
 * operations that become trivial (x*1, x + 0 and, as in derivatives, 0*x).
 * Adapts inputs[].  Returns k itself if nothing changes. */
const kernel *build_specialized(graph_builder *b, const kernel *k,
				tensor_id *inputs);

/* precision.c: converts the arguments of a recorded call to the type in which
 * it computes.  Returns false after adding errors. */
bool precision_arguments(graph_builder *b, const ast_op *op, const char *name,
			 call_site site, tensor_id *args);
/* Converts *t, from which `name' is computed, to a type, if *t has a short type
 * only because of --precision. */
bool precision_restore(graph_builder *b, tensor_id *t, dtype to,
		       const char *name);

/* k reading the shorter floats directly where its inputs are conversions of
 * them made by --precision.  Adapts inputs[].  Returns k itself if nothing
 * changes.  In the backward pass weights in a shorter type are converted
 * again. */
const kernel *precision_widened(graph_builder *b, const kernel *k,
				tensor_id *inputs);

/* A tensor's name, or a made-up one, with "_2", "_3", .. appended if it is in
 * `taken'. */
const char *build_unique_name(graph_builder *b, strmap *taken,
			      const char *name);

/* The folds that live constants need. build_find_folds() is called when it is
 * known which tensors nodes and outputs use; it turns weights into states if
 * requested. build_place_folds() is called when the tensors have numbers and
 * names. */
typedef struct built_folds {
	bool *needed; /* by tensor: a fold reads or computes it */
	bool *varies; /* by tensor: it is a state or depends on some */
} built_folds;
built_folds build_find_folds(graph_builder *b, const bool *live);
void build_place_folds(graph_builder *b, graph *g, const built_folds *f,
		       const tensor_id *number, strmap *taken);

/* A name changed so that plans accept it. */
const char *graph_presentable(arena *a, const char *name);

/* Computes a stage when planning if its inputs are constants and that is cheap.
 * FOLD_NOT: it must be a node.  FOLD_FAILED: errors were added. */
typedef enum fold_result { FOLD_NOT, FOLD_DONE, FOLD_FAILED } fold_result;
fold_result fold_stage(graph_builder *b, const kernel *k,
		       const tensor_id *inputs, call_site site,
		       tensor_id *result);

#endif
