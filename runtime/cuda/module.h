/* CUDA text: compiled by NVRTC, cached, and loaded. */
#ifndef TDL_RUNTIME_CUDA_MODULE_H
#define TDL_RUNTIME_CUDA_MODULE_H

#include "runtime/cuda/cuda.h"

/* A text, loaded on every GPU. */
typedef struct cuda_module {
	CUmodule *on; /* by GPU */
} cuda_module;

/* Compiles n texts in parallel, unless they are cached, for the GPUs present,
 * and loads them: modules[0..n).  A text may include the headers of include/tdl
 * that are for devices: "tdl/cuda.h".  Kernels must be extern "C".  `what'
 * names the texts in the message if one does not compile. */
bool cuda_modules_load(cuda *c, int n, const char *const *texts,
		       const char *what, cuda_module *modules, failure *f);
void cuda_module_unload(cuda *c, cuda_module *m);

/* A kernel of a module, on a GPU; NULL with *f set. */
CUfunction cuda_function(const cuda *c, const cuda_module *m, int gpu,
			 const char *name, failure *f);

#endif
