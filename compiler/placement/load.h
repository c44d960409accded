/* Placements of least load: the greatest load of a device, as groups.h defines
 * loads, is as small as it can be.
 *
 * Operators of one colour lie together.  Accelerators are devices 0 .. k - 1
 * and hold bytes of their operators up to a limit; processor cores
 * are devices from k on, without a limit. */
#ifndef TDL_COMPILER_PLACEMENT_LOAD_H
#define TDL_COMPILER_PLACEMENT_LOAD_H

#include "compiler/placement/groups.h"

enum {
	LOAD_MAX_GROUPS = 1 << 14,
	LOAD_MAX_IDEALS = 1 << 17,
	LOAD_MAX_CELLS = 1 << 25, /* ideals by accelerators by cores */
};

typedef struct load_options {
	int accelerators, cores;
	int64_t memory_nbytes;	    /* of an accelerator; INT64_MAX: any */
	const int64_t *transfer_ns; /* by result of the graph */
	const int64_t *nbytes;	    /* by operator: all the time */
} load_options;

typedef struct load_result {
	int64_t ns, bound_ns;
	bool optimal; /* ns is the least of the splits that were asked for */
	int ngroups, nideals; /* nideals 0: too many */
	int *device;  /* by operator */
} load_result;

/* The least load of contiguous splits: the forward operators of devices can be
 * put in an order in which all edges go forwards.  A dynamic program over
 * chains of ideals; where these are more than LOAD_MAX_IDEALS, over the
 * prefixes of one order, which is not proven.  NULL if nothing was found that
 * fits. */
const load_result *load_contiguous(arena *a, const cost_graph *g,
				   const load_options *o);

/* The least load found of any splits, by simulated annealing and moves of
 * single groups from several starts, `from` (or NULL) among them; `moves` is
 * the number of moves in all.  NULL if nothing was found that fits. */
const load_result *load_any(arena *a, const cost_graph *g,
			    const load_options *o, const load_result *from,
			    int64_t moves);

/* A lower bound for any split, without transfers: the work that is left when
 * each core has taken, in parts if need be, the work that suits it best; and
 * the time of the longest group, if that is more. */
int64_t load_bound(const groups *r, const load_options *o);

/* The loads of a placement by device (accelerators and cores), from the
 * definition; memory is ignored. */
int64_t *load_of(arena *a, const cost_graph *g, const load_options *o,
		 const int *device);

#endif
