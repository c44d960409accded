/* Signatures: sizes and packs are bound by the arguments' shapes, and
 * attributes get their values. */
#include "config.h"

#include "compiler/expand/signature.h"

#include <math.h>
#include <string.h>

/* ---- element types ------------------------------------------------------ */

static bool is_class(const ast_type *t)
{
	return t->kind == TYPE_INT || t->kind == TYPE_FLOAT;
}

static bool in_class(const ast_type *class, dtype t)
{
	return class->kind == TYPE_INT ? dtype_is_int(t) : dtype_is_float(t);
}

/* The type that stands for a class: that of the first parameter with this
 * class, or else the shared type. */
static dtype type_of_class(const context *cx, const ast_type *t)
{
	for (int i = 0; i < cx->op->nparams; i++)
		if (cx->op->params[i].type.kind == t->kind)
			return cx->values.at[i].type.type;
	if (cx->shared != DT_NONE && in_class(t, cx->shared))
		return cx->shared;
	return t->kind == TYPE_INT ? DT_I64 : DT_F32;
}

dtype type_said(const context *cx, const ast_type *t)
{
	const attr_value *v;
	switch (t->kind) {
	case TYPE_SHARED:
		return cx->shared;
	case TYPE_EXACT:
		return t->exact;
	case TYPE_INT:
	case TYPE_FLOAT:
		return type_of_class(cx, t);
	case TYPE_NAMED:
		v = find_attr(cx, t->symbol);
		return v && v->type == ATTR_TYPE ? (dtype)v->ints[0] : DT_NONE;
	case TYPE_TENSOR:
		return cx->values.at[find_name(cx, t->symbol)->index].type.type;
	case TYPE_ANY:
		break;
	}
	return DT_NONE;
}

bool bind_type(context *cx, const ast_tensor *p, dtype t)
{
	const ast_type *want = &p->type;
	if (want->kind == TYPE_SHARED) {
		if (cx->shared == DT_NONE)
			cx->shared = t;
		if (cx->shared == t)
			return true;
		expand_error(cx, DIAG_TYPE_MISMATCH, p->at,
			     "'%s' is of type %s, other arguments without a "
			     "declared type are of type %s",
			     p->name, dtype_name(t), dtype_name(cx->shared));
		return false;
	}
	dtype exact = type_said(cx, want);
	if (is_class(want) ? in_class(want, t) : exact == t)
		return true;
	expand_error(cx, DIAG_TYPE_MISMATCH, p->at,
		     "'%s' is of type %s, %s is declared", p->name,
		     dtype_name(t),
		     is_class(want) ? want->name : dtype_name(exact));
	return false;
}

/* ---- dimensions --------------------------------------------------------- */

/* Finds the widths of the items of a declared shape: 1 for a size, the rank for
 * a bound pack.  Sets *open to the item that is an unbound pack, -1 if there is
 * none.  Returns the sum of widths; -1 if a pack cannot be bound yet, -2 after
 * an error. */
static int widths(context *cx, const ast_tensor *t, int *width, int *open)
{
	int total = 0;
	*open = -1;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *d = t->dims[i];
		width[i] = 1;
		if (d->kind == AST_PACK) {
			const xpack *p = find_pack(cx, d->pack->symbol);
			bool attr = find_attr(cx, d->pack->symbol) != NULL;
			if (p || attr) {
				xpack *q;
				int positions[MAX_NDIM];
				width[i] = pack_positions(cx, d->pack, d->at,
							  &q, positions);
				if (width[i] < 0)
					return -2;
			} else if (d->pack->kind == PACK_ALL && *open < 0) {
				*open = i;
				width[i] = 0;
			} else {
				return -1;
			}
		}
		total += width[i];
	}
	return total;
}

bool dims_ready(context *cx, const ast_tensor *t)
{
	int open, *width = ARENA_ARRAY(cx->tmp, int, t->ndims + 1);
	return widths(cx, t, width, &open) != -1;
}

static void say_rank(context *cx, const ast_tensor *t, const tensor_type *type,
		     int want, bool least)
{
	expand_error(cx, DIAG_SHAPE_MISMATCH, t->at,
		     "'%s' has %d dimension%s here, %s%d %s declared", t->name,
		     type->ndim, type->ndim == 1 ? "" : "s",
		     least ? "at least " : "", want, want == 1 ? "is" : "are");
}

