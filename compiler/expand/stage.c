/* Kernels: converts expressions from the expansion's numbers to the kernel's
 * own. */
#include "config.h"

#include "compiler/expand/signature.h"

#include <string.h>

#include "kernel/linearity.h"
#include "kernel/region.h"

/* ---- which variables and tensors an expression uses --------------------- */

static void mark_vars(const kexpr *e, bool *used)
{
	if (e->kind == KX_VAR)
		used[e->var] = true;
	for (int i = 0; i < e->nargs; i++)
		mark_vars(e->args[i], used);
}

int used_vars(const context *cx, kexpr *const *e, int ne, const int *without,
	      int nwithout, int vars[MAX_NVARS])
{
	bool *used = ARENA_ARRAY(cx->tmp, bool, cx->vars.n);
	for (int i = 0; i < ne; i++)
		mark_vars(e[i], used);
	for (int i = 0; i < nwithout; i++)
		used[without[i]] = false;
	int n = 0;
	for (int v = 0; v < cx->vars.n && n < MAX_NVARS; v++)
		if (used[v])
			vars[n++] = v;
	return n;
}

/* ---- renumbering -------------------------------------------------------- */

/* The kernel under construction: the variables and values of the expansion for
 * which its own numbers stand. */
typedef struct draft {
	context *cx;
	kernel *kernel;
	int vars[MAX_NVARS];
	int inputs[MAX_NINPUTS];
	bool too_many;
} draft;

static int local_var(const draft *d, int var)
{
	for (int i = 0; i < d->kernel->nvars; i++)
		if (d->vars[i] == var)
			return i;
	return 0;
}

static int local_input(draft *d, int value)
{
	kernel *k = d->kernel;
	for (int i = 0; i < k->ninputs; i++)
		if (d->inputs[i] == value)
			return i;
	if (k->ninputs == MAX_NINPUTS) {
		d->too_many = true;
		return 0;
	}
	const xvalue *v = &d->cx->values.at[value];
	kinput *in = &k->inputs[k->ninputs];
	in->name = arena_strdup(d->cx->arena, v->name);
	in->type = v->type.type;
	in->ndim = v->type.ndim;
	memcpy(in->dims, v->type.dims, sizeof(in->dims));
	d->inputs[k->ninputs] = value;
	return k->ninputs++;
}

/* Allocates in the result's arena, because kx_simplify() shares subtrees that
 * it does not change. */
static kexpr *renumber(draft *d, const kexpr *e)
{
	arena *a = d->cx->arena;
	kexpr *copy = ARENA_COPY(a, e, 1);
	if (e->kind == KX_VAR)
		copy->var = local_var(d, e->var);
	if (e->kind == KX_READ)
		copy->input = local_input(d, e->input);
	copy->args = ARENA_ARRAY(a, kexpr *, e->nargs);
	for (int i = 0; i < e->nargs; i++)
		copy->args[i] = renumber(d, e->args[i]);
	return copy;
}

/* A name that no earlier variable of the kernel has. */
static const char *unique_name(context *cx, const kernel *k, const char *name)
{
	const char *try = name;
	for (int n = 2;; n++) {
		bool taken = false;
		for (int i = 0; i < k->nvars; i++)
			taken |= !strcmp(k->vars[i].name, try);
		if (!taken)
			return arena_strdup(cx->arena, try);
		try = arena_printf(cx->tmp, "%s_%d", name, n);
	}
}

static bool draft_vars(draft *d, const int *vars, int n, kvar_kind kind)
{
	kernel *k = d->kernel;
	if (k->nvars + n > MAX_NVARS)
		return false;
	for (int i = 0; i < n; i++) {
		const xvar *v = &d->cx->vars.at[vars[i]];
		d->vars[k->nvars] = vars[i];
		k->vars[k->nvars].name = unique_name(d->cx, k, v->name);
		k->vars[k->nvars].kind = kind;
		k->vars[k->nvars].extent = v->extent;
		k->nvars++;
	}
	return true;
}

