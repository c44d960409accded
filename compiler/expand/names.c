/* Scopes, packs and attributes. */
#include "config.h"

#include "compiler/expand/context.h"

#include <string.h>

const xname *find_name(const context *cx, const char *name)
{
	for (int i = cx->names.n - 1; i >= 0; i--)
		if (cx->names.at[i].name == name)
			return &cx->names.at[i];
	return NULL;
}

void push_name(context *cx, xname n)
{
	vec_push(cx->tmp, &cx->names, n);
}

xpack *find_pack(context *cx, const char *name)
{
	for (int i = 0; i < cx->packs.n; i++)
		if (cx->packs.at[i].name == name)
			return &cx->packs.at[i];
	return NULL;
}

const attr_value *find_attr(const context *cx, const char *name)
{
	int i = ast_find_attr(cx->op->attrs, cx->op->nattrs, name);
	return i >= 0 ? cx->attrs[i] : NULL;
}

/* The pack of a broadcast parameter's own dimensions; NULL where the name is
 * none's. */
static xpack *own_pack(context *cx, const char *name)
{
	const xname *n = find_name(cx, name);
	const xvalue *v = n && n->kind == NAME_TENSOR
				  ? &cx->values.at[n->index]
				  : NULL;
	const xpack *all = v && v->broadcast ? find_pack(cx, v->broadcast)
					     : NULL;
	if (!all)
		return NULL;
	xpack own = { .name = name, .bound = true, .within = all->name,
		      .missing = v->rank - v->type.ndim };
	own.rank = all->rank - own.missing;
	for (int d = 0; d < own.rank; d++)
		own.extents[d] = v->type.dims[v->pack_at + d];
	vec_push(cx->tmp, &cx->packs, own);
	return &cx->packs.at[cx->packs.n - 1];
}

xpack *need_pack(context *cx, const char *name, range at)
{
	xpack *p = find_pack(cx, name);
	if (p && p->bound)
		return p;
	p = own_pack(cx, name);
	if (p)
		return p;
	const attr_value *v = find_attr(cx, name);
	if (!v || !v->is_list || v->type != ATTR_INT) {
		expand_error(cx, DIAG_UNBOUND_PACK, at,
			     "the pack '..%s' is bound by no parameter", name);
		return NULL;
	}
	if (v->n > MAX_NDIM) {
		expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, at,
			     "'%s' has %d elements, a tensor has at most %d "
			     "dimensions",
			     name, v->n, MAX_NDIM);
		return NULL;
	}
	xpack made = { .name = name, .bound = true, .rank = v->n };
	for (int i = 0; i < v->n; i++)
		made.extents[i] = v->ints[i];
	vec_push(cx->tmp, &cx->packs, made);
	return &cx->packs.at[cx->packs.n - 1];
}

/* The positions in a pack that a broadcast parameter has; -1 where the name is
 * none's. */
static int own_positions(context *cx, const char *name, const xpack *all,
			 int64_t out[MAX_NDIM])
{
	const xpack *own = find_pack(cx, name);
	int n = 0;
	if (!own)
		own = own_pack(cx, name);
	if (!own || own->within != all->name)
		return -1;
	for (int d = 0; d < own->rank; d++)
		if (own->extents[d] == all->extents[d + own->missing])
			out[n++] = d + own->missing;
	return n;
}

/* The integers that a selector stands for: an axis attribute, a list of them,
 * a permutation, or a list literal. */
static int selector(context *cx, const ast_expr *e, int64_t out[MAX_NDIM])
{
	if (e->kind == AST_NAME) {
		const attr_value *v = find_attr(cx, e->name);
		if (v && v->n <= MAX_NDIM &&
		    (v->type == ATTR_AXIS || v->type == ATTR_INT)) {
			for (int i = 0; i < v->n; i++)
				out[i] = v->ints[i];
			return v->n;
		}
	}
	if (e->kind == AST_LIST) {
		if (e->nargs > MAX_NDIM)
			goto bad;
		for (int i = 0; i < e->nargs; i++)
			if (!expand_constant(cx, e->args[i], &out[i]))
				return -1;
		return e->nargs;
	}
	if (expand_constant(cx, e, &out[0]))
		return 1;
	return -1;
bad:
	expand_error(cx, DIAG_BAD_AXIS, e->at, "more than %d axes", MAX_NDIM);
	return -1;
}

/* Axes as positions of a pack of the given rank; negative ones count from
 * the end.  ..d[list] may have one several times, which reads a diagonal. */
static bool positions_of(context *cx, const ast_pack *p, range at, int rank,
			 int64_t *axes, int n)
{
	uint32_t seen = 0;
	for (int i = 0; i < n; i++) {
		int64_t d = axes[i] < 0 ? axes[i] + rank : axes[i];
		if (d < 0 || d >= rank) {
			expand_error(cx, DIAG_BAD_AXIS, at,
				     "axis %lld of '..%s', which has %d "
				     "dimension%s",
				     (long long)axes[i], p->name, rank,
				     rank == 1 ? "" : "s");
			return false;
		}
		if (seen & 1u << d && p->kind != PACK_PERM) {
			expand_error(cx, DIAG_BAD_AXIS, at,
				     "axis %lld of '..%s' is given twice",
				     (long long)d, p->name);
			return false;
		}
		seen |= 1u << d;
		axes[i] = d;
	}
	return true;
}

int pack_positions(context *cx, const ast_pack *p, range at, xpack **pack,
		   int positions[MAX_NDIM])
{
	*pack = need_pack(cx, p->name, at);
	if (!*pack)
		return -1;
	int rank = (*pack)->rank, n = 0;
	if (p->kind == PACK_ALL) {
		for (int d = 0; d < rank; d++)
			positions[n++] = d;
		return n;
	}
	int64_t axes[MAX_NDIM];
	int naxes = -1;
	if (p->sel->kind == AST_NAME) {
		const xpack all = **pack;
		naxes = own_positions(cx, p->sel->name, &all, axes);
		*pack = find_pack(cx, p->name);
	}
	if (naxes < 0)
		naxes = selector(cx, p->sel, axes);
	if (naxes < 0 || !positions_of(cx, p, at, rank, axes, naxes))
		return -1;
	if (p->kind == PACK_PERM) {
		for (int d = 0; d < naxes; d++)
			positions[n++] = (int)axes[d];
		return n;
	}
	uint32_t selected = 0;
	for (int i = 0; i < naxes; i++)
		selected |= 1u << axes[i];
	for (int d = 0; d < rank; d++)
		if (!!(selected & 1u << d) == (p->kind == PACK_AND))
			positions[n++] = d;
	return n;
}
