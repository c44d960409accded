/* Candidates for layouts: the ways to cut a tensor, or to divide a node, over
 * all axes of a mesh.  They are the values of the variables of
 * whole_problem(). */
#ifndef TDL_COMPILER_COST_CANDIDATES_H
#define TDL_COMPILER_COST_CANDIDATES_H

#include "compiler/cost/rules.h"

/* In ascending order: ways that agree on all axes but the last follow each
 * other. */
typedef struct ways {
	int n;
	cuts *at;
} ways;

/* Ways that are equal are one. */
typedef struct ways_pool ways_pool;

ways_pool *ways_pool_new(arena *a);
/* The ways at[0..n), which are copied. */
const ways *ways_shared(ways_pool *p, const cuts *at, int n);

/* The ways that successive steps of some rules lead to. */
typedef struct ways_set {
	const ways **tensors, **nodes; /* of one ways_pool */
	const tensor_id *tied; /* of tied_tensors(): these have one's ways */
	bool complete; /* no tensor and no node has more than the limit; else
			  nothing here may be used */
} ways_set;

/* All ways over the axes of m, at least one each, at most `limit`.  The choices
 * at a step may depend on those made for the same tensor or node before, and
 * none at all is a dead end: the choices that lead there are left out. */
ways_set ways_find(arena *a, const graph *g, const mesh *m, const rules *r,
		   int limit);

/* The same of a pool, which outlives them. */
ways_set ways_find_in(ways_pool *p, arena *a, const graph *g, const mesh *m,
		      const rules *r, int limit);

/* Writes the ways that an assignment of whole_problem() stands for. */
void ways_take(const ways_set *w, const graph *g, const int *value,
	       assignment *as);

/* The index of a cut among the ways; -1 if it is none of them. */
int ways_index(const ways *w, const cuts *c, int naxes);

#endif
