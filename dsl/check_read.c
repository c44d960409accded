/* Checks ranks in the presence of packs: sums with unknowns. */
#include "config.h"

#include <string.h>

#include "dsl/checker.h"

/* ---- ranks -------------------------------------------------------------- */

/* `times' the number of dimensions of the pack, or of elements of the list,
 * `of'. */
typedef struct term {
	const char *of;
	int times;
} term;

typedef struct rank_sum {
	int known;
	VEC(term) terms;
} rank_sum;

static void add_term(checker *c, rank_sum *r, const char *of, int times)
{
	for (int i = 0; i < r->terms.n; i++)
		if (r->terms.at[i].of == of) {
			r->terms.at[i].times += times;
			return;
		}
	vec_push(c->tmp, &r->terms, ((term){ of, times }));
}

/* Adds `times' the number of axes that a selector selects. */
static void add_axes(checker *c, rank_sum *r, const ast_expr *sel, int times)
{
	if (sel->kind == AST_LIST) {
		r->known += sel->nargs * times;
		return;
	}
	const ast_attr *a = sel->kind == AST_NAME
				    ? check_find_attr(c, sel->name)
				    : NULL;
	if (sel->kind == AST_NAME && sel->symbol &&
	    sel->symbol->kind == SYMBOL_TENSOR)
		add_term(c, r, sel->name, times);
	else if (!a || !a->is_list)
		r->known += times;
	else if (a->length >= 0)
		r->known += a->length * times;
	else
		add_term(c, r, a->name, times);
}

/* ..d[list] has as many dimensions as the list; a list that is a permutation
 * may stand for all of them. */
static bool is_open_list(const checker *c, const ast_pack *p)
{
	const ast_attr *a = p->kind == PACK_PERM && p->sel->kind == AST_NAME
				    ? check_find_attr(c, p->sel->name)
				    : NULL;
	return p->kind == PACK_PERM && (!a || a->length < 0);
}

static void add_pack(checker *c, rank_sum *r, const ast_pack *p, int times)
{
	if (p->kind == PACK_AND || p->kind == PACK_PERM) {
		add_axes(c, r, p->sel, times);
		return;
	}
	const ast_attr *a = check_find_attr(c, p->name);
	if (a && a->length >= 0)
		r->known += a->length * times;
	else
		add_term(c, r, p->name, times);
	if (p->kind == PACK_MINUS)
		add_axes(c, r, p->sel, -times);
}

/* False if an item stands for all remaining dimensions. */
static bool add_items(checker *c, rank_sum *r, const ast_expr *const *items,
		      int n, int times)
{
	for (int i = 0; i < n; i++) {
		const ast_expr *e = items[i];
		if (!e || e->kind != AST_PACK)
			r->known += times;
		else if (e->pack->kind == PACK_CALL ||
			 is_open_list(c, e->pack))
			return false;
		else
			add_pack(c, r, e->pack, times);
	}
	return true;
}

/* Whether a rank is that of a broadcast parameter, which only shapes
 * determine. */
static bool is_broadcast(const checker *c, const rank_sum *r)
{
	for (int i = 0; i < r->terms.n; i++) {
		const ast_symbol *s = strmap_get(c->names, r->terms.at[i].of);
		if (s && s->kind == SYMBOL_TENSOR && r->terms.at[i].times)
			return true;
	}
	return false;
}

static bool is_zero(const rank_sum *r)
{
	for (int i = 0; i < r->terms.n; i++)
		if (r->terms.at[i].times)
			return false;
	return r->known == 0;
}

/* "3", "1 + those of '..d' - those of '..axes'" */
static const char *rank_text(checker *c, const rank_sum *r)
{
	bool any = false;
	const char *text = "";
	for (int i = 0; i < r->terms.n; i++) {
		const term *t = &r->terms.at[i];
		if (!t->times)
			continue;
		bool list = check_find_attr(c, t->of) != NULL;
		text = arena_printf(c->tmp, "%s%s%s%s%s", text,
				    !any ? "" : t->times > 0 ? " + " : " - ",
				    list ? "len(" : "..", t->of,
				    list ? ")" : "");
		any = true;
	}
	if (!any)
		return arena_printf(c->tmp, "%d", r->known);
	if (r->known)
		text = arena_printf(c->tmp, "%s %c %d", text,
				    r->known > 0 ? '+' : '-',
				    r->known > 0 ? r->known : -r->known);
	return text;
}

