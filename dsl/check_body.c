/* Checks the bodies of models, onnx entries and defs: names are bound before
 * they are used, called functions exist, and statements are where they have a
 * meaning.  Values are known only to the evaluation. */
#include "config.h"

#include <string.h>

#include "dsl/checker.h"

static void walk(checker *c, ast_expr *e);

/* ---- names -------------------------------------------------------------- */

void check_bind(checker *c, const char *name, range at)
{
	if (!strmap_get(c->names, name))
		strmap_put(c->names, name,
			   check_symbol(c, SYMBOL_CONST, name, at));
}

void check_declare(checker *c, ast_symbol *s)
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

/* Whether a name begins with `head'.  After very many such questions it answers
 * yes, which only leaves the decision to the evaluation. */
static bool begins_with(checker *c, const char *name, const char *head)
{
	enum { MAX_COMPARED = 1 << 20 };
	return c->compared++ > MAX_COMPARED ||
	       !strncmp(name, head, strlen(head));
}

/* Whether a family that is bound may have a member of this name. */
static bool may_be_member(checker *c, const char *name)
{
	for (int i = 0; i < strmap_count(c->families); i++)
		if (begins_with(c, name, strmap_key(c->families, i)))
			return true;
	return false;
}

static void walk_name(checker *c, ast_expr *e)
{
	ast_type type = ast_type_of(e->name, e->at);
	if (type.kind == TYPE_EXACT)
		e->type = ARENA_COPY(c->modules->arena, &type, 1);
	if (e->type || strmap_get(c->names, e->name) ||
	    !strcmp(e->name, "none") || may_be_member(c, e->name))
		return;
	if (c->body != BODY_ONNX && !strcmp(e->name, "training"))
		return;
	check_error(c, DIAG_UNBOUND_INDEX, e->at, "nothing binds '%s' here",
		    e->name);
}

/* A member may belong to a family with a longer or a shorter beginning, or be a
 * name. */
static void walk_family(checker *c, const ast_expr *e)
{
	const char *head = e->texts[0];
	bool known = strmap_get(c->families, head) || may_be_member(c, head);
	for (int i = 0; i < strmap_count(c->families) && !known; i++)
		known = begins_with(c, strmap_key(c->families, i), head);
	for (int i = 0; i < strmap_count(c->names) && !known; i++)
		known = begins_with(c, strmap_key(c->names, i), head);
	if (!known)
		check_error(c, DIAG_UNBOUND_INDEX, e->at,
			    "nothing binds a name like '%s{..}' here", head);
}

static void bind_target(checker *c, const ast_expr *e)
{
	if (e->kind == AST_NAME) {
		check_bind(c, e->name, e->at);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		walk(c, e->args[i]);
	strmap_put(c->families, e->texts[0], c);
}

/* ---- calls -------------------------------------------------------------- */

/* Whether a named argument is given a second time. */
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
		ast_named *n = &e->named[i];
		n->index = ast_find_attr(op->attrs, op->nattrs, n->name);
		if (n->index < 0) {
			check_error(c, DIAG_BAD_ATTRIBUTE, n->at,
				    "'%s' has no attribute '%s'", op->name,
				    n->name);
			check_suggest_attr(c, op->attrs, op->nattrs, n->name);
		}
		given_twice(c, e, i, "attribute");
	}
}

/* Checks the arguments of a def: first those without a name, then the
 * others. */
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
		e->named[i].index = j;
	}
	for (int i = 0; i < b->nparams; i++)
		if (!given[i] && !b->params[i].value && !e->open_named)
			check_error(c, DIAG_BAD_CALL, check_call_at(e),
				    "'%s' is called without its argument '%s'",
				    b->name, b->params[i].name);
}

/* Checks a call of a def; the def is checked before its caller. */
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

void check_bind_call(const checker *c, ast_expr *e)
{
	e->calls = (ast_callee){
		.function = builtin_find(BUILTIN_MAPPING, e->name),
		.op = strmap_get(c->modules->ops, e->name),
		.def = strmap_get(c->modules->blocks, e->name),
	};
}

/* An operator and a function may have the same name; the arguments decide. */
static void check_call(checker *c, ast_expr *e)
{
	check_bind_call(c, e);
	const ast_op *op = e->calls.op;
	if (e->calls.def) {
		check_block_call(c, e,
				 strmap_get(c->modules->blocks, e->name));
		return;
	}
	const builtin *f = e->calls.function;
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
	else if (!f) {
		check_error(c, DIAG_BAD_CALL, check_call_at(e),
			    "there is no operator, def or function '%s'",
			    e->name);
		check_suggest_callee(c, e->name);
	}
}

