/* Checks of signatures: names, attributes, dimensions, element types. */
#include "config.h"

#include "dsl/checker.h"

/* ---- names -------------------------------------------------------------- */

/* Declares a name; reports an error if it is taken. */
static void declare(checker *c, ast_symbol *s)
{
	const ast_symbol *first = strmap_get(c->names, s->name);
	if (!first) {
		strmap_put(c->names, s->name, s);
		return;
	}
	check_error(c, DIAG_DUPLICATE_NAME, s->at,
		    "'%s' is declared twice in this signature", s->name);
	diag_note(c->sink, first->at, "the first declaration is here");
}

/* Makes a symbol for a tensor of the signature. */
static ast_symbol *tensor_symbol(checker *c, const ast_tensor *t, int index)
{
	ast_symbol *s = check_symbol(c, SYMBOL_TENSOR, t->name, t->at);
	s->index = index;
	symbol_facts *f = check_facts(c, s);
	f->ndims = t->ndims;
	f->dims = (const ast_expr **)t->dims;
	f->broadcast = t->broadcast;
	f->type = etype_declared(&t->type);
	return s;
}

static void declare_attrs(checker *c, const ast_attr *attrs, int n)
{
	for (int i = 0; i < n; i++) {
		ast_symbol *s = check_symbol(c, SYMBOL_ATTR, attrs[i].name,
					     attrs[i].at);
		s->index = i;
		check_facts(c, s)->attr = &attrs[i];
		declare(c, s);
	}
}

/* A bare name among the dimensions of a parameter is a size, unless it is an
 * attribute. */
static void declare_sizes(checker *c, const ast_tensor *t)
{
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *d = t->dims[i];
		if (d->kind != AST_NAME)
			continue;
		const ast_symbol *first = strmap_get(c->names, d->name);
		if (!first || first->kind == SYMBOL_TENSOR)
			declare(c, check_symbol(c, SYMBOL_SIZE, d->name,
						d->at));
	}
}

/* Results are not in scope, so they have a separate table. */
static void declare_results(checker *c, const ast_tensor *results, int n)
{
	strmap *seen = strmap_new(c->tmp);
	for (int i = 0; i < n; i++) {
		const ast_tensor *t = &results[i];
		const ast_symbol *other = strmap_get(c->names, t->name);
		const range *first = other && other->kind != SYMBOL_SIZE
					     ? &other->at
					     : strmap_get(seen, t->name);
		if (first) {
			check_error(c, DIAG_DUPLICATE_NAME, t->at,
				    "'%s' is declared twice in this signature",
				    t->name);
			diag_note(c->sink, *first,
				  "the first declaration is here");
			continue;
		}
		strmap_put(seen, t->name, (void *)&t->at);
	}
}

/* Declares the signature, without lets, of an operator or an opaque
 * function. */
static void declare_signature(checker *c, const ast_tensor *params,
			      int nparams, const ast_attr *attrs, int nattrs,
			      const ast_tensor *results, int nresults)
{
	for (int i = 0; i < nparams; i++)
		declare(c, tensor_symbol(c, &params[i], i));
	declare_attrs(c, attrs, nattrs);
	for (int i = 0; i < nparams; i++)
		declare_sizes(c, &params[i]);
	declare_results(c, results, nresults);
}

static void too_many(checker *c, range at, int n, const char *what, int most)
{
	if (n > most)
		check_error(c, DIAG_TOO_MANY_DIMENSIONS, at,
			    "%d %s, at most %d are possible", n, what, most);
}

static void check_sizes_of(checker *c, const ast_tensor *tensors, int n)
{
	for (int i = 0; i < n; i++)
		too_many(c, tensors[i].at, tensors[i].ndims, "dimensions",
			 MAX_ITEMS);
}

