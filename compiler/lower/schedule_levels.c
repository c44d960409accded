#include "config.h"

#include "compiler/lower/schedule.h"

#include <stdlib.h>

/* A node and its sort keys. */
typedef struct placed {
	int node, level, urgency;
} placed;

/* The length of the longest chain of nodes before each node. */
static int *levels_before(const jobs *x)
{
	int *level = ARENA_ARRAY(x->tmp, int, x->p->nnodes);
	for (int n = 0; n < x->p->nnodes; n++)
		for (int i = 0; i < x->jobs[n].nuses; i++) {
			int by = x->maker[x->jobs[n].uses[i].tensor];
			if (by >= 0 && level[by] >= level[n])
				level[n] = level[by] + 1;
		}
	return level;
}

/* The length of the longest chain of nodes after each node, negative so that it
 * rises to 0. */
static int *levels_behind(const jobs *x)
{
	int *level = ARENA_ARRAY(x->tmp, int, x->p->nnodes);
	for (int n = x->p->nnodes - 1; n >= 0; n--)
		for (int i = 0; i < x->jobs[n].nuses; i++) {
			int by = x->maker[x->jobs[n].uses[i].tensor];
			if (by >= 0 && level[by] >= level[n])
				level[by] = level[n] - 1;
		}
	return level;
}

static int by_level(const void *x, const void *y)
{
	const placed *a = x, *b = y;
	return a->level != b->level	  ? a->level - b->level
	       : a->urgency != b->urgency ? a->urgency - b->urgency
					  : a->node - b->node;
}

int *schedule_levels(const jobs *x, lower_order by)
{
	int n = x->p->nnodes, *order = ARENA_ARRAY(x->tmp, int, n);
	placed *all = ARENA_ARRAY(x->tmp, placed, n);
	const int *before = levels_before(x), *behind = levels_behind(x);
	for (int i = 0; i < n; i++) {
		all[i].node = i;
		if (by == LOWER_EARLY || by == LOWER_URGENT)
			all[i].level = before[i];
		if (by == LOWER_LATE)
			all[i].level = behind[i];
		if (by == LOWER_URGENT)
			all[i].urgency = behind[i];
	}
	qsort(all, (size_t)n, sizeof(*all), by_level);
	for (int i = 0; i < n; i++)
		order[i] = all[i].node;
	return order;
}
