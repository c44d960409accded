/* The syntax tree of TDL.
 *
 * The grammar only builds it; only the checker (dsl/check.h) fills in the
 * fields marked [check].  Names are interned in the module set's interner:
 * compare them by ==. Everything lives in the module set's arena. */
#ifndef TDL_DSL_AST_H
#define TDL_DSL_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/dtype.h"

typedef struct ast_expr ast_expr;
typedef struct ast_stmt ast_stmt;
typedef struct ast_op ast_op;
typedef struct ast_opaque ast_opaque;
typedef struct ast_block ast_block;

/* ---- names -------------------------------------------------------------- */

typedef enum ast_symbol_kind {
	SYMBOL_TENSOR, /* a parameter, or a tensor that a let computes */
	SYMBOL_ATTR,
	/* N, bound by a dimension of a parameter that is N alone */
	SYMBOL_SIZE,
	SYMBOL_CONST, /* a let whose value is a number */
	SYMBOL_PACK,  /* ..d, bound by a parameter */
	SYMBOL_VAR,   /* of a lambda */
} ast_symbol_kind;

/* The meaning of a name in an operator.  Each declaration has one, and all uses
 * of the name point at it.  A caller that keeps facts on an operator's names
 * has an array of op->nsymbols elements, indexed by .number. */
typedef struct ast_symbol {
	const char *name;
	ast_symbol_kind kind;
	range at;   /* of the declaration */
	int number; /* of the operator's symbols: its parameters come first, in
		       order, then its attributes, then all others */
	int index;  /* of a parameter, an attribute; -1 for others */
} ast_symbol;

/* ---- element types ------------------------------------------------------ */

typedef enum ast_type_kind {
	/* none is written: the type shared by all tensors without one */
	TYPE_SHARED,
	TYPE_EXACT,  /* .exact */
	TYPE_INT,    /* `int', any integers */
	TYPE_FLOAT,  /* `float', any floats */
	/* the value of the attribute .name; in a body, of the variable .name */
	TYPE_NAMED,
	TYPE_TENSOR, /* that of the tensor .name, as in cast(x, y) */
	/* takes the type of its context, as a constant does */
	TYPE_ANY,
} ast_type_kind;

/* An element type as written: after ':', in a conversion, as the value of an
 * attribute. */
typedef struct ast_type {
	const char *name; /* "f32", "int", an attribute's; NULL for none */
	range at;
	ast_type_kind kind;
	dtype exact;
	const ast_symbol *symbol; /* [check] of TYPE_NAMED, TYPE_TENSOR */
} ast_type;

/* The type that a word after ':' names; .name is NULL if the word names
 * none. */
ast_type ast_type_of(const char *name, range at);

static inline ast_type ast_type_exact(dtype t)
{
	return (ast_type){ .name = dtype_name(t), .kind = TYPE_EXACT,
			   .exact = t };
}

static inline bool ast_type_is(ast_type t, dtype exact)
{
	return t.kind == TYPE_EXACT && t.exact == exact;
}

/* ---- expressions ------------------------------------------------------- */

typedef enum ast_kind {
	AST_INT,    /* 3                  .i */
	AST_FLOAT,  /* 2.5, pi, inf       .f */
	AST_STRING, /* "NOTSET"           .name */
	AST_BOOL,   /* true, false        .i */
	AST_NAME,   /* N, i, axis         .name */
	AST_FAMILY, /* h_{i + 1}_w        .texts and .args in turn */
	AST_LIST,   /* [1, 2]             .args */
	AST_SLICE,  /* the ':' of a[b, :] */
	AST_PACK,   /* ..d                .pack */
	AST_INDEX,  /* x[i, j], pads[0]   .args[0] is the base, then items */
	AST_GUARD,  /* (x[i] else 0)      .args = { read, value } */
	AST_CALL,   /* exp(x), f(a, k = 2), Sum(lambda ..) .name .args .named */
	AST_UNARY,  /* -x, not x          .op .args[0] */
	AST_BINARY, /* a + b, a and b     .op .args[0..1] */
	AST_IF,     /* if c then a else b .args[0..2] */
	AST_LAMBDA, /* lambda i, r < 3: e .vars, .args[0] */
} ast_kind;

