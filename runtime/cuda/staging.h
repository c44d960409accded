/* Pinned memory of the host between the program's memory and a GPU's: copies
 * from it go on while the host prepares the next. */
#ifndef TDL_RUNTIME_CUDA_STAGING_H
#define TDL_RUNTIME_CUDA_STAGING_H

#include "runtime/cuda/cuda.h"

/* For copies on a GPU's compute stream; in the backend's arena.  NULL, with
 * *f set, where there is no memory.  Its GPU is entered for all of these. */
typedef struct staging staging;
staging *staging_open(const cuda *c, int gpu, failure *f);
void staging_close(staging *s);

/* Enqueues a copy to the GPU; `from' may change from then on. */
bool staging_put(staging *s, CUdeviceptr to, const void *from, size_t n,
		 failure *f);

/* Copies from the GPU what all that is enqueued leaves there. */
bool staging_get(staging *s, void *to, CUdeviceptr from, size_t n,
		 failure *f);

/* Waits until all that was put has arrived. */
bool staging_arrived(staging *s, failure *f);

#endif
