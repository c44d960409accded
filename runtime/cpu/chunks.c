#include "config.h"

#include "runtime/cpu/chunks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/vec.h"

/* Kernels of a file: at least so many, lest the headers take longer than the
 * kernels; about so many at most, so that progress is seen. */
enum { LEAST_KERNELS = 4, MANY_KERNELS = 32 };

/* What a kernel takes beside its text, in bytes of text, which the lines that
 * name it in a file are part of. */
enum { EACH = 500 };

/* A kernel of a text of its own. */
typedef struct unit {
	int kernel;
	size_t cost; /* in bytes of text */
} unit;

typedef VEC(unit) units;

/* The kernels that are the first of their text. */
static units find_units(arena *a, int n, const char *const *sources, int *same)
{
	strmap *first = strmap_new(a);
	units all = { 0 };
	for (int i = 0; i < n; i++) {
		same[i] = -1;
		if (!sources[i])
			continue;
		uintptr_t before = (uintptr_t)strmap_get(first, sources[i]);
		same[i] = before ? (int)before - 1 : i;
		if (before)
			continue;
		strmap_put(first, sources[i], (void *)((uintptr_t)i + 1));
		unit u = { i, strlen(sources[i]) + EACH };
		vec_push(a, &all, u);
	}
	return all;
}

/* The dearest first; of equal ones the one that comes first in the plan. */
static int by_cost(const void *x, const void *y)
{
	const unit *a = x, *b = y;
	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

/* All processors have as many. */
static int count_chunks(int nunits, int processors)
{
	int want = (nunits + LEAST_KERNELS - 1) / LEAST_KERNELS;
	int most = processors * MANY_KERNELS;
	int rounds = (nunits + most - 1) / most;
	int n = want < processors ? want : processors * rounds;
	return n > 0 ? n : 1;
}

typedef struct share {
	units units;
	size_t cost;
} share;

/* Gives each unit to the share that has least so far: no share is then dearer
 * than another by more than a unit. */
static void divide(arena *a, const units *all, int n, share *to)
{
	for (int i = 0; i < all->n; i++) {
		share *least = to;
		for (int c = 1; c < n; c++)
			if (to[c].cost < least->cost)
				least = &to[c];
		vec_push(a, &least->units, all->at[i]);
		least->cost += all->at[i].cost;
	}
}

static chunk write_chunk(arena *a, const share *s, const char *const *sources)
{
	char *text = "#include \"tdl/kernels.h\"\n", *end;
	char *whole = arena_alloc(a, strlen(text) + s->cost + 1);
	end = stpcpy(whole, text);
	for (int i = 0; i < s->units.n; i++) {
		int k = s->units.at[i].kernel;
		end = stpcpy(end, arena_printf(
			a, "\n#define TDL_KERNEL tdl_k%d\n"
			"#define TDL_PART(x) tdl_k%d_##x\n", k, k));
		end = stpcpy(end, sources[k]);
		end = stpcpy(end, "#undef TDL_KERNEL\n#undef TDL_PART\n");
	}
	return (chunk){ s->units.n, whole };
}

chunks chunks_of(arena *a, int n, const char *const *sources, int processors)
{
	chunks x = { .same = ARENA_ARRAY(a, int, n) };
	units all = find_units(a, n, sources, x.same);
	if (all.n > 0)
		qsort(all.at, (size_t)all.n, sizeof(*all.at), by_cost);
	x.nkernels = all.n;
	x.n = count_chunks(all.n, processors);
	x.at = ARENA_ARRAY(a, chunk, x.n);
	share *shares = ARENA_ARRAY(a, share, x.n);
	divide(a, &all, x.n, shares);
	for (int c = 0; c < x.n; c++)
		x.at[c] = write_chunk(a, &shares[c], sources);
	return x;
}
