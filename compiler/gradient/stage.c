#include "config.h"

#include "compiler/gradient/stage.h"

#include <string.h>

#include "dsl/builtins.h"

static void give_up(grad_op *g, const char *because)
{
	if (!g->because)
		g->because = because;
}

void grad_items(grad_op *g, const ast_var *vars, int n, ast_expr **items)
{
	for (int i = 0; i < n; i++)
		items[i] = vars[i].pack ? tree_pack(&g->t, vars[i].pack)
					: tree_use(&g->t, vars[i].symbol);
}

/* ---- extents ----------------------------------------------------------- */

/* The item that dims has at place i of n items.  Places are counted from the
 * front up to a pack, and from the end behind it.  NULL if a pack is in
 * between. */
static ast_expr *dim_beside(ast_expr *const *items, int n, int i,
			    ast_expr *const *dims, int ndims)
{
	int d = 0;
	while (d < i && d < ndims && dims[d]->kind != AST_PACK &&
	       items[d]->kind != AST_PACK)
		d++;
	if (d == i)
		return d < ndims && dims[d]->kind != AST_PACK ? dims[d] : NULL;
	d = ndims - n + i;
	return n == ndims && dims[d]->kind != AST_PACK ? dims[d] : NULL;
}

ast_expr *grad_read_size(const grad_op *g, const ast_expr *read, int i)
{
	int t = grad_tensor_like(g, read->args[0]);
	return t < 0 ? NULL
		     : dim_beside(read->args + 1, read->nargs - 1, i - 1,
				  g->tensors.at[t].dims,
				  g->tensors.at[t].ndims);
}

ast_expr *grad_indexed_size(const grad_op *g, const ast_expr *e,
			    const ast_symbol *v)
{
	bool guarded = e->kind == AST_GUARD;
	if (guarded) /* a guarded read in an index is read without the guard */
		e = e->args[0];
	bool read = grad_read_of(g, e) >= 0 && !guarded;
	for (int i = 1; read && i < e->nargs; i++) {
		bool itself = e->args[i]->symbol == v;
		ast_expr *dim = itself ? grad_read_size(g, e, i) : NULL;
		if (dim)
			return dim;
	}
	for (int i = 0; i < e->nargs; i++) {
		ast_expr *size = grad_indexed_size(g, e->args[i], v);
		if (size)
			return size;
	}
	return NULL;
}

bool grad_agree_on_size(const grad_op *g, const ast_expr *e,
			const ast_symbol *v, const ast_expr *size)
{
	bool guarded = e->kind == AST_GUARD;
	if (guarded)
		e = e->args[0];
	bool read = e->kind == AST_INDEX && !guarded;
	for (int i = 1; read && i < e->nargs; i++) {
		bool itself = e->args[i]->symbol == v;
		ast_expr *dim = itself ? grad_read_size(g, e, i) : NULL;
		if (dim && !ast_same(dim, size))
			return false;
	}
	for (int i = 0; i < e->nargs; i++)
		if (!grad_agree_on_size(g, e->args[i], v, size))
			return false;
	return true;
}

/* The size of the dimension that a variable of the text runs over; NULL if no
 * read shows it. */
static ast_expr *read_size(const grad_op *g, const ast_var *v)
{
	for (int i = 0; i < v->nindexings; i++) {
		const ast_indexing *x = &v->indexings[i];
		ast_expr *size = ast_opaque_of(x->read->args[0])
					 ? NULL
					 : grad_read_size(g, x->read, x->item);
		if (size)
			return size;
	}
	return NULL;
}

/* The variables of a lambda with the known extents filled in.  dims: the
 * dimensions of the result, or NULL. */
static ast_var *extended(grad_op *g, const ast_expr *lambda,
			 ast_expr *const *dims)
{
	ast_var *vars = ARENA_COPY(g->t.a, lambda->vars, lambda->nvars);
	for (int i = 0; i < lambda->nvars; i++) {
		vars[i].at = NOWHERE;
		if (vars[i].pack)
			continue;
		if (!vars[i].extent && dims && dims[i]->kind != AST_PACK)
			vars[i].extent = dims[i];
		if (!vars[i].extent)
			vars[i].extent = read_size(g, &vars[i]);
		if (vars[i].extent)
			vars[i].extent =
				tree_map(&g->t, vars[i].extent, NULL, NULL);
	}
	return vars;
}

