/* Reads of tensors: index lists with packs, broadcasting, linear positions. */
#include "config.h"

#include "compiler/expand/context.h"

#include "base/checked.h"

int item_width(context *cx, const ast_expr *e)
{
	if (e->kind != AST_PACK)
		return 1;
	if (e->pack->kind == PACK_CALL)
		return -2;
	xpack *p;
	int positions[MAX_NDIM];
	return pack_positions(cx, e->pack, e->at, &p, positions);
}

/* The index expressions of the `width' dimensions that a row-major position I
 * stands for: (I / stride) % extent. */
static bool unravel(context *cx, const ast_expr *call, const int64_t *dims,
		    int width, kexpr **out)
{
	arena *a = cx->tmp;
	kexpr *position = expand_index(cx, call->args[0]);
	if (cx->failed)
		return false;
	int64_t stride = 1;
	for (int d = width - 1; d >= 0; d--) {
		int64_t extent = dims[d] > 0 ? dims[d] : 1;
		kexpr *q = position;
		if (stride > 1)
			q = kx_fn2(a, FN_DIV, q, kx_int(a, stride, DT_I64));
		if (d > 0)
			q = kx_fn2(a, FN_MOD, q, kx_int(a, extent, DT_I64));
		out[d] = q;
		if (!ck_mul(stride, extent, &stride))
			stride = INT64_MAX;
	}
	return true;
}

int pack_index(context *cx, const ast_expr *item, kexpr **out)
{
	xpack *p;
	int positions[MAX_NDIM];
	int n = pack_positions(cx, item->pack, item->at, &p, positions);
	for (int i = 0; i < n; i++) {
		out[i] = p->index[positions[i]];
		if (!out[i]) {
			expand_error(cx, DIAG_UNBOUND_INDEX, item->at,
				     "no lambda around this binds dimension %d "
				     "of the pack '..%s'",
				     positions[i], p->name);
			return -1;
		}
	}
	return n;
}

int item_index(context *cx, const ast_expr *e, int rank, const int64_t *dims,
	       kexpr *out[MAX_NDIM])
{
	int width[MAX_NDIM + 1], nitems = e->nargs - 1, total = 0, open = -1;
	if (nitems > MAX_NDIM)
		goto wrong;
	for (int i = 0; i < nitems; i++) {
		width[i] = item_width(cx, e->args[i + 1]);
		if (width[i] == -1)
			return -1;
		if (width[i] == -2 && open >= 0)
			goto wrong;
		if (width[i] == -2)
			open = i;
		else
			total += width[i];
	}
	if (open >= 0)
		width[open] = rank - total;
	if (open >= 0 ? total > rank : total != rank)
		goto wrong;
	for (int i = 0, at = 0; i < nitems; at += width[i++]) {
		const ast_expr *item = e->args[i + 1];
		if (i == open) {
			if (!unravel(cx, item->pack->sel, dims + at, width[i],
				     out + at))
				return -1;
		} else if (item->kind == AST_PACK) {
			if (pack_index(cx, item, out + at) < 0)
				return -1;
		} else {
			out[at] = expand_index(cx, item);
		}
	}
	return cx->failed ? -1 : rank;
wrong:
	expand_error(cx, DIAG_WRONG_RANK, e->at,
		     "%d ind%s for '%s', which has %d dimension%s", total,
		     total == 1 ? "ex" : "ices", e->args[0]->name, rank,
		     rank == 1 ? "" : "s");
	return -1;
}

/* Adapts the index to a broadcast parameter's own dimensions.  Missing
 * dimensions are dropped, those of extent 1 are read at 0.  Returns the number
 * of dimensions. */
static int broadcast_index(context *cx, const xvalue *v, kexpr **index)
{
	const xpack *p = v->broadcast;
	int missing = v->rank - v->type.ndim;
	for (int i = v->pack_at; i < v->type.ndim; i++)
		index[i] = index[i + missing];
	for (int d = 0; d < p->rank - missing; d++)
		if (v->type.dims[v->pack_at + d] == 1 &&
		    p->extents[d + missing] != 1)
			index[v->pack_at + d] = kx_int(cx->tmp, 0, DT_I64);
	return v->type.ndim;
}

val expand_read(context *cx, const ast_expr *e, int value,
		const ast_expr *otherwise)
{
	const xvalue v = cx->values.at[value];
	kexpr *index[MAX_NDIM], *guard = NULL;
	if (otherwise) {
		val o = expand_typed(cx, otherwise, v.type.type);
		if (o.kind == VAL_EXPR) {
			expand_error(cx, DIAG_NOT_CONSTANT, otherwise->at,
				     "the value behind the 'else' of a read "
				     "has to be a constant");
			return val_bad;
		}
		guard = expand_as(cx, o, v.type.type, otherwise->at);
	}
	int n = item_index(cx, e, v.rank, v.type.dims, index);
	if (n < 0)
		return val_bad;
	if (v.broadcast)
		n = broadcast_index(cx, &v, index);
	vec_push(cx->tmp, &cx->reads, ((read_place){ value, e->at }));
	return val_expr(kx_read(cx->tmp, value, v.type.type, n, index, guard));
}

val expand_ravel(context *cx, const ast_expr *e)
{
	arena *a = cx->tmp;
	kexpr *position = kx_int(a, 0, DT_I64);
	for (int i = 0; i < e->nargs; i++) {
		const ast_expr *item = e->args[i];
		kexpr *index[MAX_NDIM];
		int n = 1;
		if (item->kind == AST_PACK && item->pack->kind != PACK_CALL)
			n = pack_index(cx, item, index);
		else
			index[0] = expand_index(cx, item);
		if (cx->failed)
			return val_bad;
		for (int d = 0; d < n; d++) {
			if (index[d]->kind != KX_VAR) {
				expand_error(cx, DIAG_BAD_INDEX, item->at,
					     "'ravel' takes index variables");
				return val_bad;
			}
			int64_t extent = cx->vars.at[index[d]->var].extent;
			position = kx_fn2(a, FN_MUL, position,
					  kx_int(a, extent, DT_I64));
			position = kx_fn2(a, FN_ADD, position, index[d]);
		}
	}
	return val_expr(position);
}
