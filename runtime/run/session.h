/* The state shared by all runs of tdlrun: the command line, the plan, the
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
	const plan_pipeline *pipeline; /* the requested plan */
	const pipeline_whole *whole;   /* all of its stages as one */
	const plan *p;		       /* whole->plan */
	void *run;  /* the joined processes */
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

/* A machine for a plan that was read from `path'. */
executor *session_machine(session *s, const plan_pipeline *p,
			  const char *path);

/* The same for a plan of one device, in this process alone, without the
 * communicator; each run is computed by itself, without an epilogue. */
executor *session_alone(session *s, const plan *p, const char *path);

/* Whether a library may compute kernels. */
bool session_uses_library(const session *s);

/* A plan as it will be run: devices with memory of their own compute no
 * chains. */
const plan_pipeline *session_pipeline(session *s, const plan_pipeline *p);

/* Makes p the session's plan. */
void session_take(session *s, const plan_pipeline *p);

/* Reads samples for a plan, and prints a note about arrays that it does not
 * use; NULL on failure. */
dataset *session_data(session *s, const plan *p, const char *path);

/* Closes a machine.  After a failure session_end() does that once the failure
 * has been printed, because closing a failed device may take long. */
void session_close(session *s, executor *m);
void session_end(session *s);

/* Sets the states from --parameters and x. */
bool session_states(session *s, executor *m, const plan *p, const feed *x);

/* Writes --outputs: the outputs, and all states if the plan changes any. */
bool session_outputs(session *s, const executor *m, const array *outputs);

/* Whether a run changes the values of states. */
bool session_changes_states(const plan *p);

figures session_figures(const session *s, const plan_pipeline *p,
			const executor *m, int64_t steps);

/* Whether each stage has used exactly its arena. */
bool figures_fit(const figures *r, const plan_pipeline *p);

/* The index of the loss among the outputs: the one that the plan names, or one
 * of one element called loss; -1 if there is none. */
int session_loss(const plan *p);

/* ---- messages ----------------------------------------------------------- */

/* A line on a terminal, overwritten by the next; "" erases it.  Nothing without
 * a terminal, and with --json. */
bool session_has_progress(const session *s);
void session_progress(const session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints a line on standard error, from one process for all. */
void session_note(const session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* v; a NaN without the sign that printf() would show. */
double plain_nan(double v);

/* A JSON object with the figures.  Infinite numbers become null, as JSON has
 * none. */
json_t *figures_json(const figures *r, const plan_pipeline *p);
json_t *json_number(double v);
json_t *json_numbers(const double *v, int n);
void print_json(json_t *j);

/* Prints communication and memory, measured beside planned. */
void figures_print(const figures *r, const plan_pipeline *p);

#endif
