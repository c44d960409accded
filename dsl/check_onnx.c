/* Checks of onnx entries and defs: names are bound before they are used, what
 * is called exists, and every way through the body ends.  What values are,
 * only the evaluation for a node can know. */
#include "config.h"

#include <string.h>

#include "dsl/checker.h"

static void walk(checker *c, const ast_expr *e);

/* ---- names -------------------------------------------------------------- */

static void bind(checker *c, const char *name, range at)
{
	if (!strmap_get(c->names, name))
		strmap_put(c->names, name,
			   check_symbol(c, SYM_CONST, name, at));
}

static void declare(checker *c, ast_symbol *s)
{
	const ast_symbol *first = strmap_get(c->names, s->name);
	if (!first) {
		strmap_put(c->names, s->name, s);
		return;
	}
	check_error(c, DIAG_DUPLICATE_NAME, s->at,
		    "'%s' is declared twice here", s->name);
	diag_note(c->sink, first->at, "the first declaration is here");
}

static void walk_name(checker *c, const ast_expr *e)
{
	if (strmap_get(c->names, e->name) || !strcmp(e->name, "none") ||
	    dtype_parse(e->name) != DT_NONE)
		return;
	check_error(c, DIAG_UNBOUND_INDEX, e->at, "nothing binds '%s' here",
		    e->name);
}

/* ---- calls -------------------------------------------------------------- */

/* Whether an argument with a name comes a second time. */
static bool given_twice(checker *c, const ast_expr *e, int i, const char *what)
{
	for (int j = 0; j < i; j++)
		if (e->named[j].name == e->named[i].name) {
			check_error(c, DIAG_BAD_ATTRIBUTE, e->named[i].at,
				    "the %s '%s' is given twice", what,
				    e->named[i].name);
			return true;
		}
	return false;
}

static void check_attrs(checker *c, const ast_expr *e, const ast_op *op)
{
	for (int i = 0; i < e->nnamed; i++) {
		int j = 0;
		while (j < op->nattrs && op->attrs[j].name != e->named[i].name)
			j++;
		if (j == op->nattrs)
			check_error(c, DIAG_BAD_ATTRIBUTE, e->named[i].at,
				    "'%s' has no attribute '%s'", op->name,
				    e->named[i].name);
		given_twice(c, e, i, "attribute");
	}
}

/* Arguments of a def: first those without a name, then the others. */
static void check_arguments(checker *c, const ast_expr *e, const ast_block *b)
{
	bool *given = ARENA_ARRAY(c->tmp, bool, b->nparams + 1);
	if (e->nargs > b->nparams) {
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "'%s' takes at most %d argument%s, not %d",
			    b->name, b->nparams, b->nparams == 1 ? "" : "s",
			    e->nargs);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		given[i] = true;
	for (int i = 0; i < e->nnamed; i++) {
		int j = 0;
		while (j < b->nparams && b->params[j].name != e->named[i].name)
			j++;
		if (j == b->nparams)
			check_error(c, DIAG_BAD_ATTRIBUTE, e->named[i].at,
				    "'%s' has no parameter '%s'", b->name,
				    e->named[i].name);
		else if (!given_twice(c, e, i, "argument") && j < e->nargs)
			check_error(c, DIAG_BAD_ATTRIBUTE, e->named[i].at,
				    "the argument '%s' is given twice",
				    e->named[i].name);
		given[j] = true;
	}
	for (int i = 0; i < b->nparams; i++)
		if (!given[i] && !b->params[i].value && !e->open_named)
			check_error(c, DIAG_BAD_CALL, check_call_at(e),
				    "'%s' is called without its argument '%s'",
				    b->name, b->params[i].name);
}

/* A call of a def, which is checked before its caller. */
static void check_block_call(checker *c, const ast_expr *e, ast_block *b)
{
	if (b->height == 0 && c->modules->calls <= MAX_CALL_HEIGHT)
		check_block(c->modules, b);
	if (b->height < 0) {
		check_error(c, DIAG_RECURSION, check_call_at(e),
			    "'%s' calls itself, directly or through others",
			    b->name);
		return;
	}
	int height = b->height ? b->height : MAX_CALL_HEIGHT;
	if (height > c->height)
		c->height = height;
	if (b->faulty)
		c->failed = true;
	else
		check_arguments(c, e, b);
}

