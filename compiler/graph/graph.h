/* A model as a graph of kernels on tensors of known shapes. */
#ifndef TDL_COMPILER_GRAPH_GRAPH_H
#define TDL_COMPILER_GRAPH_GRAPH_H

#include "base/vec.h"
#include "compiler/expand/expand.h"

typedef int tensor_id;
typedef int node_id;
enum { NONE = -1 };

typedef enum tensor_kind {
	TENSOR_INPUT,	 /* fed in each run */
	TENSOR_CONSTANT, /* known when planning: weights, folded constants */
	TENSOR_RESULT,	 /* computed by a node */
} tensor_kind;

/* Where the elements of a constant are.  Little-endian, dense, row-major. */
typedef struct constant {
	const void *data;   /* in memory, or NULL */
	const char *path;   /* else in this file, .. */
	int64_t offset;	    /* .. from this byte; the length is the tensor's */
	bool fill;	    /* data is one element, repeated */
} constant;

typedef struct tensor {
	const char *name; /* unique in the graph */
	tensor_kind kind;
	tensor_type type;
	bool output; /* of the model */
	node_id producer;
	constant constant;
} tensor;

typedef struct node {
	const char *name; /* unique: of the model's node, or made up; a stage
			     adds ".label" */
	const char *op;	  /* the operator that it comes from, and the stage:
			     "softmax.m" */
	const kernel *kernel; /* shared by nodes that compute the same */
	tensor_id *inputs;    /* kernel->ninputs of them */
	tensor_id output;
	/* The model's operator that it comes from, a survey_kind; NULL where
	 * no survey was asked for. */
	const char *origin;
} node;

typedef struct graph {
	const char *name; /* of the model: its file without folder and ending */
	int ntensors, nnodes;
	tensor *tensors;
	node *nodes; /* in topological order */
	int ninputs, noutputs;
	tensor_id *inputs, *outputs; /* in the model's order */
} graph;

/* Elements and bytes of a tensor; they fit, because importers check it. */
int64_t tensor_nelem(const tensor_type *t);
int64_t tensor_nbytes(const tensor_type *t);

/* The most bytes that a tensor may have, that all tensors of a graph and all
 * reads and writes of its nodes may add up to: with a few thousand devices
 * every figure still fits 63 bits, see graph_traffic(). */
#define GRAPH_MAX_BYTES ((int64_t)1 << 50)

/* Whether dimensions are not negative, and they and the bytes are at most
 * GRAPH_MAX_BYTES. */
bool tensor_type_ok(const tensor_type *t);

/* "f32 [1, 3, 224, 224]" */
char *tensor_type_text(arena *a, const tensor_type *t);

/* Constants of a type that is not an integer, in bytes. */
int64_t graph_parameter_bytes(const graph *g);
/* Over all nodes; INT64_MAX where it does not fit. */
int64_t graph_flops(const graph *g);

/* Bytes of all tensors, and of all that nodes read and write, each whole.  What
 * k devices move and hold is at most 2k times that. */
int64_t graph_traffic(const graph *g);

/* ---- building ---------------------------------------------------------- */

typedef struct graph_builder graph_builder;

graph_builder *graph_begin(arena *a, const tdl_modules *m, diag_sink *s,
			   const char *name);
tensor_id graph_add_input(graph_builder *b, const char *name,
			  const tensor_type *t);
tensor_id graph_add_constant(graph_builder *b, const char *name,
			     const tensor_type *t, const constant *c);
/* Memory that lives as long as the graph, for constants. */
void *graph_alloc(graph_builder *b, size_t size);
/* What is known of a tensor so far; the name may still change. */
const tensor *graph_tensor(const graph_builder *b, tensor_id t);
const tensor_type *graph_type(const graph_builder *b, tensor_id t);

/* The elements of a constant of at most `limit` bytes, read where they are in
 * a file; NULL if t is no such constant.  For a fill they are spread out. */
const void *graph_constant_data(graph_builder *b, tensor_id t, int64_t limit);

/* Calls an operator: adds a node per stage, named after `name`, and writes
 * the operator's nresults results to results.  Nodes that follow each other
 * with one name (the same pointer) and come from several calls have the
 * operators' names added.  A stage whose inputs are constants is computed at
 * once where that is cheap, see fold.c.  Returns false when errors were
 * added. */
bool graph_call(graph_builder *b, const ast_op *op, const char *name,
		const tensor_id *args, const attr_value *const *attrs,
		call_site site, tensor_id *results);

/* Gives a tensor that a call or graph_add_constant() made the name that it has
 * in the model.  The first name stays. */
void graph_name(graph_builder *b, tensor_id t, const char *name);

/* The same for an output of the model.  What cannot be one itself (an input, a
 * constant, what is an output already) is copied by a node. */
void graph_set_output(graph_builder *b, tensor_id t, const char *name);

/* The finished graph: what no output depends on is gone, but for inputs;
 * equal kernels are one; names are unique.  NULL when errors were added. */
graph *graph_end(graph_builder *b);

/* ---- models from files ------------------------------------------------- */

/* What a survey says of the model's own operators of one kind. */
typedef struct survey_kind {
	const char *op; /* "Conv", "com.microsoft Gelu" */
	int nodes;	/* those in functions and inner graphs, too */
	int unsupported;
	int unknown; /* not looked into: what an unsupported one makes is not
			known */
} survey_kind;

/* A node of the model that is not supported.  What it makes is an input of the
 * graph where the model declares its shape. */
typedef struct survey_node {
	const char *name, *op, *why;
	int64_t input_bytes, output_bytes; /* of what is known, at most
					      2^62 */
} survey_node;

typedef struct model_survey {
	VEC(survey_kind) kinds; /* in the order in which they come first */
	VEC(survey_node) unsupported;
} model_survey;

/* What the command line says of a model. */
typedef struct model_options {
	int nsizes; /* -D name=value: symbolic dimensions */
	const char **size_names;
	const int64_t *sizes;
	int nshapes; /* --shape input=AxB */
	const char **shape_names;
	const tensor_type *shapes; /* type unused */
	bool *size_used, *shape_used; /* set by the importer */
	model_survey *survey; /* NULL, or what to fill in: then the import goes
				 on after nodes that are not supported */
} model_options;

/* Reads an ONNX model.  NULL when errors were added. */
graph *onnx_import(arena *a, const tdl_modules *m, diag_sink *s,
		   const char *path, const model_options *o);

#endif
