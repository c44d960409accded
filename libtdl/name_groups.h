/* Combines names of repeated blocks: layer_0.q.w, layer_1.q.w and layer_2.q.w
 * become layer_{0..2}.q.w.  Networks repeat the same block many times, and
 * nobody reads a table with a row for each. */
#ifndef TDL_LIBTDL_NAME_GROUPS_H
#define TDL_LIBTDL_NAME_GROUPS_H

#include "base/arena.h"
#include "base/vec.h"

typedef struct name_group {
	const char *name;  /* of all members: layer_{0..2}.q.w */
	int n;
	const int *members; /* their numbers, ascending */
} name_group;

typedef VEC(name_group) name_groups;

/* The groups of n names, ordered by their first members.  Two names are in one
 * group if they differ only in their decimal numbers and their kinds[] are
 * equal texts. */
name_groups group_names(arena *a, int n, const char *const *names,
			const char *const *kinds);

#endif
