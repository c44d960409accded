/* Solves equations for the variables of a stage. */
#include "config.h"

#include "compiler/gradient/solver.h"

ast_expr *solver_and(solver *s, ast_expr *x, ast_expr *y)
{
	return x && y ? tree_binary(s->t, OP_AND, x, y) : x ? x : y;
}

/* ---- equations --------------------------------------------------------- */

/* Whether e is coef * v + rest with neither part containing v, and coef no
 * unknown. */
static bool is_linear(solver *s, ast_expr *e, const ast_symbol *v,
		      ast_expr **coef, ast_expr **rest)
{
	trees *t = s->t;
	ast_expr *c, *r;
	*coef = tree_int(t, 0);
	*rest = e;
	if (!tree_mentions(e, v))
		return true;
	if (e->kind == AST_NAME) {
		*coef = tree_int(t, 1);
		*rest = tree_int(t, 0);
		return true;
	}
	if (e->kind == AST_UNARY && e->op == OP_NEG) {
		if (!is_linear(s, e->args[0], v, &c, &r))
			return false;
		*coef = tree_neg(t, c);
		*rest = tree_neg(t, r);
		return true;
	}
	if (e->kind != AST_BINARY)
		return false;
	ast_expr *x = e->args[0], *y = e->args[1], *d, *q;
	if (e->op == OP_ADD || e->op == OP_SUB) {
		if (!is_linear(s, x, v, &c, &r) || !is_linear(s, y, v, &d, &q))
			return false;
		*coef = tree_binary(t, e->op, c, d);
		*rest = tree_binary(t, e->op, r, q);
		return true;
	}
	if (e->op != OP_MUL)
		return false;
	if (tree_mentions(y, v)) {
		x = e->args[1];
		y = e->args[0];
	}
	if (tree_mentions(y, v) || solver_has_unknown(s, y) ||
	    !is_linear(s, x, v, &c, &r))
		return false;
	*coef = tree_mul(t, y, c);
	*rest = tree_mul(t, y, r);
	return true;
}

/* Solves a * b + c where c is an unknown with b values: c is the remainder by
 * b, a the quotient. */
static bool solve_radix(solver *s, equation e)
{
	trees *t = s->t;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		ast_expr *coef, *rest, *a;
		if (u->by || u->v.pack ||
		    !is_linear(s, e.lhs, u->v.symbol, &coef, &rest) ||
		    !tree_is_int(coef, 1) || rest->kind != AST_BINARY ||
		    rest->op != OP_MUL)
			continue;
		if (ast_same(rest->args[1], u->v.extent))
			a = rest->args[0];
		else if (ast_same(rest->args[0], u->v.extent))
			a = rest->args[1];
		else
			continue;
		if (!solver_has_unknown(s, a))
			continue;
		ast_expr *b = u->v.extent;
		equation high = {a, tree_binary(t, OP_DIV, e.rhs, b)};
		vec_push(t->a, &s->equations, high);
		solver_settle(s, u, tree_binary(t, OP_MOD, e.rhs, b), true);
		return true;
	}
	return false;
}

/* Solves v / m: v is one of the m numbers from m * rhs on. */
static bool solve_quotient(solver *s, equation e)
{
	trees *t = s->t;
	if (e.lhs->kind != AST_BINARY || e.lhs->op != OP_DIV ||
	    e.lhs->args[0]->kind != AST_NAME ||
	    solver_has_unknown(s, e.lhs->args[1]))
		return false;
	unknown *u = solver_find(s, e.lhs->args[0]->symbol);
	if (!u)
		return false;
	unknown part = {.own = u->own, .v = u->v};
	part.v.name = u->own->name;
	solver_rename(s, &part.v);
	part.v.extent = e.lhs->args[1];
	solver_settle(s, u,
		      tree_add(t, tree_mul(t, e.rhs, e.lhs->args[1]),
			       tree_use(t, part.v.symbol)),
		      false);
	vec_push(t->a, &s->unknowns, part);
	return true;
}

static bool divides_in(const ast_expr *e, const ast_expr *by)
{
	if (e->kind == AST_BINARY && (e->op == OP_DIV || e->op == OP_MOD) &&
	    ast_same(e->args[1], by))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (divides_in(e->args[i], by))
			return true;
	return false;
}

/* Whether the operator divides by e, so that e has to be positive. */
static bool is_divisor(const solver *s, const ast_expr *e)
{
	const ast_op *op = s->g->op;
	for (int i = 0; i < op->nresults; i++)
		for (int d = 0; d < op->results[i].ndims; d++)
			if (divides_in(op->results[i].dims[d], e))
				return true;
	for (int i = 0; i < op->nbodies; i++)
		if (divides_in(op->bodies[i], e))
			return true;
	return false;
}

/* The rank of an unknown with this coefficient as the one to solve for; 0 if it
 * cannot be solved for. */
static int preference(const solver *s, const unknown *u, const ast_expr *coef)
{
	bool one = tree_is_int(coef, 1);
	bool minus = coef->kind == AST_UNARY;
	if (tree_is_zero(coef) || (minus && !tree_is_int(coef->args[0], 1)))
		return 0;
	if (!minus && coef->kind != AST_INT && !is_divisor(s, coef))
		return 0;
	return 2 * u->of_result + (one || minus) + 1;
}