static bool fits_operator(const ast_expr *e, const ast_op *op)
{
	return op && e->nargs == op->nparams;
}

static bool fits_builtin(const ast_expr *e, const builtin *f)
{
	return f && e->nargs >= f->least && e->nargs <= f->most && !e->nnamed &&
	       !e->open_named;
}

/* An operator and a function may have one name; the arguments decide. */
static void check_call(checker *c, const ast_expr *e)
{
	const ast_op *op = strmap_get(c->modules->ops, e->name);
	ast_block *b = strmap_get(c->modules->blocks, e->name);
	if (b) {
		check_block_call(c, e, b);
		return;
	}
	const builtin *f = builtin_find(BUILTIN_MAPPING, e->name);
	if (op && (op->faulty || fits_operator(e, op) || !f)) {
		if (op->faulty)
			c->failed = true;
		else if (!fits_operator(e, op))
			check_error(c, DIAG_BAD_CALL, check_call_at(e),
				    "'%s' takes %d tensor%s, not %d", op->name,
				    op->nparams, op->nparams == 1 ? "" : "s",
				    e->nargs);
		else if (!fits_builtin(e, f))
			check_attrs(c, e, op);
		return;
	}
	if (f && !fits_builtin(e, f))
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "'%s' takes %s%d argument%s and no attributes",
			    f->name, f->least < f->most ? "at least " : "",
			    f->least, f->least == 1 ? "" : "s");
	else if (!f && check_is_missing(c->modules, e->name))
		c->failed = true;
	else if (!f)
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "there is no operator, def or function '%s'",
			    e->name);
}

/* ---- expressions -------------------------------------------------------- */

static const char *misplaced(ast_kind kind)
{
	switch (kind) {
	case AST_SLICE:
		return "':' has no meaning in an entry or def";
	case AST_PACK:
		return "packs have no meaning in an entry or def";
	case AST_GUARD:
		return "an entry or def has no reads to guard";
	case AST_LAMBDA:
		return "an entry or def calls operators; it has no lambdas "
		       "of its own";
	default:
		return NULL;
	}
}

static void walk(checker *c, const ast_expr *e)
{
	if (misplaced(e->kind)) {
		check_error(c, DIAG_BAD_INDEX, e->at, "%s",
			    misplaced(e->kind));
		return;
	}
	if (e->kind == AST_NAME)
		walk_name(c, e);
	if (e->kind == AST_CALL)
		check_call(c, e);
	if (e->kind == AST_INDEX && e->nargs != 2)
		check_error(c, DIAG_BAD_INDEX, e->at,
			    "a list has one index, not %d", e->nargs - 1);
	for (int i = 0; i < e->nargs; i++)
		walk(c, e->args[i]);
	for (int i = 0; i < e->nnamed; i++)
		walk(c, e->named[i].value);
}

/* ---- statements --------------------------------------------------------- */

static bool walk_block(checker *c, ast_stmt *const *body, int n);

/* Returns whether the statement ends the body whatever happens. */
static bool walk_stmt(checker *c, const ast_stmt *s)
{
	bool body, other;
	if (s->value)
		walk(c, s->value);
	switch (s->kind) {
	case STMT_ASSIGN:
		for (int i = 0; i < s->ntargets; i++)
			bind(c, s->targets[i], s->targets_at[i]);
		return false;
	case STMT_IF:
		body = walk_block(c, s->body, s->nbody);
		other = walk_block(c, s->other, s->nother);
		return body && other;
	case STMT_FOR:
		bind(c, s->var, s->var_at);
		walk_block(c, s->body, s->nbody);
		return false;
	case STMT_RETURN:
		for (int i = 0; i < s->nvalues; i++)
			walk(c, s->values[i]);
		return true;
	case STMT_CALL:
		return true;
	}
	return false;
}

