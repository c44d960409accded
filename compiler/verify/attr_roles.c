/* The roles of attributes, as far as an operator's text shows them: shapes of
 * packs, axes, permutations, and strings with the words that they are compared
 * with. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <string.h>

typedef struct walk {
	arena *arena;
	const ast_op *op;
	role *roles;
	bool inside; /* in a callee, whose own calls are not followed */
} walk;

/* The attribute of a symbol; -1 if there is none. */
static int attr_of(const ast_symbol *s)
{
	return s && s->kind == SYMBOL_ATTR ? s->index : -1;
}

static void set_role(walk *w, const ast_symbol *s, role_kind kind,
		     const char *pack)
{
	int i = attr_of(s);
	if (i < 0 || w->roles[i].kind != ROLE_VALUE)
		return;
	w->roles[i].kind = kind;
	w->roles[i].pack = pack;
}

static void walk_pack(walk *w, const ast_pack *p)
{
	if (!p)
		return;
	set_role(w, p->symbol, ROLE_PACK, p->name);
	if (!p->sel || p->sel->kind != AST_NAME)
		return;
	if (p->kind == PACK_PERM)
		set_role(w, p->sel->symbol, ROLE_PERM, p->name);
	if (p->kind == PACK_MINUS || p->kind == PACK_AND)
		set_role(w, p->sel->symbol, ROLE_AXES, p->name);
}

static void add_word(walk *w, const ast_expr *attr, const ast_expr *word)
{
	int i = attr_of(attr->symbol);
	if (i < 0 || word->kind != AST_STRING)
		return;
	role *r = &w->roles[i];
	const char **words = ARENA_ARRAY(w->arena, const char *,
					 r->nwords + 1);
	for (int j = 0; j < r->nwords; j++)
		words[j] = r->words[j];
	words[r->nwords++] = word->name;
	r->words = words;
}

static role *roles_in(arena *a, const ast_op *op, bool inside);

/* An attribute passed to a callee has the role that it has there.  If it names
 * axes, their pack is the callee's, which is unknown here. */
static void walk_call(walk *w, const ast_expr *e)
{
	const ast_op *callee = ast_op_of(e);
	if (!callee || w->inside || e->nnamed == 0)
		return;
	role *there = roles_in(w->arena, callee, true);
	for (int i = 0; i < e->nnamed; i++) {
		int j = e->named[i].index;
		if (there[j].kind == ROLE_AXES || there[j].kind == ROLE_PERM)
			set_role(w, e->named[i].value->symbol, there[j].kind,
				 NULL);
	}
}

static void walk_expr(walk *w, const ast_expr *e)
{
	if (!e)
		return;
	walk_pack(w, e->pack);
	if (e->pack)
		walk_expr(w, e->pack->sel);
	if (e->kind == AST_BINARY && (e->op == OP_EQ || e->op == OP_NE)) {
		add_word(w, e->args[0], e->args[1]);
		add_word(w, e->args[1], e->args[0]);
	}
	if (e->kind == AST_CALL)
		walk_call(w, e);
	for (int i = 0; i < e->nvars; i++) {
		walk_pack(w, e->vars[i].pack);
		walk_expr(w, e->vars[i].extent);
	}
	for (int i = 0; i < e->nargs; i++)
		walk_expr(w, e->args[i]);
	for (int i = 0; i < e->nnamed; i++)
		walk_expr(w, e->named[i].value);
}

static void walk_tensors(walk *w, const ast_tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		for (int d = 0; d < t[i].ndims; d++)
			walk_expr(w, t[i].dims[d]);
}

static role *roles_in(arena *a, const ast_op *op, bool inside)
{
	walk w = { a, op, ARENA_ARRAY(a, role, op->nattrs + 1), inside };
	walk_tensors(&w, op->params, op->nparams);
	walk_tensors(&w, op->results, op->nresults);
	for (int i = 0; i < op->nlets; i++)
		walk_expr(&w, op->lets[i].value);
	for (int i = 0; i < op->nbodies; i++)
		walk_expr(&w, op->bodies[i]);
	return w.roles;
}

role *roles_of(arena *a, const ast_op *op)
{
	return roles_in(a, op, false);
}
