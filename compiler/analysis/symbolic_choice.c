/* Conditions as alternatives of facts, and the choices that they make. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

static const sval unknown = { .nfactors = -1 };

typedef VEC(sym_path) path_list;

static void add_path(build *b, path_list *l, const poly *f, const poly *g)
{
	sym_path p = { 0, ARENA_ARRAY(b->arena, const poly *, 2) };
	if (f)
		p.facts[p.n++] = f;
	if (g)
		p.facts[p.n++] = g;
	vec_push(b->arena, l, p);
}

static path_list product(build *b, const sym_path *x, int nx,
			 const path_list *y)
{
	path_list r = { 0 };
	if ((int64_t)nx * y->n > SYM_MAX_PATHS) {
		b->vague = true;
		for (int i = 0; i < nx; i++)
			vec_push(b->arena, &r, x[i]);
		return r;
	}
	for (int i = 0; i < nx; i++) {
		for (int j = 0; j < y->n; j++) {
			const sym_path *p = &x[i], *q = &y->at[j];
			sym_path s = { p->n + q->n,
				       ARENA_ARRAY(b->arena, const poly *,
						   p->n + q->n) };
			for (int k = 0; k < s.n; k++)
				s.facts[k] = k < p->n ? p->facts[k]
						      : q->facts[k - p->n];
			vec_push(b->arena, &r, s);
		}
	}
	return r;
}

/* Adds the facts that follow from x OP y for two integers, or from its
 * negation. */
static void compare(build *b, ast_operator op, bool truth, const poly *x,
		    const poly *y, path_list *out)
{
	static const ast_operator opposite[] = {
		[OP_LT] = OP_GE, [OP_LE] = OP_GT, [OP_GT] = OP_LE,
		[OP_GE] = OP_LT, [OP_EQ] = OP_NE, [OP_NE] = OP_EQ,
	};
	arena *a = b->arena;
	const poly *above = poly_sub(a, y, x), *below = poly_sub(a, x, y);
	switch (truth ? op : opposite[op]) {
	case OP_LT:
		add_path(b, out, poly_shift(a, above, -1), NULL);
		break;
	case OP_LE:
		add_path(b, out, above, NULL);
		break;
	case OP_GT:
		add_path(b, out, poly_shift(a, below, -1), NULL);
		break;
	case OP_GE:
		add_path(b, out, below, NULL);
		break;
	case OP_EQ:
		add_path(b, out, above, below);
		break;
	default:
		add_path(b, out, poly_shift(a, above, -1), NULL);
		add_path(b, out, poly_shift(a, below, -1), NULL);
		break;
	}
}

/* A condition as a list of alternatives, each a set of facts.  A condition that
 * depends on data gives no facts: it may be true or false. */
static path_list paths_of(build *b, const ast_expr *e, bool truth)
{
	path_list r = { 0 };
	if (e->kind == AST_UNARY && e->op == OP_NOT)
		return paths_of(b, e->args[0], !truth);
	if (e->kind == AST_BINARY && (e->op == OP_AND || e->op == OP_OR)) {
		path_list x = paths_of(b, e->args[0], truth);
		path_list y = paths_of(b, e->args[1], truth);
		if ((e->op == OP_AND) == truth)
			return product(b, x.at, x.n, &y);
		for (int i = 0; i < y.n; i++)
			vec_push(b->arena, &x, y.at[i]);
		return x;
	}
	bool quiet = b->quiet;
	b->quiet = true;
	if (e->kind == AST_BINARY && e->op >= OP_LT && e->op <= OP_NE) {
		sval x = sym_scalar(b, e->args[0]);
		sval y = sym_scalar(b, e->args[1]);
		const poly *p = sym_any_poly(x), *q = sym_any_poly(y);
		if (p && q)
			compare(b, e->op, truth, p, q, &r);
		b->vague |= !(p && q) && !x.data && !y.data;
	} else {
		b->vague |= !sym_scalar(b, e).data;
	}
	b->quiet = quiet;
	if (r.n == 0)
		add_path(b, &r, NULL, NULL);
	return r;
}

