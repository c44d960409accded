/* The simplest placements: everything on one device, and runs of equal time. */
#include "config.h"

#include "compiler/placement/task.h"

/* Places everything on the fastest device with enough room; of equal ones the
 * first. */
int *place_single(arena *a, const place_task *t)
{
	const machine *m = t->m;
	int64_t nbytes = 0, least = INT64_MAX;
	int best = -1;
	for (int u = 0; u < t->nunits; u++)
		nbytes += t->unit_nbytes[u];
	for (int d = 0; d < m->ndevices; d++) {
		int64_t ns = 0;
		for (int v = 0; v < m->g->nops; v++)
			ns += machine_ns(m, v, d);
		if (nbytes <= m->limit[d] && ns < least) {
			least = ns;
			best = d;
		}
	}
	if (best < 0)
		return NULL;
	int *place = ARENA_ARRAY(a, int, m->g->nops);
	for (int v = 0; v < m->g->nops; v++)
		place[v] = best;
	return place;
}

/* Cuts a depth-first order into runs of equal time, by the running sum at the
 * middle of each operator.  Members of a unit follow its first one.  A unit
 * that does not fit goes to the next device with room. */
int *place_balanced(arena *a, const place_task *t)
{
	const machine *m = t->m;
	arena *work = arena_new();
	int n = m->g->nops, k = m->ndevices;
	int *place = ARENA_ARRAY(a, int, n);
	int *order = place_depth_first(work, m->g);
	place_room room = place_room_new(work, t);
	__int128 at = 0, total = 0;
	bool good = true;
	for (int v = 0; v < n; v++)
		total += place_mean_ns(m, v);
	for (int i = 0; i < n && good; i++) {
		int v = order[i], tried = 0, u = t->unit_of[v];
		int64_t ns = place_mean_ns(m, v);
		int d = total > 0 ? (int)((2 * at + ns) * k / (2 * total)) : 0;
		d = d < k ? d : k - 1;
		if (room.device[u] >= 0)
			d = room.device[u];
		while (tried < k && !place_has_room(&room, v, d)) {
			d = (d + 1) % k;
			tried++;
		}
		good = tried < k;
		if (good)
			place_take_room(&room, v, d);
		place[v] = d;
		at += ns;
	}
	arena_free(work);
	return good ? place : NULL;
}