static bool bind_size(context *cx, const ast_tensor *t, const ast_expr *d,
		      int64_t extent)
{
	const xname *n = find_name(cx, d->symbol);
	if (d->kind == AST_NAME && !n) {
		bind_name(cx, d->symbol,
			  (xname){ .kind = NAME_SIZE, .v = val_int(extent),
				   .at = d->at });
		return true;
	}
	if (d->kind != AST_NAME)
		return true; /* check_sizes() reports it */
	int64_t known;
	if (!expand_constant(cx, d, &known))
		return false;
	if (known == extent)
		return true;
	expand_error(cx, DIAG_SHAPE_MISMATCH, d->at,
		     "'%s' is %lld in '%s' here, and %lld before", d->name,
		     (long long)extent, t->name, (long long)known);
	if (n->at.beg && n->at.beg != d->at.beg)
		diag_note(cx->sink, n->at, "'%s' is bound here", d->name);
	return false;
}

static bool match_pack(context *cx, const ast_tensor *t, const ast_expr *d,
		       const int64_t *extents)
{
	xpack *p;
	int positions[MAX_NDIM];
	int n = pack_positions(cx, d->pack, d->at, &p, positions);
	for (int i = 0; i < n; i++) {
		if (p->extents[positions[i]] == extents[i])
			continue;
		expand_error(cx, DIAG_SHAPE_MISMATCH, d->at,
			     "dimension %d of '..%s' is %lld in '%s' here, and "
			     "%lld before",
			     positions[i], p->name, (long long)extents[i],
			     t->name, (long long)p->extents[positions[i]]);
		return false;
	}
	return n >= 0;
}

bool bind_dims(context *cx, const ast_tensor *t, const tensor_type *type)
{
	int open, *width = ARENA_ARRAY(cx->tmp, int, t->ndims + 1);
	int total = widths(cx, t, width, &open);
	if (total < 0)
		return false;
	if (open >= 0 ? total > type->ndim : total != type->ndim) {
		say_rank(cx, t, type, total, open >= 0);
		return false;
	}
	if (open >= 0) {
		xpack p = { .rank = type->ndim - total };
		int before = 0;
		for (int i = 0; i < open; i++)
			before += width[i];
		memcpy(p.extents, type->dims + before,
		       (size_t)p.rank * sizeof(int64_t));
		add_pack(cx, t->dims[open]->pack->symbol, p);
		width[open] = p.rank;
	}
	for (int i = 0, at = 0; i < t->ndims; at += width[i++]) {
		const ast_expr *d = t->dims[i];
		bool ok = d->kind == AST_PACK
				  ? match_pack(cx, t, d, type->dims + at)
				  : bind_size(cx, t, d, type->dims[at]);
		if (!ok)
			return false;
	}
	return true;
}

/* ---- broadcasting ------------------------------------------------------- */

/* The pack of a broadcast tensor.  Sets its position and the number of the
 * tensor's other dimensions. */
static const ast_expr *broadcast_pack(const ast_tensor *t, int *at, int *others)
{
	const ast_expr *pack = NULL;
	*others = 0;
	for (int i = 0; i < t->ndims; i++) {
		if (t->dims[i]->kind == AST_PACK && !pack) {
			pack = t->dims[i];
			*at = i;
		} else {
			++*others;
		}
	}
	return pack;
}

static bool broadcast_extent(context *cx, const ast_tensor *t, range at,
			     int64_t *into, int64_t extent, bool fixed)
{
	if (extent == *into || extent == 1)
		return true;
	if (*into == 1 && !fixed) {
		*into = extent;
		return true;
	}
	expand_error(cx, DIAG_SHAPE_MISMATCH, at,
		     "'%s' has %lld elements where others have %lld; they "
		     "cannot be broadcast together",
		     t->name, (long long)extent, (long long)*into);
	return false;
}

/* Widens pack p to cover the pack's part of a shape.  fixed: another tensor
 * binds the pack. */
static bool widen(context *cx, const ast_tensor *t, xpack *p, bool fixed,
		  const tensor_type *type)
{
	int at = 0, others;
	const ast_expr *d = broadcast_pack(t, &at, &others);
	int rank = type->ndim - others;
	if (rank < 0 || (fixed && rank > p->rank)) {
		say_rank(cx, t, type, rank < 0 ? others : p->rank, rank < 0);
		return false;
	}
	while (p->rank < rank) {
		memmove(p->extents + 1, p->extents,
			(MAX_NDIM - 1) * sizeof(int64_t));
		p->extents[0] = 1;
		p->rank++;
	}
	for (int i = 0; i < rank; i++)
		if (!broadcast_extent(cx, t, d->at,
				      &p->extents[p->rank - rank + i],
				      type->dims[at + i], fixed))
			return false;
	return true;
}

