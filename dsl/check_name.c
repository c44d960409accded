/* Resolves the names in an expression, and checks that each is allowed in its
 * place.  Sets ast_expr.symbol, which later checks use. */
#include "config.h"

#include <string.h>

#include "dsl/checker.h"

/* The place of an expression, which decides what it may refer to. */
typedef enum place {
	PLACE_VALUE,	/* in a lambda: sizes, attributes, variables, reads */
	PLACE_CONSTANT, /* an extent, a size: no variables, no tensors */
} place;

static void walk(checker *c, ast_expr *e, place where);

/* ---- names -------------------------------------------------------------- */

static const ast_symbol *find_var(const checker *c, const char *name)
{
	for (int i = c->vars.n - 1; i >= 0; i--)
		if (c->vars.at[i]->name == name)
			return c->vars.at[i];
	return NULL;
}

const ast_symbol *check_find(const checker *c, const char *name)
{
	const ast_symbol *s = find_var(c, name);
	return s ? s : strmap_get(c->names, name);
}

static const ast_attr *attr_of(const checker *c, const ast_symbol *s)
{
	return check_facts(c, s)->attr;
}

static void use(checker *c, ast_expr *e, const ast_symbol *s)
{
	e->symbol = s;
	check_facts(c, s)->used = true;
}

/* The symbol of a name, marked as used; NULL if it is not bound, with one error
 * for all its uses. */
static const ast_symbol *resolve(checker *c, ast_expr *e)
{
	e->symbol = check_find(c, e->name);
	if (e->symbol) {
		check_facts(c, e->symbol)->used = true;
		return e->symbol;
	}
	c->failed = true;
	if (strmap_get(c->unbound, e->name))
		return NULL;
	strmap_put(c->unbound, e->name, (void *)e->name);
	check_error(c, DIAG_UNBOUND_INDEX, e->at, "nothing binds '%s' here",
		    e->name);
	if (strmap_get(c->packs, e->name))
		diag_note(c->sink, NOWHERE, "a pack is written '..%s'",
			  e->name);
	else if (c->in_signature)
		diag_note(c->sink, NOWHERE,
			  "a size is bound where it is a whole dimension of a "
			  "parameter, as in x[%s]%s",
			  e->name, check_whole_instead(c, e->name));
	else if (c->let == e->name)
		diag_note(c->sink, NOWHERE,
			  "a 'let' cannot read its own value; a recurrence is "
			  "a loop in a model, as in "
			  "%s_{t+1} = f(%s_{t}, x_{t})", e->name, e->name);
	return NULL;
}

static void walk_name(checker *c, ast_expr *e, place where)
{
	const ast_symbol *s = resolve(c, e);
	if (!s)
		return;
	bool known = s->kind != SYMBOL_VAR && s->kind != SYMBOL_TENSOR;
	if (where == PLACE_CONSTANT && !known)
		check_error(c, DIAG_NOT_CONSTANT, e->at,
			    "'%s' is not known when planning; only sizes and "
			    "attributes can stand here",
			    e->name);
	else if (s->kind == SYMBOL_TENSOR)
		check_tensor_rank(c, e->at, s, NULL, 0);
	else if (s->kind == SYMBOL_ATTR && attr_of(c, s)->is_list)
		check_error(c, DIAG_BAD_INDEX, e->at,
			    "'%s' is a list; one element is '%s[0]'", e->name,
			    e->name);
}

/* ---- packs -------------------------------------------------------------- */

/* The pack over which a symbol is a broadcast parameter; NULL if it is none. */
static const char *broadcast_over(const checker *c, const ast_symbol *s)
{
	const symbol_facts *f = s ? check_facts(c, s) : NULL;
	for (int i = 0; f && f->broadcast && i < f->ndims; i++)
		if (f->dims[i] && f->dims[i]->kind == AST_PACK)
			return f->dims[i]->pack->name;
	return NULL;
}

