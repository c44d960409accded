/* Lambdas and reductions as stages, one to one as compiler/expand makes
 * them. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- collecting --------------------------------------------------------- */

void sym_collect(build *b, collector *c)
{
	*c = (collector){ .outer = b->into };
	b->into = c;
}

void sym_collected(build *b, collector *c, const int *own, int nown)
{
	b->into = c->outer;
	for (int i = 0; i < c->touched.n; i++) {
		bool mine = false;
		for (int j = 0; j < nown; j++)
			mine |= c->touched.at[i] == own[j];
		if (!mine)
			sym_touch(b, c->touched.at[i]);
	}
	if (c->open_because && b->into)
		sym_open(b, c->open_because);
}

static int ascending(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

int sym_outer_vars(build *b, const collector *c, const int *own, int nown,
		   int *out)
{
	int n = 0;
	for (int i = 0; i < c->touched.n; i++) {
		bool mine = false;
		for (int j = 0; j < nown; j++)
			mine |= c->touched.at[i] == own[j];
		if (!mine && n == SYM_MAX_DIMS)
			b->failed = true;
		else if (!mine)
			out[n++] = c->touched.at[i];
	}
	qsort(out, (size_t)n, sizeof(*out), ascending);
	return n;
}

/* ---- stages ------------------------------------------------------------- */

static const char *join(arena *a, const char *prefix, const char *label)
{
	if (!*prefix || !*label)
		return *label ? label : prefix;
	return arena_printf(a, "%s.%s", prefix, label);
}

int sym_add_tensor(build *b, sym_tensor t)
{
	vec_push(b->arena, &b->tensors, t);
	return b->tensors.n - 1;
}

/* Notes the pack whose two parts the variables are, if they are. */
static void note_parts(build *b, sym_tensor *t, const int *outs)
{
	for (int i = 0; i < b->frame->packs.n && t->ndims == 2; i++) {
		const spack *p = b->frame->packs.at[i];
		if (p->selector && p->var[0] == outs[0] &&
		    p->var[1] == outs[1]) {
			t->parts = p->selector;
			t->parts_in = p->selector_in;
		}
	}
}

/* Notes the tensors in which the result is linear, and the dimensions that it
 * sums over. */
static void note_linear(build *b, sym_stage *s, sval body, const collector *c)
{
	s->linear = ARENA_ARRAY(b->arena, int, c->slots.n);
	s->lookups = ARENA_ARRAY(b->arena, sym_lookup, c->slots.n);
	if (s->reducer != RED_NONE && s->reducer != RED_SUM)
		return;
	for (int i = 0; i < c->slots.n && i < SYM_MAX_SLOTS; i++) {
		slot x = c->slots.at[i];
		if (!(body.whole.slots.linear >> i & 1))
			continue;
		if (x.dim == SLOT_WHOLE)
			s->linear[s->nlinear++] = x.tensor;
		else if (x.dim >= 0 && sym_adds(body.is.types))
			s->lookups[s->nlookups++] =
				(sym_lookup){ x.tensor, x.dim };
	}
}

static type_set floats(void)
{
	return types_where(dtype_keeps_sums);
}

static type_set types_of_stage(reducer r, const sval *body)
{
	if (reducer_is_logic(r))
		return type_only(DT_BOOL);
	if (reducer_is_where(r))
		return type_only(DT_I64);
	return body->is.types ? body->is.types : floats();
}

static bool is_any(dtype t)
{
	(void)t;
	return true;
}

/* The element types that an attribute may name.  An attribute known only with a
 * call counts as a float type, unless its default is none. */
static type_set types_of_attr(const frame *f, const ast_symbol *s)
{
	const sattr *attr = sym_find_attr(f, s);
	const ast_expr *e = !attr	 ? NULL
			    : attr->value ? attr->value
					  : attr->decl->init;
	if (!e || !e->type)
		return floats();
	if (e->type->kind == TYPE_NAMED)
		return types_of_attr(attr->env, e->type->symbol);
	type_set said = type_only(e->type->exact);
	if (attr->value)
		return said;
	return said & floats() ? floats() : types_where(is_any);
}

type_set sym_declared_types(const build *b, const ast_type *t)
{
	switch (t->kind) {
	case TYPE_EXACT:
		return type_only(t->exact);
	case TYPE_INT:
		return types_where(dtype_is_int);
	case TYPE_NAMED:
		return types_of_attr(b->frame, t->symbol);
	default:
		return floats();
	}
}

int sym_add_stage(build *b, const char *label, const int *outs, int nouts,
		  const int *reds, int nreds, reducer r, sval body,
		  const collector *c)
{
	if (b->stages.n >= SYM_MAX_STAGES) {
		b->failed = true;
		return -1;
	}
	sym_stage *s = ARENA_NEW(b->arena, sym_stage);
	s->label = join(b->arena, b->frame->label, label);
	s->nout = nouts;
	s->nvars = nouts + nreds;
	s->vars = ARENA_ARRAY(b->arena, sym_var, s->nvars);
	for (int i = 0; i < s->nvars; i++) {
		s->vars[i] = b->vars.at[i < nouts ? outs[i] : reds[i - nouts]];
		s->vars[i].kind = i < nouts ? KVAR_OUTPUT : KVAR_REDUCE;
	}
	s->reducer = r;
	s->nreads = c->reads.n;
	s->reads = c->reads.at;
	s->open_because = c->open_because;
	s->conditional = c->conditional || b->conditions.n > 0;
	s->flops = body.flops + (r != RED_NONE);
	s->nfactors = body.nfactors;
	note_linear(b, s, body, c);
	sym_tensor t = { .name = *s->label ? s->label : b->frame->op->name,
			 .types = types_of_stage(r, &body), .ndims = nouts,
			 .stage = b->stages.n };
	t.dims = ARENA_ARRAY(b->arena, sym_dim, nouts);
	for (int i = 0; i < nouts; i++)
		t.dims[i] = s->vars[i].extent;
	sym_note_passing(b, s, body, c, t.types);
	note_parts(b, &t, outs);
	vec_push(b->arena, &b->stages, s);
	s->result = sym_add_tensor(b, t);
	return s->result;
}

/* ---- reductions --------------------------------------------------------- */

/* Whether e is a reduction by a reducer that kernels have. */
static bool is_by(const ast_expr *e, reducer r)
{
	const reducer_facts *by = ast_reducer(e);
	return by && !by->averages && by->kernel == r;
}

typedef struct reduction {
	reducer reducer;
	int nvars, vars[SYM_MAX_DIMS];
	sval body;
} reduction;

/* Walks a reduction.  Sum(lambda a: Sum(lambda b: e)) counts as one over a and
 * b. */
static bool walk_reduction(build *b, const ast_expr *e, reduction *out)
{
	const ast_expr *body = e;
	out->reducer = ast_reducer(e)->kernel;
	out->nvars = 0;
	bool arg = reducer_is_where(out->reducer);
	do {
		int vars[SYM_MAX_DIMS];
		int n = sym_bind_vars(b, body->args[0], NULL, NULL, vars);
		if (n < 0 || out->nvars + n > SYM_MAX_DIMS)
			return false;
		memcpy(out->vars + out->nvars, vars, (size_t)n * sizeof(*vars));
		out->nvars += n;
		body = body->args[0]->args[0];
	} while (!arg && is_by(body, out->reducer));
	out->body = sym_scalar(b, body);
	return !b->failed;
}

sym_read *sym_read_of_stage(build *b, int tensor, const int *vars, int n,
			    range at)
{
	sym_read *r = ARENA_NEW(b->arena, sym_read);
	*r = (sym_read){ .tensor = tensor, .at = at, .n = n,
			 .inlined = b->frame->depth > 0, .vague = b->vague,
			 .npaths = b->npaths, .paths = b->paths };
	r->index = ARENA_ARRAY(b->arena, sym_index, SYM_MAX_DIMS);
	for (int i = 0; i < n; i++) {
		const sym_var *v = &b->vars.at[vars[i]];
		r->index[i] = (sym_index){ .at = poly_of(b->arena, v->atom),
					   .pack = v->extent.pack,
					   .place = at };
	}
	return r;
}

sval sym_plain_read(build *b, int tensor, const int *vars, int n, range at)
{
	if (!b->into)
		return (sval){ .data = true, .varies = true, .nfactors = 1 };
	read_begin begin = sym_begin_read(b);
	return sym_end_read(b, &begin,
			    sym_read_of_stage(b, tensor, vars, n, at),
			    &(sval){ 0 }, NULL);
}

sval sym_reduction(build *b, const ast_expr *e)
{
	const reducer_facts *by = ast_reducer(e);
	sym_scope s = sym_push_scope(b);
	collector c;
	reduction red;
	int outs[SYM_MAX_DIMS];
	sym_collect(b, &c);
	bool ok = walk_reduction(b, e, &red);
	sym_add_conditions(b, &red.body);
	sym_collected(b, &c, red.vars, red.nvars);
	sym_pop_scope(b, s);
	if (!ok) {
		sym_open(b, "one of its reductions is not understood");
		return (sval){ .data = true, .varies = true, .nfactors = -1 };
	}
	int nouts = sym_outer_vars(b, &c, red.vars, red.nvars, outs);
	char *label = arena_printf(b->arena, "%s%d", e->name, ++b->nextracted);
	label[0] = (char)tolower((unsigned char)label[0]);
	int tensor = sym_add_stage(b, label, outs, nouts, red.vars, red.nvars,
				   by->kernel, red.body, &c);
	if (tensor < 0)
		return (sval){ .data = true, .varies = true, .nfactors = -1 };
	sval v = sym_plain_read(b, tensor, outs, nouts, e->at);
	if (by->averages) {
		v.flops++; /* a Mean is a Sum and one division */
		v.read = NULL;
	}
	return v;
}

/* ---- lambdas ------------------------------------------------------------ */

/* ..d and ..d[perm] have the same extents, but in another order. */
bool sym_same_dim(const sym_dim *x, const sym_dim *y)
{
	return poly_equal(x->extent, y->extent) &&
	       (!x->pack || !strcmp(x->text, y->text));
}

/* The tensor of which the body is an unchanged element, read at the result's
 * own index; -1 if it is not. */
static int identity_read(const build *b, sval v, const int *outs, int nouts)
{
	const sym_read *r = v.read;
	if (!r || r->open || r->n != nouts)
		return -1;
	const sym_tensor *t = &b->tensors.at[r->tensor];
	for (int i = 0; i < nouts; i++) {
		const sym_var *var = &b->vars.at[outs[i]];
		const poly *at = r->index[i].at;
		if (!poly_equal(at, poly_of(b->arena, var->atom)) ||
		    !sym_same_dim(&t->dims[i], &var->extent))
			return -1;
	}
	return r->tensor;
}

/* Whether the body is nothing but a gather, which already has a stage of its
 * own. */
static bool is_one_read(const collector *c, sval body)
{
	return c->gathers.n > 0 && body.read == c->gathers.at[0].read;
}

static int stage_of_lambda(build *b, const ast_expr *lambda, const int *outs,
			   int nouts, const char *label)
{
	const ast_expr *body = lambda->args[0];
	const reducer_facts *by = ast_reducer(body);
	collector c;
	sym_collect(b, &c);
	if (by && !by->averages) {
		reduction red;
		bool ok = walk_reduction(b, body, &red);
		b->into = c.outer;
		return !ok ? -1
			   : sym_add_stage(b, label, outs, nouts, red.vars,
					   red.nvars, red.reducer, red.body,
					   &c);
	}
	int nstages = b->stages.n;
	sval v = sym_scalar(b, body);
	b->into = c.outer;
	int same = identity_read(b, v, outs, nouts);
	if (same < 0 && !sym_is_derived(&c, v) && !is_one_read(&c, v))
		sym_extract_gathers(b, &c, &v);
	if (same < 0)
		return b->failed ? -1
				 : sym_add_stage(b, label, outs, nouts, NULL,
						 0, RED_NONE, v, &c);
	int stage = b->tensors.at[same].stage;
	if (stage >= nstages) {
		b->stages.at[stage]->label =
			join(b->arena, b->frame->label, label);
		b->tensors.at[same].name = b->stages.at[stage]->label;
	}
	return same;
}

int sym_lambda(build *b, const ast_expr *lambda, const dim_list *given,
	       const char *result, const char *label)
{
	sym_scope s = sym_push_scope(b);
	int outs[SYM_MAX_DIMS];
	int n = sym_bind_vars(b, lambda, given, result, outs);
	int tensor = n < 0 ? -1 : stage_of_lambda(b, lambda, outs, n, label);
	sym_pop_scope(b, s);
	return tensor;
}
