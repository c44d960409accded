#include "config.h"

#include "layout/division.h"

static void add_split(division *s, int axis, int dim)
{
	s->split[s->nsplits].axis = axis;
	s->split[s->nsplits].dim = dim;
	s->nsplits++;
}

division division_of(const layout *l, const mesh *m)
{
	division s = { .whole = layout_whole(l) };
	uint32_t partial = 0;
	const cuts *c = l->cuts;
	if (l->kind != LAYOUT_STORED) {
		const box space = layout_space(l);
		s.whole = kernel_produces(l->kernel, &space);
		c = l->space;
		partial = layout_partial_axes(m, l->kernel, c);
	}
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] >= 0 && !(partial >> a & 1))
			add_split(&s, a, c->dim[a]);
	if (l->kind != LAYOUT_REDUCED_SHARD)
		return s;
	uint32_t shared = layout_combined_axes(m, l->kernel, c, l->cuts);
	for (int a = 0; a < m->naxes; a++) {
		if (!(shared >> a & 1))
			continue;
		if (l->cuts->dim[a] == CUT_NONE)
			s.flat[s.nflat++] = a;
		else
			add_split(&s, a, l->cuts->dim[a]);
	}
	return s;
}

int division_nruns(const division *l, const mesh *m)
{
	int n = 1;
	for (int i = 0; i < l->nflat; i++)
		n *= m->size[l->flat[i]];
	return n;
}
