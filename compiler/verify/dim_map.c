/* Relates a shape's dimensions to those of a descriptor.  A part of a pack
 * stands for any number of dimensions.  The dimensions of ..(d \ axes) and ..(d
 * & axes) are interleaved as the axes say. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <string.h>

/* Finds the pack of that name, given by a parameter or an attribute. */
static bool pack_of(const trial *t, const char *name, size_t n, draw_pack *p)
{
	const draw *d = t->drawn;
	const ast_op *op = t->v->op;
	for (int i = 0; i < d->packs.n; i++) {
		*p = d->packs.at[i];
		if (strlen(p->name) == n && !strncmp(p->name, name, n))
			return true;
	}
	for (int i = 0; i < op->nattrs; i++) {
		const attr_value *a = d->attrs[i];
		const char *attr = op->attrs[i].name;
		if (strlen(attr) != n || strncmp(attr, name, n) != 0 || !a ||
		    a->n > MAX_NDIM || op->attrs[i].type != ATTR_INT)
			continue;
		*p = (draw_pack){ .name = attr, .rank = a->n };
		memcpy(p->dims, a->ints, (size_t)a->n * sizeof(int64_t));
		return true;
	}
	return false;
}

/* Marks the axes that an attribute selects among `rank' dimensions. */
static bool selected_axes(const trial *t, const char *attr, int rank,
			  bool *selected)
{
	const ast_op *op = t->v->op;
	int at = ast_find_attr(op->attrs, op->nattrs, attr);
	bool is_list = at >= 0 && op->attrs[at].is_list;
	for (int i = 0; at >= 0 && i <= rank; i++) {
		int64_t axis;
		const char *name = is_list ? arena_printf(t->arena, "%s[%d]",
							  attr, i) : attr;
		if (i == rank || (!is_list && i == 1) ||
		    !draw_value(op, t->drawn, name, &axis))
			break;
		axis += axis < 0 ? rank : 0;
		if (axis < 0 || axis >= rank)
			return false;
		selected[axis] = true;
	}
	return at >= 0;
}

/* Adds a dimension of a pack.  A part of a pack is interleaved with the other
 * part, added before. */
static void add(spots *out, int dim, const char *pack, int at, bool part)
{
	spot p = { dim, pack, at };
	int i = out->n++;
	for (; i > 0 && part && out->at[i - 1].pack &&
	       !strcmp(out->at[i - 1].pack, pack) && out->at[i - 1].at > at;
	     i--)
		out->at[i] = out->at[i - 1];
	out->at[i] = p;
}

/* Adds the dimensions of "..d[perm]"; text is "perm]". */
static bool add_permuted(const trial *t, const draw_pack *p, const char *text,
			 int dim, spots *out)
{
	const char *attr = arena_strndup(t->arena, text, strcspn(text, "]"));
	for (int i = 0; i < p->rank; i++) {
		int64_t at;
		const char *one = arena_printf(t->arena, "%s[%d]", attr, i);
		if (!draw_value(t->v->op, t->drawn, one, &at))
			return false;
		at += at < 0 ? p->rank : 0;
		add(out, dim, arena_strdup(t->arena, p->name), (int)at, false);
	}
	return true;
}

/* Adds the dimensions of "..d", "..(d \ axes)", "..(d & axes)" or
 * "..d[perm]". */
static bool add_pack(const trial *t, const char *text, int dim, spots *out)
{
	bool selected[MAX_NDIM] = { false };
	const bool part = !strncmp(text, "..(", 3);
	const char *name = text + (part ? 3 : 2);
	size_t n = strcspn(name, part ? " " : "[");
	draw_pack p;
	if (!pack_of(t, name, n, &p) || p.rank + out->n > MAX_NVARS)
		return false;
	if (!part && name[n])
		return add_permuted(t, &p, name + n + 1, dim, out);
	if (part) {
		const char *attr = name + n + 3;
		attr = arena_strndup(t->arena, attr, strcspn(attr, ")"));
		if (!selected_axes(t, attr, p.rank, selected))
			return false;
	}
	for (int i = 0; i < p.rank; i++)
		if (!part || selected[i] == (name[n + 1] == '&'))
			add(out, dim, arena_strdup(t->arena, p.name), i,
			    part);
	return true;
}

bool find_spots(const trial *t, const char *const *texts, const bool *packs,
		 int n, spots *out)
{
	out->n = 0;
	for (int i = 0; i < n; i++) {
		if (out->n >= MAX_NVARS)
			return false;
		if (!packs[i])
			add(out, i, NULL, -1, false);
		else if (!add_pack(t, texts[i], i, out))
			return false;
	}
	return true;
}
