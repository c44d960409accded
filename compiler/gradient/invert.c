#include "config.h"

#include "compiler/gradient/invert.h"

#include <string.h>

#include "compiler/gradient/range.h"

/* A variable of the stage, and what it is in terms of the others and of those
 * of the derivative. */
typedef struct unknown {
	ast_var v;
	const char *own; /* the name in the stage; v.name is unique */
	bool of_result;
	ast_expr *by;	 /* NULL: not known */
	bool in_range;	 /* by is always within the extent */
	bool moved;	 /* a pack that is at other indices */
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
	VEC(ast_expr *) given; /* what the contribution is under */
	ast_expr *condition;   /* NULL: none */
	ast_expr *value;
	const ast_var *vars; /* of the derivative */
	int nvars;
} solver;

static ast_expr *give_up(solver *s, const char *because)
{
	if (!s->g->because)
		s->g->because = because;
	return NULL;
}

static void require(solver *s, ast_expr *e)
{
	s->condition = s->condition
			       ? tree_binary(s->t, OP_AND, s->condition, e)
			       : e;
}

/* ---- unknowns ---------------------------------------------------------- */

static void add_unknowns(solver *s, const ast_var *vars, int n, bool of_result)
{
	for (int i = 0; i < n; i++) {
		unknown u = {.v = vars[i],
			     .own = vars[i].name,
			     .of_result = of_result};
		if (!u.v.pack)
			u.v.name = intern(s->t->names,
					  arena_printf(s->t->a, "?%s", u.own));
		vec_push(s->t->a, &s->unknowns, u);
	}
}

/* e in the names of the unknowns. */
static ast_expr *in_unknowns(solver *s, ast_expr *e)
{
	for (int i = 0; e && i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (!u->v.pack)
			e = tree_replace(s->t, e, u->own,
					 tree_name(s->t, u->v.name));
	}
	return e;
}

static ast_expr *put_pack(void *arg, const ast_expr *e)
{
	const unknown *u = arg;
	return e->kind == AST_PACK && tree_same_pack(e->pack, u->v.pack)
		       ? u->by
		       : NULL;
}

/* e with what is known put in. */
static ast_expr *with_known(solver *s, ast_expr *e)
{
	for (int i = 0; e && i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (u->by && u->moved)
			e = tree_map(s->t, e, put_pack, u);
		else if (u->by && !u->v.pack)
			e = tree_replace(s->t, e, u->v.name, u->by);
	}
	return e;
}

static bool has_unknown(const solver *s, const ast_expr *e)
{
	for (int i = 0; i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (!u->by && !u->v.pack && tree_mentions(e, u->v.name))
			return true;
	}
	return false;
}

static unknown *find_unknown(solver *s, const char *name)
{
	for (int i = 0; i < s->unknowns.n; i++)
		if (!s->unknowns.at[i].v.pack && !s->unknowns.at[i].by &&
		    s->unknowns.at[i].v.name == name)
			return &s->unknowns.at[i];
	return NULL;
}

/* Says what an unknown is; those that were known before are kept free of it. */
static void settle(solver *s, unknown *u, ast_expr *by, bool in_range)
{
	u->by = by;
	u->in_range = in_range;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *other = &s->unknowns.at[i];
		if (other->by && other != u && !other->v.pack)
			other->by = tree_replace(s->t, other->by, u->v.name,
						 by);
	}
	if (s->condition)
		s->condition =
			tree_replace(s->t, s->condition, u->v.name, by);
}

/* ---- equations --------------------------------------------------------- */

/* Whether e is coef * name + rest, where neither has the name and coef no
 * unknown. */
