/* Solves indices for the variables of a stage: finds the points at which an
 * element of a tensor is read.  Shared by the files that do so. */
#ifndef TDL_COMPILER_GRADIENT_SOLVER_H
#define TDL_COMPILER_GRADIENT_SOLVER_H

#include "compiler/gradient/adjoint.h"
#include "compiler/gradient/range.h"

/* A variable of the stage, and its value in terms of the other variables and of
 * those of the derivative. */
typedef struct unknown {
	ast_var v;
	const ast_symbol *own; /* the stage's; that of v is new */
	bool of_result;
	ast_expr *by;  /* NULL: not known */
	bool in_range; /* by is always within the extent */
	bool moved;    /* a pack that has other indices */
	bool astray;   /* by may be outside if a condition says so */
} unknown;

/* lhs == rhs; lhs contains unknowns. */
typedef struct equation {
	ast_expr *lhs, *rhs;
} equation;

typedef struct solver {
	grad_op *g;
	trees *t;
	VEC(unknown) unknowns;
	VEC(equation) equations;
	VEC(ast_expr *) given;	/* conditions on the contribution */
	VEC(ast_expr *) inside; /* conditions that the point is in the stage */
	/* conditions that the point reads the element */
	VEC(ast_expr *) equal;
	ast_expr *value;
	const ast_var *vars; /* of the derivative */
	int nvars;
} solver;

/* The conjunction of x and y; either may be NULL, which always holds. */
ast_expr *solver_and(solver *s, ast_expr *x, ast_expr *y);

/* ---- unknowns (unknown.c) ----------------------------------------------- */

void solver_add_unknowns(solver *s, const ast_var *vars, int n, bool of_result);

/* Gives a variable a new symbol. */
void solver_rename(solver *s, ast_var *v);

/* e in the symbols of the unknowns. */
ast_expr *solver_in_unknowns(solver *s, ast_expr *e);

/* e, in these symbols, with known unknowns substituted; NULL stays NULL. */
ast_expr *solver_with_known(solver *s, ast_expr *e);

/* e with the positions (ravel) of unknowns written as arithmetic, so that it
 * can be solved. */
ast_expr *solver_spell_ravels(solver *s, ast_expr *e);

bool solver_has_unknown(const solver *s, const ast_expr *e);

/* The unknown with that symbol if it is not known yet; else NULL. */
unknown *solver_find(solver *s, const ast_symbol *v);

/* Sets the value of an unknown, and substitutes it in the values known before.
 * in_range: it is within the extent for every element. */
void solver_settle(solver *s, unknown *u, ast_expr *by, bool in_range);

/* ---- equations (solve.c) ------------------------------------------------ */

/* Adds a condition on the contribution. */
void solver_add_given(solver *s, ast_expr *e);

/* Solves equations and conditions for unknowns; the others become
 * conditions. */
void solver_solve(solver *s);

/* The variables that may occur in the values of unknowns. */
grad_facts solver_facts(const solver *s);

/* ---- packs (solve_pack.c) ----------------------------------------------- */

/* Settles the variables of a pack: they are known as they are, or as part of
 * those that the stage has.  These functions return false if that cannot be
 * expressed. */
bool solver_settle_pack(solver *s, const ast_pack *p);

/* The same for a broadcast parameter's own dimensions: the dimensions of the
 * pack that it has are known, the others are summed over. */
bool solver_settle_broadcast(solver *s, const grad_tensor *x,
			     const ast_pack *p);

/* The same for x[..unravel(ravel(o..))] over all variables of the result: an
 * element contributes to the place to which its position leads back. */
bool solver_settle_reshape(solver *s, const contribution *c,
			   const ast_pack *own);

/* ---- points outside of the stage (inside.c) ----------------------------- */

/* Whether e is 0 whenever one of its reads is. */
bool solver_is_product(const grad_op *g, const ast_expr *e);

/* Guards the reads indexed by an unknown that may be outside of the stage: they
 * give 0 there. */
void solver_guard_reads(solver *s, const unknown *u);

/* Makes the terms of points outside of the stage 0.  Guards suffice if a factor
 * is read outside as well and nothing else is read.  Otherwise adds conditions;
 * reads under them are guarded where the conditions may not be understood. */
void solver_keep_inside(solver *s, const grad_facts *f);

/* All conditions, ordered so that each reads only where those before it hold;
 * NULL if there are none. */
ast_expr *solver_conditions(solver *s);

#endif
