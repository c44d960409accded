/* The evaluator of the bodies of models, onnx entries and defs: values, names,
 * expressions and statements.  Shared by the files of this folder alone. */
#ifndef TDL_COMPILER_MODEL_EVAL_EXPR_H
#define TDL_COMPILER_MODEL_EVAL_EXPR_H

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/model/eval.h"

/* The items of lists that the operator + made.  A list that ends where its
 * store ends is extended in place, so that building a list takes linear
 * time. */
struct mstore {
	int used, size;
	mvalue *at;
};

/* A name that has a value. */
typedef struct mname {
	const char *name;
	mvalue value;
	range at; /* where it was bound */
	int bound; /* the evaluator's tick when it was bound */
	bool used; /* since then */
} mname;

/* The names of a body.  A def sees no others. */
typedef struct mscope mscope;
struct mscope {
	mscope *outer; /* the scope of the calling body; NULL */
	const ast_block *def; /* NULL in a model or an entry */
	range call;	      /* where the def is called */
	/* prefix of the names that it gives: "block_0." */
	const char *prefix;
	VEC(mname) names;
	hash_table by_name; /* used once there are many names */
};

enum {
	MAPPING_MAX_STEPS = 1 << 22,
	MAPPING_MAX_LIST = 1 << 16,
	MODEL_CALL_STEPS = 16, /* of a call of an operator */
	/* bytes, including those of a model's graph */
	MAPPING_MAX_MEMORY = 160 << 20,
};

/* The tick at which a loop began, and at which its current iteration did. */
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
	strmap *numbers;  /* tensors of a single number, by type and value */
	/* base of the names of nodes: the node's name, or the target of an
	 * assignment */
	const char *base;
	mscope *scope;
	mscope *unused; /* scopes for reuse */
	VEC(mloop) loops;
	int tick;
	int branch; /* the tick at which the innermost `if' began */
	int seeds; /* node_seed() calls so far in a model */
	/* expressions so far; memory is checked at every 64th */
	unsigned evaluated;
	size_t before; /* bytes in the graph's arena at the beginning */
	int steps; /* expressions that may still be evaluated */
	bool failed;
} evaluator;

/* Adds an error at a place in the body, with notes at the calls of defs that
 * lead there, or at the node.  Returns a value of kind MV_BAD. */
mvalue mapping_error(evaluator *ev, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same for a fault of the node, or of the model.  `at' is the place in an
 * entry that reports it, which is noted unless it is NOWHERE. */
mvalue mapping_refuse_node(evaluator *ev, diag_id id, range at,
			   const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds notes at the calls, or at the node, to the error added last. */
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
/* The name of a target, interned, without the scope's prefix; NULL after adding
 * an error. */
const char *mapping_target(evaluator *ev, const ast_expr *target);
/* The name in a model's graph: with the prefix. */
const char *mapping_model_name(evaluator *ev, const char *name);
/* Binds a target.  In models it is an error, for which it returns false, to
 * replace a value that was not used, unless an `if' or an iteration of a loop
 * lies between. */
bool mapping_bind(evaluator *ev, const ast_expr *target, const char *name,
		  mvalue v);

mvalue mapping_eval(evaluator *ev, const ast_expr *e);

/* Returns false, with an error, if v is not an integer. */
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
/* Runs the body of a def, whose names are bound, and returns its value; several
 * values become a list. */
mvalue mapping_run(evaluator *ev, const ast_block *def);

/* model_declare.c: inputs, parameters, states, outputs.  Returns false after
 * adding an error. */
bool model_statement(evaluator *ev, const ast_stmt *s);

/* eval_call.c: a call of an operator, a def or a function. */
mvalue mapping_eval_call(evaluator *ev, const ast_expr *e);
/* +, * and so on, applied to tensors and numbers: a call of the operator that
 * each stands for. */
mvalue mapping_overload(evaluator *ev, const ast_expr *e, const mvalue *args);

/* eval_fn.c: a call of a built-in function.  Returns false if there is none of
 * that name. */
bool mapping_builtin(evaluator *ev, const ast_expr *call, const mvalue *args,
		     int nargs, mvalue *result);

#endif
