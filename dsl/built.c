/* Operators that are built rather than read: copies them, checks whether they
 * can be written as text, and adds them to a set of modules. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "dsl/check.h"
#include "dsl/parse.h"

/* ---- words -------------------------------------------------------------- */

/* In the order of scan.l; the first ones begin definitions. */
static const char *const words[] = {
	"op", "opaque", "onnx", "def", "model", "grad", "import",
	"lambda", "let", "if", "then", "else", "and", "or", "not", "for",
	"return", "unsupported", "broadcast", "const", "in", "input", "param",
	"state", "next", "output", "true", "false", "pi", "inf",
};

enum { RESERVED = 7, WORDS = sizeof(words) / sizeof(words[0]) };

static bool is_among(const char *name, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(words[i], name))
			return true;
	return false;
}

bool dsl_is_word(const char *name)
{
	return is_among(name, WORDS);
}

/* ---- copies ------------------------------------------------------------- */

typedef struct copying {
	arena *a;
	interner *names;
	range at;   /* of all nodes */
	bool bound; /* names keep their symbols */
	int nnodes; /* made so far */
} copying;

static const char *copy_name(const copying *c, const char *name)
{
	return name ? intern(c->names, name) : NULL;
}

static ast_type copy_type(const copying *c, ast_type t)
{
	t.name = copy_name(c, t.name);
	t.at = t.name ? c->at : NOWHERE;
	t.symbol = c->bound ? t.symbol : NULL;
	return t;
}

static const ast_type *copy_type_of_name(const copying *c, const ast_type *t)
{
	ast_type copy = copy_type(c, *t);
	return ARENA_COPY(c->a, &copy, 1);
}

static ast_expr *copy_expr(copying *c, const ast_expr *e);

static ast_expr **copy_list(copying *c, ast_expr *const *list, int n)
{
	ast_expr **to = ARENA_ARRAY(c->a, ast_expr *, n + 1);
	for (int i = 0; i < n; i++)
		to[i] = copy_expr(c, list[i]);
	return to;
}

static ast_expr *copy_or_none(copying *c, const ast_expr *e)
{
	return e ? copy_expr(c, e) : NULL;
}

static ast_pack *copy_pack(copying *c, const ast_pack *p)
{
	if (!p)
		return NULL;
	ast_pack *to = ARENA_NEW(c->a, ast_pack);
	to->kind = p->kind;
	to->name = copy_name(c, p->name);
	to->sel = copy_or_none(c, p->sel);
	to->symbol = c->bound ? p->symbol : NULL;
	return to;
}

static ast_named *copy_named(copying *c, const ast_named *named, int n)
{
	ast_named *to = ARENA_ARRAY(c->a, ast_named, n + 1);
	for (int i = 0; i < n; i++)
		to[i] = (ast_named){ .name = copy_name(c, named[i].name),
				     .value = copy_expr(c, named[i].value),
				     .at = c->at };
	return to;
}

static ast_var *copy_vars(copying *c, const ast_var *vars, int n)
{
	ast_var *to = ARENA_ARRAY(c->a, ast_var, n + 1);
	for (int i = 0; i < n; i++)
		to[i] = (ast_var){ .name = copy_name(c, vars[i].name),
				   .extent = copy_or_none(c, vars[i].extent),
				   .pack = copy_pack(c, vars[i].pack),
				   .symbol = c->bound ? vars[i].symbol : NULL,
				   .at = c->at };
	return to;
}

/* If the tree is too large, the copy ends early. */
static ast_expr *copy_expr(copying *c, const ast_expr *e)
{
	ast_expr *to = ARENA_NEW(c->a, ast_expr);
	to->kind = e->kind;
	to->at = c->at;
	to->depth = 1;
	if (c->nnodes++ >= AST_MAX_NODES)
		return to;
	to->op = e->op;
	to->parens = e->parens;
	to->i = e->i;
	to->f = e->f;
	to->name = copy_name(c, e->name);
	to->nargs = e->nargs;
	to->args = copy_list(c, e->args, e->nargs);
	to->nnamed = e->nnamed;
	to->named = copy_named(c, e->named, e->nnamed);
	to->open_named = e->open_named;
	to->nvars = e->nvars;
	to->vars = copy_vars(c, e->vars, e->nvars);
	to->pack = copy_pack(c, e->pack);
	to->symbol = c->bound ? e->symbol : NULL;
	to->calls = e->calls;
	to->type = e->type ? copy_type_of_name(c, e->type) : NULL;
	to->depth = ast_depth(to);
	return to;
}

