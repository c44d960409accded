/* Names, packs and attributes. */
#include "config.h"

#include "compiler/expand/context.h"

#include <string.h>

void begin_names(context *cx)
{
	cx->names = ARENA_ARRAY(cx->tmp, xname, cx->op->nsymbols);
	cx->pack_of = ARENA_ARRAY(cx->tmp, xpack *, cx->op->nsymbols);
}

const xname *find_name(const context *cx, const ast_symbol *s)
{
	const xname *n = s ? &cx->names[s->number] : NULL;
	return n && n->kind != NAME_UNBOUND ? n : NULL;
}

void bind_name(context *cx, const ast_symbol *s, xname n)
{
	cx->names[s->number] = n;
}

bool expand_broken(context *cx, const xname *n)
{
	if (!n || n->kind != NAME_BROKEN)
		return false;
	/* Several lets that fail because of the same let report one error. */
	if (!cx->failed)
		diag_join(cx->sink, n->broken->why);
	cx->failed = true;
	return true;
}

void bind_param_name(context *cx, int i, xname n)
{
	cx->names[i] = n;
}

void bind_attr_name(context *cx, int i, xname n)
{
	cx->names[cx->op->nparams + i] = n;
}

const attr_value *find_attr(const context *cx, const ast_symbol *s)
{
	return s && s->kind == SYMBOL_ATTR ? cx->attrs[s->index] : NULL;
}

/* ---- packs -------------------------------------------------------------- */

xpack *find_pack(const context *cx, const ast_symbol *s)
{
	return cx->pack_of[s->number];
}

xpack *add_pack(context *cx, const ast_symbol *s, xpack p)
{
	xpack *copy = ARENA_COPY(cx->tmp, &p, 1);
	copy->name = s->name;
	vec_push(cx->tmp, &cx->packs, copy);
	return cx->pack_of[s->number] = copy;
}

/* The pack of a broadcast parameter's own dimensions; NULL if the symbol is not
 * one. */
static xpack *own_pack(context *cx, const ast_symbol *s)
{
	const xname *n = find_name(cx, s);
	const xvalue *v = n && n->kind == NAME_TENSOR
				  ? &cx->values.at[n->index]
				  : NULL;
	if (!v || !v->broadcast)
		return NULL;
	if (find_pack(cx, s))
		return find_pack(cx, s);
	xpack own = { .within = (xpack *)v->broadcast,
		      .missing = v->rank - v->type.ndim };
	own.rank = v->broadcast->rank - own.missing;
	for (int d = 0; d < own.rank; d++)
		own.extents[d] = v->type.dims[v->pack_at + d];
	return add_pack(cx, s, own);
}

xpack *need_pack(context *cx, const ast_symbol *s, range at)
{
	xpack *p = find_pack(cx, s);
	if (!p)
		p = own_pack(cx, s);
	if (p)
		return p;
	const attr_value *v = find_attr(cx, s);
	if (!v || !v->is_list || v->type != ATTR_INT) {
		expand_error(cx, DIAG_UNBOUND_PACK, at,
			     "the pack '..%s' is bound by no parameter",
			     s->name);
		return NULL;
	}
	if (v->n > MAX_NDIM) {
		expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, at,
			     "'%s' has %d elements, a tensor has at most %d "
			     "dimensions",
			     s->name, v->n, MAX_NDIM);
		return NULL;
	}
	xpack made = { .rank = v->n };
	for (int i = 0; i < v->n; i++)
		made.extents[i] = v->ints[i];
	return add_pack(cx, s, made);
}

/* The positions of a pack that a broadcast parameter has.  Returns their
 * number, -1 if the symbol is no such parameter. */
static int own_positions(context *cx, const ast_symbol *s, const xpack *all,
			 int64_t out[MAX_NDIM])
{
	const xpack *own = s ? own_pack(cx, s) : NULL;
	int n = 0;
	if (!own || own->within != all)
		return -1;
	for (int d = 0; d < own->rank; d++)
		if (own->extents[d] == all->extents[d + own->missing])
			out[n++] = d + own->missing;
	return n;
}

/* The integers of a selector: an axis attribute, a list of axes, a permutation
 * or a list literal. */
static int selector(context *cx, const ast_expr *e, int64_t out[MAX_NDIM])
{
	if (e->kind == AST_NAME) {
		const attr_value *v = find_attr(cx, e->symbol);
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

/* Converts axes to positions in a pack of the given rank; negative ones count
 * from the end.  ..d[list] may name an axis several times, which reads a
 * diagonal. */
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
	*pack = need_pack(cx, p->symbol, at);
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
	if (p->sel->kind == AST_NAME)
		naxes = own_positions(cx, p->sel->symbol, *pack, axes);
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
