/* Tables that are made of others, each made once.  The layers of a network have
 * the same tables, and what is made of equal ones is equal, too: kept once it
 * takes no time again, and stays in the processor's caches. */
#ifndef TDL_COMPILER_SOLVER_TABLE_STORE_H
#define TDL_COMPILER_SOLVER_TABLE_STORE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

/* The making of a table: of two others, which nobody changes any more, known by
 * where they are. */
typedef struct table_recipe {
	const int64_t *x, *y;
	bool x_turned, y_turned; /* its variables are in the other order */
	int n[3];		 /* numbers of values */
	const int64_t *own;	 /* n[0] costs of a variable; NULL: none */
} table_recipe;

typedef struct stored_table {
	table_recipe of;
	const int64_t *cost;
} stored_table;

/* All zero it is empty; what it has lives in the arena. */
typedef struct table_store {
	VEC(stored_table) tables;
	hash_table by_recipe;
} table_store;

/* The table that was made so; NULL: none was.  *hash is for
 * table_store_add(). */
const int64_t *table_store_find(const table_store *s, const table_recipe *of,
				uint64_t *hash);

/* Adds one that was not found. */
void table_store_add(arena *a, table_store *s, const table_recipe *of,
		     uint64_t hash, const int64_t *cost);

#endif
