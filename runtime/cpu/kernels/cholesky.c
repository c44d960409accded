/* The Cholesky factor of a symmetric positive definite matrix, and the example
 * of a built-in kernel:
 *
 *	opaque cholesky(m[N, N]) -> l[N, N] = "tdl_cholesky"
 *
 * m = l l', l lower triangular.  The upper triangle of m is not read.  Returns
 * 1 where m is not positive definite, 2 for arguments it does not know.  By
 * rows, in f64; Golub and Van Loan, "Matrix Computations", section 4.2. */
#include "config.h"

#include "runtime/exec/builtin.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static double get(const tdl_view *v, int64_t i, int64_t j)
{
	int64_t at = i * v->strides[0] + j * v->strides[1];
	return v->dtype == TDL_F64 ? ((const double *)v->data)[at] :
				     (double)((const float *)v->data)[at];
}

static void set(const tdl_view *v, int64_t i, int64_t j, double x)
{
	int64_t at = i * v->strides[0] + j * v->strides[1];
	if (v->dtype == TDL_F64)
		((double *)v->data)[at] = x;
	else
		((float *)v->data)[at] = (float)x;
}

static bool is_square(const tdl_view *v)
{
	return (v->dtype == TDL_F64 || v->dtype == TDL_F32) && v->ndim == 2 &&
	       v->dims[0] == v->dims[1];
}

/* Row i, columns up to i, from the rows above. */
static bool factor_row(const tdl_view *m, const tdl_view *l, int64_t i)
{
	for (int64_t j = 0; j <= i; j++) {
		double x = get(m, i, j);
		for (int64_t k = 0; k < j; k++)
			x -= get(l, i, k) * get(l, j, k);
		if (i == j && !(x > 0))
			return false;
		set(l, i, j, i == j ? sqrt(x) : x / get(l, j, j));
	}
	return true;
}

int tdl_cholesky(const tdl_kernel_call *call)
{
	const tdl_view *m, *l;
	if (call->ninputs != 1 || call->noutputs < 1)
		return 2;
	m = &call->inputs[0];
	l = &call->outputs[0];
	if (!l->data)
		return 0;
	if (!is_square(m) || !is_square(l) || m->dims[0] != l->dims[0])
		return 2;
	for (int64_t i = 0; i < m->dims[0]; i++) {
		if (!factor_row(m, l, i))
			return 1;
		for (int64_t j = i + 1; j < m->dims[0]; j++)
			set(l, i, j, 0);
	}
	return 0;
}
