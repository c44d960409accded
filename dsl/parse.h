/* The state of one parse, shared by the scanner, the grammar and the tree
 * builder. */
#ifndef TDL_DSL_PARSE_H
#define TDL_DSL_PARSE_H

#include "base/memory.h"
#include "base/vec.h"
#include "dsl/dsl.h"

/* bison's stack is given back if a call ends early. */
#define YYMALLOC memory_malloc
#define YYFREE memory_free

/* Lists under construction, in the arena. */
typedef VEC(ast_expr *) expr_list;
typedef VEC(ast_named) named_list;
typedef VEC(ast_var) var_list;
typedef VEC(ast_tensor) tensor_list;
typedef VEC(ast_attr) attr_list;
typedef VEC(ast_let) let_list;
typedef VEC(ast_stmt *) stmt_list;

/* The parts of a family name, h_{i}_w, while it is read: a text before each
 * expression. */
typedef struct family {
	VEC(const char *) texts;
	expr_list exprs;
} family;

/* Statements in braces. */
typedef struct block {
	stmt_list stmts;
	range at;
} block;

typedef struct name_list {
	VEC(const char *) names;
	VEC(range) at;
} name_list;

/* The arguments of a call. */
typedef struct call_args {
	expr_list exprs;
	named_list named;
	bool open; /* ends in ", .." */
} call_args;

/* The type of an attribute or of a constant input, as written. */
typedef struct written_type {
	const char *name;
	range at;
	bool is_list, optional;
	int length; /* -1 for any */
} written_type;

typedef struct opset_range {
	int since, until;
} opset_range;

/* A definition's name and where it is. */
typedef struct ast_word {
	const char *name;
	range at;
} ast_word;

typedef struct dsl_token dsl_token;

typedef struct dsl_parser {
	arena *arena;
	diag_sink *sink;
	interner *names;
	uint32_t base;	 /* of the source */
	uint32_t offset; /* of the scanner, from the source's beginning */
	const char *text;
	size_t len;
	void *scanner;
	dsl_token *ahead; /* one token of lookahead; its kind is -1 for none */
	int last;	  /* kind of the token handed out last */
	int open;	  /* families whose '}' has not come yet */
	bool quiet;	  /* a fault was reported in this definition */
	uint32_t fault_at;
	bool stop;	  /* the rest of the file is skipped */
	const char *defining; /* name of the definition at hand */
	bool lost; /* after a fault that may have hidden a definition's name */
	bool models; /* some definition, perhaps with a fault, is of a model */
	dsl_token *token; /* handed out last */
	strmap *broken;	  /* of names of definitions with a fault */
	int nnodes;	  /* made so far, at most AST_MAX_NODES */
	int ncomments;	  /* read so far, at most AST_MAX_COMMENTS */
	VEC(range) docs;  /* the /// lines that no definition has yet */
	VEC(ast_def) defs;
	VEC(ast_comment) comments;
} dsl_parser;

enum {
	/* The most expressions and statements of one file; their tree takes
	 * about 100 MB. */
	AST_MAX_NODES = 400000,
	AST_MAX_DEFS = 10000, /* definitions in one file */
	AST_MAX_COMMENTS = 200000, /* lines of them in one file */
	AST_MAX_NAME = 1023,  /* bytes */
	DSL_MAX_SOURCE = 16 << 20, /* bytes of one file */
};

/* ---- build.c: nodes. NULL when a bound is exceeded, with an error added. */

ast_expr *ast_new(dsl_parser *p, ast_kind kind, range at);
ast_expr *ast_int(dsl_parser *p, range at, int64_t i);
ast_expr *ast_float(dsl_parser *p, range at, double f);
ast_expr *ast_bool(dsl_parser *p, range at, bool b);
/* AST_STRING or AST_NAME */
ast_expr *ast_text(dsl_parser *p, ast_kind kind, range at, const char *s);
/* The family h_{i}_w: its pieces, and `tail', the text behind the last '}'. */
ast_expr *ast_family(dsl_parser *p, range at, const family *parts,
		     const char *tail);
ast_expr *ast_pack_item(dsl_parser *p, range at, pack_kind kind,
			const char *name, ast_expr *sel);
/* ..unravel(i), whose name is at name_at. */
ast_expr *ast_pack_call(dsl_parser *p, range at, range name_at,
			const char *name, const call_args *args);
/* Appends e and returns args; adds an error if args has named arguments. */
call_args *ast_add_argument(dsl_parser *p, range at, call_args *args,
			    ast_expr *e);
ast_expr *ast_list(dsl_parser *p, range at, const expr_list *items);
ast_expr *ast_index(dsl_parser *p, range at, ast_expr *base,
		    const expr_list *items);
ast_expr *ast_guard(dsl_parser *p, range at, ast_expr *read, ast_expr *value);
ast_expr *ast_call(dsl_parser *p, range at, const char *name,
		   const call_args *args);
ast_expr *ast_unary(dsl_parser *p, range at, ast_operator op, ast_expr *x);
ast_expr *ast_binary(dsl_parser *p, range at, ast_operator op, ast_expr *x,
		     ast_expr *y);
