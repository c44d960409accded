#include "config.h"

#include "compiler/solver/elimination_order.h"

#include <stdbool.h>

#include "base/heap.h"
#include "compiler/solver/problem.h"

typedef struct key {
	int64_t first, second;
} key;

/* Additions that must be at stake for each step of searching for a better
 * order. */
enum { WORK_PER_EFFORT = 4 };

typedef struct orderer {
	arena *tmp;
	const meet *m;
	bool min_fill;
	int_vec *adjacent; /* of what remains */
	key *keys;
	heap next; /* variables by their keys, including outdated ones */
	bool *gone, *stale; /* stale: the key must be recomputed */
	int *mark;
	int stamp;
	int64_t effort, max_effort;
} orderer;

/* Marks the variables that meet v: o->mark[u] == o->stamp. */
static void mark_adjacent(orderer *o, int v)
{
	o->stamp++;
	o->effort += o->adjacent[v].n;
	for (int i = 0; i < o->adjacent[v].n; i++)
		o->mark[o->adjacent[v].at[i]] = o->stamp;
}

/* Cells of the table over v and all variables that it meets. */
static int64_t table_cells(const orderer *o, int v)
{
	int64_t cells = o->m->nvalues[v];
	for (int i = 0; i < o->adjacent[v].n; i++)
		cells = cost_mul(cells, o->m->nvalues[o->adjacent[v].at[i]]);
	return cells;
}

/* Pairs of variables that meet v but not each other, each counted twice. */
static int64_t fill_in(orderer *o, int v)
{
	const int_vec *near = &o->adjacent[v];
	int64_t missing = 0;
	for (int i = 0; i < near->n && o->effort < o->max_effort; i++) {
		o->effort += near->n;
		mark_adjacent(o, near->at[i]);
		for (int j = 0; j < near->n; j++)
			missing += j != i && o->mark[near->at[j]] != o->stamp;
	}
	return missing;
}

static void update_key(orderer *o, int v)
{
	int64_t cells = table_cells(o, v);
	o->keys[v] = o->min_fill ? (key){ fill_in(o, v), cells } :
				   (key){ cells, 0 };
	o->stale[v] = false;
	heap_push(o->tmp, &o->next,
		  (heap_entry){ o->keys[v].first, o->keys[v].second, v });
}

static int pick(orderer *o)
{
	for (;;) {
		heap_entry e = heap_pop(&o->next);
		const key *k = &o->keys[e.item];
		if (!o->gone[e.item] && k->first == e.key &&
		    k->second == e.second)
			return e.item;
	}
}

static void drop(int_vec *list, int v)
{
	for (int i = 0; i < list->n; i++)
		if (list->at[i] == v) {
			list->at[i] = list->at[--list->n];
			return;
		}
}

/* Removes v, and makes all variables that it met meet each other. */
static void take_out(orderer *o, int v)
{
	const int_vec *near = &o->adjacent[v];
	o->gone[v] = true;
	for (int i = 0; i < near->n; i++) {
		int u = near->at[i];
		drop(&o->adjacent[u], v);
		mark_adjacent(o, u);
		for (int j = 0; j < near->n; j++)
			if (j != i && o->mark[near->at[j]] != o->stamp)
				vec_push(o->tmp, &o->adjacent[u], near->at[j]);
		o->stale[u] = true;
	}
}

/* Recomputes the keys that change because v was removed. */
static void refresh(orderer *o, int v)
{
	const int_vec *near = &o->adjacent[v];
	for (int i = 0; i < near->n && o->min_fill; i++) {
		const int_vec *next = &o->adjacent[near->at[i]];
		for (int j = 0; j < next->n; j++)
			o->stale[next->at[j]] = true;
	}
	for (int i = 0; i < near->n; i++) {
		const int_vec *next = &o->adjacent[near->at[i]];
		for (int j = 0; j < next->n && o->min_fill; j++)
			if (o->stale[next->at[j]])
				update_key(o, next->at[j]);
		if (o->stale[near->at[i]])
			update_key(o, near->at[i]);
	}
}

static orderer start(arena *tmp, const meet *m, bool min_fill,
		     int64_t max_effort)
{
	orderer o = { .tmp = tmp, .m = m, .min_fill = min_fill,
		      .max_effort = max_effort };
	o.adjacent = ARENA_ARRAY(tmp, int_vec, m->n);
	o.keys = ARENA_ARRAY(tmp, key, m->n);
	o.gone = ARENA_ARRAY(tmp, bool, m->n);
	o.stale = ARENA_ARRAY(tmp, bool, m->n);
	o.mark = ARENA_ARRAY(tmp, int, m->n);
	for (int v = 0; v < m->n; v++) {
		for (int i = 0; i < m->adjacent[v].n; i++)
			vec_push(tmp, &o.adjacent[v], m->adjacent[v].at[i]);
	}
	for (int v = 0; v < m->n && o.effort <= max_effort; v++)
		update_key(&o, v);
	return o;
}

static elimination run(arena *a, const meet *m, bool min_fill,
		       const elimination_limits *most)
{
	arena *tmp = arena_new();
	orderer o = start(tmp, m, min_fill, most->effort);
	elimination e = { .order = ARENA_ARRAY(a, int, m->n) };
	for (int i = 0; i < m->n; i++) {
		int v = e.order[i] = pick(&o);
		int64_t cells = table_cells(&o, v);
		e.work = cost_add(e.work, cells);
		e.cells = cost_add(e.cells, cells / m->nvalues[v]);
		if (e.work > most->work || e.cells > most->cells ||
		    o.effort > most->effort) {
			e.order = NULL;
			break;
		}
		take_out(&o, v);
		refresh(&o, v);
	}
	arena_free(tmp);
	return e;
}

elimination elimination_order(arena *a, const meet *m,
			      const elimination_limits *most)
{
	elimination table = run(a, m, false, most);
	elimination_limits better = *most;
	if (table.order && table.work / WORK_PER_EFFORT < better.effort)
		better.effort = table.work / WORK_PER_EFFORT;
	elimination fill = run(a, m, true, &better);
	if (!table.order || (fill.order && fill.work < table.work))
		return fill;
	return table;
}
