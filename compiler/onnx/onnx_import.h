/* The state of an import, shared by the files onnx*.c. */
#ifndef TDL_COMPILER_ONNX_ONNX_IMPORT_H
#define TDL_COMPILER_ONNX_ONNX_IMPORT_H

#include "base/vec.h"
#include "compiler/model/eval.h"
#include "compiler/onnx/onnx.h"
#include "compiler/onnx/onnx_file.h"

enum {
	ONNX_MAX_CALLS = 64,	   /* nesting of functions and graphs */
	ONNX_MAX_NODES = 1000000,  /* evaluated, in the model's own graph */
	ONNX_MAX_INNER = 60000,    /* in functions and unrolled loops */
	ONNX_MAX_ITEMS = 1 << 20,  /* of all sequences together */
	/* bytes, over all evaluations of inner graphs and functions */
	ONNX_MAX_COPIED = 1 << 26,
	ONNX_MAX_OPSET = 28,	   /* the last one that the entries support */
};

/* The value of a name. */
typedef struct onnx_value {
	/* A tensor or a sequence.  MV_NULL: left out, or not computed.  MV_BAD:
	 * missing because of an error. */
	mvalue v;
	const char *why; /* why it is not computed; NULL if it was left out */
} onnx_value;

typedef struct onnx_opset {
	const char *domain; /* "" for ai.onnx */
	int version;
} onnx_opset;

/* A graph, one inside a node, or the body of a function: its names, and the
 * frame around it. */
typedef struct onnx_frame onnx_frame;
struct onnx_frame {
	const onnx_frame *outer; /* whose names are visible; NULL */
	const onnx_frame *caller; /* of the node that it belongs to; NULL */
	const Onnx__FunctionProto *function; /* whose body it is; NULL */
	const char *prefix;	 /* of its nodes' names */
	int depth;
	strmap *values; /* name -> onnx_value */
	int nopsets;
	const onnx_opset *opsets;
	/* For a function: the attributes of the call, and the defaults. */
	int nattrs;
	Onnx__AttributeProto **attrs;
};

/* An operator that has no entry. */
typedef struct onnx_missing {
	const char *op, *place; /* "com.example Foo", its first node */
	const char *domain, *type;
	int opset, count;
} onnx_missing;

typedef struct importer {
	arena *arena; /* for the graph */
	arena *tmp;   /* for temporaries */
	tdl_modules *modules;
	diag_sink *sink;
	const char *path;
	onnx_file file;
	const Onnx__ModelProto *model;
	const model_options *options;
	const char *length; /* the symbolic size that --carry-length gives */
	graph_builder *b;
	strmap *before; /* name -> tensor_type without --shape, or NULL */
	strmap *missing; /* op -> onnx_missing */
	int nnodes, ninner, nitems; /* at most ONNX_MAX_.. */
	int64_t copied;
	int depth; /* of the graph or function at hand */
	strmap *kinds;		/* op -> int, its index in the survey */
	VEC(tensor_id) roots;	/* tensors that unsupported nodes read */
} importer;

/* "model.onnx: node 'x' (Conv)" */
const char *onnx_place(importer *im, const char *what, const char *name,
		       const char *kind);

/* ---- onnx_tensor.c: constants ------------------------------------------ */

/* Type and elements of a tensor.  Returns false after adding errors. */
bool onnx_tensor(importer *im, const Onnx__TensorProto *t, const char *place,
		 tensor_type *type, constant *c);
/* The elements of a tensor in a file beside the model, onnx_external.c. */
bool onnx_external(importer *im, const Onnx__TensorProto *t, const char *place,
		   const tensor_type *type, constant *c);
/* Elements of less than 8 bits are packed in a file without gaps, the first in
 * the lowest bits: the bytes that they take; the elements unpacked, one per
 * byte, in a. */
int64_t onnx_packed_nbytes(const tensor_type *type);
void *onnx_unpack(arena *a, const tensor_type *type, const unsigned char *from);
/* Makes a type of dimensions; checks signs, number and total size. */
bool onnx_dims(importer *im, const int64_t *dims, size_t n, dtype t,
	       const char *place, tensor_type *type);

