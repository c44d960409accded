/* Lambdas, reductions and opaque calls as stages: as compiler/expand makes
 * them, one to one. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- scopes ------------------------------------------------------------- */

typedef struct scope {
	int nnames, nundo;
} scope;

static scope scope_push(const build *b)
{
	return (scope){ b->frame->names.n, b->undo.n };
}

static void scope_pop(build *b, scope s)
{
	b->frame->names.n = s.nnames;
	while (b->undo.n > s.nundo) {
		undo u = b->undo.at[--b->undo.n];
		u.pack->var[u.dim] = u.var;
	}
}

static int add_var(build *b, sym_var v)
{
	v.atom = poly_new_atom(b->space, ATOM_VAR, v.name, 0);
	if (v.atom < 0)
		b->failed = true;
	else
		b->space->atoms[v.atom].max =
			poly_shift(b->arena, v.extent.extent, -1);
	vec_push(b->arena, &b->vars, v);
	return b->vars.n - 1;
}

/* "the output declares 'x' to run over X elements" */
static const char *declared_by(build *b, const char *result, const char *name,
			       const sym_dim *d)
{
	return arena_printf(b->arena,
			    "%s declares '%s' to run over %s elements",
			    result ? result : "the output", name, d->text);
}

static int bind_pack(build *b, const ast_var *v, const dim_list *given, int at,
		     const char *result, int *vars)
{
	sym_dim dims[SYM_MAX_DIMS];
	int old[SYM_MAX_DIMS];
	int n = sym_pack_items(b, v->pack, dims, old);
	if (n < 0 || (given && at + n > given->n))
		return -1;
	spack *p = sym_find_pack(b, v->pack->name);
	for (int i = 0; i < n; i++) {
		const char *name = dims[i].pack
					   ? p->dims.dims[0].text
					   : NULL;
		int which = -1;
		for (int j = 0; j < p->dims.n && which < 0; j++)
			if (poly_equal(p->dims.dims[j].extent,
				       dims[i].extent) &&
			    p->var[j] == old[i])
				which = j;
		if (which < 0)
			return -1;
		name = dims[i].pack ? p->dims.dims[which].text
				    : arena_printf(b->arena, "%s.%d", p->name,
						   which);
		sym_var var = { .name = name, .kind = KVAR_OUTPUT,
				.extent = p->dims.dims[which],
				.at = given ? given->dims[at + i].at : v->at };
		var.extent.text = given ? given->dims[at + i].text
					: dims[i].text;
		var.declared = declared_by(b, given ? result : "the pack",
					   name, &var.extent);
		vars[i] = add_var(b, var);
		vec_push(b->arena, &b->undo,
			 ((undo){ p, which, p->var[which] }));
		p->var[which] = vars[i];
	}
	return n;
}

/* i < EXTENT; what is computed in some other way is like an attribute. */
static sym_dim written_extent(build *b, const ast_var *v)
{
	const poly *p = sym_scalar(b, v->extent).p;
	const char *text = dsl_expr_text(b->arena, v->extent);
	if (!p)
		p = poly_of(b->arena,
			    poly_new_atom(b->space, ATOM_ATTR, text, 0));
	return (sym_dim){ .extent = p, .at = v->extent->at,
			  .text = poly_text(b->arena, b->space, p) };
}

static bool bind_name(build *b, const ast_expr *lambda, const ast_var *v,
		      const sym_dim *given, const char *result, int *out)
{
	sym_var var = { .name = v->name, .kind = KVAR_OUTPUT, .at = v->at };
	if (given && v->extent) {
		sym_dim written = written_extent(b, v);
		sym_compare_extents(b, v->name, &written, written.at, given,
				    given->at);
	}
	if (given) {
		var.extent = *given;
		var.extent.at = v->at;
		var.at = given->at;
		var.declared = declared_by(b, result, v->name, given);
	} else if (v->extent) {
		var.extent = written_extent(b, v);
		var.declared = arena_printf(b->arena, "'%s' runs over %s "
					    "elements", v->name,
					    var.extent.text);
	} else if (!sym_infer_extent(b, lambda, v, &var)) {
		return false;
	}
	*out = add_var(b, var);
	if (b->failed)
		return false;
	vec_push(b->arena, &b->frame->names,
		 ((sname){ .name = v->name, .kind = SN_VAR, .index = *out,
			   .p = poly_of(b->arena, b->vars.at[*out].atom) }));
	return true;
}

