/* The evaluator of the bodies of models, onnx entries and defs: values, names,
 * expressions and statements.  Shared by the files of this folder alone. */
#ifndef TDL_COMPILER_MODEL_EVAL_EXPR_H
#define TDL_COMPILER_MODEL_EVAL_EXPR_H

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/model/eval.h"

/* The items of lists that the operator + has made.  A list that ends where the
 * store ends is extended in place, so that a list is built in linear time. */
struct mstore {
	int used, size;
	mvalue *at;
};

/* A name that has a value. */
typedef struct mname {
	const char *name;
	mvalue value;
	range at; /* where it was bound */
	int bound; /* when: a tick of the evaluator */
	bool used; /* since then */
} mname;

/* The names of a body; a def sees no others. */
typedef struct mscope mscope;
struct mscope {
	mscope *outer; /* that of the body that calls; NULL */
	const ast_block *def; /* NULL in a model or an entry */
	range call;	      /* where the def is called */
	const char *prefix;   /* of the names that it gives: "block_0." */
	VEC(mname) names;
	hash_table by_name; /* once there are many names */
};

enum {
	MAPPING_MAX_STEPS = 1 << 22,
	MAPPING_MAX_LIST = 1 << 16,
	MODEL_CALL_STEPS = 16, /* of a call of an operator */
	MAPPING_MAX_MEMORY = 160 << 20, /* bytes, those of a model's graph
					   included */
};

/* The start of a loop, and its current iteration. */
typedef struct mloop {
	int begun, iteration;
} mloop;

/* The evaluation of one model, or of one entry for one node. */
typedef struct evaluator {
	graph_builder *b;
	const tdl_modules *modules;
	diag_sink *sink;
	arena *tmp;
	const ast_onnx *entry;	  /* NULL in a model */
	const mapping_node *node; /* of the entry */
	const ast_model *model;	  /* NULL in an entry */
	const model_options *options; /* of the model */
	strmap *declared; /* by models: names of inputs, parameters and states
			     -> declaration */
	strmap *outputs;  /* of a model, by name */
	strmap *numbers;  /* tensors of one number, by type and value */
	const char *base; /* of the names of nodes: a node's, or the target of
			     an assignment */
	mscope *scope;
	mscope *unused; /* scopes that were left, for reuse */
	VEC(mloop) loops;
	int tick;
	int branch; /* when the innermost `if' around began */
	int seeds; /* number of node_seed() calls in a model */
	unsigned evaluated; /* expressions; memory is checked at every 64th */
	size_t before; /* bytes in the graph's arena when it began */
	int steps; /* expressions that may still be evaluated */
	bool failed;
} evaluator;

/* Adds an error at a place in the body, with notes at the calls of defs that
 * lead there, or at the node.  Returns a value of kind MV_BAD. */
mvalue mapping_error(evaluator *ev, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same where it is the node's fault, or the model's: `at' is where an
 * entry says so, which is noted unless it is NOWHERE. */
mvalue mapping_refuse_node(evaluator *ev, diag_id id, range at,
			   const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Notes at the calls, or at the node, for an error that was added. */
void mapping_say_where(evaluator *ev);

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

/* eval_scope.c */
void mapping_enter(evaluator *ev, const ast_block *def, range call,
		   const char *prefix);
void mapping_leave(evaluator *ev);
/* The value of a name in the current scope; NULL if it has none. */
const mvalue *mapping_find(evaluator *ev, const char *name);
void mapping_set(evaluator *ev, const char *name, mvalue v);
/* The name of a target: interned, without the scope's prefix; NULL when an
 * error was added. */
const char *mapping_target(evaluator *ev, const ast_expr *target);
/* Its name in a model's graph: the prefix comes first. */
const char *mapping_model_name(evaluator *ev, const char *name);
/* Binds a target.  In models a value that is replaced before it was used is an
 * error, for which it returns false, unless an `if' or an iteration of a loop
 * lies between. */
bool mapping_bind(evaluator *ev, const ast_expr *target, const char *name,
		  mvalue v);

mvalue mapping_eval(evaluator *ev, const ast_expr *e);

/* False, with an error, if v is not an integer. */
bool mapping_integer(evaluator *ev, range at, const mvalue *v);

/* The end of a list of statements. */
typedef enum mflow { FLOW_ON, FLOW_RETURN, FLOW_FAILED } mflow;

/* The values that a body returns. */
typedef struct outcome {
	int n;
	mvalue *values;
	range at; /* of the return */
} outcome;

/* eval_stmt.c */
mflow mapping_statements(evaluator *ev, ast_stmt *const *body, int n,
			 outcome *out);
/* Runs the body of a def, whose names are bound, and gives its value: several
 * values are a list. */
mvalue mapping_run(evaluator *ev, const ast_block *def);

/* model_declare.c: inputs, parameters, states, outputs.  False when an error
 * was added. */
bool model_statement(evaluator *ev, const ast_stmt *s);

/* eval_call.c: a call of an operator, a def or a function. */
mvalue mapping_eval_call(evaluator *ev, const ast_expr *e);
/* +, * and such, applied to tensors and numbers: a call of the operator that
 * stands for it. */
mvalue mapping_overload(evaluator *ev, const ast_expr *e, const mvalue *args);

/* eval_fn.c: a call of a built-in function.  Returns false where there is
 * none of that name. */
bool mapping_builtin(evaluator *ev, const ast_expr *call, const mvalue *args,
		     int nargs, mvalue *result);

#endif
