/* Indices solved for the unknowns may lead to points outside the stage.
 * Conditions and guards exclude these points. */
#include "config.h"

#include "compiler/gradient/solver.h"

bool solver_is_product(const grad_op *g, const ast_expr *e)
{
	if (!grad_has_read(g, e))
		return true;
	switch (e->kind) {
	case AST_INDEX:
		return true;
	case AST_GUARD:
		return tree_is_zero(e->args[1]);
	case AST_UNARY:
		return e->op == OP_NEG && solver_is_product(g, e->args[0]);
	case AST_BINARY:
		if (e->op == OP_MUL)
			return solver_is_product(g, e->args[0]) &&
			       solver_is_product(g, e->args[1]);
		return e->op == OP_DIV && solver_is_product(g, e->args[0]) &&
		       !grad_has_read(g, e->args[1]);
	default:
		return false;
	}
}

/* Guards reads that have the unknown in an index. */
typedef struct guarding {
	solver *s;
	const ast_symbol *symbol;
} guarding;

static ast_expr *guard_read(void *arg, const ast_expr *e)
{
	const guarding *w = arg;
	trees *t = w->s->t;
	if (e->kind == AST_GUARD && e->args[0]->kind == AST_GUARD)
		return tree_guard(t, e->args[0]->args[0], e->args[1]);
	if (!grad_is_read(w->s->g, e))
		return NULL;
	bool boolean = etype_is_bool(grad_type(w->s->g, e));
	for (int i = 1; i < e->nargs; i++)
		if (tree_mentions(e->args[i], w->symbol))
			return tree_guard(t, ARENA_COPY(t->a, e, 1),
					  boolean ? tree_bool(t, false)
						  : tree_int(t, 0));
	return NULL;
}

/* Changes the reads of the expression and of its conditions for unknown u. */
static void change_reads(solver *s, const unknown *u, tree_change *change)
{
	guarding w = {s, u->v.symbol};
	s->value = tree_map(s->t, s->value, change, &w);
	for (int i = 0; i < s->given.n; i++)
		s->given.at[i] = tree_map(s->t, s->given.at[i], change, &w);
}

void solver_guard_reads(solver *s, const unknown *u)
{
	change_reads(s, u, guard_read);
}

/* Whether a factor of a product is indexed by the unknown itself, along a
 * dimension of the same extent.  Then a point is outside the stage exactly if
 * the read is outside its tensor. */
static bool indexes_factor(const solver *s, const ast_expr *e, const unknown *u)
{
	if (!grad_has_read(s->g, e))
		return false;
	bool quotient = e->kind == AST_BINARY && e->op == OP_DIV;
	for (int i = 0; e->kind != AST_INDEX && i < e->nargs - quotient; i++)
		if (indexes_factor(s, e->args[i], u))
			return true;
	for (int i = 1; e->kind == AST_INDEX && i < e->nargs; i++) {
		ast_expr *dim = e->args[i]->symbol == u->v.symbol
					? grad_read_size(s->g, e, i)
					: NULL;
		if (dim && ast_same(dim, u->v.extent))
			return true;
	}
	return false;
}

static bool is_proven_inside(const solver *s, const grad_facts *f,
			     const unknown *u)
{
	return u->in_range ||
	       (grad_is_proven(f, OP_GE, u->by, tree_int(s->t, 0)) &&
		grad_is_proven(f, OP_LT, u->by, u->v.extent));
}

/* Whether the solved values contain no reads.  Such reads would need a guard,
 * too, because the unknowns do not appear in their indices. */
static bool solved_without_reads(const solver *s)
{
	bool reads = false;
	for (int i = 0; i < s->unknowns.n; i++)
		reads |= s->unknowns.at[i].by &&
			 grad_has_read(s->g, s->unknowns.at[i].by);
	for (int i = 0; i < s->inside.n; i++)
		reads |= grad_has_read(s->g, s->inside.at[i]);
	for (int i = 0; i < s->equal.n; i++)
		reads |= grad_has_read(s->g, s->equal.at[i]);
	return !reads;
}

/* Whether an index is a sum of multiples, for which ranges can be
 * determined. */
static bool is_affine(const ast_expr *e)
{
	bool sum = e->kind == AST_BINARY &&
		   (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL);
	if (e->nargs && !sum && e->kind != AST_UNARY)
		return false;
	for (int i = 0; i < e->nargs; i++)
		if (!is_affine(e->args[i]))
			return false;
	return true;
}

/* Guards reads that are under the condition that an unknown is inside, if an
 * analysis may not see that the condition suffices. */
static ast_expr *guard_intricate(void *arg, const ast_expr *e)
{
	const guarding *w = arg;
	bool read = grad_is_read(w->s->g, e);
	bool affine = true;
	for (int i = 1; read && i < e->nargs; i++)
		affine &= !tree_mentions(e->args[i], w->symbol) ||
			  is_affine(e->args[i]);
	bool guard = e->kind == AST_GUARD || !affine;
	return guard ? guard_read(arg, e) : NULL;
}

void solver_keep_inside(solver *s, const grad_facts *f)
{
	trees *t = s->t;
	bool product = solver_is_product(s->g, s->value) &&
		       solved_without_reads(s);
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (!u->by || u->v.pack || is_proven_inside(s, f, u))
			continue;
		if (product && indexes_factor(s, s->value, u)) {
			solver_guard_reads(s, u);
			continue;
		}
		u->astray = true;
		change_reads(s, u, guard_intricate);
		vec_push(t->a, &s->inside,
			 tree_binary(t, OP_GE, u->by, tree_int(t, 0)));
		vec_push(t->a, &s->inside,
			 tree_binary(t, OP_LT, u->by, u->v.extent));
	}
}

/* The nesting depth of reads inside the indices of reads. */
static int depth_of_reads(const grad_op *g, const ast_expr *e)
{
	int depth = 0;
	for (int i = 0; i < e->nargs; i++) {
		int n = depth_of_reads(g, e->args[i]);
		depth = n > depth ? n : depth;
	}
	return depth + grad_is_read(g, e);
}

/* The order of the conditions matters, as each may read only what earlier ones
 * have checked.  First, equations without reads: the element read is the right
 * one.  Then the point is inside the stage, conditions with the deepest reads
 * last.  Then the conditions around the expression.  Last, equations with
 * reads. */
ast_expr *solver_conditions(solver *s)
{
	ast_expr *all = NULL;
	for (int i = 0; i < s->equal.n; i++)
		if (!grad_has_read(s->g, s->equal.at[i]))
			all = solver_and(s, all, s->equal.at[i]);
	for (int depth = 0, left = s->inside.n; left; depth++)
		for (int i = 0; i < s->inside.n; i++)
			if (depth_of_reads(s->g, s->inside.at[i]) == depth) {
				all = solver_and(s, all, s->inside.at[i]);
				left--;
			}
	for (int i = 0; i < s->given.n; i++)
		if (s->given.at[i]->kind != AST_BOOL || !s->given.at[i]->i)
			all = solver_and(s, all, s->given.at[i]);
	for (int i = 0; i < s->equal.n; i++)
		if (grad_has_read(s->g, s->equal.at[i]))
			all = solver_and(s, all, s->equal.at[i]);
	return solver_with_known(s, all);
}
