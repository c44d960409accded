/* The placement problem, as all algorithms for whole operators get it, and the
 * table of these algorithms. */
#ifndef TDL_COMPILER_PLACEMENT_TASK_H
#define TDL_COMPILER_PLACEMENT_TASK_H

#include "base/clock.h"
#include "compiler/placement/judge.h"

typedef struct place_task {
	const machine *m;
	judge *j;
	/* Units lie on one device each: with --colocation colours, else single
	 * operators.  Members of u: member[first_member[u]] .. [u + 1]. */
	int nunits, *unit_of, *first_member, *member;
	int64_t *unit_nbytes; /* resident */
	deadline deadline;
} place_task;

const place_task *place_task_new(arena *a, const machine *m, bool colocation,
				 deadline end);

/* Whether a search has to stop at its deadline.  Otherwise the limit of a
 * search is a count of evaluations, so that its result is always the same. */
bool place_is_late(const place_task *t);

/* A device for each operator, in a; NULL if the algorithm finds none within the
 * limit of memory. */
typedef int *place_function(arena *a, const place_task *t);

place_function place_best, place_single, place_balanced, place_heft,
	place_list, place_metf, place_msct, place_pardnn, place_least_load,
	place_least_peak;

typedef struct place_algorithm {
	const char *name;
	place_function *run;
	/* Whether it takes the graph on the machine; NULL: any. */
	bool (*takes)(const machine *m);
} place_algorithm;

bool place_takes_loads(const machine *m), place_takes_stages(const machine *m);

/* The last entry has no name. */
extern const place_algorithm place_algorithms[];

/* Units to devices so that resident bytes keep to the limit, regardless of
 * time.  Exact up to 20 million steps of a search; NULL if none is found. */
int *place_packed(arena *a, const place_task *t);

/* m-ETF, or m-SCT: favourite[v] is the edge of g->succ to the child that v's
 * device is kept for, or -1; NULL for m-ETF. */
int *place_earliest(arena *a, const place_task *t, const int *favourite);

/* Favourites of m-SCT: by the linear program, NULL where it is too large; and
 * along longest paths. */
int *place_program_favourites(arena *a, const machine *m);
int *place_path_favourites(arena *a, const machine *m);

/* ---- parts of algorithms ------------------------------------------------- */

/* Nanoseconds of an operator, the mean over devices; and of a result to another
 * device, the mean over all others, and over all with itself. */
int64_t place_mean_ns(const machine *m, int op);
int64_t place_mean_move(const machine *m, int result);
int64_t place_expected_move(const machine *m, int result);

/* For each operator, the longest path from its begin to the end, the time of a
 * transfer being `move': the upward rank of Topcuoglu et al. 2002. */
int64_t *place_ranks(arena *a, const machine *m,
		     int64_t (*move)(const machine *m, int result));

/* A topological order, depth first: the operator that became ready last comes
 * first. */
int *place_depth_first(arena *a, const cost_graph *g);

/* Bytes that each device has left, while an algorithm places units. */
typedef struct place_room {
	const place_task *t;
	int *device;	/* of each unit; -1 until one member has a place */
	int64_t *nbytes; /* of each device */
} place_room;

place_room place_room_new(arena *a, const place_task *t);

/* Whether an operator can go to a device: its unit is there, or is nowhere yet
 * and fits. */
static inline bool place_has_room(const place_room *r, int op, int d)
{
	int u = r->t->unit_of[op];
	return r->device[u] >= 0 ? r->device[u] == d :
				   r->t->unit_nbytes[u] <= r->nbytes[d];
}

void place_take_room(place_room *r, int op, int d);

#endif
