/* Signatures and names of the reference: sizes and packs bound by shapes,
 * selectors of dimensions, attributes. */
#include "config.h"

#include "compiler/verify/reference/frame.h"

#include <string.h>

void ref_refuse(frame *f, range at, const char *why)
{
	if (ref_failed(f))
		return;
	f->w->status = REF_REFUSED;
	f->w->why = why;
	f->w->at = at;
}

/* ---- names -------------------------------------------------------------- */

const ref_name *ref_find(const frame *f, const char *name)
{
	for (int i = f->names.n - 1; i >= 0; i--)
		if (f->names.at[i].name == name)
			return &f->names.at[i];
	return NULL;
}

void ref_push(frame *f, ref_name n)
{
	vec_push(f->w->arena, &f->names, n);
}

const ref_attr *ref_find_attr(const frame *f, const char *name)
{
	for (int i = 0; i < f->op->nattrs; i++)
		if (f->op->attrs[i].name == name)
			return f->attrs[i];
	return NULL;
}

/* ---- attributes --------------------------------------------------------- */

typedef struct elements {
	int64_t *ints;
	double *floats;
	const char **strings;
} elements;

static void set_element(frame *f, attr_type type, const ast_expr *e,
			elements *to, int i)
{
	if (type == ATTR_TYPE) {
		to->ints[i] = ref_type_named(f, e);
		return;
	}
	ref_number v = ref_eval(f, e);
	to->ints[i] = v.i;
	to->floats[i] = v.fraction ? v.f : (double)v.i;
	to->strings[i] = v.text;
}

const ref_attr *ref_attr_value(frame *f, const ast_attr *a, const ast_expr *e)
{
	arena *mem = f->w->arena;
	const ref_attr *other = a->is_list && e->kind == AST_NAME
					? ref_find_attr(f, e->name)
					: NULL;
	if (other)
		return other;
	int n = a->is_list ? e->nargs : 1;
	elements to = { ARENA_ARRAY(mem, int64_t, n + 1),
			ARENA_ARRAY(mem, double, n + 1),
			ARENA_ARRAY(mem, const char *, n + 1) };
	for (int i = 0; i < n; i++)
		set_element(f, a->type, a->is_list ? e->args[i] : e, &to, i);
	ref_attr *v = ARENA_NEW(mem, ref_attr);
	*v = (ref_attr){ a->type, a->is_list, n, to.ints, to.floats,
			 to.strings };
	return v;
}

static void bind_attrs(frame *f, const ref_attr *const *given)
{
	const ast_op *op = f->op;
	f->attrs = ARENA_ARRAY(f->w->arena, const ref_attr *, op->nattrs + 1);
	for (int i = 0; i < op->nattrs && !ref_failed(f); i++) {
		const ast_attr *a = &op->attrs[i];
		if (!given[i] && !a->init) {
			ref_refuse(f, a->at, "an attribute has no value");
			return;
		}
		f->attrs[i] = given[i] ? given[i]
				       : ref_attr_value(f, a, a->init);
		ref_push(f, (ref_name){ .name = a->name, .means = MEANS_ATTR,
					.attr = f->attrs[i] });
	}
}

/* ---- packs -------------------------------------------------------------- */

static int find_pack(const frame *f, const char *name)
{
	for (int i = 0; i < f->packs.n; i++)
		if (f->packs.at[i].name == name)
			return i;
	return -1;
}

static int add_pack(frame *f, ref_pack p)
{
	for (int d = 0; d < REF_MAX_NDIM; d++)
		p.index[d] = -1;
	vec_push(f->w->arena, &f->packs, p);
	return f->packs.n - 1;
}

int ref_broadcast(frame *f, const ref_name *n, int *at)
{
	const ast_tensor *t = n->declared;
	for (int i = 0; t && t->broadcast && i < t->ndims; i++)
		if (t->dims[i]->kind == AST_PACK) {
			*at = i;
			return find_pack(f, t->dims[i]->pack->name);
		}
	return -1;
}

int ref_rank(frame *f, const ref_name *n)
{
	int at, pack = ref_broadcast(f, n, &at);
	return pack < 0 ? n->tensor->ndim
			: n->declared->ndims - 1 + f->packs.at[pack].rank;
}

/* The pack of a broadcast parameter's own dimensions; -1 if the name is no such
 * parameter. */
static int own_pack(frame *f, const char *name)
{
	const ref_name *n = ref_find(f, name);
	int at = 0, all;
	if (!n || n->means != MEANS_TENSOR)
		return -1;
	all = ref_broadcast(f, n, &at);
	if (all < 0)
		return -1;
	ref_pack own = { .name = name, .within = all };
	own.rank = n->tensor->ndim - (n->declared->ndims - 1);
	own.missing = f->packs.at[all].rank - own.rank;
	for (int d = 0; d < own.rank; d++)
		own.extents[d] = n->tensor->dims[at + d];
	return add_pack(f, own);
}

