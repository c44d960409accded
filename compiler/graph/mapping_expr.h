/* Values and expressions in the bodies of onnx entries. */
#ifndef TDL_COMPILER_GRAPH_MAPPING_EXPR_H
#define TDL_COMPILER_GRAPH_MAPPING_EXPR_H

#include "base/vec.h"
#include "compiler/graph/mapping.h"

typedef enum mkind {
	MV_BAD,	 /* an error was added */
	MV_NULL, /* not given */
	MV_INT,
	MV_BOOL,
	MV_TYPE, /* .i is a dtype */
	MV_FLOAT,
	MV_STRING,
	MV_TENSOR, /* .i is a tensor_id */
	MV_LIST,
} mkind;

typedef struct mvalue mvalue;
typedef struct mstore mstore;
struct mvalue {
	mkind kind;
	int64_t i;
	double f;
	const char *s;
	int n;
	const mvalue *items;
	mstore *store; /* that holds the items, and may have room; NULL */
};

/* Items of lists that + made.  A list that ends where the store ends is
 * extended in place, so that a list is built in linear time. */
struct mstore {
	int used, size;
	mvalue *at;
};

typedef struct mname {
	const char *name;
	mvalue value;
} mname;

enum { MAPPING_MAX_STEPS = 1 << 20, MAPPING_MAX_LIST = 1 << 16 };

/* The evaluation of one entry for one node. */
typedef struct evaluator {
	graph_builder *b;
	const tdl_modules *modules;
	diag_sink *sink;
	arena *tmp;
	const ast_onnx *entry;
	const mapping_node *node;
	VEC(mname) names;
	int steps; /* expressions that may still be evaluated */
	bool failed;
} evaluator;

/* Adds an error at a place in the entry, with a note at the node.  Returns a
 * value of kind MV_BAD. */
mvalue mapping_error(evaluator *ev, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

mvalue mv_int(int64_t i);
mvalue mv_bool(bool b);
mvalue mv_float(double f);
mvalue mv_string(const char *s);
mvalue mv_type(dtype t);
mvalue mv_tensor(tensor_id t); /* NONE: MV_NULL */
mvalue mv_list(const mvalue *items, int n);
bool mv_equal(const mvalue *x, const mvalue *y);
/* "an integer", for messages. */
const char *mv_kind_name(mkind k);

/* The value of a name; NULL where it has none. */
mvalue *mapping_find(evaluator *ev, const char *name);
void mapping_set(evaluator *ev, const char *name, mvalue v);

mvalue mapping_eval(evaluator *ev, const ast_expr *e);

/* mapping_fn.c: a call of a built-in function.  Returns false where there is
 * none of that name. */
bool mapping_builtin(evaluator *ev, const ast_expr *call, const mvalue *args,
		     int nargs, mvalue *result);

#endif
