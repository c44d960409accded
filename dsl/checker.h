/* The state of the checker, shared by the files dsl/check*.c alone.
 *
 * A check is a row of the table in check.c: a function that reports errors and
 * returns nothing.  It runs if the checks that it depends on found no error.
 * check_name.c resolves the names of bodies; later checks use
 * ast_expr.symbol. */
#ifndef TDL_DSL_CHECKER_H
#define TDL_DSL_CHECKER_H

#include "base/vec.h"
#include "dsl/builtins.h"
#include "dsl/check.h"
#include "dsl/element_type.h"

enum {
	MAX_CALL_HEIGHT = 32, /* operators that call operators */
	MAX_SIGNATURE = 1000, /* parameters, attributes, results, lets */
	MAX_ITEMS = 64,	      /* dimensions, variables of a lambda */
	MAX_SCOPE = 256,      /* variables around an expression */
};

typedef struct checker checker;

/* ---- names -------------------------------------------------------------- */

/* The checker's own facts about a symbol. */
typedef struct symbol_facts {
	const ast_symbol *symbol;
	bool used;
	const ast_attr *attr; /* SYMBOL_ATTR */
	etype type;	      /* SYMBOL_TENSOR, SYMBOL_CONST */

	/* SYMBOL_TENSOR: the dimensions.  An element may be AST_PACK; NULL for
	 * an unknown extent. ndims is -1 if nothing is known. */
	int ndims;
	const ast_expr **dims;
	bool broadcast;

	/* SYMBOL_VAR: the number of conditions around its lambda, and the
	 * extent once `found' by a read, a result or a `<'; NULL if only
	 * expansion can know it. */
	int conditions;
	bool found, tentative;
	bool settled; /* reads no longer change it */
	const ast_expr *extent;
	range extent_at;
	VEC(ast_indexing) always, conditional; /* see ast_var */
} symbol_facts;

/* A pack that an enclosing lambda binds. */
typedef struct bound_pack {
	const ast_pack *pack;
} bound_pack;

/* The kind of definition that a body of statements belongs to. */
typedef enum body_kind { BODY_ONNX, BODY_DEF, BODY_MODEL } body_kind;

struct checker {
	tdl_modules *modules;
	diag_sink *sink;
	arena *tmp;
	ast_op *op;
	bool failed;
	strmap *names;	 /* name -> ast_symbol: signature, lets so far */
	strmap *packs;	 /* packs that the signature binds -> ast_symbol */
	VEC(symbol_facts *) facts; /* by the symbols' numbers */
	strmap *unbound; /* names already reported, name -> itself */
	bool in_signature;
	/* name of the let whose value is being checked; NULL */
	const char *let;
	/* of the enclosing lambdas, innermost last */
	VEC(const ast_symbol *) vars;
	VEC(bound_pack) bound;
	int conditions;
	/* For a body: the greatest height of the defs that it calls, the
	 * prefixes of the families that it binds, whether it has outputs. */
	body_kind body;
	int height;
	strmap *families; /* a set: only keys matter */
	int compared;	  /* comparisons of names with prefixes so far */
	bool has_output;
};

