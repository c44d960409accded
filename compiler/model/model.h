/* Models: reading them, and the user's options about them. */
#ifndef TDL_COMPILER_MODEL_MODEL_H
#define TDL_COMPILER_MODEL_MODEL_H

#include "compiler/graph/graph.h"

/* Statistics on the model's operators of one kind. */
typedef struct survey_kind {
	const char *op; /* "Conv", "com.microsoft Gelu" */
	int nodes;	/* including those in functions and inner graphs */
	int unsupported;
	/* not examined: they depend on the results of an unsupported node */
	int unknown;
} survey_kind;

/* An unsupported node of the model.  Its results become inputs of the graph if
 * the model declares their shapes. */
typedef struct survey_node {
	const char *name, *op, *why;
	/* of the tensors that are known; at most 2^62 */
	int64_t input_bytes, output_bytes;
} survey_node;

typedef struct model_survey {
	VEC(survey_kind) kinds; /* in the order of first occurrence */
	VEC(survey_node) unsupported;
} model_survey;

/* The options of the command line that concern a model. */
typedef struct model_options {
	int nsizes; /* -D name=value: symbolic dimensions */
	const char **size_names;
	const int64_t *sizes; /* -1: not a size, but a text for a TDL model */
	const char **size_texts; /* arguments of a TDL model */
	int nshapes; /* --shape input=AxB */
	const char **shape_names;
	const tensor_type *shapes; /* type unused */
	bool *size_used, *shape_used; /* set by the importer */
	int steps;	   /* limit for a TDL model; 0: the usual one */
	const char *model; /* the name of one of several models of a TDL file,
			    * or NULL */
	uint64_t seed;	   /* of initial values */
	const struct train_options *train; /* compiler/train/train.h; NULL:
					      the model is not trained */
	/* Names of single numbers of an ONNX model that are weights; NULL:
	 * none. */
	const struct weight_globs *numbers;
	/* Outputs that become inputs, compiler/graph/carry.h; NULL: none. */
	const struct carry_options *carry;
	/* a survey to fill in, with which the import continues after
	 * unsupported nodes; or NULL */
	model_survey *survey;
} model_options;

/* Whether a file is read as TDL, judging by its name; other files are ONNX. */
bool model_is_tdl(const char *path);

/* Reads a model in TDL, which is added to m.  Returns NULL after adding
 * errors. */
graph *model_read_tdl(arena *a, tdl_modules *m, diag_sink *s, const char *path,
		      const model_options *o);

/* The graph of a model of m that has no fault. */
graph *model_graph(arena *a, tdl_modules *m, diag_sink *s,
		   const ast_model *model, const model_options *o);

#endif
