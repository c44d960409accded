/* Packs of a stage's variables, as far as a read determines them. */
#include "config.h"

#include "compiler/gradient/solver.h"

/* The part of a pack that is not in another part; NULL if it cannot be
 * written. */
static ast_pack *rest_of(solver *s, const ast_pack *all, const ast_pack *part)
{
	ast_pack rest = *part;
	if (all->kind != PACK_ALL || all->symbol != part->symbol)
		return NULL;
	if (part->kind == PACK_MINUS)
		rest.kind = PACK_AND;
	else if (part->kind == PACK_AND)
		rest.kind = PACK_MINUS;
	else
		return NULL;
	return ARENA_COPY(s->t->a, &rest, 1);
}

/* Whether the stage's variables of a pack cover all of it: ..d, or two
 * halves. */
static bool binds_all(const solver *s, const ast_symbol *pack)
{
	const ast_pack *half = NULL;
	for (int i = 0; i < s->unknowns.n; i++) {
		const ast_pack *p = s->unknowns.at[i].v.pack;
		if (!p || p->symbol != pack || s->unknowns.at[i].by)
			continue;
		if (p->kind == PACK_ALL)
			return true;
		if (half &&
		    (half->kind == PACK_MINUS) != (p->kind == PACK_MINUS) &&
		    ast_same(half->sel, p->sel))
			return true;
		half = p;
	}
	return false;
}

/* Settles a list of a pack's dimensions.  Dimensions that it does not name are
 * summed over. */
static bool settle_list(solver *s, const ast_pack *p)
{
	unknown rest = {.v = {.pack = ARENA_COPY(s->t->a, p, 1)}};
	if (!binds_all(s, p->symbol))
		return false;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (!u->by && u->v.pack && u->v.pack->symbol == p->symbol)
			u->by = tree_pack(s->t, u->v.pack);
	}
	rest.v.pack->kind = PACK_MINUS;
	vec_push(s->t->a, &s->unknowns, rest);
	return true;
}

bool solver_settle_pack(solver *s, const ast_pack *p)
{
	bool whole = p->kind == PACK_ALL, found = false;
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (u->by || !u->v.pack || u->v.pack->symbol != p->symbol)
			continue;
		if (ast_same_pack(u->v.pack, p) || whole) {
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

bool solver_settle_broadcast(solver *s, const grad_tensor *x, const ast_pack *p)
{
	ast_pack missing = {.kind = PACK_MINUS,
			    .name = p->name,
			    .symbol = p->symbol,
			    .sel = tree_use(s->t, x->symbol)};
	for (int i = 0; i < s->unknowns.n; i++) {
		unknown *u = &s->unknowns.at[i];
		if (u->by || !u->v.pack || u->v.pack->symbol != p->symbol)
			continue;
		if (u->v.pack->kind != PACK_ALL || p->kind != PACK_ALL)
			return false;
		u->v.pack = ARENA_COPY(s->t->a, &missing, 1);
		return true;
	}
	return false;
}

bool solver_settle_reshape(solver *s, const contribution *c,
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
	    !ast_same_pack(at->args[0]->pack, stage->vars[0].pack))
		return false;
	ast_expr *mine = tree_pack(t, own);
	ast_expr *position = tree_call(t, at->name, at->calls, 1, &mine);
	ast_pack back = {.kind = PACK_CALL,
			 .sel = tree_call(t, call->name, call->calls, 1,
					  &position)};
	s->unknowns.at[0].by = tree_pack(t, &back);
	s->unknowns.at[0].moved = true;
	return true;
}
