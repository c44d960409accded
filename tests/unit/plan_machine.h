/* A machine that runs a plan with every worker's arena in memory, and its
 * reference: the graph's nodes on whole tensors. */
#ifndef TDL_TESTS_UNIT_PLAN_MACHINE_H
#define TDL_TESTS_UNIT_PLAN_MACHINE_H

#include "plan/plan.h"

/* One arena per worker, filled with 0xff bytes, constants and states with their
 * elements. */
typedef struct machine {
	const plan *p;
	int nworkers;
	char **arenas;
	int64_t received; /* bytes that came from other workers */
} machine;

machine machine_new(arena *a, const plan *p);

/* Feeds the inputs with small numbers, always the same, and runs the program;
 * aborts the test where a kernel reads what it must not. */
void machine_run(machine *m);

/* The reference of a program: its nodes on whole tensors, each with memory of
 * its own, and all states at once after that. */
typedef struct oracle {
	const plan *p;
	void **values; /* by tensor */
} oracle;

oracle oracle_new(arena *a, const plan *p);
void oracle_run(arena *a, oracle *o);

/* The whole of a tensor that the workers hold in its stored blocks; checks
 * that those who hold the same agree. */
void *machine_tensor(arena *a, const machine *m, int id);

#endif
