/* Evaluating onnx entries: from a node of an ONNX model to calls of operators.
 *
 * The language is that of design/language.md, "The mapping from ONNX"; its
 * functions are listed in opdefs/onnx/README.md.  Nothing here knows protobuf,
 * nor any operator. */
#ifndef TDL_COMPILER_GRAPH_MAPPING_H
#define TDL_COMPILER_GRAPH_MAPPING_H

#include "compiler/graph/graph.h"

typedef struct mapping_attr {
	const char *name;
	/* NULL where the attribute is of a kind that no entry can declare. */
	const attr_value *value;
} mapping_attr;

/* A node, without what is ONNX about it. */
typedef struct mapping_node {
	const char *name;  /* for its nodes in the graph */
	const char *place; /* for messages: "model.onnx: node 'x' (Conv)" */
	int ninputs;
	const tensor_id *inputs; /* NONE where left out */
	int noutputs;
	/* The inputs' types with the shapes that the model itself declares
	 * for its inputs, NULL where --shape was not given or that is not
	 * known.  For rebatched(). */
	const tensor_type *const *before;
	int nattrs;
	const mapping_attr *attrs;
} mapping_node;

/* Evaluates an entry for a node.  Writes nwanted results, NONE for those that
 * the entry leaves out.  Returns false when errors were added. */
bool mapping_apply(graph_builder *b, const tdl_modules *m, diag_sink *s,
		   const ast_onnx *entry, const mapping_node *n, int nwanted,
		   tensor_id *results);

/* The value of type `type` in ONNX's numbering, DT_NONE for what tdlc does not
 * have. */
dtype mapping_onnx_type(int64_t type);

#endif
