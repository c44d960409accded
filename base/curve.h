/* Times that were measured at some sizes, and at those between.  The logarithm
 * of the time is linear in that of the size from point to point; what is
 * smaller than the first takes as long as that, what is larger than the last
 * one is as fast. */
#ifndef TDL_BASE_CURVE_H
#define TDL_BASE_CURVE_H

/* Sizes rise from point to point; seconds, above 0, do not fall. */
typedef struct curve_point {
	double size, seconds;
} curve_point;

typedef struct curve {
	int n; /* at least 1 */
	const curve_point *at;
} curve;

double curve_seconds(const curve *c, double size);

#endif
