#include "config.h"

#include "compiler/simulate/marks.h"

#include "base/checked.h"

marks marks_new(arena *a, int ncells)
{
	marks x = { .nleaves = power_of_two(ncells) };
	x.all = ARENA_ARRAY(a, mark, 2 * (size_t)x.nleaves);
	x.any = ARENA_ARRAY(a, mark, 2 * (size_t)x.nleaves);
	return x;
}

static void raise_subtree(marks *x, int root, int stream, int n)
{
	x->all[root].n[stream] = x->any[root].n[stream] = n;
}

/* Visits bottom up the subtrees that make up the span.  All nodes above them
 * are above the first or the last cell. */
void marks_raise(marks *x, cell_span s, int stream, int n)
{
	int lo = s.from + x->nleaves, hi = s.to + x->nleaves;
	if (s.from >= s.to)
		return;
	for (int l = lo, h = hi; l < h; l /= 2, h /= 2) {
		if (l & 1)
			raise_subtree(x, l++, stream, n);
		if (h & 1)
			raise_subtree(x, --h, stream, n);
	}
	for (int l = lo, h = hi - 1; l >= 1; l /= 2, h /= 2)
		x->any[l].n[stream] = x->any[h].n[stream] = n;
}

static void raise(mark *to, const mark *by)
{
	for (int i = 0; i < SIMULATED_STREAMS; i++)
		if (to->n[i] < by->n[i])
			to->n[i] = by->n[i];
}

void marks_latest(const marks *x, cell_span s, mark *to)
{
	int lo = s.from + x->nleaves, hi = s.to + x->nleaves;
	if (s.from >= s.to)
		return;
	for (int l = lo, h = hi; l < h; l /= 2, h /= 2) {
		if (l & 1)
			raise(to, &x->any[l++]);
		if (h & 1)
			raise(to, &x->any[--h]);
	}
	for (int l = lo, h = hi - 1; l != h; l /= 2, h /= 2) {
		raise(to, &x->all[l]);
		raise(to, &x->all[h]);
	}
	for (int l = lo; l >= 1; l /= 2)
		raise(to, &x->all[l]);
}
