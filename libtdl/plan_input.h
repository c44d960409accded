/* The input of the commands that plan: their options, the model and the
 * machine. */
#ifndef TDL_LIBTDL_PLAN_INPUT_H
#define TDL_LIBTDL_PLAN_INPUT_H

#include "compiler/cost/topology.h"
#include "libtdl/job.h"
#include "libtdl/train_options.h"
#include "libtdl/words.h"

/* The options of the command line about the model. */
/* --carry and what belongs to it. */
typedef struct carry_request {
	cli_words pairs;
	int64_t length;
	const char *mask, *positions, *position;
} carry_request;

typedef struct plan_model {
	const char *name; /* the model's name in a file with several; NULL */
	cli_words defines, shapes;
	carry_request carry;
	train_request train;
} plan_model;

#define PLAN_MODEL { .train = TRAIN_REQUEST }

/* The options for the model; PLAN_OPTIONS_SIZES has only those for its
 * sizes. */
#define PLAN_OPTIONS_SIZES(m)                                                \
	{ CLI_REPEAT, 'D', NULL, "NAME=VALUE",                               \
	  "set a symbolic size, or an argument of a TDL model",              \
	  &(m)->defines },                                                   \
	{ CLI_REPEAT, 0, "shape", "NAME=AxB",                                \
	  "replace the shape of an input", &(m)->shapes },                   \
	DRIVER_OPTION_MODEL(&(m)->name)

#define PLAN_OPTIONS_CARRY(c)                                                \
	{ CLI_REPEAT, 0, "carry", "OUT=IN",                                  \
	  "keep the output OUT for the next run, as its input IN; '*' in "   \
	  "both stands for the same text; may be repeated", &(c)->pairs },   \
	{ CLI_INT, 0, "carry-length", "N",                                   \
	  "the number of entries that such an input can hold, if the "       \
	  "output adds entries", &(c)->length,                               \
	  .min = 1, .max = (int64_t)1 << 40 },                               \
	{ CLI_TEXT, 0, "carry-mask", "NAME",                                 \
	  "the input that marks the entries present; the plan computes "     \
	  "it", &(c)->mask },                                                \
	{ CLI_TEXT, 0, "carry-positions", "NAME",                            \
	  "the input with the new entries' positions; the plan computes "    \
	  "it", &(c)->positions },                                           \
	{ CLI_TEXT, 0, "carry-position", "NAME",                             \
	  "the model's input for the number of entries present, if it has "  \
	  "one", &(c)->position }

#define PLAN_OPTIONS_MODEL(m)                                                \
	PLAN_OPTIONS_SIZES(m),                                               \
	PLAN_OPTIONS_CARRY(&(m)->carry),                                     \
	DRIVER_OPTIONS_TRAIN(&(m)->train)

/* The graph of the model at path, as written.  NULL as below. */
graph *model_read_graph(job *d, const char *path, const plan_model *m,
			cli_status *status);

/* Reads the model at path for planning.  NULL after adding or printing errors;
 * *status is then what the command ends with. */
graph *plan_read_model(job *d, const char *path, const plan_model *m,
		       cli_status *status);

#define PLAN_OPTION_DEVICES(k)                                               \
	{ CLI_INT, 'k', "devices", "N", "the number of devices", (k),        \
	  .min = 1, .max = MESH_MAX_WORKERS }

/* Whether the command line has one model and a number of devices; prints a
 * usage error if not. */
bool plan_is_asked_for(job *d, int nmodels, int64_t devices);

/* Whether there is such a planner; prints a usage error if not. */
bool plan_is_algorithm(job *d, const char *name);

/* The same with further names, which `more' lists for the message. */
bool plan_is_algorithm_of(job *d, const char *name, const char *more);

/* The planners' names, as the help lists them: "tofu (default), joint, ..". */
const char *plan_algorithms(arena *a);

/* The machine to plan for: a preset or a file; "cpu" if name is NULL.  NULL
 * after adding errors, also if it has no place for k devices. */
const topology *plan_topology(job *d, const char *name, int64_t k);

/* The same, but devices may differ. */
const topology *plan_topology_of_stages(job *d, const char *name, int64_t k);

#define PLAN_OPTION_TOPOLOGY(a, t)                                           \
	{ CLI_TEXT, 0, "topology", "T",                                      \
	  "the machine: a preset (cpu, 8xk80, 8xh100-nvlink, 2x8xh100, "      \
	  "h100-cluster) or a file", (t), .choices = words_of_machines(a) }

#define PLAN_OPTION_BUCKET_BYTES(text)                                       \
	{ CLI_TEXT, 0, "bucket-bytes", "SIZE",                               \
	  "group small reductions into buckets of up to SIZE bytes; 0: "     \
	  "none; auto: by the machine's latency and bandwidth (default "     \
	  "with --topology, else 0)", (text),                                \
	  .choices = words_auto }

/* Reads --bucket-bytes, if given, for plans for that machine:
 * plan_request.bucket.  Returns false after a usage error. */
bool plan_read_bucket(job *d, const char *text, const char *machine,
		      int64_t *bytes);

#define PLAN_OPTION_SEQUENCE_PARALLEL(v)                                     \
	{ CLI_FLAG, 0, "sequence-parallel", NULL,                            \
	  "let megatron cut norms, dropout and residual sums along the "     \
	  "sequence", &(v)->sequence_parallel }

#define PLAN_OPTION_TIME_LIMIT(seconds)                                      \
	{ CLI_REAL, 0, "time-limit", "S",                                    \
	  "search for about S seconds, and take the best plan found",        \
	  (seconds), .min = 1e-6, .max = 1e9 }

#define PLAN_OPTIONS_PINS(o)                                                 \
	{ CLI_REPEAT, 0, "pin", "NAMES=WORDS",                               \
	  "fix how tensors are held (cut D, replicated) or operators are "   \
	  "divided (by V, whole): a word per axis, or one for all; in a "    \
	  "pipeline, the stage of operators (stage S, on D), and for "       \
	  "'stage S' its devices N, replicas R; may be repeated",            \
	  &(o)->pins },                                                      \
	{ CLI_TEXT, 0, "pins", "FILE",                                       \
	  "the same from a file, one such line for each", &(o)->file }

#define PLAN_OPTION_MEMORY(size)                                             \
	{ CLI_TEXT, 0, "memory", "SIZE",                                     \
	  "let no device need more than SIZE bytes (2G, 80GB); fetched "     \
	  "tensors are kept for later uses as long as they fit", (size) }

#endif