static const char *join(arena *a, const char *prefix, const char *label)
{
	if (!*prefix || !*label)
		return arena_strdup(a, *label ? label : prefix);
	return arena_printf(a, "%s.%s", prefix, label);
}

static draft draft_begin(context *cx, const char *label)
{
	draft d = { .cx = cx, .kernel = ARENA_NEW(cx->arena, kernel) };
	kernel *k = d.kernel;
	k->name = join(cx->arena, cx->top, join(cx->tmp, cx->label, label));
	k->vars = ARENA_ARRAY(cx->arena, kvar, MAX_NVARS);
	k->inputs = ARENA_ARRAY(cx->arena, kinput, MAX_NINPUTS);
	return d;
}

/* Checks that every unguarded read at known indices is inside its tensor for
 * these shapes.  The symbolic check of the definition leaves open what depends
 * on attributes. */
static bool check_reads(context *cx, const draft *d)
{
	outside o;
	if (!kernel_reads_outside(d->kernel, &o))
		return true;
	int input = o.read->input;
	const kinput *in = &d->kernel->inputs[input];
	range at = cx->op->name_at;
	for (int i = 0; i < cx->reads.n; i++)
		if (cx->reads.at[i].value == d->inputs[input])
			at = cx->reads.at[i].at;
	if (o.known)
		expand_error(cx, DIAG_READ_OUTSIDE, at,
			     "dimension %d of '%s' is read from %lld up to "
			     "%lld, but its size is %lld",
			     o.dim, in->name, (long long)o.lo,
			     (long long)o.hi - 1, (long long)o.size);
	else
		expand_error(cx, DIAG_READ_OUTSIDE, at,
			     "it cannot be shown that dimension %d of '%s', of "
			     "size %lld, is read inside the tensor",
			     o.dim, in->name, (long long)o.size);
	return false;
}

static int draft_end(draft *d, const char *label)
{
	context *cx = d->cx;
	kernel *k = d->kernel;
	kernel_finish(cx->arena, k);
	if (cx->failed || !check_reads(cx, d))
		return -1;
	stage s = { .kernel = k,
		    .label = join(cx->arena, cx->label, label) };
	memcpy(s.inputs, d->inputs, sizeof(d->inputs));
	vec_push(cx->tmp, &cx->stages, s);
	xvalue v = { .name = *s.label ? s.label : k->name,
		     .rank = k->nout,
		     .type = { .type = k->type, .ndim = k->nout } };
	for (int i = 0; i < k->nout; i++)
		v.type.dims[i] = kernel_dim(k, i);
	vec_push(cx->tmp, &cx->values, v);
	return cx->values.n - 1;
}

bool stage_is_derived(const context *cx, int value)
{
	return cx->stages.at[value - cx->nparams].kernel->nderived > 0;
}

void drop_stage(context *cx)
{
	cx->stages.n--;
	cx->values.n--;
}

void relabel_stage(context *cx, int value, const char *label)
{
	stage *s = &cx->stages.at[value - cx->nparams];
	s->label = join(cx->arena, cx->label, label);
	s->kernel->name = join(cx->arena, cx->top, s->label);
}

/* The name that the signature gives to a dimension of a parameter, or NULL. */
static const char *dim_name(context *cx, int value, int dim)
{
	if (value >= cx->op->nparams || cx->values.at[value].broadcast)
		return NULL;
	const ast_tensor *t = &cx->op->params[value];
	for (int i = 0, at = 0; i < t->ndims && at <= dim; i++) {
		int width = item_width(cx, t->dims[i]);
		if (width < 0)
			return NULL;
		if (at == dim && t->dims[i]->kind == AST_NAME)
			return t->dims[i]->name;
		at += width;
	}
	return NULL;
}