ast_var *grad_lambda_vars(grad_op *g, const ast_expr *lambda)
{
	for (int i = 0; i < lambda->nvars; i++)
		if (!lambda->vars[i].pack && !lambda->vars[i].extent)
			give_up(g, "the extent of an index follows from a "
				   "guarded read");
	return lambda->vars;
}

/* ---- adding stages ------------------------------------------------------ */

static etype stage_type(const grad_op *g, const grad_stage *s)
{
	const builtin *r = s->reducer;
	if (r && r->rule == RULE_WHERE)
		return etype_exact(DT_I64);
	return grad_type(g, s->body);
}

int grad_add_tensor(grad_op *g, grad_tensor t)
{
	g->tensor_of.at[t.symbol->number] = g->tensors.n;
	vec_push(g->t.a, &g->tensors, t);
	return g->tensors.n - 1;
}

int grad_add_stage(grad_op *g, const ast_symbol *computed, grad_stage s)
{
	grad_tensor t = {.symbol = computed,
			 .ndims = s.nvars,
			 .dims = ARENA_ARRAY(g->t.a, ast_expr *, s.nvars + 1),
			 .type = stage_type(g, &s),
			 .param = -1};
	t.smooth = etype_may_be_float(t.type);
	for (int i = 0; i < s.nvars; i++)
		t.dims[i] = s.vars[i].pack ? tree_pack(&g->t, s.vars[i].pack)
					   : s.vars[i].extent;
	s.tensor = g->tensor_of.at[computed->number];
	if (s.tensor == NO_TENSOR) {
		s.tensor = grad_add_tensor(g, t);
	} else { /* a result of the operator; its type is declared */
		g->tensors.at[s.tensor].ndims = t.ndims;
		g->tensors.at[s.tensor].dims = t.dims;
	}
	vec_push(g->t.a, &g->stages, ARENA_COPY(g->t.a, &s, 1));
	return s.tensor;
}

/* The names that are bound at an expression. */
typedef struct scope {
	grad_op *g;
	/* dimensions of the result if the lambda is a result's; NULL */
	ast_expr *const *dims;
	etype type;	       /* type of constants here */
	const ast_expr *in;    /* expression of which this is an operand */
	VEC(const char *) names;
} scope;

static bool is_in_scope(const scope *s, const char *name)
{
	for (int i = 0; i < s->names.n; i++)
		if (s->names.at[i] == name)
			return true;
	return grad_is_global(s->g, name);
}

/* Whether e reads a tensor without dimensions by its name alone. */
static bool is_bare_read(const scope *s, const ast_expr *e)
{
	return !e->type && grad_tensor_of(s->g, e) >= 0;
}

static ast_expr *unhidden(void *arg, const ast_expr *e);

/* The tree for an expression that is no lambda.  A tensor that is read by its
 * name gets an empty list of indices. */
static ast_expr *indexed(scope *s, const ast_expr *e)
{
	trees *t = &s->g->t;
	if (is_bare_read(s, e))
		return tree_index(t, tree_use(t, e->symbol), 0, NULL);
	ast_expr *x = tree_with(t, e, unhidden, s);
	if (e->kind == AST_INDEX && is_bare_read(s, e->args[0]))
		x->args[0] = tree_use(t, e->args[0]->symbol);
	return x;
}

/* Renames a variable that hides another name: an expression under it may be
 * moved to where the hidden name is needed. */
static const ast_expr *rename_variable(grad_op *g, ast_var *v,
				       const ast_expr *body)
{
	const ast_symbol *before = v->symbol;
	v->symbol = grad_renamed(g, v->name);
	v->name = v->symbol->name;
	return tree_replace(&g->t, body, before, tree_use(&g->t, v->symbol));
}

static ast_expr *unhidden_lambda(scope *s, const ast_expr *e)
{
	grad_op *g = s->g;
	int before = s->names.n;
	ast_var *vars = extended(g, e, s->dims);
	s->dims = NULL;
	const ast_expr *body = e->args[0];
	for (int i = 0; i < e->nvars; i++)
		if (!vars[i].pack && is_in_scope(s, vars[i].name))
			body = rename_variable(g, &vars[i], body);
	for (int i = 0; i < e->nvars; i++)
		if (!vars[i].pack)
			vec_push(g->t.a, &s->names, vars[i].name);
	s->in = NULL;
	ast_expr *own = grad_still_typed(g, unhidden(s, body), body);
	s->names.n = before;
	return tree_lambda(&g->t, e->nvars, vars, own);
}

