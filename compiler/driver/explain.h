/* The request of `tdlc explain', and the parts of the command by file. */
#ifndef TDL_COMPILER_DRIVER_EXPLAIN_H
#define TDL_COMPILER_DRIVER_EXPLAIN_H

#include "compiler/driver/driver.h"
#include "compiler/expand/expand.h"

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
	bool json;
	int format; /* explain_format */
} explain_request;

/* The strategies for the shapes and attributes that are given. */
cli_status explain_concrete(driver *d, const explain_request *r);

/* Its rule, in a format other than EXPLAIN_TEXT. */
cli_status explain_rule(driver *d, const explain_request *r);

/* The values of the operator's attributes that -D gives, NULL for the others;
 * NULL, with *status, where one is malformed. */
const attr_value **explain_attrs(driver *d, const explain_request *r,
				 cli_status *status);

/* The types of its parameters; NULL, with *status, where a shape is missing,
 * malformed or of no parameter. */
tensor_type *explain_params(driver *d, const explain_request *r,
			    const attr_value *const *attrs,
			    cli_status *status);

/* Expands the operator.  Parameters that share an undeclared type are f32 or,
 * if the operator has no meaning for that, i64 or bool.  NULL when errors were
 * added. */
expansion *explain_expand(driver *d, const explain_request *r,
			  tensor_type *types, const attr_value *const *attrs);

#endif