/* Names a variable that the analysis derived after its dimension. */
static void name_derived(draft *d)
{
	kernel *k = d->kernel;
	for (int i = 0; i < k->nderived; i++) {
		const kderived *v = &k->derived[i];
		const char *name =
			dim_name(d->cx, d->inputs[v->input], v->dim);
		if (name)
			k->vars[v->var].name = unique_name(d->cx, k, name);
	}
}

int add_stage(context *cx, const char *label, const int *outs, int nouts,
	      const int *reds, int nreds, reducer r, dtype type, kexpr *body)
{
	draft d = draft_begin(cx, label);
	kernel *k = d.kernel;
	if (!draft_vars(&d, outs, nouts, KVAR_OUTPUT) ||
	    !draft_vars(&d, reds, nreds, KVAR_REDUCE))
		d.too_many = true;
	/* A reduction over no dimensions is its single term. */
	if (nreds == 0 && r != RED_NONE && body->type != type)
		body = kx_cast(cx->arena, body, type);
	k->nout = nouts;
	k->reducer = nreds ? r : RED_NONE;
	k->type = type;
	k->body = kx_simplify(cx->arena, renumber(&d, body), k->vars);
	if (d.too_many) {
		expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, cx->op->name_at,
			     "a stage of '%s' has more than %d variables or "
			     "%d inputs",
			     cx->op->name, MAX_NVARS, MAX_NINPUTS);
		return -1;
	}
	kernel_derive(cx->arena, k);
	name_derived(&d);
	return draft_end(&d, label);
}

/* ---- opaque functions --------------------------------------------------- */

/* The tensor that an argument of an opaque call slices; -1 after an error. */
static int sliced_value(context *cx, const ast_expr *arg)
{
	const ast_expr *base = arg->kind == AST_INDEX ? arg->args[0] : arg;
	const xname *n = find_name(cx, base->symbol);
	if (n && n->kind == NAME_TENSOR &&
	    !cx->values.at[n->index].broadcast)
		return n->index;
	if (expand_broken(cx, n))
		return -1;
	expand_error(cx, DIAG_BAD_CALL, arg->at,
		     "an opaque function takes slices of tensors");
	return -1;
}

/* The expressions at which an argument is sliced, one per dimension; NULL takes
 * the whole dimension.  A name alone takes the whole tensor. */
static bool slice_items(context *cx, const ast_expr *arg, int value,
			const ast_expr *items[MAX_NDIM])
{
	const tensor_type *t = &cx->values.at[value].type;
	memset(items, 0, MAX_NDIM * sizeof(*items));
	if (arg->kind == AST_NAME)
		return true;
	int at = 0;
	for (int i = 1; i < arg->nargs; i++) {
		const ast_expr *item = arg->args[i];
		int width = item_width(cx, item);
		if (width < 0 || at + width > t->ndim)
			goto wrong;
		for (int j = 0; j < width; j++)
			items[at++] = item->kind == AST_SLICE ? NULL : item;
	}
	if (at == t->ndim)
		return true;
wrong:
	expand_error(cx, DIAG_WRONG_RANK, arg->at,
		     "a slice of '%s' has %d indices or ':'",
		     cx->values.at[value].name, t->ndim);
	return false;
}

static bool slice_type(context *cx, const ast_expr *arg, tensor_type *t)
{
	const ast_expr *items[MAX_NDIM];
	int value = sliced_value(cx, arg);
	if (value < 0 || !slice_items(cx, arg, value, items))
		return false;
	const tensor_type *whole = &cx->values.at[value].type;
	t->type = whole->type;
	t->ndim = 0;
	for (int d = 0; d < whole->ndim; d++)
		if (!items[d])
			t->dims[t->ndim++] = whole->dims[d];
	return true;
}

