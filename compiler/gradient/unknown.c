/* The unknowns of a solver: a stage's variables and their values. */
#include "config.h"

#include "compiler/gradient/solver.h"

void solver_rename(solver *s, ast_var *v)
{
	v->symbol = grad_new_variable(s->g, v->name);
	v->name = v->symbol->name;
}

void solver_add_unknowns(solver *s, const ast_var *vars, int n, bool of_result)
{
	for (int i = 0; i < n; i++) {
		unknown u = {.v = vars[i],
			     .own = vars[i].symbol,
			     .of_result = of_result};
		if (!u.v.pack)
			solver_rename(s, &u.v);
		vec_push(s->t->a, &s->unknowns, u);
	}
}

ast_expr *solver_in_unknowns(solver *s, ast_expr *e)
{
	for (int i = 0; e && i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (!u->v.pack)
			e = tree_replace(s->t, e, u->own,
					 tree_use(s->t, u->v.symbol));
	}
	return e;
}

static bool is_ravel(const ast_expr *e)
{
	return e->kind == AST_CALL && e->calls.function &&
	       e->calls.function->rule == RULE_POSITION;
}

/* e if the expression is ravel(..unravel(e)), otherwise NULL. */
static ast_expr *unravelled(const ast_expr *e)
{
	const ast_expr *item = e->nargs == 1 ? e->args[0] : NULL;
	if (!is_ravel(e) || !item || item->kind != AST_PACK ||
	    item->pack->kind != PACK_CALL || item->pack->sel->nargs != 1)
		return NULL;
	return item->pack->sel->args[0];
}

/* Puts the indices of a pack in its place if its position is known. */
static ast_expr *put_pack(void *arg, const ast_expr *e)
{
	const unknown *u = arg;
	if (e->kind == AST_CALL)
		return unravelled(e);
	return e->kind == AST_PACK && ast_same_pack(e->pack, u->v.pack) ? u->by
									 : NULL;
}

/* Whether ravel(..) of this item remains one of a variable of the same extent
 * after substituting known values. */
static bool stays_variable(const solver *s, const ast_expr *item)
{
	for (int i = 0; i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (item->kind == AST_NAME && u->v.symbol == item->symbol)
			return !u->by ||
			       (u->in_range && u->by->kind == AST_NAME);
	}
	return true;
}

/* The extent of an unknown. */
static ast_expr *extent_of_item(const solver *s, const ast_symbol *v)
{
	for (int i = 0; i < s->unknowns.n; i++)
		if (s->unknowns.at[i].v.symbol == v)
			return s->unknowns.at[i].v.extent;
	return NULL;
}

static ast_expr *ravel_spelt(solver *s, const ast_expr *e)
{
	trees *t = s->t;
	ast_expr *at = tree_int(t, 0);
	for (int i = 0; i < e->nargs; i++) {
		ast_expr *item = e->args[i], *n;
		if (item->kind == AST_PACK) {
			n = tree_function(t, SCALAR_size, 1, &item);
			item = tree_function(t, SCALAR_ravel, 1, &item);
		} else {
			n = extent_of_item(s, item->symbol);
		}
		at = tree_add(t, tree_mul(t, at, n), item);
	}
	return at;
}

/* Writes ravel(i, j) as arithmetic if i or j becomes something other than a
 * lambda's variable of the same extent. */
static ast_expr *spell_ravel(void *arg, const ast_expr *e)
{
	solver *s = arg;
	if (!is_ravel(e))
		return NULL;
	for (int i = 0; i < e->nargs; i++)
		if (!stays_variable(s, e->args[i]))
			return ravel_spelt(s, e);
	return NULL;
}

/* Writes ravel of single variables as arithmetic everywhere, so that it can be
 * solved. */
static ast_expr *spell_any_ravel(void *arg, const ast_expr *e)
{
	bool ravel = is_ravel(e);
	for (int i = 0; ravel && i < e->nargs; i++)
		ravel = e->args[i]->kind == AST_NAME;
	return ravel ? ravel_spelt(arg, e) : NULL;
}

ast_expr *solver_spell_ravels(solver *s, ast_expr *e)
{
	return tree_map(s->t, e, spell_any_ravel, s);
}

ast_expr *solver_with_known(solver *s, ast_expr *e)
{
	e = e ? tree_map(s->t, e, spell_ravel, s) : NULL;
	for (int i = 0; e && i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (u->by && u->moved)
			e = tree_map(s->t, e, put_pack, u);
		else if (u->by && !u->v.pack)
			e = tree_replace(s->t, e, u->v.symbol, u->by);
	}
	return e;
}

bool solver_has_unknown(const solver *s, const ast_expr *e)
{
	for (int i = 0; i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (!u->by && !u->v.pack && tree_mentions(e, u->v.symbol))
			return true;
	}
	return false;
}

unknown *solver_find(solver *s, const ast_symbol *v)
{
	for (int i = 0; i < s->unknowns.n; i++)
		if (!s->unknowns.at[i].v.pack && !s->unknowns.at[i].by &&
		    s->unknowns.at[i].v.symbol == v)
			return &s->unknowns.at[i];
	return NULL;
}

void solver_settle(solver *s, unknown *u, ast_expr *by, bool in_range)
{
	u->by = by;
	u->in_range = in_range;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *other = &s->unknowns.at[i];
		if (other->by && other != u && !other->v.pack)
			other->by =
				tree_replace(s->t, other->by, u->v.symbol, by);
	}
	for (int i = 0; i < s->inside.n; i++)
		s->inside.at[i] =
			tree_replace(s->t, s->inside.at[i], u->v.symbol, by);
	for (int i = 0; i < s->equal.n; i++)
		s->equal.at[i] =
			tree_replace(s->t, s->equal.at[i], u->v.symbol, by);
}
