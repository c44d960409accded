/* Calls of opaque functions as stages. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

#include <string.h>

/* The tensor that an argument of an opaque call slices, or NULL. */
static const sname *sliced_name(build *b, const ast_expr *arg)
{
	const ast_expr *base = arg->kind == AST_INDEX ? arg->args[0] : arg;
	const sname *n = sym_find(b, base->symbol);
	return n && n->kind == SN_TENSOR ? n : NULL;
}

static int sliced(build *b, const ast_expr *arg)
{
	const sname *n = sliced_name(b, arg);
	return n ? n->index : -1;
}

/* The dimensions of the tensor that a slice keeps.  Returns false if they are
 * known only with shapes. */
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

/* The value of an attribute in a call, or its default; NULL if it has
 * neither. */
static const ast_expr *given_value(const ast_expr *call, const ast_opaque *f,
				   int attr)
{
	for (int i = 0; i < call->nnamed; i++)
		if (call->named[i].index == attr)
			return call->named[i].value;
	return f->attrs[attr].init;
}

/* Binds the integer attributes of an opaque call, which may be extents of its
 * result. */
static void bind_numbers(build *b, const ast_expr *call, const ast_opaque *f,
			 frame *sizes)
{
	bool quiet = b->quiet;
	b->quiet = true;
	for (int i = 0; i < f->nattrs; i++) {
		const ast_attr *a = &f->attrs[i];
		const ast_expr *e = given_value(call, f, i);
		if (!e || a->is_list || a->type != ATTR_INT)
			continue;
		sval v = sym_scalar(b, e);
		if (v.p)
			sizes->names[f->nparams + i] =
				(sname){ .kind = SN_POLY, .p = v.p };
	}
	b->quiet = quiet;
}

/* The element types that the result may have.  Attributes have their values in
 * the call. */
static type_set types_of_result(const build *b, const ast_expr *call,
				const ast_opaque *f)
{
	const ast_type *t = &f->results[0].type;
	while (t->kind == TYPE_NAMED) {
		int i = t->symbol->index;
		const ast_expr *e = given_value(call, f, i);
		t = e->type;
		if (e != f->attrs[i].init)
			break;
	}
	return sym_declared_types(b, t);
}

bool sym_opaque_dims(build *b, const ast_expr *call, dim_list *out)
{
	const ast_opaque *f = ast_opaque_of(call);
	if (f->nresults != 1 || call->nargs != f->nparams)
		return false;
	frame *sizes = sym_new_frame(b, NULL, f->nsymbols, "");
	bind_numbers(b, call, f, sizes);
	for (int i = 0; i < f->nparams; i++) {
		dim_list kept;
		int tensor = sliced(b, call->args[i]);
		if (tensor < 0 ||
		    !kept_dims(b, call->args[i], tensor, &kept) ||
		    kept.n != f->params[i].ndims)
			return false;
		for (int d = 0; d < kept.n; d++) {
			const ast_expr *e = f->params[i].dims[d];
			sname *n = e->symbol ? &sizes->names[e->symbol->number]
					     : NULL;
			if (n && n->kind == SN_UNBOUND)
				*n = (sname){ .kind = SN_POLY,
					      .p = kept.dims[d].extent };
		}
	}
	frame *here = b->frame;
	bool quiet = b->quiet;
	b->frame = sizes;
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
		v.declared = sym_declared_by(b, "the opaque function", name,
					 &v.extent);
		v.indivisible_reason =
			arena_printf(b->arena,
				     "hidden by the opaque function '%s'",
				     f->name);
		vars[d] = sym_add_var(b, v);
	}
}

/* Adds reads of the slices.  They are read everywhere, whatever the conditions
 * around the call. */
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
		sym_read *r = sym_plain_read(b, tensor, NULL, 0, arg->at).read;
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
	sym_read *r = sym_read_of_stage(b, tensor, batch, nbatch, index->at);
	sval all = { 0 };
	for (int i = 0; i < nbatch; i++)
		sym_touch(b, batch[i]);
	for (int i = 1; i < index->nargs && r->n < SYM_MAX_DIMS; i++) {
		sval at = sym_scalar(b, index->args[i]);
		r->index[r->n++] = (sym_index){ .at = at.p, .cases = at.cases,
						.data = at.data,
						.place = index->args[i]->at };
		all.whole = sym_depend_any(&all.whole, &at.whole);
		all.apart = sym_depend_any(&all.apart, &at.apart);
	}
	r->open = r->n != b->tensors.at[tensor].ndims;
	return sym_end_read(b, &begin, r, &all, NULL);
}

sval sym_opaque(build *b, const ast_expr *call, const ast_expr *index)
{
	const ast_opaque *f = ast_opaque_of(call);
	dim_list dims;
	if (!sym_opaque_dims(b, call, &dims))
		return opaque_failed(b);
	collector c;
	sym_collect(b, &c);
	slices(b, call);
	sym_collected(b, &c, NULL, 0);
	int outs[2 * SYM_MAX_DIMS];
	int nbatch = sym_outer_vars(b, &c, NULL, 0, outs);
	hidden_vars(b, f, index, &dims, outs + nbatch);
	if (b->failed || nbatch + dims.n > SYM_MAX_DIMS)
		return opaque_failed(b);
	sval body = { .nfactors = -1,
		      .is.types = types_of_result(b, call, f) };
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