static bool is_linear(solver *s, ast_expr *e, const char *name,
		      ast_expr **coef, ast_expr **rest)
{
	trees *t = s->t;
	ast_expr *c, *r;
	*coef = tree_int(t, 0);
	*rest = e;
	if (!tree_mentions(e, name))
		return true;
	if (e->kind == AST_NAME) {
		*coef = tree_int(t, 1);
		*rest = tree_int(t, 0);
		return true;
	}
	if (e->kind == AST_UNARY && e->op == OP_NEG) {
		if (!is_linear(s, e->args[0], name, &c, &r))
			return false;
		*coef = tree_neg(t, c);
		*rest = tree_neg(t, r);
		return true;
	}
	if (e->kind != AST_BINARY)
		return false;
	ast_expr *x = e->args[0], *y = e->args[1], *d, *q;
	if (e->op == OP_ADD || e->op == OP_SUB) {
		if (!is_linear(s, x, name, &c, &r) ||
		    !is_linear(s, y, name, &d, &q))
			return false;
		*coef = tree_binary(t, e->op, c, d);
		*rest = tree_binary(t, e->op, r, q);
		return true;
	}
	if (e->op != OP_MUL)
		return false;
	if (tree_mentions(y, name)) {
		x = e->args[1];
		y = e->args[0];
	}
	if (tree_mentions(y, name) || has_unknown(s, y) ||
	    !is_linear(s, x, name, &c, &r))
		return false;
	*coef = tree_mul(t, y, c);
	*rest = tree_mul(t, y, r);
	return true;
}

/* a * b + c where c is an unknown that runs over b elements: c is the
 * remainder by b, and a the quotient. */
static bool solve_radix(solver *s, equation e)
{
	trees *t = s->t;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		ast_expr *coef, *rest, *a;
		if (u->by || u->v.pack ||
		    !is_linear(s, e.lhs, u->v.name, &coef, &rest) ||
		    !tree_is_int(coef, 1) || rest->kind != AST_BINARY ||
		    rest->op != OP_MUL)
			continue;
		if (tree_same(rest->args[1], u->v.extent))
			a = rest->args[0];
		else if (tree_same(rest->args[0], u->v.extent))
			a = rest->args[1];
		else
			continue;
		if (!has_unknown(s, a))
			continue;
		ast_expr *b = u->v.extent;
		equation high = {a, tree_binary(t, OP_DIV, e.rhs, b)};
		vec_push(t->a, &s->equations, high);
		settle(s, u, tree_binary(t, OP_MOD, e.rhs, b), true);
		return true;
	}
	return false;
}

/* v / m: v is one of the m numbers from m * rhs on. */
static bool solve_quotient(solver *s, equation e)
{
	trees *t = s->t;
	if (e.lhs->kind != AST_BINARY || e.lhs->op != OP_DIV ||
	    e.lhs->args[0]->kind != AST_NAME || has_unknown(s, e.lhs->args[1]))
		return false;
	unknown *u = find_unknown(s, e.lhs->args[0]->name);
	if (!u)
		return false;
	unknown part = {.own = u->own, .v = u->v};
	part.v.name = intern(t->names, arena_printf(t->a, "%s?", u->v.name));
	part.v.extent = e.lhs->args[1];
	settle(s, u,
	       tree_add(t, tree_mul(t, e.rhs, e.lhs->args[1]),
			tree_name(t, part.v.name)),
	       false);
	vec_push(t->a, &s->unknowns, part);
	return true;
}

static bool divides_in(const ast_expr *e, const ast_expr *by)
{
	if (e->kind == AST_BINARY && (e->op == OP_DIV || e->op == OP_MOD) &&
	    tree_same(e->args[1], by))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (divides_in(e->args[i], by))
			return true;
	return false;
}

/* Whether the operator divides by it, so that it has to be positive. */
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

/* How gladly an unknown with this coefficient is solved for; 0: not at all. */
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
		    !is_linear(s, e.lhs, u->v.name, &c, &r) ||
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
		settle(s, best, tree_sub(t, rest, e.rhs), false);
		return true;
	}
	ast_expr *by = tree_sub(t, e.rhs, rest);
	if (!tree_is_int(coef, 1)) {
		require(s, tree_binary(t, OP_EQ,
				       tree_binary(t, OP_MOD, by, coef),
				       tree_int(t, 0)));
		by = tree_binary(t, OP_DIV, by, coef);
	}
	settle(s, best, by, false);
	return true;
}

