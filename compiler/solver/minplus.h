/* The inner loops of the solver: rows and columns of a table of costs, added to
 * costs of their own, and the least of each.
 *
 * Compiled for several vector lengths where the machine can choose at run
 * time; the results are the same. */
#ifndef TDL_COMPILER_SOLVER_MINPLUS_H
#define TDL_COMPILER_SOLVER_MINPLUS_H

#include <stdint.h>

#include "base/checked.h"

/* The product of two tables over x, a sum for each product and the least for
 * the sum: to[r][y] = the least over x of rows[x][r] + columns[x][y], for r
 * below nr, y below ny and nx >= 1; `most' where that is more.  The rows of
 * both are as long as minplus_padded() says and begin at multiples of 64 bytes;
 * what is behind nr and ny in them may be anything whose sum is a number.
 * There is room for MINPLUS_LANES more costs behind `to'. */
void minplus_product(int64_t *to, const int64_t *rows, int64_t nr,
		     const int64_t *columns, int64_t ny, int64_t nx,
		     int64_t most);

enum { MINPLUS_LANES = 8 };

static inline int64_t minplus_padded(int64_t n)
{
	return round_up(n, MINPLUS_LANES);
}

/* sum[x][i] += cost[x * stride + i * step], up to most, for x below nx and i
 * below n; the rows of sum are padded. */
void minplus_add(int64_t *sum, const int64_t *cost, int64_t nx, int64_t stride,
		 int64_t n, int64_t step, int64_t most);

/* to[y] = the least over x of c[x * step] + row x [y] + columns[x][y]; row x
 * begins at rows + x * stride. */
void minplus_rows_sum(int64_t *to, const int64_t *c, int64_t step,
		      const int64_t *rows, int64_t stride,
		      const int64_t *columns, int64_t ny, int64_t nx);

/* Scaling of the costs of tables: each counts as at most cap, in units of 1 /
 * 2^shift. */
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
 * more afterwards, become `gone'; the others are limited to cap.  Returns the
 * number of the others. */
int64_t minplus_prune(int64_t *cost, int64_t n, int64_t least, int64_t most,
		      int64_t cap, int64_t gone);

/* give[x] = a part of cost[x], which is below 2^53 where it is not gone,
 * rounded down; takes it off cost[x] so many times where that is not gone. */
void minplus_share(int64_t *give, int64_t *cost, int64_t n, double part,
		   int64_t times, int64_t gone);

/* own[x] += cost[x * step] - moved[x], up to gone. */
void minplus_choose(int64_t *own, const int64_t *cost, int64_t step,
		    const int64_t *moved, int64_t n, minplus_scale s,
		    int64_t gone);

/* Gives give[x] away, of values that cost less than gone: moved[x] is less by
 * that, own[x] what moved[x] takes off tables; for the others it is gone. */
void minplus_give(int64_t *moved, int64_t *own, const int64_t *give,
		  const int64_t *cost, int64_t n, int64_t gone);

/* Adds new[x] - moved[x] to cost[x], up to gone, and sets moved[x] to
 * new[x]. */
void minplus_take(int64_t *cost, int64_t *moved, const int64_t *new,
		  int64_t n, int64_t gone);

#endif
