#include "config.h"

#include "compiler/export/factors.h"

#include <string.h>

/* ---- pieces ------------------------------------------------------------- */

static void reset(entity *e, int64_t extent)
{
	*e = (entity){ .extent = extent, .n = 1, .at = { 1 } };
}

/* Adds a break at b, where a piece begins or the entity ends.  Returns whether
 * there is one then; *changed is set if it is new. */
static bool add_break(entity *e, int64_t b, bool *changed)
{
	int i = 0;
	while (i < e->n && e->at[i] < b)
		i++;
	if (b == e->extent || (i < e->n && e->at[i] == b))
		return true;
	int64_t next = i < e->n ? e->at[i] : e->extent;
	if (e->n == MAX_BREAKS || i == 0 || next < b || b % e->at[i - 1] ||
	    next % b)
		return false;
	memmove(e->at + i + 1, e->at + i,
		(size_t)(e->n - i) * sizeof(e->at[0]));
	e->at[i] = b;
	e->n++;
	*changed = true;
	return true;
}

/* Copies the breaks of x in [from, from * count] to y in [to, to * count]. */
static bool copy_breaks(const entity *x, int64_t from, entity *y, int64_t to,
			int64_t count, bool *changed)
{
	for (int i = 0; i < x->n; i++) {
		int64_t b = x->at[i];
		if (b >= from && b - from < from * (count - 1) &&
		    (b % from || !add_break(y, b / from * to, changed)))
			return false;
	}
	return add_break(y, to, changed) && add_break(y, to * count, changed);
}

static bool refine(entity *dim, entity *vars, const digit *t, int n,
		   bool *changed)
{
	for (int i = 0; i < n; i++) {
		entity *v = &vars[t[i].var];
		if (v->extent < 0)
			continue;
		if (!copy_breaks(v, t[i].low, dim, t[i].step, t[i].count,
				 changed) ||
		    !copy_breaks(dim, t[i].step, v, t[i].low, t[i].count,
				 changed))
			return false;
	}
	return true;
}

/* Does one round over all links.  Returns false if a link had to be dropped, so
 * that refinement begins again. */
static bool refine_all(pieces *p, bool *changed)
{
	const links *l = p->links;
	for (int s = 0; s < l->nstages; s++) {
		const link_stage *st = &l->stages[s];
		int result = st->result;
		for (int d = 0; d < st->nout; d++) {
			digit t = { d, 1, st->vars[d].extent, 1 };
			if (p->cut_off[result][d] ||
			    refine(&p->dims[result][d], p->vars[s], &t, 1,
				   changed))
				continue;
			p->cut_off[result][d] = true;
			return false;
		}
		for (int i = 0; i < st->ninputs; i++) {
			const link_input *in = &st->inputs[i];
			for (int d = 0; d < l->values[in->value].ndims; d++) {
				const dim_link *x = &in->dims[d];
				if (p->kinds[s][i][d] != LINK_EXACT ||
				    refine(&p->dims[in->value][d], p->vars[s],
					   x->digits, x->n, changed))
					continue;
				p->kinds[s][i][d] = LINK_NONE;
				for (int j = 0; j < x->n; j++)
					p->positional[s][x->digits[j].var] =
						true;
				return false;
			}
		}
	}
	return true;
}

static void reset_all(pieces *p)
{
	const links *l = p->links;
	for (int v = 0; v < l->nvalues; v++)
		for (int d = 0; d < l->values[v].ndims; d++)
			reset(&p->dims[v][d], l->values[v].dims[d]);
	for (int s = 0; s < l->nstages; s++)
		for (int v = 0; v < l->stages[s].nvars; v++)
			reset(&p->vars[s][v], l->stages[s].vars[v].extent);
}

static void find_pieces(pieces *p)
{
	bool changed = true;
	reset_all(p);
	while (changed) {
		changed = false;
		if (!refine_all(p, &changed)) {
			reset_all(p);
			changed = true;
		}
	}
}

/* ---- classes ------------------------------------------------------------ */

int piece_class(const pieces *p, int piece)
{
	while (p->parent[piece] != piece)
		piece = p->parent[piece];
	return piece;
}

static void unite(pieces *p, int x, int y)
{
	int a = piece_class(p, x), b = piece_class(p, y);
	p->parent[a > b ? a : b] = a > b ? b : a;
}

/* The piece of an entity that begins at step b. */
static int piece_at(const entity *e, int64_t b)
{
	int i = 0;
	while (i < e->n - 1 && e->at[i] < b)
		i++;
	return e->first + i;
}

