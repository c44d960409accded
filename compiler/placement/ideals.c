/* Enumerates ideals. */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "compiler/placement/ideals.h"

typedef struct collector {
	arena *a;
	int cap;
	ideals *s;
	hash_table by_bits;
} collector;

static bool is_there(const collector *c, const uint64_t *bits, uint64_t hash)
{
	size_t n = sizeof(*bits) * (size_t)c->s->nwords;
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&c->by_bits, hash, &at)) >= 0;)
		if (!memcmp(ideal_bits(c->s, i), bits, n))
			return true;
	return false;
}

/* Adds a set if it is new. */
static void collect(collector *c, const uint64_t *bits)
{
	size_t row = (size_t)c->s->nwords;
	uint64_t hash = hash_words(HASH_SEED, bits, row);
	if (is_there(c, bits, hash))
		return;
	if (c->s->n == c->cap) {
		uint64_t *old = c->s->bits;
		c->cap *= 2;
		c->s->bits = ARENA_ARRAY(c->a, uint64_t,
					 (size_t)c->cap * row);
		memcpy(c->s->bits, old, sizeof(*old) * row * (size_t)c->s->n);
	}
	memcpy(&c->s->bits[(size_t)c->s->n * row], bits, sizeof(*bits) * row);
	hash_table_add(c->a, &c->by_bits, hash, c->s->n++);
}

static bool may_follow(const precedence *p, const uint64_t *set, int v)
{
	for (int e = p->first[v]; e < p->first[v + 1]; e++)
		if (!(set[p->before[e] / 64] >> (p->before[e] % 64) & 1))
			return false;
	return true;
}

static ideals *ideals_new(arena *a, int n, int cap)
{
	ideals *s = ARENA_NEW(a, ideals);
	s->nwords = n > 0 ? (n + 63) / 64 : 1;
	s->bits = ARENA_ARRAY(a, uint64_t, (size_t)cap * (size_t)s->nwords);
	s->n = 1;
	return s;
}

ideals *ideals_all(arena *a, const precedence *p, int limit)
{
	arena *own = arena_new();
	collector c = { .a = own, .cap = 256, .s = ideals_new(own, p->n, 256) };
	int nw = c.s->nwords;
	uint64_t *set = ARENA_ARRAY(own, uint64_t, nw);
	ideals *all = NULL;
	hash_table_add(own, &c.by_bits,
		       hash_words(HASH_SEED, c.s->bits, (size_t)nw), 0);
	for (int i = 0; i < c.s->n && c.s->n <= limit; i++) {
		memcpy(set, ideal_bits(c.s, i), sizeof(*set) * (size_t)nw);
		for (int v = 0; v < p->n; v++) {
			uint64_t bit = (uint64_t)1 << (v % 64);
			if (set[v / 64] & bit || !may_follow(p, set, v))
				continue;
			set[v / 64] |= bit;
			collect(&c, set);
			set[v / 64] &= ~bit;
		}
	}
	if (c.s->n <= limit) {
		all = ARENA_NEW(a, ideals);
		*all = *c.s;
		all->bits = ARENA_COPY(a, c.s->bits,
				       (size_t)c.s->n * (size_t)nw);
	}
	arena_free(own);
	return all;
}

static int size_of(const ideals *s, int i)
{
	int n = 0;
	for (int w = 0; w < s->nwords; w++)
		n += __builtin_popcountll(ideal_bits(s, i)[w]);
	return n;
}

/* Counting sort, so sets of equal size keep their order. */
int *ideals_by_size(arena *a, const ideals *s)
{
	int most = 64 * s->nwords;
	arena *own = arena_new();
	int *first = ARENA_ARRAY(own, int, most + 2);
	int *order = ARENA_ARRAY(a, int, s->n);
	for (int i = 0; i < s->n; i++)
		first[size_of(s, i) + 1]++;
	for (int n = 0; n <= most; n++)
		first[n + 1] += first[n];
	for (int i = 0; i < s->n; i++)
		order[first[size_of(s, i)]++] = i;
	arena_free(own);
	return order;
}

/* Elements indexed by what precedes them, and how much of that is left. */
typedef struct successors {
	int *first, *after, *left;
} successors;

static successors turn(arena *a, const precedence *p)
{
	int nedges = p->first[p->n];
	successors s = { ARENA_ARRAY(a, int, p->n + 2),
			 ARENA_ARRAY(a, int, nedges),
			 ARENA_ARRAY(a, int, p->n) };
	for (int e = 0; e < nedges; e++)
		s.first[p->before[e] + 2]++;
	for (int v = 0; v < p->n; v++)
		s.first[v + 1] += s.first[v];
	for (int v = 0; v < p->n; v++) {
		s.left[v] = p->first[v + 1] - p->first[v];
		for (int e = p->first[v]; e < p->first[v + 1]; e++)
			s.after[s.first[p->before[e] + 1]++] = v;
	}
	return s;
}

ideals *ideals_prefixes(arena *a, const precedence *p)
{
	arena *own = arena_new();
	ideals *s = ideals_new(a, p->n, p->n + 1);
	successors next = turn(own, p);
	int *ready = ARENA_ARRAY(own, int, p->n + 1), nready = 0;
	for (int v = 0; v < p->n; v++)
		if (next.left[v] == 0)
			ready[nready++] = v;
	while (nready > 0) {
		int v = ready[--nready];
		uint64_t *set = &s->bits[(int64_t)s->n * s->nwords];
		memcpy(set, set - s->nwords,
		       sizeof(*set) * (size_t)s->nwords);
		set[v / 64] |= (uint64_t)1 << (v % 64);
		s->n++;
		for (int e = next.first[v]; e < next.first[v + 1]; e++)
			if (--next.left[next.after[e]] == 0)
				ready[nready++] = next.after[e];
	}
	assert(s->n == p->n + 1);
	arena_free(own);
	return s;
}
