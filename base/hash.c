#include "config.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

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

uint64_t hash_words(uint64_t h, const uint64_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		h = (h ^ p[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

static void insert(hash_table *t, uint32_t hash, int row)
{
	uint32_t i = hash, mask = t->nslots - 1;
	while (t->slots[i & mask].row)
		i++;
	t->slots[i & mask] = (hash_slot){ hash, row };
}

static void grow(arena *a, hash_table *t)
{
	const hash_slot *old = t->slots;
	uint32_t n = t->nslots;
	assert(n <= UINT32_MAX / 4);
	t->nslots = n ? 2 * n : 16;
	t->slots = ARENA_ARRAY(a, hash_slot, t->nslots);
	for (uint32_t i = 0; i < n; i++)
		if (old[i].row)
			insert(t, old[i].hash, old[i].row);
}

void hash_table_add(arena *a, hash_table *t, uint64_t hash, int row)
{
	assert(row >= 0);
	if (2 * t->n >= t->nslots)
		grow(a, t);
	t->n++;
	insert(t, hash_fold(hash), row + 1);
}

void hash_table_clear(hash_table *t)
{
	t->n = 0;
	if (t->nslots)
		memset(t->slots, 0, t->nslots * sizeof(*t->slots));
}
