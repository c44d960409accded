/* Compares the arrays of two files, which are to be equal but for rounding:
 *
 *	near A.npz B.npz TOLERANCE
 *
 * For each array the norm of the difference is to be at most TOLERANCE times
 * the norm in B; elements that are not finite are so in both.  Prints the
 * greatest distance; the exit status is 5 where one is greater. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/eval.h"
#include "runtime/exec/npz.h"

typedef struct files {
	arena *a;
	npz *x, *y;
	failure f;
} files;

/* Reads an array, of whatever type it has. */
static bool read_array(arena *a, npz *z, array *x, failure *f)
{
	for (dtype t = 0; t < DT_COUNT; t++) {
		failure other = { 0 };
		x->type = t;
		if (!npz_shape(z, x, t + 1 < DT_COUNT ? &other : f))
			continue;
		x->data = arena_alloc(a, (size_t)array_nbytes(x) + 1);
		return npz_read(z, x, f);
	}
	return false;
}

static bool same_shape(const array *x, const array *y)
{
	if (x->type != y->type || x->ndim != y->ndim)
		return false;
	for (int d = 0; d < x->ndim; d++)
		if (x->dims[d] != y->dims[d])
			return false;
	return true;
}

/* The distance of two arrays of one shape; infinity where one alone has an
 * element that is not finite. */
static double distance(const array *x, const array *y)
{
	double norm = 0, apart = 0;
	for (int64_t i = 0; i < array_nelem(x); i++) {
		double u = elem_get_f64(x->type, x->data, i);
		double v = elem_get_f64(y->type, y->data, i);
		if (!isfinite(u) != !isfinite(v))
			return INFINITY;
		if (!isfinite(u))
			continue;
		norm += v * v;
		apart += (u - v) * (u - v);
	}
	return norm > 0 ? sqrt(apart / norm) : sqrt(apart);
}

/* The greatest distance of all arrays; negative where they cannot be
 * compared. */
static double compare(files *s, double tolerance)
{
	double worst = 0;
	int n = 0;
	for (const char *name; (name = npz_name(s->x, n)); n++) {
		array x = { .name = name }, y = { .name = name };
		if (!read_array(s->a, s->x, &x, &s->f) ||
		    !read_array(s->a, s->y, &y, &s->f))
			return -1;
		if (!same_shape(&x, &y)) {
			fail_with(&s->f, CLI_DIFFERENCE, "'%s' has another "
				  "shape or type", name);
			return -1;
		}
		double d = distance(&x, &y);
		if (!(d <= tolerance))
			printf("%s: relative error %.2g\n", name, d);
		worst = fmax(worst, d);
	}
	if (n > 0 && !npz_name(s->y, n))
		return worst;
	fail_with(&s->f, CLI_DIFFERENCE, "there are other arrays, or none");
	return -1;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: near A.npz B.npz TOLERANCE\n");
		return CLI_USAGE;
	}
	files s = { .a = arena_new() };
	double worst = -1, tolerance = atof(argv[3]);
	s.x = npz_open(s.a, argv[1], &s.f);
	s.y = s.x ? npz_open(s.a, argv[2], &s.f) : NULL;
	if (s.y)
		worst = compare(&s, tolerance);
	if (worst < 0)
		fprintf(stderr, "near: %s\n", s.f.text);
	else
		printf("%.2g\n", worst);
	if (s.y)
		npz_close(s.y);
	if (s.x)
		npz_close(s.x);
	arena_free(s.a);
	return worst < 0 ? s.f.status : worst <= tolerance ? CLI_OK :
							     CLI_DIFFERENCE;
}
