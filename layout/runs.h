/* The contiguous runs of elements of a box in memory. */
#ifndef TDL_LAYOUT_RUNS_H
#define TDL_LAYOUT_RUNS_H

#include "layout/mesh.h"

/* Iterates over the contiguous runs of a box that two regions both contain:
 *
 *	runs r = runs_of(&piece.at, &to, &from);
 *	while (runs_next(&r))
 *		memcpy(dst + r.dst * size, src + r.src * size, r.n * size); */
typedef struct runs {
	int64_t dst, src, n; /* elements; of the current run */
	int ndim, depth;     /* dimensions that are walked one by one */
	bool started;
	int64_t left, i[MAX_NDIM], count[MAX_NDIM];
	int64_t dst_step[MAX_NDIM], src_step[MAX_NDIM];
} runs;

runs runs_of(const box *at, const region *dst, const region *src);
bool runs_next(runs *r);

#endif