/* An index as an i64, as variables are. */
static ast_expr *as_i64(solver *s, ast_expr *e)
{
	const char *type = grad_type(s->g, e);
	return !type || !strcmp(type, "i64") ? e : grad_cast(s->g, e, "i64");
}

/* ---- conditions --------------------------------------------------------- */

static void add_given(solver *s, ast_expr *e)
{
	if (e->kind == AST_BINARY && e->op == OP_AND) {
		add_given(s, e->args[0]);
		add_given(s, e->args[1]);
	} else {
		vec_push(s->t->a, &s->given, e);
	}
}

/* Whether e says that x can be divided by m. */
static bool says_divisible(const ast_expr *e, const ast_expr *x,
			   const ast_expr *m)
{
	return e->kind == AST_BINARY && e->op == OP_EQ &&
	       tree_is_int(e->args[1], 0) && e->args[0]->kind == AST_BINARY &&
	       e->args[0]->op == OP_MOD && tree_same(e->args[0]->args[0], x) &&
	       tree_same(e->args[0]->args[1], m);
}

/* x / m == y where x can be divided by m: x == m * y. */
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

/* A condition that an unknown is a number: it is known. */
static bool settle_given(solver *s, const ast_expr *e)
{
	bool equal = e->kind == AST_BINARY && e->op == OP_EQ;
	for (int i = 0; equal && i < 2; i++) {
		ast_expr *x = e->args[i], *y = e->args[1 - i];
		unknown *u = x->kind == AST_NAME ? find_unknown(s, x->name)
						 : NULL;
		if (!u || has_unknown(s, y) || grad_has_read(s->g, y))
			continue;
		settle(s, u, y, false);
		return true;
	}
	return false;
}

/* Takes what the conditions say about the unknowns. */
static void use_given(solver *s)
{
	for (int i = 0; i < s->equations.n; i++)
		multiply_out(s, &s->equations.at[i]);
	for (int i = 0; i < s->given.n; i++)
		if (settle_given(s, with_known(s, s->given.at[i])))
			s->given.at[i] = tree_bool(s->t, true);
}

static void require_given(solver *s)
{
	for (int i = 0; i < s->given.n; i++)
		if (s->given.at[i]->kind != AST_BOOL || !s->given.at[i]->i)
			require(s, s->given.at[i]);
}

/* Runs over one point: it is there. */
static void settle_single(solver *s)
{
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (!u->by && !u->v.pack && tree_is_int(u->v.extent, 1))
			settle(s, u, tree_int(s->t, 0), true);
	}
}

/* The variables that may stand in what is known. */
static grad_facts facts_of(const solver *s)
{
	grad_facts f = {.g = s->g};
	for (int i = 0; i < s->nvars; i++)
		vec_push(s->t->a, &f.vars, s->vars[i]);
	for (int i = 0; i < s->unknowns.n; i++)
		vec_push(s->t->a, &f.vars, s->unknowns.at[i].v);
	return f;
}

static void solve(solver *s)
{
	settle_single(s);
	use_given(s);
	for (int i = 0; i < s->equations.n; i++) {
		equation e = s->equations.at[i];
		grad_facts facts = facts_of(s);
		e.lhs = grad_divided(&facts, with_known(s, e.lhs));
		e.rhs = with_known(s, e.rhs);
		if (solve_radix(s, e) || solve_quotient(s, e) ||
		    solve_linear(s, e))
			continue;
		e.lhs = as_i64(s, e.lhs);
		if (!has_unknown(s, e.lhs) && !grad_has_read(s->g, e.lhs))
			e = (equation){e.rhs, e.lhs};
		require(s, tree_binary(s->t, OP_EQ, e.lhs, e.rhs));
	}
}

