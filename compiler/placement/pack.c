/* Packs units into devices by resident bytes only, for graphs that leave hardly
 * any memory free. */
#include "config.h"

#include "compiler/placement/task.h"

#include <stdlib.h>

enum { MOST_STEPS = 20000000 };

typedef struct item {
	int64_t nbytes;
	int unit;
} item;

typedef struct packer {
	item *items; /* largest first */
	int n, k;
	int *device; /* by item */
	int64_t *room, steps;
} packer;

static int by_size(const void *a, const void *b)
{
	const item *x = a, *y = b;
	if (x->nbytes != y->nbytes)
		return x->nbytes > y->nbytes ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

/* Whether a device with a lower number has equal room, so that it was tried
 * already. */
static bool tried(const packer *p, int d)
{
	for (int i = 0; i < d; i++)
		if (p->room[i] == p->room[d])
			return true;
	return false;
}

/* Depth-first search without recursion: puts each item on the first device
 * where it fits, and goes back if there is none. */
static bool pack(packer *p)
{
	for (int i = 0; i < p->n && p->steps-- > 0;) {
		int64_t nbytes = p->items[i].nbytes;
		int d = p->device[i];
		if (d >= 0)
			p->room[d] += nbytes;
		for (d++; d < p->k; d++)
			if (p->room[d] >= nbytes && !tried(p, d))
				break;
		if (d < p->k) {
			p->room[d] -= nbytes;
			p->device[i++] = d;
			if (i == p->n)
				return true;
			p->device[i] = -1;
		} else if (i-- == 0) {
			return false;
		}
	}
	return p->n == 0;
}

int *place_packed(arena *a, const place_task *t)
{
	arena *work = arena_new();
	int k = t->m->ndevices, *place = ARENA_ARRAY(a, int, t->m->g->nops);
	packer p = { ARENA_ARRAY(work, item, t->nunits), t->nunits, k,
		     ARENA_ARRAY(work, int, t->nunits),
		     ARENA_ARRAY(work, int64_t, k), MOST_STEPS };
	for (int u = 0; u < t->nunits; u++)
		p.items[u] = (item){ t->unit_nbytes[u], u };
	for (int d = 0; d < k; d++)
		p.room[d] = t->m->limit[d];
	qsort(p.items, (size_t)p.n, sizeof(*p.items), by_size);
	p.device[0] = -1;
	bool good = pack(&p);
	for (int i = 0; i < p.n && good; i++) {
		int u = p.items[i].unit;
		for (int v = t->first_member[u]; v < t->first_member[u + 1];
		     v++)
			place[t->member[v]] = p.device[i];
	}
	arena_free(work);
	return good ? place : NULL;
}
