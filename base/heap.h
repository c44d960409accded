/* Binary heaps: priority queues of integers with keys. */
#ifndef TDL_BASE_HEAP_H
#define TDL_BASE_HEAP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/* Entries are ordered by key, then second, then item.  No two items are equal,
 * so the order of removal does not depend on the order of insertion. */
typedef struct heap_entry {
	int64_t key, second;
	int item;
} heap_entry;

/* The least entry is entries.at[0]; all zero is an empty heap. */
typedef struct heap {
	VEC(heap_entry) entries;
} heap;

void heap_push(arena *a, heap *h, heap_entry e);
/* Removes and returns the least entry.  The heap must not be empty. */
heap_entry heap_pop(heap *h);

#endif
