/* Hash functions, and hash tables of rows that the caller keeps.
 *
 * A table maps the hash of a row's key to the row's number.  The caller, who
 * knows what a key is, compares it, and sees the numbers of all rows with that
 * hash:
 *
 *	uint32_t at = 0;
 *	for (int i; (i = hash_table_next(&t, hash, &at)) >= 0;)
 *		if (is_equal(&rows[i], key))
 *			return i;
 *	hash_table_add(arena, &t, hash, nrows);
 *
 * Nothing of a table is in any order, and numbers are never taken out. */
#ifndef TDL_BASE_HASH_H
#define TDL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* 64-bit FNV-1a, for hash tables only; chain calls through seed. */
#define HASH_SEED 0xcbf29ce484222325u
uint64_t hash_bytes(uint64_t seed, const void *p, size_t n);
uint64_t hash_str(uint64_t seed, const char *s);
static inline uint64_t hash_i64(uint64_t seed, int64_t v)
{
	return hash_bytes(seed, &v, sizeof(v));
}

/* The same use, faster: n words at a time, not bytes. */
uint64_t hash_words(uint64_t seed, const uint64_t *p, size_t n);

typedef struct hash_slot {
	uint32_t hash;
	int row; /* the number + 1; 0: the slot is free */
} hash_slot;

/* All zero is an empty table.  Open addressing, at most half full. */
typedef struct hash_table {
	hash_slot *slots;
	uint32_t nslots; /* 0, or a power of two */
	uint32_t n;      /* rows */
} hash_table;

/* Adds a row's number, which is not negative.  The slots live in the arena. */
void hash_table_add(arena *a, hash_table *t, uint64_t hash, int row);

/* Takes all rows out; the slots stay for the next ones. */
void hash_table_clear(hash_table *t);

static inline uint32_t hash_fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/* The next row that was added with that hash; -1: there are no more.  *at is 0
 * before the first call, and counts the slots that were looked at. */
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
