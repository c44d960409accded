/* What a kernel does to each element of a product of matrices before it is
 * stored, as libraries have it: adds a bias.  What they have for activations
 * does not say what becomes of a NaN, which must not be lost. */
#ifndef TDL_PLAN_EPILOGUE_H
#define TDL_PLAN_EPILOGUE_H

#include "plan/kernel.h"

typedef struct epilogue {
	int bias; /* an input of the kernel that is added .. */
	int dim;  /* .. and the dimension of the result that it goes along */
} epilogue;

/* Whether all that a kernel does is that to its input `of`, which has the
 * result's shape and type and is read at the result's own index; found in its
 * structure. */
bool epilogue_of(const kernel *k, int of, epilogue *e);

#endif
