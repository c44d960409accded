/* Shapes, attributes and types that may suit an operator.
 *
 * Sizes and packs are drawn by name, so that dimensions that a signature
 * declares equal are equal; an attribute by the role that it has in the text.
 * Other requirements (a divisor, a window that fits) are left to chance:
 * expansion refuses a draw that does not suit, and another one is made. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { MAX_RANK = 4 };

typedef struct drawer {
	arena *arena;
	rng *r;
	const ast_op *op;
	const role *roles;
	draw *d;
	int64_t max;	 /* of an extent */
	int rank;	 /* at most, of a pack */
	bool empty;	 /* extents of 0 are drawn, too */
	bool repeats;	 /* operands are broadcast */
	bool defaults;	 /* are preferred */
	bool plain;	 /* packs of one dimension, of two where axes are
			    selected, then the last */
	dtype shared, of_float, of_int;
} drawer;

/* ---- names -------------------------------------------------------------- */

static int find_attr(const ast_op *op, const char *name)
{
	for (int i = 0; i < op->nattrs; i++)
		if (op->attrs[i].name == name)
			return i;
	return -1;
}

static draw_pack *find_pack(draw *d, const char *name)
{
	for (int i = 0; i < d->packs.n; i++)
		if (d->packs.at[i].name == name)
			return &d->packs.at[i];
	return NULL;
}

static const draw_size *find_size(const draw *d, const char *name)
{
	for (int i = 0; i < d->sizes.n; i++)
		if (d->sizes.at[i].name == name)
			return &d->sizes.at[i];
	return NULL;
}

/* ---- sizes and packs ---------------------------------------------------- */

static int64_t draw_extent(drawer *w)
{
	if (w->empty && rng_percent(w->r, 15))
		return 0;
	if (rng_percent(w->r, 15))
		return 1;
	return rng_in(w->r, 2, w->max);
}

static void add_size(drawer *w, const char *name)
{
	if (!find_size(w->d, name) && find_attr(w->op, name) < 0)
		vec_push(w->arena, &w->d->sizes,
			 ((draw_size){ name, draw_extent(w) }));
}

/* Whether an attribute selects axes of a pack. */
static bool selects(const drawer *w, const char *pack)
{
	for (int i = 0; i < w->op->nattrs; i++)
		if (w->roles[i].kind == ROLE_AXES &&
		    (!w->roles[i].pack || w->roles[i].pack == pack))
			return true;
	return false;
}

static void add_pack(drawer *w, const char *name)
{
	if (find_pack(w->d, name))
		return;
	draw_pack p = { .name = name, .rank = (int)rng_in(w->r, 0, w->rank) };
	if (w->plain)
		p.rank = selects(w, name) ? 2 : 1;
	for (int i = 0; i < p.rank; i++)
		p.dims[i] = draw_extent(w);
	vec_push(w->arena, &w->d->packs, p);
}

static void add_names(drawer *w, const ast_expr *e)
{
	if (e->kind == AST_NAME)
		add_size(w, e->name);
	if (e->kind == AST_PACK && e->pack->name)
		add_pack(w, e->pack->name);
	for (int i = 0; i < e->nargs; i++)
		add_names(w, e->args[i]);
}

static int count_dims(const ast_op *op)
{
	int most = 0;
	for (int i = 0; i < op->nparams; i++)
		if (op->params[i].ndims > most)
			most = op->params[i].ndims;
	return most;
}

/* ---- attributes --------------------------------------------------------- */

typedef struct values {
	int n;
	int64_t *ints;
	double *floats;
	const char **strings;
} values;

static values new_values(drawer *w, int n)
{
	return (values){ n, ARENA_ARRAY(w->arena, int64_t, n + 1),
			 ARENA_ARRAY(w->arena, double, n + 1),
			 ARENA_ARRAY(w->arena, const char *, n + 1) };
}

static int64_t some_size(drawer *w)
{
	const draw *d = w->d;
	if (d->sizes.n && rng_percent(w->r, 60))
		return d->sizes.at[rng_in(w->r, 0, d->sizes.n - 1)].value;
	if (!d->packs.n)
		return rng_in(w->r, 1, 6);
	const draw_pack *p = &d->packs.at[rng_in(w->r, 0, d->packs.n - 1)];
	return p->rank ? p->dims[rng_in(w->r, 0, p->rank - 1)] : 1;
}

