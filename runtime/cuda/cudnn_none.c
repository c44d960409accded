/* Stubs for a tdlrun built without cuDNN. */
#include "config.h"

#include "runtime/cuda/cudnn.h"

dnn *dnn_open(arena *a, cuda *c, const library_options *o, failure *f)
{
	(void)a;
	(void)c;
	(void)o;
	fail_with(f, CLI_MACHINE, "cuDNN is not built in");
	return NULL;
}

void dnn_close(dnn *d)
{
	(void)d;
}

dnn_run *dnn_plan(dnn *d, int worker, const bind_run *r, size_t *workspace)
{
	(void)d;
	(void)worker;
	(void)r;
	(void)workspace;
	return NULL;
}

bool dnn_run_on(dnn *d, const dnn_run *r, CUdeviceptr workspace, CUstream s,
		failure *f)
{
	(void)d;
	(void)r;
	(void)workspace;
	(void)s;
	(void)f;
	return false;
}
