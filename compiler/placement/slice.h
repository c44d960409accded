/* ParDNN's first steps (Qararyah, Wahib, Dikbayir, Belviranli, Unat, Parallel
 * Computing 2021): slicing and mapping. */
#ifndef TDL_COMPILER_PLACEMENT_SLICE_H
#define TDL_COMPILER_PLACEMENT_SLICE_H

#include "compiler/placement/task.h"

/* Paths of operators.  The members of path i are member[first[i]] .. [i + 1],
 * in order. */
typedef struct place_slices {
	int n;
	int *of; /* [operator] */
	int *first, *member;
} place_slices;

/* Cuts the graph into paths, in a.  A path begins at the operator outside all
 * paths that has the longest way to the end, including transfers, and continues
 * with the reader that has the longest.  After each of the first K paths the
 * ways are measured again over the remaining operators.  O((K + 1)(V + E)). */
place_slices place_slice(arena *a, const machine *m);

/* Maps paths to devices.  A path whose transfers cannot be hidden behind
 * simultaneous work joins the path that it exchanges most with.  The K heaviest
 * groups become the devices.  Each other group goes to the device where the
 * simultaneous work plus the remaining transfers are least.  O(K (V + E) + V
 * log V). */
void place_map_slices(const machine *m, const place_slices *s, int *place);

#endif