/* ---- packs ------------------------------------------------------------- */

/* The part of a pack that another part leaves; NULL for none. */
static ast_pack *rest_of(solver *s, const ast_pack *all, const ast_pack *part)
{
	ast_pack rest = *part;
	if (all->kind != PACK_ALL || all->name != part->name)
		return NULL;
	if (part->kind == PACK_MINUS)
		rest.kind = PACK_AND;
	else if (part->kind == PACK_AND)
		rest.kind = PACK_MINUS;
	else
		return NULL;
	return ARENA_COPY(s->t->a, &rest, 1);
}

/* Whether the stage's variables of a pack are all of it: ..d, or two halves. */
static bool binds_all(const solver *s, const char *pack)
{
	const ast_pack *half = NULL;
	for (int i = 0; i < s->unknowns.n; i++) {
		const ast_pack *p = s->unknowns.at[i].v.pack;
		if (!p || p->name != pack || s->unknowns.at[i].by)
			continue;
		if (p->kind == PACK_ALL)
			return true;
		if (half && (half->kind == PACK_MINUS) !=
				    (p->kind == PACK_MINUS) &&
		    tree_same(half->sel, p->sel))
			return true;
		half = p;
	}
	return false;
}

/* A list of the pack's dimensions is known: those that it has not are
 * summed over. */
static bool settle_list(solver *s, const ast_pack *p)
{
	unknown rest = {.v = {.pack = ARENA_COPY(s->t->a, p, 1)}};
	if (!binds_all(s, p->name))
		return false;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (!u->by && u->v.pack && u->v.pack->name == p->name)
			u->by = tree_pack(s->t, u->v.pack);
	}
	rest.v.pack->kind = PACK_MINUS;
	vec_push(s->t->a, &s->unknowns, rest);
	return true;
}

/* The variables of a pack are known: as they are, or as part of those that the
 * stage has. */
static bool settle_pack(solver *s, const ast_pack *p)
{
	bool whole = p->kind == PACK_ALL, found = false;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (u->by || !u->v.pack || u->v.pack->name != p->name)
			continue;
		if (tree_same_pack(u->v.pack, p) || whole) {
			u->by = tree_pack(s->t, p);
			found = true;
			continue;
		}
		ast_pack *rest = rest_of(s, u->v.pack, p);
		if (rest) {
			u->v.pack = rest;
			found = true;
		}
	}
	return found || (p->kind == PACK_PERM && settle_list(s, p));
}

/* A broadcast parameter's own dimensions: those of the pack that it has are
 * known, the others are summed over. */
static bool settle_broadcast(solver *s, const grad_tensor *x, const ast_pack *p)
{
	ast_pack missing = {.kind = PACK_MINUS,
			    .name = p->name,
			    .sel = tree_name(s->t, x->name)};
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (u->by || !u->v.pack || u->v.pack->name != p->name)
			continue;
		if (u->v.pack->kind != PACK_ALL || p->kind != PACK_ALL)
			return false;
		u->v.pack = ARENA_COPY(s->t->a, &missing, 1);
		return true;
	}
	return false;
}

/* x[..unravel(ravel(o..))], of all variables of the result: the element goes
 * where its position leads back to. */
static bool settle_reshape(solver *s, const contribution *c,
			   const ast_pack *own)
{
	trees *t = s->t;
	const ast_expr *call = c->items[0]->pack->sel;
	const grad_stage *stage = c->stage;
	if (c->n != 1 || call->kind != AST_CALL || call->nargs != 1 ||
	    stage->nreduced || stage->nvars != 1 || !stage->vars[0].pack)
		return false;
	const ast_expr *at = call->args[0];
	if (at->kind != AST_CALL || at->nargs != 1 ||
	    at->args[0]->kind != AST_PACK ||
	    !tree_same_pack(at->args[0]->pack, stage->vars[0].pack))
		return false;
	ast_expr *mine = tree_pack(t, own);
	ast_expr *position = tree_call(t, at->name, 1, &mine);
	ast_pack back = {.kind = PACK_CALL,
			 .sel = tree_call(t, call->name, 1, &position)};
	s->unknowns.at[0].by = tree_pack(t, &back);
	s->unknowns.at[0].moved = true;
	return true;
}

