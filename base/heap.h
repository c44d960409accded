/* Binary heaps: priority queues of integers with keys. */
#ifndef TDL_BASE_HEAP_H
#define TDL_BASE_HEAP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/* The order is by key, then by second key, then by item: no two different items
 * are equal, so that the order in which they are taken out does not depend on
 * that in which they were pushed. */
typedef struct heap_entry {
	int64_t key, second;
	int item;
} heap_entry;

/* The least entry is entries.at[0]; all zero is an empty heap. */
typedef struct heap {
	VEC(heap_entry) entries;
} heap;

void heap_push(arena *a, heap *h, heap_entry e);
/* Takes the least entry out of a heap that is not empty. */
heap_entry heap_pop(heap *h);

#endif