static int64_t draw_int(drawer *w)
{
	switch (rng_in(w->r, 0, 19)) {
	case 0: case 1: case 2:
		return 0;
	case 3: case 4: case 5: case 6:
		return 2;
	case 7: case 8:
		return 3;
	case 9:
		return -1;
	case 10: case 11:
		return some_size(w);
	case 12:
		return some_size(w) * rng_in(w->r, 1, 3);
	case 13:
		return some_size(w) - rng_in(w->r, 1, 2);
	default:
		return 1;
	}
}

static const dtype float_types[] = { DT_F32, DT_F32, DT_F64, DT_F16, DT_BF16 };
static const dtype int_types[] = { DT_I64, DT_I64, DT_I32, DT_I16, DT_U8 };

static dtype draw_float_type(drawer *w)
{
	return float_types[rng_in(w->r, 0, 4)];
}

static dtype draw_int_type(drawer *w)
{
	return int_types[rng_in(w->r, 0, 4)];
}

static void draw_element(drawer *w, const ast_attr *attr, const role *use,
			 values *v, int i)
{
	static const double floats[] = { 1, 0.5, 2, -1, 0.125, 0 };
	switch (attr->type) {
	case ATTR_AXIS:
	case ATTR_INT:
		v->ints[i] = draw_int(w);
		break;
	case ATTR_BOOL:
		v->ints[i] = rng_percent(w->r, 50);
		break;
	case ATTR_FLOAT:
		v->floats[i] = floats[rng_in(w->r, 0, 5)];
		break;
	case ATTR_TYPE:
		v->ints[i] = rng_percent(w->r, 60) ? w->shared
			     : rng_percent(w->r, 50) ? draw_float_type(w)
						     : draw_int_type(w);
		break;
	case ATTR_STRING:
		v->strings[i] = use->nwords && rng_percent(w->r, 80)
			? use->words[rng_in(w->r, 0, use->nwords - 1)] : "";
		break;
	default:
		break;
	}
}

static void shuffle(rng *r, int64_t *v, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int64_t j = rng_in(r, 0, i), x = v[i];
		v[i] = v[j];
		v[j] = x;
	}
}

/* The rank of the pack that an attribute selects from; where a call says which,
 * that of the first parameter. */
static int rank_for(drawer *w, const role *use)
{
	const draw_pack *p = use->pack ? find_pack(w->d, use->pack) : NULL;
	if (p)
		return p->rank;
	if (!w->op->nparams)
		return 0;
	const ast_tensor *t = &w->op->params[0];
	int rank = 0;
	for (int i = 0; i < t->ndims; i++) {
		p = t->dims[i]->kind == AST_PACK && t->dims[i]->pack->name
			    ? find_pack(w->d, t->dims[i]->pack->name) : NULL;
		rank += p ? p->rank : 1;
	}
	return rank;
}

/* Different axes of n, some counted from the end; all of them, in any order,
 * for a permutation. */
static bool draw_axes(drawer *w, const ast_attr *attr, int n, bool all,
		      values *v)
{
	int64_t axes[MAX_NDIM];
	if (n > MAX_NDIM || (!attr->is_list && n == 0))
		return false;
	for (int i = 0; i < n; i++)
		axes[i] = i;
	shuffle(w->r, axes, n);
	int take = all ? n : attr->is_list ? (int)rng_in(w->r, 0, n) : 1;
	if (attr->length >= 0 && attr->is_list)
		take = attr->length;
	if (w->plain && !all && take > 0) {
		take = 1;
		axes[0] = n - 1;
	}
	if (take > n)
		return false;
	*v = new_values(w, take);
	for (int i = 0; i < take; i++) {
		bool back = !all && rng_percent(w->r, 40);
		v->ints[i] = back ? axes[i] - n : axes[i];
	}
	return true;
}

/* Other dimensions for as many elements: those of some parameter in another
 * order, two of them merged, one of them divided. */
