/* Making expressions of TDL, simplified while they are made.
 *
 * A tree is as the parser would have made it from canonical text: parentheses
 * stand where they are needed and nowhere else.  Trees may share nodes and are
 * not modified once made.  Everything lives in the arena.
 *
 * tree.c has nodes, tree_arithmetic.c, tree_constant.c and tree_condition.c
 * what simplifies them, tree_map.c what changes them. */
#ifndef TDL_COMPILER_GRADIENT_TREE_H
#define TDL_COMPILER_GRADIENT_TREE_H

#include "base/intern.h"
#include "base/vec.h"
#include "dsl/builtins.h"

typedef struct trees {
	arena *a;
	interner *names;
	const ast_op *op; /* it owns the expressions; types of attributes */
	/* The alternative of a decided condition, as what it is without the
	 * other one, which may have had a type where x has none; NULL: x. */
	ast_expr *(*chosen)(void *arg, ast_expr *x, const ast_expr *other);
	void *arg;
} trees;

/* ---- making ------------------------------------------------------------ */

ast_expr *tree_int(trees *t, int64_t i);
ast_expr *tree_float(trees *t, double f);
ast_expr *tree_bool(trees *t, bool value);
/* A use of a symbol. */
ast_expr *tree_use(trees *t, const ast_symbol *s);
ast_expr *tree_pack(trees *t, const ast_pack *p);

/* base[items..], f(args..), as they are: a call by its name and meaning, or of
 * a function of the language. */
ast_expr *tree_index(trees *t, ast_expr *base, int n, ast_expr *const *items);
ast_expr *tree_call(trees *t, const char *name, ast_callee calls, int n,
		    ast_expr *const *args);
ast_expr *tree_function(trees *t, builtin_id id, int n, ast_expr *const *args);
ast_expr *tree_guard(trees *t, ast_expr *read, ast_expr *value);
ast_expr *tree_lambda(trees *t, int nvars, const ast_var *vars,
		      ast_expr *body);

/* Arithmetic: operations that constants make trivial are left out, but for
 * products with 0 that may be NaN and that a tree has already, when it is
 * changed; a product's sign and number come first; a sum has positive terms
 * before negative ones, and each term once. */
ast_expr *tree_neg(trees *t, ast_expr *x);
ast_expr *tree_add(trees *t, ast_expr *x, ast_expr *y);
ast_expr *tree_sub(trees *t, ast_expr *x, ast_expr *y);
ast_expr *tree_mul(trees *t, ast_expr *x, ast_expr *y);
ast_expr *tree_div(trees *t, ast_expr *x, ast_expr *y);

/* x, as a fraction where it is made of whole numbers alone and the other of
 * constants with a fraction: what is computed of the two is one. */
ast_expr *tree_like_fraction(trees *t, ast_expr *x, const ast_expr *other);

/* Any other operator.  Known conditions are decided, and equal terms on both
 * sides of a comparison of whole numbers are cancelled.  Comparisons of floats
 * stay as they are: x < x + 1 is false for many x, and not (x < y) is not
 * x >= y, since for NaN the first holds and the second does not. */
ast_expr *tree_binary(trees *t, ast_operator op, ast_expr *x, ast_expr *y);
ast_expr *tree_not(trees *t, ast_expr *x);
ast_expr *tree_if(trees *t, ast_expr *c, ast_expr *x, ast_expr *y);

/* ---- looking ----------------------------------------------------------- */

bool tree_is_int(const ast_expr *e, int64_t i);

/* Whether it is a number, 0 or 0.0. */
bool tree_is_zero(const ast_expr *e);

/* Whether its first argument chooses between the other two: if and select(). */
bool tree_is_choice(const ast_expr *e);

/* Whether it follows from attributes, sizes and constants alone.  Such a number
 * does not wrap around, nor is a divisor of whole numbers negative: expansion
 * refuses that. */
bool tree_is_planned(const ast_expr *e);

/* Whether an attribute counts as a size does: a tensor may have as many
 * elements.  Others may be any number. */
typedef bool tree_counts(const void *arg, const ast_symbol *s);

/* Whether nothing wraps around while the whole number e is computed in i64;
 * counts may be NULL. */
bool tree_is_safe(const ast_expr *e, tree_counts *counts, const void *arg);

/* Whether it refers to a variable, tensor, size, pack, .. */
bool tree_mentions(const ast_expr *e, const ast_symbol *s);

/* A sum as terms: coef times the product of the factors that are not numbers,
 * "1" for the constant. */
typedef struct tree_term {
	double coef;
	ast_expr *of;
} tree_term;

typedef VEC(tree_term) tree_terms;

/* Adds the terms of e, each times `times`, to the terms there.  A coefficient
 * that would be rounded is NaN. */
void tree_collect(trees *t, tree_terms *to, ast_expr *e, double times);

/* Whether no coefficient was rounded: what has others is left as it is. */
bool tree_is_exact(const tree_terms *terms);

/* ---- changing ---------------------------------------------------------- */

/* Returns the replacement of e, whose operands are done, or NULL for e itself
 * made anew. */
typedef ast_expr *tree_change(void *arg, const ast_expr *e);

/* e with every node changed, operands first. */
ast_expr *tree_map(trees *t, const ast_expr *e, tree_change *change, void *arg);

/* e with its operands changed, which `change` does all of. */
ast_expr *tree_with(trees *t, const ast_expr *e, tree_change *change,
		    void *arg);

/* e with an expression in place of the uses of a symbol. */
ast_expr *tree_replace(trees *t, const ast_expr *e, const ast_symbol *s,
		       ast_expr *by);

#endif