typedef enum ast_operator {
	OP_NEG, OP_NOT,
	OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD,
	OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE,
	OP_AND, OP_OR,
} ast_operator;

/* The constant `pi'. */
#define AST_PI 3.14159265358979323846

/* The text of an operator: "+", "and". */
const char *ast_operator_text(ast_operator op);

/* The precedence of an expression's outermost operator, the loosest first.  A
 * left operand binds at least as tightly as its operator; a right operand, and
 * either operand of a comparison, more tightly.  All others are in
 * parentheses. */
typedef enum ast_precedence {
	BINDS_IF, /* lambda, too */
	BINDS_OR,
	BINDS_AND,
	BINDS_NOT,
	BINDS_COMPARISON,
	BINDS_SUM,
	BINDS_PRODUCT,
	BINDS_SIGN,
	BINDS_ATOM,
} ast_precedence;

ast_precedence ast_precedence_of_operator(ast_operator op);

/* The same for an expression, ignoring its own parentheses. */
ast_precedence ast_precedence_of(const ast_expr *e);

/* A pack as an index, a lambda's variable or a signature's dimension: ..d, ..(d
 * \ sel), ..(d & sel), ..d[sel], ..f(args). */
typedef enum pack_kind {
	PACK_ALL,    /* ..d */
	PACK_MINUS,  /* ..(d \ sel) */
	PACK_AND,    /* ..(d & sel) */
	PACK_PERM,   /* ..d[sel] */
	PACK_CALL,   /* ..unravel(e): sel is the AST_CALL */
} pack_kind;

typedef struct ast_pack {
	pack_kind kind;
	const char *name; /* d; NULL for PACK_CALL */
	ast_expr *sel;
	/* [check] The pack; or the attribute whose list it is; or the broadcast
	 * parameter whose own dimensions it stands for. */
	const ast_symbol *symbol;
} ast_pack;

/* A read that uses a variable by itself as an index: read->args[item]. */
typedef struct ast_indexing {
	const ast_expr *read;
	int item;
} ast_indexing;

/* A variable of a lambda: i, i < extent, or a pack (then name is NULL). */
typedef struct ast_var {
	const char *name;
	ast_expr *extent; /* NULL if not written */
	ast_pack *pack;
	range at;
	const ast_symbol *symbol; /* [check] NULL for a pack */
	/* [check] For an extent that is neither written nor that of a result's
	 * dimension: the unguarded reads in the lambda that use the variable by
	 * itself as an index.  The first nalways are always made, and the
	 * dimensions that they index have to agree on the extent.  If none of
	 * them gives it, the others do, each under its condition. */
	int nindexings, nalways;
	const ast_indexing *indexings;
} ast_var;

typedef struct ast_named {
	const char *name;
	ast_expr *value;
	range at;
	int index; /* [check] in a call: of the callee's attribute, or of a
		      def's parameter */
} ast_named;

/* The meaning of a call's name: one member is set, the others are NULL.  In a
 * body an operator and a function may share a name; the arguments decide. */
typedef struct ast_callee {
	const struct builtin *function; /* dsl/builtins.h; reducers, too */
	const ast_op *op;
	const ast_opaque *opaque;
	const ast_block *def;
} ast_callee;

/* The greatest nesting of expressions and blocks; a + a + .. nests once per
 * term. */
enum { AST_MAX_DEPTH = 500 };

struct ast_expr {
	ast_kind kind;
	ast_operator op;
	range at;
	int depth;   /* of the tree below, at most AST_MAX_DEPTH */
	bool parens; /* written in parentheses */
	int64_t i;
	double f;
	const char *name;
	const char **texts; /* of AST_FAMILY: nargs + 1, the last may be "" */
	int nargs;
	ast_expr **args;
	int nnamed;
	ast_named *named; /* of AST_CALL: f(x, axis = 1) */
	/* the call ends in ", ..": in an onnx body, the operator's other
	 * attributes take the values of the entry's attributes with the same
	 * names */
	bool open_named;
	int nvars;
	ast_var *vars;
	ast_pack *pack;
	const ast_symbol *symbol; /* [check] of AST_NAME; NULL for that of an
				     exact element type */
	ast_callee calls;   /* [check] of AST_CALL */
	const ast_type *type; /* [check] of an AST_NAME that says an element
				 type */
};

