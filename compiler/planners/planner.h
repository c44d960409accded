/* The interface of planners, and their common parts: rules of choice, the
 * search axis by axis and over all axes at once, notes.  One planner is one
 * file and one row in the table of planners.c. */
#ifndef TDL_COMPILER_PLANNERS_PLANNER_H
#define TDL_COMPILER_PLANNERS_PLANNER_H

#include "base/clock.h"
#include "compiler/cost/rules.h"
#include "compiler/cost/topology.h"
#include "compiler/planners/search.h"

/* A search in progress, the argument of every planner. */
typedef struct search {
	arena *arena; /* of the result */
	const graph *graph;
	int k;		       /* devices */
	mesh mesh;	       /* of them */
	search_result *result; /* at first without axes and cuts */
	deadline deadline;
	const partial_assignment *pins; /* of the request, as those below */
	const topology *topology;
	const struct memory_prices *prices;
	struct level_tables *tables;
	search_variant variant;
} search;

/* The limits for the next problem, if nproblems of the same kind have to be
 * solved one after another within the time left. */
solve_limits search_limits(const search *s, int nproblems);

/* Whether the time is up. */
bool search_is_over(const search *s);

typedef struct planner {
	const char *name;
	const char *about; /* one line for users */
	/* Fills in the result, all but its algorithm and seconds.  If there is
	 * no plan, result->error is set. */
	void (*plan)(search *s);
	/* Needs an external program; compared with others only if it is asked
	 * for. */
	bool on_request;
	bool priced; /* takes prices into account */
	bool tabled; /* takes its costs from tables that are kept (levels.h) */
	int effort; /* of a search of a large graph, roughly, beside others':
		       where several run at once the longest begin first */
	/* The variants behind the plain one. */
	const search_variant *variants;
	int nvariants;
	bool shards; /* knows search_variant.sharded */
	/* The meaning of a proof by its solver, and the plans among which it
	 * holds, in words; NULL: all that cut every tensor. */
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

/* ---- axis by axis ------------------------------------------------------ */

/* The same rules, restricted by the user's pins. */
rules search_pinned(const search *s, const rules *r);

/* Plans over the axes of the mesh, the outermost first, each the best given
 * those before.  The note is left to the caller. */
void search_by_step(search *s, const rules *r);

/* ---- all axes at once -------------------------------------------------- */

/* The best of all plans that the rules allow at successive steps, as far as the
 * tables permit.  The search begins with the plan of search_by_step() without
 * partial values and so is never worse; its lower_bound holds for all those
 * plans, or where no value stays partial for those in which none does. */
void search_jointly(search *s, const rules *r);

/* A result as it is now, in a. */
search_result *search_result_copy(arena *a, const graph *g,
				  const search_result *r);

/* Fills in the cost of the result's cuts: total, by_step, node_bytes. */
void search_cost(search *s);

/* ---- the batch --------------------------------------------------------- */

/* Per node the variable that data-parallel divides, CUT_NONE where there is
 * none; in a. */
const int *planner_batch(arena *a, const graph *g, int k);

/* ---- notes ------------------------------------------------------------- */

/* A note that counts the tensors and operators which are not cut over all
 * devices; NULL if they have less than `percent' of all bytes, and of all
 * points of iteration. */
const char *planner_note_whole(arena *a, const graph *g,
			       const search_result *r, int percent);

#endif