static bool walk_block(checker *c, ast_stmt *const *body, int n)
{
	bool ends = false;
	for (int i = 0; i < n; i++) {
		if (ends) {
			check_error(c, DIAG_UNREACHABLE, body[i]->at,
				    "this is never reached: what is before "
				    "returns");
			return true;
		}
		ends = walk_stmt(c, body[i]);
	}
	return ends;
}

/* ---- entries and defs --------------------------------------------------- */

static void check_params(checker *c, const ast_onnx *e)
{
	static const char *const words[] = { "int", "float" };
	for (int i = 0; i < e->nparams; i++) {
		const ast_tensor *p = &e->params[i];
		declare(c, check_symbol(c, SYM_TENSOR, p->name, p->at));
		if (p->variadic && i < e->nparams - 1)
			check_error(c, DIAG_BAD_SIGNATURE, p->at,
				    "only the last input can stand for "
				    "several");
		bool known = !p->constant ||
			     dtype_parse(p->type.name) != DT_NONE;
		for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
			known |= p->constant && !strcmp(p->type.name, words[w]);
		if (!known)
			check_error(c, DIAG_UNKNOWN_TYPE, p->type.at,
				    "'%s' is no type of a constant input; "
				    "these are int, float and bool",
				    p->type.name);
	}
	for (int i = 0; i < e->nattrs; i++) {
		ast_symbol *s = check_symbol(c, SYM_ATTR, e->attrs[i].name,
					     e->attrs[i].at);
		s->attr = &e->attrs[i];
		declare(c, s);
	}
}

static checker begin(tdl_modules *m)
{
	checker c = { .modules = m, .sink = m->sink, .tmp = arena_new() };
	c.names = strmap_new(c.tmp);
	c.unbound = strmap_new(c.tmp);
	c.packs = strmap_new(c.tmp);
	return c;
}

/* Parameters; a default is made of constants. */
static void check_block_params(checker *c, const ast_block *b)
{
	for (int i = 0; i < b->nparams; i++)
		if (b->params[i].value)
			walk(c, b->params[i].value);
	for (int i = 0; i < b->nparams; i++)
		declare(c, check_symbol(c, SYM_CONST, b->params[i].name,
					b->params[i].at));
	if (builtin_find(BUILTIN_MAPPING, b->name))
		check_error(c, DIAG_DUPLICATE_NAME, b->name_at,
			    "'%s' is a function of the language", b->name);
}

void check_block(tdl_modules *m, ast_block *b)
{
	checker c = begin(m);
	b->height = -1;
	m->calls++;
	if (b->nparams > MAX_SIGNATURE)
		check_error(&c, DIAG_TOO_MANY_DIMENSIONS, b->name_at,
			    "%d parameters, at most %d are possible",
			    b->nparams, MAX_SIGNATURE);
	else
		check_block_params(&c, b);
	if (!c.failed && !walk_block(&c, b->body, b->nbody))
		check_error(&c, DIAG_NO_RETURN, b->name_at,
			    "'%s' can end without a 'return'", b->name);
	b->height = c.height + 1;
	if (b->height > MAX_CALL_HEIGHT)
		check_error(&c, DIAG_TOO_DEEP, b->name_at,
			    "defs call each other more than %d deep",
			    MAX_CALL_HEIGHT);
	m->calls--;
	b->faulty |= c.failed;
	arena_free(c.tmp);
}

void check_onnx(tdl_modules *m, ast_onnx *e)
{
	checker c = begin(m);
	if (e->nparams + e->nattrs > MAX_SIGNATURE)
		check_error(&c, DIAG_TOO_MANY_DIMENSIONS, e->name_at,
			    "%d inputs and attributes, at most %d are possible",
			    e->nparams + e->nattrs, MAX_SIGNATURE);
	else
		check_params(&c, e);
	if (!c.failed)
		check_attr_list(&c, e->attrs, e->nattrs, true);
	if (!c.failed && !walk_block(&c, e->body, e->nbody))
		check_error(&c, DIAG_NO_RETURN, e->name_at,
			    "the entry of '%s' can end without a 'return'",
			    e->op_type);
	e->faulty |= c.failed;
	arena_free(c.tmp);
}
