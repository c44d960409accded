/* What a kernel does to each element of a product of matrices before it is
 * stored, as libraries have it: adds a bias, cuts off what is negative. */
#ifndef TDL_PLAN_EPILOGUE_H
#define TDL_PLAN_EPILOGUE_H

#include "plan/kernel.h"

typedef struct epilogue {
	int bias; /* an input of the kernel that is added; -1 for none .. */
	int dim;  /* .. and the dimension of the result that it goes along */
	bool relu;
} epilogue;

/* Whether all that a kernel does is that to its input `of`, which has the
 * result's shape and type and is read at the result's own index; found in its
 * structure.  max(x + b, 0) is both. */
bool epilogue_of(const kernel *k, int of, epilogue *e);

#endif
