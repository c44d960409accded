/* Joins a kernel and the next one into one call of a library. */
#ifndef TDL_RUNTIME_CUDA_EPILOGUE_H
#define TDL_RUNTIME_CUDA_EPILOGUE_H

#include "runtime/cuda/library.h"

/* Whether the instruction after a RUN is an operation that a library can apply
 * to a product's elements before storing them, and the only reader of the
 * product.  If so, *r becomes the run of instr by a worker (numbered from the
 * first one here) that stores to that instruction's target, and *e the
 * operation. */
bool epilogue_after(const cuda *c, int instr, int worker, bind_run *r,
		    library_epilogue *e);

#endif
