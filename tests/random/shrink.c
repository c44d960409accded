/* On the syntax tree: each expression is replaced by one of its own parts, or
 * by a number, as long as the operator still goes wrong. */
#include "config.h"

#include "tests/random/shrink.h"

#include <string.h>

enum { MOST_TRIES = 3000 };

typedef struct shrinker {
	arena *arena;
	random_operator best;
	ast_module *module; /* of best.text, which is changed in place */
	ast_op *op;	    /* in it */
	shows *test;
	const void *context;
	int tries;
} shrinker;

static bool parse(shrinker *s)
{
	arena *a = s->arena;
	tdl_modules *m = dsl_new(a, diag_sink_new(a), NULL, 0);
	s->module = dsl_parse(m, "random.tdl", s->best.text,
			      strlen(s->best.text));
	for (int i = 0; s->module && i < s->module->ndefs; i++) {
		s->op = s->module->defs[i].op;
		if (s->op && !strcmp(s->op->name, "f"))
			return true;
	}
	return false;
}

/* Whether the tree as it is now shows it, too; then it is the best. */
static bool accepts(shrinker *s)
{
	if (s->tries++ > MOST_TRIES)
		return false;
	random_operator o = s->best;
	o.text = dsl_format(s->arena, s->module);
	if (strlen(o.text) > strlen(s->best.text) ||
	    !strcmp(o.text, s->best.text) || !s->test(&o, s->context))
		return false;
	s->best = o;
	return true;
}

/* ---- expressions -------------------------------------------------------- */

static bool shrink_expr(shrinker *s, ast_expr *e);

/* e as one of the expressions below it. */
static bool try_parts(shrinker *s, ast_expr *e)
{
	const ast_expr whole = *e;
	for (int i = 0; i < whole.nargs; i++) {
		const ast_expr *part = whole.args[i];
		if (part->kind == AST_LAMBDA)
			part = part->args[0];
		if (part->kind == AST_PACK || part->kind == AST_LIST)
			continue;
		*e = *part;
		e->parens = true;
		if (accepts(s))
			return true;
	}
	*e = whole;
	return false;
}

static bool try_numbers(shrinker *s, ast_expr *e)
{
	const ast_expr whole = *e;
	bool leaf = e->kind == AST_INT || e->kind == AST_BOOL;
	for (int i = 0; i < 4 && !leaf; i++) {
		*e = (ast_expr){ .kind = i < 2 ? AST_INT : AST_BOOL,
				 .i = i % 2, .at = whole.at };
		if (accepts(s))
			return true;
	}
	*e = whole;
	return false;
}

static bool shrink_expr(shrinker *s, ast_expr *e)
{
	bool any = false;
	if (e->kind == AST_SLICE || e->kind == AST_STRING)
		return false;
	if (e->kind == AST_PACK)
		return e->pack->kind == PACK_CALL &&
		       shrink_expr(s, e->pack->sel->args[0]);
	bool is_value = e->kind != AST_LAMBDA && e->kind != AST_LIST;
	while (is_value && try_parts(s, e))
		any = true;
	any |= is_value && try_numbers(s, e);
	for (int i = e->kind == AST_INDEX; i < e->nargs; i++)
		any |= shrink_expr(s, e->args[i]);
	return any;
}

/* ---- definitions -------------------------------------------------------- */

#define WITHOUT(list, n, i)                                             \
	memmove(&(list)[i], &(list)[(i) + 1],                           \
		(size_t)((n) - (i) - 1) * sizeof(*(list)))

/* Takes away results, lets, attributes and parameters, one after the other. */
static bool drop_one(shrinker *s, int which, int i)
{
	ast_op old = *s->op, *op = s->op;
	arena *a = s->arena;
	if (which == 0 && op->nresults > 1 && i < op->nresults) {
		op->results = ARENA_COPY(a, op->results, op->nresults);
		op->bodies = ARENA_COPY(a, op->bodies, op->nresults);
		WITHOUT(op->results, op->nresults, i);
		WITHOUT(op->bodies, op->nresults, i);
		op->nbodies = --op->nresults;
	} else if (which == 1 && i < op->nlets) {
		op->lets = ARENA_COPY(a, op->lets, op->nlets);
		WITHOUT(op->lets, op->nlets, i);
		op->nlets--;
	} else if (which == 2 && i < op->nattrs) {
		op->attrs = ARENA_COPY(a, op->attrs, op->nattrs);
		WITHOUT(op->attrs, op->nattrs, i);
		op->nattrs--;
	} else if (which == 3 && i < op->nparams) {
		op->params = ARENA_COPY(a, op->params, op->nparams);
		WITHOUT(op->params, op->nparams, i);
		op->nparams--;
	} else {
		return false;
	}
	if (accepts(s))
		return true;
	*op = old;
	return false;
}

/* The helpers before the operator. */
static bool drop_helpers(shrinker *s)
{
	bool any = false;
	for (int i = s->module->ndefs - 2; i >= 0; i--) {
		ast_def *old = s->module->defs;
		int n = s->module->ndefs;
		s->module->defs = ARENA_COPY(s->arena, old, n);
		WITHOUT(s->module->defs, n, i);
		s->module->ndefs--;
		if (accepts(s)) {
			any = true;
			continue;
		}
		s->module->defs = old;
		s->module->ndefs = n;
	}
	return any;
}

/* ---- shapes ------------------------------------------------------------- */

/* All extents of one value become another, so that sizes stay equal. */
static bool shrink_extents(shrinker *s)
{
	for (int64_t from = 9; from > 0; from--) {
		for (int64_t to = 0; to < from; to++) {
			random_operator o = s->best;
			bool any = false;
			for (int i = 0; i < o.nparams; i++)
				for (int d = 0; d < o.params[i].ndim; d++) {
					int64_t *n = &o.params[i].dims[d];
					any |= *n == from;
					*n = *n == from ? to : *n;
				}
			if (!any || s->tries++ > MOST_TRIES ||
			    !s->test(&o, s->context))
				continue;
			s->best = o;
			return true;
		}
	}
	return false;
}

/* ---- all of it ---------------------------------------------------------- */

random_operator shrink(arena *a, const random_operator *o, shows *test,
		       const void *context)
{
	shrinker s = { .arena = a, .best = *o, .test = test,
		       .context = context };
	for (bool any = true; any && s.tries < MOST_TRIES;) {
		any = false;
		if (!parse(&s))
			break;
		any |= drop_helpers(&s);
		for (int which = 0; which < 4; which++)
			for (int i = 64; i-- > 0;)
				any |= drop_one(&s, which, i);
		for (int i = 0; i < s.op->nlets; i++)
			any |= shrink_expr(&s, s.op->lets[i].value);
		for (int i = 0; i < s.op->nbodies; i++)
			any |= shrink_expr(&s, s.op->bodies[i]);
		any |= shrink_extents(&s);
	}
	return s.best;
}
