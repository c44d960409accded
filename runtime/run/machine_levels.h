/* The levels of the machine on which this process runs: what its processors
 * share, according to hwloc, the outermost first. */
#ifndef TDL_RUNTIME_RUN_MACHINE_LEVELS_H
#define TDL_RUNTIME_RUN_MACHINE_LEVELS_H

#include "base/arena.h"

enum { MACHINE_LEVELS = 8 };

/* A level connects `size' parts, of `part' processors each. */
typedef struct machine_level {
	/* the kind of unit that holds the parts: "Package", "L3Cache" */
	const char *name;
	int size, part;
} machine_level;

/* There are no levels if hwloc is not built in or fails, or if parts differ,
 * for example if this process has two processors in one and one in another. */
typedef struct machine_levels {
	int n;
	machine_level at[MACHINE_LEVELS];
	int nprocessors;
	/* by system number; those of a part are adjacent */
	const unsigned *processors;
} machine_levels;

machine_levels machine_levels_find(arena *a);

/* Binds this thread, and those that it starts from now on, to the first `each'
 * processors of each part of the first unit of level l.  Changes nothing if the
 * system does not support it. */
void machine_levels_bind(const machine_levels *m, int l, int each);

/* Binds it to all processors again. */
void machine_levels_free(const machine_levels *m);

#endif
