/* An assignment that improves a good one mostly differs from it in one place,
 * by a few neighbouring variables.  So a region of a few dozen variables is
 * solved exactly with the variables around it fixed, then the next, each
 * overlapping those before.  A region is visited again only if something in it
 * or around it has changed. */
#include "config.h"

#include "compiler/solver/local_search.h"

#include <string.h>


enum {
	SIZE = 64,	 /* variables per region */
	STRIDE = 16,	 /* .. and from one region's first to the next one's */
	MOST_LINKS = 24, /* links of a variable through which regions extend */
	MOST_ROUNDS = 8,
};

typedef struct regions {
	arena *tmp;
	const problem *p;
	int *value;
	int *first, *tables; /* of variable v: tables[first[v] .. first[v+1]) */
	int *changed;	     /* when each variable last changed; 0: never */
	int clock;
	/* the last round with a region that contained the variable */
	int *covered;
	int n, at[SIZE]; /* the current region */
	/* by variable: its place in the region; -1: it is not there */
	int *place;
} regions;

static regions start(arena *tmp, const problem *p, int *value)
{
	int n = p->vars.n;
	regions r = { .tmp = tmp, .p = p, .value = value,
		      .first = ARENA_ARRAY(tmp, int, n + 2),
		      .tables = ARENA_ARRAY(tmp, int, 2 * p->tables.n),
		      .changed = ARENA_ARRAY(tmp, int, n),
		      .covered = ARENA_ARRAY(tmp, int, n),
		      .place = ARENA_ARRAY(tmp, int, n) };
	for (int i = 0; i < p->tables.n; i++) {
		r.first[p->tables.at[i].x + 2]++;
		r.first[p->tables.at[i].y + 2]++;
	}
	for (int v = 0; v < n; v++)
		r.first[v + 2] += r.first[v + 1];
	for (int i = 0; i < p->tables.n; i++) {
		r.tables[r.first[p->tables.at[i].x + 1]++] = i;
		r.tables[r.first[p->tables.at[i].y + 1]++] = i;
	}
	memset(r.place, -1, (size_t)n * sizeof(*r.place));
	return r;
}

static int other_of(const problem_table *t, int v)
{
	return t->x == v ? t->y : t->x;
}

/* Finds the variables near v, breadth first.  The neighbours of a variable with
 * many links, such as a weight that all time steps read, do not count as near
 * each other. */
static void find_region(regions *r, int v)
{
	for (int i = 0; i < r->n; i++)
		r->place[r->at[i]] = -1;
	r->n = 0;
	r->at[r->n++] = v;
	r->place[v] = 0;
	for (int head = 0; head < r->n && r->n < SIZE; head++) {
		int u = r->at[head], end = r->first[u + 1];
		if (end - r->first[u] > MOST_LINKS)
			continue;
		for (int i = r->first[u]; i < end && r->n < SIZE; i++) {
			int o = other_of(&r->p->tables.at[r->tables[i]], u);
			if (r->place[o] >= 0)
				continue;
			r->place[o] = r->n;
			r->at[r->n++] = o;
		}
	}
}

/* Whether anything in the region or around it has changed after `since'. */
static bool has_changed(const regions *r, int since)
{
	for (int i = 0; i < r->n; i++) {
		int v = r->at[i];
		if (r->changed[v] > since)
			return true;
		for (int k = r->first[v]; k < r->first[v + 1]; k++) {
			int t = r->tables[k];
			if (r->changed[other_of(&r->p->tables.at[t], v)] >
			    since)
				return true;
		}
	}
	return false;
}

/* Adds the costs of a table for v's present value to those of the other
 * variable, which is in the region. */
static void add_fixed(const regions *r, problem *q, const problem_table *t,
		      int v)
{
	int64_t width = r->p->vars.at[t->y].nvalues;
	int other = other_of(t, v), n = r->p->vars.at[other].nvalues;
	int64_t step = v == t->x ? 1 : width;
	const int64_t *c = t->cost + r->value[v] * (v == t->x ? width : 1);
	for (int i = 0; i < n; i++)
		problem_add_cost(q, r->place[other], i, c[i * step]);
}

/* The region as a problem, with everything around it fixed. */
static problem *region_problem(const regions *r, arena *a)
{
	problem *q = problem_new(a);
	for (int i = 0; i < r->n; i++) {
		const problem_var *v = &r->p->vars.at[r->at[i]];
		problem_add_var(q, v->nvalues);
		memcpy(q->vars.at[i].cost, v->cost,
		       (size_t)v->nvalues * sizeof(*v->cost));
	}
	for (int i = 0; i < r->n; i++) {
		int v = r->at[i];
		for (int k = r->first[v]; k < r->first[v + 1]; k++) {
			const problem_table *t =
				&r->p->tables.at[r->tables[k]];
			int o = other_of(t, v);
			if (r->place[o] < 0)
				add_fixed(r, q, t, o);
			else if (t->x == v)
				problem_add_table(q, i, r->place[o], t->cost);
		}
	}
	return q;
}

/* Solves the regions once; returns whether value[] has improved. */
static bool improve(regions *r)
{
	int value[SIZE];
	arena *tmp = arena_new();
	problem *q = region_problem(r, tmp);
	solve_limits limits = solve_defaults();
	for (int i = 0; i < r->n; i++)
		value[i] = r->value[r->at[i]];
	q->top = problem_cost(q, value);
	solution s = solve(tmp, q, &limits);
	bool better = s.cost < q->top;
	for (int i = 0; i < r->n && better; i++) {
		if (s.value[i] != value[i])
			r->changed[r->at[i]] = r->clock;
		r->value[r->at[i]] = s.value[i];
	}
	arena_free(tmp);
	return better;
}

/* Whether a region begins at v: every STRIDE variables, and where no region of
 * the round has reached. */
static bool begins_at(const regions *r, int v, int round)
{
	return v % STRIDE == 0 || r->covered[v] != round;
}

int64_t local_search_improve(const problem *p, int *value, deadline end)
{
	arena *tmp = arena_new();
	regions r = start(tmp, p, value);
	int *seen = ARENA_ARRAY(tmp, int, p->vars.n);
	bool better = true;
	for (int round = 1; round <= MOST_ROUNDS && better; round++) {
		better = false;
		for (int v = 0; v < p->vars.n; v++) {
			if (!begins_at(&r, v, round))
				continue;
			if (deadline_is_over(end))
				break;
			find_region(&r, v);
			for (int i = 0; i < r.n; i++)
				r.covered[r.at[i]] = round;
			if (round > 1 && !has_changed(&r, seen[v]))
				continue;
			r.clock++;
			better |= improve(&r);
			seen[v] = r.clock;
		}
	}
	arena_free(tmp);
	return problem_cost(p, value);
}