void check_error(checker *c, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void check_warning(checker *c, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
ast_symbol *check_symbol(checker *c, ast_symbol_kind kind, const char *name,
			 range at);
symbol_facts *check_facts(const checker *c, const ast_symbol *s);
const ast_attr *check_find_attr(const checker *c, const char *name);
/* The place of the name that is called. */
range check_call_at(const ast_expr *call);
/* Whether a definition is missing because it has a fault that was reported. */
bool check_is_missing(const tdl_modules *m, const char *name);
/* Binds a call to the operator that it means and returns the operator.  Returns
 * NULL if there is none: with an error, unless the fault was reported
 * already. */
const ast_op *check_callee(checker *c, ast_expr *call);

/* ---- check_signature.c -------------------------------------------------- */

void check_names(checker *c);
void check_attributes(checker *c);
void check_dimensions(checker *c);
/* The same for definitions that are not operators. */
void check_attr_list(checker *c, const ast_attr *attrs, int n, bool onnx);
void check_opaque(tdl_modules *m, ast_opaque *f);
/* Whether an expression suits an attribute, as far as can be known here. */
void check_attr_value(checker *c, const ast_attr *a, ast_expr *e);

/* ---- check_scope.c ------------------------------------------------------ */

void check_scopes(checker *c);
/* Checks a lambda.  Its variables run over the dimensions of the result, if
 * any. */
void check_lambda(checker *c, ast_expr *e, const ast_tensor *result);

/* ---- check_name.c ------------------------------------------------------- */

/* The symbol that a name means here; variables hide all others.  NULL if
 * unbound. */
const ast_symbol *check_find(const checker *c, const char *name);
/* Checks the body of a lambda, an expression that may use any name. */
void check_lambda_body(checker *c, ast_expr *e);
/* Checks an expression that may use only sizes and attributes. */
void check_constant(checker *c, ast_expr *e);
/* Checks that a pack and its selector are valid. */
void check_pack(checker *c, ast_pack *p, range at);

/* ---- check_read.c ------------------------------------------------------- */

/* Checks that the number of dimensions given is the number there are. */
void check_rank(checker *c, range at, const char *what, ast_expr *const *items,
		int n, const ast_expr *const *dims, int ndims);
/* The same for the indices of a tensor. */
void check_tensor_rank(checker *c, range at, const ast_symbol *s,
		       ast_expr *const *items, int n);
/* Checks that the enclosing lambdas bind all dimensions that the pack item
 * selects. */
void check_bound(checker *c, const ast_expr *item);

/* ---- check_call.c ------------------------------------------------------- */

/* let a, b = f(x, k = 2): checks the arguments against the operator's
 * signature. */
void check_operator_call(checker *c, const ast_expr *call, const ast_op *op);
/* The same for attributes alone; `name' is the callee, for messages. */
void check_call_attrs(checker *c, const ast_expr *call, const char *name,
		      const ast_attr *attrs, int nattrs);

/* ---- check_body.c -------------------------------------------------------- */

checker check_begin_body(tdl_modules *m, body_kind body);
void check_bind(checker *c, const char *name, range at);
/* The same for names that may be declared only once. */
void check_declare(checker *c, ast_symbol *s);
void check_body_value(checker *c, ast_expr *e);
/* Binds a call in a body to all that its name means there. */
void check_bind_call(const checker *c, ast_expr *e);
/* Returns whether every path through the statements ends with a return. */
bool check_statements(checker *c, ast_stmt *const *body, int n);

/* ---- check_spelling.c --------------------------------------------------- */

/* Each adds a note to the last error with the nearest known name: of functions
 * in lambdas, of operators, of anything a body can call, of n attributes, of
 * element types. */
void check_suggest_function(checker *c, const char *name);
void check_suggest_operator(checker *c, const char *name);
void check_suggest_callee(checker *c, const char *name);
void check_suggest_attr(checker *c, const ast_attr *attrs, int n,
			const char *name);
void check_suggest_type(checker *c, const char *name);
/* Adds a note that names the library file which defines the operator; returns
 * false, without a note, if none does. check_suggest_operator() and
 * check_suggest_callee() try this first. */
bool check_suggest_import(checker *c, const char *name);
/* The end of a note on a size that nothing binds although a parameter has a
 * dimension that is a multiple of it: says what to write instead.  "" if there
 * is no such dimension. */
const char *check_whole_instead(const checker *c, const char *name);

/* ---- check_extent.c, check_type.c, check_unused.c ------------------------ */

void check_extents(checker *c);
void check_types(checker *c);
void check_unused(checker *c);

/* ---- check_onnx.c, check_model.c ----------------------------------------- */

void check_onnx(tdl_modules *m, ast_onnx *e);
void check_block(tdl_modules *m, ast_block *b);
void check_model(tdl_modules *m, ast_model *model);

#endif
