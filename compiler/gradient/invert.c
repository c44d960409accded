#include "config.h"

#include "compiler/gradient/invert.h"

#include <string.h>

#include "compiler/gradient/solver.h"

static ast_expr *give_up(solver *s, const char *because)
{
	if (!s->g->because)
		s->g->because = because;
	return NULL;
}

/* ---- items ------------------------------------------------------------- */

/* Adds the equation "item i of the read = this variable of the derivative", or
 * settles an unknown directly.  Returns false if there is no inverse. */
static bool add_item(solver *s, const contribution *c, int i,
		     const ast_var *var)
{
	const grad_tensor *x = &s->g->tensors.at[c->tensor];
	ast_expr *item = c->items[i];
	if (item->kind == AST_PACK && item->pack->kind == PACK_CALL)
		return var->pack && solver_settle_reshape(s, c, var->pack);
	if (item->kind == AST_PACK && var->pack && x->broadcast)
		return solver_settle_broadcast(s, x, item->pack);
	if (item->kind == AST_PACK)
		return var->pack && ast_same_pack(item->pack, var->pack) &&
		       solver_settle_pack(s, item->pack);
	if (var->pack)
		return false;
	equation e = {solver_spell_ravels(s, solver_in_unknowns(s, item)),
		      tree_use(s->t, var->symbol)};
	unknown *u =
		e.lhs->kind == AST_NAME ? solver_find(s, e.lhs->symbol) : NULL;
	if (u)
		solver_settle(s, u, e.rhs,
			      u->v.extent &&
				      ast_same(u->v.extent, x->dims[i]));
	else
		vec_push(s->t->a, &s->equations, e);
	return true;
}

/* ---- the sum ----------------------------------------------------------- */

/* Whether deciding conditions may leave only a literal, whose type is not
 * known. */
static bool may_be_literal(const ast_expr *e)
{
	int first = e->kind == AST_IF;
	bool any = false, all = e->nargs > 0;
	switch (e->kind) {
	case AST_INT:
	case AST_FLOAT:
		return true;
	case AST_IF:
	case AST_UNARY:
	case AST_BINARY:
		break;
	default:
		return false;
	}
	for (int i = first; i < e->nargs; i++) {
		bool literal = may_be_literal(e->args[i]);
		any |= literal;
		all &= literal;
	}
	return e->kind == AST_IF ? any : all;
}

/* A term of the derivative by a tensor.  A sum without a type around it takes
 * the type from its terms, so a literal term is converted. */
static ast_expr *typed_term(grad_op *g, ast_expr *e, int tensor)
{
	const grad_tensor *x = &g->tensors.at[tensor];
	bool known = x->param >= 0 || x->type.kind == TY_SHARED;
	return known || !may_be_literal(e) ? e : grad_cast(g, e, x->type);
}

/* The sum of e over the unknowns without a value. */
static ast_expr *sum_over_rest(solver *s, ast_expr *e, int tensor)
{
	trees *t = s->t;
	VEC(ast_var) rest = {0};
	for (int i = 0; i < s->unknowns.n; i++) {
		const unknown *u = &s->unknowns.at[i];
		if (u->by)
			continue;
		ast_var v = u->v;
		if (!v.pack)
			v.extent = solver_with_known(s, v.extent);
		vec_push(t->a, &rest, v);
	}
	if (!rest.n)
		return e;
	for (int i = 0; i < rest.n; i++) {
		ast_var *v = &rest.at[i];
		ast_expr *size =
			v->pack ? NULL : grad_indexed_size(s->g, e, v->symbol);
		if (size && ast_same(size, v->extent) &&
		    grad_agree_on_size(s->g, e, v->symbol, size))
			v->extent = NULL;
	}
	e = typed_term(s->g, e, tensor);
	ast_expr *lambda = tree_lambda(t, rest.n, rest.at, e);
	return tree_function(t, REDUCER_SUM, 1, &lambda);
}

/* Whether a condition does not mention the variables summed over, or only says
 * which of them are divisible. */
static bool is_apart(const solver *s, const ast_expr *e)
{
	if (e->kind == AST_BINARY && e->op == OP_AND)
		return is_apart(s, e->args[0]) && is_apart(s, e->args[1]);
	if (grad_has_read(s->g, e))
		return false;
	return !solver_has_unknown(s, e) ||
	       (e->kind == AST_BINARY && e->op == OP_EQ &&
		tree_is_int(e->args[1], 0) && e->args[0]->kind == AST_BINARY &&
		e->args[0]->op == OP_MOD);
}

/* e if the condition holds, otherwise 0.  Of a product only the first factor
 * with a read gets the condition, so that a sum of products keeps the form that
 * kernels recognise. */
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

/* ---- the element itself ------------------------------------------------- */

/* The read whose contribution is inverted.  At the points that contribute it
 * reads the element at the derivative's own variables. */
typedef struct reading {
	solver *s;
	const ast_symbol *tensor;
	int n;
	ast_expr **items; /* in terms of the unknowns' symbols */
	ast_expr *element;
} reading;