/* The value of a constant, as it may decide a condition; NULL if e is no
 * constant. */
static ast_expr *value_of_constant(const grad_op *g, const ast_expr *e)
{
	for (int i = 0; e->kind == AST_NAME && i < g->constants.n; i++)
		if (g->constants.at[i].symbol == e->symbol)
			return g->constants.at[i].value;
	return NULL;
}

/* The expression with unique variables, all extents and all types.  Variables
 * that hide a name are renamed.  Extents are written out, as the reads that
 * show them may be simplified away.  Constants get their types, as their
 * context may change. */
static ast_expr *unhidden(void *arg, const ast_expr *e)
{
	scope *s = arg;
	etype around = s->type;
	ast_expr *x = value_of_constant(s->g, e);
	if (x)
		return x;
	if (e->kind == AST_LAMBDA)
		return unhidden_lambda(s, e);
	x = grad_typed_infinity(s->g, e, around);
	if (x)
		return x;
	const ast_expr *in = s->in;
	s->type = grad_operands_type(s->g, e, around);
	s->in = e;
	x = grad_typed_reduction(s->g, indexed(s, e), s->type);
	s->type = around;
	s->in = in;
	return in && !(grad_absorbs_zero(in) && tree_is_zero(x))
		       ? grad_typed_number(s->g, x, e) : x;
}

/* e with the names of constants replaced by their values. */
static ast_expr *without_constants(grad_op *g, const ast_expr *e)
{
	ast_expr *x = tree_map(&g->t, e, NULL, NULL);
	for (int i = g->constants.n - 1; i >= 0; i--)
		x = tree_replace(&g->t, x, g->constants.at[i].symbol,
				 g->constants.at[i].value);
	return x;
}

/* Adds the lambda of a let or of the given result. */
static void add_lambda(grad_op *g, const ast_symbol *computed,
		       const ast_expr *lambda, const ast_tensor *result)
{
	scope global = {.g = g, .dims = result ? result->dims : NULL};
	global.type = result ? grad_declared_type(result, computed)
			     : (etype){.kind = TY_SHARED};
	lambda = without_constants(g, unhidden(&global, lambda));
	const ast_expr *e = lambda->args[0];
	grad_stage s = {.nvars = lambda->nvars,
			.vars = grad_lambda_vars(g, lambda)};
	if (ast_reducer(e)) {
		s.reducer = e->calls.function;
		s.nreduced = e->args[0]->nvars;
		s.reduced = grad_lambda_vars(g, e->args[0]);
		e = e->args[0]->args[0];
	}
	s.body = grad_hoist(g, e, &s);
	grad_add_stage(g, computed, s);
}

/* ---- the whole --------------------------------------------------------- */

bool grad_has_floats(const ast_tensor *t)
{
	return t->type.kind == TYPE_EXACT ? dtype_is_float(t->type.exact)
					  : t->type.kind != TYPE_INT;
}

static void add_parameters(grad_op *g)
{
	for (int i = 0; i < g->op->nparams; i++) {
		const ast_tensor *p = &g->op->params[i];
		const ast_symbol *s = g->symbols.at[i];
		grad_tensor t = {.symbol = s,
				 .ndims = p->ndims,
				 .dims = p->dims,
				 .broadcast = p->broadcast,
				 .type = grad_declared_type(p, s),
				 .smooth = grad_has_floats(p),
				 .param = i};
		grad_add_tensor(g, t);
	}
}

/* The dimensions of results are those of the stages that compute them. */
static void add_results(grad_op *g)
{
	g->results = ARENA_ARRAY(g->t.a, int, g->op->nresults);
	for (int i = 0; i < g->op->nresults; i++) {
		const ast_tensor *r = &g->op->results[i];
		const ast_symbol *s = grad_result(g, i);
		grad_tensor t = {.symbol = s,
				 .type = grad_declared_type(r, s),
				 .smooth = grad_has_floats(r),
				 .param = -1};
		g->results[i] = grad_add_tensor(g, t);
	}
}

