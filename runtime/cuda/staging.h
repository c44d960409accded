/* Pinned host memory between the program's memory and a GPU's, so that a copy
 * from it continues while the host prepares the next. */
#ifndef TDL_RUNTIME_CUDA_STAGING_H
#define TDL_RUNTIME_CUDA_STAGING_H

#include "runtime/cuda/cuda.h"

/* Staging for copies on a GPU's compute stream; in the backend's arena.  NULL,
 * with *f set, if there is no memory.  Its GPU must be current in all of these
 * calls. */
typedef struct staging staging;
staging *staging_open(const cuda *c, int gpu, failure *f);
void staging_close(staging *s);

/* Enqueues a copy to the GPU; `from' may be changed once it returns. */
bool staging_put(staging *s, CUdeviceptr to, const void *from, size_t n,
		 failure *f);

/* Copies from the GPU after everything enqueued so far. */
bool staging_get(staging *s, void *to, CUdeviceptr from, size_t n,
		 failure *f);

/* Waits until everything that was put has arrived. */
bool staging_arrived(staging *s, failure *f);

#endif