static void check_selector(checker *c, const ast_pack *p, ast_expr *sel)
{
	if (sel->kind == AST_LIST) {
		for (int i = 0; i < sel->nargs; i++)
			walk(c, sel->args[i], PLACE_CONSTANT);
		return;
	}
	if (sel->kind != AST_NAME) {
		walk(c, sel, PLACE_CONSTANT);
		return;
	}
	const ast_symbol *s = resolve(c, sel);
	if (!s || s->kind == SYMBOL_SIZE || s->kind == SYMBOL_CONST)
		return;
	if (p->kind != PACK_PERM && broadcast_over(c, s) == p->name)
		return;
	if (s->kind != SYMBOL_ATTR ||
	    (attr_of(c, s)->type != ATTR_AXIS &&
	     attr_of(c, s)->type != ATTR_INT))
		check_error(c, DIAG_BAD_AXIS, sel->at,
			    "axes are an attribute of type axis or int, and "
			    "'%s' is not",
			    sel->name);
}

void check_pack(checker *c, ast_pack *p, range at)
{
	if (p->kind == PACK_CALL) {
		check_error(c, DIAG_BAD_INDEX, at,
			    "'..%s()' can only be the index of a read",
			    p->sel->name);
		return;
	}
	const ast_symbol *s = strmap_get(c->names, p->name);
	const ast_attr *a = s ? attr_of(c, s) : NULL;
	bool list = a && a->is_list && a->type == ATTR_INT;
	bool own = broadcast_over(c, s) && p->kind == PACK_ALL;
	p->symbol = strmap_get(c->packs, p->name);
	if (list || own)
		check_facts(c, s)->used = true;
	if (!p->symbol && (list || own))
		p->symbol = s;
	if (!p->symbol)
		check_error(c, DIAG_UNBOUND_PACK, at,
			    "no parameter binds the pack '..%s', nor is there "
			    "an attribute '%s: int[]'",
			    p->name, p->name);
	if (!p->sel)
		return;
	check_selector(c, p, p->sel);
	const ast_symbol *axes = p->sel->symbol;
	if (p->kind == PACK_PERM && axes && axes->kind == SYMBOL_ATTR &&
	    !attr_of(c, axes)->is_list)
		check_error(c, DIAG_BAD_AXIS, p->sel->at,
			    "a permutation is a list, and '%s' is not",
			    axes->name);
}

/* ---- indices ------------------------------------------------------------ */

static void walk_unravel(checker *c, const ast_expr *item)
{
	ast_expr *call = item->pack->sel;
	if (strcmp(call->name, "unravel") || call->nargs != 1 ||
	    call->nnamed || call->open_named) {
		check_error(c, DIAG_BAD_INDEX, item->at,
			    "the only function that gives indices is "
			    "'..unravel(position)'");
		return;
	}
	walk(c, call->args[0], PLACE_VALUE);
}

/* One index; slices: ':' is allowed. */
static void walk_item(checker *c, ast_expr *item, bool slices)
{
	if (item->kind == AST_SLICE) {
		if (!slices)
			check_error(c, DIAG_BAD_INDEX, item->at,
				    "':', for a whole dimension, can only "
				    "be in the slices of an opaque function");
		return;
	}
	if (item->kind != AST_PACK) {
		walk(c, item, PLACE_VALUE);
		return;
	}
	if (item->pack->kind == PACK_CALL) {
		walk_unravel(c, item);
		return;
	}
	check_pack(c, item->pack, item->at);
	if (!c->failed)
		check_bound(c, item);
}

static void walk_items(checker *c, ast_expr *e, bool slices)
{
	for (int i = 1; i < e->nargs; i++)
		walk_item(c, e->args[i], slices);
}

/* pads[0] */
static void walk_element(checker *c, ast_expr *e)
{
	const ast_attr *a = attr_of(c, e->args[0]->symbol);
	if (!a->is_list || e->nargs != 2) {
		check_error(c, DIAG_BAD_INDEX, e->at,
			    a->is_list ? "'%s' has one index"
				       : "'%s' is not a list",
			    a->name);
		return;
	}
	ast_expr *i = e->args[1];
	if (i->kind == AST_PACK || i->kind == AST_SLICE) {
		check_error(c, DIAG_BAD_INDEX, i->at,
			    "the index of an element of '%s' is a number",
			    a->name);
		return;
	}
	walk(c, i, PLACE_CONSTANT);
	if (i->kind == AST_INT && a->length >= 0 && i->i >= a->length)
		check_error(c, DIAG_BAD_INDEX, i->at,
			    "element %lld of '%s', which has %d",
			    (long long)i->i, a->name, a->length);
	if (i->kind == AST_UNARY && i->op == OP_NEG)
		check_error(c, DIAG_BAD_INDEX, i->at,
			    "indices start at 0");
}

