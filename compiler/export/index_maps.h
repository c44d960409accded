/* Links between the dimensions that an operator reads and its iteration
 * variables: the facts of an operator that rules of other systems can express,
 * and no more. */
#ifndef TDL_COMPILER_EXPORT_INDEX_MAPS_H
#define TDL_COMPILER_EXPORT_INDEX_MAPS_H

#include "compiler/analysis/descriptor.h"
#include "compiler/expand/expand.h"

enum { MAX_DIGITS = 12 };

/* In the mixed radix of a dimension: (var / low) % count times step.  Of a
 * dimension that is a variable, low and step are 1 and count is its extent. */
typedef struct digit {
	int var;
	int64_t low, count, step;
} digit;

typedef enum link_kind {
	LINK_NONE,    /* all of the dimension is needed */
	LINK_FOLLOWS, /* a part of a variable needs a part of the dimension, but
			 not that part; digits[0].var is the variable */
	LINK_EXACT,   /* the dimension is these digits, from the lowest up */
} link_kind;

typedef struct dim_link {
	link_kind kind;
	int n;
	digit digits[MAX_DIGITS];
	const char *note; /* of LINK_FOLLOWS: the region that is read, a
			     clause */
} dim_link;

typedef struct link_var {
	const char *name;
	kvar_kind kind;
	bool offered;	 /* it may be divided */
	bool positional; /* it is used as a number, or in an index that is not a
			    LINK_EXACT: a part has to know its offset */
	bool pack;	 /* stands for any number of variables */
	int64_t extent;	 /* -1 before shapes are known */
} link_var;

typedef struct link_input {
	int value;
	bool linear; /* the stage's result is linear in it alone */
	dim_link *dims;
} link_input;

typedef struct link_stage {
	int result;	 /* a value */
	int nvars, nout; /* dimension d of the result is variable d */
	link_var *vars;
	reducer reducer;
	int ninputs;
	link_input *inputs;
	int njoint;
	uint64_t *joint; /* sets of inputs, a bit each, sums of which the stage
			    hands on together */
} link_stage;

/* A parameter, one of the first, or the result of a stage. */
typedef struct link_value {
	const char *name;
	int ndims;
	int64_t *dims; /* -1 before shapes are known */
	bool *pack;
} link_value;

typedef struct links {
	const char *op;
	int nparams, nvalues, nstages, nresults;
	link_value *values;
	link_stage *stages;
	int *results; /* values */
	const char **result_names;
} links;

/* Of an operator for given shapes, those of its parameters. */
links *links_of_expansion(arena *a, const ast_op *op, const expansion *x,
			  const tensor_type *params);

/* Of one before shapes are known; NULL, with *why, a clause, where they have
 * to be. */
links *links_of_descriptor(arena *a, const desc_op *op, const char **why);

#endif
