#include "config.h"

#include "compiler/solver/table_store.h"

#include <string.h>

static int own_of(const table_recipe *of)
{
	return of->own ? of->n[0] : 0;
}

static uint64_t hash_of(const table_recipe *of)
{
	const uint64_t key[] = { (uintptr_t)of->x, (uintptr_t)of->y,
				 of->x_turned + 2 * (uint64_t)of->y_turned,
				 (uint64_t)of->n[0], (uint64_t)of->n[1],
				 (uint64_t)of->n[2] };
	uint64_t h = hash_words(HASH_SEED, key, sizeof(key) / sizeof(*key));
	return hash_words(h, (const uint64_t *)of->own, (size_t)own_of(of));
}

static bool is_same(const table_recipe *a, const table_recipe *b)
{
	return a->x == b->x && a->y == b->y && a->x_turned == b->x_turned &&
	       a->y_turned == b->y_turned &&
	       !memcmp(a->n, b->n, sizeof(a->n)) && own_of(a) == own_of(b) &&
	       (!a->own ||
		!memcmp(a->own, b->own, (size_t)a->n[0] * sizeof(*a->own)));
}

const int64_t *table_store_find(const table_store *s, const table_recipe *of,
				uint64_t *hash)
{
	uint32_t at = 0;
	*hash = hash_of(of);
	for (int i; (i = hash_table_next(&s->by_recipe, *hash, &at)) >= 0;)
		if (is_same(&s->tables.at[i].of, of))
			return s->tables.at[i].cost;
	return NULL;
}

void table_store_add(arena *a, table_store *s, const table_recipe *of,
		     uint64_t hash, const int64_t *cost)
{
	stored_table t = { *of, cost };
	if (of->own)
		t.of.own = ARENA_COPY(a, of->own, of->n[0]);
	hash_table_add(a, &s->by_recipe, hash, s->tables.n);
	vec_push(a, &s->tables, t);
}
