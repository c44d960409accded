/* The interface of planners, and their common parts: rules of choice, the
 * search axis by axis and over all axes at once, notes.  One planner is one
 * file and one row in the table of planners.c. */
#ifndef TDL_COMPILER_PLANNERS_PLANNER_H
#define TDL_COMPILER_PLANNERS_PLANNER_H

#include "base/clock.h"
#include "compiler/cost/rules.h"
#include "compiler/cost/topology.h"
#include "compiler/planners/search.h"

/* A search in progress: the argument of every planner. */
typedef struct search {
	arena *arena; /* for the result */
	const graph *graph;
	int k;		       /* devices */
	mesh mesh;	       /* of the devices */
	search_result *result; /* initially without axes and cuts */
	deadline deadline;
	/* this and the following are the request's */
	const partial_assignment *pins;
	const topology *topology;
	const struct memory_prices *prices;
	struct level_tables *tables;
	search_variant variant;
} search;

/* The limits for the next problem if nproblems of the same kind have to be
 * solved, one after another, in the time left. */
solve_limits search_limits(const search *s, int nproblems);

/* Whether the time is up. */
bool search_is_over(const search *s);

typedef struct planner {
	const char *name;
	const char *about; /* one line for users */
	/* Fills in the result, except its algorithm and seconds.  Sets
	 * result->error if there is no plan. */
	void (*plan)(search *s);
	/* Needs an external program; compared with others only on request. */
	bool on_request;
	bool priced; /* takes prices into account */
	bool tabled; /* takes its costs from tables that are kept (levels.h) */
	/* rough effort for a large graph, relative to others: of several that
	 * run at once, the longest begin first */
	int effort;
	/* The variants other than the plain one. */
	const search_variant *variants;
	int nvariants;
	bool shards; /* supports search_variant.sharded */
	/* The meaning of a proof by its solver, and in words the plans for
	 * which it holds; NULL: all that cut every tensor. */
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

/* The planner with that name; NULL if there is none. */
const planner *planner_find(const char *name);

/* ---- axis by axis ------------------------------------------------------ */

/* The same rules, restricted by the user's pins. */
rules search_pinned(const search *s, const rules *r);

/* Plans one axis of the mesh after the other, the outermost first, each
 * optimally given those before.  The caller sets the note. */
void search_by_step(search *s, const rules *r);

/* ---- all axes at once -------------------------------------------------- */

/* Finds the best of all plans that the rules allow at successive steps, as far
 * as tables permit.  Begins with the plan of search_by_step() without partial
 * values, so the result is never worse.  Its lower_bound holds for all those
 * plans; if no value stays partial, for those in which none does. */
void search_jointly(search *s, const rules *r);

/* A copy of a result as it is now, in a. */
search_result *search_result_copy(arena *a, const graph *g,
				  const search_result *r);

/* Computes the cost of the result's cuts: total, by_step, node_bytes. */
void search_cost(search *s);

/* ---- the batch --------------------------------------------------------- */

/* By node, in a: the variable that data-parallel divides, CUT_NONE if there is
 * none. */
const int *planner_batch(arena *a, const graph *g, int k);

/* ---- notes ------------------------------------------------------------- */

/* A note that counts the tensors and operators not cut over all devices; NULL
 * if these have less than `percent' of all bytes and of all points of
 * iteration. */
const char *planner_note_whole(arena *a, const graph *g,
			       const search_result *r, int percent);

#endif
