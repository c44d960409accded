/* Search for a plan: the dimension of each tensor and the variable of each
 * operator that is divided along each mesh axis.  The entry to all planners. */
#ifndef TDL_COMPILER_PLANNERS_SEARCH_H
#define TDL_COMPILER_PLANNERS_SEARCH_H

#include "compiler/cost/assignment.h"
#include "kernel/region.h"
#include "layout/mesh.h"

/* The figure that a planner minimises, if that is not the byte model. */
typedef struct search_costs {
	const char *unit; /* NULL: it is */
	int64_t total;	  /* of the plan */
	int64_t relaxed_bound; /* least cost without the restriction to a mesh;
			     -1 if unknown */
	int64_t data_parallel, one_device; /* of these plans */
} search_costs;

/* The meaning of a solver's proof, in bytes moved as the byte model counts
 * them. */
typedef enum search_proof {
	SEARCH_PROVES_NOTHING, /* it solves another problem, or a part of one */
	SEARCH_PROVES_STEPS,   /* no step moves less, given those before */
	SEARCH_PROVES_PLANS,   /* no plan moves less */
} search_proof;

/* A way to plan of a planner that has several; all false: the plain one. */
typedef struct search_variant {
	bool sequence_parallel; /* of `megatron` */
	/* Partial results are combined where they are computed, though the
	 * planner knows values that stay partial. */
	bool at_once;
	/* Of `data-parallel': what is once per step is divided, too, behind
	 * the turns of micro-batches: the optimizer's states.  It is none of
	 * those of search_variant_of(). */
	bool sharded;
} search_variant;

typedef struct search_result {
	const char *algorithm;
	search_variant variant; /* of it */
	search_proof proves; /* where optimal_by_step[] is set .. */
	const char *among;   /* .. among plans "that ..", NULL: that cut every
				tensor */
	bool pinned;	     /* .. that agree with the request's pins */
	assignment assignment;
	int64_t total;			/* C_m, bytes (search.md) */
	int64_t by_step[MAX_AXES];	/* delta_i */
	bool optimal_by_step[MAX_AXES]; /* as `proves' says; all unset where
					   that is nothing */
	int64_t least_by_step[MAX_AXES]; /* the same in bytes, as far as it is
					    proven; -1 if unknown */
	int64_t (*node_bytes)[MAX_AXES]; /* per node and step */
	int64_t lower_bound; /* of all plans that cut every tensor once per
				axis, or that `among' says; -1 if unknown */
	/* Where values stay partial: the best plan found in which none does,
	 * or NULL. */
	struct search_result *whole;
	search_costs own;
	double seconds;			/* wall time of the search alone */
	const char *note;		/* NULL, or a remark for the user */
	int64_t few_samples; /* of a batch that is said and was to be divided
				over more devices; else 0 */
	const char *error; /* NULL, or why there is no plan: then only this and
			      the algorithm count */
	bool absent;	   /* because a program that it needs is not there */
} search_result;

/* Plans g for k devices, 1 to MESH_MAX_WORKERS, by one of search_algorithm()'s
 * planners.  One that cannot cut over all devices says so in the note. */
search_result *search_plan(arena *a, const graph *g, int k,
			   const char *algorithm);

typedef struct partial_assignment
	partial_assignment; /* compiler/planners/partial_assignment.h */

/* The input of a search. */
typedef struct search_request {
	mesh mesh; /* of the devices, each axis a prime, outermost first */
	const char *algorithm;
	/* 0, or about how long it may take: the best plan found by then is
	 * returned.  With time it also goes on where search_plan() stops. */
	double seconds;
	/* Decisions already made, for the tensors and nodes that it has set;
	 * NULL: none.  States and their next values have to agree, see
	 * partial_assignment_tie(). */
	const partial_assignment *pins;
	/* The machine for planners that count time; NULL: the first preset. */
	const struct topology *topology;
	/* The price of a byte in use, in seconds, for planners that take
	 * prices; NULL: none. */
	const struct memory_prices *prices;
	struct level_tables *tables; /* of `levels`, or NULL */
	search_variant variant; /* of a planner that has several */
} search_request;

search_result *search_plan_for(arena *a, const graph *g,
			       const search_request *q);

/* The cost of a given plan; it claims no proof. */
search_result *search_evaluate(arena *a, const graph *g, const assignment *as,
			       const char *algorithm);

/* The i-th algorithm's name and one line on it; NULL after the last. */
const char *search_algorithm(int i, const char **about);

/* Whether the i-th algorithm needs an external program, and is compared with
 * the others only if it is asked for. */
bool search_on_request(int i);

/* Whether it takes prices: search_request. */
bool search_is_priced(int i);

/* Its j-th variant, the plain one for 0; false behind the last. */
bool search_variant_of(int i, int j, search_variant *v);

/* Whether each axis cuts every tensor that it can cut, so that a lower_bound
 * holds for the plan, whatever planner made it. */
bool search_cuts_all(const graph *g, const assignment *as);

#endif
