/* Products of matrices by cuBLASLt. */
#ifndef TDL_RUNTIME_CUDA_CUBLASLT_H
#define TDL_RUNTIME_CUDA_CUBLASLT_H

#include "runtime/cuda/library.h"

enum { LT_WORKSPACE = 32 << 20 }; /* bytes, at most */

typedef struct lt lt;
typedef struct lt_run lt_run;

/* As in library.h.  Everything lives as long as the arena.  A run needs
 * *workspace bytes, which are at `workspace' when it is enqueued. */
lt *lt_open(arena *a, cuda *c, const library_options *o, failure *f);
void lt_close(lt *l);
lt_run *lt_plan(lt *l, int worker, const bind_run *r,
		const library_epilogue *e, size_t *workspace);
/* Call this once, after all runs are planned. */
bool lt_upload(lt *l, failure *f);
/* Bytes that a GPU has for copies of operands beside the arenas; of these, the
 * bytes that planned runs use. */
void lt_copies(const lt *l, int64_t *planned, int64_t *used);
bool lt_run_on(lt *l, const lt_run *r, CUdeviceptr workspace, CUstream s,
	       failure *f);

#endif
