/* Builds expressions of TDL and simplifies them on the way.
 *
 * A tree is as the parser would make it from canonical text: it has parentheses
 * exactly where they are needed.  Trees may share nodes and are not modified
 * once made.  Everything is in the arena.
 *
 * tree.c makes nodes; tree_arithmetic.c, tree_constant.c and tree_condition.c
 * simplify them; tree_map.c transforms trees. */
#ifndef TDL_COMPILER_GRADIENT_TREE_H
#define TDL_COMPILER_GRADIENT_TREE_H

#include "base/intern.h"
#include "base/vec.h"
#include "dsl/builtins.h"

typedef struct trees {
	arena *a;
	interner *names;
	/* owns the expressions; has the types of attributes */
	const ast_op *op;
	/* Converts x, the alternative that a decided condition selects, if
	 * `other' may have given it a type that x alone has not; NULL: x
	 * stays. */
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

/* base[items..] and f(args..), not simplified: a call by its name and meaning,
 * or of a function of the language. */
ast_expr *tree_index(trees *t, ast_expr *base, int n, ast_expr *const *items);
ast_expr *tree_call(trees *t, const char *name, ast_callee calls, int n,
		    ast_expr *const *args);
ast_expr *tree_function(trees *t, builtin_id id, int n, ast_expr *const *args);
ast_expr *tree_guard(trees *t, ast_expr *read, ast_expr *value);
ast_expr *tree_lambda(trees *t, int nvars, const ast_var *vars,
		      ast_expr *body);

/* Arithmetic.  Operations that constants make trivial are left out, except
 * products with 0 that may be NaN and that are already in a tree being
 * transformed.  A product has its sign and number first.  A sum has positive
 * terms before negative ones, and each term once. */
ast_expr *tree_neg(trees *t, ast_expr *x);
ast_expr *tree_add(trees *t, ast_expr *x, ast_expr *y);
ast_expr *tree_sub(trees *t, ast_expr *x, ast_expr *y);
ast_expr *tree_mul(trees *t, ast_expr *x, ast_expr *y);
ast_expr *tree_div(trees *t, ast_expr *x, ast_expr *y);

/* x as a fraction, if x consists of whole numbers only and `other' of constants
 * with a fraction, so that a result computed from both is a fraction. */
ast_expr *tree_like_fraction(trees *t, ast_expr *x, const ast_expr *other);

/* Any other operator.  Decides known conditions, and cancels equal terms on
 * both sides of comparisons of whole numbers.  Comparisons of floats stay as
 * they are: x < x + 1 is false for many x; and not (x < y) is not x >= y, since
 * for NaN the first holds and the second does not. */
ast_expr *tree_binary(trees *t, ast_operator op, ast_expr *x, ast_expr *y);
ast_expr *tree_not(trees *t, ast_expr *x);
ast_expr *tree_if(trees *t, ast_expr *c, ast_expr *x, ast_expr *y);

/* ---- looking ----------------------------------------------------------- */

bool tree_is_int(const ast_expr *e, int64_t i);

/* Whether e is the number 0 or 0.0. */
bool tree_is_zero(const ast_expr *e);

/* Whether e is if or select(): its first argument chooses between the
 * others. */
bool tree_is_choice(const ast_expr *e);

/* Whether e depends only on attributes, sizes and constants.  Such a number
 * does not wrap around, and a divisor of whole numbers is not negative:
 * expansion refuses that. */
bool tree_is_planned(const ast_expr *e);

/* Whether an attribute is limited like a size: some tensor may have as many
 * elements.  Other attributes may be any number. */
typedef bool tree_counts(const void *arg, const ast_symbol *s);

/* Whether nothing wraps around when the whole number e is computed in i64;
 * counts may be NULL. */
bool tree_is_safe(const ast_expr *e, tree_counts *counts, const void *arg);

/* Whether e refers to a variable, tensor, size, pack, .. */
bool tree_mentions(const ast_expr *e, const ast_symbol *s);

/* A term of a sum: coef times the product `of' of the factors that are not
 * numbers; "1" for the constant term. */
typedef struct tree_term {
	double coef;
	ast_expr *of;
} tree_term;

typedef VEC(tree_term) tree_terms;

/* Adds the terms of e, times `times', to *to.  A coefficient that would be
 * rounded becomes NaN. */
void tree_collect(trees *t, tree_terms *to, ast_expr *e, double times);

/* Whether no coefficient was rounded; if one was, the sum is left as it is. */
bool tree_is_exact(const tree_terms *terms);

/* ---- changing ---------------------------------------------------------- */

/* Returns the replacement of e, whose operands have been replaced; or NULL, to
 * rebuild e itself. */
typedef ast_expr *tree_change(void *arg, const ast_expr *e);

/* e with every node changed, operands first. */
ast_expr *tree_map(trees *t, const ast_expr *e, tree_change *change, void *arg);

/* e with its operands changed; `change' does an operand completely. */
ast_expr *tree_with(trees *t, const ast_expr *e, tree_change *change,
		    void *arg);

/* e with each use of a symbol replaced by an expression. */
ast_expr *tree_replace(trees *t, const ast_expr *e, const ast_symbol *s,
		       ast_expr *by);

#endif