/* ---- onnx_name.c: names ------------------------------------------------ */

/* The value of a name, looked up in the frame and outwards; NULL if there is
 * none. */
const onnx_value *onnx_find(const onnx_frame *f, const char *name);
/* Binds a name that is not yet bound in this frame. */
bool onnx_bind(importer *im, onnx_frame *f, const char *name, onnx_value v,
	       const char *place);

/* An order in which every name is defined before it is read.  Returns NULL,
 * with an error, if there is none or a name is defined twice. */
int *onnx_order(importer *im, const onnx_frame *f, Onnx__NodeProto **nodes,
		size_t n);

/* ---- onnx_node.c: nodes ------------------------------------------------ */

/* Evaluates the nodes of a graph or function. */
bool onnx_nodes(importer *im, onnx_frame *f, Onnx__NodeProto **nodes,
		size_t n);
/* Adds the initializers and constants of a graph to a frame. */
bool onnx_initializers(importer *im, onnx_frame *f,
		       const Onnx__GraphProto *g);
/* Whether the limit of nodes is reached; an error was added then. */
bool onnx_exhausted(const importer *im);
/* Charges the approximate memory that a graph inside a node, or a function,
 * takes each time it is evaluated. */
void onnx_charge(importer *im, size_t bytes);

/* ---- onnx.c ------------------------------------------------------------- */

/* The type that the model declares for a tensor.  Returns false after adding
 * errors. */
bool onnx_declared_type(importer *im, const Onnx__ValueInfoProto *v,
			const char *place, tensor_type *type);

/* ---- onnx_builtin.c: nodes that shape the graph itself ----------------- */

/* The value of an attribute, which in a function may refer to an attribute of
 * the call; NULL if that was not given. */
const Onnx__AttributeProto *onnx_resolve(const onnx_frame *f,
					 const Onnx__AttributeProto *a);
/* The attribute of a node, NULL if it is not there. */
const Onnx__AttributeProto *onnx_attr(const onnx_frame *f,
				      const Onnx__NodeProto *n,
				      const char *name);

/* A node as a built-in sees it. */
typedef struct onnx_call {
	const Onnx__NodeProto *node;
	const char *name, *place;
	const mvalue *inputs;	 /* node->n_input of them */
	onnx_value *results;	 /* node->n_output of them */
} onnx_call;

typedef bool (*onnx_builtin)(importer *, onnx_frame *, const onnx_call *);

/* The function that evaluates nodes of this type; NULL if there is none. */
onnx_builtin onnx_find_builtin(const char *op_type);

/* ---- onnx_survey.c: going on after what is not supported ----------------- */

/* The importer's state before a surveyed node. */
typedef struct onnx_before {
	diag_sink *sink;
	const char *origin;
	int kind;
} onnx_before;

/* Called before and after the evaluation of a node. nerrors: the errors after
 * its inputs were looked up. onnx_survey_end() returns whether all results of
 * the node are known. */
onnx_before onnx_survey_begin(importer *im, const Onnx__NodeProto *n);
bool onnx_survey_end(importer *im, onnx_frame *f, const onnx_call *c,
		     onnx_before before, int nerrors, bool ok);
/* At the end of the graph: keeps the tensors that unsupported nodes read. */
void onnx_survey_keep(importer *im);

/* ---- onnx_inner.c: graphs in nodes, functions --------------------------- */

/* Inlines a call of one of the model's own functions. */
bool onnx_inline(importer *im, onnx_frame *f, const onnx_call *c,
		 const Onnx__FunctionProto *callee);

/* The context of onnx_run_graph(). */
typedef struct onnx_context {
	importer *im;
	onnx_frame *frame;
	const onnx_call *call;
	int nruns; /* graphs of the call run so far, for names */
} onnx_context;

/* Evaluates a graph inside a node; a mapping_graph. */
bool onnx_run_graph(void *context, const void *graph, const mvalue *inputs,
		    int ninputs, const mvalue **outputs, int *noutputs);

#endif
