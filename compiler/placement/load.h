/* Placements of least load: minimise the greatest load of a device, as groups.h
 * defines loads.
 *
 * Operators of one colour stay together.  Accelerators are devices 0 .. k - 1
 * and hold bytes of their operators up to a limit.  Processor cores are devices
 * from k on, without a limit. */
#ifndef TDL_COMPILER_PLACEMENT_LOAD_H
#define TDL_COMPILER_PLACEMENT_LOAD_H

#include "base/clock.h"
#include "compiler/placement/groups.h"

enum {
	LOAD_MAX_GROUPS = 1 << 14,
	LOAD_MAX_IDEALS = 1 << 17,
	LOAD_MAX_CELLS = 1 << 25, /* ideals * accelerators * cores */
};

typedef struct load_options {
	int accelerators, cores;
	int64_t memory_nbytes;	    /* per accelerator; INT64_MAX: no limit */
	const int64_t *transfer_ns; /* by result of the graph */
	const int64_t *nbytes;	    /* by operator: bytes held all the time */
	deadline deadline;	    /* of load_contiguous() */
} load_options;

typedef struct load_result {
	int64_t ns, bound_ns;
	bool optimal; /* ns is the least of all splits of the requested kind */
	int ngroups, nideals; /* nideals 0: too many */
	int *device;  /* by operator */
} load_result;

/* The least load of contiguous splits, in a: the forward operators of devices
 * can be ordered so that all edges go forwards.  Uses a dynamic program over
 * chains of ideals; if there are more than LOAD_MAX_IDEALS, over the prefixes
 * of one order, which proves nothing.  NULL if nothing was found that fits. */
const load_result *load_contiguous(arena *a, const cost_graph *g,
				   const load_options *o);

/* The least load found of any splits, in a, by simulated annealing and moves of
 * single groups from several starts, including `from' (or NULL); `moves' is the
 * total number of moves.  NULL if nothing was found that fits. */
const load_result *load_any(arena *a, const cost_graph *g,
			    const load_options *o, const load_result *from,
			    int64_t moves);

/* A lower bound for any split, ignoring transfers: the work that remains when
 * each core has taken the work that suits it best, in fractions if need be; or
 * the time of the longest group, if that is more. */
int64_t load_bound(const groups *r, const load_options *o);

/* The loads of a placement by device (accelerators and cores), computed from
 * the definition; memory is ignored.  In a. */
int64_t *load_of(arena *a, const cost_graph *g, const load_options *o,
		 const int *device);

#endif
