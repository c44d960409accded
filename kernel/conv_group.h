/* Rewrites convolutions in groups of channels as ones without groups.  Private
 * to kernel/conv*.c. */
#ifndef TDL_KERNEL_CONV_GROUP_H
#define TDL_KERNEL_CONV_GROUP_H

#include "kernel/conv_read.h"

/* An index into one of several groups: inside + size * (var / each), where
 * `inside' has `size' values. */
typedef struct conv_grouping {
	int var, inside;
	int64_t each, size;
} conv_grouping;

/* If the indices of two factors fall into the same groups, stores the groups in
 * *g and replaces both indices by their places in a group.  Returns false if
 * there are no groups. */
bool conv_group_join(const kernel *k, conv_reading *r, conv_reading *other,
		     conv_grouping *g);

#endif
