/* The request for a plan, and its result. */
#ifndef TDL_COMPILER_PORTFOLIO_REQUEST_H
#define TDL_COMPILER_PORTFOLIO_REQUEST_H

#include "base/diag.h"
#include "compiler/cost/topology.h"
#include "compiler/planners/search.h"
#include "compiler/portfolio/pins.h"
#include "plan/plan.h"

/* The algorithm that takes the best plan of all planners, and of the extended
 * search for several prices of memory: auto.h. */
#define PLAN_AUTO "auto"

/* The figure that the best plan minimises. */
typedef enum plan_objective {
	OBJECTIVE_TIME,	  /* predicted seconds */
	OBJECTIVE_BYTES,  /* moved in a run */
	OBJECTIVE_MEMORY, /* of the device that uses most */
} plan_objective;

typedef enum plan_phase {
	PHASE_SEARCH,  /* a planner looks for a plan */
	PHASE_COMPARE, /* the programs of a plan are made and measured */
	PHASE_PROVE,   /* all plans of a small graph are searched */
	PHASE_MEASURE, /* a part of the model is run; its first operator takes
			  the place of the algorithm */
} plan_phase;

/* An observer of a search that may take long: it is told before each step.
 * done: the plans that were found, or compared, before.  nplans: all that are
 * compared; 0 in other phases. */
typedef struct plan_observer {
	void (*step)(struct plan_observer *o, plan_phase phase,
		     const char *algorithm, int done, int nplans);
} plan_observer;

/* The graph, the machine, and the method and the aims of a search for a
 * plan. */
typedef struct plan_request {
	arena *arena; /* of all results */
	diag_sink *sink;
	const graph *graph;
	const char *algorithm; /* one that exists, or PLAN_AUTO */
	double seconds;	       /* of search_request; 0: no limit */
	int k;
	const topology *topology; /* on which k devices have a place */
	pin_texts pins;
	plan_objective objective; /* of PLAN_AUTO */
	int64_t memory;		  /* bytes that a device may use; 0: any */
	/* Seconds of a plan that is known: of PLAN_AUTO plans are of use that
	 * may take less; 0: any. */
	double beat;
	/* Bytes that copies may take where there is no limit, as of
	 * lower_options; 0: a tenth more than a program needs. */
	int64_t room;
	bool separate; /* of lower_options */
	/* Bytes of a bucket of reductions, as of bucket_options; 0: there are
	 * none. */
	int64_t bucket;
	const struct memory_prices *prices; /* of search_request, as .. */
	struct level_tables *tables;
	search_variant variant; /* of search_request */
	int most_plans; /* of best_first_request */
	/* Programs run operators in the order of the graph alone: where
	 * thousands of plans are made. */
	bool one_order;
	/* Without a limit of memory programs that are not the fastest are made,
	 * too: for the memory that they take. */
	bool slow_too;
	plan_observer *observer; /* NULL: none */
	/* That may search at once; the plan is the same with any number. */
	int threads;
} plan_request;

static inline void plan_observe(const plan_request *how, plan_phase phase,
				const char *algorithm, int done, int nplans)
{
	if (how->observer)
		how->observer->step(how->observer, phase, algorithm, done,
				    nplans);
}

/* A number of micro-batches that was tried, and its plan's figures. */
typedef struct plan_try {
	int turns;
	double seconds;
	int64_t bytes, memory; /* moved; of a device */
} plan_try;

typedef struct plan_result {
	const graph *graph;
	const search_result *search; /* with an error there is no plan */
	const plan *plan;
	int64_t one_device_bytes; /* arena of the same program on one device */
	double one_device_seconds; /* and its predicted time */
	double seconds;		  /* predicted, of one run, .. */
	double computation, communication; /* .. and of its instructions, see
					      lower_times */
	const char *machine;	  /* for which this is predicted: the name .. */
	const topology *topology; /* .. of this */
	int64_t machine_memory;	  /* of a device of it; 0: not known */
	const char *objective;	  /* of the search: bytes, time, memory */
	bool proven; /* that no plan is better by it: docs/json.md */
	const char *proof; /* among which plans; NULL: nothing is proven */
	/* Of a plan of several stages, which has no `plan' and no `search' of
	 * all of it, and of a refusal of one; NULL. */
	const struct pipeline_result *pipeline;
	const char *note; /* of that; NULL */
	int64_t batch; /* samples, where micro-batches were tried; else 0 */
	VEC(plan_try) tried;
} plan_result;

#endif
