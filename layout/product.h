/* Layouts as products of intervals: facts about all workers without visiting
 * each.
 *
 * Mostly each interval of a region depends on a few axes of the mesh only,
 * those that cut the dimension or a variable in its index.  Dimensions that
 * share no axis are independent: a sum over all workers of a product of lengths
 * is then a product of sums, 8 + 8 terms in place of 64. */
#ifndef TDL_LAYOUT_PRODUCT_H
#define TDL_LAYOUT_PRODUCT_H

#include "base/arena.h"
#include "layout/layout.h"

typedef struct product product;

/* l as a product, in a; it borrows m.  NULL where it is none: a worker might
 * have no part of an operator, or less of a dimension because of another. */
product *product_of(arena *a, const layout *l, const mesh *m);

/* The functions below return false where that does not follow from intervals,
 * or is 2^63 or more: then the caller visits the workers. */

/* The elements that all workers have, copies counted, and the most that any
 * has. */
bool product_elements(const product *x, int64_t *sum, int64_t *most);

/* The elements of `to' that a worker has in `from', summed over all workers. */
bool product_held(const product *from, const product *to, int64_t *sum);

/* Whether x and y have the same region on every worker; whether the region of x
 * covers that of y on every worker. */
bool product_compare(const product *x, const product *y, bool *same,
		     bool *covers);

/* Whether a transfer is an all-gather: each owner's region lies in what the
 * receiver wants, and all owners want the same.  If it is none, there are
 * workers that do not want what they have. */
bool product_gathers(const product *from, const product *to, bool *gathers);

#endif
