/* The inner loops of the solver: they add costs to the rows or columns of a
 * table and find the least of each.
 *
 * Compiled for several vector lengths if the machine can choose at run time;
 * the results are the same. */
#ifndef TDL_COMPILER_SOLVER_MINPLUS_H
#define TDL_COMPILER_SOLVER_MINPLUS_H

#include <stdint.h>

#include "base/checked.h"

/* The min-plus product of two tables over x: to[r][y] = the least over x of
 * rows[x][r] + columns[x][y], at most `most', for r below nr, y below ny and nx
 * >= 1.  The rows of both have minplus_padded() elements and begin at multiples
 * of 64 bytes; the padding after nr and ny may hold anything whose sum does not
 * overflow.  `to' has room for MINPLUS_LANES more costs after its end. */
void minplus_product(int64_t *to, const int64_t *rows, int64_t nr,
		     const int64_t *columns, int64_t ny, int64_t nx,
		     int64_t most);

enum { MINPLUS_LANES = 8 };

static inline int64_t minplus_padded(int64_t n)
{
	return round_up(n, MINPLUS_LANES);
}

/* sum[x][i] += cost[x * stride + i * step], capped at most, for x below nx and
 * i below n; the rows of sum are padded. */
void minplus_add(int64_t *sum, const int64_t *cost, int64_t nx, int64_t stride,
		 int64_t n, int64_t step, int64_t most);

/* to[y] = the least over x of c[x * step] + row x [y] + columns[x][y]; row x
 * begins at rows + x * stride. */
void minplus_rows_sum(int64_t *to, const int64_t *c, int64_t step,
		      const int64_t *rows, int64_t stride,
		      const int64_t *columns, int64_t ny, int64_t nx);

/* Scaling of the costs of tables: each is capped at cap and counts in units of
 * 1 / 2^shift. */
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

/* The least of cost[0..n), n >= 1. */
int64_t minplus_least(const int64_t *cost, int64_t n);

/* Subtracts `least' from all costs.  Costs that were `gone', or are `most' or
 * more afterwards, become `gone'; the others are capped at cap.  Returns the
 * number of the others. */
int64_t minplus_prune(int64_t *cost, int64_t n, int64_t least, int64_t most,
		      int64_t cap, int64_t gone);

/* Sets give[x] to a part of cost[x], rounded down, and subtracts it `times'
 * times from cost[x], where that is not gone.  Costs that are not gone are
 * below 2^53. */
void minplus_share(int64_t *give, int64_t *cost, int64_t n, double part,
		   int64_t times, int64_t gone);

/* own[x] += cost[x * step] - moved[x], capped at gone. */
void minplus_choose(int64_t *own, const int64_t *cost, int64_t step,
		    const int64_t *moved, int64_t n, minplus_scale s,
		    int64_t gone);

/* For values that cost less than gone, subtracts give[x] from moved[x] and sets
 * own[x] to what moved[x] subtracts from tables; for the others own[x] is
 * gone. */
void minplus_give(int64_t *moved, int64_t *own, const int64_t *give,
		  const int64_t *cost, int64_t n, int64_t gone);

/* Adds new[x] - moved[x] to cost[x], capped at gone, and sets moved[x] to
 * new[x]. */
void minplus_take(int64_t *cost, int64_t *moved, const int64_t *new,
		  int64_t n, int64_t gone);

#endif
