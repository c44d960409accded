/* Evaluates onnx entries: from a node of an ONNX model to calls of operators.
 * Models in TDL are evaluated by the same code, see model.c.
 *
 * The language and its functions are described in docs/language.md, "Bodies".
 * Nothing here depends on protobuf or on any operator. */
#ifndef TDL_COMPILER_MODEL_EVAL_H
#define TDL_COMPILER_MODEL_EVAL_H

#include "compiler/model/model.h"

typedef enum mkind {
	MV_BAD,	 /* an error was added */
	MV_NULL, /* not given */
	MV_INT,
	MV_BOOL,
	MV_TYPE, /* .i is a dtype */
	MV_FLOAT,
	MV_STRING,
	MV_TENSOR, /* .i is a tensor_id */
	MV_GRAPH,  /* .graph is a graph inside the node */
	MV_INIT,   /* .init is the distribution of a parameter */
	MV_LIST,   /* of tensors: a sequence */
} mkind;

/* A value in a body: that of a name in an entry.  Also a value between the
 * nodes of a model: a tensor, a sequence, or nothing. */
typedef struct mvalue mvalue;
typedef struct mstore mstore;
struct mvalue {
	mkind kind;
	int n; /* items */
	union {
		int64_t i;
		double f;
		const char *s;
		const void *graph;
		const constant *init;
		const mvalue *items;
	};
	/* the store of the items, which may have room for more; NULL */
	mstore *store;
};

typedef struct mapping_attr {
	const char *name;
	/* Both NULL if no entry can declare an attribute of this kind. */
	const attr_value *value;
	const void *graph;
} mapping_attr;

/* Evaluates a graph inside a node for these inputs.  Stores the outputs, which
 * live as long as the import, and their number.  Returns false after adding
 * errors. */
typedef bool (*mapping_graph)(void *context, const void *graph,
			      const mvalue *inputs, int ninputs,
			      const mvalue **outputs, int *noutputs);

/* A node, without the parts specific to ONNX. */
typedef struct mapping_node {
	const char *name;  /* for the names of its nodes in the graph */
	const char *place; /* for messages: "model.onnx: node 'x' (Conv)" */
	int ninputs;
	const mvalue *inputs; /* MV_NULL where left out */
	int noutputs;
	int number; /* unique among the nodes of the model */
	/* For rebatched(): the inputs' types with the shapes that the model
	 * itself declares for its inputs; NULL if --shape was not given or they
	 * are unknown. */
	const tensor_type *const *before;
	int nattrs;
	const mapping_attr *attrs;
	mapping_graph run_graph; /* with this context */
	void *context;
} mapping_node;

/* Evaluates an entry for a node.  Writes nwanted results, MV_NULL for those
 * that the entry omits; sequences are in a.  Returns false after adding
 * errors. */
bool mapping_apply(arena *a, graph_builder *b, const tdl_modules *m,
		   diag_sink *s, const ast_onnx *entry, const mapping_node *n,
		   int nwanted, mvalue *results);

mvalue mv_tensor(tensor_id t); /* NONE: MV_NULL */

/* The element type with number `type' in ONNX; DT_NONE if tdlc has no such
 * type. */
dtype mapping_onnx_type(int64_t type);

#endif