static ast_expr *put_element(void *arg, const ast_expr *e)
{
	const reading *r = arg;
	if (e->kind == AST_GUARD && e->args[0] == r->element)
		return r->element;
	if (e->kind != AST_INDEX || e->args[0]->symbol != r->tensor ||
	    e->nargs != r->n + 1)
		return NULL;
	for (int i = 0; i < r->n; i++)
		if (!ast_same(e->args[i + 1], r->items[i]))
			return NULL;
	return r->element;
}

/* e in terms of the unknowns' symbols, with the inverted read replaced by the
 * element. */
static ast_expr *with_element(solver *s, const contribution *c, ast_expr *e)
{
	const grad_tensor *x = &s->g->tensors.at[c->tensor];
	reading r = {.s = s, .tensor = x->symbol, .n = c->n};
	r.items = ARENA_ARRAY(s->t->a, ast_expr *, c->n + 1);
	ast_expr **own = ARENA_ARRAY(s->t->a, ast_expr *, c->n + 1);
	for (int i = 0; i < c->n; i++) {
		if (c->items[i]->kind == AST_PACK &&
		    (x->broadcast || !s->vars[i].pack ||
		     !ast_same_pack(c->items[i]->pack, s->vars[i].pack)))
			return e;
		r.items[i] = solver_in_unknowns(s, c->items[i]);
	}
	grad_items(s->g, s->vars, c->n, own);
	r.element = tree_index(s->t, tree_use(s->t, x->symbol), c->n, own);
	return tree_map(s->t, e, put_element, &r);
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
	solver_add_unknowns(&s, stage->vars, stage->nvars, true);
	solver_add_unknowns(&s, stage->reduced, stage->nreduced, false);
	for (int i = 0; i < n; i++)
		if (!add_item(&s, c, i, &vars[i]))
			return give_up(&s, "the dimensions of a pack are read "
					   "in a way that has no inverse");
	if (c->condition)
		solver_add_given(
			&s, with_element(&s, c,
					 solver_in_unknowns(&s, c->condition)));
	solver_solve(&s);
	s.value = with_element(&s, c, solver_in_unknowns(&s, c->adjoint));
	grad_facts facts = solver_facts(&s);
	solver_keep_inside(&s, &facts);
	ast_expr *when = solver_conditions(&s);
	if (when)
		when = grad_without_proven(&facts, grad_divided(&facts, when));
	bool apart = when && is_summed(&s) && is_apart(&s, when) &&
		     solver_is_product(g, s.value);
	for (int i = 0; apart && i < s.unknowns.n; i++)
		if (s.unknowns.at[i].astray)
			solver_guard_reads(&s, &s.unknowns.at[i]);
	ast_expr *e = grad_divided(&facts, solver_with_known(&s, s.value));
	if (apart)
		e = choose_factor(&s, when, e);
	else if (when)
		e = tree_if(s.t, when, e, tree_int(s.t, 0));
	return sum_over_rest(&s, e, c->tensor);
}

/* ---- the derivative's own variables ------------------------------------ */

static bool is_taken(const ast_var *vars, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!vars[i].pack && vars[i].name == name)
			return true;
	return false;
}

static bool is_var_of(const grad_stage *s, const ast_expr *e)
{
	for (int i = 0; i < s->nvars; i++)
		if (!s->vars[i].pack && s->vars[i].symbol == e->symbol)
			return true;
	for (int i = 0; i < s->nreduced; i++)
		if (!s->reduced[i].pack && s->reduced[i].symbol == e->symbol)
			return true;
	return false;
}

/* The name of the index variable in dimension d of a contribution's read.  NULL
 * if the index is no variable or another dimension has this name. */
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
		    !is_taken(vars, ndims, c->items[d]->name))
			return c->items[d]->name;
	}
	return NULL;
}

/* The size's name in lower case, or i.  A number is appended if the name is
 * taken. */
static const char *name_of_size(grad_op *g, const ast_expr *size,
				const ast_var *vars, int n)
{
	const char *stem = "i";
	if (size->kind == AST_NAME && strlen(size->name) <= 2) {
		char *low = arena_strdup(g->t.a, size->name);
		for (char *p = low; *p; p++)
			*p |= *p >= 'A' && *p <= 'Z' ? 'a' - 'A' : 0;
		low = (char *)intern(g->t.names, low);
		stem = grad_is_global(g, low) || dsl_is_word(low) ? stem : low;
	}
	const char *name = intern(g->t.names, stem);
	for (int i = 2;
	     is_taken(vars, n, name) || grad_is_global(g, name); i++)
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
			p = (ast_pack){.kind = PACK_ALL,
				       .name = x->symbol->name,
				       .symbol = x->symbol};
		vars[d].pack = ARENA_COPY(g->t.a, &p, 1);
	}
	for (int d = 0; d < x->ndims; d++) {
		if (vars[d].pack)
			continue;
		if (!vars[d].name)
			vars[d].name =
				name_of_size(g, x->dims[d], vars, x->ndims);
	}
	for (int d = 0; d < x->ndims; d++)
		if (!vars[d].pack) {
			vars[d].symbol = grad_new_variable(g, vars[d].name);
			vars[d].name = vars[d].symbol->name;
		}
	return vars;
}
