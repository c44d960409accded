/* Refines colours of variables like those of graphs (Weisfeiler and Leman,
 * 1968), but only a few times: far enough from the ends of a chain all its
 * links then have one colour.  Hashes stand for colours.  A collision merely
 * makes variables that are not similar take one value, which is still an
 * assignment. */
#include "config.h"

#include "compiler/solver/quotient.h"

#include <string.h>

#include "base/hash.h"

enum { ROUNDS = 4 };

static uint64_t mixed(uint64_t x, uint64_t y)
{
	const uint64_t both[] = { x, y };
	return hash_words(HASH_SEED, both, 2);
}

static void first_colours(const problem *p, uint64_t *colour)
{
	for (int v = 0; v < p->vars.n; v++) {
		const problem_var *x = &p->vars.at[v];
		colour[v] = hash_words(HASH_SEED, (const uint64_t *)x->cost,
				       (size_t)x->nvalues);
	}
}

/* Refines the colours of variables by those of the variables with which they
 * share tables; the order of tables does not count. */
static void refine(const problem *p, const uint64_t *had, uint64_t *colour)
{
	for (int v = 0; v < p->vars.n; v++)
		colour[v] = had[v];
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		uint64_t which = (uintptr_t)t->cost;
		colour[t->x] += mixed(2 * which, had[t->y]);
		colour[t->y] += mixed(2 * which + 1, had[t->x]);
	}
	for (int v = 0; v < p->vars.n; v++)
		colour[v] = mixed(colour[v], 0);
}

/* ---- classes ------------------------------------------------------------ */

typedef struct classes {
	arena *tmp;
	const problem *whole;
	uint64_t *colour;
	hash_table by_colour;
	int *first; /* by class */
	quotient *q;
} classes;

static int class_of(classes *c, int v)
{
	int nvalues = c->whole->vars.at[v].nvalues;
	uint32_t at = 0;
	for (int k; (k = hash_table_next(&c->by_colour, c->colour[v], &at)) >=
		    0;)
		if (c->colour[c->first[k]] == c->colour[v] &&
		    c->q->p->vars.at[k].nvalues == nvalues)
			return k;
	int k = problem_add_var(c->q->p, nvalues);
	c->first[k] = v;
	hash_table_add(c->tmp, &c->by_colour, c->colour[v], k);
	return k;
}

static void add_variables(classes *c)
{
	const problem *p = c->whole;
	c->first = ARENA_ARRAY(c->tmp, int, p->vars.n);
	for (int v = 0; v < p->vars.n; v++) {
		const problem_var *x = &p->vars.at[v];
		int k = c->q->class_of[v] = class_of(c, v);
		for (int i = 0; i < x->nvalues; i++)
			problem_add_cost(c->q->p, k, i, x->cost[i]);
	}
}

/* ---- tables ------------------------------------------------------------- */

/* A table between two classes, or within one, and its multiplicity. */
typedef struct repeated {
	problem_table of;
	int count;
} repeated;

typedef VEC(repeated) repeated_vec;

static void count_table(arena *a, repeated_vec *all, hash_table *by,
			problem_table t)
{
	const uint64_t key[] = { (uintptr_t)t.cost, (uint64_t)t.x,
				 (uint64_t)t.y };
	uint64_t hash = hash_words(HASH_SEED, key, 3);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(by, hash, &at)) >= 0;) {
		repeated *r = &all->at[i];
		if (r->of.cost == t.cost && r->of.x == t.x && r->of.y == t.y) {
			r->count++;
			return;
		}
	}
	hash_table_add(a, by, hash, all->n);
	vec_push(a, all, ((repeated){ t, 1 }));
}

static void add_within(problem *q, const repeated *r)
{
	int n = q->vars.at[r->of.x].nvalues;
	for (int i = 0; i < n; i++)
		problem_add_cost(q, r->of.x, i,
				 cost_mul(r->of.cost[(size_t)i * (size_t)n +
						     (size_t)i],
					  r->count));
}

static const int64_t *multiplied(arena *a, const problem *q, const repeated *r)
{
	if (r->count == 1)
		return r->of.cost;
	size_t n = (size_t)q->vars.at[r->of.x].nvalues *
		   (size_t)q->vars.at[r->of.y].nvalues;
	int64_t *to = ARENA_ARRAY(a, int64_t, n);
	for (size_t i = 0; i < n; i++)
		to[i] = cost_mul(r->of.cost[i], r->count);
	return to;
}

static void add_tables(classes *c)
{
	const problem *p = c->whole;
	problem *q = c->q->p;
	repeated_vec all = { 0 };
	hash_table by = { 0 };
	for (int i = 0; i < p->tables.n; i++) {
		problem_table t = p->tables.at[i];
		t.x = c->q->class_of[t.x];
		t.y = c->q->class_of[t.y];
		count_table(c->tmp, &all, &by, t);
	}
	for (int i = 0; i < all.n; i++) {
		const repeated *r = &all.at[i];
		if (r->of.x == r->of.y)
			add_within(q, r);
		else
			problem_add_table(q, r->of.x, r->of.y,
					  multiplied(q->arena, q, r));
	}
}

quotient quotient_of(arena *a, const problem *whole)
{
	int n = whole->vars.n;
	quotient q = { problem_new(a), ARENA_ARRAY(a, int, n) };
	classes c = { .tmp = arena_new(), .whole = whole, .q = &q };
	uint64_t *had = ARENA_ARRAY(c.tmp, uint64_t, n);
	c.colour = ARENA_ARRAY(c.tmp, uint64_t, n);
	q.p->constant = whole->constant;
	q.p->top = whole->top;
	q.p->unit = whole->unit;
	q.p->along_flow = whole->along_flow;
	first_colours(whole, c.colour);
	for (int i = 0; i < ROUNDS; i++) {
		memcpy(had, c.colour, sizeof(*had) * (size_t)n);
		refine(whole, had, c.colour);
	}
	add_variables(&c);
	add_tables(&c);
	arena_free(c.tmp);
	return q;
}

void quotient_lift(const quotient *q, int n, const int *value, int *to)
{
	for (int v = 0; v < n; v++)
		to[v] = value[q->class_of[v]];
}