/* ---- opaque functions --------------------------------------------------- */

static void walk_slice(checker *c, ast_expr *arg, const ast_tensor *param)
{
	ast_expr *base = arg->kind == AST_INDEX ? arg->args[0] : arg;
	const ast_symbol *s = base->kind == AST_NAME ? resolve(c, base) : NULL;
	if (!s || s->kind != SYMBOL_TENSOR || check_facts(c, s)->broadcast) {
		if (s || base->kind != AST_NAME)
			check_error(c, DIAG_BAD_CALL, arg->at,
				    "an opaque function takes slices of "
				    "tensors that are not broadcast");
		return;
	}
	if (arg->kind == AST_NAME) {
		const symbol_facts *g = check_facts(c, s);
		check_rank(c, arg->at, param->name, NULL, 0, g->dims,
			   g->ndims < 0 ? -1 : g->ndims - param->ndims);
		return;
	}
	walk_items(c, arg, true);
	if (c->failed)
		return;
	check_tensor_rank(c, arg->at, s, arg->args + 1, arg->nargs - 1);
	if (c->failed)
		return;
	int whole = 0;
	for (int i = 1; i < arg->nargs; i++)
		whole += arg->args[i]->kind == AST_SLICE;
	if (whole != param->ndims)
		check_error(c, DIAG_WRONG_RANK, arg->at,
			    "this slice has %d dimension%s, '%s' has %d",
			    whole, whole == 1 ? "" : "s", param->name,
			    param->ndims);
}

/* cholesky(a[b, :, :])[i, j] */
static void walk_opaque(checker *c, ast_expr *e, const ast_opaque *f)
{
	const ast_expr *call = e->args[0];
	if (f->faulty) {
		c->failed = true;
		return;
	}
	if (call->nargs != f->nparams || call->open_named ||
	    (call->nnamed && !f->nattrs)) {
		check_error(c, DIAG_BAD_CALL, check_call_at(call),
			    "'%s' takes %d slice%s and %s", f->name,
			    f->nparams, f->nparams == 1 ? "" : "s",
			    f->nattrs ? "its attributes" : "nothing else");
		return;
	}
	check_call_attrs(c, call, f->name, f->attrs, f->nattrs);
	for (int i = 0; i < call->nargs; i++)
		walk_slice(c, call->args[i], &f->params[i]);
	if (c->failed)
		return;
	walk_items(c, e, false);
	if (!c->failed)
		check_rank(c, e->at, f->results[0].name, e->args + 1,
			   e->nargs - 1,
			   (const ast_expr *const *)f->results[0].dims,
			   f->results[0].ndims);
}

/* ---- unknown functions ------------------------------------------------- */

static void say_unknown_function(checker *c, const ast_expr *e)
{
	if (strmap_get(c->modules->opaques, e->name))
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "the result of the opaque function '%s' is read at "
			    "an index, as in %s(..)[i]",
			    e->name, e->name);
	else if (strmap_get(c->modules->ops, e->name))
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "'%s' is an operator on whole tensors; it is "
			    "called in a 'let' before the lambda",
			    e->name);
	else if (check_is_missing(c->modules, e->name))
		c->failed = true;
	else {
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "there is no function '%s'", e->name);
		check_suggest_function(c, e->name);
	}
}

/* ---- reads -------------------------------------------------------------- */

