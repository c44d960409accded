/* Tensors used only under conditions that are known when planning, such as a
 * flag.  Their derivatives are 0 if none of the conditions holds, and then
 * nothing that they are computed from may be evaluated: a let that nothing uses
 * may be at fault. */
#include "config.h"

#include "compiler/gradient/flags.h"

#include "compiler/gradient/tree.h"

/* Further parts or ways are dropped in favour of a common beginning. */
enum { MOST_PARTS = 8, MOST_WAYS = 4 };

/* The uses of a tensor: one conjunction of conditions per way of use.  A single
 * NULL means that it is always used. */
typedef VEC(ast_expr *) ways;

typedef struct flags {
	grad_op *g;
	ways *of; /* by tensor */
} flags;

/* ---- conjunctions ------------------------------------------------------- */

static bool is_and(const ast_expr *e)
{
	return e->kind == AST_BINARY && e->op == OP_AND;
}

/* Stores the parts of a conjunction in to[], MOST_PARTS at most.  Returns their
 * number. */
static int parts_of(ast_expr *e, ast_expr **to, int n)
{
	if (!e || n == MOST_PARTS)
		return n;
	if (!is_and(e)) {
		to[n] = e;
		return n + 1;
	}
	return parts_of(e->args[1], to, parts_of(e->args[0], to, n));
}

static bool has(ast_expr *e, const ast_expr *part)
{
	ast_expr *parts[MOST_PARTS];
	int n = parts_of(e, parts, 0);
	for (int i = 0; i < n; i++)
		if (ast_same(parts[i], part))
			return true;
	return false;
}

/* The parts of x that y has (in_y), or does not have. */
static ast_expr *shared(flags *f, ast_expr *x, ast_expr *y, bool in_y)
{
	ast_expr *parts[MOST_PARTS], *r = NULL;
	int n = parts_of(x, parts, 0);
	for (int i = 0; i < n; i++)
		if (has(y, parts[i]) == in_y)
			r = r ? tree_binary(&f->g->t, OP_AND, r, parts[i])
			      : parts[i];
	return r;
}

/* The parts that x and y both begin with.  A common part elsewhere may be at
 * fault where an earlier part does not hold, as in k > 0 and n / k > 1. */
static ast_expr *beginning(flags *f, ast_expr *x, ast_expr *y)
{
	ast_expr *a[MOST_PARTS], *b[MOST_PARTS], *r = NULL;
	int n = parts_of(x, a, 0), m = parts_of(y, b, 0);
	for (int i = 0; i < n && i < m && ast_same(a[i], b[i]); i++)
		r = r ? tree_binary(&f->g->t, OP_AND, r, a[i]) : a[i];
	return r;
}

/* The conjunction of both conditions. */
static ast_expr *both(flags *f, ast_expr *x, ast_expr *y)
{
	ast_expr *parts[MOST_PARTS], *more = shared(f, y, x, false);
	if (!x || !more)
		return x ? x : more;
	ast_expr *e = tree_binary(&f->g->t, OP_AND, x, more);
	return parts_of(e, parts, 0) < MOST_PARTS ? e : x;
}

/* ---- ways --------------------------------------------------------------- */

/* Sets *r to the condition x or y as one conjunction.  Returns false if it is
 * none. */
static bool either(flags *f, ast_expr *x, ast_expr *y, ast_expr **r)
{
	ast_expr *own = shared(f, x, y, false), *other = shared(f, y, x, false);
	bool all = own && other;
	if (all && (is_and(own) || is_and(other) ||
		    !ast_same(tree_not(&f->g->t, own), other)))
		return false;
	*r = all ? shared(f, x, y, true) : own ? y : x;
	return true;
}

static void add_use(flags *f, int tensor, ast_expr *when)
{
	ways *u = &f->of[tensor];
	for (int i = 0; i < u->n; i++)
		if (either(f, u->at[i], when, &when)) {
			u->at[i] = u->at[--u->n];
			i = -1; /* the merged way may merge with others now */
		}
	vec_push(f->g->t.a, u, when);
	if (u->n <= MOST_WAYS)
		return;
	while (u->n > 1) {
		u->n--;
		u->at[0] = beginning(f, u->at[0], u->at[u->n]);
	}
}

/* ---- uses --------------------------------------------------------------- */

/* The part, known when planning, of what must hold where c is `holds'; NULL if
 * there is none. */
static ast_expr *planned_part(flags *f, ast_expr *c, bool holds)
{
	if (c->kind == AST_UNARY && c->op == OP_NOT)
		return planned_part(f, c->args[0], !holds);
	if (c->kind == AST_BINARY && c->op == (holds ? OP_AND : OP_OR))
		return both(f, planned_part(f, c->args[0], holds),
			    planned_part(f, c->args[1], holds));
	if (!tree_is_planned(c))
		return NULL;
	return holds ? c : tree_not(&f->g->t, c);
}

/* Notes the uses of the tensors in e, which is evaluated under the condition
 * `when'. */
static void walk(flags *f, const ast_expr *e, ast_expr *when)
{
	int tensor = e->kind == AST_NAME ? grad_tensor_of(f->g, e) : -1;
	if (tensor >= 0)
		add_use(f, tensor, when);
	if (tree_is_choice(e)) {
		ast_expr *c = e->args[0];
		walk(f, c, when);
		walk(f, e->args[1], both(f, when, planned_part(f, c, true)));
		walk(f, e->args[2], both(f, when, planned_part(f, c, false)));
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		walk(f, e->args[i], when);
}

/* The ways in which the results of a stage are used, together. */
static ways uses_of(flags *f, const grad_stage *s)
{
	int n = s->callee ? s->callee->nresults : 1;
	for (int i = 1; i < n; i++)
		for (int j = 0; j < f->of[s->tensor + i].n; j++)
			add_use(f, s->tensor, f->of[s->tensor + i].at[j]);
	return f->of[s->tensor];
}

static void note_uses(flags *f, const grad_stage *s, ast_expr *when)
{
	for (int i = 0; s->callee && i < s->call->nargs; i++)
		walk(f, s->call->args[i], when);
	if (!s->callee)
		walk(f, s->body, when);
}

ast_expr **grad_flags(grad_op *g)
{
	int n = g->tensors.n;
	flags f = {.g = g, .of = ARENA_ARRAY(g->t.a, ways, n + 1)};
	ast_expr **when = ARENA_ARRAY(g->t.a, ast_expr *, n + 1);
	for (int i = 0; i < g->op->nresults; i++)
		add_use(&f, g->results[i], NULL);
	for (int i = g->stages.n - 1; i >= 0; i--) {
		const grad_stage *s = g->stages.at[i];
		const ways u = uses_of(&f, s);
		for (int j = 0; j < u.n; j++) {
			note_uses(&f, s, u.at[j]);
			when[i] = j ? tree_binary(&g->t, OP_OR, when[i],
						  u.at[j])
				    : u.at[j];
		}
	}
	return when;
}