/* ---- items ------------------------------------------------------------- */

/* An item of the read and the variable of the derivative for it. */
static bool add_item(solver *s, const contribution *c, int i,
		     const ast_var *var)
{
	const grad_tensor *x = &s->g->tensors.at[c->tensor];
	ast_expr *item = c->items[i];
	if (item->kind == AST_PACK && item->pack->kind == PACK_CALL)
		return var->pack && settle_reshape(s, c, var->pack);
	if (item->kind == AST_PACK && var->pack && x->broadcast)
		return settle_broadcast(s, x, item->pack);
	if (item->kind == AST_PACK)
		return var->pack && tree_same_pack(item->pack, var->pack) &&
		       settle_pack(s, item->pack);
	if (var->pack)
		return false;
	equation e = {in_unknowns(s, item), tree_name(s->t, var->name)};
	unknown *u = e.lhs->kind == AST_NAME ? find_unknown(s, e.lhs->name)
					     : NULL;
	if (u)
		settle(s, u, e.rhs,
		       u->v.extent && tree_same(u->v.extent, x->dims[i]));
	else
		vec_push(s->t->a, &s->equations, e);
	return true;
}

/* ---- ranges ------------------------------------------------------------ */

/* Whether e is 0 as soon as one of its reads is. */
static bool is_product(const grad_op *g, const ast_expr *e)
{
	if (!grad_has_read(g, e))
		return true;
	switch (e->kind) {
	case AST_INDEX:
		return true;
	case AST_GUARD:
		return tree_is_zero(e->args[1]);
	case AST_UNARY:
		return e->op == OP_NEG && is_product(g, e->args[0]);
	case AST_BINARY:
		if (e->op == OP_MUL)
			return is_product(g, e->args[0]) &&
			       is_product(g, e->args[1]);
		return e->op == OP_DIV && is_product(g, e->args[0]) &&
		       !grad_has_read(g, e->args[1]);
	default:
		return false;
	}
}

/* What reads with this unknown in an index become. */
typedef struct guarding {
	solver *s;
	const char *name;
} guarding;

static ast_expr *guard_read(void *arg, const ast_expr *e)
{
	const guarding *w = arg;
	if (e->kind == AST_GUARD && e->args[0]->kind == AST_GUARD)
		return e->args[0];
	if (!grad_is_read(w->s->g, e))
		return NULL;
	trees *t = w->s->t;
	const char *type = grad_type(w->s->g, e);
	bool boolean = type && !strcmp(type, "bool");
	for (int i = 1; i < e->nargs; i++)
		if (tree_mentions(e->args[i], w->name))
			return tree_guard(t, ARENA_COPY(t->a, e, 1),
					  boolean ? tree_bool(t, false)
						  : tree_int(t, 0));
	return NULL;
}

/* Makes the terms of points outside of the stage 0. */
static void keep_in_range(solver *s, const grad_facts *f)
{
	trees *t = s->t;
	for (int i = 0; i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (!u->by || u->in_range || u->v.pack)
			continue;
		if (grad_is_proven(f, OP_GE, u->by, tree_int(t, 0)) &&
		    grad_is_proven(f, OP_LT, u->by, u->v.extent))
			continue;
		/* The stage's own derivative is read at it: a guard does. */
		if (u->of_result && is_product(s->g, s->value)) {
			guarding w = {s, u->v.name};
			s->value = tree_map(t, s->value, guard_read, &w);
			if (s->condition)
				s->condition = tree_map(t, s->condition,
							guard_read, &w);
			continue;
		}
		require(s, tree_binary(t, OP_GE, u->by, tree_int(t, 0)));
		require(s, tree_binary(t, OP_LT, u->by, u->v.extent));
	}
}

