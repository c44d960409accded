/* The extent of an index variable that has no declared range: that of the
 * dimensions that it alone indexes.  dsl/check_extent.c has reported the
 * errors. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

#include <string.h>

/* Whether two extents differ.  Two different polynomials without floor
 * divisions and the like are equal only for few sizes; other polynomials need a
 * proof. */
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

/* The dimensions by which a tensor is indexed.  For a broadcast argument they
 * include the absent ones, which a single variable cannot index. */
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

static int item_width(build *b, const ast_expr *item)
{
	bool quiet = b->quiet;
	if (item->kind != AST_PACK)
		return 1;
	b->quiet = true;
	int n = sym_pack_items(b, item->pack, NULL, NULL);
	b->quiet = quiet;
	return n;
}

/* The number of dimensions that operands [from, to) of a read stand for; -1 if
 * it is not known. */
static int width_of(build *b, const ast_expr *read, int from, int to)
{
	int sum = 0;
	for (int i = from; i < to; i++) {
		int n = item_width(b, read->args[i]);
		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

/* The dimension that operand i of a read indexes.  It is counted from the end
 * if the number of dimensions before it is unknown.  -1 if the number behind it
 * is unknown, too. */
static int dim_at(build *b, const ast_expr *read, int i, int ndims)
{
	int before = width_of(b, read, 1, i);
	if (before >= 0)
		return before < ndims ? before : -1;
	int behind = width_of(b, read, i + 1, read->nargs);
	return behind < 0 ? -1 : ndims - 1 - behind;
}

/* The dimensions of the tensor that is read.  Returns their number, 0 if they
 * are not known. */
static int dims_of(build *b, const ast_expr *base, sym_dim dims[SYM_MAX_DIMS])
{
	const sname *n = sym_find(b, base->symbol);
	dim_list list;
	if (n && n->kind == SN_TENSOR && n->index >= 0)
		return indexed_dims(b, n, dims);
	if (!ast_opaque_of(base) || !sym_opaque_dims(b, base, &list))
		return 0;
	memcpy(dims, list.dims, (size_t)list.n * sizeof(*dims));
	return list.n;
}

/* Infers the extent from reads [from, to), those that have the variable as an
 * index. */
static void infer(inference *in, const ast_var *v, int from, int to)
{
	for (int i = from; i < to; i++) {
		const ast_expr *read = v->indexings[i].read;
		int item = v->indexings[i].item;
		sym_dim dims[SYM_MAX_DIMS];
		int ndims = dims_of(in->b, read->args[0], dims);
		int at = dim_at(in->b, read, item, ndims);
		if (at >= 0 && !dims[at].pack)
			found(in, &dims[at], read->args[0]->name, at,
			      read->args[item]->at);
	}
}

bool sym_infer_extent(build *b, const ast_var *v, sym_var *out)
{
	inference in = { .b = b, .name = v->name };
	infer(&in, v, 0, v->nalways);
	if (!in.found)
		infer(&in, v, v->nalways, v->nindexings);
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
