/* The inner loops of the solver: rows and columns of a table of costs, added to
 * costs of their own, and the least of each.
 *
 * Compiled for several vector lengths where the machine can choose at run
 * time; the results are the same. */
#ifndef TDL_COMPILER_SEARCH_MINPLUS_H
#define TDL_COMPILER_SEARCH_MINPLUS_H

#include <stdint.h>

/* to[y] = min(to[y], c + row[y]) */
void minplus_row(int64_t *to, const int64_t *row, int64_t c, int64_t n);

/* How costs of tables count: up to cap, in parts of 1 / 2^shift. */
typedef struct minplus_scale {
	int64_t cap;
	int shift;
} minplus_scale;

static inline int64_t minplus_scaled(int64_t cost, minplus_scale s)
{
	return (cost < s.cap ? cost : s.cap) << s.shift;
}

/* to[y] = the least over x of own[x] + scaled cost[x][y]; x and y below nx and
 * ny. */
void minplus_columns(int64_t *to, const int64_t *cost, int64_t nx, int64_t ny,
		     const int64_t *own, minplus_scale s);

/* to[x] = the least over y of own[y] + scaled cost[x][y]. */
void minplus_rows(int64_t *to, const int64_t *cost, int64_t nx, int64_t ny,
		  const int64_t *own, minplus_scale s);

/* Gives give[x] away, of values that cost less than gone: moved[x] is less by
 * that, own[x] what moved[x] takes off tables; for the others it is gone. */
void minplus_give(int64_t *moved, int64_t *own, const int64_t *give,
		  const int64_t *cost, int64_t n, int64_t gone);

/* Adds to cost[x] what new[x] is more than moved[x], up to gone, and makes it
 * moved[x]. */
void minplus_take(int64_t *cost, int64_t *moved, const int64_t *new,
		  int64_t n, int64_t gone);

#endif
