/* The front end: source text to checked operators.  It is the interface of dsl/
 * for the rest of the compiler: a set of modules is loaded, then operators are
 * looked up by name.  A definition with a fault is not found. */
#ifndef TDL_DSL_DSL_H
#define TDL_DSL_DSL_H

#include "base/intern.h"
#include "dsl/ast.h"

/* Texts in place of files: what is read from one of the paths is the text. */
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
	const char **folders; /* where imports are looked up, after the
				 importing file's own folder */
	int nlibrary;
	const char **library; /* files that one with a model imports */
	struct tdl_modules *beyond; /* all of these, for hints which one to
				       import; NULL: not read yet */
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

/* The files of the operator library, which a file that defines a model imports
 * by itself. */
void dsl_set_library(tdl_modules *m, const char *const *paths, int n);

/* Reads, parses and checks a file and its imports; adds what it defines.
 * A file that is already in the set is not read again.  Returns false when
 * errors were added. */
bool dsl_load(tdl_modules *m, const char *path);

/* The same for a text in memory, which must outlive the set. */
bool dsl_load_text(tdl_modules *m, const char *path, const char *text,
		   size_t len);

/* A file of the set, by a path that leads to it; NULL if it is not in it, or is
 * no text. */
const ast_module *dsl_module(const tdl_modules *m, const char *path);

/* Parses only: the tree of one file, for the formatter and --emit=ast. NULL
 * when there are syntax errors. */
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

/* Adds an operator that was built, as a tree that may share nodes, to the set:
 * a copy, which is checked as one that was read.  All of it has the place
 * op->name_at, that of the definition it was built for.  Returns the copy;
 * NULL, with errors, where it has a fault or its name is taken.  There are no
 * warnings, which are about what someone has written. */
const ast_op *dsl_add_op(tdl_modules *m, const ast_op *op);

/* The copy alone, in arena a: no node is shared, names are interned, fields of
 * the checker empty, unless it is bound: then its names have the symbols that
 * they have in op.  NULL for more than AST_MAX_NODES nodes. */
ast_op *dsl_copy_op(const tdl_modules *m, arena *a, const ast_op *op,
		    bool bound);

/* Why a tree is that of no text: "a name is too long".  NULL for that of a
 * text. */
const char *dsl_unwritable(const ast_op *op);

/* Whether a name is a word of the language, which it can be where its meaning
 * is clear: names that are made are none. */
bool dsl_is_word(const char *name);

/* The derivative of a function (kernel/functions.h) by argument i: an
 * expression in the names x and y.  NULL where it has none.  The set parses the
 * text of the table once. */
const ast_expr *dsl_derivative(tdl_modules *m, int function, int i);

/* ---- text ---------------------------------------------------------------- */

/* The canonical layout of one operator without comments: its definition as a
 * line or more, each with its end. */
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
