/* Epilogues: operations on each element of a product of matrices before it is
 * stored, which libraries fuse with the product.  Only a bias is recognized:
 * the libraries do not specify what their activations do with a NaN, which must
 * not be lost. */
#ifndef TDL_KERNEL_EPILOGUE_H
#define TDL_KERNEL_EPILOGUE_H

#include "kernel/kernel.h"

typedef struct epilogue {
	int bias; /* an input of the kernel that is added .. */
	int dim;  /* .. and the dimension of the result that it goes along */
} epilogue;

/* Whether, by its structure, a kernel only applies such an epilogue to its
 * input `of', which has the result's shape and type and is read at the result's
 * own index. */
bool epilogue_of(const kernel *k, int of, epilogue *e);

#endif
