/* Search for a plan: for each mesh axis, the dimension of each tensor and the
 * variable of each operator that is divided.  The entry to all planners. */
#ifndef TDL_COMPILER_PLANNERS_SEARCH_H
#define TDL_COMPILER_PLANNERS_SEARCH_H

#include "compiler/cost/assignment.h"
#include "kernel/region.h"
#include "layout/mesh.h"

/* The quantity that a planner minimises if that is not the byte model's. */
typedef struct search_costs {
	const char *unit; /* NULL: it is the byte model's */
	int64_t total;	  /* of the plan */
	/* least cost without the restriction to a mesh; -1 if unknown */
	int64_t relaxed_bound;
	int64_t data_parallel, one_device; /* of these plans */
} search_costs;

/* The meaning of a solver's proof, in bytes moved as the byte model counts
 * them. */
typedef enum search_proof {
	/* it solves another problem, or a part of this one */
	SEARCH_PROVES_NOTHING,
	SEARCH_PROVES_STEPS,   /* no step moves less, given those before */
	SEARCH_PROVES_PLANS,   /* no plan moves less */
} search_proof;

/* One of several ways in which a planner can plan; all false: the plain one. */
typedef struct search_variant {
	bool sequence_parallel; /* of `megatron` */
	/* Partial results are combined where they are computed, although the
	 * planner supports values that stay partial. */
	bool at_once;
	/* For `data-parallel': operators that run once per step, after the
	 * turns of micro-batches, are divided too: the optimizer's states.  Not
	 * among search_variant_of(). */
	bool sharded;
} search_variant;

typedef struct search_result {
	const char *algorithm;
	search_variant variant; /* of the algorithm */
	search_proof proves; /* applies where optimal_by_step[] is set .. */
	/* .. to plans "that ..", NULL: that cut every tensor .. */
	const char *among;
	bool pinned;	     /* .. that agree with the request's pins */
	assignment assignment;
	int64_t total;			/* C_m, bytes (search.md) */
	int64_t by_step[MAX_AXES];	/* delta_i */
	/* in the sense of `proves'; unset if that is nothing */
	bool optimal_by_step[MAX_AXES];
	/* proven least bytes of the step; -1 if unknown */
	int64_t least_by_step[MAX_AXES];
	int64_t (*node_bytes)[MAX_AXES]; /* by node and step */
	/* of all plans that cut every tensor once per axis, or of those that
	 * `among' describes; -1 if unknown */
	int64_t lower_bound;
	/* If values stay partial: the best plan found in which none does, or
	 * NULL. */
	struct search_result *whole;
	search_costs own;
	double seconds;			/* wall time of the search alone */
	const char *note;		/* NULL, or a remark for the user */
	/* size of a declared batch that was to be divided over more devices
	 * than it has samples; else 0 */
	int64_t few_samples;
	/* why there is no plan, or NULL; if set, only it and algorithm are
	 * valid */
	const char *error;
	bool absent;	   /* .. because a required program is missing */
} search_result;

/* Plans g for k devices, 1 to MESH_MAX_WORKERS, by one of the planners of
 * search_algorithm().  The note says if it cannot cut over all devices.  The
 * result is in a. */
search_result *search_plan(arena *a, const graph *g, int k,
			   const char *algorithm);

typedef struct partial_assignment
	partial_assignment; /* compiler/planners/partial_assignment.h */

/* The input of a search. */
typedef struct search_request {
	mesh mesh; /* of the devices, each axis a prime, outermost first */
	const char *algorithm;
	/* 0, or about how long it may take: the best plan found by then is
	 * returned.  With a time it also continues where search_plan()
	 * stops. */
	double seconds;
	/* Decisions already made, for the tensors and nodes that it sets; NULL:
	 * none.  States and their next values have to agree, see
	 * partial_assignment_tie(). */
	const partial_assignment *pins;
	/* The machine for planners that count time; NULL: the first preset. */
	const struct topology *topology;
	/* Prices in seconds per byte in use, for planners that take prices;
	 * NULL: none. */
	const struct memory_prices *prices;
	struct level_tables *tables; /* of `levels`, or NULL */
	search_variant variant; /* of a planner that has several */
} search_request;

search_result *search_plan_for(arena *a, const graph *g,
			       const search_request *q);

/* The cost of a given plan, in a; claims no proof. */
search_result *search_evaluate(arena *a, const graph *g, const assignment *as,
			       const char *algorithm);

/* The name of the i-th algorithm, and one line about it; NULL after the
 * last. */
const char *search_algorithm(int i, const char **about);

/* Whether the i-th algorithm needs an external program and is compared with the
 * others only on request. */
bool search_on_request(int i);

/* Whether the i-th algorithm takes prices: see search_request. */
bool search_is_priced(int i);

/* The j-th variant of the i-th algorithm, 0 being the plain one; false after
 * the last. */
bool search_variant_of(int i, int j, search_variant *v);

/* Whether each axis cuts every tensor that it can cut, so that a lower_bound
 * holds for the plan, whichever planner made it. */
bool search_cuts_all(const graph *g, const assignment *as);

#endif
