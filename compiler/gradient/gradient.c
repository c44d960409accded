#include "config.h"

#include "compiler/gradient/gradient.h"

#include <string.h>

#include "compiler/gradient/flags.h"
#include "compiler/gradient/invert.h"
#include "compiler/gradient/signature.h"
#include "compiler/gradient/written.h"

/* The most stages that are added for one stage to tell its terms apart, and the
 * stage itself. */
enum { MOST_MADE = 4 };

/* A derivative computed on the way to the wanted one. */
typedef struct derivative {
	const ast_symbol *symbol;
	ast_expr *value;
	bool used;
} derivative;

/* The derivation of one gradient. */
typedef struct derivation {
	grad_op g;
	tdl_modules *modules;
	int input;
	bool *wanted;	       /* by tensor: the input, or depends on it */
	bool *needed;	       /* by tensor: the derivatives read it */
	VEC(derivative) lets; /* in order of computation */
	VEC(gradient) needs;
	VEC(const char *) files;
	arena *arena; /* of the result */
	ast_expr *body;
	int *params, *attrs; /* as in struct gradient */
	bool zero; /* the gradient is 0, so there is no operator */
} derivation;

/* ---- which tensors ----------------------------------------------------- */

static bool reads_any(const grad_op *g, const ast_expr *e, const bool *set)
{
	int t = grad_read_of(g, e);
	if (t >= 0 && set[t])
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (reads_any(g, e->args[i], set))
			return true;
	return false;
}

static int argument_of(const grad_op *g, const grad_stage *s, int i)
{
	return grad_tensor_of(g, s->call->args[i]);
}

/* Marks the results of a call if one of its arguments is marked. */
static void mark_results(derivation *d, const grad_stage *s, bool *marked)
{
	bool any = false;
	for (int i = 0; i < s->call->nargs; i++)
		any |= marked[argument_of(&d->g, s, i)] &&
		       grad_has_floats(&s->callee->params[i]);
	for (int i = 0; any && i < s->callee->nresults; i++)
		marked[s->tensor + i] = d->g.tensors.at[s->tensor + i].smooth;
}

/* Marks the tensors that depend on marked ones and lead to a result. */
static void mark_dependent(derivation *d, bool *marked)
{
	grad_op *g = &d->g;
	for (int i = 0; i < g->stages.n; i++) {
		const grad_stage *s = g->stages.at[i];
		if (s->callee)
			mark_results(d, s, marked);
		else if (g->tensors.at[s->tensor].smooth &&
			 !grad_is_constant(s) &&
			 reads_any(g, s->body, marked))
			marked[s->tensor] = true;
	}
}

static void find_wanted(derivation *d)
{
	grad_op *g = &d->g;
	bool *varying = ARENA_ARRAY(g->t.a, bool, g->tensors.n + 1);
	d->wanted = ARENA_ARRAY(g->t.a, bool,
				MOST_MADE * g->tensors.n + 1);
	d->wanted[d->input] = true;
	mark_dependent(d, d->wanted);
	for (int i = 0; i < g->tensors.n; i++)
		varying[i] = g->tensors.at[i].param >= 0 &&
			     g->tensors.at[i].smooth;
	mark_dependent(d, varying);
	g->varying = varying;
}

/* ---- lambdas ----------------------------------------------------------- */

/* lambda i, j < n: body, without extents that all reads in the body show. */
static ast_expr *make_lambda(grad_op *g, const ast_var *vars, int n,
			     ast_expr *body, bool result)
{
	ast_var *shown = ARENA_COPY(g->t.a, vars, n);
	body = grad_divided_by_none(g, body); /* may leave out reads */
	for (int i = 0; i < n; i++) {
		ast_expr *size = shown[i].pack
					 ? NULL
					 : grad_indexed_size(g, body,
							     shown[i].symbol);
		if (result ||
		    (size && ast_same(size, shown[i].extent) &&
		     grad_agree_on_size(g, body, shown[i].symbol, size)))
			shown[i].extent = NULL;
	}
	return tree_lambda(&g->t, n, shown, body);
}

