/* The table of checks, and the functions that run them. */
#include "config.h"

#include "dsl/check.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "dsl/checker.h"

/* ---- reports ------------------------------------------------------------ */

void check_error(checker *c, diag_id id, range at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(c->tmp, fmt, ap);
	va_end(ap);
	c->failed = true;
	diag_error(c->sink, id, at, "%s", text);
}

void check_warning(checker *c, diag_id id, range at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(c->tmp, fmt, ap);
	va_end(ap);
	/* They concern the text, which nobody wrote. */
	if (!c->op || !c->op->built)
		diag_warning(c->sink, id, at, "%s", text);
}

/* ---- look-up for several checks ----------------------------------------- */

ast_symbol *check_symbol(checker *c, ast_symbol_kind kind, const char *name,
			 range at)
{
	/* In the modules' arena, since the tree refers to it. */
	ast_symbol *s = ARENA_NEW(c->modules->arena, ast_symbol);
	s->kind = kind;
	s->name = name;
	s->at = at;
	s->number = c->facts.n;
	s->index = -1;
	symbol_facts *f = ARENA_NEW(c->tmp, symbol_facts);
	f->symbol = s;
	f->ndims = -1;
	vec_push(c->tmp, &c->facts, f);
	return s;
}

symbol_facts *check_facts(const checker *c, const ast_symbol *s)
{
	return c->facts.at[s->number];
}

const ast_attr *check_find_attr(const checker *c, const char *name)
{
	const ast_symbol *s = strmap_get(c->names, name);
	return s && s->kind == SYMBOL_ATTR ? check_facts(c, s)->attr : NULL;
}

range check_call_at(const ast_expr *call)
{
	uint32_t n = (uint32_t)strlen(call->name);
	return (range){ call->at.beg, call->at.beg + n };
}

bool check_is_missing(const tdl_modules *m, const char *name)
{
	return m->incomplete || strmap_get(m->broken, name);
}

const ast_op *check_callee(checker *c, ast_expr *call)
{
	const ast_op *op = strmap_get(c->modules->ops, call->name);
	if (op && !op->faulty) {
		call->calls.op = op;
		return op;
	}
	if (op || check_is_missing(c->modules, call->name)) {
		c->failed = true; /* its own faults give the reason */
		return NULL;
	}
	check_error(c, DIAG_BAD_CALL, check_call_at(call),
		    "there is no operator '%s'", call->name);
	check_suggest_operator(c, call->name);
	return NULL;
}

/* ---- operators that call operators -------------------------------------- */

static void check_op(tdl_modules *m, ast_op *op);

/* Checks the operators that e calls before their caller; returns the height of
 * the calls. */
static int callees(checker *c, const ast_expr *e)
{
	int height = 0;
	for (int i = 0; i < e->nargs; i++) {
		int h = callees(c, e->args[i]);
		height = h > height ? h : height;
	}
	ast_op *op = e->kind == AST_CALL
			     ? strmap_get(c->modules->ops, e->name)
			     : NULL;
	if (!op)
		return height;
	if (op->height == 0 && c->modules->calls <= MAX_CALL_HEIGHT)
		check_op(c->modules, op);
	if (op->height == 0)
		return MAX_CALL_HEIGHT;
	if (op->height < 0) {
		check_error(c, DIAG_RECURSION, check_call_at(e),
			    "'%s' calls itself, directly or through others",
			    op->name);
		return height;
	}
	return op->height > height ? op->height : height;
}

/* Only lets call operators; in scalar expressions names are those of scalar
 * functions. */
static void check_callees(checker *c)
{
	int height = 0;
	for (int i = 0; i < c->op->nlets; i++) {
		const ast_expr *value = c->op->lets[i].value;
		int h = value->kind == AST_CALL ? callees(c, value) : 0;
		height = h > height ? h : height;
	}
	c->op->height = height + 1;
	if (height + 1 > MAX_CALL_HEIGHT)
		check_error(c, DIAG_TOO_DEEP, c->op->name_at,
			    "operators call each other more than %d deep",
			    MAX_CALL_HEIGHT);
}

/* ---- gradients ---------------------------------------------------------- */

enum { NO_PARAMETER = INT_MAX };

static int find_parameter(const ast_op *of, const char *name)
{
	for (int i = 0; i < of->nparams; i++)
		if (of->params[i].name == name)
			return i;
	return NO_PARAMETER;
}

/* The origin of a gradient's parameter (ast_op.grad_params): the derivative by
 * a result r of f is called dr. */
static int parameter_of(const ast_op *of, const char *name)
{
	for (int i = 0; i < of->nresults; i++)
		if (*name == 'd' && !strcmp(name + 1, of->results[i].name))
			return ~i;
	return find_parameter(of, name);
}

/* The attribute of f to which a gradient's attribute corresponds; -1 for
 * none. */
static int attribute_of(const ast_op *of, const ast_attr *a)
{
	int i = ast_find_attr(of->attrs, of->nattrs, a->name);
	return i >= 0 && of->attrs[i].type == a->type &&
	       of->attrs[i].is_list == a->is_list ? i : -1;
}

