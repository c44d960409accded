/* Kernels made by hand, evaluated as a whole. */
#ifndef TDL_TESTS_UNIT_HAND_KERNELS_H
#define TDL_TESTS_UNIT_HAND_KERNELS_H

#include "kernel/eval.h"

/* One output variable per extent, then reduced ones; without a body, and with
 * room for four inputs. */
kernel *make_kernel(arena *a, dtype type, int nout, int nvars,
		    const int64_t *extents);
void add_kernel_input(kernel *k, dtype t, int ndim, const int64_t *dims);

/* Finishes the kernel and computes all of its result from whole inputs. */
eval_status evaluate(arena *a, kernel *k, void *const *data, void *out,
			    eval_fault *fault);

#endif