/* ---- the sum ----------------------------------------------------------- */

static bool is_taken(const ast_var *vars, int n, const ast_var *chosen, int m,
		     const char *name)
{
	for (int i = 0; i < n; i++)
		if (!vars[i].pack && vars[i].name == name)
			return true;
	for (int i = 0; i < m; i++)
		if (!chosen[i].pack && chosen[i].name == name)
			return true;
	return false;
}

/* The sum of e over what is not known; the variables have their own names
 * again where these are free. */
static ast_expr *sum_over_rest(solver *s, ast_expr *e, const ast_var *vars,
			       int n)
{
	trees *t = s->t;
	VEC(ast_var) rest = {0};
	for (int i = 0; i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (u->by)
			continue;
		ast_var v = u->v;
		if (!v.pack) {
			v.name = u->own;
			if (is_taken(vars, n, rest.at, rest.n, v.name))
				v.name = grad_fresh(s->g, u->own);
			e = tree_replace(t, e, u->v.name,
					 tree_name(t, v.name));
			v.extent = with_known(s, v.extent);
		}
		vec_push(t->a, &rest, v);
	}
	if (!rest.n)
		return e;
	for (int i = 0; i < rest.n; i++) {
		ast_var *v = &rest.at[i];
		ast_expr *size = v->pack ? NULL
					 : grad_indexed_size(s->g, e, v->name);
		if (size && tree_same(size, v->extent))
			v->extent = NULL;
	}
	ast_expr *lambda = tree_lambda(t, rest.n, rest.at, e);
	return tree_call(t, "Sum", 1, &lambda);
}

/* Whether a condition tells nothing about what is summed over, or only what
 * can be divided by what. */
static bool is_apart(const solver *s, const ast_expr *e)
{
	if (e->kind == AST_BINARY && e->op == OP_AND)
		return is_apart(s, e->args[0]) && is_apart(s, e->args[1]);
	if (grad_has_read(s->g, e))
		return false;
	return !has_unknown(s, e) ||
	       (e->kind == AST_BINARY && e->op == OP_EQ &&
		tree_is_int(e->args[1], 0) &&
		e->args[0]->kind == AST_BINARY && e->args[0]->op == OP_MOD);
}

/* The first factor of a product that is read is 0 where the condition does not
 * hold: so a sum of products stays one. */
static ast_expr *choose_factor(solver *s, ast_expr *when, ast_expr *e)
{
	bool product = e->kind == AST_BINARY && e->op == OP_MUL;
	if (product && grad_has_read(s->g, e->args[0]))
		return tree_mul(s->t, choose_factor(s, when, e->args[0]),
				e->args[1]);
	if (product)
		return tree_mul(s->t, e->args[0],
				choose_factor(s, when, e->args[1]));
	return tree_if(s->t, when, e, tree_int(s->t, 0));
}

static bool is_summed(const solver *s)
{
	for (int i = 0; i < s->unknowns.n; i++)
		if (!s->unknowns.at[i].by)
			return true;
	return false;
}

