/* A kernel and the next one as one call of a library. */
#ifndef TDL_RUNTIME_CUDA_EPILOGUE_H
#define TDL_RUNTIME_CUDA_EPILOGUE_H

#include "runtime/cuda/library.h"

/* Whether the instruction after a RUN is an operation that a library can apply
 * to a product's elements before it stores them, and the only reader of the
 * product.  Then *r, the run of instr by a worker, counted from the first that
 * is here, stores to that instruction's target, and *e is the operation. */
bool epilogue_after(const cuda *c, int instr, int worker, bind_run *r,
		    library_epilogue *e);

#endif
