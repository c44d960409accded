/* Charts of characters, for a screen of 80 columns. */
#ifndef TDL_LIBTDL_TEXT_CHART_H
#define TDL_LIBTDL_TEXT_CHART_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/units.h"

/* "######....": v out of most, 0 <= v <= most, in width characters; at least
 * one # if v > 0.  All '.' if most is 0. */
const char *chart_bar(arena *a, double v, double most, int width);

/* "..####....": the part [lo, hi) of [0, extent) in at most width characters,
 * one per element if extent is less; # where the part has an element. */
const char *chart_part(arena *a, int64_t lo, int64_t hi, int64_t extent,
		       int width);

typedef struct chart_point {
	double x, y;
} chart_point;

/* An axis: its label, and its ends. */
typedef struct chart_axis {
	const char *name;
	quantity least, most;
} chart_axis;

/* Draws points as stars, on axes from the least to the greatest of their
 * values.  Nothing if there are no points. */
void chart_points(FILE *to, const chart_point *at, int n,
		  const chart_axis *x, const chart_axis *y);

#endif