static ast_tensor *copy_tensors(copying *c, const ast_tensor *list, int n)
{
	ast_tensor *to = ARENA_COPY(c->a, list, n);
	for (int i = 0; i < n; i++) {
		to[i].name = copy_name(c, list[i].name);
		to[i].dims = copy_list(c, list[i].dims, list[i].ndims);
		to[i].type = copy_type(c, list[i].type);
		to[i].at = c->at;
	}
	return to;
}

static ast_attr *copy_attrs(copying *c, const ast_attr *list, int n)
{
	ast_attr *to = ARENA_COPY(c->a, list, n);
	for (int i = 0; i < n; i++) {
		to[i].name = copy_name(c, list[i].name);
		to[i].init = copy_or_none(c, list[i].init);
		to[i].at = c->at;
	}
	return to;
}

static ast_let *copy_lets(copying *c, const ast_let *list, int n)
{
	ast_let *to = ARENA_ARRAY(c->a, ast_let, n + 1);
	for (int i = 0; i < n; i++) {
		int m = list[i].nnames;
		const char **names = ARENA_ARRAY(c->a, const char *, m + 1);
		range *at = ARENA_ARRAY(c->a, range, m + 1);
		for (int j = 0; j < m; j++) {
			names[j] = copy_name(c, list[i].names[j]);
			at[j] = c->at;
		}
		to[i] = (ast_let){ .nnames = m, .names = names, .names_at = at,
				   .value = copy_expr(c, list[i].value),
				   .at = c->at };
	}
	return to;
}

ast_op *dsl_copy_op(const tdl_modules *m, arena *a, const ast_op *op,
		    bool bound)
{
	copying c = { .a = a, .names = m->names, .at = op->name_at,
		      .bound = bound };
	ast_op *to = ARENA_NEW(a, ast_op);
	to->name = copy_name(&c, op->name);
	to->doc = op->doc ? arena_strdup(a, op->doc) : NULL;
	to->name_at = to->at = op->name_at;
	to->nparams = op->nparams;
	to->params = copy_tensors(&c, op->params, op->nparams);
	to->nattrs = op->nattrs;
	to->attrs = copy_attrs(&c, op->attrs, op->nattrs);
	to->nresults = op->nresults;
	to->results = copy_tensors(&c, op->results, op->nresults);
	to->nlets = op->nlets;
	to->lets = copy_lets(&c, op->lets, op->nlets);
	to->nbodies = op->nbodies;
	to->bodies = copy_list(&c, op->bodies, op->nbodies);
	to->built = true;
	return c.nnodes <= AST_MAX_NODES ? to : NULL;
}

/* ---- what can be written ------------------------------------------------ */

typedef struct writing {
	const char *why; /* the first fault; NULL: none */
} writing;

static void fault(writing *w, const char *why)
{
	if (!w->why)
		w->why = why;
}

static void look_at_name(writing *w, const char *name)
{
	if (!name || (!isalpha((unsigned char)*name) && *name != '_')) {
		fault(w, "a name is none");
		return;
	}
	size_t n = 0;
	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	if (name[n])
		fault(w, "a name is none");
	if (n > AST_MAX_NAME)
		fault(w, "a name is too long");
	if (is_among(name, RESERVED))
		fault(w, "a name is a reserved word");
}

static void look_at(writing *w, const ast_expr *e);

/* An operand beside an operator that binds that tightly. */
static void look_at_operand(writing *w, const ast_expr *e,
			    ast_precedence least)
{
	if (!e->parens && ast_precedence_of(e) < least)
		fault(w, "an operand lacks its parentheses");
	look_at(w, e);
}

static void look_at_pack(writing *w, const ast_pack *p)
{
	if (p->kind != PACK_CALL)
		look_at_name(w, p->name);
	if ((p->kind == PACK_ALL) != !p->sel ||
	    (p->kind == PACK_CALL && p->sel && p->sel->kind != AST_CALL))
		fault(w, "a pack has another form");
	else if (p->sel)
		look_at(w, p->sel);
}

/* Items, which may include packs and, in an index, slices. */
static void look_at_items(writing *w, ast_expr *const *items, int n,
			  bool index)
{
	for (int i = 0; i < n; i++)
		if (items[i]->kind == AST_PACK)
			look_at_pack(w, items[i]->pack);
		else if (!index || items[i]->kind != AST_SLICE)
			look_at(w, items[i]);
}