ast_expr *grad_invert(grad_op *g, const contribution *c, const ast_var *vars)
{
	const grad_stage *stage = c->stage;
	int n = g->tensors.at[c->tensor].ndims;
	solver s = {.g = g, .t = &g->t, .vars = vars, .nvars = n};
	if (c->n != n)
		return give_up(&s, "a read has a pack where the tensor has "
				   "single dimensions");
	add_unknowns(&s, stage->vars, stage->nvars, true);
	add_unknowns(&s, stage->reduced, stage->nreduced, false);
	for (int i = 0; i < n; i++)
		if (!add_item(&s, c, i, &vars[i]))
			return give_up(&s, "the dimensions of a pack are read "
					   "in a way that has no inverse");
	if (c->condition)
		add_given(&s, in_unknowns(&s, c->condition));
	solve(&s);
	s.value = in_unknowns(&s, c->adjoint);
	require_given(&s);
	grad_facts facts = facts_of(&s);
	keep_in_range(&s, &facts);
	ast_expr *e = grad_divided(&facts, with_known(&s, s.value));
	ast_expr *when = with_known(&s, s.condition);
	if (when)
		when = grad_without_proven(&facts, grad_divided(&facts, when));
	if (when && is_summed(&s) && is_apart(&s, when))
		e = choose_factor(&s, when, e);
	else if (when)
		e = tree_if(s.t, when, e, tree_int(s.t, 0));
	return sum_over_rest(&s, e, vars, n);
}

/* ---- the derivative's own variables ------------------------------------ */

static bool is_var_of(const grad_stage *s, const ast_expr *e)
{
	for (int i = 0; i < s->nvars; i++)
		if (!s->vars[i].pack && s->vars[i].name == e->name)
			return true;
	for (int i = 0; i < s->nreduced; i++)
		if (!s->reduced[i].pack && s->reduced[i].name == e->name)
			return true;
	return false;
}

/* The name of the index in a contribution's dimension d; NULL where it is no
 * variable, or one that has another dimension. */
static const char *name_in_reads(grad_op *g, int tensor,
				 const contributions *all, int d,
				 const ast_var *vars)
{
	int ndims = g->tensors.at[tensor].ndims;
	for (int i = 0; i < all->n; i++) {
		const contribution *c = &all->at[i];
		if (c->tensor == tensor && c->stage && c->n == ndims &&
		    c->items[d]->kind == AST_NAME &&
		    is_var_of(c->stage, c->items[d]) &&
		    !is_taken(vars, ndims, NULL, 0, c->items[d]->name))
			return c->items[d]->name;
	}
	return NULL;
}

/* The size's name in small letters, or i, or one of these with a number. */
static const char *name_of_size(grad_op *g, const ast_expr *size,
				const ast_var *vars, int n)
{
	const char *stem = "i";
	if (size->kind == AST_NAME && strlen(size->name) <= 2) {
		char *low = arena_strdup(g->t.a, size->name);
		for (char *p = low; *p; p++)
			*p |= *p >= 'A' && *p <= 'Z' ? 'a' - 'A' : 0;
		stem = grad_is_global(g, intern(g->t.names, low)) ? stem : low;
	}
	const char *name = intern(g->t.names, stem);
	for (int i = 2; is_taken(vars, n, NULL, 0, name) ||
			grad_is_global(g, name);
	     i++)
		name = intern(g->t.names,
			      arena_printf(g->t.a, "%s%d", stem, i));
	return name;
}

ast_var *grad_variables(grad_op *g, int tensor, const contributions *all)
{
	const grad_tensor *x = &g->tensors.at[tensor];
	ast_var *vars = ARENA_ARRAY(g->t.a, ast_var, x->ndims + 1);
	for (int d = 0; d < x->ndims; d++) {
		vars[d].at = NOWHERE;
		if (x->dims[d]->kind != AST_PACK) {
			vars[d].name = name_in_reads(g, tensor, all, d, vars);
			vars[d].extent = x->dims[d];
			continue;
		}
		ast_pack p = *x->dims[d]->pack;
		if (x->broadcast)
			p = (ast_pack){.kind = PACK_ALL, .name = x->name};
		vars[d].pack = ARENA_COPY(g->t.a, &p, 1);
	}
	for (int d = 0; d < x->ndims; d++)
		if (!vars[d].pack && !vars[d].name)
			vars[d].name = name_of_size(g, x->dims[d], vars,
						    x->ndims);
	return vars;
}
