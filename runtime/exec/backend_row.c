/* The table of backends, apart from what they share: a program that runs plans
 * on one alone links no other. */
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
