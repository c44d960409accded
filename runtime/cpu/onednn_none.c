/* Stubs for a runtime built without oneDNN. */
#include "config.h"

#include "runtime/cpu/onednn.h"

onednn *onednn_open(int nworkers, int nthreads, failure *f)
{
	(void)nworkers;
	(void)nthreads;
	fail_with(f, CLI_MACHINE, "oneDNN, the library of kernels for the "
		  "processor, is not built in; use --kernels generated");
	return NULL;
}

void onednn_close(onednn *o)
{
	(void)o;
}

onednn_run *onednn_find(onednn *o, int worker, const onednn_job *j)
{
	(void)o;
	(void)worker;
	(void)j;
	return NULL;
}

bool onednn_fills(const onednn_run *x, const onednn_job *j)
{
	(void)x;
	(void)j;
	return false;
}

bool onednn_pack(onednn_run *x, const onednn_job *j, int i)
{
	(void)x;
	(void)j;
	(void)i;
	return false;
}

bool onednn_compute(onednn_run *x, const onednn_job *j, int i)
{
	(void)x;
	(void)j;
	(void)i;
	return false;
}