ast_expr *ast_if(dsl_parser *p, range at, ast_expr *c, ast_expr *x,
		 ast_expr *y);
ast_expr *ast_lambda(dsl_parser *p, range at, const var_list *vars,
		     ast_expr *body);

ast_attr ast_attribute(dsl_parser *p, range at, const char *name,
		       const written_type *type, ast_expr *init);
ast_tensor ast_parameter(range at, const char *name, const expr_list *dims,
			 ast_type type);
ast_let ast_binding(range at, const name_list *names, ast_expr *value);
ast_tensor ast_constant(range at, const char *name, const written_type *type);

ast_stmt *ast_statement(dsl_parser *p, stmt_kind kind, range at);
/* targets = value; value is NULL for a statement without one. */
ast_stmt *ast_assign(dsl_parser *p, stmt_kind kind, range at,
		     const expr_list *targets, ast_expr *value);
/* The kind is set by the caller. */
ast_stmt *ast_declaration(dsl_parser *p, range at, ast_expr *target,
			  const expr_list *dims, ast_type type,
			  ast_expr *init);
/* other may be NULL. */
ast_stmt *ast_branch(dsl_parser *p, range at, ast_expr *cond,
		     const block *body, const block *other);
ast_stmt *ast_else_if(dsl_parser *p, range at, ast_expr *cond,
		      const block *body, ast_stmt *other);
ast_stmt *ast_next(dsl_parser *p, range at, ast_expr *target, ast_expr *value);
ast_stmt *ast_return(dsl_parser *p, range at, const expr_list *values);
ast_stmt *ast_unsupported(dsl_parser *p, range at, const char *keyword,
			  ast_word why);
/* for var < over, or for each var in over. */
ast_stmt *ast_loop(dsl_parser *p, range at, ast_word var, bool each,
		   ast_expr *over, const block *body);

void ast_add_op(dsl_parser *p, range at, const char *doc, ast_word name,
		const tensor_list *params, const attr_list *attrs,
		const tensor_list *results, const let_list *lets,
		const expr_list *bodies);
/* grad of by(..): the operator of_grad_by. */
void ast_add_grad(dsl_parser *p, range at, const char *doc, ast_word of,
		  ast_word by, const tensor_list *params,
		  const attr_list *attrs, const tensor_list *results,
		  const let_list *lets, const expr_list *bodies);
void ast_add_opaque(dsl_parser *p, range at, const char *doc, ast_word name,
		    const tensor_list *params, const attr_list *attrs,
		    const tensor_list *results, const char *symbol);
void ast_add_block(dsl_parser *p, range at, const char *doc, ast_word name,
		   const call_args *params, const block *body);
void ast_add_model(dsl_parser *p, range at, const char *doc, ast_word name,
		   const call_args *params, const block *body);
void ast_add_onnx(dsl_parser *p, range at, const char *doc, const char *domain,
		  ast_word op_type, opset_range opsets,
		  const tensor_list *params, const attr_list *attrs,
		  const block *body);
void ast_add_import(dsl_parser *p, range at, const char *path);

/* ---- parse.c ------------------------------------------------------------ */

/* Parses one text.  Returns its tree without the definitions that have a fault;
 * NULL if the bytes are no text, or too many.  *models says whether it defines
 * models, those with a fault included; models may be NULL. */
ast_module *parse_source(tdl_modules *m, const char *path, const char *text,
			 size_t len, bool *models);

/* ---- module.c ----------------------------------------------------------- */

/* Adds the definitions of a module to the set, and checks them. */
void module_add(tdl_modules *m, const ast_module *module);

/* Notes that a definition begins with the word at `at', unless that word is the
 * fault of the definition before. */
void dsl_begin(dsl_parser *p, range at);
/* Adds an error if it is the first in its definition; the parser skips the rest
 * of the definition. */
void dsl_fault(dsl_parser *p, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Reports that the file has more than `most' of `what' and ends the parse. */
void dsl_too_large(dsl_parser *p, range at, int most, const char *what);
/* Reports the token `got'; `expected' lists the tokens allowed, or is NULL. */
void dsl_unexpected(dsl_parser *p, range at, const char *got,
		    const char *expected);
/* An opset, the length of int[n]: an integer within bounds. */
int dsl_opset(dsl_parser *p, range at, int64_t n);
int dsl_length(dsl_parser *p, range at, int64_t n);

/* Notes a comment; a /// line, which is documentation if a definition follows
 * and else a comment. */
void dsl_comment(dsl_parser *p, range at);
void dsl_doc(dsl_parser *p, range at);

/* ---- scan.l, literal.c -------------------------------------------------- */

/* The scanner is made and freed by parse.c. */
bool scan_open(dsl_parser *p);
void scan_close(dsl_parser *p);

/* Convert the text of a token to its value.  Return false after adding an
 * error. */
bool literal_string(dsl_parser *p, range at, const char *text, int len,
		    const char **s);
bool literal_int(dsl_parser *p, range at, const char *text, int64_t *i);
bool literal_float(dsl_parser *p, range at, const char *text, double *f);
bool literal_name(dsl_parser *p, range at, const char *text, int len,
		  const char **name);

#endif