void check_names(checker *c)
{
	const ast_op *op = c->op;
	int n = op->nparams + op->nattrs + op->nresults + op->nlets;
	too_many(c, op->name_at, n, "parameters, attributes, results and lets",
		 MAX_SIGNATURE);
	check_sizes_of(c, op->params, op->nparams);
	check_sizes_of(c, op->results, op->nresults);
	if (c->failed)
		return;
	declare_signature(c, op->params, op->nparams, op->attrs, op->nattrs,
			  op->results, op->nresults);
	if (op->nbodies != op->nresults) {
		check_error(c, DIAG_RESULT_COUNT, op->name_at,
			    "'%s' has %d result%s, but %d lambda%s", op->name,
			    op->nresults, op->nresults == 1 ? "" : "s",
			    op->nbodies, op->nbodies == 1 ? "" : "s");
		diag_note(c->sink, NOWHERE, "each result is one lambda, in "
			  "their order");
	}
}

/* ---- attributes --------------------------------------------------------- */

static bool is_number(const ast_expr *e, ast_kind kind)
{
	if (e->kind == AST_UNARY && e->op == OP_NEG)
		e = e->args[0];
	return e->kind == kind;
}

/* Binds a name to the element type that it names: the value of the attribute,
 * or a type by its own name, even if tensors have that name.  False if there is
 * none. */
static bool bind_type(const checker *c, ast_expr *e, const ast_attr *named)
{
	ast_type t = ast_type_of(e->name, e->at);
	if (named)
		t.kind = TYPE_NAMED;
	if (named ? named->type != ATTR_TYPE : t.kind != TYPE_EXACT)
		return false;
	if (named)
		e->symbol = t.symbol = strmap_get(c->names, e->name);
	e->type = ARENA_COPY(c->modules->arena, &t, 1);
	return true;
}

/* Whether e may be an element of the attribute; expansion checks computed
 * values. */
static bool element_fits(const checker *c, const ast_attr *a, ast_expr *e)
{
	const ast_attr *other = e->kind == AST_NAME
					? check_find_attr(c, e->name)
					: NULL;
	switch (a->type) {
	case ATTR_INT:
	case ATTR_AXIS:
		return e->kind != AST_STRING && e->kind != AST_BOOL &&
		       e->kind != AST_LIST && !is_number(e, AST_FLOAT);
	case ATTR_FLOAT:
		return e->kind != AST_STRING && e->kind != AST_BOOL &&
		       e->kind != AST_LIST;
	case ATTR_STRING:
		return e->kind == AST_STRING || other ||
		       e->kind == AST_INDEX || e->kind == AST_IF;
	case ATTR_BOOL:
		return !is_number(e, AST_INT) && !is_number(e, AST_FLOAT) &&
		       e->kind != AST_STRING && e->kind != AST_LIST;
	case ATTR_TYPE:
		return e->kind == AST_NAME && bind_type(c, e, other);
	case ATTR_GRAPH:
		return false;
	}
	return true;
}

static void list_fits(checker *c, const ast_attr *a, ast_expr *e)
{
	if (e->kind == AST_NAME) {
		const ast_attr *other = check_find_attr(c, e->name);
		if (!other || !other->is_list)
			check_error(c, DIAG_BAD_ATTRIBUTE, e->at,
				    "the attribute '%s' is a list", a->name);
		return;
	}
	if (e->kind != AST_LIST) {
		check_error(c, DIAG_BAD_ATTRIBUTE, e->at,
			    "the attribute '%s' is a list", a->name);
		return;
	}
	if (a->length >= 0 && e->nargs != a->length)
		check_error(c, DIAG_BAD_ATTRIBUTE, e->at,
			    "%d element%s, '%s' has %d", e->nargs,
			    e->nargs == 1 ? "" : "s", a->name, a->length);
	for (int i = 0; i < e->nargs; i++)
		if (!element_fits(c, a, e->args[i]))
			check_error(c, DIAG_BAD_ATTRIBUTE, e->args[i]->at,
				    "the elements of '%s' are of type %s",
				    a->name, ast_attr_type_text(a->type));
}

void check_attr_value(checker *c, const ast_attr *a, ast_expr *e)
{
	if (a->is_list)
		list_fits(c, a, e);
	else if (!element_fits(c, a, e))
		check_error(c, DIAG_BAD_ATTRIBUTE, e->at,
			    "the attribute '%s' is of type %s", a->name,
			    ast_attr_type_text(a->type));
}