/* Binds the variables of a lambda.  Returns their number, -1 where that
 * failed. */
static int bind_vars(build *b, const ast_expr *lambda, const dim_list *given,
		     const char *result, int *vars)
{
	int n = 0;
	for (int i = 0; i < lambda->nvars; i++) {
		const ast_var *v = &lambda->vars[i];
		if (n >= SYM_MAX_DIMS || (given && !v->pack && n >= given->n))
			return -1;
		if (v->pack) {
			int count = bind_pack(b, v, given, n, result, vars + n);
			if (count < 0)
				return -1;
			n += count;
		} else if (!bind_name(b, lambda, v,
				      given ? &given->dims[n] : NULL, result,
				      &vars[n])) {
			return -1;
		} else {
			n++;
		}
	}
	return given && n != given->n ? -1 : n;
}

/* ---- collecting --------------------------------------------------------- */

static void collect(build *b, collector *c)
{
	*c = (collector){ .outer = b->into };
	b->into = c;
}

/* Ends a collection; what it touched, the one around touches, too. */
static void collected(build *b, collector *c, const int *own, int nown)
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

/* The pack whose two parts the variables are, if they are that. */
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

/* The tensors in which the result is linear; the dimensions that it sums
 * over. */
static void note_linear(build *b, sym_stage *s, sval body, const collector *c)
{
	s->linear = ARENA_ARRAY(b->arena, int, c->slots.n);
	s->lookups = ARENA_ARRAY(b->arena, sym_lookup, c->slots.n);
	if (s->reducer != RED_NONE && s->reducer != RED_SUM)
		return;
	for (int i = 0; i < c->slots.n && i < SYM_MAX_SLOTS; i++) {
		slot x = c->slots.at[i];
		if (!(body.whole.linear >> i & 1))
			continue;
		if (x.dim == SLOT_WHOLE)
			s->linear[s->nlinear++] = x.tensor;
		else if (x.dim >= 0 && body.type != ST_BOOL &&
			 body.type != ST_POWER)
			s->lookups[s->nlookups++] =
				(sym_lookup){ x.tensor, x.dim };
	}
}

static stype type_of_stage(reducer r, sval body)
{
	return r == RED_AND || r == RED_OR	   ? ST_BOOL
	       : r == RED_ARGMAX || r == RED_ARGMIN ? ST_INT
						    : body.type;
}

stype sym_declared_type(const ast_type *t)
{
	dtype exact = t->name ? dtype_parse(t->name) : DT_NONE;
	bool any = t->name && !strcmp(t->name, "int");
	return exact == DT_BOOL			     ? ST_BOOL
	       : any || (exact >= 0 && dtype_is_int(exact)) ? ST_INT
	       : exact == DT_F8E8M0		     ? ST_POWER
						     : ST_OPEN;
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
			 .type = type_of_stage(r, body), .ndims = nouts,
			 .stage = b->stages.n };
	t.dims = ARENA_ARRAY(b->arena, sym_dim, nouts);
	for (int i = 0; i < nouts; i++)
		t.dims[i] = s->vars[i].extent;
	sym_note_passing(b, s, body, c, t.type);
	note_parts(b, &t, outs);
	vec_push(b->arena, &b->stages, s);
	s->result = sym_add_tensor(b, t);
	return s->result;
}

/* ---- reductions --------------------------------------------------------- */

reducer sym_reducer(const ast_expr *e, bool *mean)
{
	*mean = false;
	if (e->kind != AST_CALL || e->nargs != 1 ||
	    e->args[0]->kind != AST_LAMBDA)
		return RED_NONE;
	*mean = !strcmp(e->name, "Mean");
	int r = *mean ? RED_SUM : reducer_parse(e->name);
	return r < 0 ? RED_NONE : (reducer)r;
}

typedef struct reduction {
	reducer reducer;
	int nvars, vars[SYM_MAX_DIMS];
	int nown; /* of them, those of the outermost lambda */
	sval body;
} reduction;

