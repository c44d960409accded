/* Compares the arrays of two files, which are to be equal but for rounding:
 *
 *	near A.npz B.npz TOLERANCE
 *
 * For each array the norm of the difference is to be at most TOLERANCE times
 * the norm in B; elements that are not finite are so in both.  Some sums
 * cancel, and what remains is rounding, as in the gradient of a bias that moves
 * all keys of an attention: so elements count as large as a hundredth of what
 * is usual in arrays of a kind, the word after the last dot of the name.
 * Prints the greatest distance; the exit status is 5 where one is greater. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/eval.h"
#include "runtime/exec/npz.h"

typedef struct files {
	arena *a;
	npz *x, *y;
	int n; /* arrays of y */
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

/* The root mean square of the finite elements of x, or of x - y where y is not
 * NULL; infinity where one alone has an element that is not finite. */
static double size_of(const array *x, const array *y)
{
	double sum = 0;
	int64_t n = 0;
	for (int64_t i = 0; i < array_nelem(x); i++) {
		double u = elem_get_f64(x->type, x->data, i);
		double v = y ? elem_get_f64(y->type, y->data, i) : 0;
		if (y && !isfinite(u) != !isfinite(v))
			return INFINITY;
		if (!isfinite(u))
			continue;
		sum += (u - v) * (u - v);
		n++;
	}
	return n > 0 ? sqrt(sum / (double)n) : 0;
}

static const char *kind_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot ? dot + 1 : name;
}

static int compare_sizes(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

/* The median size of B's arrays of a kind. */
static double usual_size(const files *s, const double *sizes, const char *kind)
{
	double *of = ARENA_ARRAY(s->a, double, s->n);
	int n = 0;
	for (int i = 0; i < s->n; i++)
		if (!strcmp(kind_of(npz_name(s->y, i)), kind))
			of[n++] = sizes[i];
	qsort(of, (size_t)n, sizeof(*of), compare_sizes);
	return n > 0 ? of[n / 2] : 0;
}

/* Sizes of B's arrays; NULL where one cannot be read. */
static double *sizes_of(files *s)
{
	while (npz_name(s->y, s->n))
		s->n++;
	double *sizes = ARENA_ARRAY(s->a, double, s->n);
	for (int i = 0; i < s->n; i++) {
		array y = { .name = npz_name(s->y, i) };
		if (!read_array(s->a, s->y, &y, &s->f))
			return NULL;
		sizes[i] = size_of(&y, NULL);
	}
	return sizes;
}

/* The distance of the arrays of a name; negative where they cannot be
 * compared. */
static double distance(files *s, const double *sizes, const char *name)
{
	enum { USUAL = 100 };
	array x = { .name = name }, y = { .name = name };
	if (!read_array(s->a, s->x, &x, &s->f) ||
	    !read_array(s->a, s->y, &y, &s->f))
		return -1;
	if (!same_shape(&x, &y)) {
		fail_with(&s->f, CLI_DIFFERENCE, "'%s' has another "
			  "shape or type", name);
		return -1;
	}
	double apart = size_of(&x, &y), size = size_of(&y, NULL);
	double least = usual_size(s, sizes, kind_of(name)) / USUAL;
	size = fmax(size, least);
	return size > 0 ? apart / size : apart;
}

/* The greatest distance of all arrays; negative where they cannot be
 * compared. */
static double compare(files *s, double tolerance)
{
	double worst = 0, *sizes = sizes_of(s);
	int n = 0;
	for (const char *name; sizes && (name = npz_name(s->x, n)); n++) {
		double d = distance(s, sizes, name);
		if (d < 0)
			return -1;
		if (!(d <= tolerance))
			printf("%s: relative error %.2g\n", name, d);
		worst = fmax(worst, d);
	}
	if (!sizes || (n > 0 && n == s->n))
		return sizes ? worst : -1;
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
