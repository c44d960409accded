/* Links between the dimensions that an operator reads and its iteration
 * variables: exactly those facts of an operator that the rules of other systems
 * can express. */
#ifndef TDL_COMPILER_EXPORT_INDEX_MAPS_H
#define TDL_COMPILER_EXPORT_INDEX_MAPS_H

#include "compiler/analysis/descriptor.h"
#include "compiler/expand/expand.h"

enum { MAX_DIGITS = 12 };

/* A digit in the mixed radix of a dimension: (var / low) % count, times step.
 * For a dimension that is a variable, low and step are 1 and count is its
 * extent. */
typedef struct digit {
	int var;
	int64_t low, count, step;
} digit;

typedef enum link_kind {
	LINK_NONE,    /* the whole dimension is needed */
	/* a part of a variable needs a part of the dimension, but not the
	 * corresponding one; digits[0].var is the variable */
	LINK_FOLLOWS,
	/* the dimension consists of these digits, from the lowest up */
	LINK_EXACT,
} link_kind;

typedef struct dim_link {
	link_kind kind;
	int n;
	digit digits[MAX_DIGITS];
	/* LINK_FOLLOWS: the region that is read, as a clause */
	const char *note;
} dim_link;

typedef struct link_var {
	const char *name;
	kvar_kind kind;
	bool offered;	 /* it may be divided */
	/* it is used as a number, or in an index that is not LINK_EXACT: a part
	 * has to know its offset */
	bool positional;
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
	/* sets of inputs, a bit each, whose sums the stage passes on
	 * together */
	uint64_t *joint;
} link_stage;

/* A parameter (these come first) or the result of a stage. */
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

/* The links of an operator for given shapes of its parameters, in a. */
links *links_of_expansion(arena *a, const ast_op *op, const expansion *x,
			  const tensor_type *params);

/* The same before shapes are known.  NULL, with the reason as a clause in *why,
 * if they have to be. */
links *links_of_descriptor(arena *a, const desc_op *op, const char **why);

#endif