/* A default may use the attributes before it. */
static void check_default(checker *c, const ast_attr *attrs, int i)
{
	const ast_attr *a = &attrs[i];
	ast_expr *e = a->init;
	if (e->kind == AST_NAME && a->type == ATTR_TYPE)
		return;
	const ast_symbol *s = e->kind == AST_NAME
				      ? strmap_get(c->names, e->name)
				      : NULL;
	if (s && s->kind == SYMBOL_ATTR && s->index >= i) {
		check_error(c, DIAG_UNBOUND_INDEX, e->at,
			    "a default may use only the attributes before it");
		return;
	}
	e->symbol = s;
	if (e->kind == AST_LIST)
		for (int j = 0; j < e->nargs; j++)
			check_constant(c, e->args[j]);
	else if (!s || s->kind != SYMBOL_ATTR)
		check_constant(c, e);
}

void check_attr_list(checker *c, const ast_attr *attrs, int n, bool onnx)
{
	for (int i = 0; i < n; i++) {
		const ast_attr *a = &attrs[i];
		if (a->optional && (!onnx || a->init)) {
			check_error(c, DIAG_BAD_ATTRIBUTE, a->at,
				    onnx ? "'%s' has a default, and so is not "
					   "left out with '?'"
					 : "'%s' cannot be left out; '?' is "
					   "for onnx entries",
				    a->name);
			continue;
		}
		if (a->type == ATTR_GRAPH && (!onnx || a->is_list))
			check_error(c, DIAG_BAD_ATTRIBUTE, a->at,
				    onnx ? "'%s' cannot be a list of graphs"
					 : "'%s' cannot be a graph; these are "
					   "for onnx entries",
				    a->name);
		if (!a->init)
			continue;
		check_attr_value(c, a, a->init);
		if (!c->failed)
			check_default(c, attrs, i);
	}
}

void check_attributes(checker *c)
{
	check_attr_list(c, c->op->attrs, c->op->nattrs, false);
}

/* ---- element types ------------------------------------------------------ */

static void check_type_name(checker *c, ast_type *t)
{
	if (t->kind != TYPE_NAMED)
		return;
	const ast_attr *a = check_find_attr(c, t->name);
	if (a && a->type == ATTR_TYPE && !a->is_list) {
		t->symbol = strmap_get(c->names, t->name);
		check_facts(c, t->symbol)->used = true;
		return;
	}
	check_error(c, DIAG_UNKNOWN_TYPE, t->at,
		    "'%s' is neither an element type nor an attribute of type "
		    "'type'",
		    t->name);
	check_suggest_type(c, t->name);
}

/* ---- dimensions --------------------------------------------------------- */

/* Whether an attribute's list can be a pack whose extents are its elements. */
static bool attr_pack(const checker *c, const char *name)
{
	const ast_attr *a = check_find_attr(c, name);
	return a && a->type == ATTR_INT && a->is_list;
}

static bool pack_known(const checker *c, const char *name)
{
	return strmap_get(c->packs, name) || attr_pack(c, name);
}

static void bind_pack(checker *c, const ast_expr *d)
{
	const char *name = d->pack->name;
	strmap_put(c->packs, name, check_symbol(c, SYMBOL_PACK, name, d->at));
}

/* The number of packs of t that no parameter binds yet; *last is one that t
 * itself can bind, NULL if there is none. */
static int unbound(const checker *c, const ast_tensor *t,
		   const ast_expr **last)
{
	int n = 0;
	*last = NULL;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *d = t->dims[i];
		if (d->kind != AST_PACK || !d->pack->name ||
		    pack_known(c, d->pack->name))
			continue;
		n++;
		if (d->pack->kind == PACK_ALL)
			*last = d;
	}
	return n;
}

/* A parameter binds a pack if that is the only unknown of its rank; repeated as
 * long as this makes progress.  Broadcast parameters come last. */
static void bind_packs(checker *c)
{
	const ast_op *op = c->op;
	for (int round = 0; round < 2; round++) {
		for (bool any = true; any;) {
			any = false;
			for (int i = 0; i < op->nparams; i++) {
				const ast_expr *pack;
				const ast_tensor *t = &op->params[i];
				if (t->broadcast && !round)
					continue;
				if (unbound(c, t, &pack) != 1 || !pack)
					continue;
				bind_pack(c, pack);
				any = true;
			}
		}
	}
}

