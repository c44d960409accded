/* Packs, reads of tensors, and the dimensions of a signature. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

#include <string.h>

void sym_open(build *b, const char *because)
{
	collector *c = b->into;
	if (c && !c->open_because)
		c->open_because = because;
	if (c && !c->apart_because)
		c->apart_because = because;
}

/* ---- selectors ---------------------------------------------------------- */

/* Follows the name of an attribute through the calls to the expression for its
 * value. */
static void resolve(const ast_expr **e, const frame **f)
{
	while ((*e)->kind == AST_NAME) {
		const sattr *attr = sym_find_attr(*f, (*e)->symbol);
		if (!attr || !attr->value)
			return;
		*e = attr->value;
		*f = attr->env;
	}
}

static bool same_expr(const ast_expr *x, const ast_expr *y)
{
	if (x->kind != y->kind || x->nargs != y->nargs || x->op != y->op ||
	    x->i != y->i || x->name != y->name)
		return false;
	for (int i = 0; i < x->nargs; i++)
		if (!same_expr(x->args[i], y->args[i]))
			return false;
	return x->kind == AST_NAME || x->kind == AST_INT ||
	       x->kind == AST_LIST || x->kind == AST_UNARY;
}

static bool same_selector(const ast_expr *x, const frame *in_x,
			  const ast_expr *y, const frame *in_y)
{
	resolve(&x, &in_x);
	resolve(&y, &in_y);
	return same_expr(x, y) && (in_x == in_y || x->kind != AST_NAME);
}

/* A selector as positions in a pack of n single dimensions; -1 if the positions
 * are known only with a call. */
static int positions(build *b, const ast_expr *sel, int n, int *out)
{
	const frame *in = b->frame;
	resolve(&sel, &in);
	int count = sel->kind == AST_LIST ? sel->nargs : 1;
	frame *here = b->frame;
	if (count > SYM_MAX_DIMS)
		return -1;
	for (int i = 0; i < count; i++) {
		const ast_expr *e = sel->kind == AST_LIST ? sel->args[i] : sel;
		int64_t at;
		bool quiet = b->quiet;
		b->frame = (frame *)in;
		b->quiet = true;
		bool constant = poly_is_constant(sym_scalar(b, e).p, &at);
		b->frame = here;
		b->quiet = quiet;
		at = constant && at < 0 ? at + n : at;
		if (!constant || at < 0 || at >= n)
			return -1;
		out[i] = (int)at;
	}
	return count;
}

/* ---- packs -------------------------------------------------------------- */

/* A list attribute as a pack whose extents are the list's elements. */
static spack *attr_pack(build *b, const ast_symbol *s)
{
	const char *name = s->name;
	const sattr *attr = sym_find_attr(b->frame, s);
	if (!attr || !attr->decl->is_list)
		return NULL;
	spack *p = sym_new_pack(b, s);
	const ast_expr *value = attr->value;
	const frame *in = attr->env;
	if (value)
		resolve(&value, &in);
	if (value && value->kind == AST_LIST && value->nargs <= SYM_MAX_DIMS) {
		p->dims.n = value->nargs;
		for (int i = 0; i < value->nargs; i++) {
			const poly *x = sym_attr(b, b->frame, attr, i);
			p->dims.dims[i] = (sym_dim){
				.extent = x, .at = attr->decl->at,
				.text = poly_text(b->arena, b->space, x) };
		}
	} else {
		const char *text = arena_printf(b->arena, "..%s", name);
		int atom = poly_new_atom(b->space, ATOM_ATTR, text, 0);
		p->dims.n = 1;
		p->dims.dims[0] = (sym_dim){
			.extent = poly_of(b->arena, atom), .pack = true,
			.text = text, .at = attr->decl->at };
	}
	return p;
}

spack *sym_new_pack(build *b, const ast_symbol *s)
{
	spack *p = ARENA_NEW(b->arena, spack);
	p->name = s->name;
	for (int i = 0; i < SYM_MAX_DIMS; i++)
		p->var[i] = -1;
	vec_push(b->arena, &b->frame->packs, p);
	return b->frame->pack_of[s->number] = p;
}

spack *sym_find_pack(build *b, const ast_symbol *s)
{
	spack *p = b->frame->pack_of[s->number];
	return p ? p : attr_pack(b, s);
}

static bool has_pack(const spack *p)
{
	for (int i = 0; i < p->dims.n; i++)
		if (p->dims.dims[i].pack)
			return true;
	return false;
}