/* The depth of the tree at e.  The .depth of its operands is set. */
int ast_depth(const ast_expr *e);

/* Whether two expressions of an operator, with names bound, are equal up to the
 * names of the variables that they bind.  The order of attributes counts. */
bool ast_same(const ast_expr *x, const ast_expr *y);
bool ast_same_pack(const ast_pack *x, const ast_pack *y);

/* Whether two operators with unbound names, as dsl_copy_op() makes them, are
 * equal up to comments and the variables that they bind. */
bool ast_same_op(const ast_op *x, const ast_op *y);

/* The reducer (kernel/reducers.h) of a reduction, whose lambda is args[0]; NULL
 * for any other expression. */
const struct reducer_facts *ast_reducer(const ast_expr *e);

/* The opaque function that is called; NULL for any other expression. */
const ast_opaque *ast_opaque_of(const ast_expr *e);

/* The operator that is called; NULL for any other expression. */
const ast_op *ast_op_of(const ast_expr *e);

/* ---- signatures -------------------------------------------------------- */

typedef struct ast_tensor {
	const char *name;
	bool broadcast;
	bool optional; /* b? */
	bool variadic; /* xs... (onnx entries) */
	bool constant; /* const axes (onnx entries) */
	bool is_list;  /* const axes: int[] */
	int ndims;
	ast_expr **dims; /* sizes, or AST_PACK */
	ast_type type;
	range at;
} ast_tensor;

typedef enum attr_type {
	ATTR_INT, ATTR_FLOAT, ATTR_STRING, ATTR_BOOL, ATTR_TYPE, ATTR_AXIS,
	ATTR_GRAPH, /* a graph inside a node (onnx entries) */
} attr_type;

/* "int", "float", ... */
const char *ast_attr_type_text(attr_type t);

typedef struct ast_attr {
	const char *name;
	attr_type type;
	bool is_list;	/* int[] */
	bool optional;	/* int[]? (onnx entries): null when not given */
	int length;	/* int[2]; -1 for any */
	ast_expr *init; /* default, NULL for none */
	range at;
} ast_attr;

/* The index of the attribute with that name; -1 if there is none or name is
 * NULL. */
int ast_find_attr(const ast_attr *attrs, int nattrs, const char *name);

/* let name = lambda ..: e, or let a, b = f(x, axis = 1) */
typedef struct ast_let {
	int nnames;
	const char **names;
	const range *names_at;
	const ast_symbol **symbols; /* [check] by name */
	ast_expr *value;
	range at;
} ast_let;

struct ast_op {
	const char *name;
	/* grad f x(..): its name is f_grad_x. NULL for others. */
	const char *grad_of, *grad_by;
	range grad_by_at;
	const char *doc; /* the /// lines, joined by \n, without the slashes;
			    NULL if none */
	range name_at, at;
	int nparams, nattrs, nresults, nlets;
	ast_tensor *params;
	ast_attr *attrs;
	ast_tensor *results;
	ast_let *lets;
	int nbodies;	   /* nresults, unless faulty */
	ast_expr **bodies; /* one lambda per result */
	/* [check] of the tree of operator calls: 1 without calls; 0 not yet
	 * known */
	int height;
	int nsymbols;	   /* [check] */
	const ast_symbol **symbols; /* [check] by number */
	/* [check] For grad f x(..): each parameter as the number of a parameter
	 * of f, or ~r for the derivative by result r; each attribute as its
	 * number in f. */
	const int *grad_params, *grad_attrs;
	bool faulty;	   /* [check] has an error; is not handed on */
	bool built;	   /* made by dsl_copy_op(), not read from a text */
};

