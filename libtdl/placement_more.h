/* Algorithms whose results are more than a placement with its makespan: stages,
 * least loads, replicas and tensor degrees; and the options of all of them. */
#ifndef TDL_LIBTDL_PLACEMENT_MORE_H
#define TDL_LIBTDL_PLACEMENT_MORE_H

#include "compiler/cost/schedule.h"
#include "libtdl/placement.h"

typedef enum place_objective {
	PLACE_UNSAID, /* not given: use the algorithm's own */
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
	/* recompute: for stages; no_recompute, zero: for capture */
	bool recompute, no_recompute, zero;
	bool frontier, predictor, any_split, uneven;
	int64_t cores; /* -1: as in the file */
} place_more;

/* A device cannot have more chunks than there are layers. */
enum { PLACE_MAX_CHUNKS = 4096 };

#define PLACE_MORE { .cores = -1 }

#define PLACE_OPTIONS_MORE(a, o)                                             \
	{ CLI_CHOICE, 0, "objective", "WHAT",                                \
	  "the cost to minimize; for mcap: peak (its default), load (the "   \
	  "longest stage), makespan (the formula's step; its default with "  \
	  "a memory limit); for capture: makespan (the step; its default), " \
	  "peak, cost (device-seconds); for load: load; for all others: "    \
	  "makespan",                                                        \
	  &(o)->objective, .choices = place_objectives },                    \
	{ CLI_TEXT, 0, "schedule", "S",                                      \
	  "stages: 1f1b (default), gpipe, zb; for mcap also interleaved:V, " \
	  "V chunks of layers on each device",                               \
	  &(o)->schedule, .choices = words_of_schedules((a), false) },       \
	{ CLI_INT, 0, "micro-batches", "M",                                  \
	  "stages: the number of micro-batches; by default mcap and "        \
	  "pipedream take four per device, and capture tries all",           \
	  &(o)->micro_batches, .min = 1, .max = 1 << 16 },                   \
	{ CLI_FLAG, 0, "recompute", NULL,                                    \
	  "stages: keep only a stage's inputs, and compute the activations " \
	  "again", &(o)->recompute },                                        \
	{ CLI_FLAG, 0, "no-recompute", NULL,                                 \
	  "capture: try no plans that recompute", &(o)->no_recompute },      \
	{ CLI_FLAG, 0, "zero", NULL,                                         \
	  "capture: divide the optimizer's states among replicas",           \
	  &(o)->zero },                                                      \
	{ CLI_FLAG, 0, "uneven", NULL,                                       \
	  "capture: let stages differ in devices, replicas, tensor degree "  \
	  "and recomputation, if equal stages do not fit or are slow; the "  \
	  "search takes longer", &(o)->uneven },                             \
	{ CLI_FLAG, 0, "frontier", NULL,                                     \
	  "mcap, capture: print all peaks with the least times for them",    \
	  &(o)->frontier },                                                  \
	{ CLI_FLAG, 0, "predictor", NULL,                                    \
	  "mcap: choose by mCAP's additive predictor, and print its "        \
	  "error", &(o)->predictor },                                        \
	{ CLI_FLAG, 0, "any-split", NULL,                                    \
	  "load: also try splits that are not contiguous; not proven",       \
	  &(o)->any_split },                                                 \
	{ CLI_INT, 0, "cores", "N",                                          \
	  "load: the number of processor cores; the default is in the file", \
	  &(o)->cores, .min = 0, .max = PLACE_MAX_DEVICES }

/* A request to one algorithm.  Everything it points to must live as long as the
 * result, except the job, which ends with the search. */
typedef struct place_run {
	job *d;
	const place_options *o;
	const place_more *more;
	const char *algorithm, *path;
} place_run;

/* A result, in the arena of the job. */
typedef struct place_found {
	const void *of; /* NULL: no result */
	json_t *(*json)(const void *of);
	void (*text)(FILE *to, arena *a, const void *of);
	/* The placement of g's operators; NULL if none are placed. */
	const cost_graph *g;
	const int *place;
	int ndevices;
	/* for drawing the schedule; NULL: it cannot be drawn */
	const machine *m;
} place_found;

/* Runs the algorithm of r.  If to->of is NULL, it has failed: after a message,
 * with the command's status, or with errors added. */
cli_status place_find(const place_run *r, place_found *to);

/* The i-th algorithm that is not in the table of placed.h; NULL after the
 * last. */
const char *place_more_name(int i);

/* The names of all algorithms, separated by commas. */
const char *place_algorithm_names(arena *a);

cli_status place_mcap(const place_run *r, place_found *to);
cli_status place_pipedream(const place_run *r, place_found *to);
cli_status place_load(const place_run *r, place_found *to);
cli_status place_capture(const place_run *r, place_found *to);

/* ---- shared ------------------------------------------------------------- */

/* Checks that no options are given except those of models, the number of
 * devices, and those listed in `names', separated by blanks.  Returns false
 * after a message. */
bool place_takes_only(const place_run *r, const char *who, const char *names,
		      cli_status *status);

/* Prints a usage error about an option that does not suit an algorithm; returns
 * false. */
bool place_refuse(const place_run *r, cli_status *status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reads the requested schedule, 1F1B by default, and its chunks per device, 1
 * unless it is interleaved; interleaved:1 is 1F1B.  Returns false if the text
 * is no schedule. */
bool place_schedule(const char *text, pipeline_schedule *kind, int *chunks);

/* Runs `capture' on a table of tensor degrees, given as JSON. */
cli_status place_piper(const place_run *r, const json_t *table,
		       place_found *to);

/* Reads a profile whose layers are to be cut into stages; NULL with errors
 * added. */
const cost_graph *place_read_profile(const place_run *r);

/* Reads a profile, or a model for the requested machine.  NULL with errors
 * added or printed; *status is then the command's. */
const cost_graph *place_read_layers(const place_run *r,
				    const machine_request *q,
				    cli_status *status);

json_t *place_seconds(double ns);

/* Bytes, rounded up, as an integer and as text; below PLACE_MAX_BYTES. */
#define PLACE_MAX_BYTES 0x1p62
json_t *place_bytes(double bytes);
const char *place_bytes_text(arena *a, double bytes);

#endif
