/* The state that all runs of tdlrun share: the command line, the plan, the
 * processes, measurements. */
#ifndef TDL_RUNTIME_RUN_SESSION_H
#define TDL_RUNTIME_RUN_SESSION_H

#include <jansson.h>

#include "base/vec.h"
#include "runtime/run/data.h"
#include "runtime/run/inputs.h"
#include "runtime/run/options.h"

typedef struct session {
	arena *a;
	const options *o;
	const plan_pipeline *pipeline; /* the plan that was asked for */
	const pipeline_whole *whole;   /* all of its stages as one */
	const plan *p;		       /* that */
	void *run;  /* the processes that this one has joined */
	int rank;
	bool leads; /* this process, rank 0, prints and writes files */
	failure f;
	VEC(executor *) left; /* see session_close() */
} session;

/* The measurements of a machine. */
typedef struct figures {
	int devices;
	int64_t steps;
	double seconds_per_step;
	int64_t received; /* bytes in one step */
	int64_t *arena_used; /* by stage: bytes */
	int64_t copies, copies_used;  /* bytes of a device beside the arenas */
} figures;

/* A machine for a plan, which was read from `path`. */
executor *session_machine(session *s, const plan_pipeline *p,
			  const char *path);

/* The same for a plan of one device, in this process alone, without the
 * communicator; each run by itself, without an epilogue. */
executor *session_alone(session *s, const plan *p, const char *path);

/* Whether a library may compute kernels. */
bool session_uses_library(const session *s);

/* A plan as it is run: devices with memory of their own compute no chains. */
const plan_pipeline *session_pipeline(session *s, const plan_pipeline *p);

/* Takes a plan to run. */
void session_take(session *s, const plan_pipeline *p);

/* Reads samples for a plan, and notes arrays that it does not use; NULL on
 * failure. */
dataset *session_data(session *s, const plan *p, const char *path);

/* Closes a machine; after a failure session_end() does that, once the failure
 * is printed: a device that has failed may take long. */
void session_close(session *s, executor *m);
void session_end(session *s);

/* The states that --parameters and x give. */
bool session_states(session *s, executor *m, const plan *p, const feed *x);

/* Writes --outputs: the outputs, and all states if the plan changes any. */
bool session_outputs(session *s, const executor *m, const array *outputs);

/* Whether a run leaves states with other values than it began with. */
bool session_changes_states(const plan *p);

figures session_figures(const session *s, const plan_pipeline *p,
			const executor *m, int64_t steps);

/* Whether each stage has used its arena, to the end. */
bool figures_fit(const figures *r, const plan_pipeline *p);

/* The index of the loss among the outputs: the one that the plan names, or one
 * called loss, of one element; -1 if there is none. */
int session_loss(const plan *p);

/* ---- messages ----------------------------------------------------------- */

/* One line on a terminal, written over by the next; "" wipes it. Nothing
 * without a terminal, and with --json. */
bool session_has_progress(const session *s);
void session_progress(const session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A line on standard error, of one process for all. */
void session_note(const session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* v, a NaN without the sign that printf() would show. */
double plain_nan(double v);

/* A JSON object with the figures; JSON has no infinity: such numbers are
 * null. */
json_t *figures_json(const figures *r, const plan_pipeline *p);
json_t *json_number(double v);
json_t *json_numbers(const double *v, int n);
void print_json(json_t *j);

/* Communication and memory, measured beside planned. */
void figures_print(const figures *r, const plan_pipeline *p);

#endif
