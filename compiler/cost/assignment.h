/* Assignments: the decisions of a planner. */
#ifndef TDL_COMPILER_COST_ASSIGNMENT_H
#define TDL_COMPILER_COST_ASSIGNMENT_H

#include "compiler/graph/graph.h"
#include "layout/mesh.h"

/* tensor_cuts[t].dim[a] is the dimension of tensor t that axis a cuts, CUT_NONE
 * if every group has all of it. node_cuts[n].dim[a] is the variable of node n's
 * kernel that axis a divides, CUT_NONE if every group computes all of it. */
typedef struct assignment {
	mesh mesh;
	cuts *tensor_cuts;
	cuts *node_cuts;
} assignment;

/* The assignment that divides nothing, in a. */
assignment assignment_undivided(arena *a, const graph *g, const mesh *m);

/* Bytes of a tensor, at most COST_MAX. */
int64_t assignment_tensor_bytes(const tensor_type *t);

/* Whether some axis of the mesh does not cut. */
bool assignment_skips_axis(const cuts *c, const mesh *m);

/* The mesh of k equal devices: its axes are the prime factors of k, the largest
 * first. */
mesh mesh_of_equals(int k);

/* The prime factors of k >= 1, largest first.  Returns their number, at most
 * 30. */
int mesh_factors(int k, int *factors);

#endif
