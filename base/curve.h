/* A curve of times measured at several sizes, interpolated linearly in the
 * logarithms of both.  A size below the first point takes the first point's
 * time; a size above the last has the last point's rate. */
#ifndef TDL_BASE_CURVE_H
#define TDL_BASE_CURVE_H

/* Sizes increase from point to point.  Seconds are above 0 and do not
 * decrease. */
typedef struct curve_point {
	double size, seconds;
} curve_point;

typedef struct curve {
	int n; /* at least 1 */
	const curve_point *at;
} curve;

double curve_seconds(const curve *c, double size);

#endif
