#include "config.h"

#include "base/intern.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

typedef struct pair {
	const char *key;
	void *value;
} pair;

struct strmap {
	arena *arena;
	VEC(pair) pairs;
	hash_table by_key;
};

struct interner {
	strmap *map;
	arena *arena;
};

strmap *strmap_new(arena *a)
{
	strmap *m = ARENA_NEW(a, strmap);
	m->arena = a;
	return m;
}

/* The pair for a key of n bytes with this hash; NULL if there is none. */
static pair *find(const strmap *m, const char *key, size_t n, uint64_t hash)
{
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&m->by_key, hash, &at)) >= 0;) {
		pair *p = &m->pairs.at[i];
		if (!strncmp(p->key, key, n) && p->key[n] == '\0')
			return p;
	}
	return NULL;
}

static void add(strmap *m, const char *key, void *value, uint64_t hash)
{
	hash_table_add(m->arena, &m->by_key, hash, m->pairs.n);
	vec_push(m->arena, &m->pairs, ((pair){ key, value }));
}

void *strmap_get(const strmap *m, const char *key)
{
	size_t n = strlen(key);
	const pair *p = find(m, key, n, hash_bytes(HASH_SEED, key, n));
	return p ? p->value : NULL;
}

void strmap_put(strmap *m, const char *key, void *value)
{
	size_t n = strlen(key);
	uint64_t hash = hash_bytes(HASH_SEED, key, n);
	pair *p = find(m, key, n, hash);
	if (p)
		p->value = value;
	else
		add(m, key, value, hash);
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
	const pair *p = find(t->map, s, n, hash);
	if (p)
		return p->key;
	char *key = arena_strndup(t->arena, s, n);
	add(t->map, key, key, hash);
	return key;
}

const char *intern(interner *t, const char *s)
{
	return intern_n(t, s, strlen(s));
}
