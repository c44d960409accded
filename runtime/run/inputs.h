/* The values of a plan's inputs and states at the beginning of a run. */
#ifndef TDL_RUNTIME_RUN_INPUTS_H
#define TDL_RUNTIME_RUN_INPUTS_H

#include "plan/plan.h"
#include "runtime/exec/executor.h"

/* Arrays with memory for the plan's inputs or outputs; NULL, with *f set, if
 * there is not enough. arrays_free() frees it. */
array *arrays_of(arena *a, const plan *p, const int *tensors, int n,
		 failure *f);
void arrays_free(array *x, int n);

/* Inputs and states for a run. */
typedef struct feed {
	const plan *p;
	array *inputs; /* of the plan, whole */
	bool *fed;     /* by input: whether it has a value */
	int nstates;
	int *tensors;  /* by state */
	array *states; /* .data is NULL if the plan's own value stays */
} feed;

/* A feed whose inputs have the plan's own values; with `invented' the others
 * have those of invent_inputs().  NULL, with *f set, on failure. feed_free()
 * frees the arrays; it accepts NULL. */
feed *feed_new(arena *a, const plan *p, bool invented, failure *f);
void feed_free(feed *x);

/* Reads values of inputs and of states from a file, which must have nothing
 * else. */
bool feed_read(feed *x, const char *path, failure *f);

/* Whether every input has a value; if not, the failure names `from', where it
 * was expected. */
bool feed_is_complete(const feed *x, const char *from, failure *f);

/* The number of the input that is the learning rate, of one element; -1 if the
 * plan has none. */
int feed_learning_rate(const feed *x);
bool feed_set_learning_rate(feed *x, double v, failure *f);

/* Sets the machine's states to those that were read. */
bool feed_states(const feed *x, executor *m, failure *f);

#endif
