#include "config.h"

#include "base/heap.h"

#include <stdbool.h>

static bool comes_before(const heap_entry *x, const heap_entry *y)
{
	if (x->key != y->key)
		return x->key < y->key;
	if (x->second != y->second)
		return x->second < y->second;
	return x->item < y->item;
}

void heap_push(arena *a, heap *h, heap_entry e)
{
	vec_push(a, &h->entries, e);
	heap_entry *at = h->entries.at;
	int i = h->entries.n - 1;
	for (; i > 0 && comes_before(&e, &at[(i - 1) / 2]); i = (i - 1) / 2)
		at[i] = at[(i - 1) / 2];
	at[i] = e;
}

heap_entry heap_pop(heap *h)
{
	int n = --h->entries.n, i = 0;
	heap_entry *at = h->entries.at, least = at[0], e = at[n];
	for (int next; (next = 2 * i + 1) < n; i = next) {
		if (next + 1 < n && comes_before(&at[next + 1], &at[next]))
			next++;
		if (!comes_before(&at[next], &e))
			break;
		at[i] = at[next];
	}
	at[i] = e;
	return least;
}