/* The value of a stage as an expression of the operator. */
static ast_expr *stage_value(grad_op *g, const grad_stage *s)
{
	if (s->callee)
		return s->call;
	ast_expr *body = s->body;
	if (s->reducer) {
		ast_expr *lambda = tree_lambda(&g->t, s->nreduced, s->reduced,
					       body);
		body = tree_function(&g->t, s->reducer->id, 1, &lambda);
	}
	return make_lambda(g, s->vars, s->nvars, body, false);
}

/* Notes the file that defines a name called by the operator. */
static void note_file(derivation *d, range at)
{
	const char *path = diag_path(d->modules->sink, at);
	for (int i = 0; i < d->files.n; i++)
		if (!strcmp(d->files.at[i], path))
			return;
	if (path)
		vec_push(d->arena, &d->files, path);
}

static void note_needs(derivation *d, const ast_expr *e)
{
	const ast_opaque *f = ast_opaque_of(e);
	if (f)
		note_file(d, f->at);
	int t = grad_read_of(&d->g, e);
	if (t >= 0)
		d->needed[t] = true;
	for (int i = 0; i < e->nargs; i++)
		note_needs(d, e->args[i]);
}

/* ---- derivatives ------------------------------------------------------- */

/* The term that a contribution adds to the derivative.  NULL, with g->because
 * set, if its read has no inverse. */
static ast_expr *contribute(grad_op *g, const contribution *c,
			    const ast_var *vars)
{
	int n = g->tensors.at[c->tensor].ndims;
	ast_expr **items = ARENA_ARRAY(g->t.a, ast_expr *, n + 1), *e;
	if (c->stage) {
		e = grad_invert(g, c, vars);
	} else {
		grad_items(g, vars, n, items);
		e = tree_index(&g->t, c->adjoint, n, items);
	}
	return e && c->flag && !tree_is_zero(e)
		       ? tree_if(&g->t, c->flag, e, tree_int(&g->t, 0))
		       : e;
}

/* The derivative by a tensor as a lambda.  Sets *zero if it is 0. */
static ast_expr *derivative_by(derivation *d, int tensor,
			       const contributions *all, bool *zero)
{
	grad_op *g = &d->g;
	ast_var *vars = grad_variables(g, tensor, all);
	ast_expr *sum = tree_int(&g->t, 0);
	for (int i = 0; i < all->n && !g->because; i++) {
		if (all->at[i].tensor != tensor)
			continue;
		ast_expr *e = contribute(g, &all->at[i], vars);
		if (e)
			sum = tree_add(&g->t, sum, e);
	}
	*zero = !g->because && tree_is_zero(sum);
	if (*zero && tensor == d->input)
		g->because = "it is 0 wherever it is defined";
	if (g->because)
		return NULL;
	note_needs(d, sum);
	/* Once conditions are decided, only a literal may be left. */
	etype type = g->tensors.at[tensor].type;
	if (tensor != d->input && type.kind != TY_SHARED &&
	    sum->kind != AST_CALL)
		sum = grad_cast(g, sum, type);
	return make_lambda(g, vars, g->tensors.at[tensor].ndims, sum,
			   tensor == d->input);
}

static bool is_result(const grad_op *g, int tensor)
{
	for (int i = 0; i < g->op->nresults; i++)
		if (g->results[i] == tensor)
			return true;
	return false;
}

/* The only contribution to a tensor, if it always concerns the whole tensor;
 * otherwise NULL. */
static const ast_symbol *only_contribution(int tensor, const contributions *all)
{
	const contribution *only = NULL;
	for (int i = 0; i < all->n; i++) {
		if (all->at[i].tensor != tensor)
			continue;
		if (only || all->at[i].stage || all->at[i].flag)
			return NULL;
		only = &all->at[i];
	}
	return only ? only->adjoint->symbol : NULL;
}

/* Gives the derivative by a tensor a name, and adds a let for it if it has
 * none.  Returns false if the derivative is 0. */
