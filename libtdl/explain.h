/* Explains one operator: the request, and the strategies for given shapes. */
#ifndef TDL_LIBTDL_EXPLAIN_H
#define TDL_LIBTDL_EXPLAIN_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/analysis/explain.h"
#include "compiler/expand/expand.h"
#include "libtdl/job.h"
#include "libtdl/passing.h"

typedef enum explain_format {
	EXPLAIN_TEXT,
	EXPLAIN_SHARDY,
	EXPLAIN_NNSCALER,
	EXPLAIN_JAX,
} explain_format;

typedef struct explain_request {
	tdl_modules *modules;
	const ast_op *op;
	cli_words shapes, defines;
	int64_t k; /* 0: not given */
	int format; /* explain_format */
} explain_request;

#define EXPLAIN_OPTIONS_SHAPES(r)                                            \
	{ CLI_REPEAT, 0, "shape", "NAME=AxB",                                \
	  "the shape of input NAME; once for each", &(r)->shapes },          \
	{ CLI_REPEAT, 'D', NULL, "ATTR=V",                                   \
	  "the value of an attribute; a list is 1,2", &(r)->defines }

#define EXPLAIN_OPTIONS(r)                                                   \
	EXPLAIN_OPTIONS_SHAPES(r),                                           \
	{ CLI_INT, 'k', "devices", "N",                                      \
	  "show the reads and the work of each of N parts (2 if "            \
	  "shapes are given)", &(r)->k, .min = 1, .max = 4096 }

/* A stage of the operator, and its explanation. */
typedef struct told {
	const explain_request *request;
	const expansion *expansion;
	const stage *stage;
	const kernel *kernel;
	const char *name;   /* of the stage: its label, or the result's */
	/* of its result: the result's, or the stage's label */
	const char *result;
	int order[MAX_NINPUTS]; /* inputs in the order of the signature */
	explanation said;
} told;

/* The explanation of stage i. */
told explain_stage(arena *a, const explain_request *r, const expansion *x,
		   int i);

/* The name of a variable; for a derived one, that of its dimension. */
const char *told_var(arena *a, const told *t, int var);

/* The partial values that pass the stage. */
said_passings told_passing(arena *a, const told *t);

/* Expands the operator for the requested shapes and attributes; r->k becomes 2
 * if it was not given.  NULL with *status, after a message. */
expansion *explain_shapes(job *d, explain_request *r, cli_status *status);

/* The output of `tdlc explain --json' for shapes. */
json_t *explain_json(arena *a, const explain_request *r, const expansion *x);
/* The same without --json. */
void explain_text(FILE *to, arena *a, const explain_request *r,
		  const expansion *x);

/* The values of the operator's attributes given by -D, NULL for the others.
 * NULL, with *status, if one is malformed. */
const attr_value **explain_attrs(job *d, const explain_request *r,
				 cli_status *status);

/* The types of its parameters.  NULL, with *status, if a shape is missing,
 * malformed or for no parameter. */
tensor_type *explain_params(job *d, const explain_request *r,
			    const attr_value *const *attrs,
			    cli_status *status);

/* Expands the operator.  Parameters that share an undeclared type are f32 or,
 * if the operator does not support that, i64 or bool.  NULL after adding
 * errors. */
expansion *explain_expand(job *d, const explain_request *r,
			  tensor_type *types, const attr_value *const *attrs);

#endif
