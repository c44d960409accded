#include "config.h"

#include "compiler/portfolio/pipeline_passing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A use during instructions [from, to) of a layer, with the numbers of layers
 * before and behind it that share it. */
typedef struct layer_use {
	int from, to, before, behind;
	double nbytes;
} layer_use;

typedef VEC(layer_use) layer_uses;

/* The first of n increasing numbers that is at least x. */
static int first_from(const int *at, int n, int x)
{
	int low = 0;
	while (low < n) {
		int middle = low + (n - low) / 2;
		if (at[middle] < x)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static int by_behind(const void *x, const void *y)
{
	const layer_use *a = x, *b = y;
	return a->behind != b->behind ? (a->behind < b->behind ? -1 : 1)
				      : a->before - b->before;
}

static layer_uses uses_of(arena *a, const passing_uses *all, int layer,
			  const int *at, int n)
{
	layer_uses own = { 0 };
	for (int i = 0; i < all->n; i++) {
		const passing_use *u = &all->at[i];
		layer_use x = { first_from(at, n, u->first),
				first_from(at, n, u->last + 1),
				u->low < layer ? layer - u->low : 0,
				u->high > layer ? u->high - layer : 0,
				u->nbytes };
		if (x.from < x.to)
			vec_push(a, &own, x);
	}
	if (own.n > 0)
		qsort(own.at, (size_t)own.n, sizeof(layer_use), by_behind);
	return own;
}

/* Adds the corners of stages with `before' layers before this one. now: of as
 * many elements as the layer has instructions. */
static void add_corners(arena *a, const layer_uses *uses, int before,
			double *now, passing_corners *to)
{
	double most = 0, known = 0;
	for (int i = 0; i < uses->n; i++) {
		const layer_use *u = &uses->at[i];
		for (int k = u->from; k < u->to && u->before <= before; k++)
			most = fmax(most, now[k] += u->nbytes);
		if (i + 1 < uses->n && uses->at[i + 1].behind == u->behind)
			continue;
		if (most > known)
			vec_push(a, to, ((passing_corner){ before, u->behind,
							   most }));
		known = most;
	}
}

passing_corners passing_of_layer(arena *a, const passing_uses *uses,
				 int layer, const int *at, int n)
{
	arena *tmp = arena_new();
	const layer_uses own = uses_of(tmp, uses, layer, at, n);
	bool *done = ARENA_ARRAY(tmp, bool, layer + 1);
	double *now = ARENA_ARRAY(tmp, double, n);
	passing_corners to = { 0 };
	for (int i = 0; i < own.n; i++) {
		int before = own.at[i].before;
		if (done[before])
			continue;
		done[before] = true;
		memset(now, 0, (size_t)n * sizeof(*now));
		add_corners(a, &own, before, now, &to);
	}
	arena_free(tmp);
	return to;
}

void passing_of_stages(const passing_corners *const *of, int n, double *table)
{
	int row = n + 1;
	for (int q = 0; q < n; q++)
		for (int k = 0; k < of[q]->n; k++) {
			const passing_corner *c = &of[q]->at[k];
			int i = q - c->before, j = q + c->behind + 1;
			if (i >= 0 && j <= n)
				table[i * row + j] = fmax(table[i * row + j],
							  c->nbytes);
		}
	for (int i = n; i-- > 0;)
		for (int j = i + 1; j <= n; j++) {
			double *to = &table[i * row + j];
			*to = fmax(*to, table[i * row + j - 1]);
			if (i + 1 < j)
				*to = fmax(*to, table[(i + 1) * row + j]);
		}
}
