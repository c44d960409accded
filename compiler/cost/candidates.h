/* Candidates for layouts: the ways to cut a tensor, or to divide a node, over
 * all axes of a mesh.  They are the values of the variables of
 * joint_problem(). */
#ifndef TDL_COMPILER_COST_CANDIDATES_H
#define TDL_COMPILER_COST_CANDIDATES_H

#include "compiler/cost/rules.h"

/* In ascending order: candidates that agree on all axes but the last are
 * adjacent. */
typedef struct candidates {
	int n;
	cuts *at;
} candidates;

/* Shares candidates: equal lists are stored once. */
typedef struct candidate_pool candidate_pool;

candidate_pool *candidate_pool_new(arena *a);
/* Returns the shared copy of at[0..n). */
const candidates *candidates_shared(candidate_pool *p, const cuts *at, int n);

/* The candidates that successive steps of some rules can reach. */
typedef struct candidate_set {
	const candidates **tensors, **nodes; /* of one candidate_pool */
	/* from tied_tensors(): tied tensors have the same candidates */
	const tensor_id *tied;
	/* false if a tensor or node has more than the limit; the set must not
	 * be used then */
	bool complete;
} candidate_set;

/* All candidates over the axes of m, in a: at least one, at most `limit', for
 * each tensor and node.  The choices at a step may depend on earlier ones for
 * the same tensor or node.  Choices that lead to a step without any are left
 * out. */
candidate_set candidates_find(arena *a, const graph *g, const mesh *m,
			      const rules *r, int limit);

/* The same with a pool, which must outlive the result. */
candidate_set candidates_find_in(candidate_pool *p, arena *a, const graph *g,
				 const mesh *m, const rules *r, int limit);

/* Stores in *as the candidates that the values of joint_problem() select. */
void candidates_take(const candidate_set *w, const graph *g, const int *value,
		     assignment *as);

/* The index of a cut among the candidates; -1 if it is not among them. */
int candidates_index(const candidates *w, const cuts *c, int naxes);

#endif
