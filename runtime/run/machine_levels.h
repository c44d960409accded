/* The levels of the machine that this process runs on: what its processors have
 * in common, as hwloc says, the outermost first. */
#ifndef TDL_RUNTIME_RUN_MACHINE_LEVELS_H
#define TDL_RUNTIME_RUN_MACHINE_LEVELS_H

#include "base/arena.h"

enum { MACHINE_LEVELS = 8 };

/* A level connects `size' parts, of `part' processors each. */
typedef struct machine_level {
	const char *name; /* of what holds the parts: "Package", "L3Cache" */
	int size, part;
} machine_level;

/* No levels where hwloc is not built in, where it fails, and where parts
 * differ, as where this process has two processors here and one there. */
typedef struct machine_levels {
	int n;
	machine_level at[MACHINE_LEVELS];
	int nprocessors;
	const unsigned *processors; /* as the system numbers them, those of a
				       part one after the other */
} machine_levels;

machine_levels machine_levels_find(arena *a);

/* Binds this thread, and those that it starts from now on, to the first `each'
 * processors of each part of the first of what level l holds.  Where the system
 * does not do so nothing changes. */
void machine_levels_bind(const machine_levels *m, int l, int each);

/* To all processors. */
void machine_levels_free(const machine_levels *m);

#endif
