/* Candidates for layouts: the ways to cut a tensor, or to divide a node, over
 * all axes of a mesh.  They are the values of the variables of
 * joint_problem(). */
#ifndef TDL_COMPILER_COST_CANDIDATES_H
#define TDL_COMPILER_COST_CANDIDATES_H

#include "compiler/cost/rules.h"

/* In ascending order: those that agree on all axes but the last follow each
 * other. */
typedef struct candidates {
	int n;
	cuts *at;
} candidates;

/* Candidates that are equal are one. */
typedef struct candidate_pool candidate_pool;

candidate_pool *candidate_pool_new(arena *a);
/* The candidates at[0..n), which are copied. */
const candidates *candidates_shared(candidate_pool *p, const cuts *at, int n);

/* The candidates that successive steps of some rules lead to. */
typedef struct candidate_set {
	const candidates **tensors, **nodes; /* of one candidate_pool */
	const tensor_id *tied; /* of tied_tensors(): these share one's */
	bool complete; /* no tensor and no node has more than the limit; else
			  nothing here may be used */
} candidate_set;

/* All candidates over the axes of m, at least one each, at most `limit`.  The
 * choices at a step may depend on those made for the same tensor or node
 * before, and none at all is a dead end: the choices that lead there are left
 * out. */
candidate_set candidates_find(arena *a, const graph *g, const mesh *m,
			      const rules *r, int limit);

/* The same of a pool, which outlives them. */
candidate_set candidates_find_in(candidate_pool *p, arena *a, const graph *g,
				 const mesh *m, const rules *r, int limit);

/* Writes the candidates that an assignment of joint_problem() stands for. */
void candidates_take(const candidate_set *w, const graph *g, const int *value,
		     assignment *as);

/* The index of a cut among the candidates; -1 if it is none of them. */
int candidates_index(const candidates *w, const cuts *c, int naxes);

#endif
