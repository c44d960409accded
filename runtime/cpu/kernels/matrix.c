/* Determinants and inverses, by elimination with row exchanges in f64 (Golub
 * and Van Loan, "Matrix Computations", section 3.4):
 *
 *	opaque determinant(m[N, N]) -> d[1] = "tdl_determinant"
 *	opaque inverse_matrix(m[N, N]) -> i[N, N] = "tdl_inverse"
 *
 * Return 2 for arguments they do not know; tdl_inverse() 1 for a matrix that
 * has no inverse. */
#include "config.h"

#include "runtime/exec/builtin.h"

#include <math.h>
#include <stdbool.h>

#include "base/arena.h"
#include "kernel/eval.h"

static double get(const tdl_view *v, int64_t i, int64_t j)
{
	return elem_get_f64((dtype)v->dtype, v->data,
			    i * v->strides[0] + j * v->strides[1]);
}

static bool is_square(const tdl_view *v)
{
	return dtype_is_float((dtype)v->dtype) && v->ndim == 2 &&
	       v->dims[0] == v->dims[1];
}

/* The elements of m row by row, each row followed by `more` zeros. */
static double *copy(arena *a, const tdl_view *m, int64_t more)
{
	int64_t n = m->dims[0], width = n + more;
	double *x = ARENA_ARRAY(a, double, n * width);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			x[i * width + j] = get(m, i, j);
	return x;
}

static void exchange(double *x, double *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double t = x[i];
		x[i] = y[i];
		y[i] = t;
	}
}

/* Makes x, n rows of `width` elements, upper triangular from column 0 to n.
 * Returns the product of its diagonal, negated for each exchange of rows: the
 * determinant. */
static double eliminate(double *x, int64_t n, int64_t width)
{
	double product = 1;
	for (int64_t k = 0; k < n; k++) {
		int64_t top = k;
		for (int64_t i = k + 1; i < n; i++)
			if (fabs(x[i * width + k]) > fabs(x[top * width + k]))
				top = i;
		if (top != k) {
			exchange(x + k * width, x + top * width, width);
			product = -product;
		}
		double pivot = x[k * width + k];
		product *= pivot;
		if (pivot == 0)
			return product;
		for (int64_t i = k + 1; i < n; i++) {
			double factor = x[i * width + k] / pivot;
			for (int64_t j = k; j < width; j++)
				x[i * width + j] -= factor * x[k * width + j];
		}
	}
	return product;
}

/* From the last row up: the columns behind the first n become what the
 * triangle in those, inverted, makes of them. */
static void substitute(double *x, int64_t n, int64_t width)
{
	for (int64_t k = n - 1; k >= 0; k--) {
		double *row = x + k * width;
		for (int64_t i = k + 1; i < n; i++)
			for (int64_t j = n; j < width; j++)
				row[j] -= row[i] * x[i * width + j];
		for (int64_t j = n; j < width; j++)
			row[j] /= row[k];
	}
}

int tdl_determinant(const tdl_kernel_call *call)
{
	if (call->ninputs != 1 || call->noutputs < 1)
		return 2;
	const tdl_view *m = &call->inputs[0], *d = &call->outputs[0];
	if (!d->data)
		return 0;
	if (!is_square(m) || d->ndim != 1 || d->dims[0] != 1)
		return 2;
	arena *work = arena_new();
	int64_t n = m->dims[0];
	elem_set_f64((dtype)d->dtype, d->data, 0,
		     eliminate(copy(work, m, 0), n, n));
	arena_free(work);
	return 0;
}

int tdl_inverse(const tdl_kernel_call *call)
{
	if (call->ninputs != 1 || call->noutputs < 1)
		return 2;
	const tdl_view *m = &call->inputs[0], *r = &call->outputs[0];
	if (!r->data)
		return 0;
	if (!is_square(m) || !is_square(r) || m->dims[0] != r->dims[0])
		return 2;
	arena *work = arena_new();
	int64_t n = m->dims[0], width = 2 * n;
	double *x = copy(work, m, n);
	for (int64_t i = 0; i < n; i++)
		x[i * width + n + i] = 1;
	bool singular = eliminate(x, n, width) == 0;
	if (!singular)
		substitute(x, n, width);
	for (int64_t i = 0; i < n && !singular; i++)
		for (int64_t j = 0; j < n; j++)
			elem_set_f64((dtype)r->dtype, r->data,
				     i * r->strides[0] + j * r->strides[1],
				     x[i * width + n + j]);
	arena_free(work);
	return singular;
}