static void look_at_binary(writing *w, const ast_expr *e)
{
	ast_precedence own = ast_precedence_of_operator(e->op);
	look_at_operand(w, e->args[0], own + (own == BINDS_COMPARISON));
	look_at_operand(w, e->args[1], own + 1);
}

static void look_at_lambda(writing *w, const ast_expr *e)
{
	for (int i = 0; i < e->nvars; i++) {
		const ast_var *v = &e->vars[i];
		if (v->pack)
			look_at_pack(w, v->pack);
		else
			look_at_name(w, v->name);
		if (v->extent)
			look_at(w, v->extent);
	}
	look_at(w, e->args[0]);
}

static void look_at_call(writing *w, const ast_expr *e)
{
	look_at_name(w, e->name);
	look_at_items(w, e->args, e->nargs, false);
	for (int i = 0; i < e->nnamed; i++) {
		look_at_name(w, e->named[i].name);
		look_at(w, e->named[i].value);
	}
}

static void look_at(writing *w, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
		if (e->i < 0)
			fault(w, "a literal has a sign");
		break;
	case AST_FLOAT:
		if (isnan(e->f) || signbit(e->f))
			fault(w, "a literal has a sign");
		break;
	case AST_NAME:
		look_at_name(w, e->name);
		break;
	case AST_INDEX:
		look_at_operand(w, e->args[0], BINDS_ATOM);
		look_at_items(w, e->args + 1, e->nargs - 1, true);
		break;
	case AST_CALL:
		look_at_call(w, e);
		break;
	case AST_UNARY:
		look_at_operand(w, e->args[0], ast_precedence_of(e));
		break;
	case AST_BINARY:
		look_at_binary(w, e);
		break;
	case AST_LAMBDA:
		look_at_lambda(w, e);
		break;
	case AST_LIST:
	case AST_IF:
	case AST_GUARD:
		for (int i = 0; i < e->nargs; i++)
			look_at(w, e->args[i]);
		break;
	case AST_STRING:
	case AST_BOOL:
		break;
	default:
		fault(w, "an expression stands where it cannot");
	}
}

/* Bounds the recursion before it begins. */
static void look_at_root(writing *w, const ast_expr *e)
{
	if (e->depth > AST_MAX_DEPTH)
		fault(w, "it is nested too deep");
	else
		look_at(w, e);
}

static void look_at_tensors(writing *w, const ast_tensor *list, int n)
{
	for (int i = 0; i < n; i++) {
		look_at_name(w, list[i].name);
		if (list[i].type.name)
			look_at_name(w, list[i].type.name);
		for (int d = 0; d < list[i].ndims; d++)
			if (list[i].dims[d]->depth > AST_MAX_DEPTH)
				fault(w, "it is nested too deep");
		if (!w->why)
			look_at_items(w, list[i].dims, list[i].ndims, false);
	}
}

const char *dsl_unwritable(const ast_op *op)
{
	writing w = { NULL };
	look_at_name(&w, op->name);
	look_at_tensors(&w, op->params, op->nparams);
	look_at_tensors(&w, op->results, op->nresults);
	for (int i = 0; i < op->nattrs; i++) {
		look_at_name(&w, op->attrs[i].name);
		if (op->attrs[i].init)
			look_at_root(&w, op->attrs[i].init);
	}
	for (int i = 0; i < op->nlets; i++) {
		for (int j = 0; j < op->lets[i].nnames; j++)
			look_at_name(&w, op->lets[i].names[j]);
		look_at_root(&w, op->lets[i].value);
	}
	for (int i = 0; i < op->nbodies; i++) {
		if (op->bodies[i]->kind != AST_LAMBDA)
			fault(&w, "a result is no lambda");
		look_at_root(&w, op->bodies[i]);
	}
	return w.why;
}

/* ---- the set ------------------------------------------------------------ */

const ast_op *dsl_add_op(tdl_modules *m, const ast_op *op)
{
	int errors = diag_errors(m->sink);
	ast_op *own = dsl_copy_op(m, m->arena, op, false);
	const char *why = own ? dsl_unwritable(own) : "it is too large";
	if (why) {
		diag_error(m->sink, DIAG_TOO_LARGE, op->name_at,
			   "'%s' cannot be written: %s", op->name, why);
		return NULL;
	}
	ast_def def = { .kind = DEF_OP, .at = own->at, .op = own };
	module_add(m, &(ast_module){ .ndefs = 1, .defs = &def });
	if (diag_errors(m->sink) == errors)
		return own;
	diag_note(m->sink, NOWHERE, "in '%s', which is derived", op->name);
	return NULL;
}
