/* Layouts as products of intervals: facts about all workers without visiting
 * each.
 *
 * Mostly each interval of a region depends on only a few axes of the mesh:
 * those that cut the dimension or a variable in its index.  Dimensions that
 * share no axis are independent, so a sum over all workers of a product of
 * lengths is a product of sums: 8 + 8 terms instead of 64. */
#ifndef TDL_LAYOUT_PRODUCT_H
#define TDL_LAYOUT_PRODUCT_H

#include "base/arena.h"
#include "layout/layout.h"

typedef struct product product;

/* l as a product, in a; borrows m.  NULL if l is none: some worker might have
 * no part of an operator, or less of one dimension because of another. */
product *product_of(arena *a, const layout *l, const mesh *m);

/* The functions below return false if the answer does not follow from
 * intervals, or is 2^63 or more; the caller then visits the workers. */

/* The number of elements of all workers, copies counted, and the most on any
 * worker. */
bool product_elements(const product *x, int64_t *sum, int64_t *most);

/* The elements of `to' that a worker already has in `from', summed over all
 * workers. */
bool product_held(const product *from, const product *to, int64_t *sum);

/* Whether x and y have the same region on every worker; whether the region of x
 * contains that of y on every worker. */
bool product_compare(const product *x, const product *y, bool *same,
		     bool *covers);

/* Whether a transfer is an all-gather: each owner's region lies in what the
 * receiver wants, and all owners want the same.  If *gathers is false, some
 * worker does not want what it has. */
bool product_gathers(const product *from, const product *to, bool *gathers);

#endif
