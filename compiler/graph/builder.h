/* The state of a graph being built, shared by build.c, fold.c and end.c. */
#ifndef TDL_COMPILER_GRAPH_BUILDER_H
#define TDL_COMPILER_GRAPH_BUILDER_H

#include "base/vec.h"
#include "compiler/graph/graph.h"

/* A tensor; .t.name is NULL until it has one of the model's names. */
typedef struct built_tensor {
	tensor t;
	int node;	   /* that makes it, NONE */
	tensor_id next_of; /* the state that it becomes, NONE */
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
} built_node;

struct graph_builder {
	arena *arena; /* of the graph */
	arena *tmp;   /* until graph_end() */
	tdl_modules *modules;
	diag_sink *sink;
	const char *name;
	int nerrors; /* of the sink at graph_begin() */
	VEC(built_tensor *) tensors;
	VEC(built_node) nodes;
	VEC(tensor_id) inputs;
	VEC(tensor_id) outputs;
	strmap *expansions; /* what was expanded before, by all it depends on */
	const kernel **kernels; /* hash table of distinct kernels */
	int nkernels, nslots;
	int ncalls;
	const char *origin; /* of the nodes that are added */
	int64_t fold_budget; /* points that may still be computed */
	int forward;	     /* of the nodes that are added */
	bool training;
	tensor_id loss, learning_rate;
};

/* A new tensor of the graph without a name. */
tensor_id build_tensor(graph_builder *b, tensor_kind kind,
		       const tensor_type *t);
/* A kernel that equals k: k itself if it is the first of its kind. */
const kernel *build_share(graph_builder *b, const kernel *k);

/* A name as a plan can have it. */
const char *graph_presentable(arena *a, const char *name);

/* Computes a stage when planning, if its inputs are constants and that is
 * cheap.  FOLD_NOT: it has to be a node.  FOLD_FAILED: errors were added. */
typedef enum fold_result { FOLD_NOT, FOLD_DONE, FOLD_FAILED } fold_result;
fold_result fold_stage(graph_builder *b, const kernel *k,
		       const tensor_id *inputs, call_site site,
		       tensor_id *result);

#endif