static values reshaped(drawer *w)
{
	int64_t dims[2 * MAX_NDIM];
	int n = 0;
	if (w->op->nparams) {
		const tensor_type *t =
			&w->d->types[rng_in(w->r, 0, w->op->nparams - 1)];
		n = t->ndim;
		memcpy(dims, t->dims, sizeof(t->dims));
	} else {
		n = (int)rng_in(w->r, 0, w->rank);
		for (int i = 0; i < n; i++)
			dims[i] = draw_extent(w);
	}
	if (rng_percent(w->r, 30))
		shuffle(w->r, dims, n);
	for (int i = 0; i + 1 < n; i++)
		if (rng_percent(w->r, 40)) {
			dims[i] *= dims[i + 1];
			memmove(&dims[i + 1], &dims[i + 2],
				(size_t)(n - i - 2) * sizeof(*dims));
			n--;
		}
	for (int i = 0; i < n && n < MAX_RANK; i++) {
		int64_t by = rng_in(w->r, 2, 3);
		if (dims[i] == 0 || dims[i] % by || rng_percent(w->r, 50))
			continue;
		memmove(&dims[i + 1], &dims[i],
			(size_t)(n - i) * sizeof(*dims));
		dims[i] = by;
		dims[++i] /= by;
		n++;
	}
	values v = new_values(w, n);
	memcpy(v.ints, dims, (size_t)n * sizeof(*dims));
	return v;
}

static values pack_values(drawer *w, const draw_pack *p)
{
	values v = new_values(w, p->rank);
	memcpy(v.ints, p->dims, (size_t)p->rank * sizeof(int64_t));
	return v;
}

/* Returns false if there is nothing to draw from; an attribute that is to have
 * its default is left without a value. */
static bool draw_attr(drawer *w, int i, bool shapes_known)
{
	const ast_attr *attr = &w->op->attrs[i];
	const role *use = &w->roles[i];
	const draw_pack *p = find_pack(w->d, attr->name);
	values v;
	if (use->kind == ROLE_PACK && !p && !shapes_known)
		return true;
	if (attr->init && !p && rng_percent(w->r, w->defaults ? 90 : 40))
		return true;
	if (use->kind == ROLE_PACK) {
		v = p ? pack_values(w, p) : reshaped(w);
	} else if (use->kind == ROLE_AXES || attr->type == ATTR_AXIS ||
		   use->kind == ROLE_PERM) {
		if (!draw_axes(w, attr, rank_for(w, use),
			       use->kind == ROLE_PERM, &v))
			return false;
	} else {
		int n = !attr->is_list ? 1 : attr->length >= 0
				? attr->length : (int)rng_in(w->r, 0, 3);
		v = new_values(w, n);
		for (int j = 0; j < n; j++)
			draw_element(w, attr, use, &v, j);
	}
	attr_value *made = ARENA_NEW(w->arena, attr_value);
	*made = (attr_value){ attr->type, attr->is_list, v.n, v.ints,
			      v.floats, v.strings };
	w->d->attrs[i] = made;
	return true;
}

/* ---- dimensions --------------------------------------------------------- */

static bool eval(const drawer *w, const ast_expr *e, int64_t *v);

static bool eval_attr(const drawer *w, const char *name, int64_t at,
		      int64_t *v)
{
	int i = find_attr(w->op, name);
	if (i < 0)
		return false;
	const attr_value *a = w->d->attrs[i];
	const ast_expr *init = w->op->attrs[i].init;
	if (a) {
		if (!a->ints || at >= a->n)
			return false;
		*v = a->ints[at];
		return true;
	}
	if (init && init->kind == AST_LIST)
		return at < init->nargs && eval(w, init->args[at], v);
	return init && eval(w, init, v);
}

/* min and max of sizes. */
static bool eval_call(const drawer *w, const ast_expr *e, int64_t *v)
{
	bool least = !strcmp(e->name, "min"), most = !strcmp(e->name, "max");
	for (int i = 0; i < e->nargs; i++) {
		int64_t x;
		if ((!least && !most) || !eval(w, e->args[i], &x))
			return false;
		if (i == 0 || (least ? x < *v : x > *v))
			*v = x;
	}
	return e->nargs > 0;
}

