/* ParDNN's first steps (Qararyah, Wahib, Dikbayir, Belviranli, Unat, Parallel
 * Computing 2021): slicing and mapping. */
#ifndef TDL_COMPILER_PLACEMENT_SLICE_H
#define TDL_COMPILER_PLACEMENT_SLICE_H

#include "compiler/placement/task.h"

/* Paths of operators: members of path i are member[first[i]] .. [i + 1], in
 * their order. */
typedef struct place_slices {
	int n;
	int *of; /* [operator] */
	int *first, *member;
} place_slices;

/* Cuts the graph into paths.  A path begins at the operator outside all paths
 * that has the longest way to the end, transfers included, and goes on to the
 * reader with the longest one.  After each of the first K paths the ways are
 * measured anew, over the operators left.  O((K + 1)(V + E)). */
place_slices place_slice(arena *a, const machine *m);

/* Paths to devices: a path whose transfers cannot be hidden behind the work of
 * others at the same time joins the one that it exchanges most with; the K
 * heaviest groups are the devices; each other goes to the device where the work
 * at the same time plus the transfers that remain are least.
 * O(K (V + E) + V log V). */
void place_map_slices(const machine *m, const place_slices *s, int *place);

#endif
