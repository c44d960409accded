/* The search for a plan, with all options of `tdlc plan'. */
#ifndef TDL_LIBTDL_PLAN_SEARCH_H
#define TDL_LIBTDL_PLAN_SEARCH_H

#include "compiler/graph/turns.h"
#include "compiler/lower/lower.h"
#include "compiler/portfolio/pipeline_search.h"
#include "libtdl/plan_input.h"
#include "libtdl/plan_strict.h"

typedef struct plan_options {
	int64_t devices;
	plan_request request;
	const char *warn_replicate, *memory; /* NULL, or a size */
	int64_t limit;			     /* of memory; 0: there is none */
	plan_strictness strict;
	const char *topology;
	int objective; /* a plan_objective; -1: not given */
	bool separate;
	int64_t frontier; /* 0: no; CLI_ALONE: all of it; else its N-th plan */
	const char *micro_batches; /* NULL, a number or "auto" */
	int64_t turns;	 /* the number; 1 for "auto", 0 for NULL */
	bool any_turns;	 /* it is "auto" */
	bool statistics; /* as in turns_options */
	cli_words batch_dims;
	batch_dim *batch; /* batch_dims, parsed */
	const char *bucket; /* NULL, a size or "auto" */
	const char *stages; /* NULL: one; a number or "auto" */
	bool no_stages;	    /* "none" was given: auto considers no stages */
	const char *replicas; /* the same */
	const char *pipeline_schedule, *inside; /* NULL: the default */
	const char *named; /* the algorithm that was given; NULL */
	pipeline_aims aims;
	const graph *model; /* in no turns, of plan_request_of() */
} plan_options;

#define PLAN_OPTIONS_NONE { .objective = -1, .strict.replicated = -1, }

#define PLAN_OPTIONS_STAGES(a, o)                                            \
	{ CLI_TEXT, 0, "stages", "P",                                        \
	  "divide the layers into P stages of a pipeline, each on devices "  \
	  "of its own; auto: the best P; none: no stages in the plans of "   \
	  "--algorithm auto; needs --micro-batches",                         \
	  &(o)->stages, .choices = words_of_stages },                        \
	{ CLI_TEXT, 0, "replicas", "D",                                      \
	  "divide the samples among D replicas of each stage (default: "     \
	  "auto, the best D)", &(o)->replicas,                               \
	  .choices = words_auto },                                           \
	{ CLI_TEXT, 0, "schedule", "S",                                      \
	  "the order of passes in the stages: 1f1b (default), gpipe, zb, "   \
	  "interleaved:V, auto",                                             \
	  &(o)->pipeline_schedule, .choices = words_of_schedules((a), true) }, \
	{ CLI_TEXT, 0, "inside", "A",                                        \
	  "plan the layouts in each replica of a stage with the algorithm "  \
	  "A (default: the best of some)", &(o)->inside,                     \
	  .choices = words_of_planners((a), false) }

extern const char *const plan_objectives[]; /* "time", .. */

#define PLAN_OPTION_MICRO_BATCHES(o)                                         \
	{ CLI_TEXT, 0, "micro-batches", "M",                                 \
	  "divide the batch of a step into M parts, run one after the "      \
	  "other; sums over the batch are accumulated; auto: the best M",    \
	  &(o)->micro_batches, .choices = words_auto },                      \
	{ CLI_FLAG, 0, "micro-batch-statistics", NULL,                       \
	  "operators that need sums over samples, such as "                  \
	  "normalizations, take those of their own micro-batch",             \
	  &(o)->statistics },                                                \
	{ CLI_REPEAT, 0, "batch-dim", "NAME=D",                              \
	  "dimension D of input NAME is the batch; may be repeated "         \
	  "(default: the batch that the model declares)",                    \
	  &(o)->batch_dims }

/* The options of the search; those of the model are in plan_input.h. */
#define PLAN_OPTIONS_SEARCH(a, o)                                            \
	PLAN_OPTION_DEVICES(&(o)->devices),                                  \
	{ CLI_TEXT, 0, "algorithm", "A",                                     \
	  arena_printf((a), "plan with A: %s; or place operators whole, as " \
		       "tdlc place does with A; or divide layers into "      \
		       "--stages as mcap, pipedream or capture do",          \
		       plan_algorithms(a)),                                  \
	  &(o)->request.algorithm,                                           \
	  .choices = words_of_planners((a), true) },                         \
	{ CLI_CHOICE, 0, "objective", "O",                                   \
	  "the cost that auto minimizes: time (default), bytes, "            \
	  "memory", &(o)->objective, 0, 0, plan_objectives },                \
	{ CLI_COUNT, 0, "frontier", "N",                                     \
	  "the N-th of the Pareto-optimal plans in time and memory, the "    \
	  "fastest first; without N list them", &(o)->frontier, 1,           \
	  1 << 20 },                                                         \
	PLAN_OPTION_SEQUENCE_PARALLEL(&(o)->request.variant),                \
	PLAN_OPTIONS_STAGES(a, o),                                           \
	PLAN_OPTION_MICRO_BATCHES(o),                                        \
	PLAN_OPTION_BUCKET_BYTES(&(o)->bucket),                              \
	PLAN_OPTION_TIME_LIMIT(&(o)->request.seconds),                       \
	PLAN_OPTIONS_PINS(&(o)->request.pins),                               \
	PLAN_OPTION_TOPOLOGY(a, &(o)->topology),                             \
	PLAN_OPTION_MEMORY(&(o)->memory)

#define PLAN_OPTIONS_STRICT(o)                                               \
	{ CLI_FLAG, 0, "fail-on-opaque", NULL,                               \
	  "end with an error if no strategy divides an operator",            \
	  &(o)->strict.fail_on_opaque },                                     \
	{ CLI_TEXT, 0, "warn-replicate", "SIZE",                             \
	  "warn about each tensor of at least SIZE bytes (2G, 80GB) "        \
	  "that every device stores or fetches whole",                       \
	  &(o)->warn_replicate },                                            \
	{ CLI_FLAG, 0, "no-fuse", NULL,                                      \
	  "keep every operator a kernel of its own", &(o)->separate }

/* Whether the options are consistent; prints a message if not.  Sets defaults
 * for options not given. */
bool plan_options_agree(job *d, plan_options *o);

/* Makes the request for a graph from the options.  Returns false after adding
 * errors. */
bool plan_request_of(job *d, const graph *g, plan_options *o,
		     plan_request *how);

/* The options for a division into `turns' turns. */
turns_options plan_turns_options(const plan_options *o, int turns);

/* Searches with the request as it is; r->plan has its chains
 * (plan_with_chains()).  Returns false after adding errors. */
bool plan_search_once(const plan_request *how, const lower_options *lower,
		      plan_result *r);

/* Searches, and checks the plan against the limits.  Returns CLI_OK with the
 * plan in *r, unless errors were added, when *made is false; otherwise the
 * status with which the command ends, after a message. */
cli_status plan_search(job *d, const plan_request *how, const plan_options *o,
		       const lower_options *lower, plan_result *r, bool *made);

#endif
