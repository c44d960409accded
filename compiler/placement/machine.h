/* A cost graph on a machine: the time of each operator on each device, and of
 * each result's transfer to another, in whole nanoseconds, rounded once.  All
 * algorithms and the judge take their times from it.
 *
 * Devices are numbered from 0; those of one group of a level of links (a box)
 * are consecutive.  A transfer uses the outermost level at which its ends
 * differ. */
#ifndef TDL_COMPILER_PLACEMENT_MACHINE_H
#define TDL_COMPILER_PLACEMENT_MACHINE_H

#include "compiler/cost/topology.h"
#include "compiler/placement/cost_graph.h"

enum { PLACE_MAX_DEVICES = 1024 };

/* The machine that a user asks for. */
typedef struct machine_request {
	int ndevices;
	/* transfers never wait; else each device sends one at a time and
	 * receives one at a time */
	bool free_network;
	/* Links: the costs in the file are used unless one of these is
	 * given. */
	const topology *topology; /* NULL */
	double bandwidth;	  /* bytes/s; 0 if not given */
	double latency;		  /* seconds */
	/* bytes allowed per device; 0: any, or each device's own memory if
	 * devices differ */
	int64_t memory;
	double factor;	 /* bytes of states per byte of a profile's weights */
} machine_request;

typedef struct machine {
	const cost_graph *g;
	int ndevices;
	bool ports;
	/* results count in a device's memory while they are needed */
	bool lifetimes;
	int nspeeds;
	int *speed_of; /* device to class of speed */
	int64_t **ns;  /* [class][operator] */
	int nlevels;
	/* [level]: devices in a group of it, innermost level first; the last is
	 * unbounded */
	int *span;
	int64_t **move; /* [level][result] */
	int64_t *resident; /* bytes that each operator holds all the time */
	int64_t *limit;	   /* bytes per device; INT64_MAX */
	int64_t most_limit; /* the greatest of these */
	/* all devices are equal, and as fast as the graph says */
	bool alike;
	/* of the request, for stages of profiles; likewise .. */
	double bandwidth;
	double factor;
	/* the machine with the graph as in the file; itself if that is g */
	const struct machine *loads;
} machine;

/* The machine, in a.  NULL after adding errors: the graph has no costs of
 * transfers and no link is given, the devices have no place in the topology, or
 * a sum is too large. */
const machine *machine_new(arena *a, diag_sink *s, const cost_graph *g,
			   const machine_request *r);

/* Bytes/s of the links between neighbours: as given, or the least of the levels
 * that the devices use. */
double machine_link_bandwidth(const machine_request *r);

static inline int64_t machine_ns(const machine *m, int op, int device)
{
	return m->ns[m->speed_of[device]][op];
}

/* Nanoseconds of a result's transfer between two devices; 0 on the same. */
static inline int64_t machine_move(const machine *m, int result, int from,
				   int to)
{
	int level = 0;
	if (from == to)
		return 0;
	while (level + 1 < m->nlevels &&
	       from / m->span[level] != to / m->span[level])
		level++;
	return m->move[level][result];
}

/* The shortest time of a result's transfer to another device. */
static inline int64_t machine_least_move(const machine *m, int result)
{
	return m->move[0][result];
}

#endif
