/* Hash functions, and hash tables over rows that the caller stores.
 *
 * A table maps the hash of a row's key to the row's number.  It does not know
 * the keys: the caller gets the numbers of all rows with a given hash and
 * compares the keys:
 *
 *	uint32_t at = 0;
 *	for (int i; (i = hash_table_next(&t, hash, &at)) >= 0;)
 *		if (is_equal(&rows[i], key))
 *			return i;
 *	hash_table_add(arena, &t, hash, nrows);
 *
 * Rows have no order in the table and cannot be removed one by one. */
#ifndef TDL_BASE_HASH_H
#define TDL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* 64-bit FNV-1a, for hash tables only.  To hash several values, pass each
 * result as the next seed. */
#define HASH_SEED 0xcbf29ce484222325u
uint64_t hash_bytes(uint64_t seed, const void *p, size_t n);
uint64_t hash_str(uint64_t seed, const char *s);
static inline uint64_t hash_i64(uint64_t seed, int64_t v)
{
	return hash_bytes(seed, &v, sizeof(v));
}

/* For the same use, but faster: hashes n words rather than bytes. */
uint64_t hash_words(uint64_t seed, const uint64_t *p, size_t n);

typedef struct hash_slot {
	uint32_t hash;
	int row; /* the row's number + 1; 0: the slot is free */
} hash_slot;

/* A hash table with open addressing, at most half full.  All zero is an empty
 * table. */
typedef struct hash_table {
	hash_slot *slots;
	uint32_t nslots; /* 0, or a power of two */
	uint32_t n;      /* rows */
} hash_table;

/* Adds a row's number, >= 0.  The slots live in a. */
void hash_table_add(arena *a, hash_table *t, uint64_t hash, int row);

/* Removes all rows and keeps the slots for reuse. */
void hash_table_clear(hash_table *t);

static inline uint32_t hash_fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/* Returns the next row that was added with that hash; -1 after the last.  Set
 * *at to 0 before the first call; it counts the slots visited. */
static inline int hash_table_next(const hash_table *t, uint64_t hash,
				  uint32_t *at)
{
	uint32_t h = hash_fold(hash);
	while (t->nslots) {
		const hash_slot *s =
			&t->slots[(h + (*at)++) & (t->nslots - 1)];
		if (!s->row)
			return -1;
		if (s->hash == h)
			return s->row - 1;
	}
	return -1;
}

#endif