static void unite_digits(pieces *p, const entity *dim, const entity *vars,
			 const digit *t, int n)
{
	for (int i = 0; i < n; i++) {
		const entity *v = &vars[t[i].var];
		for (int j = 0; j < v->n; j++)
			if (v->extent < 0 ||
			    (v->at[j] >= t[i].low &&
			     v->at[j] < t[i].low * t[i].count))
				unite(p, v->first + j,
				      piece_at(dim, v->at[j] / t[i].low *
						       t[i].step));
	}
}

static void unite_input(pieces *p, int s, int i, int d)
{
	const link_input *in = &p->links->stages[s].inputs[i];
	const dim_link *x = &in->dims[d];
	const entity *dim = &p->dims[in->value][d];
	link_kind *kind = &p->kinds[s][i][d];
	if (*kind == LINK_EXACT)
		unite_digits(p, dim, p->vars[s], x->digits, x->n);
	if (*kind != LINK_FOLLOWS)
		return;
	const entity *v = &p->vars[s][x->digits[0].var];
	if (v->n > 1 || dim->n > 1) {
		*kind = LINK_NONE;
		return;
	}
	unite(p, v->first, dim->first);
	p->permute[v->first] = true;
}

static void find_classes(pieces *p)
{
	const links *l = p->links;
	for (int v = 0; v < l->nvalues; v++)
		for (int d = 0; d < l->values[v].ndims; d++) {
			p->dims[v][d].first = p->n;
			p->n += p->dims[v][d].n;
		}
	for (int s = 0; s < l->nstages; s++)
		for (int v = 0; v < l->stages[s].nvars; v++) {
			p->vars[s][v].first = p->n;
			p->n += p->vars[s][v].n;
		}
	p->parent = ARENA_ARRAY(p->arena, int, p->n);
	p->permute = ARENA_ARRAY(p->arena, bool, p->n);
	for (int i = 0; i < p->n; i++)
		p->parent[i] = i;
	for (int s = 0; s < l->nstages; s++) {
		const link_stage *st = &l->stages[s];
		int result = st->result;
		for (int d = 0; d < st->nout; d++) {
			const entity *v = &p->vars[s][d];
			for (int j = 0; !p->cut_off[result][d] && j < v->n; j++)
				unite(p, v->first + j,
				      p->dims[result][d].first + j);
		}
		for (int i = 0; i < st->ninputs; i++)
			for (int d = 0;
			     d < l->values[st->inputs[i].value].ndims; d++)
				unite_input(p, s, i, d);
	}
}

bool entity_has(const pieces *p, const entity *e, int class)
{
	for (int i = 0; i < e->n; i++)
		if (piece_class(p, e->first + i) == class)
			return true;
	return false;
}

bool value_has(const pieces *p, int value, int class)
{
	for (int d = 0; d < p->links->values[value].ndims; d++)
		if (entity_has(p, &p->dims[value][d], class))
			return true;
	return false;
}

/* ---- all of it ---------------------------------------------------------- */

static pieces *begin(arena *a, const links *l)
{
	pieces *p = ARENA_NEW(a, pieces);
	*p = (pieces){ .arena = a, .links = l,
		       .dims = ARENA_ARRAY(a, entity *, l->nvalues),
		       .vars = ARENA_ARRAY(a, entity *, l->nstages),
		       .cut_off = ARENA_ARRAY(a, bool *, l->nvalues),
		       .kinds = ARENA_ARRAY(a, link_kind **, l->nstages),
		       .positional = ARENA_ARRAY(a, bool *, l->nstages) };
	for (int v = 0; v < l->nvalues; v++) {
		p->dims[v] = ARENA_ARRAY(a, entity, l->values[v].ndims);
		p->cut_off[v] = ARENA_ARRAY(a, bool, l->values[v].ndims);
	}
	for (int s = 0; s < l->nstages; s++) {
		const link_stage *st = &l->stages[s];
		p->vars[s] = ARENA_ARRAY(a, entity, st->nvars);
		p->positional[s] = ARENA_ARRAY(a, bool, st->nvars);
		p->kinds[s] = ARENA_ARRAY(a, link_kind *, st->ninputs);
		for (int v = 0; v < st->nvars; v++)
			p->positional[s][v] = st->vars[v].positional;
		for (int i = 0; i < st->ninputs; i++) {
			int n = l->values[st->inputs[i].value].ndims;
			p->kinds[s][i] = ARENA_ARRAY(a, link_kind, n);
			for (int d = 0; d < n; d++)
				p->kinds[s][i][d] = st->inputs[i].dims[d].kind;
		}
	}
	return p;
}

pieces *pieces_of(arena *a, const links *l)
{
	pieces *p = begin(a, l);
	find_pieces(p);
	find_classes(p);
	return p;
}
