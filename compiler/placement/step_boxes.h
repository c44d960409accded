/* The least step of a pipeline of M micro-batches,
 *
 *	sum of times + (M - 1) longest time + longest exchange,
 *
 * using programs that find least sums under limits on the longest time and
 * exchange.  The values of these two are divided into boxes.  The least sum in
 * a box bounds all steps in it; a box that this does not exclude is halved. */
#ifndef TDL_COMPILER_PLACEMENT_STEP_BOXES_H
#define TDL_COMPILER_PLACEMENT_STEP_BOXES_H

#include <stddef.h>

#include "base/arena.h"

typedef struct step_boxes {
	double weight; /* M - 1 */
	/* The distinct values that occur, sorted. */
	const double *times, *exchanges;
	int ntimes, nexchanges;
	/* The least sum of times within the limits; INFINITY if there is none
	 * of at most `most'.  Lowers *step if it found a better one. */
	double (*look)(void *of, double time, double exchange, double most);
	void *of;
	double *step; /* of the best known */
} step_boxes;

/* Searches until no box can have a step below *step. */
void step_boxes_search(arena *a, const step_boxes *b);

/* The distinct values of a table from `least' to `most', sorted, in a. */
double *step_values(arena *a, const double *of, size_t n, double least,
		    double most, int *nvalues);

#endif