/* ---- expressions -------------------------------------------------------- */

static const char *misplaced(ast_kind kind)
{
	switch (kind) {
	case AST_SLICE:
		return "':' has no meaning here";
	case AST_PACK:
		return "packs have no meaning here";
	case AST_GUARD:
		return "there are no reads to guard here";
	case AST_LAMBDA:
		return "lambdas can only be in operators, which are called "
		       "here";
	default:
		return NULL;
	}
}

static void walk(checker *c, ast_expr *e)
{
	if (misplaced(e->kind)) {
		check_error(c, DIAG_BAD_INDEX, e->at, "%s",
			    misplaced(e->kind));
		return;
	}
	if (e->kind == AST_NAME)
		walk_name(c, e);
	if (e->kind == AST_FAMILY)
		walk_family(c, e);
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

static const char *const words[] = {
	[STMT_RETURN] = "return", [STMT_INPUT] = "input",
	[STMT_PARAM] = "param",	  [STMT_STATE] = "state",
	[STMT_NEXT] = "next",	  [STMT_OUTPUT] = "output",
};

/* Whether a statement has a meaning in the current body. */
static bool fits_body(const checker *c, stmt_kind kind)
{
	switch (kind) {
	case STMT_RETURN:
		return c->body != BODY_MODEL;
	case STMT_INPUT:
	case STMT_OUTPUT:
		return c->body == BODY_MODEL;
	case STMT_PARAM:
	case STMT_STATE:
	case STMT_NEXT:
		return c->body != BODY_ONNX;
	default:
		return true;
	}
}

static void walk_declaration(checker *c, const ast_stmt *s)
{
	const char *type = s->type.name;
	bool named = type && s->type.kind != TYPE_EXACT;
	for (int i = 0; i < s->nvalues; i++)
		walk(c, s->values[i]);
	if (named && !strmap_get(c->names, type)) {
		check_error(c, DIAG_UNKNOWN_TYPE, s->type.at,
			    "'%s' is not an element type", type);
		check_suggest_type(c, type);
	}
	bind_target(c, s->targets[0]);
}

/* Returns whether every path through the statement ends the body. */
static bool walk_stmt(checker *c, const ast_stmt *s)
{
	bool body, other;
	if (!fits_body(c, s->kind))
		check_error(c, DIAG_MISPLACED, s->at,
			    "'%s' has no meaning in %s", words[s->kind],
			    c->body == BODY_MODEL ? "a model"
			    : c->body == BODY_DEF ? "a def"
						  : "an onnx entry");
	if (s->value)
		walk(c, s->value);
	switch (s->kind) {
	case STMT_ASSIGN:
		for (int i = 0; i < s->ntargets; i++)
			bind_target(c, s->targets[i]);
		return false;
	case STMT_IF:
		body = check_statements(c, s->body, s->nbody);
		other = check_statements(c, s->other, s->nother);
		return body && other;
	case STMT_FOR:
		check_bind(c, s->var, s->var_at);
		check_statements(c, s->body, s->nbody);
		return false;
	case STMT_RETURN:
		for (int i = 0; i < s->nvalues; i++)
			walk(c, s->values[i]);
		return true;
	case STMT_CALL:
		return true;
	case STMT_INPUT:
	case STMT_PARAM:
	case STMT_STATE:
		walk_declaration(c, s);
		return false;
	case STMT_OUTPUT:
		c->has_output = true;
		/* fall through */
	case STMT_NEXT:
		for (int i = 0; i < s->ntargets; i++)
			walk(c, s->targets[i]);
		return false;
	}
	return false;
}

bool check_statements(checker *c, ast_stmt *const *body, int n)
{
	bool ends = false;
	for (int i = 0; i < n; i++) {
		if (ends) {
			check_error(c, DIAG_UNREACHABLE, body[i]->at,
				    "this is never reached: the statement "
				    "before it returns");
			return true;
		}
		ends = walk_stmt(c, body[i]);
	}
	return ends;
}

void check_body_value(checker *c, ast_expr *e)
{
	walk(c, e);
}

checker check_begin_body(tdl_modules *m, body_kind body)
{
	checker c = { .modules = m, .sink = m->sink, .tmp = arena_new(),
		      .body = body };
	c.names = strmap_new(c.tmp);
	c.unbound = strmap_new(c.tmp);
	c.packs = strmap_new(c.tmp);
	c.families = strmap_new(c.tmp);
	return c;
}
