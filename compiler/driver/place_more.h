/* Algorithms of tdlc place that have results of their own: stages, least
 * loads. */
#ifndef TDL_COMPILER_DRIVER_PLACE_MORE_H
#define TDL_COMPILER_DRIVER_PLACE_MORE_H

#include "compiler/driver/driver.h"
#include "compiler/driver/place.h"
#include "compiler/placement/schedule.h"

typedef enum place_objective {
	PLACE_UNSAID, /* not given: the algorithm's own */
	PLACE_MAKESPAN,
	PLACE_LOAD,
	PLACE_PEAK,
	PLACE_COST,
} place_objective;

extern const char *const place_objectives[];

typedef struct place_more {
	int objective;	       /* of place_objectives */
	const char *schedule;  /* NULL: not given */
	int64_t micro_batches; /* 0: not given */
	bool recompute, no_recompute, zero; /* of stages, or of capture */
	bool frontier, predictor, any_split, uneven;
	int64_t cores; /* -1: as in the file */
} place_more;

/* A device has at most as many chunks as there may be layers. */
enum { PLACE_MAX_CHUNKS = 4096 };

#define PLACE_MORE { .cores = -1 }

#define PLACE_OPTIONS_MORE(o)                                                \
	{ CLI_CHOICE, 0, "objective", "WHAT",                                \
	  "default: the algorithm's own; of mcap: peak (its own), load "     \
	  "(the longest stage), makespan (the formula's step; its own "      \
	  "with --memory); of capture: makespan (the step; its own), "       \
	  "peak, cost (device-seconds); of load: load; of all others: "      \
	  "makespan",                                                        \
	  &(o)->objective, .choices = place_objectives },                    \
	{ CLI_TEXT, 0, "schedule", "S",                                      \
	  "of stages: 1f1b (default), gpipe, zb; of mcap also "              \
	  "interleaved:V, V chunks of layers on each device",                \
	  &(o)->schedule },                                                  \
	{ CLI_INT, 0, "micro-batches", "M",                                  \
	  "of stages; if it is not given, mcap and pipedream take four per "  \
	  "device, and capture tries all",                                   \
	  &(o)->micro_batches, .min = 1, .max = 1 << 16 },                   \
	{ CLI_FLAG, 0, "recompute", NULL,                                    \
	  "of stages: keep only a stage's inputs, and compute the "          \
	  "activations again", &(o)->recompute },                            \
	{ CLI_FLAG, 0, "no-recompute", NULL,                                 \
	  "of capture: try no plans that recompute", &(o)->no_recompute },   \
	{ CLI_FLAG, 0, "zero", NULL,                                         \
	  "of capture: divide the optimizer's states among replicas",        \
	  &(o)->zero },                                                      \
	{ CLI_FLAG, 0, "uneven", NULL,                                       \
	  "of capture: let stages differ in devices, replicas, tensor "      \
	  "degree and recomputation, where equal stages do not fit or "      \
	  "are slow; the search takes longer", &(o)->uneven },               \
	{ CLI_FLAG, 0, "frontier", NULL,                                     \
	  "of mcap, capture: print all peaks with the least times for "       \
	  "them",                                                            \
	  &(o)->frontier },                                                  \
	{ CLI_FLAG, 0, "predictor", NULL,                                    \
	  "of mcap: choose by mCAP's additive predictor, and print its "     \
	  "error", &(o)->predictor },                                        \
	{ CLI_FLAG, 0, "any-split", NULL,                                    \
	  "of load: also splits that are not contiguous; not proven",        \
	  &(o)->any_split },                                                 \
	{ CLI_INT, 0, "cores", "N",                                          \
	  "of load: processor cores; the default is in the file",            \
	  &(o)->cores, .min = 0, .max = PLACE_MAX_DEVICES }

/* The inputs and options that a command has read, for an algorithm to run. */
typedef struct place_run {
	driver *d;
	const place_options *o;
	const place_more *more;
	const char *algorithm, *path, *output;
	bool json;
} place_run;

typedef struct place_special {
	const char *name;
	cli_status (*run)(const place_run *r);
	const char *reads; /* where it takes no models */
} place_special;

/* The last entry has no name. */
extern const place_special place_specials[];

cli_status place_mcap(const place_run *r);
cli_status place_pipedream(const place_run *r);
cli_status place_load(const place_run *r);
cli_status place_capture(const place_run *r);

/* ---- shared ------------------------------------------------------------- */


/* Writes the placement file if one is asked for, then prints the object or,
 * without --json, the text of text().  Steals the reference. */
cli_status place_finish(const place_run *r, const cost_graph *g,
			const int *place, json_t *json,
			void (*text)(const void *), const void *result);

/* The schedule that is asked for, 1F1B unless it is given, and its chunks of a
 * device, 1 unless it is interleaved; interleaved:1 is 1F1B.  False if the
 * option is none. */
bool place_schedule(const place_more *m, pipeline_schedule *kind, int *chunks);

/* For the message where it is none. */
#define PLACE_SCHEDULES "1f1b, gpipe, zb, interleaved:V with V from 1 to 4096"

/* capture of a table by tensor degree, whose JSON is given. */
cli_status place_piper(const place_run *r, const json_t *table);

/* Reads a profile, of whose layers stages are cut; NULL with errors added. */
const cost_graph *place_read_profile(const place_run *r);

/* Reads a profile, or a model on the machine of the request; NULL with errors
 * added or printed, then *status is the command's. */
const cost_graph *place_read_layers(const place_run *r,
				    const machine_request *q,
				    cli_status *status);

json_t *place_seconds(double ns);

/* Bytes, rounded up, as an integer and for people; below PLACE_MAX_BYTES. */
#define PLACE_MAX_BYTES 0x1p62
json_t *place_bytes(double bytes);
const char *place_bytes_text(arena *a, double bytes);

#endif
