/* Epilogues: operations on each element of a product of matrices before it is
 * stored, which libraries fuse with the product.  A bias is the only one: the
 * activations of libraries do not specify the result for a NaN, which must not
 * be lost. */
#ifndef TDL_KERNEL_EPILOGUE_H
#define TDL_KERNEL_EPILOGUE_H

#include "kernel/kernel.h"

typedef struct epilogue {
	int bias; /* an input of the kernel that is added .. */
	int dim;  /* .. and the dimension of the result that it goes along */
} epilogue;

/* Whether a kernel is nothing but such an epilogue of its input `of`, which has
 * the result's shape and type and is read at the result's own index; found in
 * its structure. */
bool epilogue_of(const kernel *k, int of, epilogue *e);

#endif
