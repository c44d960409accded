/* Indices solved for the variables of a stage: the points at which an element
 * of a tensor is read.  Shared by the files that do so. */
#ifndef TDL_COMPILER_GRADIENT_SOLVER_H
#define TDL_COMPILER_GRADIENT_SOLVER_H

#include "compiler/gradient/adjoint.h"
#include "compiler/gradient/range.h"

/* A variable of the stage, and its value in terms of the others and of those of
 * the derivative. */
typedef struct unknown {
	ast_var v;
	const ast_symbol *own; /* the stage's; that of v is new */
	bool of_result;
	ast_expr *by;  /* NULL: not known */
	bool in_range; /* by is always within the extent */
	bool moved;    /* a pack that is at other indices */
	bool astray;   /* by may be outside, where a condition says so */
} unknown;

/* lhs == rhs, of which the lhs has unknowns. */
typedef struct equation {
	ast_expr *lhs, *rhs;
} equation;

typedef struct solver {
	grad_op *g;
	trees *t;
	VEC(unknown) unknowns;
	VEC(equation) equations;
	VEC(ast_expr *) given;	/* what the contribution is under */
	VEC(ast_expr *) inside; /* conditions that the point is there */
	VEC(ast_expr *) equal;	/* conditions that it reads the element */
	ast_expr *value;
	const ast_var *vars; /* of the derivative */
	int nvars;
} solver;

/* x and y, of which each may be NULL for what always holds. */
ast_expr *solver_and(solver *s, ast_expr *x, ast_expr *y);

/* ---- unknowns (unknown.c) ----------------------------------------------- */

void solver_add_unknowns(solver *s, const ast_var *vars, int n, bool of_result);

/* Gives a variable a symbol of its own. */
void solver_rename(solver *s, ast_var *v);

/* e in the symbols of the unknowns. */
ast_expr *solver_in_unknowns(solver *s, ast_expr *e);

/* e, in these, with the known ones substituted; NULL stays NULL. */
ast_expr *solver_with_known(solver *s, ast_expr *e);

/* e with the positions of unknowns as arithmetic, so that it can be solved. */
ast_expr *solver_spell_ravels(solver *s, ast_expr *e);

bool solver_has_unknown(const solver *s, const ast_expr *e);

/* The one of that symbol that is not known yet; NULL for none. */
unknown *solver_find(solver *s, const ast_symbol *v);

/* Sets the value of an unknown; those that were known before are kept free of
 * it.  in_range: it is within the extent wherever the element is. */
void solver_settle(solver *s, unknown *u, ast_expr *by, bool in_range);

/* ---- equations (solve.c) ------------------------------------------------ */

/* Adds what the contribution is under. */
void solver_add_given(solver *s, ast_expr *e);

/* Solves equations and conditions for unknowns; the rest of them become
 * conditions. */
void solver_solve(solver *s);

/* The variables that may occur in the values of unknowns. */
grad_facts solver_facts(const solver *s);

/* ---- packs (solve_pack.c) ----------------------------------------------- */

/* The variables of a pack are known: as they are, or as part of those that the
 * stage has.  Each returns false where it cannot be said. */
bool solver_settle_pack(solver *s, const ast_pack *p);

/* A broadcast parameter's own dimensions: those of the pack that it has are
 * known, the others are summed over. */
bool solver_settle_broadcast(solver *s, const grad_tensor *x,
			     const ast_pack *p);

/* x[..unravel(ravel(o..))], of all variables of the result: the element goes
 * where its position leads back to. */
bool solver_settle_reshape(solver *s, const contribution *c,
			   const ast_pack *own);

/* ---- points outside of the stage (inside.c) ----------------------------- */

/* Whether e is 0 as soon as one of its reads is. */
bool solver_is_product(const grad_op *g, const ast_expr *e);

/* Reads by an unknown that may be outside of the stage give 0 there. */
void solver_guard_reads(solver *s, const unknown *u);

/* Makes the terms of points outside of the stage 0: guards do where a factor
 * is read outside, too, and nothing else is read; else there are conditions,
 * under which reads are made, guarded where these may not be understood. */
void solver_keep_inside(solver *s, const grad_facts *f);

/* All conditions, each of which reads only where those before it hold; NULL
 * for none. */
ast_expr *solver_conditions(solver *s);

#endif
