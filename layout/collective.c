#include "config.h"

#include "layout/collective.h"

#include <string.h>

static const char *const collective_names[COLL_COUNT] = {
	[COLL_LOCAL] = "local",
	[COLL_ALL_GATHER] = "all-gather",
	[COLL_ALL_TO_ALL] = "all-to-all",
	[COLL_REDUCE_SCATTER] = "reduce-scatter",
	[COLL_HALO] = "halo",
	[COLL_SEND_RECEIVE] = "send-receive",
};

const char *collective_name(collective c)
{
	return collective_names[c];
}

int collective_parse(const char *name)
{
	for (int c = 0; c < COLL_COUNT; c++)
		if (!strcmp(collective_names[c], name))
			return c;
	return -1;
}