static bool add_derivative(derivation *d, int tensor, const contributions *all)
{
	grad_op *g = &d->g;
	const ast_symbol *only = only_contribution(tensor, all);
	if (only) {
		grad_set_adjoint(g, tensor, only);
		return true;
	}
	bool zero = false;
	ast_expr *value = derivative_by(d, tensor, all, &zero);
	const ast_symbol *s = grad_adjoint(g, tensor);
	if (value)
		vec_push(g->t.a, &d->lets, ((derivative){s, value, false}));
	return !zero;
}

/* ---- calls ------------------------------------------------------------- */

/* f_grad_x(dy, x, axis = axis) */
static ast_expr *call_gradient(derivation *d, const grad_stage *s,
			       const gradient *by)
{
	trees *t = &d->g.t;
	const ast_op *op = by->op;
	ast_expr **args = ARENA_ARRAY(t->a, ast_expr *, op->nparams + 1);
	for (int i = 0; i < op->nparams; i++) {
		int of = by->params[i];
		args[i] = of < 0 ? tree_use(t, grad_adjoint(&d->g,
							    s->tensor + ~of))
				 : s->call->args[of];
		int x = grad_tensor_of(&d->g, args[i]);
		if (x >= 0)
			d->needed[x] = true;
	}
	ast_expr *e = tree_call(t, by->name, (ast_callee){.op = op},
				op->nparams, args);
	e->named = ARENA_ARRAY(t->a, ast_named, op->nattrs + 1);
	for (int i = 0; i < op->nattrs; i++)
		for (int j = 0; j < s->call->nnamed; j++)
			if (s->call->named[j].index == by->attrs[i])
				e->named[e->nnamed++] = s->call->named[j];
	return e;
}

static gradient derive(arena *a, tdl_modules *m, const ast_op *op, int input);

/* Adds the contribution of a call to the derivative by its argument i. */
static void derive_argument(derivation *d, const grad_stage *s, int i,
			    contributions *all)
{
	grad_op *g = &d->g;
	int tensor = argument_of(g, s, i);
	gradient by = derive(d->arena, d->modules, s->callee, i);
	if (by.zero)
		return;
	ast_expr *call = by.op ? call_gradient(d, s, &by) : NULL;
	if (!call) {
		g->because = arena_printf(
			d->arena, "it calls '%s', and there is no %s",
			s->callee->name, by.name);
		return;
	}
	const char *stem = arena_printf(g->t.a, "d%s_%s",
					g->tensors.at[tensor].symbol->name,
					s->callee->name);
	const ast_symbol *dx = grad_fresh(g, stem);
	vec_push(g->t.a, &d->lets, ((derivative){dx, call, false}));
	contribution c = {.tensor = tensor, .adjoint = tree_use(&g->t, dx)};
	vec_push(g->t.a, all, c);
	vec_push(g->t.a, &d->needs, by);
	if (by.own)
		note_file(d, by.own->at);
}

static void derive_call(derivation *d, const grad_stage *s, contributions *all)
{
	grad_op *g = &d->g;
	bool any = false, reached = false;
	for (int i = 0; i < s->callee->nresults; i++)
		any |= d->wanted[s->tensor + i];
	for (int i = 0; any && i < s->callee->nresults && !g->because; i++)
		if (g->tensors.at[s->tensor + i].smooth)
			reached |= add_derivative(d, s->tensor + i, all);
	for (int i = 0; reached && i < s->call->nargs && !g->because; i++)
		if (d->wanted[argument_of(g, s, i)] &&
		    grad_has_floats(&s->callee->params[i]))
			derive_argument(d, s, i, all);
}

/* Derives all tensors, from the results to the input. */
static void derive_all(derivation *d)
{
	grad_op *g = &d->g;
	contributions all = {0};
	int nstages = g->stages.n;
	ast_expr **flags = grad_flags(g);
	for (int i = nstages - 1; i >= 0 && !g->because; i--) {
		const grad_stage *s = g->stages.at[i];
		int before = all.n;
		if (s->callee) {
			derive_call(d, s, &all);
		} else if (d->wanted[s->tensor]) {
			if (is_result(g, s->tensor) ||
			    add_derivative(d, s->tensor, &all))
				grad_contributions(g, s, d->wanted, &all);
		}
		for (int j = before; j < all.n; j++)
			all.at[j].flag = flags[i];
	}
	if (!g->because)
		d->body = derivative_by(d, d->input, &all, &d->zero);
}