/* A condition as alternatives for true and false, and the reads in it. */
typedef struct asked {
	condition_reads noted;
	path_list yes, no;
	bool vague;
} asked;

static void ask(build *b, const ast_expr *cond, asked *a)
{
	bool vague = b->vague;
	b->vague = false;
	b->nasked++;
	a->yes = paths_of(b, cond, true);
	a->no = paths_of(b, cond, false);
	b->nasked--;
	a->vague = b->vague;
	b->vague = vague;
}

/* Walks e where the condition is true, or where it is false. */
static sval under(build *b, const asked *a, bool truth, const ast_expr *e)
{
	sym_path *paths = b->paths;
	int npaths = b->npaths;
	bool vague = b->vague;
	path_list now = product(b, paths, npaths, truth ? &a->yes : &a->no);
	b->vague |= a->vague;
	b->paths = now.at;
	b->npaths = now.n;
	vec_push(b->arena, &b->conditions, a->noted);
	sval v = sym_scalar(b, e);
	b->conditions.n--;
	b->paths = paths;
	b->npaths = npaths;
	b->vague = vague;
	return v;
}

/* The choice between two integers as an atom.  Used only in an index or in a
 * condition. */
static const poly *choice(build *b, const ast_expr *const e[3], const asked *a,
			  sval x, sval y)
{
	if (a->vague || !sym_any_poly(x) || !sym_any_poly(y) ||
	    b->nindices + b->nasked == 0)
		return NULL;
	const char *text[3];
	for (int i = 0; i < 3; i++)
		text[i] = dsl_expr_text(b->arena, e[i]);
	const char *name = arena_printf(b->arena, "(if %s then %s else %s)",
					text[0], text[1], text[2]);
	int atom = poly_new_atom(b->space, ATOM_VAR, name, POLY_NO_MIN);
	sym_choice c = {.atom = atom,
			.x = sym_any_poly(x),
			.y = sym_any_poly(y),
			.nxs = a->yes.n,
			.xs = a->yes.at,
			.nys = a->no.n,
			.ys = a->no.at};
	vec_push(b->arena, &b->choices, c);
	return poly_of(b->arena, atom);
}

sval sym_choose(build *b, const ast_expr *c, const ast_expr *x,
		const ast_expr *y)
{
	/* Conditions are walked twice because of the choices in them, so
	 * nesting is limited. */
	enum { MAX_ASKED = 3 };
	if (b->nasked > MAX_ASKED)
		return unknown;
	asked a;
	sval vc = sym_condition(b, c, &a.noted);
	ask(b, c, &a);
	if (b->into && !b->quiet)
		b->into->conditional = true;
	b->nbranches++;
	sval vx = under(b, &a, true, x), vy = under(b, &a, false, y);
	b->nbranches--;
	sval r = sym_both(vx, vy);
	if (!vc.data)
		r.cases = choice(b, (const ast_expr *[]){ c, x, y }, &a, vx,
				 vy);
	sym_choice_facts(b, &r, &vc, &vx, &vy);
	r.data |= vc.data;
	r.attr |= vc.attr;
	r.varies |= vc.varies;
	r.flops = vc.flops + (vx.flops > vy.flops ? vx.flops : vy.flops);
	return r;
}

sval sym_logical(build *b, const ast_expr *e)
{
	asked a;
	sval x = sym_condition(b, e->args[0], &a.noted), y;
	if (b->quiet) {
		y = sym_scalar(b, e->args[1]);
	} else {
		ask(b, e->args[0], &a);
		if (b->into)
			b->into->conditional = true;
		b->nbranches++;
		y = under(b, &a, e->op == OP_AND, e->args[1]);
		b->nbranches--;
	}
	sval r = sym_both(x, y);
	sym_fn_facts(b, e->op == OP_AND ? FN_AND : FN_OR, &r,
		     (const sval[]){ x, y }, false);
	return r;
}
