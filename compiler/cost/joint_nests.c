#include "config.h"

#include "compiler/cost/joint_nests.h"

#include "layout/layout.h"

/* The axes along which c divides d. */
static uint32_t axes_of(const mesh *m, const cuts *c, int d)
{
	uint32_t axes = 0;
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] == d)
			axes |= UINT32_C(1) << a;
	return axes;
}

/* Finds the span that the node reads or produces in each dimension; false if
 * one is unknown, or two are of one variable. */
static bool find_spans(joint_nests *w)
{
	const joint_pair *p = w->pair;
	uint32_t seen = 0;
	for (int d = 0; d < w->n; d++)
		w->spans[d] = d;
	for (int i = 0, first = 1; i < p->kernel->ninputs; i++) {
		int spans[MAX_NVARS];
		if (!(p->inputs >> i & 1))
			continue;
		kernel_need_spans(p->kernel, i, spans);
		for (int d = 0; d < w->n; d++)
			if (first)
				w->spans[d] = spans[d];
			else if (w->spans[d] != spans[d])
				return false;
		first = 0;
	}
	for (int d = 0; d < w->n; d++) {
		int s = w->spans[d];
		if (s == NEED_OTHER || (s != NEED_ALL && (seen >> s & 1)))
			return false;
		seen |= s == NEED_ALL ? 0 : UINT32_C(1) << s;
	}
	return true;
}

joint_nests *joint_nests_new(arena *a, const mesh *m, const joint_pair *p)
{
	int64_t element;
	joint_nests *w = ARENA_NEW(a, joint_nests);
	*w = (joint_nests){ .m = m, .pair = p,
			    .axes = (UINT32_C(1) << m->naxes) - 1 };
	w->n = joint_sizes(p, w->sizes, &element);
	if (!find_spans(w))
		return NULL;
	w->stored = ARENA_ARRAY(a, nest, p->tensors->n * w->n);
	w->volume = ARENA_ARRAY(a, int64_t, p->tensors->n);
	for (int j = 0; j < p->tensors->n; j++) {
		const cuts *c = &p->tensors->at[j];
		w->volume[j] = layout_sharers(m, cuts_whole(c, m->naxes));
		for (int d = 0; d < w->n; d++) {
			nest *x = &w->stored[j * w->n + d];
			*x = nest_none();
			nest_add(x, m, axes_of(m, c, d));
			w->volume[j] *= w->sizes[d];
		}
	}
	return w;
}

uint32_t joint_nests_axes(const joint_nests *w, int d)
{
	int s = w->spans[d];
	return s == NEED_ALL ? 0 : axes_of(w->m, w->row, s);
}

/* The groups read or produce all of the tensor, and those that differ only on
 * axes that divide no dimension of it the same part. */
void joint_nests_row(joint_nests *w, const cuts *c)
{
	const joint_pair *p = w->pair;
	const kernel *k = p->kernel;
	uint32_t rest = w->axes;
	w->row = c;
	w->partial = p->inputs ? 0 : layout_partial_axes(w->m, k, c);
	w->some = true;
	for (int v = 0; v < k->nvars; v++)
		w->some = w->some && cuts_smallest(k->vars[v].extent, w->m, c,
						   w->m->naxes, v) > 0;
	w->all = 1;
	for (int d = 0; d < w->n; d++) {
		w->deals[d] = nest_none();
		w->all *= w->sizes[d];
		uint32_t axes = joint_nests_axes(w, d);
		nest_add(&w->deals[d], w->m, axes);
		rest &= ~axes;
	}
	w->all *= layout_sharers(w->m, rest);
}

/* The axes along which partial results are combined. */
static uint32_t combined(const joint_nests *w, const cuts *c)
{
	return w->partial & ~cuts_partial(c, w->m->naxes);
}

/* Of a partial result a group owns what the tensor's cuts leave it along the
 * axes of combination, if these cut it. */
static bool owned(const joint_nests *w, const cuts *c, nest *own,
		  const nest **deals)
{
	uint32_t shared = combined(w, c);
	if (shared & cuts_whole(c, w->m->naxes))
		return false;
	for (int d = 0; d < w->n; d++) {
		own[d] = w->deals[d];
		nest_add(&own[d], w->m, axes_of(w->m, c, d) & shared);
		deals[d] = &own[d];
	}
	return true;
}

bool joint_nests_received(const joint_nests *w, int j, int64_t *n)
{
	const nest *deals[MAX_NVARS], *stored[MAX_NVARS];
	const cuts *c = &w->pair->tensors->at[j];
	nest own[MAX_NVARS];
	int64_t both;
	for (int d = 0; d < w->n; d++) {
		deals[d] = &w->deals[d];
		stored[d] = &w->stored[j * w->n + d];
	}
	if (!w->some || (w->partial && !owned(w, c, own, deals)) ||
	    !nest_common(w->m, w->axes, w->n, w->sizes, deals, stored, &both))
		return false;
	const joint_pair *p = w->pair;
	int share = w->partial ? layout_sharers(w->m, combined(w, c)) : 1;
	*n = p->inputs ? (w->all - both) /
				 layout_zero_share(w->m, p->kernel, w->row,
						   p->inputs, c)
		       : w->all / share * (share - 1) + w->volume[j] -
				       both;
	return true;
}