/* ---- the operator ------------------------------------------------------ */

static bool is_needed(const derivation *d, const grad_stage *s)
{
	int n = s->callee ? s->callee->nresults : 1;
	for (int i = 0; i < n; i++)
		if (d->needed[s->tensor + i])
			return true;
	return false;
}

/* Marks what the needed stages need in turn. */
static void close_needs(derivation *d)
{
	for (int i = d->g.stages.n - 1; i >= 0; i--) {
		const grad_stage *s = d->g.stages.at[i];
		if (!is_needed(d, s))
			continue;
		if (s->callee)
			note_file(d, s->callee->at);
		for (int j = 0; s->callee && j < s->call->nargs; j++)
			d->needed[argument_of(&d->g, s, j)] = true;
		if (!s->callee)
			note_needs(d, s->body);
	}
}

/* Marks the derivatives that the body needs.  Later derivatives read earlier
 * ones. */
static void mark_used(derivation *d)
{
	for (int i = d->lets.n - 1; i >= 0; i--) {
		derivative *one = &d->lets.at[i];
		one->used = tree_mentions(d->body, one->symbol);
		for (int j = i + 1; j < d->lets.n && !one->used; j++)
			one->used = d->lets.at[j].used &&
				    tree_mentions(d->lets.at[j].value,
						  one->symbol);
	}
}

static ast_let stage_let(grad_op *g, const grad_stage *s)
{
	int n = s->callee ? s->callee->nresults : 1;
	ast_let let = {.nnames = n,
		       .names = ARENA_ARRAY(g->t.a, const char *, n),
		       .value = stage_value(g, s)};
	for (int i = 0; i < n; i++)
		let.names[i] = g->tensors.at[s->tensor + i].symbol->name;
	return let;
}

/* Makes the lets: stages that are computed again, and derivatives. */
static void make_lets(derivation *d, ast_op *op)
{
	grad_op *g = &d->g;
	op->lets = ARENA_ARRAY(g->t.a, ast_let, g->stages.n + d->lets.n + 1);
	for (int i = 0; i < g->stages.n; i++)
		if (is_needed(d, g->stages.at[i]))
			op->lets[op->nlets++] =
				stage_let(g, g->stages.at[i]);
	for (int i = 0; i < d->lets.n; i++)
		if (d->lets.at[i].used)
			op->lets[op->nlets++] =
				(ast_let){.nnames = 1,
					  .names = ARENA_COPY(
						  g->t.a,
						  &d->lets.at[i].symbol->name,
						  1),
					  .value = d->lets.at[i].value};
}

/* The operator, in the result's arena.  NULL, with g->because set, if no text
 * can express the tree. */
static ast_op *make_operator(derivation *d, const char *name)
{
	grad_op *g = &d->g;
	ast_op op = {.name = name,
		     .doc = arena_printf(g->t.a, "The derivative of %s by %s.",
					 g->op->name,
					 g->op->params[d->input].name),
		     .name_at = g->op->name_at,
		     .nbodies = 1,
		     .bodies = &d->body};
	close_needs(d);
	mark_used(d);
	make_lets(d, &op);
	for (int i = 0; i < op.nlets; i++)
		op.lets[i].value = grad_divided_by_none(g, op.lets[i].value);
	d->body = grad_divided_by_none(g, d->body);
	d->params = ARENA_ARRAY(d->arena, int,
				g->op->nparams + g->op->nresults + 1);
	d->attrs = ARENA_ARRAY(d->arena, int, g->op->nattrs + 1);
	grad_make_signature(g, d->input, &op, d->params, d->attrs);
	ast_op *made = dsl_copy_op(d->modules, g->t.a, &op, true);
	if (made)
		grad_write_op(g, made);
	const char *why = made ? dsl_unwritable(made) : "it is too large";
	if (why)
		g->because = arena_printf(g->t.a, "it cannot be written: %s",
					  why);
	return why ? NULL : dsl_copy_op(d->modules, d->arena, made, false);
}