static bool eval(const drawer *w, const ast_expr *e, int64_t *v)
{
	int64_t x, y;
	const draw_size *size;
	switch (e->kind) {
	case AST_INT:
		*v = e->i;
		return true;
	case AST_NAME:
		size = find_size(w->d, e->name);
		if (!size)
			return eval_attr(w, e->name, 0, v);
		*v = size->value;
		return true;
	case AST_INDEX:
		return e->nargs == 2 && e->args[0]->kind == AST_NAME &&
		       eval(w, e->args[1], &x) && x >= 0 &&
		       eval_attr(w, e->args[0]->name, x, v);
	case AST_UNARY:
		if (e->op != OP_NEG || !eval(w, e->args[0], &x))
			return false;
		*v = -x;
		return true;
	case AST_CALL:
		return eval_call(w, e, v);
	case AST_BINARY:
		break;
	default:
		return false;
	}
	if (!eval(w, e->args[0], &x) || !eval(w, e->args[1], &y) ||
	    llabs(x) > 1 << 20 || llabs(y) > 1 << 20)
		return false;
	switch (e->op) {
	case OP_ADD:
		*v = x + y;
		return true;
	case OP_SUB:
		*v = x - y;
		return true;
	case OP_MUL:
		*v = x * y;
		return true;
	case OP_DIV:
		*v = y > 0 ? floor_div(x, y) : 0;
		return y > 0;
	case OP_MOD:
		*v = y > 0 ? floor_mod(x, y) : 0;
		return y > 0;
	default:
		return false;
	}
}

/* The positions of a pack's dimensions that an item of a signature takes. */
static int items(const drawer *w, const ast_pack *p, const draw_pack *of,
		 int *at)
{
	bool selected[MAX_NDIM] = { false };
	int64_t axes[MAX_NDIM];
	int n = 0, naxes = 0;
	if (p->kind == PACK_ALL) {
		for (int i = 0; i < of->rank; i++)
			at[n++] = i;
		return n;
	}
	if (!p->sel || p->sel->kind != AST_NAME)
		return -1;
	while (naxes < of->rank &&
	       eval_attr(w, p->sel->name, naxes, &axes[naxes])) {
		int64_t i = axes[naxes] < 0 ? axes[naxes] + of->rank
					    : axes[naxes];
		if (i < 0 || i >= of->rank)
			return -1;
		axes[naxes++] = i;
		selected[i] = true;
	}
	if (p->kind == PACK_PERM) {
		for (int i = 0; i < naxes; i++)
			at[n++] = (int)axes[i];
		return n;
	}
	for (int i = 0; i < of->rank; i++)
		if (selected[i] == (p->kind == PACK_AND))
			at[n++] = i;
	return n;
}

static bool add_pack_dims(drawer *w, const ast_tensor *t, const ast_pack *p,
			  tensor_type *to)
{
	const draw_pack *of = p->name ? find_pack(w->d, p->name) : NULL;
	int at[MAX_NDIM], n = of ? items(w, p, of, at) : -1, first = 0;
	if (n < 0 || to->ndim + n > MAX_NDIM)
		return false;
	bool repeats = t->broadcast && w->repeats;
	if (repeats && rng_percent(w->r, 30))
		first = (int)rng_in(w->r, 0, n);
	w->d->repeats |= first > 0;
	for (int i = first; i < n; i++) {
		bool one = repeats && rng_percent(w->r, 25);
		w->d->repeats |= one;
		to->dims[to->ndim++] = one ? 1 : of->dims[at[i]];
	}
	return true;
}

static bool draw_shape(drawer *w, const ast_tensor *t, tensor_type *to)
{
	to->ndim = 0;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *e = t->dims[i];
		int64_t v;
		if (e->kind == AST_PACK) {
			if (!add_pack_dims(w, t, e->pack, to))
				return false;
			continue;
		}
		if (!eval(w, e, &v) || v < 0 || to->ndim == MAX_NDIM)
			return false;
		to->dims[to->ndim++] = v;
	}
	return true;
}

/* ---- types -------------------------------------------------------------- */

static dtype draw_shared(drawer *w)
{
	int64_t i = rng_in(w->r, 0, 99);
	return i < 65 ? DT_F32 : i < 72 ? DT_F64 : i < 78 ? DT_F16
	       : i < 88 ? DT_I64 : i < 94 ? DT_I32 : i < 97 ? DT_U8 : DT_BOOL;
}

static dtype type_of(const drawer *w, const ast_tensor *t)
{
	const char *name = t->type.name;
	if (!name)
		return w->shared;
	if (!strcmp(name, "float"))
		return w->of_float;
	if (!strcmp(name, "int"))
		return w->of_int;
	int i = find_attr(w->op, name);
	if (i >= 0 && w->d->attrs[i])
		return (dtype)w->d->attrs[i]->ints[0];
	if (i >= 0 && w->op->attrs[i].init && w->op->attrs[i].init->name)
		name = w->op->attrs[i].init->name;
	return dtype_parse(name);
}

/* ---- all of it ---------------------------------------------------------- */

