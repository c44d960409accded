#include "config.h"

#include "runtime/backend.h"

static const backend cuda = {
	.name = "cuda",
	.missing = "the backend 'cuda' is not built in; use --backend cpu",
};

const backend *backend_row(int i)
{
	static const backend *const rows[] = { &backend_cpu, &cuda, NULL };
	return rows[i];
}
