/* Calls of all functions of tdl.h that take memory, for tests of what happens
 * when they fail, and when two threads make them. */
#ifndef TDL_TESTS_UNIT_LIBRARY_CALLS_H
#define TDL_TESTS_UNIT_LIBRARY_CALLS_H

#include "tests/unit/library_world.h"

/* Makes the objects, in a context with the allocator; and ends them. */
library_world library_world_new(const tdl_allocator *a);
void library_world_end(library_world *w);

/* A call, of a function of that name above all; ends what it makes.  False
 * where one failed; then the context has the diagnostics of that. */
typedef struct library_call {
	const char *name;
	bool (*run)(library_world *w);
} library_call;

extern const library_call library_calls[];
extern const int library_ncalls;

/* Options: four devices; kernels=interpreter. */
extern const tdl_option library_on_four[], library_interpreted[];

/* The network of the world: relu(x w), x of 8 x 16. */
extern const char library_network[];

/* Runs a plan of it once. */
tdl_status library_step(tdl_run *r, float *x, float *y);

/* A search of it by all planners, on two devices. */
bool library_auto(library_world *w);

#endif
