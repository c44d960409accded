#include "config.h"

#include "layout/mesh.h"

#include <assert.h>

int mesh_workers(const mesh *m)
{
	int n = 1;
	for (int a = 0; a < m->naxes; a++)
		n *= m->size[a];
	return n;
}

void mesh_coords(const mesh *m, int worker, int *coords)
{
	for (int a = m->naxes; a-- > 0;) {
		coords[a] = worker % m->size[a];
		worker /= m->size[a];
	}
}

int mesh_worker(const mesh *m, const int *coords)
{
	int w = 0;
	for (int a = 0; a < m->naxes; a++)
		w = w * m->size[a] + coords[a];
	return w;
}

uint32_t mesh_axes_between(const mesh *m, int v, int w)
{
	int at[MAX_AXES], other[MAX_AXES];
	uint32_t axes = 0;
	mesh_coords(m, v, at);
	mesh_coords(m, w, other);
	for (int i = 0; i < m->naxes; i++)
		axes |= (uint32_t)(at[i] != other[i]) << i;
	return axes;
}

int mesh_number_on(const mesh *m, uint32_t axes, int worker)
{
	int at[MAX_AXES], n = 0;
	mesh_coords(m, worker, at);
	for (int i = 0; i < m->naxes; i++)
		if (axes >> i & 1)
			n = n * m->size[i] + at[i];
	return n;
}

uint32_t cuts_partial(const cuts *c, int naxes)
{
	uint32_t axes = 0;
	for (int a = 0; a < naxes; a++)
		axes |= (uint32_t)(c->dim[a] < CUT_NONE) << a;
	return axes;
}

uint32_t cuts_whole(const cuts *c, int naxes)
{
	uint32_t axes = 0;
	for (int a = 0; a < naxes; a++)
		axes |= (uint32_t)(c->dim[a] < 0) << a;
	return axes;
}

cuts cuts_none(void)
{
	cuts c;
	for (int a = 0; a < MAX_AXES; a++)
		c.dim[a] = CUT_NONE;
	return c;
}

box cuts_block(const box *whole, const mesh *m, const cuts *c, int naxes,
	       const int *coords)
{
	box b;
	b.n = whole->n;
	for (int d = 0; d < b.n; d++) {
		b.lo[d] = whole->lo[d];
		b.hi[d] = whole->hi[d];
	}
	bool empty = false;
	for (int a = 0; a < naxes; a++) {
		int d = c->dim[a];
		if (d < 0)
			continue;
		assert(d < b.n);
		block(b.lo[d], b.hi[d], coords[a], m->size[a], &b.lo[d],
		      &b.hi[d]);
		empty |= b.lo[d] == b.hi[d];
	}
	return empty ? box_empty(whole->n) : b;
}

int64_t cuts_smallest(int64_t n, const mesh *m, const cuts *c, int naxes,
		      int d)
{
	for (int a = 0; a < naxes; a++)
		if (c->dim[a] == d)
			n /= m->size[a];
	return n;
}