bool opaque_result_type(context *cx, const ast_expr *call, tensor_type *t,
			const attr_value *const **attrs)
{
	const ast_opaque *f = call->calls.opaque;
	if (f->nresults != 1 || call->nargs != f->nparams) {
		expand_error(cx, DIAG_BAD_CALL, call->at,
			     "'%s' takes %d slices and has one result here",
			     f->name, f->nparams);
		return false;
	}
	ast_op signature = { .name = f->name, .name_at = f->name_at,
			     .params = f->params, .nparams = f->nparams,
			     .attrs = f->attrs, .nattrs = f->nattrs,
			     .nsymbols = f->nsymbols };
	context inner = { .arena = cx->arena, .tmp = cx->tmp,
			  .modules = cx->modules, .sink = cx->sink,
			  .op = &signature, .site = { .at = call->at },
			  .shared = DT_NONE };
	begin_names(&inner);
	const attr_value **given = call_attrs(cx, call, &signature);
	if (!given || !bind_attrs(&inner, given)) {
		cx->failed = true;
		return false;
	}
	if (attrs)
		*attrs = inner.attrs;
	for (int i = 0; i < f->nparams; i++) {
		tensor_type arg;
		if (!slice_type(cx, call->args[i], &arg)) {
			cx->failed = true;
			return false;
		}
		vec_push(cx->tmp, &inner.values, ((xvalue){ .type = arg }));
		if (!bind_type(&inner, &f->params[i], arg.type) ||
		    !bind_dims(&inner, &f->params[i], &arg)) {
			cx->failed = true;
			return false;
		}
	}
	if (!eval_dims(&inner, &f->results[0], t)) {
		cx->failed = true;
		return false;
	}
	t->type = type_said(&inner, &f->results[0].type);
	return true;
}

/* Compiles the slices.  Appends the index expressions to flat[]. */
static bool compile_slices(context *cx, const ast_expr *call, int *values,
			   kexpr *(*index)[MAX_NDIM], kexpr **flat, int *nflat)
{
	*nflat = 0;
	for (int i = 0; i < call->nargs; i++) {
		const ast_expr *items[MAX_NDIM], *arg = call->args[i];
		values[i] = sliced_value(cx, arg);
		if (values[i] < 0 || !slice_items(cx, arg, values[i], items))
			return false;
		for (int d = 0; d < cx->values.at[values[i]].type.ndim; d++) {
			index[i][d] = NULL;
			if (!items[d])
				continue;
			if (items[d]->kind == AST_PACK) {
				kexpr *pack[MAX_NDIM];
				int n = pack_index(cx, items[d], pack);
				for (int j = 0; j < n; j++)
					flat[(*nflat)++] = index[i][d + j] =
						pack[j];
				if (n < 0)
					return false;
				d += n > 0 ? n - 1 : 0;
				continue;
			}
			index[i][d] = expand_index(cx, items[d]);
			flat[(*nflat)++] = index[i][d];
		}
	}
	return !cx->failed;
}

/* Makes variables for the function's result, named after the index variables at
 * which it is read if these are plain. */
static void hidden_vars(context *cx, const ast_expr *index,
			const tensor_type *t, int *vars)
{
	for (int d = 0; d < t->ndim; d++) {
		const ast_expr *item = d + 1 < index->nargs
					       ? index->args[d + 1]
					       : NULL;
		const char *name = item && item->kind == AST_NAME
					   ? item->name
					   : arena_printf(cx->tmp, "r%d", d);
		vec_push(cx->tmp, &cx->vars, ((xvar){ name, t->dims[d] }));
		vars[d] = cx->vars.n - 1;
	}
}

