/* Finds the least load over chains of ideals.
 *
 * A part is the difference of ideals J < I.  An edge straddles an ideal if some
 * of its pins are in it, but not all.  The transfers of the part are
 *
 *	straddling(J) + sum over edges h that straddle I of
 *		w(h) * (1 if J has none of h & I, 0 if some, -1 if all)
 *
 * because h is paid for unless the part has none of it or all of it.  Few edges
 * straddle I if there are few ideals.  If each ideal is within the next, as of
 * prefixes, any number may straddle it: then the sums for all J are taken
 * together, from the places where an edge's first and last group so far come
 * in.  Ideals are sorted by the least time that their groups take on
 * any device, so the predecessors of I that an upper bound allows form a
 * window.  For an ideal only those numbers of devices are considered that can
 * hold it and leave enough devices for the rest. */
#include "config.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/placement/load_chain.h"

/* The pins of an edge, or those in an ideal. */
typedef struct term {
	int64_t w;
	/* the word that has all bits; -1 if there are several */
	int word;
	uint64_t bits;	/* in that word */
	uint64_t *mask; /* all words */
} term;

/* The choice for a cell: the ideal before, and the device of the part. */
typedef struct choice {
	int from;
	enum { ACCELERATOR, CORE } kind;
} choice;

typedef struct chain {
	arena *a;
	const groups *r;
	const load_options *o;
	ideals s; /* sorted */
	int64_t *key, *ns, *core_ns, *nbytes, *straddling;
	int *never; /* groups without a time on cores */
	term *edges;
	term *terms; /* of the current ideal */
	int nterms;
	/* If each ideal is within the next: the first that has a group, and, by
	 * J, what the edges that straddle the current ideal add.  Else NULL. */
	int *since;
	int64_t *added;
	int nk, nc;    /* accelerators; cores that are worth counting */
	int64_t *best; /* by ideal, cores, and accelerators at most */
	choice *back;
	int64_t most;
	/* by cell: keys of the ideals that leave no more than the other devices
	 * can take; that these devices can hold */
	int64_t *need, *can;
} chain;

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- sums over ideals --------------------------------------------------- */

typedef struct ranked {
	int64_t key;
	int size, i;
} ranked;

