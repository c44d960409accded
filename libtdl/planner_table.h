/* Plans of one model side by side, by every planner; a plan made from pins may
 * come first. */
#ifndef TDL_LIBTDL_PLANNER_TABLE_H
#define TDL_LIBTDL_PLANNER_TABLE_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/graph/turns.h"
#include "compiler/portfolio/request.h"
#include "libtdl/plan_input.h"

typedef struct planner_request {
	int64_t devices;
	cli_words algorithms, with;
	bool score;	/* a plan made from the pins comes first; .. */
	pin_texts pins; /* .. otherwise the pins apply to the planners' plans */
	const char *topology;
	double seconds; /* per search; 0: no limit */
	const char *limit; /* NULL or a size; .. */
	int64_t memory;	   /* .. plan_request.memory, once read */
	search_variant variant; /* for megatron */
	const char *bucket;	/* NULL, a size or "auto"; .. */
	int64_t bucket_bytes;	/* .. plan_request.bucket, once read */
	int64_t micro_batches;	/* 0: the batch is not divided */
	bool statistics;	/* as in turns_options, likewise .. */
	int nbatch;
	const batch_dim *batch; /* .. these */
	bool separate;		/* of plan_request */
	/* A known plan, the name of its planner, and the seconds of its search:
	 * used instead of running this planner; NULL. */
	const plan_result *own;
	const char *own_name;
	double own_seconds;
	plan_observer *observer;
	int threads; /* of plan_request */
} planner_request;

#define PLANNER_OPTIONS(a, r)                                                \
	PLAN_OPTION_DEVICES(&(r)->devices),                                  \
	{ CLI_REPEAT, 0, "algorithm", "A",                                   \
	  "compare A only; may be repeated", &(r)->algorithms,               \
	  .choices = words_of_compared((a)) },                               \
	{ CLI_INT, 0, "micro-batches", "M",                                  \
	  "divide the batch into M parts; with several devices, also "       \
	  "compare pipelines: the best one found, and those of mcap, "       \
	  "pipedream and capture", &(r)->micro_batches,                      \
	  .min = 1, .max = PLAN_MAX_TURNS },                                 \
	{ CLI_FLAG, 0, "micro-batch-statistics", NULL,                       \
	  "operators that need sums over samples, such as "                  \
	  "normalizations, take those of their own micro-batch",             \
	  &(r)->statistics },                                                \
	{ CLI_REPEAT, 0, "with", "A",                                        \
	  "also compare A, which needs another program (ilp)",               \
	  &(r)->with, .choices = words_of_planners((a), false) },            \
	PLAN_OPTION_SEQUENCE_PARALLEL(&(r)->variant),                        \
	PLAN_OPTION_BUCKET_BYTES(&(r)->bucket),                              \
	PLAN_OPTION_TIME_LIMIT(&(r)->seconds),                               \
	PLAN_OPTION_TOPOLOGY(a, &(r)->topology),                             \
	PLAN_OPTION_MEMORY(&(r)->limit),                                     \
	PLAN_OPTIONS_PINS(&(r)->pins)

/* A pipeline of several stages. */
typedef struct planner_pipeline {
	const char *name;
	plan_result found; /* its .pipeline may be refused */
	double seconds;	   /* of the search */
} planner_pipeline;

typedef struct planner_table {
	const graph *graph;
	const topology *machine;
	int devices;
	int64_t memory; /* that each may use; 0: any */
	bool scored; /* the first plan is made from the pins, .. */
	bool staged; /* .. or the first pipeline is */
	VEC(plan_result) plans;
	VEC(planner_pipeline) pipelines;
	/* The greatest lower bound, in bytes, proven for all plans that cut
	 * every tensor; -1: none. */
	int64_t bound;
} planner_table;

/* Whether the options are consistent; prints a message if not.  Parses those
 * that are texts. */
bool planner_options_agree(job *d, planner_request *r);

/* Plans g with all requested planners, in the order of their table, auto last.
 * Returns false after adding errors. */
bool planner_table_of(job *d, const graph *g, const planner_request *r,
		      planner_table *t);

/* The excess of a plan over the bound, relative to the bound; -1 if that is
 * meaningless because the plan replicates tensors that could be cut. */
double planner_gap(const plan_result *r, int64_t bound);

/* The bytes that a device may need, as the request or the machine says, the
 * fewer of both; 0: any. */
int64_t planner_limit(const planner_table *t);

/* Whether a plan needs more memory than that. */
bool planner_exceeds(const planner_table *t, int64_t nbytes);

/* The rows of the output of `tdlc compare --json', for planners and pipelines,
 * without the lists of their tensors and operators. */
json_t *planner_table_rows(const planner_table *t);

/* The output of `tdlc compare --json' and of `tdlc score --json'. */
json_t *planner_table_json(const planner_table *t);
/* The same without --json. */
void planner_table_text(FILE *to, arena *a, const planner_table *t);

#endif
