/* Shapes, attributes and types that may suit an operator.
 *
 * Sizes and packs are drawn by name, so that dimensions declared equal are
 * equal.  An attribute is drawn by its role in the text.  Other requirements,
 * such as a divisor or a window that fits, are left to chance: expansion
 * refuses a draw that does not suit, and another one is made. */
#include "config.h"

#include "compiler/verify/sample.h"

#include <stdlib.h>

#include "base/checked.h"
#include "dsl/builtins.h"
#include "kernel/functions.h"

/* ---- names -------------------------------------------------------------- */

draw_pack *sample_find_pack(draw *d, const char *name)
{
	for (int i = 0; i < d->packs.n; i++)
		if (d->packs.at[i].name == name)
			return &d->packs.at[i];
	return NULL;
}

/* The attribute of a symbol; -1 if there is none. */
static int attr_of(const ast_symbol *s)
{
	return s && s->kind == SYMBOL_ATTR ? s->index : -1;
}

static const draw_size *find_size(const draw *d, const char *name)
{
	for (int i = 0; i < d->sizes.n; i++)
		if (d->sizes.at[i].name == name)
			return &d->sizes.at[i];
	return NULL;
}

/* ---- sizes and packs ---------------------------------------------------- */

int64_t sample_extent(drawer *w)
{
	if (w->empty && rng_percent(w->r, 15))
		return 0;
	if (rng_percent(w->r, 15))
		return 1;
	return rng_in(w->r, 2, w->max);
}

static void add_size(drawer *w, const ast_symbol *s)
{
	if (!find_size(w->d, s->name) && attr_of(s) < 0)
		vec_push(w->arena, &w->d->sizes,
			 ((draw_size){ s->name, sample_extent(w) }));
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
	if (sample_find_pack(w->d, name))
		return;
	draw_pack p = { .name = name, .rank = (int)rng_in(w->r, 0, w->rank) };
	if (w->plain)
		p.rank = selects(w, name) ? 2 : 1;
	for (int i = 0; i < p.rank; i++)
		p.dims[i] = sample_extent(w);
	vec_push(w->arena, &w->d->packs, p);
}

static void add_names(drawer *w, const ast_expr *e)
{
	if (e->kind == AST_NAME)
		add_size(w, e->symbol);
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

/* ---- dimensions --------------------------------------------------------- */

static bool eval(const drawer *w, const ast_expr *e, int64_t *v);

bool sample_eval_attr(const drawer *w, int i, int64_t at, int64_t *v)
{
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

/* Evaluates min and max of sizes. */
static bool eval_call(const drawer *w, const ast_expr *e, int64_t *v)
{
	const builtin *f = e->calls.function;
	fn_choice c = f && f->fn >= 0 ? fn_table[f->fn].choice : FN_NO_CHOICE;
	for (int i = 0; i < e->nargs; i++) {
		int64_t x;
		if (c == FN_NO_CHOICE || !eval(w, e->args[i], &x))
			return false;
		if (i == 0 || (c == FN_LEAST ? x < *v : x > *v))
			*v = x;
	}
	return e->nargs > 0;
}

static bool eval_operator(ast_operator op, int64_t x, int64_t y, int64_t *v)
{
	switch (op) {
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
			return sample_eval_attr(w, attr_of(e->symbol), 0, v);
		*v = size->value;
		return true;
	case AST_INDEX:
		return e->nargs == 2 && e->args[0]->kind == AST_NAME &&
		       eval(w, e->args[1], &x) && x >= 0 &&
		       sample_eval_attr(w, attr_of(e->args[0]->symbol), x, v);
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
	return eval_operator(e->op, x, y, v);
}

/* The positions of a pack's dimensions that an item of a signature takes.
 * Returns their number. */
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
	       sample_eval_attr(w, attr_of(p->sel->symbol), naxes,
				&axes[naxes])) {
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
	const draw_pack *of = p->name ? sample_find_pack(w->d, p->name) : NULL;
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
	int i = -1;
	switch (t->type.kind) {
	case TYPE_SHARED:
		return w->shared;
	case TYPE_EXACT:
		return t->type.exact;
	case TYPE_INT:
		return w->of_int;
	case TYPE_FLOAT:
		return w->of_float;
	default:
		i = attr_of(t->type.symbol);
	}
	if (i >= 0 && w->d->attrs[i])
		return (dtype)w->d->attrs[i]->ints[0];
	const ast_expr *init = i >= 0 ? w->op->attrs[i].init : NULL;
	return init && init->type ? init->type->exact : DT_NONE;
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
	w.of_float = rng_percent(r, 70) ? DT_F32 : sample_float_type(&w);
	w.of_int = rng_percent(r, 60) ? DT_I64 : sample_int_type(&w);
	for (int i = 0; i < op->nparams; i++)
		for (int j = 0; j < op->params[i].ndims; j++)
			add_names(&w, op->params[i].dims[j]);
	for (int i = 0; i < op->nattrs; i++)
		if (!sample_attribute(&w, i, false))
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
		    !sample_attribute(&w, i, true))
			return false;
	return true;
}
