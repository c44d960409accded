/* The extent of an index variable that nothing declares: that of the dimensions
 * that it indexes alone.  dsl/check_extent.c has reported the errors in it. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

/* Two different polynomials without floor divisions and the like are equal for
 * few sizes; for others it takes a proof. */
static bool differ(const build *b, const poly *x, const poly *y)
{
	arena *a = b->arena;
	const poly *gap = poly_sub(a, x, y);
	if (!gap || poly_is_zero(gap) ||
	    poly_uses_kind(b->space, gap, ATOM_ATTR))
		return false;
	bool plain = true;
	for (atom_kind k = ATOM_DIV; k <= ATOM_MAX; k++)
		plain &= !poly_uses_kind(b->space, gap, k);
	return plain || poly_nonneg(b->space, NULL, poly_shift(a, gap, -1)) ||
	       poly_nonneg(b->space, NULL,
			   poly_shift(a, poly_scale(a, gap, -1), -1));
}

void sym_compare_extents(build *b, const char *name, const sym_dim *x,
			 range x_at, const sym_dim *y, range y_at)
{
	if (b->frame->depth > 0 || !differ(b, x->extent, y->extent))
		return;
	sym_conflict c = { .name = name, .extent = x->text, .at = x_at,
			   .other = y->text, .other_at = y_at };
	vec_push(b->arena, &b->conflicts, c);
}

typedef struct inference {
	build *b;
	const char *name;
	bool conditional; /* look under conditions, too */
	bool found, disagrees;
	sym_dim extent;
	const char *tensor;
	int dim;
	range at;
} inference;

static void found(inference *in, const sym_dim *d, const char *tensor, int dim,
		  range at)
{
	build *b = in->b;
	if (!in->found) {
		in->found = true;
		in->extent = *d;
		in->tensor = tensor;
		in->dim = dim;
		in->at = at;
		return;
	}
	const poly *gap = poly_sub(b->arena, d->extent, in->extent.extent);
	if (in->disagrees || !gap || poly_is_zero(gap) ||
	    poly_uses_kind(b->space, gap, ATOM_ATTR))
		return;
	in->disagrees = true;
	sym_compare_extents(b, in->name, d, at, &in->extent, in->at);
}

/* The variable among the indices of something with these dimensions. */
static void infer_items(inference *in, const ast_expr *e, const sym_dim *dims,
			int ndims, const char *tensor)
{
	int at = 0;
	for (int i = 1; i < e->nargs; i++) {
		const ast_expr *item = e->args[i];
		int n = 1;
		if (item->kind == AST_PACK) {
			bool quiet = in->b->quiet;
			in->b->quiet = true;
			n = sym_pack_items(in->b, item->pack, NULL, NULL);
			in->b->quiet = quiet;
		}
		bool mine = item->kind == AST_NAME && item->name == in->name;
		if (n < 0 || at + n > ndims || (mine && dims[at].pack))
			return;
		if (mine)
			found(in, &dims[at], tensor, at, item->at);
		at += n;
	}
}

/* The dimensions that a tensor is indexed with: those of an argument that is
 * broadcast include the absent ones, which no single variable can index. */
static int indexed_dims(const build *b, const sname *n,
			sym_dim dims[SYM_MAX_DIMS])
{
	const sym_tensor *t = &b->tensors.at[n->index];
	int count = 0;
	if (t->ndims + n->missing > SYM_MAX_DIMS)
		return 0;
	for (int d = 0; d <= t->ndims; d++) {
		for (int i = 0; d == n->pack_at && i < n->missing; i++)
			dims[count++] = (sym_dim){ .pack = true };
		if (d < t->ndims)
			dims[count++] = t->dims[d];
	}
	return count;
}

static void infer_index(inference *in, const ast_expr *e)
{
	build *b = in->b;
	const ast_expr *base = e->args[0];
	if (ast_opaque_of(base)) {
		dim_list dims;
		if (sym_opaque_dims(b, base, &dims))
			infer_items(in, e, dims.dims, dims.n, base->name);
		return;
	}
	const sname *n = sym_find(b, base->symbol);
	if (n && n->kind == SN_TENSOR && n->index >= 0) {
		sym_dim dims[SYM_MAX_DIMS];
		int ndims = indexed_dims(b, n, dims);
		infer_items(in, e, dims, ndims, base->name);
	}
}

static void infer(inference *in, const ast_expr *e)
{
	if (e->kind == AST_INDEX)
		infer_index(in, e);
	if (e->kind == AST_GUARD) {
		for (int i = 1; i < e->args[0]->nargs; i++)
			infer(in, e->args[0]->args[i]);
		return;
	}
	if (e->kind == AST_LAMBDA)
		for (int i = 0; i < e->nvars; i++)
			if (e->vars[i].name == in->name)
				return;
	int n = e->kind == AST_IF && !in->conditional ? 1 : e->nargs;
	for (int i = 0; i < n; i++)
		infer(in, e->args[i]);
}

bool sym_infer_extent(build *b, const ast_expr *lambda, const ast_var *v,
		      sym_var *out)
{
	inference in = { .b = b, .name = v->name };
	infer(&in, lambda->args[0]);
	if (!in.found) {
		in.conditional = true;
		infer(&in, lambda->args[0]);
	}
	if (!in.found || in.disagrees)
		return false;
	out->extent = in.extent;
	out->at = in.at;
	out->declared = arena_printf(b->arena,
				     "'%s' runs over the %s elements of "
				     "dimension %d of '%s'",
				     v->name, in.extent.text, in.dim,
				     in.tensor);
	return true;
}