/* Whether the set of modules has another operator of this name. */
static bool is_taken(const tdl_modules *m, const ast_op *made)
{
	const ast_op *there = dsl_op(m, made->name);
	if (!there)
		return false;
	arena *a = arena_new();
	const ast_op *copy = dsl_copy_op(m, a, there, false);
	bool same = copy && !there->grad_of && ast_same_op(copy, made);
	arena_free(a);
	return !same;
}

static bool any_result_wanted(const derivation *d)
{
	for (int i = 0; i < d->g.op->nresults; i++)
		if (d->wanted[d->g.results[i]])
			return true;
	return false;
}

/* Finds the gradient given by a grad definition.  Returns false if there is
 * none. */
static bool find_own(const tdl_modules *m, const ast_op *op, gradient *r)
{
	const ast_op *own = dsl_op(m, r->name);
	if (!own || own->grad_of != op->name || own->grad_by != r->input)
		return false;
	r->own = r->op = own;
	r->zero = own->bodies[0]->kind == AST_LAMBDA &&
		  tree_is_zero(own->bodies[0]->args[0]);
	r->params = own->grad_params;
	r->attrs = own->grad_attrs;
	return true;
}

static gradient derive(arena *a, tdl_modules *m, const ast_op *op, int input)
{
	const char *name = op->params[input].name;
	gradient r = {.input = name,
		      .name = arena_printf(a, "%s_grad_%s", op->name, name)};
	if (find_own(m, op, &r))
		return r;
	arena *tmp = arena_new();
	derivation d = {.g = {.t = {tmp, m->names, op}, .modules = m, .op = op},
			.modules = m,
			.input = input,
			.arena = a};
	d.g.t.chosen = grad_chosen;
	d.g.t.arg = &d.g;
	grad_stages(&d.g);
	if (!d.g.because)
		find_wanted(&d);
	if (!d.g.because && !d.g.tensors.at[input].smooth) {
		d.g.because = "its elements are not floats";
		d.zero = true;
	}
	if (!d.g.because && !any_result_wanted(&d)) {
		d.g.because = "no result with float elements depends on it";
		d.zero = true;
	}
	if (!d.g.because) {
		d.needed = ARENA_ARRAY(tmp, bool,
				       MOST_MADE * d.g.tensors.n + 1);
		derive_all(&d);
	}
	if (!d.g.because)
		r.op = make_operator(&d, r.name);
	if (r.op && is_taken(m, r.op)) {
		d.g.because = arena_printf(a, "'%s' is another operator",
					   r.name);
		r.op = NULL;
	}
	if (d.g.because)
		r.because = arena_strdup(a, d.g.because);
	r.zero = d.zero;
	r.nfiles = d.files.n;
	r.files = d.files.at;
	r.nneeds = d.needs.n;
	r.needs = ARENA_COPY(a, d.needs.at, d.needs.n);
	r.params = d.params;
	r.attrs = d.attrs;
	arena_free(tmp);
	return r;
}

gradient gradient_by(arena *a, tdl_modules *m, const ast_op *op, int input)
{
	return derive(a, m, op, input);
}

bool gradient_load(tdl_modules *m, const gradient *g)
{
	bool ok = true;
	for (int i = 0; i < g->nneeds; i++)
		ok &= gradient_load(m, &g->needs[i]);
	if (g->own || !g->op)
		return ok;
	return (dsl_op(m, g->name) ? !is_taken(m, g->op)
				   : dsl_add_op(m, g->op) != NULL) && ok;
}

int gradient_derive(arena *a, tdl_modules *m, const ast_op *op, gradient **out)
{
	*out = ARENA_ARRAY(a, gradient, op->nparams);
	for (int i = 0; i < op->nparams; i++)
		(*out)[i] = derive(a, m, op, i);
	return op->nparams;
}
