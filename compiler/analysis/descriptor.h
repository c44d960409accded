/* The descriptor of an operator: its partition strategies and further facts
 * that follow from its text, for all shapes.  Verification compares it with
 * concrete shapes; tdlc shows it, exports it, and writes it as a file and as
 * JSON (docs/descriptor.md). */
#ifndef TDL_COMPILER_ANALYSIS_DESCRIPTOR_H
#define TDL_COMPILER_ANALYSIS_DESCRIPTOR_H

#include "compiler/analysis/poly.h"
#include "dsl/dsl.h"
#include "kernel/kernel.h"
#include "kernel/region.h"

enum { DESC_MAX_NDIM = 32 };

typedef struct desc_dim {
	const poly *extent;
	bool pack;	  /* stands for all dimensions of a part of a pack */
	const char *text; /* "X - DX + 1", "..(d & axes)" */
} desc_dim;

/* An input, an output or an intermediate. */
typedef struct desc_tensor {
	const char *name;
	bool broadcast; /* a dimension of a pack may be absent, or 1 */
	int ndims;
	desc_dim *dims;
} desc_tensor;

typedef struct desc_var {
	const char *name;
	kvar_kind kind;
	bool pack;
	const poly *extent;
	const char *extent_text;
	/* the reason why it is not split; NULL if it is */
	const char *indivisible_reason;
	/* atoms for the ends of a part's block; -1 if there are none */
	int begin, end;
} desc_var;

/* The part of one dimension that is read: [lo, hi), clipped to the tensor; lo
 * and hi are NULL for the whole dimension. */
typedef struct desc_region {
	const poly *lo, *hi;
	bool follows;	   /* depends on the block [begin, end) */
	/* if [lo, hi) is [scale * begin - before, scale * end + after); NULL
	 * for any other region */
	const poly *scale;
	const poly *before, *after;
} desc_region;

typedef struct desc_need {
	desc_region *regions; /* by dimension */
} desc_need;

typedef struct desc_strategy {
	int var;
	reducer reducer;  /* of the parts' results; RED_NONE for a split */
	int split;	  /* dimension of the result; -1 for a reduction */
	desc_need *needs; /* by input of the stage */
} desc_strategy;

/* Partial values that pass through the stage (see kernel/monotone.h): if
 * exactly these inputs, a bit each, are partial by `by', the results are
 * partial by `to'. */
typedef struct desc_passing {
	uint64_t inputs; /* of the stage */
	reducer by, to;
} desc_passing;

typedef struct desc_stage {
	const char *label; /* "" for the only or the last one */
	int ninputs, *inputs; /* tensors of the operator */
	int result;
	int nvars;
	desc_var *vars;
	reducer reducer;
	int nstrategies;
	desc_strategy *strategies;
	const char *opaque;	  /* the opaque function, or NULL */
	const char *open_because; /* why strategies need shapes; NULL */
	bool elementwise;
	uint64_t linear, in_place; /* by input */
	int npassing;
	desc_passing *passing;	   /* single inputs first; then by reducer */
	const poly *flops;	   /* per element of the result */
	const char *pattern;	   /* "matmul", ..; NULL for none */
} desc_stage;

typedef struct desc_op {
	const char *name, *doc; /* doc may be NULL */
	poly_space *space;
	int ninputs, noutputs, ntensors;
	desc_tensor *tensors; /* inputs first */
	const char **output_names;
	int *outputs;
	int nstages;
	desc_stage *stages;
	int nassumed, *assumed; /* atoms assumed to be >= 0 */
	const char *open_because; /* why the stages depend on shapes; NULL */
} desc_op;

typedef struct descriptor {
	int nops;
	desc_op **ops;
} descriptor;

/* The descriptor of an operator without errors, in a. */
desc_op *descriptor_of(arena *a, const tdl_modules *m, const ast_op *op);

/* The only input of a passing; -1 if it has several. */
int descriptor_passed(const desc_passing *p);

/* Computes the region of each input that the stage reads for the block [begin,
 * end) of strategy st's variable: needs[0..ninputs). values are by atom: sizes,
 * attributes and those of the inputs' dimensions; begin and end are stored into
 * it.  Returns false on overflow. */
bool descriptor_needs(const desc_op *op, const desc_stage *s,
		      const desc_strategy *st, int64_t *values, int64_t begin,
		      int64_t end, box *needs);

/* ---- descriptor_file.c: .tdd files -------------------------------------- */

/* Serializes a descriptor; equal descriptors give equal bytes. */
void *descriptor_write(arena *a, const descriptor *d, size_t *len);

/* Parses a descriptor of len bytes.  Returns NULL, with an error, if it is
 * malformed. */
descriptor *descriptor_read(arena *a, diag_sink *sink, const char *path,
			    const void *data, size_t len);
/* Whether a file begins like a descriptor. */
bool descriptor_is(const void *data, size_t len);

#endif