/* Binds packs of broadcast parameters that an attribute gives.  These are not
 * widened. */
static bool bind_given_packs(context *cx)
{
	for (int i = 0; i < cx->op->nparams; i++) {
		const ast_tensor *t = &cx->op->params[i];
		int at, others;
		const ast_expr *d =
			t->broadcast ? broadcast_pack(t, &at, &others) : NULL;
		if (d && !find_pack(cx, d->pack->symbol) &&
		    find_attr(cx, d->pack->symbol) &&
		    !need_pack(cx, d->pack->symbol, d->at))
			return false;
	}
	return true;
}

/* Whether a pack is one of the first n. */
static bool is_one_of(const context *cx, const xpack *p, int n)
{
	for (int i = 0; i < n; i++)
		if (cx->packs.at[i] == p)
			return true;
	return false;
}

bool bind_broadcast(context *cx, const tensor_type *types)
{
	const ast_op *op = cx->op;
	if (!bind_given_packs(cx))
		return false;
	int before = cx->packs.n;
	for (int i = 0; i < op->nparams; i++) {
		const ast_tensor *t = &op->params[i];
		int at = 0, others;
		const ast_expr *d =
			t->broadcast ? broadcast_pack(t, &at, &others) : NULL;
		if (!d)
			continue;
		if (!find_pack(cx, d->pack->symbol))
			add_pack(cx, d->pack->symbol, (xpack){ 0 });
		xpack *p = find_pack(cx, d->pack->symbol);
		if (!widen(cx, t, p, is_one_of(cx, p, before), &types[i]))
			return false;
		for (int j = 0; j < t->ndims; j++) {
			int k = j < at ? j : types[i].ndim - (t->ndims - j);
			if (j != at && !bind_size(cx, t, t->dims[j],
						  types[i].dims[k]))
				return false;
		}
		xvalue *v = &cx->values.at[i];
		v->broadcast = p;
		v->pack_at = at;
	}
	for (int i = 0; i < op->nparams; i++) {
		xvalue *v = &cx->values.at[i];
		if (v->broadcast)
			v->rank = op->params[i].ndims - 1 +
				  v->broadcast->rank;
	}
	return true;
}

bool check_sizes(context *cx, const ast_tensor *t, const tensor_type *type)
{
	int open, at = 0, *width = ARENA_ARRAY(cx->tmp, int, t->ndims + 1);
	if (t->broadcast)
		return true;
	widths(cx, t, width, &open);
	for (int i = 0; i < t->ndims; at += width[i++]) {
		const ast_expr *d = t->dims[i];
		int64_t want;
		if (d->kind == AST_PACK || d->kind == AST_NAME)
			continue;
		if (!expand_constant(cx, d, &want))
			return false;
		if (want != type->dims[at]) {
			expand_error(cx, DIAG_SHAPE_MISMATCH, d->at,
				     "dimension %d of '%s' has %lld elements, "
				     "%lld are declared",
				     at, t->name, (long long)type->dims[at],
				     (long long)want);
			return false;
		}
	}
	return true;
}

bool eval_dims(context *cx, const ast_tensor *t, tensor_type *type)
{
	type->ndim = 0;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *d = t->dims[i];
		xpack *p = NULL;
		int positions[MAX_NDIM], n = 1;
		if (d->kind == AST_PACK)
			n = pack_positions(cx, d->pack, d->at, &p, positions);
		if (n < 0)
			return false;
		if (type->ndim + n > MAX_NDIM) {
			expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, t->at,
				     "'%s' would have more than %d dimensions",
				     t->name, MAX_NDIM);
			return false;
		}
		for (int j = 0; j < n; j++) {
			int64_t extent;
			if (p)
				extent = p->extents[positions[j]];
			else if (!expand_constant(cx, d, &extent))
				return false;
			if (extent < 0) {
				expand_error(cx, DIAG_NEGATIVE_EXTENT, d->at,
					     "dimension %d of '%s' would have "
					     "%lld elements",
					     type->ndim, t->name,
					     (long long)extent);
				return false;
			}
			type->dims[type->ndim++] = extent;
		}
	}
	return true;
}
