/* The least step of a pipeline of M micro-batches,
 *
 * 	sum of times + (M - 1) longest time + longest exchange,
 *
 * by programs that find least sums under limits of the longest two.  Their
 * values are split into boxes: the least sum in a box bounds all steps in it,
 * and a box that this does not exclude is halved. */
#ifndef TDL_COMPILER_PLACEMENT_STEP_BOXES_H
#define TDL_COMPILER_PLACEMENT_STEP_BOXES_H

#include <stddef.h>

#include "base/arena.h"

typedef struct step_boxes {
	double weight; /* M - 1 */
	/* The values that occur, sorted, each once. */
	const double *times, *exchanges;
	int ntimes, nexchanges;
	/* The least sum of times within the limits; INFINITY if there is none,
	 * or none up to `most'.  It lowers *step if it has found a better
	 * one. */
	double (*look)(void *of, double time, double exchange, double most);
	void *of;
	double *step; /* of the best known */
} step_boxes;

/* Looks until no box can have a step below *step. */
void step_boxes_search(arena *a, const step_boxes *b);

/* The different values of a table from `least' to `most', sorted, in a. */
double *step_values(arena *a, const double *of, size_t n, double least,
		    double most, int *nvalues);

#endif
