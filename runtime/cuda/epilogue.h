/* A kernel and the next one as one call of a library. */
#ifndef TDL_RUNTIME_CUDA_EPILOGUE_H
#define TDL_RUNTIME_CUDA_EPILOGUE_H

#include "runtime/cuda/library.h"

/* Whether the instruction after a RUN does what a library does to a product's
 * elements before it stores them, and nothing else sees the product; then *r,
 * the run of instr by a worker, counted from the first that is here, stores
 * where that one would, and *e says what is done. */
bool epilogue_after(const cuda *c, int instr, int worker, bind_run *r,
		    library_epilogue *e);

#endif