static void check_broadcast(checker *c, const ast_tensor *t)
{
	int packs = 0;
	for (int i = 0; i < t->ndims; i++)
		packs += t->dims[i]->kind == AST_PACK;
	for (int i = 0; i < t->ndims; i++)
		if (t->dims[i]->kind == AST_PACK &&
		    t->dims[i]->pack->kind != PACK_ALL)
			packs = 0;
	if (packs != 1)
		check_error(c, DIAG_BAD_SIGNATURE, t->at,
			    "'%s' is broadcast, so one of its dimensions is a "
			    "pack '..d'",
			    t->name);
}

static void check_dim(checker *c, ast_expr *d)
{
	c->in_signature = true;
	if (d->kind == AST_PACK)
		check_pack(c, d->pack, d->at);
	else
		check_constant(c, d);
	c->in_signature = false;
	if (is_number(d, AST_INT) && d->kind == AST_UNARY)
		check_error(c, DIAG_NEGATIVE_EXTENT, d->at,
			    "a dimension cannot have a negative size");
}

static void check_tensors(checker *c, ast_tensor *tensors, int n,
			  bool results)
{
	for (int i = 0; i < n; i++) {
		ast_tensor *t = &tensors[i];
		for (int j = 0; j < t->ndims; j++)
			check_dim(c, t->dims[j]);
		check_type_name(c, &t->type);
		if (t->broadcast && results)
			check_error(c, DIAG_BAD_SIGNATURE, t->at,
				    "only parameters are broadcast");
		else if (t->broadcast)
			check_broadcast(c, t);
	}
}

void check_dimensions(checker *c)
{
	const ast_op *op = c->op;
	bind_packs(c);
	for (int i = 0; i < op->nparams; i++) {
		const ast_expr *pack;
		int n = unbound(c, &op->params[i], &pack);
		if (n > 1)
			check_error(c, DIAG_BAD_SIGNATURE, op->params[i].at,
				    "of the packs of '%s' only one can be "
				    "bound by it; the others need another "
				    "parameter or an attribute int[]",
				    op->params[i].name);
	}
	if (c->failed)
		return;
	check_tensors(c, op->params, op->nparams, false);
	check_tensors(c, op->results, op->nresults, true);
}

/* ---- opaque functions --------------------------------------------------- */

static void check_whole(checker *c, const ast_tensor *tensors, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < tensors[i].ndims; j++)
			if (tensors[i].dims[j]->kind == AST_PACK)
				check_error(c, DIAG_BAD_SIGNATURE,
					    tensors[i].dims[j]->at,
					    "slices have a fixed number of "
					    "dimensions, a pack does not");
}

void check_opaque(tdl_modules *m, ast_opaque *f)
{
	checker c = { .modules = m, .sink = m->sink, .tmp = arena_new() };
	c.names = strmap_new(c.tmp);
	c.packs = strmap_new(c.tmp);
	c.unbound = strmap_new(c.tmp);
	too_many(&c, f->name_at, f->nparams + f->nattrs + f->nresults,
		 "parameters, attributes and results", MAX_SIGNATURE);
	if (f->nresults != 1)
		check_error(&c, DIAG_BAD_SIGNATURE, f->name_at,
			    "an opaque function has one result");
	check_sizes_of(&c, f->params, f->nparams);
	check_sizes_of(&c, f->results, f->nresults);
	if (!c.failed)
		declare_signature(&c, f->params, f->nparams, f->attrs,
				  f->nattrs, f->results, f->nresults);
	if (!c.failed)
		check_attr_list(&c, f->attrs, f->nattrs, false);
	check_whole(&c, f->params, f->nparams);
	check_whole(&c, f->results, f->nresults);
	if (!c.failed) {
		check_tensors(&c, f->params, f->nparams, false);
		check_tensors(&c, f->results, f->nresults, true);
	}
	f->nsymbols = c.facts.n;
	f->faulty |= c.failed;
	arena_free(c.tmp);
}