static void walk_index(checker *c, ast_expr *e, place where)
{
	ast_expr *base = e->args[0];
	const ast_opaque *f = base->kind == AST_CALL
				      ? strmap_get(c->modules->opaques,
						   base->name)
				      : NULL;
	const ast_symbol *s = base->kind == AST_NAME ? resolve(c, base) : NULL;
	if (s && s->kind == SYMBOL_ATTR) {
		walk_element(c, e);
		return;
	}
	if (!f && !s && base->kind == AST_NAME)
		return;
	if (!f && base->kind == AST_CALL &&
	    !builtin_find(BUILTIN_SCALAR, base->name)) {
		say_unknown_function(c, base);
		return;
	}
	if (!f && (!s || s->kind != SYMBOL_TENSOR)) {
		check_error(c, DIAG_BAD_INDEX, base->at,
			    "only a tensor or a list can be indexed");
		return;
	}
	if (where == PLACE_CONSTANT) {
		check_error(c, DIAG_NOT_CONSTANT, e->at,
			    "an element of a tensor is not known when "
			    "planning; only sizes and attributes can stand "
			    "here");
		return;
	}
	if (f) {
		base->calls.opaque = f;
		walk_opaque(c, e, f);
		return;
	}
	walk_items(c, e, false);
	if (!c->failed)
		check_tensor_rank(c, e->at, s, e->args + 1, e->nargs - 1);
}

static void walk_guard(checker *c, ast_expr *e, place where)
{
	const ast_expr *read = e->args[0];
	bool tensor = read->kind == AST_INDEX &&
		      read->args[0]->kind == AST_NAME;
	if (tensor) {
		const ast_symbol *s = check_find(c, read->args[0]->name);
		tensor = !s || s->kind == SYMBOL_TENSOR;
	}
	if (!tensor) {
		check_error(c, DIAG_BAD_INDEX, read->at,
			    "'else' guards one read of a tensor, as in "
			    "(x[i] else 0)");
		return;
	}
	walk(c, e->args[0], where);
	walk(c, e->args[1], PLACE_CONSTANT);
}

/* ---- calls -------------------------------------------------------------- */

static void walk_reducer(checker *c, ast_expr *e, const builtin *r,
			 place where)
{
	if (e->nargs != 1 || e->nnamed || e->open_named ||
	    e->args[0]->kind != AST_LAMBDA) {
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "'%s' takes one lambda, as in %s(lambda i: x[i])",
			    r->name, r->name);
		return;
	}
	if (where == PLACE_CONSTANT) {
		check_error(c, DIAG_NOT_CONSTANT, e->at,
			    "a reduction is not known when planning");
		return;
	}
	const ast_expr *lambda = e->args[0];
	if (r->rule == RULE_WHERE && lambda->nvars != 1)
		check_error(c, DIAG_BAD_CALL, lambda->at,
			    "'%s' reduces over one variable, this lambda has "
			    "%d",
			    r->name, lambda->nvars);
	check_lambda(c, e->args[0], NULL);
}

/* Binds the second argument of a conversion to the type that it names. */
static void bind_target(const checker *c, ast_expr *e)
{
	const ast_symbol *s = check_find(c, e->name);
	ast_type t = ast_type_of(e->name, e->at);
	if (s && s->kind == SYMBOL_TENSOR)
		t.kind = TYPE_TENSOR;
	else if (s && s->kind == SYMBOL_ATTR &&
		 attr_of(c, s)->type == ATTR_TYPE)
		t.kind = TYPE_NAMED;
	else if (t.kind != TYPE_EXACT)
		return;
	t.symbol = t.kind == TYPE_EXACT ? NULL : s;
	e->type = ARENA_COPY(c->modules->arena, &t, 1);
}

static void walk_cast(checker *c, ast_expr *e, place where)
{
	walk(c, e->args[0], where);
	ast_expr *to = e->args[1];
	if (to->kind == AST_NAME)
		bind_target(c, to);
	if (to->type && to->type->kind != TYPE_EXACT)
		resolve(c, to);
	if (to->type)
		return;
	check_error(c, DIAG_UNKNOWN_TYPE, to->at,
		    "an element type is expected here, as in cast(x, f32), or "
		    "a tensor that has it");
}

