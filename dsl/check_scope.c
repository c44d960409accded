/* Scopes: the names that lambdas and lets bind, and the expressions in which
 * they may be used. */
#include "config.h"

#include "dsl/checker.h"

/* ---- lambdas ------------------------------------------------------------ */

static void bind_name(checker *c, ast_var *v, int first)
{
	for (int i = first; i < c->vars.n; i++)
		if (c->vars.at[i]->name == v->name) {
			check_error(c, DIAG_DUPLICATE_NAME, v->at,
				    "this lambda has two variables '%s'",
				    v->name);
			return;
		}
	const ast_symbol *outer = check_find(c, v->name);
	if (outer) {
		check_warning(c, DIAG_HIDES_NAME, v->at,
			      "the variable '%s' hides another '%s'", v->name,
			      v->name);
		diag_note(c->sink, outer->at, "which is declared here");
	}
	v->symbol = check_symbol(c, SYMBOL_VAR, v->name, v->at);
	symbol_facts *f = check_facts(c, v->symbol);
	if (v->extent) {
		f->found = true;
		f->extent = v->extent;
		f->extent_at = v->extent->at;
	}
	vec_push(c->tmp, &c->vars, v->symbol);
}

static void bind_vars(checker *c, const ast_expr *lambda)
{
	int first = c->vars.n;
	if (lambda->nvars > MAX_ITEMS || first + lambda->nvars > MAX_SCOPE) {
		check_error(c, DIAG_TOO_MANY_DIMENSIONS, lambda->at,
			    "%d variables around this expression, at most %d "
			    "are possible",
			    first + lambda->nvars,
			    lambda->nvars > MAX_ITEMS ? MAX_ITEMS : MAX_SCOPE);
		return;
	}
	for (int i = 0; i < lambda->nvars; i++)
		if (lambda->vars[i].extent)
			check_constant(c, lambda->vars[i].extent);
	for (int i = 0; i < lambda->nvars; i++) {
		ast_var *v = &lambda->vars[i];
		if (!v->pack) {
			bind_name(c, v, first);
			continue;
		}
		check_pack(c, v->pack, v->at);
		vec_push(c->tmp, &c->bound, ((bound_pack){ v->pack }));
	}
}

/* The variables of a lambda, as the dimensions of the tensor that it
 * computes. */
static ast_expr **var_dims(checker *c, const ast_expr *lambda)
{
	ast_expr **dims = ARENA_ARRAY(c->tmp, ast_expr *, lambda->nvars + 1);
	for (int i = 0; i < lambda->nvars; i++) {
		const ast_var *v = &lambda->vars[i];
		dims[i] = ARENA_NEW(c->tmp, ast_expr);
		dims[i]->kind = v->pack ? AST_PACK : AST_NAME;
		dims[i]->name = v->name;
		dims[i]->pack = v->pack;
		dims[i]->at = v->at;
	}
	return dims;
}

/* A result's variables run over its dimensions. */
static void run_over(checker *c, const ast_expr *lambda,
		     const ast_tensor *result)
{
	ast_expr **items = var_dims(c, lambda);
	check_rank(c, lambda->at, result->name, items, lambda->nvars,
		   (const ast_expr *const *)result->dims, result->ndims);
}

void check_lambda(checker *c, ast_expr *e, const ast_tensor *result)
{
	int nvars = c->vars.n, nbound = c->bound.n;
	bool failed = c->failed;
	c->failed = false;
	bind_vars(c, e);
	if (result && !c->failed)
		run_over(c, e, result);
	if (!c->failed)
		check_lambda_body(c, e->args[0]);
	c->failed |= failed;
	c->vars.n = nvars;
	c->bound.n = nbound;
}

/* ---- lets and results --------------------------------------------------- */

static void bind_let(checker *c, ast_let *let, int i, ast_symbol *s)
{
	let->symbols[i] = s;
	s->name = let->names[i];
	s->at = let->names_at[i];
	const ast_symbol *first = strmap_get(c->names, s->name);
	if (!first) {
		strmap_put(c->names, s->name, s);
		return;
	}
	check_error(c, DIAG_DUPLICATE_NAME, s->at, "'%s' is already bound",
		    s->name);
	diag_note(c->sink, first->at, "it is bound here");
}

/* A symbol for the result of a called operator, with what its signature
 * says. */
static ast_symbol *call_result(checker *c, const ast_tensor *r)
{
	ast_symbol *s = check_symbol(c, SYMBOL_TENSOR, NULL, NOWHERE);
	symbol_facts *f = check_facts(c, s);
	f->ndims = r->ndims;
	for (int i = 0; i < r->ndims; i++)
		if (r->dims[i]->kind == AST_PACK)
			f->ndims = -1;
	if (f->ndims > 0)
		f->dims = ARENA_ARRAY(c->tmp, const ast_expr *, f->ndims);
	return s;
}

static void check_let_call(checker *c, ast_let *let, const ast_op *op)
{
	check_operator_call(c, let->value, op);
	if (let->nnames != op->nresults) {
		check_error(c, DIAG_BAD_CALL, check_call_at(let->value),
			    "'%s' has %d result%s, %d name%s bound here",
			    op->name, op->nresults,
			    op->nresults == 1 ? "" : "s", let->nnames,
			    let->nnames == 1 ? " is" : "s are");
		return;
	}
	for (int i = 0; i < let->nnames; i++)
		bind_let(c, let, i, call_result(c, &op->results[i]));
}

static void check_let(checker *c, ast_let *let)
{
	ast_expr *e = let->value;
	let->symbols = ARENA_ARRAY(c->modules->arena, const ast_symbol *,
				   let->nnames);
	bool scalar = e->kind == AST_CALL &&
		      !strmap_get(c->modules->ops, e->name) &&
		      builtin_find(BUILTIN_SCALAR, e->name);
	if (e->kind == AST_CALL && builtin_find(BUILTIN_REDUCER, e->name)) {
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "a reduction has to be in a lambda, as in let %s = "
			    "lambda: %s(..)",
			    let->names[0], e->name);
		return;
	}
	if (e->kind == AST_CALL && !scalar) {
		const ast_op *op = check_callee(c, e);
		if (op)
			check_let_call(c, let, op);
		return;
	}
	if (let->nnames != 1) {
		check_error(c, DIAG_BAD_CALL, let->at,
			    "only an operator has several results");
		return;
	}
	ast_symbol *s;
	c->let = let->names[0];
	if (e->kind == AST_LAMBDA) {
		check_lambda(c, e, NULL);
		s = check_symbol(c, SYMBOL_TENSOR, NULL, NOWHERE);
		symbol_facts *f = check_facts(c, s);
		f->ndims = e->nvars;
		f->dims = (const ast_expr **)var_dims(c, e);
	} else {
		check_constant(c, e);
		s = check_symbol(c, SYMBOL_CONST, NULL, NOWHERE);
	}
	c->let = NULL;
	bind_let(c, let, 0, s);
}

void check_scopes(checker *c)
{
	const ast_op *op = c->op;
	for (int i = 0; i < op->nlets && !c->failed; i++)
		check_let(c, &op->lets[i]);
	for (int i = 0; i < op->nbodies && !c->failed; i++)
		check_lambda(c, op->bodies[i], &op->results[i]);
}