void check_rank(checker *c, range at, const char *what, ast_expr *const *items,
		int n, const ast_expr *const *dims, int ndims)
{
	if (ndims < 0)
		return;
	rank_sum given = { 0 }, have = { 0 }, both = { 0 };
	const ast_expr *const *list = (const ast_expr *const *)items;
	if (!add_items(c, &given, list, n, 1))
		return;
	add_items(c, &have, dims, ndims, 1);
	add_items(c, &both, list, n, 1);
	add_items(c, &both, dims, ndims, -1);
	if (is_zero(&both) || is_broadcast(c, &both))
		return;
	const char *g = rank_text(c, &given), *h = rank_text(c, &have);
	check_error(c, DIAG_WRONG_RANK, at,
		    "%s ind%s for '%s', which has %s dimension%s", g,
		    strcmp(g, "1") ? "ices" : "ex", what, h,
		    strcmp(h, "1") ? "s" : "");
}

void check_tensor_rank(checker *c, range at, const ast_symbol *s,
		       ast_expr *const *items, int n)
{
	const symbol_facts *f = check_facts(c, s);
	check_rank(c, at, s->name, items, n, f->dims, f->ndims);
}

/* ---- packs that lambdas bind -------------------------------------------- */

static bool same_axes(const ast_expr *x, const ast_expr *y)
{
	if (x->kind != y->kind)
		return false;
	if (x->kind == AST_NAME)
		return x->name == y->name;
	if (x->kind == AST_INT)
		return x->i == y->i;
	if (x->kind != AST_LIST || x->nargs != y->nargs)
		return true; /* expansion will check */
	for (int i = 0; i < x->nargs; i++)
		if (!same_axes(x->args[i], y->args[i]))
			return false;
	return true;
}

static bool binds_all(const ast_pack *p)
{
	return p->kind == PACK_ALL || p->kind == PACK_PERM;
}

/* Whether a lambda binds the dimensions that p selects, or might: two different
 * selectors can mean the same axes. */
static bool covered(const checker *c, const ast_pack *p, pack_kind kind)
{
	for (int i = 0; i < c->bound.n; i++) {
		const ast_pack *b = c->bound.at[i].pack;
		if (b->name != p->name)
			continue;
		if (binds_all(b))
			return true;
		if (kind != PACK_ALL && p->sel &&
		    (b->kind == kind ? same_axes(b->sel, p->sel)
				     : !same_axes(b->sel, p->sel)))
			return true;
	}
	return false;
}

/* Whether both halves of a pack are bound, by any selector. */
static bool both_halves(const checker *c, const char *name)
{
	int kinds = 0;
	for (int i = 0; i < c->bound.n; i++)
		if (c->bound.at[i].pack->name == name)
			kinds |= 1 << c->bound.at[i].pack->kind;
	int halves = 1 << PACK_MINUS | 1 << PACK_AND;
	return (kinds & halves) == halves;
}

/* Whether all of the pack is bound by a broadcast parameter's own dimensions
 * and the others: ..b and ..(d \ b). */
static bool by_broadcast(const checker *c, const char *name)
{
	for (int i = 0; i < c->bound.n; i++) {
		const ast_pack *p = c->bound.at[i].pack;
		ast_pack own = { .kind = PACK_ALL };
		if (p->name != name || p->kind != PACK_MINUS ||
		    p->sel->kind != AST_NAME)
			continue;
		own.name = p->sel->name;
		if (covered(c, &own, PACK_ALL))
			return true;
	}
	return false;
}

void check_bound(checker *c, const ast_expr *item)
{
	const ast_pack *p = item->pack;
	pack_kind kind = binds_all(p) ? PACK_ALL : p->kind;
	if (covered(c, p, kind) || both_halves(c, p->name) ||
	    by_broadcast(c, p->name))
		return;
	bool any = false;
	for (int i = 0; i < c->bound.n; i++)
		any |= c->bound.at[i].pack->name == p->name;
	check_error(c, DIAG_UNBOUND_INDEX, item->at,
		    any ? "the lambdas around this bind only some dimensions "
			  "of '..%s'"
			: "no lambda around this binds '..%s'",
		    p->name);
}
