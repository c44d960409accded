/* Makes stages of reductions inside expressions. */
#include "config.h"

#include "compiler/gradient/range.h"

/* The state while reductions and calls are moved out of a stage's
 * expression. */
typedef struct hoisting {
	grad_op *g;
	VEC(ast_var) around; /* bound where the expression is */
	int conditions;	     /* conditions that it is evaluated under */
} hoisting;

static bool mentions_pack(const ast_expr *e, const ast_pack *p)
{
	if (e->kind == AST_PACK && e->pack->symbol == p->symbol)
		return true;
	if (e->kind == AST_PACK && e->pack->sel &&
	    mentions_pack(e->pack->sel, p))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (mentions_pack(e->args[i], p))
			return true;
	return false;
}

/* Whether a lambda depends on a variable bound around it. */
static bool depends_on(const ast_expr *lambda, const ast_var *v)
{
	for (int i = 0; i < lambda->nvars; i++) {
		const ast_var *own = &lambda->vars[i];
		if (v->pack ? ast_same_pack(own->pack, v->pack)
			    : own->symbol == v->symbol)
			return false;
	}
	return v->pack ? mentions_pack(lambda->args[0], v->pack)
		       : tree_mentions(lambda, v->symbol);
}

static void go_into(hoisting *h, const ast_var *vars, int n)
{
	for (int i = 0; i < n; i++)
		vec_push(h->g->t.a, &h->around, vars[i]);
}

static ast_expr *hoist(void *arg, const ast_expr *e);

/* Whether item i of a read is inside the tensor for all values of the
 * variables. */
static bool is_inside(const hoisting *h, const ast_expr *read, int i)
{
	grad_op *g = h->g;
	grad_facts f = {.g = g};
	ast_expr *size = grad_read_size(g, read, i), *item = read->args[i];
	if (item->kind == AST_PACK)
		return true;
	for (int k = 0; k < h->around.n; k++)
		vec_push(g->t.a, &f.vars, h->around.at[k]);
	return size && grad_is_proven(&f, OP_GE, item, tree_int(&g->t, 0)) &&
	       grad_is_proven(&f, OP_LT, item, size);
}

/* Guards a read that a condition may have kept inside the tensor.  A stage is
 * computed at all its points, also at those where the condition does not hold;
 * their values are not used. */
static ast_expr *guard_outside(void *arg, const ast_expr *e)
{
	const hoisting *h = arg;
	trees *t = &h->g->t;
	if (e->kind == AST_GUARD && e->args[0]->kind == AST_GUARD)
		return tree_guard(t, e->args[0]->args[0], e->args[1]);
	if (!grad_is_read(h->g, e))
		return NULL;
	bool boolean = etype_is_bool(grad_type(h->g, e));
	for (int i = 1; i < e->nargs; i++)
		if (!is_inside(h, e, i))
			return tree_guard(t, ARENA_COPY(t->a, e, 1),
					  boolean ? tree_bool(t, false)
						  : tree_int(t, 0));
	return NULL;
}

/* Makes a stage of a reduction inside an expression. */
static ast_expr *hoist_reduction(hoisting *h, const ast_expr *e)
{
	grad_op *g = h->g;
	const ast_expr *lambda = e->args[0];
	int before = h->around.n;
	VEC(ast_var) vars = {0};
	for (int i = 0; i < before; i++)
		if (depends_on(lambda, &h->around.at[i]))
			vec_push(g->t.a, &vars, h->around.at[i]);
	grad_stage s = {.nvars = vars.n,
			.vars = vars.at,
			.reducer = e->calls.function,
			.nreduced = lambda->nvars,
			.reduced = grad_lambda_vars(g, lambda)};
	go_into(h, s.reduced, s.nreduced);
	s.body = hoist(h, lambda->args[0]);
	if (h->conditions)
		s.body = tree_map(&g->t, s.body, guard_outside, h);
	h->around.n = before;
	const ast_symbol *result = grad_fresh(g, "t");
	grad_add_stage(g, result, s);
	ast_expr **items = ARENA_ARRAY(g->t.a, ast_expr *, vars.n + 1);
	grad_items(g, vars.at, vars.n, items);
	return tree_index(&g->t, tree_use(&g->t, result), vars.n, items);
}

/* Whether e evaluates some operands only under a condition. */
static bool is_conditional(const ast_expr *e)
{
	return tree_is_choice(e) ||
	       (e->kind == AST_BINARY && (e->op == OP_AND || e->op == OP_OR));
}

/* Replaces the reductions in an expression. */
static ast_expr *hoist(void *arg, const ast_expr *e)
{
	hoisting *h = arg;
	if (ast_reducer(e))
		return hoist_reduction(h, e);
	bool condition = is_conditional(e);
	h->conditions += condition;
	ast_expr *x = tree_with(&h->g->t, e, hoist, h);
	h->conditions -= condition;
	return x;
}

ast_expr *grad_hoist(grad_op *g, const ast_expr *e, const grad_stage *s)
{
	hoisting h = {.g = g};
	go_into(&h, s->vars, s->nvars);
	go_into(&h, s->reduced, s->nreduced);
	return hoist(&h, e);
}
