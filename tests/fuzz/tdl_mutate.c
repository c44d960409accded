/* Mutations that mostly keep a text valid TDL: an expression is replaced by
 * another one of the text, of another text or of the library, or wrapped in a
 * pattern; definitions and statements are inserted and deleted.  A text that
 * does not parse has the mutations of tokens.h only. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "dsl/parse.h"
#include "tests/fuzz/tokens.h"

enum { MAX_DONOR = 300 }; /* bytes of an inserted part */

/* The parts of a text that may be exchanged. */
typedef struct tree {
	span text;
	span_vec exprs, defs, stmts, lets;
} tree;

/* ---- the parts of a text ------------------------------------------------ */

typedef struct collector {
	arena *a;
	tree *to;
	uint32_t base;
} collector;

static void add(collector *c, span_vec *to, range at)
{
	if (at.beg < c->base || at.end <= at.beg ||
	    at.end - c->base > (uint32_t)c->to->text.n)
		return;
	span s = { c->to->text.at + (at.beg - c->base),
		   (int)(at.end - at.beg) };
	vec_push(c->a, to, s);
}

static void add_expr(collector *c, const ast_expr *e)
{
	if (!e)
		return;
	add(c, &c->to->exprs, e->at);
	for (int i = 0; i < e->nargs; i++)
		add_expr(c, e->args[i]);
	for (int i = 0; i < e->nnamed; i++)
		add_expr(c, e->named[i].value);
	for (int i = 0; i < e->nvars; i++)
		add_expr(c, e->vars[i].extent);
	if (e->pack)
		add_expr(c, e->pack->sel);
}

static void add_stmts(collector *c, ast_stmt *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		const ast_stmt *s = list[i];
		add(c, &c->to->stmts, s->at);
		add_expr(c, s->value);
		for (int j = 0; j < s->ntargets; j++)
			add_expr(c, s->targets[j]);
		for (int j = 0; j < s->nvalues; j++)
			add_expr(c, s->values[j]);
		add_stmts(c, s->body, s->nbody);
		add_stmts(c, s->other, s->nother);
	}
}

static void add_tensors(collector *c, const ast_tensor *list, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < list[i].ndims; j++)
			add_expr(c, list[i].dims[j]);
}

static void add_def(collector *c, const ast_def *d)
{
	add(c, &c->to->defs, d->at);
	if (d->kind == DEF_ONNX)
		add_stmts(c, d->onnx->body, d->onnx->nbody);
	if (d->kind == DEF_BLOCK)
		add_stmts(c, d->block->body, d->block->nbody);
	if (d->kind == DEF_MODEL)
		add_stmts(c, d->model->body, d->model->nbody);
	if (d->kind != DEF_OP)
		return;
	add_tensors(c, d->op->params, d->op->nparams);
	add_tensors(c, d->op->results, d->op->nresults);
	for (int i = 0; i < d->op->nattrs; i++)
		add_expr(c, d->op->attrs[i].init);
	for (int i = 0; i < d->op->nlets; i++) {
		add(c, &c->to->lets, d->op->lets[i].at);
		add_expr(c, d->op->lets[i].value);
	}
	for (int i = 0; i < d->op->nbodies; i++)
		add_expr(c, d->op->bodies[i]);
}

/* The parts of a text; none if it does not parse. */
static tree tree_of(arena *a, span text)
{
	tree t = { .text = text };
	tdl_modules *m = dsl_new(a, diag_sink_new(a), NULL, 0);
	ast_module *module = parse_source(m, "mutator", text.at,
					  (size_t)text.n, NULL);
	collector c = { a, &t, module ? module->base : 0 };
	for (int i = 0; module && i < module->ndefs; i++)
		add_def(&c, &module->defs[i]);
	return t;
}

/* ---- the library -------------------------------------------------------- */

/* Parts of all files of the operator library, read once. */
static const tree *library(void)
{
	static arena *a;
	static tree all;
	if (a)
		return &all;
	a = arena_new();
	tdl_modules *m = fuzz_library(a);
	for (int i = 0; i < m->nmodules; i++) {
		const ast_module *from = m->modules[i];
		all.text = (span){ from->text, (int)from->len };
		collector c = { a, &all, from->base };
		for (int j = 0; j < from->ndefs; j++)
			add_def(&c, &from->defs[j]);
	}
	return &all;
}

/* ---- changes ------------------------------------------------------------ */

typedef struct change {
	arena *a;
	fuzz_random *r;
	const tree *own;
	const tree *donor; /* own, the library, or another input */
} change;

static const span *pick(fuzz_random *r, const span_vec *v)
{
	return v->n ? &v->at[fuzz_below(r, v->n)] : NULL;
}

/* A short part; NULL where none was found in a few attempts. */
static const span *pick_short(fuzz_random *r, const span_vec *v)
{
	for (int i = 0; i < 8; i++) {
		const span *s = pick(r, v);
		if (s && s->n <= MAX_DONOR)
			return s;
	}
	return NULL;
}

/* own with `at` replaced. */
static span replace(const change *c, const span *at, span by)
{
	int beg = (int)(at->at - c->own->text.at);
	return text_replace(c->a, c->own->text, beg, beg + at->n, by);
}

static span exchange(const change *c, const span_vec *own,
		     const span_vec *donor)
{
	const span *at = pick(c->r, own), *by = pick_short(c->r, donor);
	return at && by ? replace(c, at, *by) : c->own->text;
}