/* The values of the attributes, in the kernel's arena. */
static kattr *opaque_attrs(context *cx, const ast_opaque *f,
			   const attr_value *const *values)
{
	arena *a = cx->arena;
	kattr *all = ARENA_ARRAY(a, kattr, f->nattrs);
	for (int i = 0; i < f->nattrs; i++) {
		const attr_value *v = values[i];
		kattr *x = &all[i];
		x->name = arena_strdup(a, f->attrs[i].name);
		x->n = v->n;
		if (v->type == ATTR_FLOAT) {
			x->floats = ARENA_COPY(a, v->floats, v->n);
		} else if (v->type == ATTR_STRING) {
			const char **s = ARENA_ARRAY(a, const char *, v->n);
			for (int j = 0; j < v->n; j++)
				s[j] = arena_strdup(a, v->strings[j]);
			x->strings = s;
		} else {
			x->ints = ARENA_COPY(a, v->ints, v->n);
		}
	}
	return all;
}

static int opaque_stage(context *cx, const ast_opaque *f,
			const ast_expr *index, const ast_expr *call,
			const attr_value *const *attrs, const tensor_type *t,
			int *outs, int *nbatch)
{
	int nargs = call->nargs, nflat;
	int *values = ARENA_ARRAY(cx->tmp, int, nargs);
	kexpr *(*at)[MAX_NDIM] = arena_calloc(cx->tmp, (size_t)nargs,
					      sizeof(*at));
	kexpr **flat = ARENA_ARRAY(cx->tmp, kexpr *, nargs * MAX_NDIM);
	if (!compile_slices(cx, call, values, at, flat, &nflat))
		return -1;
	*nbatch = used_vars(cx, flat, nflat, NULL, 0, outs);
	if (*nbatch + t->ndim > MAX_NDIM || nargs > MAX_NINPUTS) {
		expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, call->at,
			     "more than %d dimensions or %d slices", MAX_NDIM,
			     MAX_NINPUTS);
		return -1;
	}
	hidden_vars(cx, index, t, outs + *nbatch);
	char *label = arena_printf(cx->tmp, "%s%d", f->name,
				   ++cx->nextracted);
	draft d = draft_begin(cx, label);
	kernel *k = d.kernel;
	draft_vars(&d, outs, *nbatch + t->ndim, KVAR_OUTPUT);
	k->nout = k->nvars;
	k->nhidden = t->ndim;
	k->type = t->type;
	k->opaque = arena_strdup(cx->arena, f->name);
	k->opaque_symbol = arena_strdup(cx->arena, f->symbol);
	for (int v = *nbatch; v < k->nvars; v++)
		k->vars[v].indivisible_reason =
			arena_printf(cx->arena,
				     "hidden by the opaque function '%s'",
				     f->name);
	k->nattrs = f->nattrs;
	k->attrs = opaque_attrs(cx, f, attrs);
	k->nslices = nargs;
	k->slices = ARENA_ARRAY(cx->arena, kslice, nargs);
	for (int i = 0; i < nargs; i++) {
		kslice *s = &k->slices[i];
		s->input = local_input(&d, values[i]);
		s->ndim = cx->values.at[values[i]].type.ndim;
		for (int j = 0; j < s->ndim; j++)
			if (at[i][j])
				s->at[j] = kx_simplify(cx->arena,
						       renumber(&d, at[i][j]),
						       k->vars);
	}
	return draft_end(&d, label);
}

val expand_opaque(context *cx, const ast_expr *call, const ast_expr *index)
{
	const ast_opaque *f = call->calls.opaque;
	const attr_value *const *attrs;
	tensor_type t;
	if (!opaque_result_type(cx, call, &t, &attrs))
		return val_bad;
	int outs[MAX_NVARS], nbatch;
	int value = opaque_stage(cx, f, index, call, attrs, &t, outs,
				 &nbatch);
	if (value < 0)
		return val_bad;
	kexpr *at[MAX_NDIM], *own[MAX_NDIM];
	int n = item_index(cx, index, t.ndim, t.dims, own);
	if (n < 0)
		return val_bad;
	for (int i = 0; i < nbatch; i++)
		at[i] = kx_var(cx->tmp, outs[i]);
	memcpy(at + nbatch, own, (size_t)n * sizeof(*own));
	return val_expr(kx_read(cx->tmp, value, t.type, nbatch + n, at, NULL));
}
