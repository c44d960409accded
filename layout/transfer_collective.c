/* Recognizes the collective that a transfer is. */
#include "config.h"

#include "layout/transfer.h"

#include <stdlib.h>

#include "layout/product.h"

/* The most workers to look at, evenly spaced.  A pattern of all workers of a
 * larger mesh shows in these, and the pieces of an all-to-all are their
 * square. */
enum { MOST_LOOKED_AT = 64 };

/* The regions of a worker before and after a transfer. */
typedef struct ends {
	region from, to;
} ends;

/* The pieces of one worker, and the ends of all workers looked up so far. */
typedef struct look {
	const layout_transfer *t;
	int worker, npieces;
	piece *pieces;
	arena *tmp;
	ends **known; /* by worker */
} look;

static const ends *ends_of(const look *l, int worker)
{
	ends **e = &l->known[worker];
	if (!*e) {
		*e = ARENA_NEW(l->tmp, ends);
		(*e)->from = layout_region_of(&l->t->from, l->t->mesh,
					      worker);
		(*e)->to = layout_region_of(&l->t->to, l->t->mesh, worker);
	}
	return *e;
}

/* Whether each owner gives its whole region, and all members of the group get
 * the same. */
static bool is_gather(const look *l)
{
	const box *all = &ends_of(l, l->worker)->to.at;
	for (int i = 0; i < l->npieces;) {
		int peer = l->pieces[i].peer;
		const ends *e = ends_of(l, peer);
		int64_t gives = 0;
		for (; i < l->npieces && l->pieces[i].peer == peer; i++)
			gives += box_volume(&l->pieces[i].at);
		if (gives != e->from.count || !box_equal(&e->to.at, all))
			return false;
	}
	return true;
}

/* The position of a worker's block in the grid of all blocks, per dimension. */
static void grid_index(const mesh *m, const cuts *c, int worker, int *at)
{
	int coords[MAX_AXES];
	mesh_coords(m, worker, coords);
	for (int d = 0; d < MAX_NVARS; d++)
		at[d] = 0;
	for (int a = 0; a < m->naxes; a++) {
		int d = c->dim[a];
		if (d >= 0)
			at[d] = at[d] * m->size[a] + coords[a];
	}
}

/* Whether the worker keeps what it has, and receives more from neighbours. */
static bool is_halo(const look *l)
{
	const layout *from = &l->t->from;
	const cuts *c = from->kind == LAYOUT_STORED ? from->cuts : from->space;
	int mine[MAX_NVARS], theirs[MAX_NVARS];
	const ends *e = ends_of(l, l->worker);
	if (from->kind == LAYOUT_REDUCED_SHARD ||
	    !box_contains(&e->to.at, &e->from.at))
		return false;
	grid_index(l->t->mesh, c, l->worker, mine);
	for (int i = 0; i < l->npieces; i++) {
		grid_index(l->t->mesh, c, l->pieces[i].peer, theirs);
		for (int d = 0; d < MAX_NVARS; d++)
			if (abs(mine[d] - theirs[d]) > 1)
				return false;
	}
	return true;
}

static bool is_on_all(const layout_transfer *t, bool (*is)(const look *))
{
	int n = mesh_workers(t->mesh);
	int looked_at = n < MOST_LOOKED_AT ? n : MOST_LOOKED_AT;
	look l = { .t = t, .tmp = arena_new() };
	l.known = ARENA_ARRAY(l.tmp, ends *, n);
	bool holds = true;
	for (int i = 0; holds && i < looked_at; i++) {
		arena *tmp = arena_new();
		l.worker = (int)((int64_t)i * n / looked_at);
		l.npieces = transfer_pieces(tmp, t, l.worker, &l.pieces);
		holds = is(&l);
		arena_free(tmp);
	}
	arena_free(l.tmp);
	return holds;
}

/* Whether nothing is replicated by the transfer: each element has one receiver
 * among those for whom its owner is the owner. */
static bool is_exchange(const layout_transfer *t)
{
	return layout_elements(&t->from, t->mesh) ==
	       layout_elements(&t->to, t->mesh);
}

/* Whether it can be decided without looking at workers if the transfer is an
 * all-gather; if it is none, it is no halo either, for which each worker wants
 * what it has. */
static bool knows_gather(const layout_transfer *t, bool *gathers)
{
	arena *tmp = arena_new();
	const product *from = product_of(tmp, &t->from, t->mesh);
	const product *to = product_of(tmp, &t->to, t->mesh);
	bool known = from && to && product_gathers(from, to, gathers);
	arena_free(tmp);
	return known;
}

collective transfer_collective(const layout_transfer *t, int64_t received)
{
	if (t->combine)
		return COLL_REDUCE_SCATTER;
	if (received == 0)
		return COLL_LOCAL;
	if (t->to.zeros)
		return COLL_SEND_RECEIVE;
	bool gathers, known = knows_gather(t, &gathers);
	if (known ? gathers : is_on_all(t, is_gather))
		return COLL_ALL_GATHER;
	if (!known && is_on_all(t, is_halo))
		return COLL_HALO;
	return is_exchange(t) ? COLL_ALL_TO_ALL : COLL_SEND_RECEIVE;
}
