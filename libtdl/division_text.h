/* The division of a tensor or an operator over a mesh, in words. */
#ifndef TDL_LIBTDL_DIVISION_TEXT_H
#define TDL_LIBTDL_DIVISION_TEXT_H

#include "kernel/kernel.h"
#include "layout/mesh.h"

/* "by s.0 into 4, k into 2, computed 2 times": the divided variables of k, and
 * the copies made along axes that divide none; "" on one worker. */
const char *division_of_node(arena *a, const mesh *m, const cuts *c,
			     const kernel *k);

/* "cut 0 into 4", "cut 1 into 2, 0 into 2": the dimensions that are cut;
 * "replicated" if there are none; "" on one worker. */
const char *division_of_tensor(arena *a, const mesh *m, const cuts *c);

#endif
