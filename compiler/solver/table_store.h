/* A store of tables made from others, each made once.  The layers of a network
 * have equal tables, and tables made from equal ones are equal; keeping them
 * once saves time, and they stay in the processor's caches. */
#ifndef TDL_COMPILER_SOLVER_TABLE_STORE_H
#define TDL_COMPILER_SOLVER_TABLE_STORE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

/* The recipe of a table: made from two others, identified by address, which
 * must not change any more. */
typedef struct table_recipe {
	const int64_t *x, *y;
	bool x_turned, y_turned; /* its variables are in reverse order */
	int n[3];		 /* numbers of values */
	const int64_t *own;	 /* n[0] costs of a variable; NULL: none */
} table_recipe;

typedef struct stored_table {
	table_recipe of;
	const int64_t *cost;
} stored_table;

/* All zero is an empty store.  Its content is in the arena. */
typedef struct table_store {
	VEC(stored_table) tables;
	hash_table by_recipe;
} table_store;

/* The table made by this recipe; NULL if there is none. *hash is for
 * table_store_add(). */
const int64_t *table_store_find(const table_store *s, const table_recipe *of,
				uint64_t *hash);

/* Adds a table whose recipe was not found. */
void table_store_add(arena *a, table_store *s, const table_recipe *of,
		     uint64_t hash, const int64_t *cost);

#endif