static void walk_arguments(checker *c, ast_expr *e, const builtin *f,
			   place where)
{
	if (f->rule == RULE_CAST || f->rule == RULE_BITCAST ||
	    f->rule == RULE_SATURATE) {
		walk_cast(c, e, where);
		return;
	}
	if (f->rule == RULE_LENGTH) {
		ast_expr *l = e->args[0];
		if (l->kind == AST_NAME && check_find_attr(c, l->name))
			use(c, l, strmap_get(c->names, l->name));
		else
			check_error(c, DIAG_BAD_CALL, l->at,
				    "'len' takes an attribute that is a list");
		return;
	}
	if (f->rule == RULE_POINTS) {
		const ast_expr *d = e->args[0];
		if (d->kind == AST_PACK)
			check_pack(c, d->pack, d->at);
		else
			check_error(c, DIAG_BAD_CALL, d->at,
				    "'%s' takes dimensions of a pack, as in "
				    "%s(..d)",
				    e->name, e->name);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		if (f->rule == RULE_POSITION)
			walk_item(c, e->args[i], false);
		else
			walk(c, e->args[i], where);
}

/* A default in an entry is evaluated like its body. */
static void bind_function(const checker *c, ast_expr *e, const builtin *f)
{
	if (c->families)
		check_bind_call(c, e);
	else
		e->calls.function = f;
}

static void walk_call(checker *c, ast_expr *e, place where)
{
	const builtin *f = builtin_find(BUILTIN_REDUCER, e->name);
	if (!f)
		f = builtin_find(BUILTIN_SCALAR, e->name);
	bind_function(c, e, f);
	if (f && f->reducer) {
		walk_reducer(c, e, f, where);
		return;
	}
	if (!f) {
		say_unknown_function(c, e);
		return;
	}
	if (e->nargs < f->least || e->nargs > f->most) {
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "'%s' takes %s%d argument%s, not %d", f->name,
			    f->least < f->most ? "at least " : "", f->least,
			    f->least == 1 ? "" : "s", e->nargs);
		return;
	}
	if (e->nnamed || e->open_named) {
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "'%s' has no attributes", f->name);
		return;
	}
	walk_arguments(c, e, f, where);
}

/* ---- expressions -------------------------------------------------------- */

static const char *misplaced(ast_kind kind)
{
	switch (kind) {
	case AST_FAMILY:
		return "families of names are for models, defs and entries";
	case AST_LIST:
		return "a list is an attribute's value or axes, not a number";
	case AST_SLICE:
		return "':' can only be in the slices of an opaque function";
	case AST_PACK:
		return "a pack can be in an index, a lambda's variables or "
		       "dimensions; it is not a number";
	default:
		return "a lambda is a result, the value of a 'let', or the "
		       "argument of a reducer";
	}
}

/* Checks a division of integers among constants. */
static void check_divisor(checker *c, const ast_expr *e)
{
	const ast_expr *d = e->args[1];
	bool divides = e->op == OP_DIV || e->op == OP_MOD;
	bool negative = d->kind == AST_UNARY && d->op == OP_NEG &&
			d->args[0]->kind == AST_INT;
	bool zero = d->kind == AST_INT && d->i == 0;
	if (divides && e->args[0]->kind != AST_FLOAT && (negative || zero))
		check_error(c, DIAG_BAD_DIVISOR, d->at,
			    "an integer can only be divided by a positive one");
}

static void walk(checker *c, ast_expr *e, place where)
{
	switch (e->kind) {
	case AST_INT:
	case AST_FLOAT:
	case AST_STRING:
	case AST_BOOL:
		return;
	case AST_NAME:
		walk_name(c, e, where);
		return;
	case AST_INDEX:
		walk_index(c, e, where);
		return;
	case AST_GUARD:
		walk_guard(c, e, where);
		return;
	case AST_CALL:
		walk_call(c, e, where);
		return;
	case AST_BINARY:
		if (where == PLACE_CONSTANT)
			check_divisor(c, e);
		/* fall through */
	case AST_UNARY:
	case AST_IF:
		for (int i = 0; i < e->nargs; i++)
			walk(c, e->args[i], where);
		return;
	case AST_FAMILY:
	case AST_LIST:
	case AST_SLICE:
	case AST_PACK:
	case AST_LAMBDA:
		check_error(c, DIAG_BAD_INDEX, e->at, "%s",
			    misplaced(e->kind));
		return;
	}
}

void check_lambda_body(checker *c, ast_expr *e)
{
	walk(c, e, PLACE_VALUE);
}

void check_constant(checker *c, ast_expr *e)
{
	walk(c, e, PLACE_CONSTANT);
}
