/* Placements of whole operators: the options, the machine, searches, and the
 * judge's report on a placement. */
#ifndef TDL_LIBTDL_PLACEMENT_H
#define TDL_LIBTDL_PLACEMENT_H

#include "base/json.h"
#include "compiler/placement/figures.h"
#include "compiler/placement/placed.h"
#include "libtdl/plan_input.h"

#define PLACE_BEST "best"

typedef struct place_options {
	int64_t devices;
	int network; /* index in place_networks; -1: not given */
	const char *topology, *link, *memory;
	double factor; /* bytes of states per byte of weights; < 0: not given */
	bool colocation;
	double seconds; /* per search; 0: no limit */
	plan_model model; /* if the operand is a model */
} place_options;

#define PLACE_OPTIONS { .network = -1, .factor = -1, .model = PLAN_MODEL }

extern const char *const place_networks[]; /* "ports", "free" */
const char *place_network(const place_options *o);

#define PLACE_OPTIONS_MACHINE(a, o)                                          \
	{ CLI_INT, 'k', "devices", "N", "the number of devices",             \
	  &(o)->devices, .min = 1, .max = PLACE_MAX_DEVICES },               \
	{ CLI_CHOICE, 0, "network", "NETWORK",                               \
	  "ports (default): a device sends one result at a time and "        \
	  "receives one; free: transfers never wait", &(o)->network,         \
	  .choices = place_networks },                                       \
	{ CLI_TEXT, 0, "topology", "T",                                      \
	  "take the links of a machine: a preset (cpu, 8xk80, "              \
	  "8xh100-nvlink, 2x8xh100, h100-cluster) or a file",                \
	  &(o)->topology, .choices = words_of_machines(a) },                 \
	{ CLI_TEXT, 0, "link", "GB/S[,US]",                                  \
	  "the bandwidth and the latency in microseconds (0) of transfers; " \
	  "the default is in the file", &(o)->link },                        \
	{ CLI_TEXT, 0, "memory", "SIZE",                                     \
	  "let no device need more than SIZE bytes (2G, 80GB)",              \
	  &(o)->memory },                                                    \
	{ CLI_REAL, 0, "factor", "X",                                        \
	  "bytes of states per byte of weights (4 of profiles, 8 of layer "  \
	  "tables)", &(o)->factor, .min = 0, .max = 1e6 }

/* .. of commands that accept a model as a cost graph, .. */
#define PLACE_OPTIONS_MODEL(o)                                               \
	PLAN_OPTIONS_SIZES(&(o)->model),                                     \
	DRIVER_OPTIONS_TRAIN_STEP(&(o)->model.train)

#define PLACE_OPTION_ALGORITHMS(a, words)                                    \
	{ CLI_REPEAT, 0, "algorithm", "A",                                   \
	  "compare A only; may be repeated", (words),                        \
	  .choices = words_of_placers((a), false) }

/* .. and of those that search. */
#define PLACE_OPTIONS_SEARCH(o)                                              \
	{ CLI_FLAG, 0, "colocation", NULL,                                   \
	  "keep operators of one colour on one device", &(o)->colocation },  \
	{ CLI_REAL, 0, "time-limit", "S",                                    \
	  "end the search after S seconds with the best result so far",      \
	  &(o)->seconds, .min = 1e-6, .max = 1e9 }

/* Reads the machine from the options.  Returns false after a usage error or
 * with errors added; *status is then the command's. */
bool place_read_machine(job *d, const place_options *o, machine_request *r,
			cli_status *status);

/* Whether a file is a model, by its name. */
bool place_is_model(const char *path);

/* The reason why options do not suit the operand (options of models with a cost
 * graph); NULL. */
const char *place_misfit(const job *d, const place_options *o,
			 const char *path);

/* Reads a cost graph, or a model as a cost graph on the requested machine.
 * Returns NULL after adding or printing errors; *status is then the
 * command's. */
const cost_graph *place_read_graph(job *d, const place_options *o,
				   const machine_request *r, const char *path,
				   cli_status *status);

/* Reads a cost graph, or a model as one, and the machine.  Returns false after
 * adding or printing errors; *status is then the command's. */
bool place_read(job *d, const place_options *o, const char *path,
		place_input *in, cli_status *status);

/* Judges the placement in a file. *ncores receives the number of processor
 * cores, or 0 if it uses none; with cores there is no makespan.  Returns false
 * after adding errors. */
bool place_scored(job *d, const place_input *in, const char *path,
		  place_report *r, int *ncores);

/* Returns CLI_NO_PLAN, after a message, if a device needs more memory than it
 * has. */
cli_status place_check_memory(job *d, const place_input *in,
			      const place_report *r);

/* Runs the named algorithms, or if none is named all that accept the graph.
 * Returns CLI_USAGE, after a message, if a named one does not exist or does not
 * accept it. */
cli_status place_all(job *d, const place_input *in, const place_options *o,
		     const cli_words *algorithms, place_reports *all);

/* The output of `tdlc place --json'; of `score' and `compare' for cost
 * graphs. */
json_t *place_report_json(const place_input *in, const place_options *o,
			  const place_report *r, const place_bounds *b);
json_t *place_table_json(const place_input *in, const place_options *o,
			 const place_reports *all, const place_bounds *b);

#endif