/* The pack whose extents an attribute's list gives; -1 if there is none. */
static int listed_pack(frame *f, const char *name)
{
	const ref_attr *v = ref_find_attr(f, name);
	if (!v || !v->is_list || v->n > REF_MAX_NDIM)
		return -1;
	ref_pack p = { .name = name, .rank = v->n, .within = -1 };
	for (int i = 0; i < v->n; i++)
		p.extents[i] = v->ints[i];
	return add_pack(f, p);
}

static int need_pack(frame *f, const char *name, range at)
{
	int p = find_pack(f, name);
	if (p < 0)
		p = own_pack(f, name);
	if (p < 0)
		p = listed_pack(f, name);
	if (p < 0)
		ref_refuse(f, at, "a pack is not bound");
	return p;
}

/* Marks the positions in pack `all' that a broadcast parameter has. */
static bool own_axes(frame *f, const ast_expr *sel, int all, bool *selected)
{
	const ref_name *n = sel->kind == AST_NAME ? ref_find(f, sel->name)
						  : NULL;
	if (!n || n->means != MEANS_TENSOR)
		return false;
	int p = need_pack(f, sel->name, sel->at);
	if (p < 0)
		return false;
	const ref_pack *own = &f->packs.at[p], *of = &f->packs.at[all];
	for (int d = 0; d < own->rank; d++)
		if (own->extents[d] == of->extents[d + own->missing])
			selected[d + own->missing] = true;
	return true;
}

/* The axes that a selector lists, counted from 0.  Returns their number. */
static int listed_axes(frame *f, const ast_expr *sel, int rank,
		       int axes[REF_MAX_NDIM])
{
	const ref_attr *v = sel->kind == AST_NAME ? ref_find_attr(f, sel->name)
						  : NULL;
	int n = v ? v->n : sel->kind == AST_LIST ? sel->nargs : 1;
	for (int i = 0; i < n && i < REF_MAX_NDIM; i++) {
		int64_t a = v ? v->ints[i]
			    : ref_eval_size(f, sel->kind == AST_LIST
						       ? sel->args[i]
						       : sel);
		if (a < -rank || a >= rank) {
			ref_refuse(f, sel->at, "an axis is out of range");
			return 0;
		}
		axes[i] = (int)(a < 0 ? a + rank : a);
	}
	return n < REF_MAX_NDIM ? n : REF_MAX_NDIM;
}

int ref_positions(frame *f, const ast_pack *p, range at, int *pack,
		  int positions[REF_MAX_NDIM])
{
	bool selected[REF_MAX_NDIM] = { false };
	int n = 0;
	*pack = need_pack(f, p->name, at);
	if (*pack < 0)
		return -1;
	int rank = f->packs.at[*pack].rank;
	if (p->kind == PACK_PERM)
		return listed_axes(f, p->sel, rank, positions);
	if (p->kind != PACK_ALL && !own_axes(f, p->sel, *pack, selected)) {
		int axes[REF_MAX_NDIM];
		int naxes = listed_axes(f, p->sel, rank, axes);
		for (int i = 0; i < naxes; i++)
			selected[axes[i]] = true;
	}
	for (int d = 0; d < rank; d++)
		if (p->kind == PACK_ALL ||
		    selected[d] == (p->kind == PACK_AND))
			positions[n++] = d;
	return ref_failed(f) ? -1 : n;
}

int ref_width(frame *f, const ast_expr *item)
{
	int pack, positions[REF_MAX_NDIM];
	if (item->kind != AST_PACK)
		return 1;
	if (item->pack->kind == PACK_CALL)
		return -1;
	int n = ref_positions(f, item->pack, item->at, &pack, positions);
	return n < 0 ? 0 : n;
}

/* ---- sizes and packs of parameters -------------------------------------- */

/* Whether at most one pack of a parameter is unknown; *open is that one, -1 if
 * all are known. */
static bool is_ready(frame *f, const ast_tensor *t, int *open)
{
	*open = -1;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *d = t->dims[i];
		if (d->kind != AST_PACK || find_pack(f, d->pack->name) >= 0 ||
		    listed_pack(f, d->pack->name) >= 0)
			continue;
		if (*open >= 0 || d->pack->kind != PACK_ALL)
			return false;
		*open = i;
	}
	return true;
}

static void bind_size(frame *f, const ast_expr *d, int64_t extent)
{
	if (d->kind == AST_NAME && !ref_find(f, d->name))
		ref_push(f, (ref_name){ .name = d->name,
					.means = MEANS_NUMBER,
					.v = ref_constant(extent) });
}