static int by_rank(const void *x, const void *y)
{
	const ranked *a = x, *b = y;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

/* The least time of a group on any device. */
static int64_t key_of(const chain *c, int v)
{
	return c->nc > 0 ? least(c->r->ns[v], c->r->core_ns[v]) : c->r->ns[v];
}

static void sort_ideals(chain *c, const ideals *sets)
{
	int nw = sets->nwords;
	ranked *rank = ARENA_ARRAY(c->a, ranked, sets->n);
	for (int i = 0; i < sets->n; i++) {
		rank[i].i = i;
		for (int v = 0; v < c->r->n; v++)
			if (ideal_has(sets, i, v)) {
				rank[i].key += key_of(c, v);
				rank[i].size++;
			}
	}
	qsort(rank, (size_t)sets->n, sizeof(*rank), by_rank);
	c->s = *sets;
	c->s.bits = ARENA_ARRAY(c->a, uint64_t, (size_t)sets->n * (size_t)nw);
	c->key = ARENA_ARRAY(c->a, int64_t, sets->n);
	for (int i = 0; i < sets->n; i++) {
		c->key[i] = rank[i].key;
		memcpy(&c->s.bits[(int64_t)i * nw],
		       ideal_bits(sets, rank[i].i),
		       sizeof(uint64_t) * (size_t)nw);
	}
}

/* Finds the first set of each group if each set is within the next. */
static void rank_groups(chain *c)
{
	for (int i = 1; i < c->s.n; i++)
		if (!ideal_within(&c->s, i - 1, i))
			return;
	c->since = ARENA_ARRAY(c->a, int, c->r->n);
	c->added = ARENA_ARRAY(c->a, int64_t, c->s.n);
	for (int i = c->s.n - 1; i >= 0; i--)
		for (int v = 0; v < c->r->n; v++)
			if (ideal_has(&c->s, i, v))
				c->since[v] = i;
}

static void sum_up(chain *c)
{
	int n = c->s.n;
	c->ns = ARENA_ARRAY(c->a, int64_t, n);
	c->core_ns = ARENA_ARRAY(c->a, int64_t, n);
	c->nbytes = ARENA_ARRAY(c->a, int64_t, n);
	c->never = ARENA_ARRAY(c->a, int, n);
	for (int i = 0; i < n; i++)
		for (int v = 0; v < c->r->n; v++) {
			if (!ideal_has(&c->s, i, v))
				continue;
			c->ns[i] += c->r->ns[v];
			c->nbytes[i] += c->r->nbytes[v];
			if (c->r->core_ns[v] == GROUP_NEVER)
				c->never[i]++;
			else
				c->core_ns[i] += c->r->core_ns[v];
		}
}

/* ---- transfers ---------------------------------------------------------- */

/* Finds the only word of a mask, if there is only one. */
static void settle(term *t, int nwords)
{
	t->word = -1;
	for (int w = 0, n = 0; w < nwords; w++)
		if (t->mask[w] && ++n == 1) {
			t->word = w;
			t->bits = t->mask[w];
		} else if (t->mask[w]) {
			t->word = -1;
		}
}

static void make_edges(chain *c)
{
	int nw = c->s.nwords, n = c->r->nedges;
	c->edges = ARENA_ARRAY(c->a, term, n);
	c->terms = ARENA_ARRAY(c->a, term, n);
	for (int e = 0; e < n; e++) {
		const hyperedge *h = &c->r->edges[e];
		term *t = &c->edges[e];
		t->w = h->ns;
		t->mask = ARENA_ARRAY(c->a, uint64_t, nw);
		c->terms[e].mask = ARENA_ARRAY(c->a, uint64_t, nw);
		for (int i = h->first; i < h->first + h->n; i++)
			t->mask[c->r->pins[i] / 64] |= (uint64_t)1 <<
				(c->r->pins[i] % 64);
		settle(t, nw);
	}
}

/* w if the set has none of the term's pins, -w if it has all, otherwise 0. */
static inline int64_t price(const term *t, const uint64_t *set, int nwords)
{
	bool some = false, all = true;
	if (t->word >= 0) {
		uint64_t x = set[t->word] & t->bits;
		return x == 0 ? t->w : x == t->bits ? -t->w : 0;
	}
	for (int w = 0; w < nwords; w++) {
		uint64_t x = set[w] & t->mask[w];
		some |= x != 0;
		all &= x == t->mask[w];
	}
	return !some ? t->w : all ? -t->w : 0;
}

/* Adds the part of an edge in the current ideal; equal ones become one. */
static void add_term(chain *c, const term *edge, const uint64_t *set)
{
	int nw = c->s.nwords;
	term *t = &c->terms[c->nterms];
	for (int w = 0; w < nw; w++)
		t->mask[w] = edge->mask[w] & set[w];
	for (int i = 0; i < c->nterms; i++)
		if (!memcmp(c->terms[i].mask, t->mask,
			    sizeof(uint64_t) * (size_t)nw)) {
			c->terms[i].w += edge->w;
			return;
		}
	t->w = edge->w;
	settle(t, nw);
	c->nterms++;
}

/* Finds the edges that straddle ideal i. */
static void find_terms(chain *c, int i)
{
	const uint64_t *set = ideal_bits(&c->s, i);
	c->nterms = 0;
	c->straddling[i] = 0;
	for (int e = 0; e < c->r->nedges; e++)
		if (price(&c->edges[e], set, c->s.nwords) == 0) {
			c->straddling[i] += c->edges[e].w;
			add_term(c, &c->edges[e], set);
		}
}

/* Where the groups of an edge come in: the first, the last up to set i, and
 * whether others come later. */
typedef struct span {
	int first, last;
	bool later;
} span;

static span span_of(const chain *c, const hyperedge *h, int i)
{
	span x = { .first = i, .last = -1 };
	for (int p = h->first; p < h->first + h->n; p++) {
		int at = c->since[c->r->pins[p]];
		x.later |= at > i;
		if (at <= i && at < x.first)
			x.first = at;
		if (at <= i && at > x.last)
			x.last = at;
	}
	return x;
}

/* Finds what the edges that straddle ideal i add, for all sets before it. */
static void find_added(chain *c, int i)
{
	int64_t *added = c->added;
	memset(added, 0, sizeof(*added) * (size_t)(i + 1));
	c->straddling[i] = 0;
	for (int e = 0; e < c->r->nedges; e++) {
		const hyperedge *h = &c->r->edges[e];
		span x = span_of(c, h, i);
		if (x.last < 0 || !x.later)
			continue;
		c->straddling[i] += h->ns;
		added[0] += h->ns;
		added[x.first] -= h->ns;
		added[x.last] -= h->ns;
	}
	for (int j = 0; j < i; j++)
		added[j + 1] += added[j];
}

/* The same for one ideal j, within the current one. */
static int64_t added_by(const chain *c, int j)
{
	const uint64_t *set = ideal_bits(&c->s, j);
	int64_t sum = 0;
	if (c->since)
		return c->added[j];
	for (int t = 0; t < c->nterms; t++)
		sum += price(&c->terms[t], set, c->s.nwords);
	return sum;
}

/* ---- the program -------------------------------------------------------- */

static int64_t *cells(const chain *c, int i)
{
	return &c->best[(int64_t)i * (c->nk + 1) * (c->nc + 1)];
}

static choice *choices(const chain *c, int i)
{
	return &c->back[(int64_t)i * (c->nk + 1) * (c->nc + 1)];
}

static void improve(chain *c, int i, int cell, int64_t value, choice how)
{
	int64_t *at = &cells(c, i)[cell];
	if (value < *at && c->key[i] >= c->need[cell]) {
		*at = value;
		choices(c, i)[cell] = how;
	}
}

/* Extends ideal j to i by a part on one more accelerator or core. */
static void extend(chain *c, int i, int j)
{
	const int64_t *from = cells(c, j);
	int64_t core = c->core_ns[i] - c->core_ns[j];
	int64_t load = c->ns[i] - c->ns[j] + c->straddling[j] + added_by(c, j);
	int row = c->nk + 1;
	if (load <= c->most &&
	    c->nbytes[i] - c->nbytes[j] <= c->o->memory_nbytes)
		for (int q = 0; q < (c->nc + 1) * row; q++)
			if (q % row < c->nk && from[q] <= c->most)
				improve(c, i, q + 1,
					from[q] > load ? from[q] : load,
					(choice){ j, ACCELERATOR });
	if (core <= c->most && c->never[i] == c->never[j])
		for (int q = 0; q < c->nc * row; q++)
			if (from[q] <= c->most)
				improve(c, i, q + row,
					from[q] > core ? from[q] : core,
					(choice){ j, CORE });
}

/* Also allows one device to be left out. */
static void leave_out(chain *c, int i)
{
	int row = c->nk + 1;
	for (int q = 0; q < (c->nc + 1) * row; q++) {
		if (q >= row)
			improve(c, i, q, cells(c, i)[q - row],
				(choice){ i, CORE });
		if (q % row > 0)
			improve(c, i, q, cells(c, i)[q - 1],
				(choice){ i, ACCELERATOR });
	}
}

/* The greatest key, at most `total', that a core can take within the bound: as
 * much as the group that is best on a core, plus a little for rounding. */
static int64_t core_takes(const chain *c, int64_t total)
{
	double best = 0;
	for (int v = 0; v < c->r->n; v++) {
		double key = (double)key_of(c, v);
		if (key > 0)
			best = fmax(best, key / (double)c->r->core_ns[v]);
	}
	best *= (double)c->most * (1 + 1e-12);
	return best < (double)total ? (int64_t)best + 1 : total;
}

static void bound_cells(chain *c)
{
	int64_t total = c->key[c->s.n - 1], each = least(c->most, total);
	int64_t core = c->nc > 0 ? core_takes(c, total) : 0;
	int row = c->nk + 1, per = row * (c->nc + 1);
	c->need = ARENA_ARRAY(c->a, int64_t, per);
	c->can = ARENA_ARRAY(c->a, int64_t, per);
	for (int q = 0; q < per; q++) {
		int k = q % row, n = q / row;
		c->can[q] = k * each + n * core;
		c->need[q] = total - (c->nk - k) * each - (c->nc - n) * core;
	}
}

/* Whether an ideal can be on a chain within the bound. */
static bool useful(const chain *c, int i)
{
	for (int q = 0; q < (c->nk + 1) * (c->nc + 1); q++)
		if (c->need[q] <= c->key[i] && c->key[i] <= c->can[q])
			return true;
	return false;
}

/* Whether a chain leads to an ideal. */
static bool reached(const chain *c, int i)
{
	for (int q = 0; q < (c->nk + 1) * (c->nc + 1); q++)
		if (cells(c, i)[q] <= c->most)
			return true;
	return false;
}

static void run(chain *c)
{
	int per = (c->nk + 1) * (c->nc + 1), lo = 0;
	int *live = ARENA_ARRAY(c->a, int, c->s.n), nlive = 1;
	for (int i = 0; i < c->s.n; i++)
		for (int q = 0; q < per; q++)
			cells(c, i)[q] = i == 0 ? 0 : LOAD_NONE;
	for (int i = 1; i < c->s.n && !deadline_is_over(c->o->deadline); i++) {
		if (!useful(c, i))
			continue;
		while (lo < nlive && c->key[i] - c->key[live[lo]] > c->most)
			lo++;
		if (c->since)
			find_added(c, i);
		else
			find_terms(c, i);
		for (int j = lo; j < nlive; j++)
			if (c->since || ideal_within(&c->s, live[j], i))
				extend(c, i, live[j]);
		leave_out(c, i);
		if (reached(c, i))
			live[nlive++] = i;
	}
}

/* Walks back along the chain.  Accelerators and cores are numbered in its
 * order. */
static void read_back(const chain *c, int *device)
{
	int row = c->nk + 1, i = c->s.n - 1, q = row * (c->nc + 1) - 1;
	while (i > 0) {
		choice how = choices(c, i)[q];
		bool core = how.kind == CORE;
		q -= core ? row : 1;
		if (how.from == i)
			continue;
		for (int v = 0; v < c->r->n; v++)
			if (ideal_has(&c->s, i, v) &&
			    !ideal_has(&c->s, how.from, v))
				device[v] = core ? c->o->accelerators +
					q / row : q % row;
		i = how.from;
	}
}

int64_t load_chain(const groups *r, const ideals *sets, const load_options *o,
		   int64_t most, int *device)
{
	arena *own = arena_new();
	chain c = { .a = own, .r = r, .o = o, .most = most };
	c.nk = (int)least(o->accelerators, r->n);
	c.nc = (int)least(o->cores, r->n);
	int64_t per = (int64_t)(c.nk + 1) * (c.nc + 1);
	assert(per * sets->n <= LOAD_MAX_CELLS);
	sort_ideals(&c, sets);
	rank_groups(&c);
	sum_up(&c);
	make_edges(&c);
	bound_cells(&c);
	c.straddling = ARENA_ARRAY(own, int64_t, sets->n);
	c.best = ARENA_ARRAY(own, int64_t, per * sets->n);
	c.back = ARENA_ARRAY(own, choice, per * sets->n);
	run(&c);
	int64_t value = cells(&c, sets->n - 1)[per - 1];
	if (value <= most)
		read_back(&c, device);
	arena_free(own);
	return value <= most ? value : LOAD_NONE;
}