/* opaque cholesky(m[N, N]) -> l[N, N] = "tdl_cholesky" */
struct ast_opaque {
	const char *name, *doc, *symbol;
	range name_at, at;
	int nparams, nattrs, nresults;
	ast_tensor *params;
	ast_attr *attrs;
	ast_tensor *results;
	int nsymbols; /* [check] */
	bool faulty;
};

/* ---- statements (the bodies of models, onnx entries and defs) ----------- */

typedef enum stmt_kind {
	STMT_ASSIGN, /* targets = value */
	STMT_IF,     /* if cond { body } else { other } */
	STMT_FOR,    /* for var < value { body }, for var in value { body } */
	STMT_RETURN, /* return values */
	STMT_CALL,   /* unsupported "why" : name and message in value */
	STMT_INPUT,  /* input targets[0][values]: type = value */
	STMT_PARAM,  /* param .. likewise */
	STMT_STATE,  /* state .. likewise */
	STMT_NEXT,   /* next targets[0] = value */
	STMT_OUTPUT, /* output targets */
} stmt_kind;

struct ast_stmt {
	stmt_kind kind;
	range at;
	int depth; /* of the statements below, at most AST_MAX_DEPTH */
	int ntargets;
	ast_expr **targets; /* AST_NAME or AST_FAMILY */
	const char *var;  /* of for; of STMT_CALL the word, "unsupported" */
	range var_at;	  /* of for */
	bool each;	  /* of for: value is a list */
	ast_expr *value;  /* assigned; condition; bound; message; the initial
			     or default value, NULL for none */
	int nvalues;
	ast_expr **values; /* of return; the dimensions of a declaration */
	ast_type type;	   /* of a declaration */
	int nbody, nother;
	ast_stmt **body, **other;
	/* with the braces; NOWHERE without else; for "else if" that of the
	 * if */
	range body_at, other_at;
};

/* def name(x, n = 1) { body }: statements that several entries share. */
struct ast_block {
	const char *name, *doc;
	range name_at, at;
	int nparams, nbody;
	ast_named *params; /* .value: the default, NULL for none */
	ast_stmt **body;
	range body_at; /* with the braces */
	int height;    /* [check] of the calls of defs below it, as in ast_op */
	bool faulty;
};

/* model name(n = 1) { body } */
typedef struct ast_model {
	const char *name, *doc;
	range name_at, at;
	int nparams, nbody;
	ast_named *params; /* .value: the default, NULL for none */
	ast_stmt **body;
	range body_at; /* with the braces */
	bool faulty;
} ast_model;

/* onnx "Conv" 1..10 (x, w, b?; attr: int = 1) { body } */
typedef struct ast_onnx {
	const char *domain; /* "" for the default one */
	const char *op_type;
	const char *doc;
	int since, until; /* opsets, inclusive; INT32_MAX for open */
	range name_at, at;
	int nparams, nattrs, nbody;
	ast_tensor *params;
	ast_attr *attrs;
	ast_stmt **body;
	range body_at; /* with the braces */
	bool faulty;
} ast_onnx;

/* ---- modules ----------------------------------------------------------- */

typedef enum def_kind {
	DEF_OP, DEF_OPAQUE, DEF_BLOCK, DEF_ONNX, DEF_MODEL, DEF_IMPORT,
} def_kind;

typedef struct ast_def {
	def_kind kind;
	range at;
	ast_op *op;
	ast_opaque *opaque;
	ast_block *block;
	ast_onnx *onnx;
	ast_model *model;
	const char *import; /* the path as written */
} ast_def;

/* A comment of // kind, for the formatter. */
typedef struct ast_comment {
	range at;
	bool own_line; /* nothing but blanks before it on its line */
} ast_comment;

/* One file. */
typedef struct ast_module {
	const char *path;
	uint32_t base; /* diag_add_source */
	const char *text;
	size_t len;
	int ndefs;
	ast_def *defs;
	int ncomments;
	ast_comment *comments;
	bool faulty; /* has syntax errors */
} ast_module;

#endif
