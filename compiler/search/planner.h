/* A planner: how a plan is searched. */
#ifndef TDL_COMPILER_SEARCH_PLANNER_H
#define TDL_COMPILER_SEARCH_PLANNER_H

#include "compiler/search/formulate.h"
#include "compiler/search/solve.h"
#include "compiler/search/topology.h"

/* A search under way. */
typedef struct search {
	arena *arena; /* of the result */
	const graph *graph;
	int k;		       /* devices */
	mesh mesh;	       /* of them */
	search_result *result; /* at first without axes and cuts */
	double deadline;       /* of CLOCK_MONOTONIC, seconds; 0: none */
	const outline *pins;   /* of the request, as the two below */
	const topology *topology;
	const struct timed_prices *prices;
	struct level_tables *tables;
} search;

/* The limits for a problem, if there are so many to solve one after another
 * from now on. */
solve_limits search_limits(const search *s, int nproblems);

/* Whether the time is up. */
bool search_is_over(const search *s);

typedef struct planner {
	const char *name;
	const char *about; /* one line for users */
	/* Fills in the result, all but its algorithm and seconds.  Where there
	 * is no plan it says so in result->error. */
	void (*plan)(search *s);
	/* Needs a program of others: it is not among those that are compared
	 * unless it is asked for. */
	bool on_request;
	bool priced; /* heeds prices */
	/* What it means that its solver has found the least, and among which
	 * plans, in words; NULL: among all that cut every tensor. */
	search_proof proves;
	const char *among;
} planner;

/* The rows in the table of planners.c. */
extern const planner planner_tofu, planner_optcnn, planner_equalchop,
	planner_spartan, planner_allrow, planner_data_parallel, planner_joint,
	planner_extended, planner_levels, planner_megatron, planner_pase,
	planner_ilp;

/* The i-th planner, NULL after the last. */
const planner *planner_at(int i);

/* NULL for an unknown name. */
const planner *planner_find(const char *name);

/* ---- axis after axis --------------------------------------------------- */

/* What a planner that takes one axis after another lets the solver choose
 * from. */
typedef struct rules {
	/* What may be chosen at a step, given what was for the same tensor or
	 * node at those before; at least one thing. */
	choices (*dims)(const void *state, const step *s, tensor_id t);
	choices (*vars)(const void *state, const step *s, node_id n);
	const void *state; /* handed to both */
	/* Chooses; NULL: solve() within the limits, the best there is. */
	solution (*solve)(const void *solver, arena *a, const formulation *f,
			  const solve_limits *limits);
	const void *solver; /* handed to it */
	/* Whether the choices are all that a step has, so that what is proven
	 * of them is proven of all plans that cut every tensor once. */
	bool complete;
} rules;

/* All that a step has, for `dims` and `vars`; without a state. */
choices planner_dims(const void *state, const step *s, tensor_id t);
choices planner_vars(const void *state, const step *s, node_id n);

/* The same rules, but for what the user has pinned. */
rules search_pinned(const search *s, const rules *r);

/* Plans over the axes of the mesh, the outermost first, each the best given
 * those before.  The note is left to the caller. */
void search_by_step(search *s, const rules *r);

/* ---- all axes at once -------------------------------------------------- */

/* The best of all plans that the steps of the rules can come to, as far as the
 * tables allow: it begins with that of search_by_step(), so that it is never
 * worse, and its lower_bound is that of all of them. */
void search_at_once(search *s, const rules *r);

/* Fills in what the cuts of the result cost: total, by_step, node_bytes. */
void search_price(search *s);

/* ---- the batch --------------------------------------------------------- */

/* Per node the variable that data-parallel divides, CUT_NONE where there is
 * none; in a. */
const int *planner_batch(arena *a, const graph *g, int k);

/* ---- notes ------------------------------------------------------------- */

/* A note that counts the tensors and operators which are not cut over all
 * devices; NULL where these tensors have less than that percentage of all
 * bytes, and these operators of all points of iteration. */
const char *planner_note_whole(arena *a, const graph *g,
			       const search_result *r, int percent);

/* Bytes of a tensor, at most COST_MAX. */
int64_t planner_bytes(const tensor_type *t);

/* Whether an axis does not cut. */
bool planner_whole(const cuts *c, const mesh *m);

#endif