static void bind_param(frame *f, int param, int open)
{
	const ast_tensor *t = &f->op->params[param];
	const ref_tensor *of = &f->params[param];
	int at = 0, known = 0;
	for (int i = 0; i < t->ndims; i++)
		if (i != open)
			known += ref_width(f, t->dims[i]);
	for (int i = 0; i < t->ndims && at <= of->ndim; i++) {
		const ast_expr *d = t->dims[i];
		if (i == open) {
			ref_pack p = { .name = d->pack->name, .within = -1,
				       .rank = of->ndim - known };
			for (int j = 0; j < p.rank; j++)
				p.extents[j] = of->dims[at + j];
			add_pack(f, p);
		} else if (d->kind != AST_PACK) {
			bind_size(f, d, of->dims[at]);
		}
		at += ref_width(f, d);
	}
}

/* Widens the pack of a broadcast parameter as needed, with shapes aligned at
 * their ends. */
static void bind_broadcast(frame *f, int param)
{
	const ast_tensor *t = &f->op->params[param];
	const ref_tensor *of = &f->params[param];
	int at = 0, rank = of->ndim - (t->ndims - 1);
	while (t->dims[at]->kind != AST_PACK)
		at++;
	const char *name = t->dims[at]->pack->name;
	int found = find_pack(f, name);
	if (found < 0)
		found = listed_pack(f, name);
	if (found < 0)
		found = add_pack(f, (ref_pack){ .name = name, .within = -1 });
	ref_pack *p = &f->packs.at[found];
	for (; p->rank < rank; p->rank++) {
		memmove(p->extents + 1, p->extents,
			(REF_MAX_NDIM - 1) * sizeof(*p->extents));
		p->extents[0] = 1;
	}
	for (int d = 0; d < rank; d++) {
		int64_t *extent = &p->extents[p->rank - rank + d];
		if (*extent == 1)
			*extent = of->dims[at + d];
	}
	for (int i = 0; i < t->ndims; i++)
		if (i != at)
			bind_size(f, t->dims[i],
				  of->dims[i < at ? i : i + rank - 1]);
}

static void bind_params(frame *f)
{
	const ast_op *op = f->op;
	bool *done = ARENA_ARRAY(f->w->arena, bool, op->nparams + 1);
	for (int round = 0; round < 2; round++) {
		for (bool any = true; any;) {
			any = false;
			for (int i = 0; i < op->nparams; i++) {
				int open;
				if (done[i] || op->params[i].broadcast ||
				    !is_ready(f, &op->params[i], &open))
					continue;
				bind_param(f, i, open);
				done[i] = any = true;
			}
		}
		for (int i = 0; i < op->nparams && round == 0; i++)
			if (op->params[i].broadcast) {
				bind_broadcast(f, i);
				done[i] = true;
			}
	}
	for (int i = 0; i < op->nparams; i++)
		if (!done[i])
			ref_refuse(f, op->params[i].at,
				   "a parameter's packs are not bound");
}

void ref_bind_signature(frame *f, const ref_attr *const *attrs)
{
	const ast_op *op = f->op;
	f->shared = DT_NONE;
	for (int i = 0; i < op->nparams; i++)
		if (!op->params[i].type.name && f->shared == DT_NONE)
			f->shared = f->params[i].type;
	bind_attrs(f, attrs);
	if (!ref_failed(f))
		bind_params(f);
	for (int i = 0; i < op->nparams; i++)
		ref_push(f, (ref_name){ .name = op->params[i].name,
					.means = MEANS_TENSOR,
					.tensor = &f->params[i],
					.declared = &op->params[i] });
}

/* ---- declarations ------------------------------------------------------- */

dtype ref_declared(frame *f, const ast_type *t)
{
	if (!t->name)
		return f->shared;
	if (dtype_parse(t->name) != DT_NONE)
		return dtype_parse(t->name);
	const ref_attr *v = ref_find_attr(f, t->name);
	if (v)
		return (dtype)v->ints[0];
	for (int i = 0; i < f->op->nparams; i++) {
		const char *name = f->op->params[i].type.name;
		if (name && !strcmp(name, t->name))
			return f->params[i].type;
	}
	bool is_int = !strcmp(t->name, "int");
	if (is_int ? dtype_is_int(f->shared) : dtype_is_float(f->shared))
		return f->shared;
	return is_int ? DT_I64 : DT_F32;
}

void ref_declared_dims(frame *f, const ast_tensor *t, ref_tensor *to)
{
	to->ndim = 0;
	for (int i = 0; i < t->ndims && !ref_failed(f); i++) {
		const ast_expr *d = t->dims[i];
		int pack = -1, positions[REF_MAX_NDIM], n = 1;
		if (d->kind == AST_PACK)
			n = ref_positions(f, d->pack, d->at, &pack, positions);
		if (to->ndim + n > REF_MAX_NDIM) {
			ref_refuse(f, d->at, "too many dimensions");
			return;
		}
		for (int j = 0; j < n; j++)
			to->dims[to->ndim++] =
				pack < 0 ? ref_eval_size(f, d)
					 : f->packs.at[pack]
						   .extents[positions[j]];
	}
}
