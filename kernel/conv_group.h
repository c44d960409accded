/* Convolutions in groups of channels, read as ones without.  Private to
 * kernel/conv*.c. */
#ifndef TDL_KERNEL_CONV_GROUP_H
#define TDL_KERNEL_CONV_GROUP_H

#include "kernel/conv_read.h"

/* An index in one of several groups: inside + size * (var / each), with `size'
 * values of `inside'. */
typedef struct conv_grouping {
	int var, inside;
	int64_t each, size;
} conv_grouping;

/* Replaces the indices of two factors that are in the same groups, which are
 * returned in *g, by their places in a group; false where there are none. */
bool conv_group_join(const kernel *k, conv_reading *r, conv_reading *other,
		     conv_grouping *g);

#endif