static bool solve_linear(solver *s, equation e)
{
	trees *t = s->t;
	unknown *best = NULL;
	ast_expr *coef = NULL, *rest = NULL, *c, *r;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (u->by || u->v.pack ||
		    !is_linear(s, e.lhs, u->v.symbol, &c, &r) ||
		    preference(s, u, c) <=
			    (best ? preference(s, best, coef) : 0))
			continue;
		best = u;
		coef = c;
		rest = r;
	}
	if (!best)
		return false;
	if (coef->kind == AST_UNARY) {
		solver_settle(s, best, tree_sub(t, rest, e.rhs), false);
		return true;
	}
	ast_expr *by = tree_sub(t, e.rhs, rest);
	if (!tree_is_int(coef, 1)) {
		ast_expr *whole = tree_binary(t, OP_MOD, by, coef);
		vec_push(t->a, &s->inside,
			 tree_binary(t, OP_EQ, whole, tree_int(t, 0)));
		by = tree_binary(t, OP_DIV, by, coef);
	}
	solver_settle(s, best, by, false);
	return true;
}

/* An index as an i64, the type of variables. */
static ast_expr *as_i64(solver *s, ast_expr *e)
{
	return etype_is(grad_type(s->g, e), DT_I64) || !grad_has_type(s->g, e)
		       ? e
		       : grad_cast(s->g, e, etype_exact(DT_I64));
}

/* ---- conditions --------------------------------------------------------- */

void solver_add_given(solver *s, ast_expr *e)
{
	if (e->kind == AST_BINARY && e->op == OP_AND) {
		solver_add_given(s, e->args[0]);
		solver_add_given(s, e->args[1]);
	} else {
		vec_push(s->t->a, &s->given, e);
	}
}

/* Whether e says that m divides x. */
static bool says_divisible(const ast_expr *e, const ast_expr *x,
			   const ast_expr *m)
{
	return e->kind == AST_BINARY && e->op == OP_EQ &&
	       tree_is_int(e->args[1], 0) && e->args[0]->kind == AST_BINARY &&
	       e->args[0]->op == OP_MOD && ast_same(e->args[0]->args[0], x) &&
	       ast_same(e->args[0]->args[1], m);
}

/* Replaces x / m == y by x == m * y if m divides x. */
static void multiply_out(solver *s, equation *e)
{
	if (e->lhs->kind != AST_BINARY || e->lhs->op != OP_DIV)
		return;
	ast_expr *x = e->lhs->args[0], *m = e->lhs->args[1];
	for (int i = 0; i < s->given.n; i++) {
		if (!says_divisible(s->given.at[i], x, m))
			continue;
		*e = (equation){x, tree_mul(s->t, m, e->rhs)};
		s->given.at[i] = tree_bool(s->t, true);
		return;
	}
}

/* Settles an unknown that a condition sets equal to a number. */
static bool settle_given(solver *s, const ast_expr *e)
{
	bool equal = e->kind == AST_BINARY && e->op == OP_EQ;
	for (int i = 0; equal && i < 2; i++) {
		ast_expr *x = e->args[i], *y = e->args[1 - i];
		unknown *u =
			x->kind == AST_NAME ? solver_find(s, x->symbol) : NULL;
		if (!u || solver_has_unknown(s, y) || grad_has_read(s->g, y))
			continue;
		solver_settle(s, u, y, false);
		return true;
	}
	return false;
}

/* Solves the conditions for unknowns. */
static void use_given(solver *s)
{
	for (int i = 0; i < s->equations.n; i++)
		multiply_out(s, &s->equations.at[i]);
	for (int i = 0; i < s->given.n; i++)
		if (settle_given(s, solver_with_known(s, s->given.at[i])))
			s->given.at[i] = tree_bool(s->t, true);
}

/* Settles unknowns that have one value only. */
static void settle_single(solver *s)
{
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (!u->by && !u->v.pack && tree_is_int(u->v.extent, 1))
			solver_settle(s, u, tree_int(s->t, 0), true);
	}
}

grad_facts solver_facts(const solver *s)
{
	grad_facts f = {.g = s->g};
	for (int i = 0; i < s->nvars; i++)
		vec_push(s->t->a, &f.vars, s->vars[i]);
	for (int i = 0; i < s->unknowns.n; i++)
		vec_push(s->t->a, &f.vars, s->unknowns.at[i].v);
	return f;
}

void solver_solve(solver *s)
{
	settle_single(s);
	use_given(s);
	for (int i = 0; i < s->equations.n; i++) {
		equation e = s->equations.at[i];
		grad_facts facts = solver_facts(s);
		e.lhs = grad_divided(&facts, solver_with_known(s, e.lhs));
		e.rhs = solver_with_known(s, e.rhs);
		if (solve_radix(s, e) || solve_quotient(s, e) ||
		    solve_linear(s, e))
			continue;
		e.lhs = as_i64(s, e.lhs);
		if (!solver_has_unknown(s, e.lhs) &&
		    !grad_has_read(s->g, e.lhs))
			e = (equation){e.rhs, e.lhs};
		vec_push(s->t->a, &s->equal,
			 tree_binary(s->t, OP_EQ, e.lhs, e.rhs));
	}
}
