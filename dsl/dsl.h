/* The front end: source text to checked operators.  The interface of dsl/ for
 * the rest of the compiler: load a set of modules, then look operators up by
 * name.  Lookups do not find definitions with a fault. */
#ifndef TDL_DSL_DSL_H
#define TDL_DSL_DSL_H

#include "base/intern.h"
#include "dsl/ast.h"

/* Texts that replace files: reading one of these paths gives the text. */
typedef struct dsl_text {
	const char *path, *text;
	size_t len;
} dsl_text;

typedef struct dsl_texts {
	int n;
	const dsl_text *at;
} dsl_texts;

/* A set of modules: the given files and all that they import. */
typedef struct tdl_modules {
	arena *arena;
	diag_sink *sink;
	interner *names;
	int nmodules;
	ast_module **modules; /* each after what it imports */
	strmap *ops;	      /* name -> ast_op; faulty ones included */
	strmap *opaques;      /* name -> ast_opaque */
	strmap *blocks;	      /* name -> ast_block */
	strmap *models;	      /* name -> ast_model; faulty ones included */
	strmap *broken;	      /* names of definitions that do not parse */
	bool incomplete;      /* an import could not be read */
	strmap *entries;      /* "domain:op" -> onnx_chain */
	strmap *loaded;	      /* canonical paths of the files read */
	int depth;	      /* of imports being read */
	int calls;	      /* of operators and defs being checked */
	int nonnx;
	ast_onnx **onnx; /* in order of reading */
	int nfolders;
	/* searched for imports after the importing file's own folder */
	const char **folders;
	int nlibrary;
	/* files that every file with a model imports implicitly */
	const char **library;
	/* all library files, for hints which to import; NULL: not read yet */
	struct tdl_modules *beyond;
	const dsl_texts *texts; /* NULL: none */
	struct tdl_modules *rules; /* of dsl_derivative(); NULL: none yet */
	const char **files;   /* every file that was read, for depfiles */
	int nfiles;
} tdl_modules;

/* An empty set.  Imports are looked up beside the importing file, then in
 * folders[0..n). */
tdl_modules *dsl_new(arena *a, diag_sink *s, const char *const *folders,
		     int nfolders);

/* The text in place of a file; NULL if there is none. */
const dsl_text *dsl_text_of(const tdl_modules *m, const char *path);

/* Sets the files of the operator library, which a file that defines a model
 * imports implicitly. */
void dsl_set_library(tdl_modules *m, const char *const *paths, int n);

/* Reads, parses and checks a file and its imports, and adds their definitions
 * to the set.  A file already in the set is not read again.  Returns false if
 * errors were added. */
bool dsl_load(tdl_modules *m, const char *path);

/* The same for a text in memory, which must outlive the set. */
bool dsl_load_text(tdl_modules *m, const char *path, const char *text,
		   size_t len);

/* The module of the file at path, which may be spelled differently; NULL if the
 * set does not have it or it did not parse. */
const ast_module *dsl_module(const tdl_modules *m, const char *path);

/* Parses one file and nothing else, for the formatter and --emit=ast.  Returns
 * NULL on syntax errors. */
ast_module *dsl_parse(tdl_modules *m, const char *path, const char *text,
		      size_t len);

/* An operator, an opaque function, a def; NULL if unknown or faulty. */
const ast_op *dsl_op(const tdl_modules *m, const char *name);

/* "; did you mean 'X'?" for the operator whose name is nearest, or "". */
const char *dsl_operator_hint(const tdl_modules *m, arena *a, const char *name);
const ast_opaque *dsl_opaque(const tdl_modules *m, const char *name);
const ast_block *dsl_block(const tdl_modules *m, const char *name);

/* The entry for a node of an ONNX model of the given opset; NULL if none. */
const ast_onnx *dsl_onnx(const tdl_modules *m, const char *domain,
			 const char *op_type, int opset);

/* ---- operators that are built ------------------------------------------- */

/* Adds an operator built as a tree, whose nodes may be shared, to the set:
 * copies it and checks the copy like one that was read.  The whole copy has the
 * place op->name_at, that of the definition for which it was built.  Returns
 * the copy; NULL, with errors, if it has a fault or its name is taken.  Gives
 * no warnings: those concern text that a user has written. */
const ast_op *dsl_add_op(tdl_modules *m, const ast_op *op);

/* Copies an operator into arena a without checking it: no node is shared and
 * names are interned.  With `bound', names keep the symbols that they have in
 * op; otherwise all [check] fields are empty.  Returns NULL if the copy would
 * have more than AST_MAX_NODES nodes. */
ast_op *dsl_copy_op(const tdl_modules *m, arena *a, const ast_op *op,
		    bool bound);

/* The reason why the tree cannot be written as text: "a name is too long".
 * NULL if it can. */
const char *dsl_unwritable(const ast_op *op);

/* Whether a name is a keyword.  The language allows such names where their
 * meaning is clear; generated names avoid them. */
bool dsl_is_word(const char *name);

/* The derivative of a function (kernel/functions.h) by argument i, as an
 * expression in the names x and y; NULL if it has none.  The set parses the
 * table's text once. */
const ast_expr *dsl_derivative(tdl_modules *m, int function, int i);

/* ---- text ---------------------------------------------------------------- */

/* One operator in canonical layout, without comments: one or more lines, each
 * with its newline. */
char *dsl_op_text(arena *a, const ast_op *op);

/* The canonical layout of a module, comments kept.  In arena a. */
char *dsl_format(arena *a, const ast_module *m);

/* "f(x[N]; k: int = 1) -> y[N]", on one line. */
char *dsl_signature_text(arena *a, const ast_op *op);

/* "op f(x[N]; k: int = 1) -> y[N]": the head of a definition, before its '=' or
 * '{', in the canonical layout. */
char *dsl_header_text(arena *a, const ast_def *def);

/* One expression as canonical text, for messages. */
char *dsl_expr_text(arena *a, const ast_expr *e);

/* The tree as text, for --emit=ast and golden tests. */
char *dsl_dump(arena *a, const ast_module *m);

#endif
