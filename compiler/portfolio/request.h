/* From a graph to a plan and its report: the common work of `tdlc plan', for
 * one planner, and of `tdlc compare', for all. */
#ifndef TDL_COMPILER_PORTFOLIO_REQUEST_H
#define TDL_COMPILER_PORTFOLIO_REQUEST_H

#include "compiler/driver/driver.h"
#include "compiler/portfolio/pins.h"
#include "compiler/driver/plan_print.h"
#include "compiler/driver/train_options.h"
#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"

/* The options of the command line about the model. */
typedef struct plan_model {
	const char *name; /* of one in a file with several; NULL */
	cli_words defines, shapes;
	train_request train;
} plan_model;

#define PLAN_MODEL { .train = TRAIN_REQUEST }

/* The options for it; PLAN_OPTIONS_SIZES are those about its sizes alone. */
#define PLAN_OPTIONS_SIZES(m)                                                \
	{ CLI_REPEAT, 'D', NULL, "NAME=VALUE",                               \
	  "set a symbolic size, or an argument of a TDL model",              \
	  &(m)->defines },                                                   \
	{ CLI_REPEAT, 0, "shape", "NAME=AxB",                                \
	  "replace the shape of an input", &(m)->shapes },                   \
	DRIVER_OPTION_MODEL(&(m)->name)

#define PLAN_OPTIONS_MODEL(m)                                                \
	PLAN_OPTIONS_SIZES(m),                                               \
	DRIVER_OPTIONS_TRAIN(&(m)->train)

/* Reads the model at path.  NULL when errors were added, or printed: then
 * *status is what the command ends with. */
graph *plan_read_model(driver *d, const char *path, const plan_model *m,
		       cli_status *status);

/* Whether the bytes that k devices move can be counted; if not, with an
 * error. */
bool plan_is_countable(driver *d, const graph *g, int64_t k);

#define PLAN_OPTION_DEVICES(k)                                               \
	{ CLI_INT, 'k', "devices", "N", "the number of devices", (k),        \
	  .min = 1, .max = MESH_MAX_WORKERS }

/* Whether the command line has one model, and a number of devices; if not, with
 * a usage error printed. */
bool plan_is_asked_for(driver *d, int nmodels, int64_t devices);

/* Whether there is such a planner; if not, with a usage error printed. */
bool plan_is_algorithm(driver *d, const char *name);

/* The planners' names, as the help lists them: "tofu (default), joint, ..". */
const char *plan_algorithms(arena *a);

/* The machine to plan for: a preset or a file, "cpu" where name is NULL.  NULL
 * when errors were added, or k devices of it have no place. */
const topology *plan_topology(driver *d, const char *name, int64_t k);

#define PLAN_OPTION_TOPOLOGY(t)                                              \
	{ CLI_TEXT, 0, "topology", "T",                                      \
	  "the machine: a preset (cpu, 8xk80, 8xh100-nvlink, 2x8xh100, "      \
	  "h100-cluster) or a file", (t) }

/* The figure that the best plan minimises. */
typedef enum plan_objective {
	OBJECTIVE_TIME,	  /* predicted seconds */
	OBJECTIVE_BYTES,  /* moved in a run */
	OBJECTIVE_MEMORY, /* of the device that uses most */
} plan_objective;

/* The method and the aims of a search for a plan. */
typedef struct plan_search {
	const char *algorithm; /* one that exists, or PLAN_AUTO */
	double seconds;	       /* of search_request; 0: no limit */
	int k;
	const topology *topology; /* on which k devices have a place */
	pin_options pins;
	plan_objective objective; /* of PLAN_AUTO */
	int64_t memory;		  /* bytes that a device may use; 0: any */
	/* Bytes that copies may take where there is no limit, as of
	 * lower_options; 0: a tenth more than a program needs. */
	int64_t room;
	bool separate; /* of lower_options */
	const struct memory_prices *prices; /* of search_request, as .. */
	struct level_tables *tables;
	int most_plans; /* of best_first_request */
	/* Programs run operators in the order of the graph alone: where
	 * thousands of plans are made. */
	bool one_order;
} plan_search;

/* One of the programs of a plan, and its figures: plan_programs.h. */
typedef struct plan_program {
	int64_t room; /* of lower_options, and .. */
	lower_schedule schedule; /* .. likewise */
	double seconds;
	/* A lower bound for all programs of the plan: seconds, bytes moved. */
	double least;
	int64_t least_moved;
	/* .. seconds, of those by this schedule that keep no more copies. */
	double least_kept;
	int64_t moved, held; /* bytes: in a run, and of the arena */
	int64_t in_use; /* the peak, without gaps; -1: not computed */
} plan_program;

typedef VEC(plan_program) plan_programs;

/* The best plan of all planners, and of the extended search for several prices
 * of memory: plan_auto.h. */
#define PLAN_AUTO "auto"

#define PLAN_OPTION_TIME_LIMIT(seconds)                                      \
	{ CLI_REAL, 0, "time-limit", "S",                                    \
	  "search for about S seconds, and take the best plan found",        \
	  (seconds), .min = 1e-6, .max = 1e9 }

/* The request that a search makes of the planners.  False when errors were
 * added. */
bool plan_request(driver *d, const graph *g, const plan_search *search,
		  search_request *q);

/* Plans g, along the levels of the machine, and makes the best program of it
 * (program_best()) as `lower` says.  *r is filled in; if the search has an
 * error there is no plan, only `search`.  False when errors were added. */
bool plan_make(driver *d, const graph *g, const plan_search *search,
	       const lower_options *lower, plan_report *r);

/* The same for the result of a former search, as one of its programs. */
bool plan_make_of(driver *d, const graph *g, const plan_search *search,
		  const search_result *s, const lower_options *lower,
		  const plan_program *program, plan_report *r);

#endif