/* Whether the lambdas of e bind a pack only by ..d[list].  Reading all of the
 * pack is then an error, unless the list names each dimension once. */
static bool binds_by_list(const ast_expr *e, const ast_symbol *pack, bool *any)
{
	for (int i = 0; i < e->nvars; i++) {
		const ast_pack *p = e->vars[i].pack;
		if (!p || p->symbol != pack)
			continue;
		if (p->kind != PACK_PERM)
			return false;
		*any = true;
	}
	for (int i = 0; i < e->nargs; i++)
		if (!binds_by_list(e->args[i], pack, any))
			return false;
	return true;
}

/* Whether the list in ..d[list] has to be a permutation of a pack given by a
 * tensor. */
static bool is_permuted(const build *b, const ast_symbol *pack)
{
	const ast_op *op = b->frame->op;
	bool any = false;
	for (int i = 0; i < op->nlets; i++)
		if (!binds_by_list(op->lets[i].value, pack, &any))
			return false;
	for (int i = 0; i < op->nresults; i++)
		if (!binds_by_list(op->bodies[i], pack, &any))
			return false;
	return any && !sym_find_attr(b->frame, pack);
}

/* Finds the elements of p that an item selects. */
static int select_items(build *b, const ast_pack *item, const spack *p,
			int *out)
{
	int n = 0, chosen[SYM_MAX_DIMS];
	bool in[SYM_MAX_DIMS] = { false };
	if (item->kind == PACK_ALL) {
		for (int i = 0; i < p->dims.n; i++)
			out[n++] = i;
		return n;
	}
	if (item->kind == PACK_PERM && p->dims.n == 1 && has_pack(p) &&
	    is_permuted(b, item->symbol)) {
		out[0] = 0;
		return 1;
	}
	if (item->kind != PACK_PERM && p->selector &&
	    same_selector(item->sel, b->frame, p->selector, p->selector_in)) {
		out[0] = item->kind == PACK_AND;
		return 1;
	}
	if (has_pack(p))
		return -1;
	int count = positions(b, item->sel, p->dims.n, chosen);
	if (count < 0)
		return -1;
	for (int i = 0; i < count; i++)
		in[chosen[i]] = true;
	if (item->kind == PACK_PERM)
		memcpy(out, chosen, (size_t)count * sizeof(*out));
	else
		for (int i = 0; i < p->dims.n; i++)
			if (in[i] == (item->kind == PACK_AND))
				out[n++] = i;
	return item->kind == PACK_PERM ? count : n;
}

int sym_pack_items(build *b, const ast_pack *item, sym_dim *dims, int *vars)
{
	spack *p = item->kind == PACK_CALL ? NULL
					   : sym_find_pack(b, item->symbol);
	int at[SYM_MAX_DIMS];
	int n = p ? select_items(b, item, p, at) : -1;
	for (int i = 0; i < n; i++) {
		if (dims) {
			dims[i] = p->dims.dims[at[i]];
			if (item->kind == PACK_PERM && dims[i].pack)
				dims[i].text = arena_printf(
					b->arena, "..%s[%s]", item->name,
					dsl_expr_text(b->arena, item->sel));
		}
		if (vars)
			vars[i] = p->var[at[i]];
		if (p->var[at[i]] >= 0)
			sym_touch(b, p->var[at[i]]);
	}
	return n;
}

/* ---- reads -------------------------------------------------------------- */

static bool add_pack_index(build *b, sym_read *r, const ast_expr *item)
{
	int vars[SYM_MAX_DIMS];
	int n = sym_pack_items(b, item->pack, NULL, vars);
	if (n < 0 || r->n + n > SYM_MAX_DIMS)
		return false;
	for (int i = 0; i < n; i++) {
		if (vars[i] < 0)
			return false;
		const sym_var *v = &b->vars.at[vars[i]];
		r->index[r->n++] = (sym_index){
			.at = poly_of(b->arena, v->atom),
			.pack = v->extent.pack, .place = item->at };
	}
	return true;
}

static void add_to_index(sval *all, sval item)
{
	all->whole = sym_depend_any(&all->whole, &item.whole);
	all->apart = sym_depend_any(&all->apart, &item.apart);
}

