#include "config.h"

#include "base/intern.h"

#include <string.h>

#include "base/vec.h"

typedef struct pair {
	const char *key;
	void *value;
	uint64_t hash;
} pair;

/* Open addressing: slot holds 1 + an index into pairs, 0 when free. */
struct strmap {
	arena *arena;
	VEC(pair) pairs;
	int *slot;
	uint32_t nslots; /* a power of two */
};

struct interner {
	strmap *map;
	arena *arena;
};

uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
	const unsigned char *s = p;
	for (size_t i = 0; i < n; i++)
		h = (h ^ s[i]) * 0x100000001b3u;
	return h;
}

uint64_t hash_str(uint64_t h, const char *s)
{
	return hash_bytes(h, s, strlen(s));
}

strmap *strmap_new(arena *a)
{
	strmap *m = ARENA_NEW(a, strmap);
	m->arena = a;
	m->nslots = 16;
	m->slot = ARENA_ARRAY(a, int, m->nslots);
	return m;
}

/* The slot of the key's pair, or the free slot where it would go. */
static int *find(const strmap *m, const char *key, size_t n, uint64_t hash)
{
	uint32_t i = (uint32_t)(hash ^ hash >> 32);
	for (;; i++) {
		int *slot = &m->slot[i & (m->nslots - 1)];
		if (!*slot)
			return slot;
		const pair *p = &m->pairs.at[*slot - 1];
		if (p->hash == hash && !strncmp(p->key, key, n) &&
		    p->key[n] == '\0')
			return slot;
	}
}

static void grow(strmap *m)
{
	m->nslots *= 2;
	m->slot = ARENA_ARRAY(m->arena, int, m->nslots);
	for (int i = 0; i < m->pairs.n; i++) {
		const pair *p = &m->pairs.at[i];
		*find(m, p->key, strlen(p->key), p->hash) = i + 1;
	}
}

static int *find_or_grow(strmap *m, const char *key, size_t n, uint64_t hash)
{
	int *slot = find(m, key, n, hash);
	if (*slot || (uint32_t)m->pairs.n * 2 < m->nslots)
		return slot;
	grow(m);
	return find(m, key, n, hash);
}

void *strmap_get(const strmap *m, const char *key)
{
	size_t n = strlen(key);
	int *slot = find(m, key, n, hash_bytes(HASH_SEED, key, n));
	return *slot ? m->pairs.at[*slot - 1].value : NULL;
}

void strmap_put(strmap *m, const char *key, void *value)
{
	size_t n = strlen(key);
	uint64_t hash = hash_bytes(HASH_SEED, key, n);
	int *slot = find_or_grow(m, key, n, hash);
	if (*slot) {
		m->pairs.at[*slot - 1].value = value;
		return;
	}
	vec_push(m->arena, &m->pairs, ((pair){ key, value, hash }));
	*slot = m->pairs.n;
}

int strmap_count(const strmap *m)
{
	return m->pairs.n;
}

const char *strmap_key(const strmap *m, int i)
{
	return m->pairs.at[i].key;
}

void *strmap_value(const strmap *m, int i)
{
	return m->pairs.at[i].value;
}

interner *interner_new(arena *a)
{
	interner *t = ARENA_NEW(a, interner);
	t->arena = a;
	t->map = strmap_new(a);
	return t;
}

const char *intern_n(interner *t, const char *s, size_t n)
{
	uint64_t hash = hash_bytes(HASH_SEED, s, n);
	strmap *m = t->map;
	int *slot = find_or_grow(m, s, n, hash);
	if (!*slot) {
		char *key = arena_strndup(t->arena, s, n);
		vec_push(m->arena, &m->pairs, ((pair){ key, key, hash }));
		*slot = m->pairs.n;
	}
	return m->pairs.at[*slot - 1].key;
}

const char *intern(interner *t, const char *s)
{
	return intern_n(t, s, strlen(s));
}