static span insert_after(const change *c, const span_vec *own,
			 const span_vec *donor)
{
	const span *at = pick(c->r, own), *by = pick_short(c->r, donor);
	if (!at || !by)
		return c->own->text;
	char *s = arena_printf(c->a, "%.*s\n%.*s", at->n, at->at, by->n,
			       by->at);
	return replace(c, at, (span){ s, (int)strlen(s) });
}

static span delete_one(const change *c, const span_vec *own)
{
	const span *at = pick(c->r, own);
	return at ? replace(c, at, (span){ "", 0 }) : c->own->text;
}

/* Patterns with %1 for an expression, and %2 for another. */
static span wrap(const change *c)
{
	static const char *const patterns[] = {
		"(%1)", "-%1", "not %1", "(%1 else 0)", "(%1 else -inf)",
		"(%1 else %2)", "%1 + %2", "%1 - %2", "%1 * %2", "%1 / %2",
		"%1 % %2", "if %1 < %2 then %1 else %2", "if %1 then %2 else 0",
		"%1 < %2", "%1 == %2", "%1 and %2", "cast(%1, f32)",
		"cast(%1, i64)", "exp(%1)", "min(%1, %2)", "max(%1, %2, 0)",
		"abs(%1)", "select(%1, %2, 0)", "sqrt(%1)", "len(%1)",
		"Sum(lambda z < 3: %1)", "Max(lambda z < %2: %1)",
		"ArgMax(lambda z < 4: %1)", "Prod(lambda ..d: %1)",
		"Mean(lambda z < N: %1)", "And(lambda z < 2: %1)",
		"lambda z: %1", "lambda ..d: %1", "%1[%2]", "%1[:, %2]",
		"[%1, %2]", "%1/2", "2*%1", "%1 + 1", "%1 - 1", "%1 % 3",
		"..(d \\ %1)", "..(d & %1)", "..d[%1]", "..unravel(%1)",
		"ravel(..d)", "isnan(%1)", "pow(%1, %2)", "bit_and(%1, %2)",
	};
	const int n = sizeof(patterns) / sizeof(*patterns);
	const span *x = pick(c->r, &c->own->exprs);
	const span *y = pick_short(c->r, &c->own->exprs);
	const char *p = patterns[fuzz_below(c->r, n)];
	VEC(char) out = { 0 };
	if (!x || x->n > 4 * MAX_DONOR)
		return c->own->text;
	for (; *p; p++) {
		const span *s = p[0] != '%' ? NULL : p[1] == '1' ? x :
				p[1] == '2' ? y : NULL;
		for (int i = 0; s && i < s->n; i++)
			vec_push(c->a, &out, s->at[i]);
		if (s || (*p == '%' && p[1] == '2'))
			p++;
		else
			vec_push(c->a, &out, *p);
	}
	return replace(c, x, (span){ out.at, out.n });
}

/* One mutation of a text that parses. */
static span mutate_tree(const change *c)
{
	switch (fuzz_below(c->r, 12)) {
	case 0: case 1: case 2: case 3:
		return exchange(c, &c->own->exprs, &c->donor->exprs);
	case 4: case 5: case 6:
		return wrap(c);
	case 7:
		return insert_after(c, &c->own->defs, &c->donor->defs);
	case 8:
		return fuzz_below(c->r, 2) ?
			       delete_one(c, &c->own->defs) :
			       delete_one(c, &c->own->stmts);
	case 9:
		return fuzz_below(c->r, 2) ?
			       exchange(c, &c->own->stmts, &c->donor->stmts) :
			       insert_after(c, &c->own->stmts,
					    &c->donor->stmts);
	case 10:
		return fuzz_below(c->r, 2) ?
			       insert_after(c, &c->own->lets, &c->donor->lets) :
			       delete_one(c, &c->own->lets);
	default:
		return exchange(c, &c->own->defs, &c->donor->defs);
	}
}

static size_t give(span text, uint8_t *out, size_t max)
{
	size_t n = (size_t)text.n < max ? (size_t)text.n : max;
	memcpy(out, text.at, n);
	return n;
}

static span copy(arena *a, const uint8_t *data, size_t size)
{
	return (span){ arena_strndup(a, (const char *)data, size), (int)size };
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	if (size == 0 || fuzz_below(&r, 24) == 0)
		return LLVMFuzzerMutate(data, size, max);
	arena *a = arena_new();
	span text = copy(a, data, size);
	for (int n = 1 + fuzz_below(&r, 3); n > 0; n--) {
		tree own = tree_of(a, text);
		const change c = { a, &r, &own,
				   fuzz_below(&r, 2) ? library() : &own };
		text = own.exprs.n && fuzz_below(&r, 3) ?
			       mutate_tree(&c) : tokens_mutate(a, &r, text);
	}
	size = give(text, data, max);
	arena_free(a);
	return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
				 const uint8_t *data2, size_t size2,
				 uint8_t *out, size_t max, unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	arena *a = arena_new();
	tree own = tree_of(a, copy(a, data1, size1));
	tree donor = tree_of(a, copy(a, data2, size2));
	const change c = { a, &r, &own, &donor };
	span text = fuzz_below(&r, 2) ?
			    exchange(&c, &own.exprs, &donor.exprs) :
			    insert_after(&c, &own.defs, &donor.defs);
	size_t n = give(text, out, max);
	arena_free(a);
	return n;
}
