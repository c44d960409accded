/* Notes on unknown names: the name that was probably meant, or the file that
 * defines it. */
#include <string.h>

#include "base/spelling.h"
#include "dsl/builtins.h"
#include "dsl/checker.h"

static void try_keys(spelling *s, const strmap *m)
{
	for (int i = 0; i < strmap_count(m); i++)
		spelling_try(s, strmap_key(m, i));
}

static void try_builtins(spelling *s, builtin_kind kind)
{
	for (int i = 0; i < BUILTIN_COUNT; i++)
		if (builtin_table[i].kind == kind)
			spelling_try(s, builtin_table[i].name);
}

void check_suggest_function(checker *c, const char *name)
{
	spelling s = { .given = name };
	try_builtins(&s, BUILTIN_REDUCER);
	try_builtins(&s, BUILTIN_SCALAR);
	spelling_note(&s, c->sink);
}

/* The library file that defines an operator, as an import names it; NULL if
 * none does. */
static const char *library_file(tdl_modules *m, const char *name)
{
	if (!m->beyond) {
		m->beyond = dsl_new(m->arena, diag_sink_new(m->arena), NULL, 0);
		for (int i = 0; i < m->nlibrary; i++)
			dsl_load(m->beyond, m->library[i]);
	}
	const ast_op *op = dsl_op(m->beyond, name);
	if (!op)
		return NULL;
	const char *path = diag_path(m->beyond->sink, op->name_at);
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool check_suggest_import(checker *c, const char *name)
{
	const char *file = library_file(c->modules, name);
	if (file)
		diag_note(c->sink, NOWHERE,
			  "the operator library has it: import \"%s\"", file);
	return file != NULL;
}

void check_suggest_operator(checker *c, const char *name)
{
	spelling s = { .given = name };
	if (check_suggest_import(c, name))
		return;
	try_keys(&s, c->modules->ops);
	spelling_note(&s, c->sink);
}

const char *dsl_operator_hint(const tdl_modules *m, arena *a, const char *name)
{
	spelling s = { .given = name };
	try_keys(&s, m->ops);
	return spelling_hint(&s, a);
}

void check_suggest_callee(checker *c, const char *name)
{
	spelling s = { .given = name };
	if (check_suggest_import(c, name))
		return;
	try_keys(&s, c->modules->ops);
	try_keys(&s, c->modules->blocks);
	try_builtins(&s, BUILTIN_MAPPING);
	spelling_note(&s, c->sink);
}

void check_suggest_attr(checker *c, const ast_attr *attrs, int n,
			const char *name)
{
	spelling s = { .given = name };
	for (int i = 0; i < n; i++)
		spelling_try(&s, attrs[i].name);
	spelling_note(&s, c->sink);
}

void check_suggest_type(checker *c, const char *name)
{
	/* The names of types in NumPy, PyTorch and C. */
	static const char *const elsewhere[][2] = {
		{ "float64", "f64" },	{ "double", "f64" },
		{ "float32", "f32" },	{ "float16", "f16" },
		{ "half", "f16" },	{ "bfloat16", "bf16" },
		{ "int64", "i64" },	{ "long", "i64" },
		{ "int32", "i32" },	{ "int16", "i16" },
		{ "short", "i16" },	{ "int8", "i8" },
		{ "uint64", "u64" },	{ "uint32", "u32" },
		{ "uint16", "u16" },	{ "uint8", "u8" },
		{ "byte", "u8" },	{ "boolean", "bool" },
	};
	spelling s = { .given = name };
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (!strcmp(elsewhere[i][0], name))
			s.nearest = elsewhere[i][1];
	bool known = s.nearest;
	for (int t = 0; !known && t < DT_COUNT; t++)
		spelling_try(&s, dtype_name(t));
	spelling_note(&s, c->sink);
}

/* ---- sizes that nothing binds -------------------------------------------- */

static bool has_name(const ast_expr *e, const char *name);

static bool pack_has_name(const ast_pack *p, const char *name)
{
	return p && p->sel && has_name(p->sel, name);
}

/* Whether a name is used or bound in an expression. */
static bool has_name(const ast_expr *e, const char *name)
{
	if (e->name && !strcmp(e->name, name))
		return true;
	if (pack_has_name(e->pack, name))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (has_name(e->args[i], name))
			return true;
	for (int i = 0; i < e->nnamed; i++)
		if (has_name(e->named[i].value, name))
			return true;
	for (int i = 0; i < e->nvars; i++)
		if (!strcmp(e->vars[i].name, name) ||
		    pack_has_name(e->vars[i].pack, name) ||
		    (e->vars[i].extent && has_name(e->vars[i].extent, name)))
			return true;
	return false;
}

static bool have_name(const ast_tensor *tensors, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(tensors[i].name, name))
			return true;
		for (int d = 0; d < tensors[i].ndims; d++)
			if (has_name(tensors[i].dims[d], name))
				return true;
	}
	return false;
}

/* Whether an operator does not use a name yet. */
static bool is_free(const checker *c, const char *name)
{
	const ast_op *op = c->op;
	if (check_find(c, name) ||
	    have_name(op->params, op->nparams, name) ||
	    have_name(op->results, op->nresults, name))
		return false;
	for (int i = 0; i < op->nlets; i++) {
		for (int j = 0; j < op->lets[i].nnames; j++)
			if (!strcmp(op->lets[i].names[j], name))
				return false;
		if (has_name(op->lets[i].value, name))
			return false;
	}
	for (int i = 0; i < op->nbodies; i++)
		if (has_name(op->bodies[i], name))
			return false;
	return true;
}

/* k if an expression is k times the name, k > 1; else 0. */
static int64_t times_name(const ast_expr *e, const char *name)
{
	for (int i = 0; e->kind == AST_BINARY && e->op == OP_MUL && i < 2;
	     i++) {
		const ast_expr *k = e->args[i], *of = e->args[1 - i];
		if (k->kind == AST_INT && k->i > 1 && of->kind == AST_NAME &&
		    of->name == name)
			return k->i;
	}
	return 0;
}

const char *check_whole_instead(const checker *c, const char *name)
{
	static const char *const wholes[] = { "M", "L", "K", "N", "P", "Q",
					      "R", "S", "T" };
	int64_t k = 0;
	size_t i = 0, n = sizeof(wholes) / sizeof(wholes[0]);
	for (int p = 0; c->op && p < c->op->nparams; p++)
		for (int d = 0; d < c->op->params[p].ndims && !k; d++)
			k = times_name(c->op->params[p].dims[d], name);
	while (k && i < n && !is_free(c, wholes[i]))
		i++;
	if (!k || i == n)
		return "";
	return arena_printf(c->tmp, "; for a dimension of %lld*%s name the "
			    "whole, x[%s], and write %s / %lld for %s",
			    (long long)k, name, wholes[i], wholes[i],
			    (long long)k, name);
}