/* Binds the parameters and attributes of a gradient to those of f. */
static void bind_gradient(checker *c, const ast_op *of)
{
	ast_op *op = c->op;
	arena *a = c->modules->arena;
	int *params = ARENA_ARRAY(a, int, op->nparams + 1);
	int *attrs = ARENA_ARRAY(a, int, op->nattrs + 1);
	for (int i = 0; i < op->nparams; i++) {
		params[i] = parameter_of(of, op->params[i].name);
		if (params[i] == NO_PARAMETER)
			check_error(c, DIAG_BAD_GRADIENT, op->params[i].at,
				    "'%s' is neither a parameter of '%s' nor a "
				    "result's name with a d before it",
				    op->params[i].name, of->name);
	}
	for (int i = 0; i < op->nattrs; i++) {
		attrs[i] = attribute_of(of, &op->attrs[i]);
		if (attrs[i] < 0)
			check_error(c, DIAG_BAD_GRADIENT, op->attrs[i].at,
				    "'%s' has no such attribute '%s'",
				    of->name, op->attrs[i].name);
	}
	op->grad_params = params;
	op->grad_attrs = attrs;
}

static void check_gradient(checker *c)
{
	const ast_op *op = c->op;
	const ast_op *of = op->grad_of ? strmap_get(c->modules->ops,
						    op->grad_of)
				       : NULL;
	if (!op->grad_of || (of && of->faulty))
		return;
	if (!of || of->grad_of) {
		if (check_is_missing(c->modules, op->grad_of))
			return;
		check_error(c, DIAG_BAD_GRADIENT, op->name_at,
			    "there is no operator '%s'", op->grad_of);
		check_suggest_import(c, op->grad_of);
		return;
	}
	if (find_parameter(of, op->grad_by) == NO_PARAMETER)
		check_error(c, DIAG_BAD_GRADIENT, op->grad_by_at,
			    "'%s' has no parameter '%s'", of->name,
			    op->grad_by);
	if (op->nresults != 1)
		check_error(c, DIAG_BAD_GRADIENT, op->results[1].at,
			    "a gradient has one result");
	bind_gradient(c, of);
}

/* ---- the table ---------------------------------------------------------- */

enum {
	NEEDS_NOTHING = 0,
	CALLEES = 1 << 0,
	NAMES = 1 << 1,
	ATTRIBUTES = 1 << 2,
	DIMENSIONS = 1 << 3,
	SCOPES = 1 << 4,
	EXTENTS = 1 << 5,
	TYPES = 1 << 6,
	UNUSED = 1 << 7,
	GRADIENT = 1 << 8,
};

static const struct check {
	const char *name;
	int gives;
	int needs;
	void (*run)(checker *c);
} checks[] = {
	/* No operator calls itself. */
	{ "callees", CALLEES, NEEDS_NOTHING, check_callees },
	/* Nothing in the signature is declared twice. */
	{ "names", NAMES, NEEDS_NOTHING, check_names },
	/* Attributes have types, and defaults of these types. */
	{ "attributes", ATTRIBUTES, NAMES, check_attributes },
	/* Sizes and packs are bound, element types exist. */
	{ "dimensions", DIMENSIONS, NAMES, check_dimensions },
	/* Every name in the body is bound to something that fits its place. */
	{ "scopes", SCOPES, CALLEES | NAMES | ATTRIBUTES | DIMENSIONS,
	  check_scopes },
	/* Every index variable has one extent. */
	{ "extents", EXTENTS, SCOPES, check_extents },
	/* Element types agree. */
	{ "types", TYPES, SCOPES, check_types },
	/* A gradient belongs to an operator, and its parameters are that
	 * operator's or derivatives by its results. */
	{ "gradient", GRADIENT, NAMES, check_gradient },
	/* Everything that is bound is used. */
	{ "unused", UNUSED, SCOPES | EXTENTS | TYPES, check_unused },
};

static void hand_on_symbols(const checker *c)
{
	ast_op *op = c->op;
	op->nsymbols = c->facts.n;
	op->symbols = ARENA_ARRAY(c->modules->arena, const ast_symbol *,
				  op->nsymbols + 1);
	for (int i = 0; i < op->nsymbols; i++)
		op->symbols[i] = c->facts.at[i]->symbol;
}

static void check_op(tdl_modules *m, ast_op *op)
{
	checker c = { .modules = m, .sink = m->sink, .tmp = arena_new(),
		      .op = op };
	c.names = strmap_new(c.tmp);
	c.packs = strmap_new(c.tmp);
	c.unbound = strmap_new(c.tmp);
	int passed = 0;
	op->height = -1;
	m->calls++;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if ((passed & checks[i].needs) != checks[i].needs)
			continue;
		c.failed = false;
		checks[i].run(&c);
		if (c.failed)
			op->faulty = true;
		else
			passed |= checks[i].gives;
	}
	if (op->height < 0)
		op->height = 1;
	hand_on_symbols(&c);
	m->calls--;
	arena_free(c.tmp);
}

void check_module(tdl_modules *m, const ast_module *module)
{
	for (int i = 0; i < module->ndefs; i++) {
		if (diag_errors(m->sink) > DIAG_MAX_ERRORS)
			return;
		const ast_def *d = &module->defs[i];
		switch (d->kind) {
		case DEF_OP:
			if (d->op->height == 0)
				check_op(m, d->op);
			break;
		case DEF_OPAQUE:
			check_opaque(m, d->opaque);
			break;
		case DEF_BLOCK:
			if (d->block->height == 0)
				check_block(m, d->block);
			break;
		case DEF_ONNX:
			check_onnx(m, d->onnx);
			break;
		case DEF_MODEL:
			check_model(m, d->model);
			break;
		case DEF_IMPORT:
			break;
		}
	}
}