/* Sum(lambda a: Sum(lambda b: e)) is one of a and b. */
static bool walk_reduction(build *b, const ast_expr *e, reduction *out)
{
	bool mean;
	const ast_expr *body = e;
	out->reducer = sym_reducer(e, &mean);
	out->nvars = 0;
	bool arg = out->reducer == RED_ARGMAX || out->reducer == RED_ARGMIN;
	do {
		int vars[SYM_MAX_DIMS];
		int n = bind_vars(b, body->args[0], NULL, NULL, vars);
		if (n < 0 || out->nvars + n > SYM_MAX_DIMS)
			return false;
		memcpy(out->vars + out->nvars, vars, (size_t)n * sizeof(*vars));
		if (body == e)
			out->nown = n;
		out->nvars += n;
		body = body->args[0]->args[0];
	} while (!arg && sym_reducer(body, &mean) == out->reducer && !mean);
	out->body = sym_scalar(b, body);
	return !b->failed;
}

static sym_read *read_of_stage(build *b, int tensor, const int *vars, int n,
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

static sval plain_read(build *b, int tensor, const int *vars, int n, range at)
{
	if (!b->into)
		return (sval){ .data = true, .varies = true, .nfactors = 1 };
	read_begin begin = sym_begin_read(b);
	return sym_end_read(b, &begin,
			    read_of_stage(b, tensor, vars, n, at),
			    (sval){ 0 }, true);
}

/* A Mean is a Sum and a division; over no points it is not monotone. */
static sval divided_by_points(const build *b, sval v, const reduction *red)
{
	v.flops++;
	v.read = NULL;
	for (int i = 0; i < red->nown; i++) {
		int64_t n;
		const poly *extent = b->vars.at[red->vars[i]].extent.extent;
		if (!poly_is_constant(extent, &n) || n != 0)
			continue;
		memset(v.whole.monotone, 0, sizeof(v.whole.monotone));
		memset(v.apart.monotone, 0, sizeof(v.apart.monotone));
	}
	return v;
}

sval sym_reduction(build *b, const ast_expr *e)
{
	bool mean;
	reducer r = sym_reducer(e, &mean);
	scope s = scope_push(b);
	collector c;
	reduction red;
	int outs[SYM_MAX_DIMS];
	collect(b, &c);
	bool ok = walk_reduction(b, e, &red);
	sym_add_conditions(b, &red.body);
	collected(b, &c, red.vars, red.nvars);
	scope_pop(b, s);
	if (!ok) {
		sym_open(b, "one of its reductions is not understood");
		return (sval){ .data = true, .varies = true, .nfactors = -1 };
	}
	int nouts = sym_outer_vars(b, &c, red.vars, red.nvars, outs);
	char *label = arena_printf(b->arena, "%s%d", e->name, ++b->nextracted);
	label[0] = (char)tolower((unsigned char)label[0]);
	int tensor = sym_add_stage(b, label, outs, nouts, red.vars, red.nvars,
				   r, red.body, &c);
	if (tensor < 0)
		return (sval){ .data = true, .varies = true, .nfactors = -1 };
	sval v = plain_read(b, tensor, outs, nouts, e->at);
	if (mean)
		v = divided_by_points(b, v, &red);
	return v;
}

/* ---- lambdas ------------------------------------------------------------ */

/* ..d and ..d[perm] have the same extents, but not in the same order. */
bool sym_same_dim(const sym_dim *x, const sym_dim *y)
{
	return poly_equal(x->extent, y->extent) &&
	       (!x->pack || !strcmp(x->text, y->text));
}

/* The tensor that a body is if it is all of it, at the same index; -1. */
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

/* A body that is nothing but a gather is in a stage of its own already. */
static bool is_one_read(const collector *c, sval body)
{
	return c->gathers.n > 0 && body.read == c->gathers.at[0].read;
}

static int stage_of_lambda(build *b, const ast_expr *lambda, const int *outs,
			   int nouts, const char *label)
{
	const ast_expr *body = lambda->args[0];
	bool mean;
	collector c;
	collect(b, &c);
	if (sym_reducer(body, &mean) != RED_NONE && !mean) {
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
	scope s = scope_push(b);
	int outs[SYM_MAX_DIMS];
	int n = bind_vars(b, lambda, given, result, outs);
	int tensor = n < 0 ? -1 : stage_of_lambda(b, lambda, outs, n, label);
	scope_pop(b, s);
	return tensor;
}

/* ---- opaque functions --------------------------------------------------- */

const ast_opaque *sym_opaque_of(const build *b, const ast_expr *e)
{
	return e->kind == AST_CALL ? strmap_get(b->modules->opaques, e->name)
				   : NULL;
}

/* The tensor that an argument of an opaque call slices; -1. */
static const sname *sliced_name(build *b, const ast_expr *arg)
{
	const ast_expr *base = arg->kind == AST_INDEX ? arg->args[0] : arg;
	const sname *n = base->kind == AST_NAME ? sym_find(b, base->name)
						: NULL;
	return n && n->kind == SN_TENSOR ? n : NULL;
}

static int sliced(build *b, const ast_expr *arg)
{
	const sname *n = sliced_name(b, arg);
	return n ? n->index : -1;
}

/* The dimensions of the tensor that the slice keeps; false if they follow only
 * from shapes. */
static bool kept_dims(build *b, const ast_expr *arg, int tensor, dim_list *out)
{
	const sym_tensor *t = &b->tensors.at[tensor];
	int at = 0;
	out->n = 0;
	if (arg->kind == AST_NAME && t->ndims <= SYM_MAX_DIMS) {
		out->n = t->ndims;
		memcpy(out->dims, t->dims,
		       (size_t)t->ndims * sizeof(*t->dims));
		return true;
	}
	for (int i = 1; i < arg->nargs; i++) {
		const ast_expr *item = arg->args[i];
		int n = item->kind == AST_PACK
				? sym_pack_items(b, item->pack, NULL, NULL)
				: 1;
		if (n < 0 || at + n > t->ndims)
			return false;
		if (item->kind == AST_SLICE && out->n < SYM_MAX_DIMS)
			out->dims[out->n++] = t->dims[at];
		at += n;
	}
	return at == t->ndims;
}

static const poly *bound_size(const frame *f, const char *name)
{
	for (int i = 0; i < f->names.n; i++)
		if (f->names.at[i].name == name)
			return f->names.at[i].p;
	return NULL;
}

/* The value of an attribute in a call, or its default; NULL if neither. */
static const ast_expr *given_value(const ast_expr *call, const ast_attr *a)
{
	for (int i = 0; i < call->nnamed; i++)
		if (call->named[i].name == a->name)
			return call->named[i].value;
	return a->init;
}

/* The whole numbers among an opaque call's attributes, which may be extents of
 * its result. */
static void bind_numbers(build *b, const ast_expr *call, const ast_opaque *f,
			 frame *sizes)
{
	bool quiet = b->quiet;
	b->quiet = true;
	for (int i = 0; i < f->nattrs; i++) {
		const ast_attr *a = &f->attrs[i];
		const ast_expr *e = given_value(call, a);
		if (!e || a->is_list || a->type != ATTR_INT)
			continue;
		sval v = sym_scalar(b, e);
		if (v.p)
			vec_push(b->arena, &sizes->names,
				 ((sname){ .name = a->name, .kind = SN_POLY,
					   .p = v.p }));
	}
	b->quiet = quiet;
}

bool sym_opaque_dims(build *b, const ast_expr *call, dim_list *out)
{
	const ast_opaque *f = sym_opaque_of(b, call);
	frame sizes = { .label = "" };
	if (f->nresults != 1 || call->nargs != f->nparams)
		return false;
	bind_numbers(b, call, f, &sizes);
	for (int i = 0; i < f->nparams; i++) {
		dim_list kept;
		int tensor = sliced(b, call->args[i]);
		if (tensor < 0 ||
		    !kept_dims(b, call->args[i], tensor, &kept) ||
		    kept.n != f->params[i].ndims)
			return false;
		for (int d = 0; d < kept.n; d++) {
			const ast_expr *e = f->params[i].dims[d];
			if (e->kind == AST_NAME && !bound_size(&sizes, e->name))
				vec_push(b->arena, &sizes.names,
					 ((sname){ .name = e->name,
						   .kind = SN_POLY,
						   .p = kept.dims[d].extent }));
		}
	}
	frame *here = b->frame;
	bool quiet = b->quiet;
	b->frame = &sizes;
	b->quiet = true;
	bool ok = sym_declared_dims(b, &f->results[0], out);
	b->frame = here;
	b->quiet = quiet;
	return ok;
}

static sval opaque_failed(build *b)
{
	sym_open(b, "its opaque call is not understood");
	return (sval){ .data = true, .varies = true, .nfactors = -1 };
}

static void hidden_vars(build *b, const ast_opaque *f, const ast_expr *index,
			const dim_list *dims, int *vars)
{
	for (int d = 0; d < dims->n; d++) {
		const ast_expr *item = d + 1 < index->nargs
					       ? index->args[d + 1]
					       : NULL;
		const char *name = item && item->kind == AST_NAME
					   ? item->name
					   : arena_printf(b->arena, "r%d", d);
		sym_var v = { .name = name, .kind = KVAR_OUTPUT,
			      .extent = dims->dims[d], .at = index->at };
		v.declared = declared_by(b, "the opaque function", name,
					 &v.extent);
		v.indivisible_reason =
			arena_printf(b->arena,
				     "hidden by the opaque function '%s'",
				     f->name);
		vars[d] = add_var(b, v);
	}
}

/* The slices are taken everywhere, under any condition around. */
static void slices(build *b, const ast_expr *call)
{
	static sym_path always;
	sym_path *paths = b->paths;
	int npaths = b->npaths;
	bool vague = b->vague;
	b->paths = &always;
	b->npaths = 1;
	b->vague = false;
	for (int i = 0; i < call->nargs; i++) {
		const ast_expr *arg = call->args[i];
		int tensor = sliced(b, arg);
		if (arg->kind == AST_INDEX) {
			sym_read_tensor(b, arg, sliced_name(b, arg), NULL);
			continue;
		}
		sym_read *r = plain_read(b, tensor, NULL, 0, arg->at).read;
		r->n = b->tensors.at[tensor].ndims;
		r->index = ARENA_ARRAY(b->arena, sym_index, r->n);
		for (int d = 0; d < r->n; d++)
			r->index[d].all = true;
	}
	b->paths = paths;
	b->npaths = npaths;
	b->vague = vague;
}

static sval read_of_opaque(build *b, int tensor, const int *batch, int nbatch,
			   const ast_expr *index)
{
	read_begin begin = sym_begin_read(b);
	sym_read *r = read_of_stage(b, tensor, batch, nbatch, index->at);
	sval all = { 0 };
	for (int i = 0; i < nbatch; i++)
		sym_touch(b, batch[i]);
	for (int i = 1; i < index->nargs && r->n < SYM_MAX_DIMS; i++) {
		sval at = sym_scalar(b, index->args[i]);
		r->index[r->n++] = (sym_index){ .at = at.p, .cases = at.cases,
						.data = at.data,
						.place = index->args[i]->at };
		all.whole = sym_dep_any(all.whole, at.whole);
		all.apart = sym_dep_any(all.apart, at.apart);
	}
	r->open = r->n != b->tensors.at[tensor].ndims;
	return sym_end_read(b, &begin, r, all, true);
}

sval sym_opaque(build *b, const ast_expr *call, const ast_expr *index)
{
	const ast_opaque *f = sym_opaque_of(b, call);
	dim_list dims;
	if (!sym_opaque_dims(b, call, &dims))
		return opaque_failed(b);
	collector c;
	collect(b, &c);
	slices(b, call);
	collected(b, &c, NULL, 0);
	int outs[2 * SYM_MAX_DIMS];
	int nbatch = sym_outer_vars(b, &c, NULL, 0, outs);
	hidden_vars(b, f, index, &dims, outs + nbatch);
	if (b->failed || nbatch + dims.n > SYM_MAX_DIMS)
		return opaque_failed(b);
	sval body = { .nfactors = -1,
		      .type = sym_declared_type(&f->results[0].type) };
	const char *label = arena_printf(b->arena, "%s%d", f->name,
					 ++b->nextracted);
	int tensor = sym_add_stage(b, label, outs, nbatch + dims.n, NULL, 0,
				   RED_NONE, body, &c);
	if (tensor < 0)
		return opaque_failed(b);
	b->stages.at[b->stages.n - 1]->opaque = f->name;
	return b->into ? read_of_opaque(b, tensor, outs, nbatch, index)
		       : opaque_failed(b);
}
