/* The objects that calls of the functions of tdl.h are tried with. */
#ifndef TDL_TESTS_UNIT_LIBRARY_WORLD_H
#define TDL_TESTS_UNIT_LIBRARY_WORLD_H

#include <stdbool.h>

#include "include/tdl/tdl.h"

/* The objects that the calls are about. */
typedef struct library_world {
	tdl_context *c;
	tdl_module *module;
	tdl_model *model;
	tdl_plan *plan;
	tdl_run *run;
	tdl_placement *placed;
	char *text; /* of the plan */
	char folder[64]; /* for files, of the world's own */
} library_world;

#endif
