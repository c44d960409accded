/* The table of backends.  It is separate from their common code, so that a
 * program that uses only one backend does not link the others. */
#include "config.h"

#include "runtime/exec/backend.h"

#ifndef HAVE_CUDA
const backend backend_cuda = {
	.name = "cuda",
	.missing = "the backend 'cuda' is not built in; use --backend cpu",
};
#endif

const backend *backend_row(int i)
{
	static const backend *const rows[] = { &backend_cpu, &backend_cuda,
					       NULL };
	return rows[i];
}