/* Adds the indices for one item of an index list. */
static bool add_index(build *b, sym_read *r, const ast_expr *item, sval *all)
{
	if (item->kind == AST_PACK && item->pack->kind == PACK_CALL) {
		for (int i = 0; i < item->pack->sel->nargs; i++) {
			sval v = sym_scalar(b, item->pack->sel->args[i]);
			add_to_index(all, v);
			r->open_data |= v.data;
		}
		sym_open(b, "it reads at a position in row-major order");
		return false;
	}
	if (item->kind == AST_PACK)
		return add_pack_index(b, r, item);
	if (r->n == SYM_MAX_DIMS)
		return false;
	sym_index x = { .all = item->kind == AST_SLICE, .place = item->at };
	if (!x.all) {
		b->nindices++;
		sval v = sym_scalar(b, item);
		b->nindices--;
		x.at = v.p;
		x.cases = v.cases;
		x.data = v.data;
		add_to_index(all, v);
	}
	r->index[r->n++] = x;
	return true;
}

static bool aligned(const sym_read *r, const sym_tensor *t)
{
	if (r->n != t->ndims)
		return false;
	for (int i = 0; i < r->n; i++)
		if (t->dims[i].pack != r->index[i].pack && !r->index[i].all)
			return false;
	return true;
}

/* Adapts a read to the argument's own dimensions if the argument is broadcast.
 * Absent dimensions are dropped, dimensions of one element are read at 0. */
static void broadcast(build *b, sym_read *r, const sname *n)
{
	const sym_tensor *t = &b->tensors.at[n->index];
	if (n->missing > 0 && r->n >= n->pack_at + n->missing) {
		r->n -= n->missing;
		for (int i = n->pack_at; i < r->n; i++)
			r->index[i] = r->index[i + n->missing];
	}
	for (int i = n->pack_at; i < n->pack_at + n->width && i < r->n; i++) {
		int64_t one;
		if (i >= t->ndims || t->dims[i].pack ||
		    !poly_is_constant(t->dims[i].extent, &one) || one != 1)
			continue;
		r->index[i].at = poly_int(b->arena, 0);
		r->index[i].pack = r->index[i].data = false;
	}
}

sval sym_read_tensor(build *b, const ast_expr *e, const sname *n,
		     const ast_expr *otherwise)
{
	int tensor = n->index;
	sval index = { 0 };
	if (b->quiet || !b->into || b->nreads++ > SYM_MAX_READS)
		return (sval){ .data = true, .varies = true, .nfactors = 1 };
	read_begin begin = sym_begin_read(b);
	sym_read *r = ARENA_NEW(b->arena, sym_read);
	*r = (sym_read){ .tensor = tensor, .at = e->at,
			 .guarded = otherwise != NULL,
			 .inlined = b->frame->depth > 0, .vague = b->vague,
			 .npaths = b->npaths, .paths = b->paths };
	r->index = ARENA_ARRAY(b->arena, sym_index, SYM_MAX_DIMS);
	for (int i = 1; i < e->nargs; i++)
		if (!add_index(b, r, e->args[i], &index))
			r->open = true;
	broadcast(b, r, n);
	r->index = ARENA_COPY(b->arena, r->index, r->n);
	if (!aligned(r, &b->tensors.at[tensor])) {
		r->open = true;
		sym_open(b, "which dimensions it reads follows from shapes "
			    "and attributes");
	}
	sval outside = { 0 };
	if (otherwise)
		outside = sym_scalar(b, otherwise);
	return sym_end_read(b, &begin, r, &index, otherwise ? &outside : NULL);
}

/* ---- signatures --------------------------------------------------------- */

bool sym_declared_dims(build *b, const ast_tensor *t, dim_list *out)
{
	out->n = 0;
	for (int i = 0; i < t->ndims; i++) {
		const ast_expr *e = t->dims[i];
		sym_dim dims[SYM_MAX_DIMS];
		int n = 1;
		if (e->kind == AST_PACK) {
			n = sym_pack_items(b, e->pack, dims, NULL);
		} else {
			sval v = sym_scalar(b, e);
			dims[0] = (sym_dim){ .extent = v.p };
			if (!v.p) {
				/* The choice depends on an attribute. */
				const char *text = dsl_expr_text(b->arena, e);
				int atom = poly_new_atom(b->space, ATOM_ATTR,
							 text, 0);
				dims[0].extent = poly_of(b->arena, atom);
			}
			dims[0].text = poly_text(b->arena, b->space,
						 dims[0].extent);
		}
		if (n < 0 || out->n + n > SYM_MAX_DIMS)
			return false;
		for (int j = 0; j < n; j++) {
			dims[j].at = e->at;
			out->dims[out->n++] = dims[j];
		}
	}
	return true;
}
