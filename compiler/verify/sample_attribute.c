/* Attributes that may suit an operator, chosen by their role in the text. */
#include "config.h"

#include "compiler/verify/sample.h"

#include <string.h>

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
	int64_t size;
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
		size = some_size(w);
		return size * rng_in(w->r, 1, 3);
	case 13:
		size = some_size(w);
		return size - rng_in(w->r, 1, 2);
	default:
		return 1;
	}
}

static const dtype float_types[] = { DT_F32, DT_F32, DT_F64, DT_F16, DT_BF16 };
static const dtype int_types[] = { DT_I64, DT_I64, DT_I32, DT_I16, DT_U8 };

dtype sample_float_type(drawer *w)
{
	return float_types[rng_in(w->r, 0, 4)];
}

dtype sample_int_type(drawer *w)
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
			     : rng_percent(w->r, 50) ? sample_float_type(w)
						     : sample_int_type(w);
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

/* The rank of the pack from which an attribute selects.  If a callee determines
 * it, that of the first parameter. */
static int rank_for(drawer *w, const role *use)
{
	const draw_pack *p =
		use->pack ? sample_find_pack(w->d, use->pack) : NULL;
	if (p)
		return p->rank;
	if (!w->op->nparams)
		return 0;
	const ast_tensor *t = &w->op->params[0];
	int rank = 0;
	for (int i = 0; i < t->ndims; i++) {
		p = t->dims[i]->kind == AST_PACK && t->dims[i]->pack->name
			    ? sample_find_pack(w->d, t->dims[i]->pack->name)
			    : NULL;
		rank += p ? p->rank : 1;
	}
	return rank;
}

/* Draws different axes of n, some of them negative.  all: all axes in any
 * order, for a permutation. */
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

/* Draws other dimensions for the same number of elements: those of a parameter
 * in another order, with two merged, or one split. */
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
			dims[i] = sample_extent(w);
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

bool sample_attribute(drawer *w, int i, bool shapes_known)
{
	const ast_attr *attr = &w->op->attrs[i];
	const role *use = &w->roles[i];
	const draw_pack *p = sample_find_pack(w->d, attr->name);
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
