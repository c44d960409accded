/* Checks of onnx entries: names are bound before they are used, what is
 * called exists, and every way through the body ends.  What values are, only
 * the evaluation for a node can know. */
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
		    "'%s' is declared twice in this entry", s->name);
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
		for (j = 0; j < i; j++)
			if (e->named[j].name == e->named[i].name) {
				check_error(c, DIAG_BAD_ATTRIBUTE,
					    e->named[i].at,
					    "the attribute '%s' is given "
					    "twice",
					    e->named[i].name);
				break;
			}
	}
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
			    "there is no operator or function '%s'", e->name);
}

/* ---- expressions -------------------------------------------------------- */

static const char *misplaced(ast_kind kind)
{
	switch (kind) {
	case AST_SLICE:
		return "':' has no meaning in an onnx entry";
	case AST_PACK:
		return "packs have no meaning in an onnx entry";
	case AST_GUARD:
		return "an onnx entry has no reads to guard";
	case AST_LAMBDA:
		return "an onnx entry calls operators; it has no lambdas of "
		       "its own";
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

/* Returns whether the statement ends the entry whatever happens. */
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

/* ---- entries ------------------------------------------------------------ */

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

void check_onnx(tdl_modules *m, ast_onnx *e)
{
	checker c = { .modules = m, .sink = m->sink, .tmp = arena_new() };
	c.names = strmap_new(c.tmp);
	c.unbound = strmap_new(c.tmp);
	c.packs = strmap_new(c.tmp);
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