static void add_let(grad_op *g, const ast_let *let)
{
	const ast_expr *e = let->value;
	if (e->kind == AST_LAMBDA)
		add_lambda(g, let->symbols[0], e, NULL);
	else if (ast_op_of(e))
		grad_add_call(g, let->symbols, let->nnames, e);
	else
		vec_push(g->t.a, &g->constants,
			 ((grad_constant){let->symbols[0],
					  without_constants(g, e)}));
}

static bool is_tensor(const ast_symbol *s)
{
	return s && s->kind == SYMBOL_TENSOR;
}

/* Whether a pack is the own dimensions of a broadcast parameter, or divided by
 * them.  Such reads have no inverse, as a read of ..b by ..d cannot be
 * written. */
static bool is_own_pack(const ast_pack *p)
{
	return is_tensor(p->symbol) || (p->sel && is_tensor(p->sel->symbol));
}

static bool has_own_pack(const ast_expr *e)
{
	if (e->pack && is_own_pack(e->pack))
		return true;
	for (int i = 0; i < e->nvars; i++)
		if (e->vars[i].pack && is_own_pack(e->vars[i].pack))
			return true;
	for (int i = 0; i < e->nargs; i++)
		if (has_own_pack(e->args[i]))
			return true;
	return false;
}

static bool uses_own_packs(const ast_op *op)
{
	for (int i = 0; i < op->nlets; i++)
		if (has_own_pack(op->lets[i].value))
			return true;
	for (int i = 0; i < op->nbodies; i++)
		if (has_own_pack(op->bodies[i]))
			return true;
	return false;
}

/* The packs of the lambdas around an expression. */
typedef struct pack_scope {
	const struct pack_scope *around;
	const ast_pack *pack;
} pack_scope;

/* Whether two packs divide the dimensions of one pack between them, as ..(d \
 * sel) and ..(d & sel) do, or ..(d \ sel) and d[sel]. */
static bool divide_dims(const ast_pack *x, const ast_pack *y)
{
	if (x->kind != PACK_MINUS) {
		const ast_pack *other = x;
		x = y;
		y = other;
	}
	return x->kind == PACK_MINUS &&
	       (y->kind == PACK_AND || y->kind == PACK_PERM) &&
	       ast_same(x->sel, y->sel);
}

static bool is_hidden(const pack_scope *around, const ast_pack *by)
{
	for (; around; around = around->around)
		if (around->pack->symbol == by->symbol &&
		    !divide_dims(around->pack, by))
			return true;
	return false;
}

static bool hides_pack(const ast_expr *e, int var, const pack_scope *around)
{
	if (var < e->nvars) {
		pack_scope own = { around, e->vars[var].pack };
		if (!own.pack)
			return hides_pack(e, var + 1, around);
		return is_hidden(around, own.pack) ||
		       hides_pack(e, var + 1, &own);
	}
	for (int i = 0; i < e->nargs; i++)
		if (hides_pack(e->args[i], 0, around))
			return true;
	return false;
}

/* Whether a lambda has variables for dimensions for which an outer lambda also
 * has variables.  Variables of a pack have no names, so a gradient could not
 * distinguish the two. */
static bool hides_packs(const ast_op *op)
{
	for (int i = 0; i < op->nlets; i++)
		if (hides_pack(op->lets[i].value, 0, NULL))
			return true;
	for (int i = 0; i < op->nbodies; i++)
		if (hides_pack(op->bodies[i], 0, NULL))
			return true;
	return false;
}

void grad_stages(grad_op *g)
{
	const ast_op *op = g->op;
	if (uses_own_packs(op)) {
		give_up(g, "it runs over the dimensions that a broadcast "
			   "parameter has itself");
		return;
	}
	if (hides_packs(op)) {
		give_up(g, "a reduction runs over dimensions that a lambda "
			   "around it runs over");
		return;
	}
	for (int i = 0; i < op->nsymbols; i++)
		grad_add_symbol(g, op->symbols[i]);
	add_parameters(g);
	add_results(g);
	for (int i = 0; i < op->nlets; i++)
		add_let(g, &op->lets[i]);
	for (int i = 0; i < op->nresults && !g->because; i++) {
		if (op->results[i].ndims != op->bodies[i]->nvars) {
			give_up(g, "a result's lambda has other variables than "
				   "the result has dimensions");
			return;
		}
		add_lambda(g, g->tensors.at[g->results[i]].symbol,
			   op->bodies[i], &op->results[i]);
	}
	g->complete = true;
}
