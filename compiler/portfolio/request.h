/* The request for a plan, and its result. */
#ifndef TDL_COMPILER_PORTFOLIO_REQUEST_H
#define TDL_COMPILER_PORTFOLIO_REQUEST_H

#include "base/diag.h"
#include "compiler/cost/topology.h"
#include "compiler/planners/search.h"
#include "compiler/portfolio/pins.h"
#include "plan/plan.h"

/* The algorithm that takes the best plan of all planners, and of the extended
 * search with several prices of memory: auto.h. */
#define PLAN_AUTO "auto"

/* The figure that the best plan minimises. */
typedef enum plan_objective {
	OBJECTIVE_TIME,	  /* predicted */
	OBJECTIVE_BYTES,  /* moved in a run */
	OBJECTIVE_MEMORY, /* on the device that uses most */
} plan_objective;

typedef enum plan_phase {
	PHASE_SEARCH,  /* a planner looks for a plan */
	PHASE_COMPARE, /* the programs of a plan are made and measured */
	PHASE_PROVE,   /* all plans of a small graph are searched */
	/* a part of the model is run; its first operator is given as the
	 * algorithm */
	PHASE_MEASURE,
} plan_phase;

/* An observer of a long search, called before each step. done: plans found, or
 * compared, before. nplans: number of plans to compare; 0 in other phases. */
typedef struct plan_observer {
	void (*step)(struct plan_observer *o, plan_phase phase,
		     const char *algorithm, int done, int nplans);
} plan_observer;

/* The graph, the machine, the method and the aims of a search for a plan. */
typedef struct plan_request {
	arena *arena; /* for all results */
	diag_sink *sink;
	const graph *graph;
	const char *algorithm; /* one that exists, or PLAN_AUTO */
	double seconds;	       /* of search_request; 0: no limit */
	int k;
	const topology *topology; /* has a place for k devices */
	pin_texts pins;
	plan_objective objective; /* of PLAN_AUTO */
	int64_t memory;		  /* bytes that a device may use; 0: any */
	/* Seconds of a known plan: PLAN_AUTO then looks only for plans that may
	 * take less; 0: any. */
	double beat;
	/* Bytes that copies may take if there is no limit, as in lower_options;
	 * 0: a tenth more than a program needs. */
	int64_t room;
	bool separate; /* of lower_options */
	/* Bytes of a bucket of reductions, as in bucket_options; 0: no
	 * buckets. */
	int64_t bucket;
	const struct memory_prices *prices; /* as in search_request, like .. */
	struct level_tables *tables;
	search_variant variant; /* of search_request */
	int most_plans; /* of best_first_request */
	/* Programs run operators only in the order of the graph; for callers
	 * that make thousands of plans. */
	bool one_order;
	/* Without a memory limit, also make programs that are not the fastest,
	 * for the memory that they take. */
	bool slow_too;
	plan_observer *observer; /* NULL: none */
	/* The number of threads that may search; the plan does not depend on
	 * it. */
	int threads;
} plan_request;

static inline void plan_observe(const plan_request *how, plan_phase phase,
				const char *algorithm, int done, int nplans)
{
	if (how->observer)
		how->observer->step(how->observer, phase, algorithm, done,
				    nplans);
}

/* A number of micro-batches that was tried, and the figures of its plan. */
typedef struct plan_try {
	int turns;
	double seconds;
	int64_t bytes, memory; /* moved; per device */
} plan_try;

typedef struct plan_result {
	const graph *graph;
	const search_result *search; /* if it has an error there is no plan */
	const plan *plan;
	int64_t one_device_bytes; /* arena of the same program on one device */
	double one_device_seconds; /* .. and its predicted time */
	double seconds;		  /* predicted, of one run, .. */
	/* .. and summed over instructions, see lower_times */
	double computation, communication;
	const char *machine;	  /* for which this is predicted: its name .. */
	const topology *topology; /* .. and topology */
	int64_t machine_memory;	  /* per device; 0: not known */
	const char *objective;	  /* of the search: bytes, time, memory */
	bool proven; /* no plan is better by the objective: docs/json.md */
	/* among which plans that holds; NULL: nothing is proven */
	const char *proof;
	/* For a plan of several stages, which has no common `plan' and
	 * `search', and for its refusal; NULL. */
	const struct pipeline_result *pipeline;
	const char *note; /* .. its note; NULL */
	/* samples, if numbers of micro-batches were tried; else 0 */
	int64_t batch;
	VEC(plan_try) tried;
} plan_result;

#endif
