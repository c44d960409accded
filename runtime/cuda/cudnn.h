/* Convolutions and their gradients by cuDNN. */
#ifndef TDL_RUNTIME_CUDA_CUDNN_H
#define TDL_RUNTIME_CUDA_CUDNN_H

#include "runtime/cuda/library.h"

enum { DNN_WORKSPACE = 256 << 20 }; /* bytes, at most */

typedef struct dnn dnn;
typedef struct dnn_run dnn_run;

/* As the functions of library.h, for cuDNN alone.  Everything lives as long as
 * the arena. dnn_plan() returns the workspace that the run needs, in bytes, in
 * *workspace; dnn_run_on() receives its address. */
dnn *dnn_open(arena *a, cuda *c, const library_options *o, failure *f);
void dnn_close(dnn *d);
dnn_run *dnn_plan(dnn *d, int worker, const bind_run *r, size_t *workspace);
bool dnn_run_on(dnn *d, const dnn_run *r, CUdeviceptr workspace, CUstream s,
		failure *f);

#endif
