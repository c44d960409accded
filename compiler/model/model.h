/* Models: reading them, and what a user says of them. */
#ifndef TDL_COMPILER_MODEL_MODEL_H
#define TDL_COMPILER_MODEL_MODEL_H

#include "compiler/graph/graph.h"

/* The survey of the model's own operators of one kind. */
typedef struct survey_kind {
	const char *op; /* "Conv", "com.microsoft Gelu" */
	int nodes;	/* those in functions and inner graphs, too */
	int unsupported;
	int unknown; /* not looked into: they depend on the unknown results of
			an unsupported one */
} survey_kind;

/* A node of the model that is not supported.  Its results become inputs of the
 * graph if the model declares their shapes. */
typedef struct survey_node {
	const char *name, *op, *why;
	int64_t input_bytes, output_bytes; /* of what is known, at most
					      2^62 */
} survey_node;

typedef struct model_survey {
	VEC(survey_kind) kinds; /* in the order in which they come first */
	VEC(survey_node) unsupported;
} model_survey;

/* The options of the command line that concern a model. */
typedef struct model_options {
	int nsizes; /* -D name=value: symbolic dimensions */
	const char **size_names;
	const int64_t *sizes; /* -1: no size, but text for a TDL model */
	const char **size_texts; /* arguments of a TDL model */
	int nshapes; /* --shape input=AxB */
	const char **shape_names;
	const tensor_type *shapes; /* type unused */
	bool *size_used, *shape_used; /* set by the importer */
	int steps;	   /* that a TDL model may take; 0: as many as usual */
	const char *model; /* the name of one of several models of a TDL file,
			    * or NULL */
	uint64_t seed;	   /* of initial values */
	const struct train_options *train; /* compiler/train/train.h; NULL:
					      the model is not trained */
	/* Single numbers of an ONNX model that are weights; NULL: none. */
	const struct weight_globs *numbers;
	/* Outputs that become inputs, compiler/graph/carry.h; NULL: none. */
	const struct carry_options *carry;
	model_survey *survey; /* NULL, or the survey to fill in: then the import
				 goes on after nodes that are not supported */
} model_options;

/* Whether a file is read as TDL, by its name; others are ONNX. */
bool model_is_tdl(const char *path);

/* Reads a model in TDL, which is added to m.  NULL when errors were added. */
graph *model_read_tdl(arena *a, tdl_modules *m, diag_sink *s, const char *path,
		      const model_options *o);

/* The graph of a model of m that has no fault. */
graph *model_graph(arena *a, tdl_modules *m, diag_sink *s,
		   const ast_model *model, const model_options *o);

#endif