bool draw_signature(arena *a, rng *r, const ast_op *op, const role *roles,
		    draw *d)
{
	drawer w = { .arena = a, .r = r, .op = op, .roles = roles, .d = d };
	int ndims = count_dims(op);
	*d = (draw){ .attrs = ARENA_ARRAY(a, const attr_value *,
					  op->nattrs + 1),
		     .types = ARENA_ARRAY(a, tensor_type, op->nparams + 1) };
	w.max = ndims <= 2 ? 7 : ndims <= 3 ? 5 : 4;
	w.rank = ndims <= 1 ? MAX_RANK : ndims <= 3 ? 2 : 1;
	if (rng_percent(r, 40)) {
		w.max = 3;
		w.rank = MAX_RANK;
	}
	w.plain = rng_percent(r, 35);
	w.empty = !w.plain && rng_percent(r, 12);
	w.repeats = !w.plain && rng_percent(r, 40);
	w.defaults = rng_percent(r, 40);
	w.shared = draw_shared(&w);
	w.of_float = rng_percent(r, 70) ? DT_F32 : draw_float_type(&w);
	w.of_int = rng_percent(r, 60) ? DT_I64 : draw_int_type(&w);
	for (int i = 0; i < op->nparams; i++)
		for (int j = 0; j < op->params[i].ndims; j++)
			add_names(&w, op->params[i].dims[j]);
	for (int i = 0; i < op->nattrs; i++)
		if (!draw_attr(&w, i, false))
			return false;
	for (int i = 0; i < op->nparams; i++) {
		if (!draw_shape(&w, &op->params[i], &d->types[i]))
			return false;
		d->types[i].type = type_of(&w, &op->params[i]);
		if (d->types[i].type == DT_NONE)
			return false;
	}
	for (int i = 0; i < op->nattrs; i++)
		if (!d->attrs[i] && roles[i].kind == ROLE_PACK &&
		    !draw_attr(&w, i, true))
			return false;
	return true;
}

bool draw_value(const ast_op *op, const draw *d, const char *text, int64_t *v)
{
	const drawer w = { .op = op, .d = (draw *)d };
	const char *open = strchr(text, '[');
	size_t n = open ? (size_t)(open - text) : strlen(text);
	int64_t at = open ? strtoll(open + 1, NULL, 10) : 0;
	for (int i = 0; i < op->nattrs; i++)
		if (strlen(op->attrs[i].name) == n &&
		    !strncmp(op->attrs[i].name, text, n))
			return eval_attr(&w, op->attrs[i].name, at, v);
	return false;
}

static const char *attr_text(arena *a, const attr_value *v)
{
	const char *s = "";
	for (int i = 0; i < v->n; i++) {
		const char *comma = i ? "," : "";
		switch (v->type) {
		case ATTR_FLOAT:
			s = arena_printf(a, "%s%s%g", s, comma, v->floats[i]);
			break;
		case ATTR_STRING:
			s = arena_printf(a, "%s%s%s", s, comma, v->strings[i]);
			break;
		case ATTR_BOOL:
			s = arena_printf(a, "%s%s%s", s, comma,
					 v->ints[i] ? "true" : "false");
			break;
		case ATTR_TYPE:
			s = arena_printf(a, "%s%s%s", s, comma,
					 dtype_name((dtype)v->ints[i]));
			break;
		default:
			s = arena_printf(a, "%s%s%lld", s, comma,
					 (long long)v->ints[i]);
			break;
		}
	}
	return v->is_list ? arena_printf(a, "[%s]", s) : s;
}

const char *draw_text(arena *a, const ast_op *op, const draw *d)
{
	const char *s = "";
	for (int i = 0; i < op->nparams; i++) {
		const tensor_type *t = &d->types[i];
		s = arena_printf(a, "%s%s--shape %s=", s, i ? " " : "",
				 op->params[i].name);
		for (int j = 0; j < t->ndim; j++)
			s = arena_printf(a, "%s%s%lld", s, j ? "x" : "",
					 (long long)t->dims[j]);
		if (t->type != DT_F32 && !op->params[i].type.name)
			s = arena_printf(a, "%s (%s)", s, dtype_name(t->type));
	}
	for (int i = 0; i < op->nattrs; i++)
		if (d->attrs[i])
			s = arena_printf(a, "%s%s-D %s=%s", s, *s ? " " : "",
					 op->attrs[i].name,
					 attr_text(a, d->attrs[i]));
	return s;
}
