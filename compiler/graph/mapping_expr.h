/* Values and expressions in the bodies of onnx entries and defs. */
#ifndef TDL_COMPILER_GRAPH_MAPPING_EXPR_H
#define TDL_COMPILER_GRAPH_MAPPING_EXPR_H

#include "base/vec.h"
#include "compiler/graph/mapping.h"

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

enum { MAPPING_MAX_STEPS = 1 << 22, MAPPING_MAX_LIST = 1 << 16 };

/* The evaluation of one entry for one node. */
typedef struct evaluator {
	graph_builder *b;
	const tdl_modules *modules;
	diag_sink *sink;
	arena *tmp;
	const ast_onnx *entry;
	const mapping_node *node;
	VEC(mname) names;
	int first; /* of the names of the def at hand; 0 in the entry */
	const ast_block *def; /* at hand, NULL in the entry */
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
mvalue mv_list(const mvalue *items, int n);
bool mv_is_number(const mvalue *v);
double mv_double(const mvalue *v); /* of a number */
bool mv_equal(const mvalue *x, const mvalue *y);
/* "an integer", for messages. */
const char *mv_kind_name(mkind k);

/* The value of a name; NULL where it has none. */
mvalue *mapping_find(evaluator *ev, const char *name);
void mapping_set(evaluator *ev, const char *name, mvalue v);

mvalue mapping_eval(evaluator *ev, const ast_expr *e);

/* Runs the body of a def, whose names are bound, and gives what it returns:
 * several values are a list. */
mvalue mapping_run(evaluator *ev, const ast_block *def);

/* mapping_call.c: a call of an operator, a def or a function. */
mvalue mapping_eval_call(evaluator *ev, const ast_expr *e);

/* mapping_fn.c: a call of a built-in function.  Returns false where there is
 * none of that name. */
bool mapping_builtin(evaluator *ev, const ast_expr *call, const mvalue *args,
		     int nargs, mvalue *result);

#endif
